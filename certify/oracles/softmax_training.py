"""Training of a softmax head on fixed tokens: an oracle. Whatever it returns is only ever evaluated exactly.

Three trainings of scores w (d,) and values v (d,): plain, quantised (integers times a step, with
straight-through gradients; Bengio, Leonard and Courville 2013) and Gaussian (means and deviations that
minimise an estimate of the PAC-Bayes bound; Dziugaite and Roy 2017).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from certify.oracles.posterior import divergence, objective

Tensor = torch.Tensor
Progress = Callable[[str], None]
BATCH = 2000


def _silent(_: str) -> None:
    return None


@dataclass(frozen=True)
class Tokens:
    """A sample as torch tensors: token coordinates (n, T, k) with padding d, labels (n,) 0 or 1."""

    coordinates: Tensor
    padded: Tensor
    labels: Tensor
    dimension: int

    @classmethod
    def of(cls, inputs: np.ndarray, labels: np.ndarray, dimension: int) -> Tokens:
        """From int16 tokens padded with -1 and labels 0, 1."""
        coordinates = torch.from_numpy(inputs.astype(np.int64))
        padded = coordinates[:, :, 0] < 0
        coordinates[coordinates < 0] = dimension
        return cls(coordinates, padded, torch.from_numpy(labels.astype(np.float32)), dimension)

    def logits(self, rows: Tensor, scores: Tensor, values: Tensor) -> Tensor:
        """f of the units ``rows`` for w and v of d + 1 entries, the last for padding."""
        x = self.coordinates[rows]
        raw = scores[x].sum(2).masked_fill(self.padded[rows], -1e9)
        return (torch.softmax(raw, 1) * values[x].sum(2)).sum(1)


def _descend(
    tokens: Tokens,
    parameters: list[Tensor],
    loss_of: Callable[[Tensor], Tensor],
    steps: int,
    rate: float,
    seed: int,
) -> None:
    """Adam over shuffled batches with a one-cycle rate; changes ``parameters`` in place."""
    generator = torch.Generator().manual_seed(seed)
    n = len(tokens.labels)
    batch = min(BATCH, max(50, n // 20))
    per_epoch = math.ceil(n / batch)
    optimiser = torch.optim.Adam(parameters, lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps, pct_start=0.15)
    order = torch.randperm(n, generator=generator)
    for step in range(steps):
        place = step % per_epoch
        if place == 0 and step:
            order = torch.randperm(n, generator=generator)
        optimiser.zero_grad()
        loss_of(order[place * batch : (place + 1) * batch]).backward()
        optimiser.step()
        schedule.step()


def _cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, labels)


def train(
    tokens: Tokens, steps: int = 800, seed: int = 0, decay: float = 1e-5
) -> tuple[np.ndarray, np.ndarray]:
    """Plain training from 0: (w, v), each float64 (d,)."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(seed)
    scores = torch.zeros(tokens.dimension + 1, requires_grad=True)
    values = (0.1 * torch.randn(tokens.dimension + 1, generator=generator)).requires_grad_()

    def loss_of(rows: Tensor) -> Tensor:
        penalty = decay * ((scores**2).sum() + (values**2).sum())
        return _cross_entropy(tokens.logits(rows, scores, values), tokens.labels[rows]) + penalty

    _descend(tokens, [scores, values], loss_of, steps, 0.1, seed)
    return _plain(scores, tokens.dimension), _plain(values, tokens.dimension)


def train_scores(
    tokens: Tokens, start: tuple[np.ndarray, np.ndarray], pull: float, steps: int = 200, seed: int = 0
) -> np.ndarray:
    """Scores (d,) trained onward from ``start`` = (w, v) with the values left alone; ``pull``: price of
    ||w - start||."""
    torch.set_num_threads(1)
    before, values = (torch.from_numpy(np.append(x, 0.0)).float() for x in start)
    moved = torch.zeros_like(before).requires_grad_()

    def loss_of(rows: Tensor) -> Tensor:
        logits = tokens.logits(rows, before + moved, values)
        return _cross_entropy(logits, tokens.labels[rows]) + pull * (moved**2).sum().add(1e-12).sqrt()

    _descend(tokens, [moved], loss_of, steps, 0.01, seed)
    return start[0] + _plain(moved, tokens.dimension)


def _plain(x: Tensor, d: int) -> np.ndarray:
    return x.detach().numpy().astype(np.float64)[:d]


class _Round(torch.autograd.Function):
    """Round to an integer in [-levels, levels]; the gradient passes straight through."""

    @staticmethod
    def forward(ctx: object, x: Tensor, levels: int) -> Tensor:
        return x.round().clamp(-levels, levels)

    @staticmethod
    def backward(ctx: object, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient, None


@dataclass(frozen=True)
class Grid:
    """A quantisation to try: levels and step of the scores and of the values, and the price of a bit.

    ``penalty``: in units of the loss; the bits of an entry q are estimated as log2(1 + |q|).
    """

    score_levels: int
    score_step: float
    value_levels: int
    value_step: float
    penalty: float = 0.0


def train_quantised(
    tokens: Tokens, start: tuple[np.ndarray, np.ndarray], grid: Grid, steps: int = 600, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Integers (w, v), int64 (d,), of the head ``score_step * w``, ``value_step * v``."""
    torch.set_num_threads(1)
    d = tokens.dimension
    scores, values = (
        torch.zeros(d + 1).index_copy(0, torch.arange(d), torch.from_numpy(x).float()) for x in start
    )
    scores, values = (scores / grid.score_step).requires_grad_(), (values / grid.value_step).requires_grad_()
    gain = torch.zeros(1, requires_grad=True)

    def loss_of(rows: Tensor) -> Tensor:
        w = _Round.apply(scores, grid.score_levels) * grid.score_step
        v = _Round.apply(values, grid.value_levels) * grid.value_step
        spent = sum(torch.log2(1 + x.abs()).sum() for x in (scores, values))
        return (
            _cross_entropy(tokens.logits(rows, w, v) * gain.exp(), tokens.labels[rows]) + grid.penalty * spent
        )

    groups = [scores, values, gain]
    _descend(tokens, groups, loss_of, steps, 0.07, seed)
    rounded = [
        x.detach().round().clamp(-levels, levels).numpy().astype(np.int64)[:d]
        for x, levels in ((scores, grid.score_levels), (values, grid.value_levels))
    ]
    return rounded[0], rounded[1]


Noise = list[tuple[np.ndarray, np.ndarray]]
"""(means, deviations), float64 (d,) each, of the entries of w and of those of v."""


def train_gaussian(
    tokens: Tokens,
    start: Noise,
    prior: Noise | None,
    steps: int = 500,
    seed: int = 0,
    rate: float = 0.03,
) -> Noise:
    """A Gaussian posterior for which a smoothed 0-1 loss under noise and KL / n are small.

    ``prior``: fixed Gaussian, or None for a centred one whose two variances are at their best for the
    posterior.
    """
    torch.set_num_threads(1)
    d, n = tokens.dimension, len(tokens.labels)
    generator = torch.Generator().manual_seed(seed + 1)
    means = [torch.from_numpy(m).float().clone().requires_grad_() for m, _ in start]
    logs = [torch.from_numpy(np.log(s)).float().clone().requires_grad_() for _, s in start]
    anchors = None
    if prior is not None:
        anchors = [(torch.from_numpy(m).float(), torch.from_numpy(s).float()) for m, s in prior]

    def loss_of(rows: Tensor) -> Tensor:
        w, v = (
            torch.cat([mean + log.exp() * torch.randn(d, generator=generator), torch.zeros(1)])
            for mean, log in zip(means, logs, strict=True)
        )
        margins = (2 * tokens.labels[rows] - 1) * tokens.logits(rows, w, v)
        return objective(torch.sigmoid(-1.5 * margins).mean(), divergence(means, logs, anchors), n)

    _descend(tokens, [*means, *logs], loss_of, steps, rate, seed)
    found = [[x.detach().numpy().astype(np.float64) for x in group] for group in (means, logs)]
    return [(mean, np.exp(log)) for mean, log in zip(*found, strict=True)]
