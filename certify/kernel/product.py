"""Singular values of A = Q K^T from exact factors; A itself is never formed.

Theorem. Let Q (m, d), K (n, d), Q = O1 R1 + E1, K = O2 R2 + E2 for any floats O1, R1, O2, R2, e_j >= ||E_j||,
d_j >= ||O_j^T O_j - I||, d_j < 1, and M = R1 R2^T. Then for i <= min of M's shape

    sigma_i(M) sqrt((1-d_1)(1-d_2)) - r  <=  sigma_i(A)  <=  sigma_i(M) sqrt((1+d_1)(1+d_2)) + r,
    r = e_1 ||K||_F + (||Q||_F + e_1) e_2,

and sigma_i(A) = 0 exactly for i > d.
Proof. A = O1 M O2^T + E1 K^T + O1 R1 E2^T with ||O1 R1|| <= ||Q|| + e_1; then as in singular_values.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import flint
import numpy as np

import certify.oracles.factors as oracle
from certify.errors import MatrixError, NotCertified
from certify.kernel.directed import exact_ball, float_above, float_below
from certify.kernel.enclosure import Enclosure
from certify.kernel.multiply import current_device, multiply, use_device
from certify.kernel.reading import Array, read_matrix
from certify.kernel.rounding import TINY, UNIT_ROUNDOFF, growth
from certify.kernel.scaling import Scaled, clean, flush, scale
from certify.kernel.singular_values import SingularValues, defect
from certify.kernel.spectrum import Mode, as_mode, enclose_scaled
from certify.kernel.upper import upper_frobenius, upper_product_of_magnitudes, upper_spectral

arb = flint.arb


@dataclass(frozen=True, eq=False)
class _Orthogonalised:
    """Q = O R + E in Q's scale: R, bounds of the defect of O, of ||E||_2 and of ||Q||_F (with its radius)."""

    R: Array
    defect: arb
    error: arb
    norm: arb


def _orthogonalise(A: Scaled, label: str) -> _Orthogonalised:
    m, d = A.X.shape
    O, R = oracle.qr(A.X, current_device())
    O, R = clean(O, m, label), np.array(R, dtype=np.float64, order="C")
    if not (R.shape == (O.shape[1], d) and float(np.abs(R).max()) < 2.0**60):
        raise NotCertified(f"the oracle's triangular factor of {label} is not finite or has the wrong shape")
    flush(R)
    f = defect(O)
    if not f < 1:
        raise NotCertified(f"the oracle's orthogonal factor of {label} is far from orthonormal (defect {f})")
    E = A.X - multiply(O, R)
    rounding = growth(O.shape[1]) * upper_product_of_magnitudes(np.abs(O), np.abs(R.T))
    error = upper_spectral(E) * (1 + UNIT_ROUNDOFF) + rounding + A.radius_2
    return _Orthogonalised(R, f, error.upper(), (upper_frobenius(A.X) + A.radius_F).upper())


def _core(left: _Orthogonalised, right: _Orthogonalised) -> tuple[Scaled, int]:
    """M = R1 R2^T as a scaled matrix with the radius of its rounding, and the exponent of the scale."""
    product = multiply(left.R, right.R.T)
    magnitudes = upper_product_of_magnitudes(np.abs(left.R), np.abs(right.R))
    rounding = growth(left.R.shape[1]) * magnitudes
    core = scale(np.ascontiguousarray(product))
    unit = arb(2) ** -core.exponent
    radius_2 = (core.radius_2 + rounding * unit).upper()
    frobenius = growth(left.R.shape[1]) * upper_frobenius(left.R) * upper_frobenius(right.R)
    radius_F = (core.radius_F + frobenius * unit).upper()
    return Scaled(core.X, 0, radius_2, radius_F, core.assumptions), core.exponent


def product_of(Q: Scaled, K: Scaled, mode: str | Mode = "default") -> SingularValues:
    """The theorem above for two scaled factors."""
    (m, d), n = Q.X.shape, K.X.shape[0]
    count, rank_bound = min(m, n), min(m, n, d)
    assumptions = Q.assumptions | K.assumptions
    if rank_bound == 0 or Q.is_zero or K.is_zero:
        return SingularValues(np.zeros(count), np.zeros(count), np.asarray(0), assumptions, rank_bound)
    left, right = _orthogonalise(Q, "Q"), _orthogonalise(K, "K")
    core, exponent = _core(left, right)
    low, high = enclose_scaled(core, as_mode(mode))
    unit = arb(2) ** -exponent
    r = (left.error * right.norm + (left.norm + left.error) * right.error) * unit + exact_ball(TINY)
    shift = float_above(r)
    shrink = max(float_below(((1 - left.defect) * (1 - right.defect)).sqrt()), 0.0)
    stretch = float_above(((1 + left.defect) * (1 + right.defect)).sqrt())
    more, less = 1 + 2.0**-51, 1 - 2.0**-51
    lower, upper = np.zeros(count), np.zeros(count)  # exactly 0 beyond the inner dimension
    lower[: low.size] = np.maximum((low * shrink * less - shift) * less, 0.0)
    upper[: high.size] = (high * stretch + shift) * more
    total = np.asarray(exponent + Q.exponent + K.exponent)
    return SingularValues(lower, upper, total, assumptions, rank_bound)


def _read_pair(Q: Any, K: Any) -> tuple[Array, Array]:
    left, right = read_matrix(Q, "Q"), read_matrix(K, "K")
    if left.shape[1] != right.shape[1]:
        raise MatrixError(
            f"A = Q K^T needs factors with as many columns; found Q {left.shape} and K {right.shape}"
        )
    return left, right


def singular_values_of_product(
    Q: Any, K: Any, mode: str | Mode = "default", *, device: str = "cpu"
) -> SingularValues:
    """Certified singular values of ``A = Q K^T``, min(m, n) of them; exact factors Q (m, d), K (n, d).

    A is never formed, so nothing is rounded before it is certified; values beyond the inner dimension d
    are exactly 0 and ``rank_bound`` is min(m, n, d). Inputs and errors as in
    :func:`certify.singular_values`. Source: the theorem at the head of
    ``certify/kernel/product.py``.
    """
    left, right = _read_pair(Q, K)
    with use_device(device):
        return product_of(scale(left), scale(right), mode)


def frobenius_norm_of_product(Q: Any, K: Any, *, device: str = "cpu") -> Enclosure:
    """||Q K^T||_F from exact factors: ||A||_F^2 = <Q^T Q, K^T K>.

    | fl - exact | <= g(m + n + 2d + 2) <|Q|^T|Q|, |K|^T|K|>: each Gram entry within its gamma, then sums.
    """
    left, right = _read_pair(Q, K)
    with use_device(device):
        q, k = scale(left), scale(right)
        inner = multiply(q.X.T, q.X) * multiply(k.X.T, k.X)
        magnitude = multiply(np.abs(q.X).T, np.abs(q.X)) * multiply(np.abs(k.X).T, np.abs(k.X))
    d = q.X.shape[1]
    roundings = q.X.shape[0] + k.X.shape[0] + 2 * d + 2
    g = growth(roundings)
    slack = g * (1 + g) * exact_ball(magnitude.sum(axis=0).sum()) + arb(2) ** -800  # 2^-800: underflow
    square = exact_ball(inner.sum(axis=0).sum())
    q_norm, k_norm = upper_frobenius(q.X), upper_frobenius(k.X)
    removed = q.radius_F * k_norm + (q_norm + q.radius_F) * k.radius_F
    low = ((square - slack).nonnegative_part().lower().sqrt() - removed).lower()
    high = (square + slack).sqrt() + removed
    bottom = low if low > 0 else arb(0)
    unit = arb(2) ** (q.exponent + k.exponent)
    return Enclosure(bottom * unit, high * unit, q.assumptions | k.assumptions)
