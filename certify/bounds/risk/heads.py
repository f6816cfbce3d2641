"""Classifier heads as functions of real numbers, and margins of them that contain the truth.

The decision of a head is defined in real arithmetic: unit i is an error when its margin is <= 0 (ties are
errors). Floats only enclose that margin: where the enclosure contains 0 the unit is undecided and counts as
an error, so a count is never too small, on any machine and in any order of summation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from certify.bounds.risk.samples import PADDING, Sample
from certify.errors import DataError, NotCertified

CHUNK = 20_000
# Fewer than 2^10 roundings of 2^-53 each, and exp with a relative error of at most 2^-45, stay below this.
MARGIN_ERROR = 2.0**-40
MAX_OPERATIONS = 1 << 10
EXP_ASSUMPTION = "exp-relative-error"

ASSUMPTIONS = {
    EXP_ASSUMPTION: "numpy's exp of a double has a relative error of at most 2^-45 (an ulp is 2^-52)."
}


@dataclass(frozen=True)
class Margins:
    """Enclosures ``middle +- radius`` of the margins, float64 (n,)."""

    middle: np.ndarray
    radius: np.ndarray

    def errors(self) -> int:
        """An upper bound on the number of margins <= 0: undecided ones are counted."""
        return int(np.count_nonzero(~(self.middle - self.radius > 0)))

    def undecided(self) -> int:
        """How many enclosures contain 0 (the true count lies this far below `errors`, at most)."""
        return int(np.count_nonzero(~(np.abs(self.middle) > self.radius)))

    def ramp_risk(self, width: float) -> Fraction:
        """An upper bound on the mean ramp loss min(1, max(0, 1 - margin / width))."""
        if not width > 0:
            raise NotCertified(f"the ramp needs a width > 0, found {width}")
        loss = np.clip(1.0 - (self.middle - self.radius) / width, 0.0, 1.0)
        units = np.ceil(
            np.minimum(loss * (1 + 2.0**-50) + 2.0**-50, 1.0) * 2.0**40
        )  # rounded up, to integers
        return Fraction(int(units.astype(np.int64).sum()), len(loss) << 40)

    def at_most(self, width: float) -> int:
        """An upper bound on the number of margins <= ``width``."""
        return int(np.count_nonzero(~(self.middle - self.radius > width)))


def _signed(labels: np.ndarray, outputs: int) -> None:
    classes = 2 if outputs == 1 else outputs
    if labels.max() >= classes:
        raise DataError(f"label {labels.max()} does not fit a head with {classes} classes")


@dataclass(frozen=True)
class SoftmaxHead:
    """f(x) = sum_t softmax(s)_t V^T x_t with s_t = w^T x_t: one learned query over fixed tokens.

    ``scores`` w float64 (d,), the query-key matrix (1 x d) for the fixed query 1; ``values`` V float64
    (d, K).
    K = 1: class 1 is predicted where f > 0, margin (2y - 1) f. K >= 2: margin f_y - max of the others.
    """

    scores: np.ndarray
    values: np.ndarray

    kind = "tokens"

    @property
    def outputs(self) -> int:
        """K."""
        return self.values.shape[1]

    @property
    def dimension(self) -> int:
        """d."""
        return len(self.scores)

    def margins(self, sample: Sample) -> Margins:
        """Margins on a sample of tokens."""
        if sample.kind != self.kind or sample.dimension != len(self.scores):
            raise DataError(
                f"the head reads tokens of dimension {len(self.scores)}, not {sample.kind} {sample.dimension}"
            )
        _signed(sample.labels, self.values.shape[1])
        if np.prod(sample.inputs.shape[1:]) >= MAX_OPERATIONS:
            raise NotCertified(f"units of {sample.inputs.shape[1:]} token entries exceed the error analysis")
        parts = [self._chunk(sample.part(rows)) for rows in chunks(len(sample))]
        return Margins(np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts]))

    def _chunk(self, sample: Sample) -> tuple[np.ndarray, np.ndarray]:
        scores = np.append(self.scores, 0.0)[None, :]
        values = np.vstack([self.values, np.zeros((1, self.values.shape[1]))])[None, :, :]
        return softmax_margins(sample.inputs, sample.labels, scores, values)


def softmax_margins(
    tokens: np.ndarray, labels: np.ndarray, scores: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Margins and radii of softmax heads on tokens (n, T, k), one head for all units or one for each.

    ``scores`` (1 or n, d + 1) and ``values`` (1 or n, d + 1, K), with a last entry 0 for padding. The
    radius is MARGIN_ERROR * sum_t p_t |a_t|_1 (1 + largest sum of |score entries|), which covers every
    rounding: the score's error is multiplied into the weight p_t, the rest are relative errors of
    products and sums.
    """
    places = _places(tokens, scores.shape)
    weight = _softmax(_look_up(scores, places), tokens[:, :, 0] == PADDING)
    columns = [values[:, :, j] for j in range(values.shape[2])]
    logits = np.stack([(weight * _look_up(column, places)).sum(axis=1) for column in columns], axis=1)
    sizes = sum(_size(column, places, weight) for column in columns)
    radius = (sizes + np.finfo(float).tiny) * (MARGIN_ERROR * (1.0 + _size(scores, places, None)))
    return margin_of(logits, labels), radius


def token_sums(table: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """sum_j table[token_j] (n, T) for one table (d,) and tokens (n, T, k); 0 for padding."""
    places = _places(tokens, (1, len(table) + 1))
    return _look_up(np.append(table, 0.0)[None, :], places)


def _places(tokens: np.ndarray, shape: tuple[int, ...]) -> list[np.ndarray]:
    """For each of the k coordinates the flat places (n, T) in a table (1 or n, d + 1); padding is the
    last."""
    d = shape[1] - 1
    rows = (np.arange(len(tokens)) * (d + 1))[:, None] if shape[0] > 1 else 0
    return [np.where(tokens[:, :, j] < 0, d, tokens[:, :, j]) + rows for j in range(tokens.shape[2])]


def _look_up(table: np.ndarray, places: list[np.ndarray]) -> np.ndarray:
    """sum_j table[places_j] (n, T)."""
    flat = np.ascontiguousarray(table).reshape(-1)
    total = flat.take(places[0])
    for place in places[1:]:
        total += flat.take(place)
    return total


def _size(table: np.ndarray, places: list[np.ndarray], weight: np.ndarray | None) -> np.ndarray:
    """Bounds (n,) on the sums of absolute entries: sharp for one table, by the largest entry for many."""
    if len(table) > 1:
        return len(places) * np.abs(table).max(axis=1)
    sums = _look_up(np.abs(table), places)
    return np.asarray(sums.max(axis=1) if weight is None else (weight * sums).sum(axis=1))


def _softmax(raw: np.ndarray, padded: np.ndarray) -> np.ndarray:
    raw[padded] = -np.inf
    weight = np.exp(raw - raw.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class LinearHead:
    """f(x) = W^T x + b on fixed features; ``weight`` float64 (d, K), ``bias`` float64 (K,). Margins as
    above."""

    weight: np.ndarray
    bias: np.ndarray

    kind = "features"

    @property
    def outputs(self) -> int:
        """K."""
        return self.weight.shape[1]

    @property
    def dimension(self) -> int:
        """d."""
        return len(self.weight)

    def margins(self, sample: Sample) -> Margins:
        """Margins on a sample of features."""
        if sample.kind != self.kind or sample.dimension != len(self.weight):
            raise DataError(
                f"the head reads features of dimension {len(self.weight)}, not {sample.kind} "
                f"{sample.dimension}"
            )
        _signed(sample.labels, self.weight.shape[1])
        parts = []
        for rows in chunks(len(sample)):
            x, labels = sample.inputs[rows].astype(np.float64), sample.labels[rows]
            logits = x @ self.weight + self.bias
            size = (np.abs(x) @ np.abs(self.weight) + np.abs(self.bias)).sum(axis=1)
            radius = size * (4 * (len(self.weight) + 8) * 2.0**-53) + np.finfo(float).tiny
            parts.append((margin_of(logits, labels), radius))
        return Margins(np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts]))


def margin_of(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Margins (n,) of float logits (n, K): the own logit minus the largest other, or +-f for one output."""
    if logits.shape[1] == 1:
        return np.where(labels == 1, 1.0, -1.0) * logits[:, 0]
    own = np.take_along_axis(logits, labels[:, None], axis=1)[:, 0]
    others = logits.copy()
    np.put_along_axis(others, labels[:, None], -np.inf, axis=1)
    return own - others.max(axis=1)


class HasMargins(Protocol):
    """Anything whose errors can be counted."""

    def margins(self, sample: Sample) -> Margins:
        """Enclosures of the margins on the sample."""


Head = SoftmaxHead | LinearHead


def chunks(n: int) -> Iterator[slice]:
    """Slices of at most CHUNK rows."""
    for start in range(0, n, CHUNK):
        yield slice(start, min(start + CHUNK, n))
