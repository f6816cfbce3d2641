"""The theorem of ``singular_values.py`` with residuals a hundred times sharper, by exact slices.

Write Y = Y1 + Y2 with Y1 the entries rounded to b bits (relative to a row's or the matrix's maximum),
b = floor((53 - ceil(log2 k)) / 2) for inner dimension k: then Y1 Z1^T is a sum of k integers of at most
2b bits, exact in every order. Y2 = Y - Y1 is exact: a multiple of ulp(y), at most half a unit and |y|.

    X - W V^T     = ((X - W1 V1^T) - W1 V2^T) - W2 V^T             3 products, the first exact
    V^T V - I     = (V1^T V1 - I) + Z + Z^T,  Z = V2^T (V1 + V2/2)   2 products, the first exact
"""

from __future__ import annotations

from typing import Any

import flint
import numpy as np

from certify.kernel.directed import exact_ball
from certify.kernel.multiply import multiply, multiply_exactly
from certify.kernel.reading import Array
from certify.kernel.rounding import UNIT_ROUNDOFF, growth
from certify.kernel.scaling import Scaled
from certify.kernel.singular_values import Factors, require_full_rank, residual, stretch
from certify.kernel.upper import upper_product_of_magnitudes, upper_spectral

arb = flint.arb


def slice_bits(inner: int) -> int:
    """The largest b with inner * 2^b * 2^b <= 2^53."""
    return (53 - max(inner - 1, 1).bit_length()) // 2


def split(Y: Array, bits: int, *, by_row: bool = False) -> tuple[Array, Array]:
    """Y = Y1 + Y2 exactly, Y1 multiples (at most 2^bits) of one power of two per row, or for all of Y."""
    magnitude = np.abs(Y)
    top = magnitude.max(axis=1, keepdims=True) if by_row else magnitude.max(keepdims=True)
    exponent = np.frexp(np.where(top > 0, top, 1.0))[1] - bits
    first = np.rint(Y * np.ldexp(1.0, -exponent)) * np.ldexp(1.0, exponent)
    return first, Y - first


def tight_defect(V: Array) -> arb:
    """>= ||V^T V - I||_2."""
    m, r = V.shape
    if r == 0:
        return arb(0)
    V1, V2 = split(V, slice_bits(m))
    H = V1 + V2 * 0.5  # within u|H| of V1 + V2/2
    T = multiply_exactly(V1.T, V1)
    T[np.diag_indices(r)] -= 1.0
    diagonal = exact_ball(np.abs(np.diag(T)).max())
    Z = multiply(V2.T, H)
    T += Z
    halfway = upper_spectral(T)
    T += Z.T
    last = upper_spectral(T)
    # Three additions round once each; Z has gamma_m |V2|^T|H| and H one more rounding: gamma_(m+1).
    additions = UNIT_ROUNDOFF * (halfway + diagonal + last)
    products = 2 * growth(m + 1) * upper_product_of_magnitudes(np.abs(V2.T), np.abs(H.T))
    return (last + additions + products).upper()


def tight_residual(X: Array, factors: Factors, f: arb, h: arb) -> arb:
    """>= ||U diag(s) V^T - X||_2."""
    r = factors.s.size
    if r == 0:
        return residual(X, factors, f, h)
    W = factors.weighted_left()
    bits = slice_bits(r)
    W1, W2 = split(W, bits, by_row=True)
    V1, V2 = split(factors.V, bits)
    T = X - multiply_exactly(W1, V1.T)
    partial = upper_spectral(T)
    T -= multiply(W1, V2.T)
    partial += upper_spectral(T)
    T -= multiply(W2, factors.V.T)
    last = upper_spectral(T)
    # |fl(a - b) - (a - b)| <= u |fl(a - b)|: each subtraction by its own result.
    subtractions = UNIT_ROUNDOFF * arb(min(X.shape)).sqrt() * (partial + last)
    magnitudes = upper_product_of_magnitudes(np.abs(W1), np.abs(V2))
    magnitudes += upper_product_of_magnitudes(np.abs(W2), np.abs(factors.V))
    return (last + growth(r) * magnitudes + subtractions + factors.weighting_error(f, h)).upper()


def from_factors_tightly(A: Scaled, U: Any, s: Any, V: Any) -> tuple[Array, Array]:
    """As :func:`certify.kernel.singular_values.from_factors`, with the sharper residuals."""
    factors = Factors.from_oracle(U, s, V, A.X.shape)
    f, h = tight_defect(factors.V), tight_defect(factors.U)
    require_full_rank(f, h)
    error = tight_residual(A.X, factors, f, h) + A.radius_2
    low, high = ((1 - f) * (1 - h)).sqrt(), ((1 + f) * (1 + h)).sqrt()
    return stretch(factors.s, low, high, error, min(A.X.shape))
