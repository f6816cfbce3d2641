"""Numbers with 60 digits, for what `interval` does not have: error functions, exact dot products, tanh."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
from mpmath import libmp

from .interval import Interval

mp = mpmath.mp.clone()
mp.dps = 60
HAIR = Fraction(1, 10**40)  # far above the rounding of 60 digits


def number(value: Fraction) -> Any:
    """The fraction with 60 digits."""
    return mp.mpf(value.numerator) / value.denominator


def around(x: Any) -> Interval:
    """An interval around the real number that ``x`` approximates with 60 digits."""
    p, q = libmp.to_rational(x._mpf_)
    value = Fraction(int(p), int(q))
    hair = HAIR * (1 + abs(value))
    return Interval.of(value - hair, value + hair)
