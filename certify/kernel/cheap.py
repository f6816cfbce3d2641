"""All singular values from one symmetric eigenproblem: narrow for large ones, wide for tiny ones.

Theorem. Let X (m, n), m >= n, V (n, n) SQUARE with f >= ||V^T V - I||, f < 1, B any matrix,
d >= ||B - (X+D) V||, K = B^T B exactly, |K - C| bounded so that h_i >= the i-th row sum of
|K - diag(c)|, c = diag(C). With descending sorts done separately,

    (sort sqrt(max(c - h, 0))_i - d) / sqrt(1+f)  <=  sigma_i(X+D)  <=  (sort sqrt(c + h)_i + d) / sqrt(1-f).

Proof. diag(c+h) - K and K - diag(c-h) are diagonally dominant with nonnegative diagonal, so positive
semidefinite; eigenvalues are monotone in the Loewner order. sigma_i(B) is within d of
sigma_i((X+D)V), and V is square and invertible, so it moves sigma_i by factors ||V|| and ||V^-1||.
(Rump 2011, Thm 3.2, without clusters. For V with fewer columns the upper bound is false.)
"""

from __future__ import annotations

from typing import Any

import flint
import numpy as np

from certify.errors import NotCertified
from certify.kernel.directed import exact_ball, float_above, float_below
from certify.kernel.multiply import multiply
from certify.kernel.reading import Array
from certify.kernel.rounding import TINY, growth, growth_float
from certify.kernel.scaling import Scaled, clean, flush
from certify.kernel.singular_values import defect
from certify.kernel.upper import upper_product_of_magnitudes

arb = flint.arb


def gram_radii(B: Array) -> tuple[Array, Array]:
    """The diagonal c of C = fl(B^T B) and h_i >= row sums of |B^T B - diag(c)|.

    h_i = sum_{j != i} |C_ij| + gamma_m (|B|^T |B| 1)_i, all sums of nonnegative numbers.
    """
    m, n = B.shape
    magnitude = np.abs(B)
    C = multiply(B.T, B)
    c = np.diag(C).copy()
    C[np.diag_indices(n)] = 0.0
    rounding = growth_float(m) * multiply(magnitude.T, magnitude.sum(axis=1))
    h = (np.abs(C).sum(axis=1) + rounding) * (1 + growth_float(2 * n + 2 * m + 8)) + TINY
    return c, h


def from_eigenvectors(A: Scaled, V: Any) -> tuple[Array, Array]:
    """The theorem above for a tall ``A``; V from an oracle (eigenvectors of X^T X). Scaled lower, upper."""
    m, n = A.X.shape
    if m < n:
        raise NotCertified(f"the cheap mode needs at least as many rows as columns, found {m} x {n}")
    V = clean(V, n, "V")
    if V.shape[1] != n:
        raise NotCertified(f"the cheap mode needs a square V, found {V.shape[0]} x {V.shape[1]}")
    f = defect(V)
    if not f < 1:
        raise NotCertified(f"the oracle's eigenvectors are too far from orthonormal (defect {f})")
    B = flush(multiply(A.X, V))
    product_error = growth(n) * upper_product_of_magnitudes(np.abs(A.X), np.abs(V.T))
    removed = arb(B.size).sqrt() * exact_ball(TINY)
    d = float_above(product_error + removed + A.radius_2 * (1 + f).sqrt())
    c, h = gram_radii(B)
    more, less = 1 + 2.0**-50, 1 - 2.0**-50  # 8u: covers the few roundings of nonnegative numbers per line
    high = np.sort(np.sqrt((c + h) * more))[::-1]
    low = np.sort(np.sqrt(np.maximum((c - h) * less, 0.0)))[::-1]
    stretch, shrink = float_above(1 / (1 - f).sqrt()), max(float_below(1 / (1 + f).sqrt()), 0.0)
    upper = (high * more + d) * more * stretch * more
    lower = np.maximum((low * less - d) * less, 0.0) * shrink * less
    return lower, upper
