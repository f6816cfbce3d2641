"""Numbers as decimal strings, rounded outward: what is printed is never tighter than what was proved.

A lower endpoint is rounded down and an upper endpoint up. The number of digits follows the width
of the enclosure, so that a wide enclosure is not printed with digits that mean nothing and a
narrow one loses at most about a hundredth of its width.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from certify.kernel.enclosure import Enclosure

MAX_DIGITS = 17
MIN_DIGITS = 4
SPARE_DIGITS = 3

_LONG = Context(prec=60, rounding=ROUND_FLOOR, Emin=-99999, Emax=99999)

Number = int | float | Fraction | Decimal


@cache
def _context(digits: int, rounding: str) -> Context:
    return Context(prec=digits, rounding=rounding, Emin=-99999, Emax=99999)


def _as_decimal(value: Number, context: Context) -> Decimal:
    if isinstance(value, Fraction):
        return context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return context.plus(Decimal(value))


def round_down(value: Number, digits: int = MAX_DIGITS) -> str:
    """A decimal string <= ``value`` with at most ``digits`` significant digits."""
    return _plain(_as_decimal(value, _context(digits, ROUND_FLOOR)))


def round_up(value: Number, digits: int = MAX_DIGITS) -> str:
    """A decimal string >= ``value`` with at most ``digits`` significant digits."""
    return _plain(_as_decimal(value, _context(digits, ROUND_CEILING)))


def _plain(value: Decimal) -> str:
    if not value.is_finite():
        raise ValueError(f"{value} cannot be written as a decimal of a report")
    return "0" if value.is_zero() else str(value.normalize(_LONG))


def digits_for(lower: float, upper: float) -> int:
    """Digits that show the pair ``lower <= upper`` and cost about a hundredth of its width."""
    magnitude = max(abs(lower), abs(upper))
    width = upper - lower
    if not (width > 0.0) or not (magnitude > 0.0):
        return MAX_DIGITS
    wanted = math.ceil(math.log10(magnitude) - math.log10(width)) + SPARE_DIGITS
    return min(MAX_DIGITS, max(MIN_DIGITS, wanted))


def outward(lower: Number, upper: Number, digits: int | None = None) -> tuple[str, str]:
    """The enclosure ``[lower, upper]`` as two decimal strings that enclose it."""
    if not lower <= upper:
        raise ValueError(f"the lower endpoint {lower} is above the upper endpoint {upper}")
    count = digits_for(float(lower), float(upper)) if digits is None else digits
    return round_down(lower, count), round_up(upper, count)


def enclosed(value: Enclosure) -> dict[str, str]:
    """An enclosure as a record ``{"lower", "upper"}`` of outward-rounded decimals."""
    digits = digits_for(value.lower, value.upper)
    lower, upper = value.lower_decimal(digits), value.upper_decimal(digits)
    return {"lower": _plain(Decimal(lower)), "upper": _plain(Decimal(upper))}


def outward_arrays(lower: np.ndarray, upper: np.ndarray) -> tuple[list[str], list[str]]:
    """Endpoint arrays (float64, same shape (q,)) as two lists of outward-rounded decimals.

    Every entry keeps digits down to a thousandth of its own width, so rounding may not disturb the
    descending order: the lists are made descending again by moving endpoints outward only.
    """
    lows: list[Decimal] = []
    ups: list[Decimal] = []
    for a, b in zip(lower.tolist(), upper.tolist(), strict=True):
        digits = digits_for(a, b)
        lows.append(_context(digits, ROUND_FLOOR).create_decimal_from_float(a))
        ups.append(_context(digits, ROUND_CEILING).create_decimal_from_float(b))
    for i in range(len(ups) - 2, -1, -1):
        ups[i] = max(ups[i], ups[i + 1])
    for i in range(1, len(lows)):
        lows[i] = min(lows[i], lows[i - 1])
    return [_plain(value) for value in lows], [_plain(value) for value in ups]


def float_below(text: str) -> float:
    """The largest float64 <= the decimal ``text``."""
    value = float(text)
    return math.nextafter(value, -math.inf) if Decimal(value) > Decimal(text) else value


def float_above(text: str) -> float:
    """The smallest float64 >= the decimal ``text``."""
    value = float(text)
    return math.nextafter(value, math.inf) if Decimal(value) < Decimal(text) else value


def floats_below(texts: Iterable[str]) -> np.ndarray:
    """float64 array of `float_below` of every text."""
    return np.array([float_below(t) for t in texts], dtype=np.float64)


def floats_above(texts: Iterable[str]) -> np.ndarray:
    """float64 array of `float_above` of every text."""
    return np.array([float_above(t) for t in texts], dtype=np.float64)


def short(lower: str, upper: str, digits: int = 6) -> str:
    """A human's reading of a recorded enclosure: one number if its digits agree, else an interval."""
    low, high = round_down(Decimal(lower), digits), round_up(Decimal(upper), digits)
    if low == high:
        return _readable(low)
    middle = (Decimal(lower) + Decimal(upper)) / 2
    nearest = _context(digits, "ROUND_HALF_EVEN").plus(middle)
    gap = Decimal(upper) - Decimal(lower)
    if gap <= abs(middle) * Decimal(10) ** (-digits):
        return _readable(_plain(nearest))
    return f"[{_readable(low)}, {_readable(high)}]"


def _readable(text: str) -> str:
    value = Decimal(text)
    if value.is_zero():
        return "0"
    return f"{value:f}" if -5 <= value.adjusted() < 9 else f"{value:e}".replace("E", "e")
