"""A natural logarithm of float64 arrays with a proved error bound (libm promises none).

x = m 2^e with m in [0.7071, 1.4143], log x = e log 2 + 2 atanh(z), z = (m - 1) / (m + 1), |z| <= 0.1716.

Error. m - 1 is exact (Sterbenz), so z has relative error 2u and w = z^2 <= 0.0295 has 5u; twelve terms of
the series leave less than 1e-20; Horner's rule gives p in [1, 1.0102] within 2u; 2 z p is at most 0.36
and within 2u of the truth; e log 2 is within 1.2 |e| u; the last addition rounds by (0.7 |e| + 0.36) u.
Together at most (2.4 + 2 |e|) u. The bound returned is 16 (1 + |e|) u, so that subtracting it in floating
point still leaves a bound.
"""

from __future__ import annotations

import numpy as np

from certify.kernel.reading import Array

_COEFFICIENTS = [1.0 / (2 * j + 1) for j in range(12)]
_LOG_2 = 0.6931471805599453
_UNIT = 2.0**-53


def log_with_error(x: Array) -> tuple[Array, Array]:
    """(value, error) with ``value - error <= log x <= value + error``, also as computed, for x >= 2^-1000."""
    m, exponent = np.frexp(x)
    small = m < 0.7071
    m = np.where(small, 2.0 * m, m)
    e = (exponent - small).astype(np.float64)
    z = (m - 1.0) / (m + 1.0)
    w = z * z
    p = np.full_like(w, _COEFFICIENTS[-1])
    for coefficient in _COEFFICIENTS[-2::-1]:
        p = p * w + coefficient
    return e * _LOG_2 + 2.0 * z * p, 16 * _UNIT * (1.0 + np.abs(e))
