"""Upper bounds of norms of computed float64 matrices, from sums of nonnegative numbers.

A computed sum of k nonnegative terms with r roundings in each lies within a factor 1 + g(r) of the exact
one, whatever the order (Higham 2002, sec. 4.2).
"""

from __future__ import annotations

import flint
import numpy as np

from certify.errors import NotCertified
from certify.kernel.directed import exact_ball
from certify.kernel.multiply import multiply
from certify.kernel.reading import Array
from certify.kernel.rounding import growth

arb = flint.arb

_SQUARE_UNDERFLOW = arb(2) ** -1021  # per entry: what a square may lose, with or without gradual underflow


def least(*bounds: arb) -> arb:
    """The smallest of several valid upper bounds (not finite ones are passed over)."""
    best = None
    for bound in bounds:
        if bound.is_finite() and (best is None or bound.upper() < best):
            best = bound.upper()
    if best is None:
        raise NotCertified("no finite upper bound: the numbers returned by an oracle are not finite")
    return best


def greatest_sum(sums: Array, roundings: int) -> arb:
    """An upper bound of the largest exact sum, for computed ``sums`` of nonnegative terms."""
    if sums.size == 0:
        return arb(0)
    return exact_ball(np.max(sums)) * (1 + growth(roundings))


def square_sum(X: Array) -> tuple[arb, arb]:
    """Bounds of sum x_ij^2: columns first, then their sum, so m + n roundings (not m n)."""
    if not X.any():
        return arb(0), arb(0)
    computed = exact_ball(np.einsum("ij,ij->j", X, X).sum())
    lost, factor = X.size * _SQUARE_UNDERFLOW, 1 + growth(X.shape[0] + X.shape[1])
    return ((computed - lost) / factor).nonnegative_part().lower(), ((computed + lost) * factor).upper()


def upper_frobenius(X: Array) -> arb:
    """>= ||X||_F."""
    return square_sum(X)[1].sqrt().upper()


def upper_spectral(X: Array) -> arb:
    """>= || |X| ||_2, hence >= ||M||_2 for every |M| <= |X|: Frobenius or sqrt(1-norm * inf-norm)."""
    if X.size == 0:
        return arb(0)
    magnitude = np.abs(X)
    rows = greatest_sum(magnitude.sum(axis=1), X.shape[1])
    columns = greatest_sum(magnitude.sum(axis=0), X.shape[0])
    return least(upper_frobenius(X), (rows * columns).sqrt())


def upper_product_of_magnitudes(X: Array, Y: Array) -> arb:
    """>= || |X| |Y|^T ||_2 for X (m, k) and Y (n, k) given as magnitudes: two matrix-vector products."""
    if X.size == 0 or Y.size == 0:
        return arb(0)
    roundings = X.shape[0] + Y.shape[0] + X.shape[1]
    rows = greatest_sum(multiply(X, Y.sum(axis=0)), roundings)
    columns = greatest_sum(multiply(Y, X.sum(axis=0)), roundings)
    return (rows * columns).sqrt().upper()
