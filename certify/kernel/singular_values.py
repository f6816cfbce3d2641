"""Enclosures of all singular values of a matrix from any float factors.

Theorem (Miyajima 2014, Thm 7, in the economy form). Let U (m, r), V (n, r), s >= 0 be any floats,
r <= q = min(m, n), f >= ||V^T V - I||, h >= ||U^T U - I||, e >= ||U diag(s) V^T - A||, f < 1, h < 1. With s
sorted descending, for i <= r,

    s_i sqrt((1-f)(1-h)) - e  <=  sigma_i(A)  <=  s_i sqrt((1+f)(1+h)) + e,

and 0 <= sigma_i(A) <= e for r < i <= q. No property of an SVD is used, so the SVD is an oracle.

Proof. Weyl: sigma_i moves by at most e. sigma_i(U S V^T) <= ||U|| s_i ||V||; V and U have full column rank,
so S = U^+ (U S V^T) (V^T)^+ and s_i <= sigma_i(U S V^T) / (sigma_min(U) sigma_min(V)).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from certify.errors import NotCertified
from certify.kernel.directed import exact_ball, float_above, float_below
from certify.kernel.enclosure import Enclosure
from certify.kernel.multiply import multiply
from certify.kernel.reading import Array
from certify.kernel.rounding import MODEL, TINY, UNIT_ROUNDOFF, growth
from certify.kernel.scaling import Scaled, clean, flush
from certify.kernel.upper import (
    greatest_sum,
    least,
    upper_product_of_magnitudes,
    upper_spectral,
)

arb = flint.arb


@dataclass(frozen=True, eq=False)
class SingularValues:
    """Certified singular values, descending: ``lower <= sigma <= upper``, shape (..., min(m, n)).

    ``lower`` and ``upper`` are float64 (an upper bound beyond the largest double is infinity).
    ``scaled_lower``, ``scaled_upper`` and ``exponent`` (one per matrix) hold the same enclosures as
    ``2^exponent * [scaled_lower, scaled_upper]``, safe from overflow and underflow; ranks use them.
    ``scaled_frobenius``, if known, encloses the Frobenius norm in that scale (one matrix only).
    ``rank_bound`` is an upper bound of the rank of every matrix (the inner dimension of a product).
    ``assumptions`` are keys of :data:`certify.kernel.rounding.ASSUMPTIONS`.
    """

    scaled_lower: Array
    scaled_upper: Array
    exponent: NDArray[np.int64]
    assumptions: frozenset[str] = MODEL
    rank_bound: int | None = None
    scaled_frobenius: Enclosure | None = None
    lower: Array = field(init=False)
    upper: Array = field(init=False)

    def __post_init__(self) -> None:
        low, high = self.scaled_lower, self.scaled_upper
        if not bool(((low >= 0) & (low <= high) & (high < np.inf)).all()):
            raise NotCertified("the enclosures of the singular values are not finite and 0 <= lower <= upper")
        exponent = np.asarray(self.exponent)[..., None]
        object.__setattr__(self, "lower", times_power_of_two(low, exponent, upward=False))
        object.__setattr__(self, "upper", times_power_of_two(high, exponent, upward=True))

    def __len__(self) -> int:
        return len(self.scaled_lower)

    def __getitem__(self, index: int) -> Any:
        """The index-th singular value (an Enclosure), or the values of the index-th matrix of a batch."""
        if self.scaled_lower.ndim == 1:
            unit = arb(2) ** int(self.exponent)
            low, high = (exact_ball(part[index]) for part in (self.scaled_lower, self.scaled_upper))
            return Enclosure(low * unit, high * unit, self.assumptions)
        parts = self.scaled_lower[index], self.scaled_upper[index], np.asarray(self.exponent)[index]
        return SingularValues(*parts, self.assumptions, self.rank_bound)

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        radius = float(np.max(self.upper - self.lower, initial=0.0)) / 2
        return f"SingularValues(shape={self.lower.shape}, largest radius={radius:.3g}, lower={self.lower})"


def times_power_of_two(values: Array, exponent: NDArray[np.int64], *, upward: bool) -> Array:
    """2^exponent * values for values >= 0, rounded upward or downward where it is not exact.

    Results below 2^-1021 are built as bit patterns, so flush-to-zero cannot make an upper bound 0.
    """
    top = np.frexp(values)[1] + exponent
    normal = top > -1021
    with np.errstate(over="ignore"):
        result = np.ldexp(np.where(normal, values, 0.0), np.where(normal, exponent, 0))
    if not upward:
        result = np.minimum(result, np.finfo(np.float64).max)
    tiny = ~normal & (values > 0)
    if not tiny.any():
        return result
    # In units of 2^-1074, below 2^53 of them; far below one unit the shift only has to stay below 1.
    units = np.ldexp(np.where(tiny, values, 0.0), np.maximum(np.where(tiny, exponent + 1074, 0), -1000))
    count = np.ceil(units) if upward else np.floor(units)
    pattern = count.astype(np.int64)
    if upward:
        pattern = np.maximum(pattern, 1)
    return np.where(tiny, pattern.view(np.float64), result)


def defect(V: Array) -> arb:
    """>= ||V^T V - I||_2: the computed difference plus gamma_m |V|^T |V| (m is the inner dimension)."""
    m, r = V.shape
    if r == 0:
        return arb(0)
    magnitude = np.abs(V)
    D = multiply(V.T, V)
    D[np.diag_indices(r)] -= 1.0
    rounding = growth(m) * greatest_sum(multiply(magnitude.T, magnitude.sum(axis=1)), m + r)
    return (upper_spectral(D) * (1 + UNIT_ROUNDOFF) + rounding).upper()


@dataclass(frozen=True)
class Factors:
    """Cleaned factors with ``X ~ U diag(s) V^T``, s >= 0 descending."""

    U: Array
    s: Array
    V: Array

    @classmethod
    def from_oracle(cls, U: Any, s: Any, V: Any, shape: tuple[int, int]) -> Factors:
        """Accept any floats; permute and flip signs so that s is sorted and the product is unchanged."""
        m, n = shape
        left, right = clean(U, m, "U"), clean(V, n, "V")
        values = np.array(s, dtype=np.float64)
        if not (values.ndim == 1 and left.shape[1] == right.shape[1] == values.size <= min(m, n)):
            raise NotCertified(
                f"the oracle returned factors of shapes {left.shape}, {values.shape}, {right.shape}; they do "
                f"not fit a {m} x {n} matrix"
            )
        if not (values.size == 0 or float(np.abs(values).max()) < 2.0**64):
            raise NotCertified("the oracle returned singular values that are not finite or far too large")
        if not bool((values >= 0).all() and (values[1:] <= values[:-1]).all()):
            order = np.argsort(-np.abs(values), kind="stable")
            sign = np.where(values[order] < 0, -1.0, 1.0)
            left, right, values = left[:, order] * sign, right[:, order], np.abs(values[order])
        values[values < TINY] = 0.0
        return cls(left, values, right)

    def weighted_left(self) -> Array:
        """W = fl(U diag(s)), cleaned."""
        return flush(self.U * self.s)

    def weighting_error(self, f: arb, h: arb) -> arb:
        """>= ||(W - U S) V^T||_F: u|U|S from the multiplication, TINY where an entry was removed."""
        s_norm = greatest_sum(np.array([(self.s * self.s).sum()]), self.s.size + 1).sqrt()
        removed = arb(self.U.size).sqrt() * exact_ball(TINY)
        return (UNIT_ROUNDOFF * (1 + h).sqrt() * s_norm + removed) * (1 + f).sqrt()

    def upper_nuclear_product(self, f: arb, h: arb) -> arb:
        """>= || |W| |V|^T ||_F, from the sum of s_k ||u_k|| ||v_k||."""
        total = greatest_sum(np.array([self.s.sum()]), self.s.size)
        return total * ((1 + f) * (1 + h)).sqrt() * (1 + UNIT_ROUNDOFF)


def residual(X: Array, factors: Factors, f: arb, h: arb) -> arb:
    """>= ||U diag(s) V^T - X||_2: computed residual, its rounding, and the rounding of W = U diag(s)."""
    W, r = factors.weighted_left(), factors.s.size
    E = X - multiply(W, factors.V.T)
    magnitudes = least(
        upper_product_of_magnitudes(np.abs(W), np.abs(factors.V)), factors.upper_nuclear_product(f, h)
    )
    computed = upper_spectral(E) * (1 + UNIT_ROUNDOFF)
    return (computed + growth(r) * magnitudes + factors.weighting_error(f, h)).upper()


def require_full_rank(f: arb, h: arb) -> None:
    """Guard of the theorem, closed to NaN: both defects are certainly below 1."""
    if not (f < 1 and h < 1):
        raise NotCertified(
            f"the oracle's factors are too far from orthonormal (defects {f} and {h}, both must be < 1); "
            "an SVD that converged has defects near 1e-14"
        )


def stretch(s: Array, low_factor: arb, high_factor: arb, error: arb, count: int) -> tuple[Array, Array]:
    """Doubles with lower <= low_factor s - error and upper >= high_factor s + error, ``count`` of them.

    Missing values are 0 +- error. Each line has at most 3 roundings of nonnegative numbers, covered by
    2^-51 = 4u; 2^-440 keeps error away from underflow.
    """
    low, high = max(float_below(low_factor), 0.0), float_above(high_factor)
    shift = float_above(error + arb(2) ** -440)
    padded = np.concatenate([s, np.zeros(count - s.size)])
    more, less = 1 + 2.0**-51, 1 - 2.0**-51
    upper = (padded * high + shift) * more
    lower = np.maximum((padded * low * less - shift) * less, 0.0)
    return lower, upper


def from_factors(A: Scaled, U: Any, s: Any, V: Any) -> tuple[Array, Array]:
    """The theorem of this module for ``A.X + D``, ||D|| <= ``A.radius_2``: scaled lower and upper (q,)."""
    factors = Factors.from_oracle(U, s, V, A.X.shape)
    f, h = defect(factors.V), defect(factors.U)
    require_full_rank(f, h)
    error = residual(A.X, factors, f, h) + A.radius_2
    low, high = ((1 - f) * (1 - h)).sqrt(), ((1 + f) * (1 + h)).sqrt()
    return stretch(factors.s, low, high, error, min(A.X.shape))
