"""Interval arithmetic on mpmath's raw numbers, every operation rounded outward.

An :class:`Interval` that is computed from intervals which contain some reals contains the result for these
reals. Sums, products and quotients are rounded in the direction that `libmp` is told; transcendental
functions, for which mpmath promises less, are moved outward by 8 units in the last place.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from mpmath import libmp

BITS = 110

DOWN, UP = "f", "c"


def widened(x: Any, direction: str) -> Any:
    """Move a transcendental result outward by 8 units in the last place."""
    if x == libmp.fzero:
        return x
    step = libmp.mpf_shift(libmp.mpf_abs(x), 4 - BITS)
    return libmp.mpf_sub(x, step, BITS, DOWN) if direction == DOWN else libmp.mpf_add(x, step, BITS, UP)


class Interval:
    """A closed interval of reals; endpoints are mpmath's raw floating-point numbers."""

    __slots__ = ("hi", "lo")

    def __init__(self, lo: Any, hi: Any) -> None:
        if libmp.fnan in (lo, hi) or (lo is not hi and not libmp.mpf_le(lo, hi)):
            raise ArithmeticError("an interval with its ends exchanged, or a value that is not a number")
        self.lo, self.hi = lo, hi

    @staticmethod
    def of(lower: Fraction | int | str, upper: Fraction | int | str | None = None) -> Interval:
        """The narrowest interval of this precision around [lower, upper], or around one number."""
        low = Fraction(lower)
        high = low if upper is None else Fraction(upper)
        return Interval(
            libmp.from_rational(low.numerator, low.denominator, BITS, DOWN),
            libmp.from_rational(high.numerator, high.denominator, BITS, UP),
        )

    def __add__(self, other: Interval) -> Interval:
        return Interval(
            libmp.mpf_add(self.lo, other.lo, BITS, DOWN), libmp.mpf_add(self.hi, other.hi, BITS, UP)
        )

    def __neg__(self) -> Interval:
        return Interval(libmp.mpf_neg(self.hi), libmp.mpf_neg(self.lo))

    def __sub__(self, other: Interval) -> Interval:
        return self + (-other)

    def __mul__(self, other: Interval) -> Interval:
        if not (self.lo[0] or other.lo[0]):  # no minus sign: both are nonnegative
            low, high = (
                libmp.mpf_mul(self.lo, other.lo, BITS, DOWN),
                libmp.mpf_mul(self.hi, other.hi, BITS, UP),
            )
            return Interval(low, high)
        pairs = [(a, b) for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        lows = [libmp.mpf_mul(a, b, BITS, DOWN) for a, b in pairs]
        highs = [libmp.mpf_mul(a, b, BITS, UP) for a, b in pairs]
        return Interval(least(lows), greatest(highs))

    def __truediv__(self, other: Interval) -> Interval:
        if not (libmp.mpf_gt(other.lo, libmp.fzero) or libmp.mpf_lt(other.hi, libmp.fzero)):
            raise ArithmeticError("division by an interval that contains 0")
        one = libmp.fone
        inverse = Interval(libmp.mpf_div(one, other.hi, BITS, DOWN), libmp.mpf_div(one, other.lo, BITS, UP))
        return self * inverse

    def monotone(self, function: Callable[[Any, int, str], Any]) -> Interval:
        """The image under an increasing libmp function, moved outward a little."""
        return Interval(
            widened(function(self.lo, BITS, DOWN), DOWN), widened(function(self.hi, BITS, UP), UP)
        )

    def sqrt(self) -> Interval:
        """The square root; the whole interval must be >= 0."""
        if libmp.mpf_lt(self.lo, libmp.fzero):
            raise ArithmeticError("square root of a negative number")
        return self.monotone(libmp.mpf_sqrt)

    def log(self) -> Interval:
        """The natural logarithm; the whole interval must be > 0."""
        if not libmp.mpf_gt(self.lo, libmp.fzero):
            raise ArithmeticError("logarithm of a number that is not certainly positive")
        return self.monotone(libmp.mpf_log)

    def exp(self) -> Interval:
        """The exponential."""
        return self.monotone(libmp.mpf_exp)

    def power(self, exponent: Fraction) -> Interval:
        """A rational power: of any interval for integers, else of one that is >= 0 (halves) or > 0."""
        if exponent < 0:
            return Interval.of(1) / self.power(-exponent)
        if exponent.denominator == 2:
            return self.sqrt().power(Fraction(exponent.numerator))
        if exponent.denominator != 1:
            if libmp.mpf_le(self.lo, libmp.fzero):
                raise ArithmeticError("a fractional power of a number that is not certainly positive")
            return (self.log() * Interval.of(exponent)).exp()
        base = self
        if exponent.numerator % 2 == 0 and libmp.mpf_lt(self.lo, libmp.fzero):
            low = libmp.fzero if libmp.mpf_ge(self.hi, libmp.fzero) else libmp.mpf_neg(self.hi)
            base = Interval(low, greatest([libmp.mpf_neg(self.lo), self.hi]))
        n = exponent.numerator
        return Interval(libmp.mpf_pow_int(base.lo, n, BITS, DOWN), libmp.mpf_pow_int(base.hi, n, BITS, UP))

    def low(self) -> Fraction:
        """The lower end, exactly."""
        return _fraction(self.lo)

    def high(self) -> Fraction:
        """The upper end, exactly."""
        return _fraction(self.hi)

    def meet(self, other: Interval) -> Interval:
        """The intersection; an empty one is an error."""
        return Interval(greatest([self.lo, other.lo]), least([self.hi, other.hi]))


def _fraction(x: Any) -> Fraction:
    p, q = libmp.to_rational(x)
    return Fraction(int(p), int(q))


def least(values: list[Any]) -> Any:
    """The least of raw numbers."""
    best = values[0]
    for value in values[1:]:
        if libmp.mpf_lt(value, best):
            best = value
    return best


def greatest(values: list[Any]) -> Any:
    """The greatest of raw numbers."""
    best = values[0]
    for value in values[1:]:
        if libmp.mpf_gt(value, best):
            best = value
    return best


ZERO, ONE = Interval.of(0), Interval.of(1)


def total(items: list[Interval]) -> Interval:
    """The sum of intervals."""
    lo, hi = libmp.fzero, libmp.fzero
    for item in items:
        lo, hi = libmp.mpf_add(lo, item.lo, BITS, DOWN), libmp.mpf_add(hi, item.hi, BITS, UP)
    return Interval(lo, hi)


def square(x: Interval) -> Interval:
    """The square of an interval of nonnegative numbers."""
    return Interval(libmp.mpf_mul(x.lo, x.lo, BITS, DOWN), libmp.mpf_mul(x.hi, x.hi, BITS, UP))


def magnitude(x: Interval) -> Any:
    """The largest absolute value in an interval, as a raw number."""
    return greatest([libmp.mpf_abs(x.lo), libmp.mpf_abs(x.hi)])
