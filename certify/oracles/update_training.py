"""Training of low-rank updates and a head on a frozen base, in floats and with rounding: an oracle.

Float factors are rounded to ternary ones in the forward pass and followed by straight-through gradients
(Bengio, Leonard and Courville 2013), the price of a nonzero entry is part of the loss. Nobody trusts what
comes out: the certificate decodes it again and counts its errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

Tensor = torch.Tensor
# What enters the head (n, width) for the rows of one group, with these dense updates in place.
Enter = Callable[[int, np.ndarray, Mapping[str, Tensor]], Tensor]

WIDTH = 0.6  # spread of the float entries in units of the step: about 40 % round to nonzero at the start
BATCH, RATE, LORA_RATE = 32, 0.02, 0.01


@dataclass(frozen=True)
class Start:
    """Float factors left (d1, r), right (d2, r) of each update by name, and a head (d + 1, K), float64."""

    factors: Mapping[str, tuple[np.ndarray, np.ndarray]]
    head: np.ndarray


@dataclass(frozen=True)
class Rounded:
    """Integers in -1, 0, 1: factors and step of each update by name, the head (d + 1, K) and its step."""

    factors: Mapping[str, tuple[np.ndarray, np.ndarray, float]]
    head: np.ndarray
    head_step: float


class _Latent:
    """Float entries behind a ternary matrix, and the logarithm of its step."""

    def __init__(self, parts: Sequence[np.ndarray]) -> None:
        sizes = [float(np.std(p)) + 1e-12 for p in parts]
        self.entries = [
            torch.from_numpy(WIDTH * p / s).float().requires_grad_()
            for p, s in zip(parts, sizes, strict=True)
        ]
        log = sum(math.log(s / WIDTH) for s in sizes)
        self.log_step = torch.tensor(log, dtype=torch.float32, requires_grad=True)

    def rounded(self) -> list[Tensor]:
        """Ternary entries whose gradient is that of the float ones."""
        return [e + (e.round().clamp(-1, 1) - e).detach() for e in self.entries]

    def spent(self) -> Tensor:
        """A smooth stand-in for the number of nonzero entries."""
        return torch.stack([e.abs().clamp(max=1).sum() for e in self.entries]).sum()

    def step(self) -> float:
        """The factor in front of the integers."""
        return float(self.log_step.detach().exp())

    def integers(self) -> list[np.ndarray]:
        """What the entries are rounded to."""
        return [e.detach().round().clamp(-1, 1).numpy().astype(np.int64) for e in self.entries]


def _batches(groups: Sequence[np.ndarray], generator: np.random.Generator) -> list[tuple[int, np.ndarray]]:
    """(group, rows) of one epoch: rows of one group only, everything in random order."""
    found = []
    for number, rows in enumerate(groups):
        mixed = generator.permutation(rows)
        found += [(number, mixed[i : i + BATCH]) for i in range(0, len(mixed), BATCH)]
    return [found[i] for i in generator.permutation(len(found))]


def train_update(
    enter: Enter,
    groups: Sequence[np.ndarray],
    labels: np.ndarray,
    start: Start,
    penalty: float,
    epochs: int,
    seed: int,
    progress: Callable[[str], None],
) -> Rounded:
    """Ternary updates and head, trained onward from float ones.

    ``groups``: rows that can run in one batch; ``labels`` int64 (n,); ``penalty``: price of a nonzero entry
    in units of the loss. One output of the head is the logit of class 1 against 0.
    """
    updates = {name: _Latent(pair) for name, pair in start.factors.items()}
    head, target = _Latent([start.head]), torch.from_numpy(labels)
    latent = [*updates.values(), head]

    def loss_of(group: int, rows: np.ndarray) -> Tensor:
        deltas = {n: u.log_step.exp() * _product(u.rounded()) for n, u in updates.items()}
        loss = _loss(enter(group, rows, deltas), head.rounded()[0] * head.log_step.exp(), target[rows])
        return loss + penalty * torch.stack([one.spent() for one in latent]).sum()

    parameters = [t for one in latent for t in (*one.entries, one.log_step)]
    _descend(parameters, loss_of, groups, epochs, RATE, seed, lambda text: progress(f"quantise: {text}"))
    found = {name: (*u.integers(), u.step()) for name, u in updates.items()}
    return Rounded(found, head.integers()[0], head.step())  # type: ignore[arg-type]


def _product(factors: Sequence[Tensor]) -> Tensor:
    return factors[0] @ factors[1].T


def train_lora(
    enter: Enter,
    groups: Sequence[np.ndarray],
    labels: np.ndarray,
    shapes: Mapping[str, tuple[int, int]],
    head: tuple[int, int],
    epochs: int,
    seed: int,
    progress: Callable[[str], None],
) -> Start:
    """Float updates of rank 1 of the named tensors (d1, d2) and a head (d + 1, K), from no update at all.

    Low-rank adaptation (Hu et al. 2021): left random, right 0 at the start, everything else frozen.
    """
    torch.manual_seed(seed)
    left = {n: (0.5 / d1**0.5 * torch.randn(d1, 1)).requires_grad_() for n, (d1, _) in shapes.items()}
    right = {n: torch.zeros(d2, 1, requires_grad=True) for n, (_, d2) in shapes.items()}
    weight, target = torch.zeros(head, requires_grad=True), torch.from_numpy(labels)

    def loss_of(group: int, rows: np.ndarray) -> Tensor:
        return _loss(enter(group, rows, {n: left[n] @ right[n].T for n in left}), weight, target[rows])

    parameters = [*left.values(), *right.values(), weight]
    _descend(
        parameters, loss_of, groups, epochs, LORA_RATE, seed, lambda text: progress(f"fine-tune: {text}")
    )
    found = {n: (left[n].detach().double().numpy(), right[n].detach().double().numpy()) for n in left}
    return Start(found, weight.detach().double().numpy())


def _loss(entered: Tensor, weight: Tensor, target: Tensor) -> Tensor:
    """Cross-entropy of a head with its bias in the last row; a single output stands against a logit 0."""
    logits = entered @ weight[:-1] + weight[-1]
    if logits.shape[1] == 1:
        logits = torch.nn.functional.pad(logits, (1, 0))
    return torch.nn.functional.cross_entropy(logits, target)


def _descend(
    parameters: list[Tensor],
    loss_of: Callable[[int, np.ndarray], Tensor],
    groups: Sequence[np.ndarray],
    epochs: int,
    rate: float,
    seed: int,
    progress: Callable[[str], None],
) -> None:
    """Adam with a one-cycle rate over random batches; changes ``parameters`` in place."""
    torch.set_num_threads(1)
    generator = np.random.default_rng(seed)
    steps = epochs * sum(-(-len(rows) // BATCH) for rows in groups)
    optimiser = torch.optim.Adam(parameters, lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps, pct_start=0.15)
    done = 0
    for _ in range(epochs):
        for group, rows in _batches(groups, generator):
            optimiser.zero_grad()
            loss_of(group, rows).backward()
            optimiser.step()
            schedule.step()
            done += 1
            progress(f"{done} of {steps} steps")
