"""Singular values enclosed a second time: LAPACK's gesvd, its residual by slices into integers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.linalg

from .structure import Problem

SLICES = 3


def slices(x: Any, bits: int) -> tuple[list[Any], float]:
    """``x`` cut into integer multiples of powers of two of at most ``bits`` bits each, and what is left."""

    biggest = float(np.abs(x).max(initial=0.0))
    if biggest == 0.0:
        return [], 0.0
    exponent = math.frexp(biggest)[1]
    rest, pieces = x.astype(np.float64), []
    for k in range(1, SLICES + 1):
        unit = exponent - k * bits
        piece = np.ldexp(np.rint(np.ldexp(rest, -unit)), unit)
        rest = rest - piece
        pieces.append(piece)
    return pieces, float(np.sqrt((rest * rest).sum())) * (1 + 1e-12)


class Residual:
    """A sum of matrices kept as an unevaluated pair (high, low), with a bound on its rounding."""

    def __init__(self, start: Any) -> None:

        self.high = start.astype(np.float64)
        self.low = np.zeros_like(self.high)
        self.peak = np.abs(self.high)
        self.count = 0
        self.error = 0.0

    def add(self, term: Any) -> None:
        """Add a matrix of floats; the rounding error of the sum is kept (Knuth's two-sum)."""

        s = self.high + term
        b = s - self.high
        self.low = self.low + ((self.high - (s - b)) + (term - b))
        self.high = s
        self.peak = np.maximum(self.peak, np.abs(s))
        self.count += 1

    def add_product(self, left: Any, right: Any, sign: float) -> None:
        """Add sign * left @ right.T by slices whose products are exact in any order of summation."""
        inner = left.shape[1]
        bits = (53 - max(1, math.ceil(math.log2(inner)))) // 2
        (a, rest_a), (b, rest_b) = slices(left, bits), slices(right, bits)
        for x in a:
            for y in b:
                self.add(sign * (x @ y.T))
        self.error += rest_a * _frobenius(right) + (_frobenius(left) + rest_a) * rest_b

    def norm(self) -> float:
        """An upper bound on the spectral norm of the sum."""
        tail = self.count * self.count * 2.0**-104 * _frobenius(self.peak)
        return (_frobenius(self.high + self.low) * (1 + 1e-15) + tail + self.error) * (1 + 1e-12)


def _frobenius(x: Any) -> float:

    return float(np.sqrt((x * x).sum())) * (1 + 1e-9)


def second_enclosure(factors: list[Any]) -> tuple[Any, Any]:
    """Enclosures of the singular values of F0, or of F0 F1^T, from gesvd and sliced residuals."""

    wide = [np.ldexp(f.astype(np.float64), -_exponent(f)) for f in factors]
    shift = sum(_exponent(f) for f in factors)
    matrix = wide[0] if len(wide) == 1 else wide[0] @ wide[1].T
    left, s, right = _gesvd(scipy.linalg, matrix)
    if len(wide) == 2:
        keep = min(wide[0].shape[1], len(s))
        left, s, right = left[:, :keep], s[:keep], right[:, :keep]
    residual = Residual(matrix if len(wide) == 1 else np.zeros(matrix.shape))
    if len(wide) == 2:
        residual.add_product(wide[0], wide[1], 1.0)
    residual.add_product(left * s, right, -1.0)
    scaling = (s.sum() + 1e-300) * 2.0**-52 * 2.0  # left * s is rounded once
    defects = []
    for v in (left, right):
        gram = Residual(-np.eye(v.shape[1]))
        gram.add_product(np.ascontiguousarray(v.T), np.ascontiguousarray(v.T), 1.0)
        defects.append(gram.norm())
    if not max(defects) < 1:
        raise Problem("--model", "the second oracle's factors are not nearly orthogonal; nothing can be said")
    error = residual.norm() + scaling
    inner, outer = [math.sqrt((1 + t * defects[0]) * (1 + t * defects[1])) for t in (-1.0, 1.0)]
    q = min(matrix.shape)
    full = np.concatenate([s, np.zeros(q - len(s))])
    lower = np.maximum(full * inner * (1 - 1e-15) - error, 0.0)
    upper = full * outer * (1 + 1e-15) + error
    return np.ldexp(lower, shift), np.ldexp(upper, shift)


def _exponent(x: Any) -> int:

    biggest = float(np.abs(x).max(initial=0.0))
    return math.frexp(biggest)[1] if biggest else 0


def _gesvd(linalg: Any, a: Any) -> tuple[Any, Any, Any]:
    u, s, vt = linalg.svd(a, full_matrices=False, lapack_driver="gesvd")
    return u, s, vt.T
