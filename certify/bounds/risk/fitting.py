"""Candidates for the certificates: untrusted training, then every candidate judged by its bound.

Heuristic: which grids are tried. Nothing here carries soundness: the code of Theorem D describes every
choice, so trying many costs nothing but time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from certify.bounds.risk.families import Family
from certify.bounds.risk.heads import Head, SoftmaxHead
from certify.bounds.risk.noise import Gaussian
from certify.bounds.risk.occam import decoded
from certify.bounds.risk.samples import Sample
from certify.codec.arithmetic import Codeword
from certify.codec.matrices import QuantisedMatrix, encode, step
from certify.errors import DataError
from certify.oracles import linear_training, softmax_training

Progress = Callable[[str], None]
ONE = np.ones((1, 1), dtype=np.int64)
SOFTMAX_LEVELS = ((30_000, (2, 3, 4)), (1 << 62, (4, 6, 8)))  # up to so many units: levels to try
SOFTMAX_WIDTHS = (2.2, 1.5)  # reach of the levels, in spreads of the float scores and values
BITS_PER_ENTRY = 3.0  # a guess for the price of a bit
BIT_IN_LOSS = 2.0  # how much of the training loss one unit of risk is worth
LINEAR_LEVELS = (1, 2)
# (levels, width of a step in spreads of the float entries, price of a nonzero)
LINEAR_GRIDS = ((1, 0.8, 3e-4), (1, 0.8, 1e-3), (1, 0.8, 4e-3), (1, 1.4, 1e-3), (2, 2.0, 1e-3))
SCORES_PULL = 1.6  # price of moving scores alone is this over sqrt(m), in units of the loss
POLISH_LIMIT = 5_000_000  # units times features


def exponent_near(value: float) -> int:
    """The exponent whose step is nearest to ``value`` > 0, on a logarithmic scale."""
    guess = round(4 * math.log2(value))
    return min(range(guess - 3, guess + 4), key=lambda e: abs(math.log(step(e) / value)))


@dataclass(frozen=True)
class Candidate:
    """A codeword and the head it decodes to."""

    word: Codeword
    head: Head


def surrogate(errors: int, m: int, nats: float, delta: float = 0.05) -> float:
    """The relative-entropy bound in floats, for choosing among candidates only."""
    if errors >= m:
        return 1.0
    q, budget = errors / m, (nats + math.log(1 / delta)) / m
    low, high = q, 1.0
    for _ in range(50):
        p = (low + high) / 2
        first = q * math.log(q / p) if q > 0 else 0.0
        if first + (1 - q) * math.log((1 - q) / (1 - p)) <= budget:
            low = p
        else:
            high = p
    return high


class SoftmaxFit:
    """Everything trained for a softmax head of two classes and one output."""

    def __init__(self, sample: Sample, effort: float = 1.0, seed: int = 0) -> None:
        self.sample, self.effort, self.seed = sample, effort, seed
        self.family = Family("softmax-head", sample.dimension, 1)
        self.tokens = softmax_training.Tokens.of(sample.inputs, sample.labels, sample.dimension)

    def _steps(self, count: int) -> int:
        return max(10, round(count * self.effort))

    def plain(self) -> SoftmaxHead:
        """The float head."""
        scores, values = softmax_training.train(self.tokens, self._steps(1200), self.seed)
        return SoftmaxHead(scores, values[:, None])

    def candidates(self, head: Head, levels: tuple[int, ...]) -> Iterator[Candidate]:
        """Quantised heads, trained onward from the float head."""
        start = self._vectors(head)
        errors, bits = head.margins(self.sample).errors(), BITS_PER_ENTRY * sum(len(x) for x in start)
        penalty = BIT_IN_LOSS * price_of_a_bit(errors, len(self.sample), bits)
        for count in levels:
            exponents = [
                exponent_near(max(float(np.std(x)), 1e-6) * f / count)
                for x, f in zip(start, SOFTMAX_WIDTHS, strict=True)
            ]
            grid = softmax_training.Grid(count, step(exponents[0]), count, step(exponents[1]), penalty)
            integers = softmax_training.train_quantised(self.tokens, start, grid, self._steps(600), self.seed)
            matrices = [
                QuantisedMatrix(ONE, integers[0][:, None], count, exponents[0]),
                QuantisedMatrix(integers[1][:, None], ONE, count, exponents[1]),
            ]
            word = encode(matrices)
            yield Candidate(word, decoded(word, self.family))

    def _vectors(self, head: Head) -> tuple[np.ndarray, np.ndarray]:
        scores, values = self.family.matrices_of(head)
        return scores[0], values[:, 0]

    def scores_alone(self, head: Head) -> SoftmaxHead:
        """The head with its scores trained onward on this sample and its values left alone."""
        scores, values = self._vectors(head)
        pull = SCORES_PULL / math.sqrt(len(self.sample))
        found = softmax_training.train_scores(
            self.tokens, (scores, values), pull, self._steps(200), self.seed
        )
        return SoftmaxHead(found, values[:, None])

    def gaussian(self, head: Head, prior: Gaussian | None) -> Gaussian:
        """A posterior around the head; with ``prior``, one that stays near it."""
        anchor, steps, rate = None, 500, 0.03
        means = self._vectors(head)
        start = [(m, np.full(len(m), s)) for m, s in zip(means, (0.3, 0.6), strict=True)]
        if prior is not None:
            start = anchor = list(zip(prior.means, prior.deviations, strict=True))
            steps, rate = 80, 0.001
        found = softmax_training.train_gaussian(
            self.tokens, start, anchor, self._steps(steps), self.seed, rate
        )
        return Gaussian(tuple(m for m, _ in found), tuple(s for _, s in found))


class LinearFit:
    """Everything trained for a linear head: one output for two classes, else one for each class."""

    def __init__(self, sample: Sample, effort: float = 1.0, seed: int = 0, outputs: int = 1) -> None:
        self.sample, self.effort, self.seed = sample, effort, seed
        self.family = Family("linear-head", sample.dimension, outputs)

    def _steps(self, count: int) -> int:
        return max(10, round(count * self.effort))

    def plain(self) -> Head:
        """The float head."""
        weight = linear_training.train_linear(self.sample.inputs, self.sample.labels, self.family.outputs)
        return self.family.made_of([weight])

    def candidates(self, head: Head, levels: tuple[int, ...]) -> Iterator[Candidate]:
        """Quantised heads over a few steps and prices of a nonzero, then single entries moved."""
        (start,) = self.family.matrices_of(head)
        x, labels = self.sample.inputs, self.sample.labels
        for count, width, penalty in LINEAR_GRIDS:
            if count not in levels:
                continue
            exponent = exponent_near(max(float(np.std(start)), 1e-6) * width / count)
            integers = linear_training.train_linear_quantised(
                x, labels, start, count, step(exponent), penalty / self.family.outputs, self._steps(400)
            )
            candidate = self._candidate(integers, count, exponent)
            yield candidate
            if x.size * self.family.outputs <= POLISH_LIMIT:
                errors = candidate.head.margins(self.sample).errors()
                price = price_of_a_bit(errors, len(self.sample), candidate.word.length)
                integers = linear_training.polish(x, labels, integers, count, price, self._steps(300))
                yield self._candidate(integers, count, exponent)

    def _candidate(self, integers: np.ndarray, levels: int, exponent: int) -> Candidate:
        identity = np.eye(self.family.outputs, dtype=np.int64)
        word = encode([QuantisedMatrix(integers, identity, levels, exponent)])
        return Candidate(word, decoded(word, self.family))

    def gaussian(self, head: Head, prior: Gaussian | None) -> Gaussian:
        """A posterior around the head; with ``prior``, one that stays near it."""
        (mean,) = self.family.matrices_of(head)
        anchor = None
        start = mean, np.full(mean.shape, 0.5 * float(np.std(mean)) + 1e-9)
        if prior is not None:
            start = anchor = (
                prior.means[0].reshape(mean.shape),
                prior.deviations[0].reshape(mean.shape),
            )
        found = linear_training.train_linear_gaussian(
            self.sample.inputs, self.sample.labels, start, anchor, self._steps(600)
        )
        return Gaussian((found[0].reshape(-1),), (found[1].reshape(-1),))


def price_of_a_bit(errors: int, m: int, bits: float) -> float:
    """The share of errors that raises the bound as much as one more bit, near so many errors and bits."""
    now, step_up = surrogate(errors, m, bits * math.log(2)), max(1, m // 500)
    longer = surrogate(errors, m, (bits + 10) * math.log(2)) - now
    worse = surrogate(errors + step_up, m, bits * math.log(2)) - now
    return (longer / 10) / (worse / step_up * m) if worse > 0 else 1 / m


Fit = SoftmaxFit | LinearFit

PRIOR_WIDTH = 0.02  # of the spread of the entries: a prior that was learned on data may be narrow


def learned_prior(family: Family, head: Head) -> Gaussian:
    """Narrow noise around a head that was trained on the first part of the sample."""
    means = tuple(matrix.reshape(-1) for matrix in family.matrices_of(head))
    return Gaussian(means, tuple(np.full(len(m), PRIOR_WIDTH * float(np.std(m)) + 1e-9) for m in means))


def fit_for(sample: Sample, effort: float = 1.0, seed: int = 0, outputs: int = 1) -> Fit:
    """The fit that reads this kind of sample."""
    if sample.kind == "features":
        return LinearFit(sample, effort, seed, outputs)
    if outputs > 1:
        raise DataError(f"{outputs} classes need features; for a softmax head on tokens there are two")
    return SoftmaxFit(sample, effort, seed)


def compress(fit: Fit, head: Head, levels: tuple[int, ...] | None, progress: Progress) -> Candidate:
    """The candidate whose bound by Theorem D is smallest."""
    if levels is None:
        levels = LINEAR_LEVELS
        if isinstance(fit, SoftmaxFit):
            levels = next(tried for most, tried in SOFTMAX_LEVELS if len(fit.sample) <= most)
    best: tuple[float, Candidate] | None = None
    for candidate in fit.candidates(head, levels):
        errors = candidate.head.margins(fit.sample).errors()
        value = surrogate(errors, len(fit.sample), candidate.word.length * math.log(2))
        progress(f"compress: {candidate.word.length} bits, {errors} errors, bound about {value:.4f}")
        if best is None or value < best[0]:
            best = (value, candidate)
    if best is None:
        raise ValueError("no quantisation was tried")
    return best[1]
