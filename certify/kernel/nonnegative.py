"""The spectral norm of nonnegative matrices (attention!) from matrix-vector products alone.

Theorem (Schur test; Collatz-Wielandt with the middle vector free). Let X >= 0 have entries 0 or in
[2^-450, 2), x in [2^-100, 1]^n, y = fl(X x), z = fl(X^T y). Then

    ||z|| / ((1 + g(m)) ||y||)  <=  ||X||_2,     ||X||_2^2  <=  (1+g(n)) (1+g(m)) (1+2u) max_j fl(z_j / x_j).

Proof. (X x)_i <= (1+g(n)) y_i, and y_i = 0 only for zero rows, since nothing underflows; (X^T y)_j <=
(1+g(m)) z_j. |X v|_i^2 <= (X x)_i sum_j x_ij v_j^2 / x_j by Cauchy-Schwarz; sum over i. The lower bound is
||X^T y|| <= ||X|| ||y||. The vector x is an oracle's. (Seneta 2006, sec. 1.1; Horn & Johnson 2013, sec. 8.1.)
"""

from __future__ import annotations

import flint
import numpy as np
from numpy.typing import NDArray

from certify.errors import NotCertified
from certify.kernel.directed import exact_ball
from certify.kernel.multiply import multiply
from certify.kernel.reading import Array
from certify.kernel.rounding import UNIT_ROUNDOFF, growth
from certify.kernel.upper import square_sum
from certify.oracles.lanczos import largest_ritz_pair

arb = flint.arb

FLOOR = 2.0**-100
TOLERANCE = 4e-12  # stop when upper^2 / lower^2 - 1 is below it
WARM_STEPS = 3  # Heuristic: power steps before Lanczos is asked for a better start
SLOW = 0.2  # Heuristic: a gap that shrinks by less than this factor a step is slow
LANCZOS_STEPS = 24
LANCZOS_TOLERANCE = 1e-13  # Heuristic: the bound needs about 1e-12 in every component
MAX_STEPS = 80


def norm_bounds(X: Array, x: Array) -> tuple[arb, arb]:
    """The theorem above for one matrix and one vector x: (lower, upper) bounds of ||X||_2."""
    if not bool((X >= 0).all()):
        raise NotCertified("the Collatz-Wielandt bound needs a matrix without negative entries")
    x = floored(x)
    y = multiply(X, x)
    z = multiply(X.T, y)
    m, n = X.shape
    if not z.max() > 0:
        return arb(0), arb(0)
    ratio = exact_ball(np.max(z / x))
    upper = ratio * (1 + growth(n)) * (1 + growth(m)) * (1 + 2 * UNIT_ROUNDOFF)
    lower = (square_sum(z[:, None])[0] / square_sum(y[:, None])[1]).sqrt() / (1 + growth(m))
    return lower.lower(), upper.sqrt().upper()


def floored(x: Array) -> Array:
    """x scaled to maximum 1 and raised to at least 2^-100; any vector of an oracle becomes admissible."""
    if not bool(np.isfinite(x).all()) or not float(np.max(x)) > 0:
        return np.ones_like(x)
    with np.errstate(under="ignore"):
        return np.maximum(x / np.max(x), FLOOR)


def perron_vectors(batch: Array, tolerance: float = TOLERANCE) -> Array:
    """Heuristic vectors (B, n) for :func:`norm_bounds`: power steps on all matrices at once; where they
    converge slowly, one Lanczos run and power steps again. Nothing here is trusted."""
    count, _, n = batch.shape
    best = np.ones((count, n))
    best_ratio = np.full(count, np.inf)
    active = np.arange(count)
    X, x = batch, np.ones((count, n))
    previous = np.full(count, np.inf)
    lanczos_done = np.zeros(count, dtype=bool)
    for step in range(MAX_STEPS):
        y = np.matmul(X, x[:, :, None])
        z = np.matmul(X.transpose(0, 2, 1), y)
        with np.errstate(all="ignore"):
            ratio = (z[:, :, 0] / x).max(axis=1)
            gap = ratio / ((z * z).sum(axis=(1, 2)) / (y * y).sum(axis=(1, 2))) - 1
        better = ratio < best_ratio[active]
        best[active[better]], best_ratio[active[better]] = x[better], ratio[better]
        x = _normalised(z[:, :, 0])
        slow = (gap > SLOW * previous[active]) & ~lanczos_done[active] & (gap > tolerance)
        if step >= WARM_STEPS and slow.any():
            for i in np.flatnonzero(slow):
                x[i] = _lanczos_vector(X[i], x[i])
            lanczos_done[active[slow]] = True
            gap = np.where(slow, np.inf, gap)
        stuck = lanczos_done[active] & (gap > 0.9 * previous[active]) & (gap < np.inf)
        previous[active] = gap
        keep = (gap > tolerance) & ~stuck
        if not keep.any():
            break
        if not keep.all():
            active, X, x = active[keep], X[keep], x[keep]
    return best


def _normalised(x: Array) -> Array:
    top = x.max(axis=1, keepdims=True)
    return np.maximum(x / np.where(top > 0, top, 1.0), FLOOR)


def _lanczos_vector(X: Array, start: Array) -> Array:
    ritz = largest_ritz_pair(lambda v: X.T @ (X @ v), start, LANCZOS_STEPS, LANCZOS_TOLERANCE)
    return floored(np.abs(ritz.vector))


def upper_and_lower_norms(batch: NDArray[np.float64]) -> list[tuple[arb, arb]]:
    """(lower, upper) bounds of ||X||_2 for every matrix of a nonnegative scaled batch (B, m, n)."""
    vectors = perron_vectors(batch)
    return [norm_bounds(X, x) for X, x in zip(batch, vectors, strict=True)]
