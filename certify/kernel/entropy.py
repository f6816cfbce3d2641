"""The entropy of p = x / sum(x) over a box of vectors x: sharp at low and at full rank.

Theorem (monotone-vertex form). Let 0 <= a_i <= x_i <= b_i, S = sum x, H = log S - (1/S) sum x_i log x_i,
and let [H_l, H_u] enclose H on the whole box. dH/dx_i = -(log p_i + H)/S. Put

    Inc = {i : log p_i < -H_u on the box},   Dec = {i : log p_i > -H_l on the box},   Mid = the rest.

Then  H <= H(b on Inc, a on Dec, midpoints m on Mid) + sum_Mid sup_box |log p_i + H| / S_l (b_i - a_i)/2,
and the lower bound with a and b exchanged and the sum subtracted.

Proof. Moving the coordinates of Inc up and those of Dec down, one at a time inside the box, never lowers
H; the coordinates of Mid by the mean value theorem with the supremum over the box. It includes a_i = 0
(slope +infinity belongs to Inc). The gradient *at the midpoint* times the radii is not a bound.

Vectors are float64 arrays with explicit rounding terms; the last few scalar operations are balls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from certify.errors import NotCertified
from certify.kernel.directed import exact_ball, float_above, float_below
from certify.kernel.logarithm import log_with_error
from certify.kernel.reading import Array
from certify.kernel.rounding import growth_float

arb = flint.arb

_EPS = 2.0**-51  # 4u: one rounding of the value, one of the correction
_SMALLEST = 2.0**-900  # below it a lower end becomes 0 and an upper end is raised to it
_MINUS_1_OVER_E = -0.3678794411714424  # below -1/e


def down(values: Any) -> Any:
    """Below the exact results of one rounded operation."""
    return values - _EPS * np.abs(values)


def up(values: Any) -> Any:
    """Above the exact results of one rounded operation."""
    return values + _EPS * np.abs(values)


def _sum(values: Array) -> tuple[float, float]:
    """Bounds of an exact sum."""
    total = float(values.sum())
    error = growth_float(values.size + 8) * float(np.abs(values).sum())
    return float(down(total - error)), float(up(total + error))


@dataclass(frozen=True, eq=False)
class _Points:
    """Points x >= 0 with bounds of log x (minus infinity at 0) and of x log x."""

    x: Array
    log_low: Array
    log_high: Array
    f_low: Array
    f_high: Array

    @classmethod
    def at(cls, x: Array) -> _Points:
        positive = x > 0
        value, error = log_with_error(np.where(positive, x, 1.0))
        low, high = value - error, value + error
        f_low = np.where(positive, down(x * low), 0.0)
        f_high = np.where(positive, up(x * high), 0.0)
        return cls(x, np.where(positive, low, -np.inf), np.where(positive, high, -np.inf), f_low, f_high)

    def where(self, mask: NDArray[np.bool_], other: _Points) -> _Points:
        """These points where ``mask``, else the other's."""
        fields = ("x", "log_low", "log_high", "f_low", "f_high")
        return _Points(*(np.where(mask, getattr(self, name), getattr(other, name)) for name in fields))

    def entropy(self) -> arb:
        """A ball around H at this one vector."""
        S = _hull(_sum(self.x))
        return S.log() - _hull((_sum(self.f_low)[0], _sum(self.f_high)[1])) / S if S > 0 else arb("nan")


def _hull(ends: tuple[float, float]) -> arb:
    return exact_ball(ends[0]).union(exact_ball(ends[1]))


def _coarse(a: _Points, b: _Points, S: arb) -> arb:
    """A ball around H on the box, from the range of each x log x (convex, minimum -1/e at 1/e)."""
    ends = np.minimum(a.f_low, b.f_low)
    low = np.where((a.x < 0.36788) & (b.x > 0.36787), _MINUS_1_OVER_E, ends)
    T = _hull((_sum(low)[0], _sum(np.maximum(a.f_high, b.f_high))[1]))
    return (S.log() - T / S).intersection(arb(0).union(arb(a.x.size).log()))


def _admissible(lower: Array, upper: Array) -> tuple[Array, Array]:
    """The box times a power of two, with a sum near 1 and no entry in (0, 2^-900)."""
    if not bool(((lower >= 0) & (lower <= upper) & (upper < np.inf)).all() and (lower > 0).any()):
        raise NotCertified("no singular value is certified to be positive, so the entropy is undefined")
    shift = -int(np.frexp(upper.sum())[1])
    a, b = np.ldexp(lower, shift), np.ldexp(upper, shift)
    return np.where(a < _SMALLEST, 0.0, a), np.maximum(b, _SMALLEST)


def entropy(lower: Array, upper: Array) -> tuple[arb, arb]:
    """(lower, upper) bounds of H over the box ``lower <= x <= upper`` (float64 arrays, exact ends)."""
    first, last = _admissible(lower, upper)
    a, b = _Points.at(first), _Points.at(last)
    S = _hull((_sum(a.x)[0], _sum(b.x)[1]))
    if not S > 0:
        raise NotCertified("the sum of the singular values is not certified to be positive")
    H = _coarse(a, b, S)
    H_low, H_high, log_S = float_below(H), float_above(H), S.log()
    p_low = down(a.log_low - float_above(log_S))  # bounds of log p_i on the box
    p_high = up(b.log_high - float_below(log_S))
    increasing = p_high < -H_high
    decreasing = p_low > -H_low
    middle = ~(increasing | decreasing)
    if bool((middle & (a.x == 0)).any()):
        return H.lower(), H.upper()
    m = _Points.at((a.x + b.x) / 2)
    slope = np.maximum(np.abs(up(p_high + H_high)), np.abs(down(p_low + H_low)))
    slope = np.where(middle, slope, 0.0)
    steps = up(slope * up(np.maximum(b.x - m.x, m.x - a.x)))
    correction = exact_ball(_sum(steps)[1]) / S.lower()
    lowest = a.where(increasing, b.where(decreasing, m)).entropy() - correction
    highest = b.where(increasing, a.where(decreasing, m)).entropy() + correction
    low, high = H.lower(), H.upper()
    if lowest.lower() > low:
        low = lowest.lower()
    if highest.upper() < high:
        high = highest.upper()
    return low, high
