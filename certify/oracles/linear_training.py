"""Training of a linear two-class head on fixed features: an oracle, as `softmax_training` is.

All features are used with a constant 1 appended, so that the bias is the last entry of the weight.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.special import gammaln

Tensor = torch.Tensor


def _augmented(features: np.ndarray, labels: np.ndarray) -> tuple[Tensor, Tensor]:
    torch.set_num_threads(1)
    ones = np.ones((len(features), 1), dtype=np.float32)
    return torch.from_numpy(np.hstack([features, ones])), torch.from_numpy(2.0 * labels - 1).float()


def train_linear(features: np.ndarray, labels: np.ndarray, decay: float = 1e-4) -> np.ndarray:
    """Logistic regression by L-BFGS: weight with bias, float64 (d + 1,)."""
    x, sign = _augmented(features, labels)
    weight = torch.zeros(x.shape[1], requires_grad=True)
    optimiser = torch.optim.LBFGS([weight], max_iter=300, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimiser.zero_grad()
        loss = torch.nn.functional.softplus(-sign * (x @ weight)).mean() + decay * (weight**2).sum() / 2
        loss.backward()
        return loss

    optimiser.step(closure)
    return weight.detach().numpy().astype(np.float64)


def train_linear_quantised(
    features: np.ndarray,
    labels: np.ndarray,
    start: np.ndarray,
    levels: int,
    step: float,
    penalty: float = 0.0,
    steps: int = 400,
    seed: int = 0,
) -> np.ndarray:
    """Integers in [-levels, levels], int64 (d + 1,), of the head ``step * integers``; straight-through
    gradients.

    ``penalty``: price of a nonzero entry, in units of the loss.
    """
    x, sign = _augmented(features, labels)
    torch.manual_seed(seed)
    latent = torch.from_numpy(start / step).float().requires_grad_()
    gain = torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.Adam([latent, gain], lr=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 0.05, total_steps=steps, pct_start=0.15)
    for _ in range(steps):
        optimiser.zero_grad()
        rounded = latent + (latent.round().clamp(-levels, levels) - latent).detach()
        margin = sign * (x @ rounded) * step * gain.exp()
        loss = torch.nn.functional.softplus(-margin).mean() + penalty * latent.abs().clamp(max=1).sum()
        loss.backward()
        optimiser.step()
        schedule.step()
    return latent.detach().round().clamp(-levels, levels).numpy().astype(np.int64)


def code_bits(counts: np.ndarray) -> np.ndarray:
    """Bits of a column with these symbol counts (..., symbols), by the law of Krichevsky and Trofimov."""
    symbols, seen = counts.shape[-1], counts.sum(-1)
    runs = (gammaln(counts + 0.5) - gammaln(0.5)).sum(-1)
    return np.asarray((gammaln(seen + symbols / 2) - gammaln(symbols / 2) - runs) / np.log(2))


def polish(
    features: np.ndarray, labels: np.ndarray, start: np.ndarray, levels: int, price: float, rounds: int = 300
) -> np.ndarray:
    """Greedy moves of single entries that lower errors / m + price * bits, until none does; int64 (d +
    1,)."""
    sign = 2.0 * labels - 1
    x = np.hstack([features.astype(np.float64), np.ones((len(features), 1))]) * sign[:, None]
    found, places = start.copy(), np.arange(len(start))
    margin = x @ found
    counts = np.bincount(found + levels, minlength=2 * levels + 1).astype(float)
    best = float(np.count_nonzero(~(margin > 0)) / len(x) + price * code_bits(counts))
    for _ in range(rounds):
        moves = []
        for value in range(-levels, levels + 1):
            wrong = np.count_nonzero(~(margin[:, None] + x * (value - found)[None, :] > 0), axis=0)
            after = np.repeat(counts[None, :], len(found), axis=0)
            after[places, found + levels] -= 1
            after[:, value + levels] += 1
            total = wrong / len(x) + price * code_bits(after)
            moves.append((float(total.min()), int(total.argmin()), value))
        total, place, value = min(moves)
        if not total < best - 1e-12:
            break
        best = total
        margin += x[:, place] * (value - found[place])
        counts[found[place] + levels] -= 1
        counts[value + levels] += 1
        found[place] = value
    return found


def train_linear_gaussian(
    features: np.ndarray,
    labels: np.ndarray,
    start: tuple[np.ndarray, np.ndarray],
    prior: tuple[np.ndarray, np.ndarray] | None,
    slope: float,
    steps: int = 600,
) -> tuple[np.ndarray, np.ndarray]:
    """Means and deviations, float64 (d + 1,), that minimise (risk under noise) + slope * KL / n.

    The risk under noise is exact, Phi(-margin / deviation), at twice the deviation for a smoother descent.
    ``prior``: fixed means and deviations, or None for a centred one of the best single variance.
    """
    x, sign = _augmented(features, labels)
    square = x**2
    mean = torch.from_numpy(start[0]).float().clone().requires_grad_()
    log = torch.from_numpy(np.log(start[1])).float().clone().requires_grad_()
    anchor = None if prior is None else [torch.from_numpy(p).float() for p in prior]
    optimiser = torch.optim.Adam([mean, log], lr=0.03)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 0.03, total_steps=steps, pct_start=0.15)
    for _ in range(steps):
        optimiser.zero_grad()
        spread = (2 * log).exp()
        risk = torch.special.ndtr(-sign * (x @ mean) / (square @ spread).sqrt()).mean()
        if anchor is None:
            divergence = 0.5 * ((spread + mean**2).mean().log() - 2 * log).sum()
        else:
            ratio = spread / anchor[1] ** 2
            divergence = 0.5 * (ratio - 1 - ratio.log() + ((mean - anchor[0]) / anchor[1]) ** 2).sum()
        (risk + slope * divergence / len(x)).backward()
        optimiser.step()
        schedule.step()
    return mean.detach().numpy().astype(np.float64), np.exp(log.detach().numpy().astype(np.float64))


def train_classes(
    features: np.ndarray,
    labels: np.ndarray,
    classes: int,
    quantised: tuple[np.ndarray, int, float, float] | None = None,
    steps: int = 300,
) -> np.ndarray:
    """Weight with bias (d + 1, classes) for more than two classes, by cross-entropy and Adam.

    ``quantised`` = (start, levels, step, price of a nonzero): int64 entries in [-levels, levels] of the head
    ``step * integers``, straight-through gradients; without it float64.
    """
    torch.set_num_threads(1)
    x = torch.from_numpy(np.hstack([features, np.ones((len(features), 1), dtype=np.float32)]))
    target = torch.from_numpy(labels)
    start, levels, step, penalty = quantised or (np.zeros((x.shape[1], classes)), 0, 1.0, 0.0)
    latent, gain = torch.from_numpy(start / step).float().requires_grad_(), torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.Adam([latent, gain], lr=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 0.05, total_steps=steps, pct_start=0.15)
    for _ in range(steps):
        optimiser.zero_grad()
        weight, spent = latent, 1e-4 * (latent**2).sum()
        if quantised:
            weight = latent + (latent.round().clamp(-levels, levels) - latent).detach()
            spent = penalty * latent.abs().clamp(max=1).sum()
        loss = torch.nn.functional.cross_entropy((x @ weight) * step * gain.exp(), target) + spent
        loss.backward()
        optimiser.step()
        schedule.step()
    if quantised:
        return latent.detach().round().clamp(-levels, levels).numpy().astype(np.int64)
    return latent.detach().numpy().astype(np.float64)
