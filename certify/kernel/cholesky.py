"""The spectral norm of any matrix from a floating Cholesky factorisation that is measured, not trusted.

Theorem. Let S be symmetric (given by its lower triangle) and L any float matrix found block by block; let
a_i bound the i-th row sum of |S - L L^T|. Then S + max_i(a_i) I is positive semidefinite.
With S = fl(beta I - C), C = fl(X^T X) for X (m, n),

    ||X||_2^2  <=  beta + max_i { a_i + g(m) (|X|^T |X| 1)_i + u |beta - c_ii| }.

Proof. S = L L^T + E >= -||E||_inf I. C differs from X^T X by at most gamma_m |X|^T |X|.
(Rump 2006 for the idea of a shifted Cholesky; here the residual itself is bounded, so that LAPACK's
reciprocals and inverted blocks, which break his constants, do not matter.)
"""

from __future__ import annotations

import flint
import numpy as np

from certify.kernel.directed import exact_ball
from certify.kernel.multiply import multiply
from certify.kernel.reading import Array
from certify.kernel.rounding import TINY, growth, growth_float
from certify.kernel.scaling import flush
from certify.kernel.upper import greatest_sum, square_sum
from certify.oracles.factors import cholesky_block
from certify.oracles.lanczos import Ritz, largest_ritz_pair, random_start

arb = flint.arb

BLOCK = 96
LANCZOS_STEPS = (32, 64)
TOLERANCE = 1e-12  # Heuristic: the relative shift above the Ritz value that is tried first
MORE = 1 + 2.0**-50


def _symmetric_row_sums(M: Array) -> Array:
    """Row sums of |M| for symmetric M given by its lower triangle (the diagonal counts twice)."""
    lower = np.tril(np.abs(M))
    return lower.sum(axis=1) + lower.sum(axis=0)


def _oracle_block(D: Array) -> tuple[Array, Array, Array] | None:
    """L, |L| and an approximate inverse of L for one diagonal block, or None when it is not positive."""
    found = cholesky_block(D)
    if found is None:
        return None
    L, inverse = found
    magnitude = np.abs(L)
    if not (bool(np.isfinite(inverse).all()) and float(magnitude.max()) < 2.0**60):
        return None
    return flush(L, magnitude), magnitude, inverse


def residual_row_sums(S: Array, block: int = BLOCK) -> Array | None:
    """Row sums a_i >= sum_j |S - L L^T|_ij for the factor found, or None if none was found. Destroys S.

    Each block column: L_jj and its inverse are oracles; the residuals of the diagonal block and of the
    panel P are computed, their rounding bounded by gamma_b, and the update S_22 - P P^T by
    gamma_b |P||P|^T + u |result|. Computed sums of nonnegative numbers: the caller adds their rounding.
    """
    n = S.shape[0]
    sums = np.zeros(n)
    gamma = growth_float(block)
    for start in range(0, n, block):
        here, rest = slice(start, min(start + block, n)), slice(min(start + block, n), n)
        found = _oracle_block(S[here, here])
        if found is None:
            return None
        L, abs_L, inverse = found
        R = S[here, here] - multiply(L, L.T)
        sums[here] += _symmetric_row_sums(R) * MORE + gamma * multiply(abs_L, abs_L.sum(axis=0))
        if rest.start == n:
            break
        panel = S[rest, here]
        P = panel @ inverse.T  # an oracle's product: P may be anything
        abs_P = np.abs(P)
        if not float(abs_P.max()) < 2.0**60:
            return None
        flush(P, abs_P)
        R = np.abs(panel - multiply(P, L.T))
        sums[rest] += R.sum(axis=1) * MORE + gamma * multiply(abs_P, abs_L.sum(axis=0))
        sums[here] += R.sum(axis=0) * MORE + gamma * multiply(abs_L, abs_P.sum(axis=0))
        S[rest, rest] -= multiply(P, P.T)
        sums[rest] += gamma * multiply(abs_P, abs_P.sum(axis=0))
        sums[rest] += 2.0**-53 * _symmetric_row_sums(S[rest, rest])
    return sums


def gram_rounding(X: Array) -> Array:
    """g(m) (|X|^T |X| 1)_i: row sums of the rounding of fl(X^T X)."""
    magnitude = np.abs(X)
    return growth_float(X.shape[0]) * multiply(magnitude.T, magnitude.sum(axis=1))


def upper_norm_squared(C: Array, rounding: Array, beta: float, roundings: int) -> arb | None:
    """The theorem's right-hand side, or None if beta I - C was not found positive definite."""
    S = -C
    diagonal = np.diag_indices(len(C))
    S[diagonal] += beta
    shift = 2.0**-53 * float(np.abs(S[diagonal]).max())
    sums = residual_row_sums(S)
    if sums is None:
        return None
    # TINY: the multiplications by u above may underflow.
    return exact_ball(beta) + greatest_sum(sums + rounding + shift + TINY, roundings)


def lower_norm(X: Array, v: Array) -> arb:
    """<= ||X||_2: (||fl(X v)|| - g(n) || |X||v| ||) / ||v|| for any float vector v."""
    v = np.array(v)
    if not (bool(np.isfinite(v).all()) and 0 < float(np.abs(v).max()) < 2.0**60):
        return arb(0)
    v = flush(v / np.abs(v).max())
    n = X.shape[1]
    y, magnitude = multiply(X, v), multiply(np.abs(X), np.abs(v))
    rounding = growth(n) * (1 + growth(n)) * square_sum(magnitude[:, None])[1].sqrt()
    lower = (square_sum(y[:, None])[0].sqrt() - rounding) / square_sum(v[:, None])[1].sqrt()
    return lower.nonnegative_part().lower()


def _first_shift(ritz: Ritz, n: int) -> float:
    """Heuristic: how far above the Ritz value the largest eigenvalue may be, relative to it."""
    relative, gap = ritz.residual / ritz.value, max(ritz.gap / ritz.value, 1e-3)
    return max(min(4 * relative * relative / gap, relative), TOLERANCE, 8e-16 * n)


def norm_bounds_of_tall(X: Array) -> tuple[arb, arb]:
    """(lower, upper) bounds of ||X||_2 for a scaled X (m, n) != 0 with m >= n."""
    m, n = X.shape
    C = multiply(X.T, X)
    rounding = gram_rounding(X)
    roundings = 6 * (n + m) + 40
    ritz = largest_ritz_pair(lambda v: C @ v, random_start(n), LANCZOS_STEPS[0])
    if ritz.residual > 1e-6 * abs(ritz.value) and n > LANCZOS_STEPS[0]:
        ritz = largest_ritz_pair(lambda v: C @ v, ritz.vector, LANCZOS_STEPS[1])
    lower = lower_norm(X, ritz.vector)
    fallback = greatest_sum(np.abs(C).sum(axis=1) + rounding, roundings)  # row sums alone
    if not (np.isfinite(ritz.value) and ritz.value > 0):
        return lower, fallback.sqrt().upper()
    shift = _first_shift(ritz, n)
    while shift < 0.5:
        upper = upper_norm_squared(C, rounding, ritz.value * (1 + shift), roundings)
        if upper is not None:
            return lower, upper.sqrt().upper()
        shift = max(shift * 100, 1e-12)
    return lower, fallback.sqrt().upper()
