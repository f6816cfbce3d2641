"""Directed conversions: the only doors between balls, floats, exact rationals and decimals.

``float(arb)`` rounds to nearest, so a float made from a ball is always compared with it and moved
outward when needed. Every function here names its direction.
"""

from __future__ import annotations

import math
import struct
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import flint

from certify.errors import NotCertified

arb = flint.arb

_SMALLEST_NORMAL = arb(2) ** -1022


def require_exact_negation(negated: arb) -> None:
    """``negated`` is what the library makes of 1; python-flint before 0.9 returns 1 itself."""
    if not negated == arb(-1):
        raise NotCertified(
            f"python-flint {flint.__version__} does not negate exactly, so no lower end could be trusted; "
            "install python-flint 0.9 or newer"
        )


require_exact_negation(arb(1).neg(exact=True))


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
    if abs(number) < 2.0**-1022:  # true also where subnormals are read as 0
        return _exact_subnormal(number)
    return arb(number)


def _exact_subnormal(number: float) -> arb:
    """From the bits: where the processor flushes subnormals, FLINT and ``as_integer_ratio`` misread them."""
    pattern = struct.unpack("<q", struct.pack("<d", number))[0]
    magnitude = arb(pattern & (2**52 - 1)) * arb(2) ** -1074
    return -magnitude if pattern < 0 else magnitude


def float_above(ball: arb) -> float:
    """A double >= every point of ``ball`` (infinity when it lies beyond the largest double)."""
    upper = finite(ball).upper()
    if abs(upper) < _SMALLEST_NORMAL:
        return _subnormal_above(upper)
    nearest = float(upper)
    return nearest if arb(nearest) >= upper else math.nextafter(nearest, math.inf)


def _subnormal_above(x: arb) -> float:
    """The least double >= x for |x| < 2^-1022, from its bits: flush-to-zero cannot touch it."""
    units = math.ceil(rational(x) * 2**1074)
    pattern = units if units >= 0 else -units - 2**63  # sign bit and magnitude
    return float(struct.unpack("<d", struct.pack("<q", pattern))[0])


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
