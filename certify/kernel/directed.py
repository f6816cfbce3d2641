"""Directed conversions: the only doors between balls, floats, exact rationals and decimals.

``float(arb)`` rounds to nearest, so a float made from a ball is always compared with it and moved
outward when needed. Every function here names its direction.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import flint

from certify.errors import NotCertified

arb = flint.arb


def finite(ball: arb) -> arb:
    """``ball`` itself, if it is finite; NaN and infinite balls raise :class:`NotCertified`."""
    if not ball.is_finite():
        raise NotCertified(f"the value {ball} is not finite; no finite bound follows from the numbers given")
    return ball


def exact_ball(value: float) -> arb:
    """The exact value of a finite double (also a numpy scalar), as a ball of radius 0."""
    number = float(value)
    if not math.isfinite(number):
        raise NotCertified(f"the number {number} is not finite; no finite bound follows from it")
    return arb(number)


def float_above(ball: arb) -> float:
    """A double >= every point of ``ball`` (infinity when it lies beyond the largest double)."""
    upper = finite(ball).upper()
    nearest = float(upper)
    return nearest if arb(nearest) >= upper else math.nextafter(nearest, math.inf)


def float_below(ball: arb) -> float:
    """A double <= every point of ``ball`` (minus infinity when it lies beyond the largest double)."""
    return -float_above(ball.neg(exact=True))


def rational(ball: arb) -> Fraction:
    """The exact value of a ball of radius 0."""
    if not finite(ball).is_exact():
        raise NotCertified(f"the ball {ball} has a radius and is not a single rational number")
    mantissa, exponent = (int(part) for part in ball.man_exp())
    return Fraction(mantissa * 2**exponent) if exponent >= 0 else Fraction(mantissa, 2**-exponent)


def _decimal(value: Fraction, digits: int, rounding: str) -> str:
    """``value`` to ``digits`` significant decimal digits; exact inputs, one directed rounding."""
    if digits < 1:
        raise ValueError(f"digits must be at least 1, not {digits}")
    context = Context(prec=digits, rounding=rounding, Emin=-999999, Emax=999999, traps=[])
    # The quotient is rounded once, in the direction asked for: both operands are exact.
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return str(quotient)


def decimal_above(value: Fraction, digits: int = 17) -> str:
    """A decimal with ``digits`` significant digits that is >= ``value`` when read exactly."""
    return _decimal(value, digits, ROUND_CEILING)


def decimal_below(value: Fraction, digits: int = 17) -> str:
    """A decimal with ``digits`` significant digits that is <= ``value`` when read exactly."""
    return _decimal(value, digits, ROUND_FLOOR)
