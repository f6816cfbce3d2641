"""Candidates for the certificates: untrusted training, then every candidate judged by its bound.

Heuristic: which grids are tried. Nothing here carries soundness: the code of Theorem D describes every
choice, so trying many costs nothing but time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from certify.bounds.risk.heads import Head, LinearHead, SoftmaxHead
from certify.bounds.risk.occam import Family, decoded
from certify.bounds.risk.pac_bayes import Gaussian
from certify.bounds.risk.samples import Sample
from certify.codec.arithmetic import Codeword
from certify.codec.matrices import QuantisedMatrix, encode, step
from certify.oracles import linear_training, softmax_training

Progress = Callable[[str], None]
ONE = np.ones((1, 1), dtype=np.int64)
SOFTMAX_LEVELS = (2, 3, 4, 6)
LINEAR_LEVELS = (1, 2)
# (levels, width of a step in spreads of the float entries, price of a nonzero)
LINEAR_GRIDS = ((1, 0.8, 3e-4), (1, 0.8, 1e-3), (1, 0.8, 4e-3), (1, 1.4, 1e-3), (2, 2.0, 1e-3))
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
        scores, values = softmax_training.train(self.tokens, self._steps(800), self.seed)
        return SoftmaxHead(scores, values[:, None])

    def candidates(self, head: SoftmaxHead, levels: tuple[int, ...]) -> Iterator[Candidate]:
        """Quantised heads, trained onward from the float head."""
        spread = [float(np.std(x)) for x in (head.scores, head.values)]
        for count in levels:
            exponents = [
                exponent_near(max(s, 1e-6) * f / count) for s, f in zip(spread, (2.2, 1.5), strict=True)
            ]
            grid = softmax_training.Grid(count, step(exponents[0]), count, step(exponents[1]))
            integers = softmax_training.train_quantised(
                self.tokens, (head.scores, head.values[:, 0]), grid, self._steps(600), self.seed
            )
            matrices = [
                QuantisedMatrix(ONE, integers[0][:, None], count, exponents[0]),
                QuantisedMatrix(integers[1][:, None], ONE, count, exponents[1]),
            ]
            word = encode(matrices)
            yield Candidate(word, decoded(word, self.family))

    def gaussian(self, head: SoftmaxHead, prior: Gaussian | None, slope: float = 4.0) -> Gaussian:
        """A posterior around the head; with ``prior``, one that stays near it."""
        if prior is None:
            start = softmax_training.Gaussian(
                head.scores, np.full(len(head.scores), 0.3), head.values[:, 0], np.full(len(head.values), 0.6)
            )
            anchor, steps = None, 500
        else:
            start = anchor = softmax_training.Gaussian(
                prior.means[0], prior.deviations[0], prior.means[1], prior.deviations[1]
            )
            steps, slope = 80, 40.0
        found = softmax_training.train_gaussian(
            self.tokens,
            start,
            anchor,
            slope,
            self._steps(steps),
            self.seed,
            rate=0.03 if prior is None else 0.003,
        )
        return Gaussian((found.score_mean, found.value_mean), (found.score_deviation, found.value_deviation))


class LinearFit:
    """Everything trained for a linear head of two classes and one output."""

    def __init__(self, sample: Sample, effort: float = 1.0, seed: int = 0) -> None:
        self.sample, self.effort, self.seed = sample, effort, seed
        self.family = Family("linear-head", sample.dimension, 1)

    def plain(self) -> LinearHead:
        """The float head."""
        weight = linear_training.train_linear(self.sample.inputs, self.sample.labels)
        return LinearHead(weight[:-1, None], weight[-1:])

    def candidates(self, head: LinearHead, levels: tuple[int, ...]) -> Iterator[Candidate]:
        """Quantised heads over a few steps and prices of a nonzero, then single entries moved."""
        start = np.append(head.weight[:, 0], head.bias[0])
        for count, width, penalty in LINEAR_GRIDS:
            if count not in levels:
                continue
            exponent = exponent_near(float(np.std(start)) * width / count)
            integers = linear_training.train_linear_quantised(
                self.sample.inputs,
                self.sample.labels,
                start,
                count,
                step(exponent),
                penalty,
                max(10, round(400 * self.effort)),
                self.seed,
            )
            candidate = self._candidate(integers, count, exponent)
            yield candidate
            if self.sample.inputs.size <= POLISH_LIMIT:
                errors, m = candidate.head.margins(self.sample).errors(), len(self.sample)
                nats = candidate.word.length * math.log(2)
                price = (surrogate(errors, m, nats + 10 * math.log(2)) - surrogate(errors, m, nats)) / 10
                integers = linear_training.polish(
                    self.sample.inputs, self.sample.labels, integers, count, price, round(300 * self.effort)
                )
                yield self._candidate(integers, count, exponent)

    def _candidate(self, integers: np.ndarray, levels: int, exponent: int) -> Candidate:
        word = encode([QuantisedMatrix(integers[:, None], ONE, levels, exponent)])
        return Candidate(word, decoded(word, self.family))

    def gaussian(self, head: LinearHead, prior: Gaussian | None, slope: float = 2.0) -> Gaussian:
        """A posterior around the head; with ``prior``, one that stays near it."""
        mean = np.append(head.weight[:, 0], head.bias[0])
        size = float(np.std(mean))
        start = (
            (mean, np.full(len(mean), 0.5 * size)) if prior is None else (prior.means[0], prior.deviations[0])
        )
        anchor = None if prior is None else start
        found = linear_training.train_linear_gaussian(
            self.sample.inputs, self.sample.labels, start, anchor, slope, max(10, round(600 * self.effort))
        )
        return Gaussian((found[0],), (found[1],))


Fit = SoftmaxFit | LinearFit

PRIOR_WIDTH = 0.05  # of the spread of the entries: a prior that was learned on data may be narrow


def learned_prior(head: Head) -> Gaussian:
    """Narrow noise around a head that was trained on the first part of the sample."""
    if isinstance(head, SoftmaxHead):
        means: tuple[np.ndarray, ...] = (head.scores, head.values[:, 0])
    else:
        means = (np.append(head.weight[:, 0], head.bias[0]),)
    return Gaussian(means, tuple(np.full(len(m), PRIOR_WIDTH * float(np.std(m)) + 1e-9) for m in means))


def fit_for(sample: Sample, effort: float = 1.0, seed: int = 0) -> Fit:
    """The fit that reads this kind of sample."""
    return SoftmaxFit(sample, effort, seed) if sample.kind == "tokens" else LinearFit(sample, effort, seed)


def compress(fit: Fit, head: Head, levels: tuple[int, ...] | None, progress: Progress) -> Candidate:
    """The candidate whose bound by Theorem D is smallest."""
    if levels is None:
        levels = SOFTMAX_LEVELS if isinstance(fit, SoftmaxFit) else LINEAR_LEVELS
    best: tuple[float, Candidate] | None = None
    for candidate in fit.candidates(head, levels):  # type: ignore[arg-type]
        errors = candidate.head.margins(fit.sample).errors()
        value = surrogate(errors, len(fit.sample), candidate.word.length * math.log(2))
        progress(f"compress: {candidate.word.length} bits, {errors} errors, bound about {value:.4f}")
        if best is None or value < best[0]:
            best = (value, candidate)
    if best is None:
        raise ValueError("no quantisation was tried")
    return best[1]
