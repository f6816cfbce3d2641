"""Training of a low-rank update of a frozen dense-tanh layer together with a quantised head: an oracle."""

from __future__ import annotations

import numpy as np
import torch


def _ternary(latent: torch.Tensor) -> torch.Tensor:
    return latent + (latent.round().clamp(-1, 1) - latent).detach()


def train_update(
    inputs: np.ndarray,
    labels: np.ndarray,
    anchor: tuple[np.ndarray, np.ndarray],
    head: np.ndarray,
    head_step: float,
    update_step: float,
    rank: int,
    penalty: float,
    steps: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ternary factors left (k, rank), right (d, rank) and head (k + 1,), int64, straight-through gradients.

    The layer is tanh((W0 + update_step * left @ right.T) x + b0) with ``anchor`` = (W0 (k, d), b0 (k,)).
    ``penalty``: price of a nonzero entry, in units of the loss.
    """
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(seed)
    x, sign = torch.from_numpy(inputs), torch.from_numpy(2.0 * labels - 1).float()
    base = x @ torch.from_numpy(anchor[0]).float().T + torch.from_numpy(anchor[1]).float()
    left = (0.6 * torch.randn(base.shape[1], rank, generator=generator)).requires_grad_()
    right = (0.6 * torch.randn(x.shape[1], rank, generator=generator)).requires_grad_()
    weight = torch.from_numpy(head / head_step).float().clone().requires_grad_()
    gain = torch.zeros(1, requires_grad=True)
    parameters = [left, right, weight, gain]
    optimiser = torch.optim.Adam(parameters, lr=0.03)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 0.03, total_steps=steps, pct_start=0.15)
    for _ in range(steps):
        optimiser.zero_grad()
        hidden = torch.tanh(base + update_step * (x @ _ternary(right)) @ _ternary(left).T)
        rounded = _ternary(weight)
        margin = sign * (hidden @ rounded[:-1] + rounded[-1]) * head_step * gain.exp()
        spent = sum(p.abs().clamp(max=1).sum() for p in (left, right, weight))
        (torch.nn.functional.softplus(-margin).mean() + penalty * spent).backward()
        optimiser.step()
        schedule.step()
    found = [p.detach().round().clamp(-1, 1).numpy().astype(np.int64) for p in (left, right, weight)]
    return found[0], found[1], found[2]
