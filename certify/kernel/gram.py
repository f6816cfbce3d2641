"""All singular values of a very tall matrix from its Gram matrix: one large product.

Theorem. Let X (m, n), C = fl(X^T X), E = X^T X - C, so |E| <= gamma_m |X|^T |X|. Then
|sigma_i(X)^2 - sigma_i(C)| <= ||E||_2 for all i <= n, and sigma_i(X + D) is within ||D||_2 of sigma_i(X).

Proof. sigma_i(X)^2 = sigma_i(X^T X); Weyl, twice. || |X|^T |X| ||_2 <= min(||X||_F^2, max row sum).
C is small, so its singular values are enclosed by ``singular_values.py`` with ||E|| as radius. Values far
below sqrt(gamma_m) sigma_1 stay wide.
"""

from __future__ import annotations

from typing import Any

import flint
import numpy as np

from certify.errors import NotCertified
from certify.kernel.cholesky import gram_rounding
from certify.kernel.directed import float_above
from certify.kernel.multiply import multiply
from certify.kernel.reading import Array
from certify.kernel.rounding import growth
from certify.kernel.scaling import Scaled, scale
from certify.kernel.singular_values import from_factors
from certify.kernel.upper import greatest_sum, least, square_sum

arb = flint.arb


def gram_of(X: Array) -> Scaled:
    """C with the radius ||E||_2 <= g(m) || |X|^T |X| ||_2, scaled."""
    m, n = X.shape
    C = scale(np.ascontiguousarray(multiply(X.T, X)))
    error = (
        least(growth(m) * square_sum(X)[1], greatest_sum(gram_rounding(X), m + n + 2)) * arb(2) ** -C.exponent
    )
    radius = (C.radius_2 + error).upper()
    return Scaled(C.X, C.exponent, radius, radius, C.assumptions)


def from_gram(A: Scaled, C: Scaled, values: Any, V: Any) -> tuple[Array, Array]:
    """The theorem above for a tall ``A``, ``C = gram_of(A.X)`` and eigenpairs of C.X from an oracle:
    scaled lower and upper."""
    if not A.X.shape[0] >= A.X.shape[1] == C.X.shape[1]:
        raise NotCertified(f"the Gram matrix {C.X.shape} does not belong to a tall matrix {A.X.shape}")
    low, high = from_factors(C, V, values, V)
    unit = np.ldexp(1.0, C.exponent % 2)  # sqrt(2^e x) = 2^(e // 2) sqrt(2^(e mod 2) x)
    shift = float_above(A.radius_2 + arb(2) ** -440)
    half, more, less = C.exponent // 2, 1 + 2.0**-50, 1 - 2.0**-50
    upper = (np.ldexp(np.sqrt(high * unit), half) * more + shift) * more
    lower = np.maximum((np.ldexp(np.sqrt(low * unit), half) * less - shift) * less, 0.0)
    return lower, upper
