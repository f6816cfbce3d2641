"""Training of a linear head on fixed features: an oracle, as `softmax_training` is.

A weight has shape (d + 1, K): all features are used with a constant 1 appended, so that the last row is the
bias. One output (K = 1) is the logit of class 1 against a logit 0 of class 0; K > 1 outputs are one logit
for each class.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from scipy.special import gammaln

from certify.oracles.posterior import divergence, objective

Tensor = torch.Tensor


def _tensors(features: np.ndarray, labels: np.ndarray) -> tuple[Tensor, Tensor]:
    torch.set_num_threads(1)
    ones = np.ones((len(features), 1), dtype=np.float32)
    return torch.from_numpy(np.hstack([features, ones])), torch.from_numpy(labels.astype(np.int64))


def _per_class(outputs: Tensor) -> Tensor:
    """One column for each class: for one output, a column 0 for class 0 before it."""
    return torch.nn.functional.pad(outputs, (1, 0)) if outputs.shape[1] == 1 else outputs


def _descend(parameters: list[Tensor], loss_of: Callable[[], Tensor], steps: int, rate: float) -> None:
    """Adam on the whole sample with a one-cycle rate; changes ``parameters`` in place."""
    optimiser = torch.optim.Adam(parameters, lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps, pct_start=0.15)
    for _ in range(steps):
        optimiser.zero_grad()
        loss_of().backward()
        optimiser.step()
        schedule.step()


def train_linear(
    features: np.ndarray, labels: np.ndarray, outputs: int = 1, decay: float = 1e-4
) -> np.ndarray:
    """Logistic regression by L-BFGS: weight float64 (d + 1, outputs)."""
    x, target = _tensors(features, labels)
    weight = torch.zeros((x.shape[1], outputs), requires_grad=True)
    optimiser = torch.optim.LBFGS([weight], max_iter=300, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(_per_class(x @ weight), target)
        loss = loss + decay * (weight**2).sum() / 2
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
) -> np.ndarray:
    """Integers in [-levels, levels], int64 (d + 1, K), of the head ``step * integers``; straight-through
    gradients from ``start`` (d + 1, K).

    ``penalty``: price of a nonzero entry, in units of the loss.
    """
    x, target = _tensors(features, labels)
    latent = torch.from_numpy(start / step).float().requires_grad_()
    gain = torch.zeros(1, requires_grad=True)

    def loss_of() -> Tensor:
        rounded = latent + (latent.round().clamp(-levels, levels) - latent).detach()
        logits = _per_class(x @ rounded) * step * gain.exp()
        return torch.nn.functional.cross_entropy(logits, target) + penalty * latent.abs().clamp(max=1).sum()

    _descend([latent, gain], loss_of, steps, 0.05)
    return latent.detach().round().clamp(-levels, levels).numpy().astype(np.int64)


def code_bits(counts: np.ndarray) -> np.ndarray:
    """Bits of a column with these symbol counts (..., symbols), by the law of Krichevsky and Trofimov."""
    symbols, seen = counts.shape[-1], counts.sum(-1)
    runs = (gammaln(counts + 0.5) - gammaln(0.5)).sum(-1)
    return np.asarray((gammaln(seen + symbols / 2) - gammaln(symbols / 2) - runs) / np.log(2))


class _Polish:
    """A quantised head whose entries are moved one at a time while errors / m + price * bits falls."""

    def __init__(
        self, features: np.ndarray, labels: np.ndarray, start: np.ndarray, levels: int, price: float
    ) -> None:
        self.x = np.hstack([features.astype(np.float64), np.ones((len(features), 1))])
        self.labels, self.levels, self.price, self.weight = labels, levels, price, start.copy()
        self.first = 1 if start.shape[1] == 1 else 0  # the class of the first output
        self.logits = np.hstack([np.zeros((len(labels), self.first)), self.x @ start])
        self.counts = np.stack([np.bincount(c + levels, minlength=2 * levels + 1) for c in start.T]).astype(
            float
        )

    def score(self) -> float:
        """errors / m + price * bits of the head as it is."""
        wrong = np.count_nonzero(~(self._limits(0)[1] < 0)) / len(self.x)
        return float(wrong + self.price * code_bits(self.counts).sum())

    def _limits(self, output: int) -> tuple[np.ndarray, np.ndarray]:
        """(sign, limit) of each unit: it is right iff sign * (shift of the output's logit) > limit."""
        place, rows = output + self.first, np.arange(len(self.labels))
        own, others = self.logits[rows, self.labels], self.logits.copy()
        others[rows, self.labels] = -np.inf
        rival = others[:, place].copy()
        others[:, place] = -np.inf
        rest = others.max(axis=1)
        mine = self.labels == place
        return np.where(mine, 1.0, -1.0), np.where(mine, rest, np.where(own > rest, rival, np.inf)) - own

    def best_move(self) -> tuple[float, int, int, int]:
        """(score after it, row, output, new value) of the best move of one entry."""
        moves = []
        bits, rows = code_bits(self.counts), np.arange(len(self.weight))
        for output, column in enumerate(self.weight.T):
            sign, limit = self._limits(output)
            signed = sign[:, None] * self.x
            for value in range(-self.levels, self.levels + 1):
                after = np.repeat(self.counts[output][None, :], len(column), axis=0)
                after[rows, column + self.levels] -= 1
                after[:, value + self.levels] += 1
                spent = bits.sum() - bits[output] + code_bits(after)
                wrong = np.count_nonzero(~(signed * (value - column) > limit[:, None]), axis=0)
                total = wrong / len(self.x) + self.price * spent
                moves.append((float(total.min()), int(total.argmin()), output, value))
        return min(moves)

    def move(self, row: int, output: int, value: int) -> None:
        """Set one entry."""
        old = int(self.weight[row, output])
        self.logits[:, output + self.first] += self.x[:, row] * (value - old)
        self.counts[output, old + self.levels] -= 1
        self.counts[output, value + self.levels] += 1
        self.weight[row, output] = value


def polish(
    features: np.ndarray, labels: np.ndarray, start: np.ndarray, levels: int, price: float, rounds: int = 300
) -> np.ndarray:
    """Greedy moves of single entries that lower errors / m + price * bits, until none does; int64 (d + 1,
    K)."""
    state = _Polish(features, labels, start, levels, price)
    best = state.score()
    for _ in range(rounds):
        total, row, output, value = state.best_move()
        if not total < best - 1e-12:
            break
        best = total
        state.move(row, output, value)
    return state.weight


def train_linear_gaussian(
    features: np.ndarray,
    labels: np.ndarray,
    start: tuple[np.ndarray, np.ndarray],
    prior: tuple[np.ndarray, np.ndarray] | None,
    steps: int = 600,
) -> tuple[np.ndarray, np.ndarray]:
    """Means and deviations, float64 (d + 1, K), for which the risk under noise and KL / n are small.

    ``prior``: fixed means and deviations, or None for a centred one of the best single variance.
    """
    x, target = _tensors(features, labels)
    square = x**2
    mean, log = (torch.from_numpy(a).float().clone().requires_grad_() for a in (start[0], np.log(start[1])))
    anchor = (
        None if prior is None else [(torch.from_numpy(prior[0]).float(), torch.from_numpy(prior[1]).float())]
    )

    def loss_of() -> Tensor:
        risk = _noisy_risk(_per_class(x @ mean), _per_class(square @ (2 * log).exp()), target)
        return objective(risk, divergence([mean], [log], anchor), len(x))

    _descend([mean, log], loss_of, steps, 0.03)
    return mean.detach().numpy().astype(np.float64), np.exp(log.detach().numpy().astype(np.float64))


def _noisy_risk(logits: Tensor, variances: Tensor, target: Tensor) -> Tensor:
    """Mean over the units of 1 - prod_j P(own logit > logit j): the risk itself for two classes.

    For more it is above the risk, because the events share the own logit (Slepian 1962).
    """
    own = torch.nn.functional.one_hot(target, logits.shape[1]).bool()
    margin = (logits[own][:, None] - logits) / (variances[own][:, None] + variances).sqrt().clamp(min=1e-12)
    return -torch.special.log_ndtr(margin).masked_fill(own, 0.0).sum(1).expm1().mean()
