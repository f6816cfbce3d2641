"""Errors of a decoded model on the sample, counted exactly: floats decide only what they can."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .certificate import Refused
from .sixty_digits import mp, number

CUT_OFF = 1e-290
TOLERANCE = 2.0**-38  # of the sum of absolute terms: far above every float rounding below


def tolerance(terms: int) -> float:
    """What floats may lose in sums of ``terms`` products, as a share of the sum of absolute values."""
    return max(TOLERANCE, terms * 2.0**-50)


def softmax_errors(
    scores: tuple[Any, Fraction], values: tuple[Any, Fraction], tokens: Any, labels: Any
) -> int:
    """Units with margin <= 0, exactly: the sign of sum_t exp(step n_t) a_t with integers n_t and a_t.

    Floats decide the clear cases; the others are decided with 60 digits, where only a sum whose coefficients
    cancel for every distinct score is 0 (Lindemann-Weierstrass), which integers decide.
    """
    weights, step = scores[0][0], scores[1]
    n = np.where(tokens[:, :, 0] < 0, np.int64(-(1 << 40)), _sum_entries(weights[:, None], tokens)[:, :, 0])
    a = _sum_entries(values[0], tokens)
    a[tokens[:, :, 0] < 0] = 0
    drop = n - n.max(axis=1, keepdims=True)
    power = np.exp(np.maximum(drop * float(step), -700.0))
    return _count_wrong(a, labels, power, drop, step)


def _sum_entries(table: Any, tokens: Any) -> Any:
    """sum_j table[tokens[., ., j]] (n, T, K), padding adds 0."""
    extended = np.vstack([table, np.zeros((1, table.shape[1]), dtype=table.dtype)])
    total = extended[tokens[:, :, 0]]
    for j in range(1, tokens.shape[2]):
        total = total + extended[tokens[:, :, j]]
    return total


def _opponents(a: Any, labels: Any) -> list[Any]:
    """For each rival class the integers (n, T) whose weighted sum must be > 0."""
    if a.shape[2] == 1:
        return [np.where(labels == 1, 1, -1)[:, None] * a[:, :, 0]]
    own = np.take_along_axis(a, labels[:, None, None], axis=2)[:, :, 0]
    rivals = []
    for shift in range(1, a.shape[2]):
        other = (labels + shift) % a.shape[2]
        rivals.append(own - np.take_along_axis(a, other[:, None, None], axis=2)[:, :, 0])
    return rivals


def _count_wrong(a: Any, labels: Any, power: Any, drop: Any, step: Fraction) -> int:
    wrong = np.zeros(len(labels), dtype=bool)
    for rival in _opponents(a, labels):
        value, size = (power * rival).sum(axis=1), (power * np.abs(rival)).sum(axis=1)
        # Powers were cut off at exp(-700): where only such terms are left, floats know nothing.
        clear = np.abs(value) > TOLERANCE * size + CUT_OFF * np.abs(rival).sum(axis=1)
        wrong |= clear & (value < 0)
        for i in np.flatnonzero(~clear & ~wrong):
            wrong[i] = not _positive(rival[i], drop[i], step)
    return int(wrong.sum())


def _positive(integers: Any, drop: Any, step: Fraction) -> bool:
    coefficients: dict[int, int] = {}
    for value, power in zip(integers.tolist(), drop.tolist(), strict=True):
        coefficients[power] = coefficients.get(power, 0) + value
    if not any(coefficients.values()):
        return False
    exponent = mp.mpf(step.numerator) / step.denominator
    total = mp.fsum(c * mp.exp(p * exponent) for p, c in coefficients.items() if c and p * step > -2000)
    if abs(total) < mp.mpf(10) ** -40:
        return False  # not decided: counted as an error, which can only refuse a true certificate
    return bool(total > 0)


def linear_errors(weight: tuple[Any, Fraction], features: Any, labels: Any) -> int:
    """Units with margin <= 0, exactly: integers times float32 are exact doubles, and math.fsum has the
    exact sign."""
    integers, last = weight[0][:-1], weight[0][-1]
    if np.abs(weight[0]).max(initial=0) >= 1 << 28:
        raise Refused("model.payload: an entry is too large for this checker")
    outputs = integers.shape[1]
    rivals = [None] if outputs == 1 else list(range(1, outputs))
    wrong = np.zeros(len(labels), dtype=bool)
    x = features.astype(np.float64)
    for shift in rivals:
        if shift is None:
            sign = np.where(labels == 1, 1, -1)
            w, b = sign[:, None] * integers[:, 0][None, :], sign * last[0]
        else:
            other = (labels + shift) % outputs
            w, b = (integers[:, labels] - integers[:, other]).T, last[labels] - last[other]
        value, size = (x * w).sum(axis=1) + b, (np.abs(x) * np.abs(w)).sum(axis=1) + np.abs(b)
        clear = np.abs(value) > tolerance(x.shape[1]) * size
        wrong |= clear & (value < 0)
        for i in np.flatnonzero(~clear & ~wrong):
            wrong[i] = not math.fsum([*(x[i] * w[i]).tolist(), float(b[i])]) > 0
    return int(wrong.sum())


def updated_errors(
    matrices: list[tuple[Any, Fraction]], anchor: tuple[Any, Any], features: Any, labels: Any
) -> int:
    """Units with margin <= 0 of w^T tanh((W0 + U) x + b0) + b; what floats leave open is redone with 60
    digits."""
    (update, scale), (head, _) = matrices  # the head's own step does not move the sign
    layer = anchor[0].astype(np.float64) + update * float(scale)
    x, sign = features.astype(np.float64), np.where(labels == 1, 1, -1)
    value = np.tanh(x @ layer.T + anchor[1]) @ head[:-1, 0] + head[-1, 0]
    reach = np.abs(x) @ np.abs(layer).T + np.abs(anchor[1]) + 1.0
    size = reach @ np.abs(head[:-1, 0]) + abs(int(head[-1, 0])) + 1e-300
    clear = np.abs(value) > tolerance(sum(layer.shape)) * size
    wrong = clear & (sign * value < 0)
    for i in np.flatnonzero(~clear):
        wrong[i] = not sign[i] * _updated_logit(update, scale, head, anchor, features[i]) > mp.mpf(10) ** -40
    return int(wrong.sum())


def _updated_logit(update: Any, scale: Fraction, head: Any, anchor: tuple[Any, Any], x: Any) -> Any:
    entries, total = [mp.mpf(float(t)) for t in x], mp.mpf(int(head[-1, 0]))
    for k in np.flatnonzero(head[:-1, 0]):
        row = [
            mp.mpf(float(w)) + int(u) * number(scale) for w, u in zip(anchor[0][k], update[k], strict=True)
        ]
        inside = mp.fdot(zip(row, entries, strict=True)) + mp.mpf(float(anchor[1][k]))
        total += int(head[k, 0]) * mp.tanh(inside)
    return total
