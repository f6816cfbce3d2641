"""Scale a matrix so that underflow, flush-to-zero and overflow cannot occur in any later product.

Theorem. Let max|a_ij| lie in [2^e, 2^(e+1)), let X be 2^-e A with every entry below 2^-450 set to 0, and
let every factor be cleaned in the same way. Then no product of two such matrices, nor any partial sum of
one, is nonzero and below 2^-1004, so gradual underflow and flush-to-zero give identical bits.

Proof. A double in {0} u [2^-450, 2) is a multiple of 2^-502; products of two are multiples of 2^-1004;
rounding to 53 bits and adding keep multiples of 2^-1004.

What was set to 0 and the caller's own radius become a radius around X.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from certify.errors import MatrixError, NotCertified
from certify.kernel.directed import exact_ball
from certify.kernel.reading import Array, exact_float64, first_not_finite
from certify.kernel.rounding import MODEL, TINY
from certify.kernel.upper import upper_frobenius, upper_spectral

arb = flint.arb

_CHUNK = 2**16
_MAGNITUDE = np.uint64(2**63 - 1)
_SAFE = 2.0**-500  # above this maximum, entries that matter are normal doubles


@dataclass(frozen=True, eq=False)
class Scaled:
    """A = 2^exponent (X + D) with X (m, n) of entries 0 or in [2^-450, 2).

    The upper ends of ``radius_2`` and ``radius_F`` bound ||D||_2 and ||D||_F.
    """

    X: Array
    exponent: int
    radius_2: arb
    radius_F: arb
    assumptions: frozenset[str] = MODEL

    @property
    def tall(self) -> Scaled:
        """The same matrix or its transpose, whichever has at least as many rows as columns."""
        if self.X.shape[0] >= self.X.shape[1]:
            return self
        flipped = np.ascontiguousarray(self.X.T)
        return Scaled(flipped, self.exponent, self.radius_2, self.radius_F, self.assumptions)

    @property
    def is_zero(self) -> bool:
        """Whether A is certainly the zero matrix."""
        return not self.X.any() and bool(self.radius_F.upper() <= 0)


def _decompose(A: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """|A| = mantissa 2^exponent with integers, from the bits (no float operation touches a subnormal)."""
    bits = A.view(np.int64)
    field = (bits >> 52) & 0x7FF
    mantissa = (bits & ((1 << 52) - 1)) + ((field > 0).astype(np.int64) << 52)
    return mantissa, np.maximum(field, 1) - 1075


def _scale_tiny(A: Array) -> tuple[Array, int, int]:
    """Scaling of a matrix whose maximum may be subnormal."""
    mantissa, exponent = _decompose(A)
    if not mantissa.any():
        return np.zeros_like(A), 0, 0
    value = mantissa.astype(np.float64)  # exact: 53 bits
    top = np.where(mantissa > 0, exponent + np.frexp(value)[1] - 1, -(10**6))
    e = int(top.max())
    keep = top >= e - 450
    X = np.where(keep, np.ldexp(value, np.where(keep, exponent - e, 0)), 0.0)
    return np.where(A.view(np.int64) < 0, -X, X), e, int(((mantissa > 0) & ~keep).sum())


def _scale(A: Array) -> tuple[Array, int, int]:
    """X, the exponent e, and how many nonzero entries of A were set to 0 (each below 2^(e-450))."""
    largest = max(float(A.max()), -float(A.min())) if A.size else 0.0
    if not largest > _SAFE:
        return _scale_tiny(A)
    e = math.frexp(largest)[1] - 1
    half = e // 2  # two steps: 2^-1023 is itself subnormal
    X = A * math.ldexp(1.0, -half)
    X *= math.ldexp(1.0, half - e)
    return X, e, _remove_below(A, X, math.ldexp(1.0, e - 450))


def _remove_below(A: Array, X: Array, threshold: float) -> int:
    """Set x_ij = 0 where 0 < |a_ij| < threshold and count them; on bits, for comparisons of doubles miss
    flushed subnormals.

    The bits of |a| grow with |a|; subtracting 1 turns those of 0 into the largest integer. Chunks stay in
    the cache.
    """
    bits, scaled = A.reshape(-1).view(np.uint64), X.reshape(-1)
    limit = np.array(threshold).view(np.uint64) - np.uint64(1)
    removed = 0
    for start in range(0, bits.size, _CHUNK):
        magnitude = bits[start : start + _CHUNK] & _MAGNITUDE
        magnitude -= np.uint64(1)
        small = magnitude < limit
        if small.any():
            scaled[start : start + _CHUNK][small] = 0.0
            removed += int(np.count_nonzero(small))
    return removed


def _read_radius(radius: Any, shape: tuple[int, ...]) -> Array:
    """The entrywise input radius as an array of the matrix's shape."""
    values = exact_float64(radius, "radius")
    found = first_not_finite(values)
    if found is not None or (values < 0).any():
        raise MatrixError("radius: every entry must be finite and >= 0 (it bounds |true - stored| entrywise)")
    return broadcast_radius(values, shape)


def broadcast_radius(values: Array, shape: tuple[int, ...]) -> Array:
    """``values`` (scalar or array) for every entry of a matrix or batch of ``shape``."""
    try:
        return np.ascontiguousarray(np.broadcast_to(values, shape))
    except ValueError as error:
        raise MatrixError(f"radius: shape {values.shape} does not fit a matrix of shape {shape}") from error


def _radius_norms(R: Array) -> tuple[arb, arb]:
    """Upper bounds of || |R| ||_2 (sqrt of 1-norm times inf-norm, or Frobenius) and of ||R||_F."""
    if not R.view(np.int64).any():
        return arb(0), arb(0)
    X, e, lost = _scale(R)
    unit, rest = arb(2) ** e, arb(lost).sqrt() * exact_ball(TINY)
    return (upper_spectral(X) + rest) * unit, (upper_frobenius(X) + rest) * unit


def scale(A: Array, radius: Any = None) -> Scaled:
    """Scale one finite matrix (m, n) read by :func:`certify.kernel.reading.read_matrix`."""
    X, e, lost = _scale(A)
    removed = arb(lost).sqrt() * exact_ball(TINY)
    if radius is None:
        return Scaled(X, e, removed, removed)
    spectral, frobenius = _radius_norms(_read_radius(radius, A.shape))
    if not X.any():
        e = 0
    unit = arb(2) ** -e
    assumptions = MODEL | {"input-radius"}
    return Scaled(X, e, removed + spectral * unit, removed + frobenius * unit, assumptions)


def clean(factor: Any, rows: int, label: str) -> Array:
    """An untrusted factor made safe for products: finite, below 2, entries under 2^-450 set to 0.

    Any change is allowed, because every theorem holds for arbitrary factors.
    """
    Q = np.array(factor, dtype=np.float64, order="C")
    if Q.ndim != 2 or Q.shape[0] != rows:
        raise NotCertified(f"the oracle returned a factor {label} of shape {Q.shape}; {rows} rows are needed")
    magnitude = np.abs(Q)
    if not (Q.size == 0 or float(magnitude.max()) < 2.0):
        raise NotCertified(f"the oracle returned a factor {label} that is not finite or far from orthonormal")
    return flush(Q, magnitude)


def flush(Q: Array, magnitude: Array | None = None) -> Array:
    """Set entries of magnitude below 2^-450 to 0, in place."""
    small = (np.abs(Q) if magnitude is None else magnitude) < TINY
    if small.any():
        Q[small] = 0.0
        if magnitude is not None:
            magnitude[small] = 0.0
    return Q
