"""Classifier heads as functions of real numbers, and margins of them that contain the truth.

The decision of a head is defined in real arithmetic: unit i is an error when its margin is <= 0 (ties are
errors). Floats only enclose that margin: where the enclosure contains 0 the unit is undecided and counts as
an error, so a count is never too small, on any machine and in any order of summation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from certify.bounds.risk.samples import PADDING, Sample
from certify.errors import DataError, NotCertified

CHUNK = 20_000
# Fewer than 2^10 roundings of 2^-53 each, and exp with a relative error of at most 2^-45, stay below this.
MARGIN_ERROR = 2.0**-40
MAX_OPERATIONS = 1 << 10
EXP_ASSUMPTION = "exp-relative-error"

ASSUMPTIONS = {EXP_ASSUMPTION: "numpy's exp of a double has a relative error of at most 2^-45 (an ulp is 2^-52)."}


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
        units = np.ceil(np.minimum(loss * (1 + 2.0**-50) + 2.0**-50, 1.0) * 2.0**40)  # rounded up, to integers
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

    ``scores`` w float64 (d,), the query-key matrix (1 x d) for the fixed query 1; ``values`` V float64 (d, K).
    K = 1: class 1 is predicted where f > 0, margin (2y - 1) f. K >= 2: margin f_y - max of the others.
    """

    scores: np.ndarray
    values: np.ndarray

    kind = "tokens"

    def margins(self, sample: Sample) -> Margins:
        """Margins on a sample of tokens."""
        if sample.kind != self.kind or sample.dimension != len(self.scores):
            raise DataError(f"the head reads tokens of dimension {len(self.scores)}, not {sample.kind} {sample.dimension}")
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

    ``scores`` (1 or n, d + 1) and ``values`` (1 or n, d + 1, K), with a last entry 0 for padding. The radius is
    MARGIN_ERROR * sum_t p_t |a_t|_1 (1 + largest sum of |score entries|), which covers every rounding: the
    score's error is multiplied into the weight p_t, the rest are relative errors of products and sums.
    """
    weight, size = _weights(tokens, scores)
    outputs = [_readout(tokens, values[:, :, j], weight) for j in range(values.shape[2])]
    spread = sum(bound for _, bound in outputs) * (MARGIN_ERROR * (1.0 + size))
    if len(outputs) == 1:
        return np.where(labels == 1, 1.0, -1.0) * outputs[0][0], spread
    logits = np.stack([value for value, _ in outputs], axis=1)
    own = np.take_along_axis(logits, labels[:, None], axis=1)[:, 0]
    np.put_along_axis(logits, labels[:, None], -np.inf, axis=1)
    return own - logits.max(axis=1), spread


def _look_up(table: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """sum_j table[., tokens[., ., j]] (n, T) for a table (1 or n, d + 1)."""
    columns = range(tokens.shape[2])
    if len(table) == 1:
        return sum(table[0][tokens[:, :, j]] for j in columns)  # type: ignore[return-value]
    rows = np.arange(len(tokens))[:, None]
    return sum(table[rows, tokens[:, :, j]] for j in columns)  # type: ignore[return-value]


def _weights(tokens: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Softmax weights (n, T) and the largest sum of absolute score entries of each unit (n,)."""
    raw = _look_up(scores, tokens)
    size = _look_up(np.abs(scores), tokens).max(axis=1)
    raw = np.where(tokens[:, :, 0] == PADDING, -np.inf, raw)
    weight = np.exp(raw - raw.max(axis=1, keepdims=True))
    return weight / weight.sum(axis=1, keepdims=True), size


def _readout(tokens: np.ndarray, column: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """sum_t p_t a_t and sum_t p_t |a_t| (n,)."""
    value = (weight * _look_up(column, tokens)).sum(axis=1)
    return value, (weight * _look_up(np.abs(column), tokens)).sum(axis=1) + np.finfo(float).tiny


@dataclass(frozen=True)
class LinearHead:
    """f(x) = W^T x + b on fixed features; ``weight`` float64 (d, K), ``bias`` float64 (K,). Margins as above."""

    weight: np.ndarray
    bias: np.ndarray

    kind = "features"

    def margins(self, sample: Sample) -> Margins:
        """Margins on a sample of features."""
        if sample.kind != self.kind or sample.dimension != len(self.weight):
            raise DataError(f"the head reads features of dimension {len(self.weight)}, not {sample.kind} {sample.dimension}")
        _signed(sample.labels, self.weight.shape[1])
        parts = []
        for rows in chunks(len(sample)):
            x, labels = sample.inputs[rows].astype(np.float64), sample.labels[rows]
            logits = x @ self.weight + self.bias
            size = (np.abs(x) @ np.abs(self.weight) + np.abs(self.bias)).sum(axis=1)
            radius = size * (4 * (len(self.weight) + 8) * 2.0**-53) + np.finfo(float).tiny
            parts.append((_margin(logits, labels), radius))
        return Margins(np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts]))


def _margin(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    if logits.shape[1] == 1:
        return np.where(labels == 1, 1.0, -1.0) * logits[:, 0]
    own = np.take_along_axis(logits, labels[:, None], axis=1)[:, 0]
    others = logits.copy()
    np.put_along_axis(others, labels[:, None], -np.inf, axis=1)
    return own - others.max(axis=1)


Head = SoftmaxHead | LinearHead


def chunks(n: int) -> Iterator[slice]:
    """Slices of at most CHUNK rows."""
    for start in range(0, n, CHUNK):
        yield slice(start, min(start + CHUNK, n))
