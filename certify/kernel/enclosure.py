"""A real number known to lie between two exact endpoints, with the assumptions it rests on.

An :class:`Enclosure` is an interval with dyadic endpoints. Each operation evaluates FLINT balls at
the endpoints and keeps the outer ends, so monotone functions of wide intervals lose nothing (the
square of a wide *ball* may contain 0; the square of an interval of positive numbers does not).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import NoReturn

import flint

from certify.errors import NotCertified, Undecided
from certify.kernel.directed import (
    decimal_above,
    decimal_below,
    exact_ball,
    finite,
    float_above,
    float_below,
    rational,
)

arb = flint.arb
Exact = int | float | Fraction | Decimal | str

WORKING_BITS = 128  # any value is sound; more bits only make enclosures narrower


def exact_fraction(value: Exact) -> Fraction:
    """The one door for numbers: an int, a double (its exact value), a Fraction or a decimal string."""
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction | Decimal | str):
        raise TypeError(
            f"{value!r} ({type(value).__name__}) is not an exact number; "
            "give an int, a float (taken at its exact value), a Fraction or a decimal string"
        )
    if not isinstance(value, float):
        return Fraction(value)
    if not math.isfinite(value):
        raise NotCertified(f"{value} is not a real number")
    return rational(exact_ball(value))


def _ball(value: Fraction) -> arb:
    """A ball containing the rational ``value`` (radius 0 if it is dyadic and fits)."""
    denominator = value.denominator
    if denominator & (denominator - 1) == 0:
        return arb(flint.fmpz(value.numerator)) * arb(2) ** (1 - denominator.bit_length())
    return arb(flint.fmpz(value.numerator)) / arb(flint.fmpz(denominator))


class Enclosure:
    """A real number x with ``low <= x <= high``; frozen.

    Attributes: ``lower`` and ``upper`` (doubles, rounded outward), ``endpoints`` (two exact balls),
    ``ball`` (one FLINT ball around the interval), ``assumptions`` (identifiers of
    :data:`certify.kernel.rounding.ASSUMPTIONS` and of hypotheses added by callers).

    Arithmetic with ``int``, ``Fraction`` and ``float`` (its exact value) is supported and joins the
    assumptions. ``<  <=  >  >=`` raise :class:`~certify.errors.Undecided` when the intervals overlap;
    ``==``, ``bool`` and ``hash`` always raise, because an interval does not know them.
    """

    __slots__ = ("_high", "_low", "assumptions")
    _low: arb
    _high: arb
    assumptions: frozenset[str]

    def __init__(self, low: arb, high: arb, assumptions: Iterable[str] = ()) -> None:
        """From balls: every point between the lower end of ``low`` and the upper end of ``high``."""
        with flint.ctx.workprec(WORKING_BITS):
            bottom, top = finite(low).lower(), finite(high).upper()
        if not bottom <= top:
            raise NotCertified(f"no number lies between {bottom} and {top}: the lower end is above the upper")
        object.__setattr__(self, "_low", bottom)
        object.__setattr__(self, "_high", top)
        object.__setattr__(self, "assumptions", frozenset(assumptions))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("an Enclosure is frozen; make a new one")

    def __reduce__(self) -> tuple[object, ...]:
        ends = tuple(tuple(int(part) for part in end.man_exp()) for end in (self._low, self._high))
        return _rebuild, (*ends, tuple(sorted(self.assumptions)))

    @classmethod
    def exact(cls, value: Exact, assumptions: Iterable[str] = ()) -> Enclosure:
        """The number itself; a float means the exact value of the double, a string its decimal value."""
        with flint.ctx.workprec(WORKING_BITS):
            ball = _ball(exact_fraction(value))
        return cls(ball, ball, assumptions)

    @classmethod
    def between(cls, lower: Exact, upper: Exact, assumptions: Iterable[str] = ()) -> Enclosure:
        """Every number from ``lower`` to ``upper`` (each read exactly)."""
        bottom, top = exact_fraction(lower), exact_fraction(upper)
        if not bottom <= top:
            raise NotCertified(f"no number lies between {lower} and {upper}: the ends are in the wrong order")
        with flint.ctx.workprec(WORKING_BITS):
            return cls(_ball(bottom), _ball(top), assumptions)

    @property
    def lower(self) -> float:
        """A double <= the number."""
        return float_below(self._low)

    @property
    def upper(self) -> float:
        """A double >= the number."""
        return float_above(self._high)

    @property
    def endpoints(self) -> tuple[arb, arb]:
        """The two exact endpoints, as balls of radius 0."""
        return self._low, self._high

    @property
    def ball(self) -> arb:
        """One ball that contains the interval (its radius is rounded up to 30 bits)."""
        return self._low.union(self._high)

    def lower_decimal(self, digits: int = 17) -> str:
        """A decimal string <= the number when read exactly (``Fraction(text)``)."""
        return decimal_below(rational(self._low), digits)

    def upper_decimal(self, digits: int = 17) -> str:
        """A decimal string >= the number when read exactly (``Fraction(text)``)."""
        return decimal_above(rational(self._high), digits)

    def with_assumptions(self, *identifiers: str) -> Enclosure:
        """The same interval resting on further assumptions."""
        return Enclosure(self._low, self._high, self.assumptions.union(identifiers))

    def contains(self, value: Exact | Enclosure) -> bool:
        """Whether every point of ``value`` lies in this interval (a question about sets: decided)."""
        if isinstance(value, Enclosure):
            return bool(self._low <= value._low and value._high <= self._high)
        number = exact_fraction(value)
        return rational(self._low) <= number <= rational(self._high)

    def intersection(self, other: Enclosure) -> Enclosure:
        """Both enclose the same number. An empty intersection means one of them is wrong and raises."""
        low = other._low if other._low > self._low else self._low
        high = other._high if other._high < self._high else self._high
        return Enclosure(low, high, self.assumptions | other.assumptions)

    def hull(self, other: Enclosure) -> Enclosure:
        """The smallest interval around both."""
        low = other._low if other._low < self._low else self._low
        high = other._high if other._high > self._high else self._high
        return Enclosure(low, high, self.assumptions | other.assumptions)

    # -- arithmetic ---------------------------------------------------------------------------------

    def _increasing(self, function: Callable[[arb], arb]) -> Enclosure:
        """The image under an increasing function, evaluated at the endpoints."""
        with flint.ctx.workprec(WORKING_BITS):
            return Enclosure(function(self._low), function(self._high), self.assumptions)

    def __neg__(self) -> Enclosure:
        return Enclosure(self._high.neg(exact=True), self._low.neg(exact=True), self.assumptions)

    def __pos__(self) -> Enclosure:
        return self

    def __abs__(self) -> Enclosure:
        if self._low >= 0:
            return self
        if self._high <= 0:
            return -self
        return Enclosure(arb(0), _greatest([self._low.neg(exact=True), self._high]), self.assumptions)

    def __add__(self, other: Enclosure | Exact) -> Enclosure:
        b = enclose(other)
        with flint.ctx.workprec(WORKING_BITS):
            return Enclosure(self._low + b._low, self._high + b._high, self.assumptions | b.assumptions)

    def __sub__(self, other: Enclosure | Exact) -> Enclosure:
        return self + (-enclose(other))

    def __mul__(self, other: Enclosure | Exact) -> Enclosure:
        b = enclose(other)
        with flint.ctx.workprec(WORKING_BITS):
            corners = [x * y for x in self.endpoints for y in b.endpoints]
            low = _least([corner.lower() for corner in corners])
            high = _greatest([corner.upper() for corner in corners])
        return Enclosure(low, high, self.assumptions | b.assumptions)

    def reciprocal(self) -> Enclosure:
        """``1 / x``; raises :class:`NotCertified` unless 0 is excluded."""
        if not (self._low > 0 or self._high < 0):
            raise NotCertified(f"division by {self}, which is not certified to be different from 0")
        with flint.ctx.workprec(WORKING_BITS):
            return Enclosure(1 / self._high, 1 / self._low, self.assumptions)

    def __truediv__(self, other: Enclosure | Exact) -> Enclosure:
        return self * enclose(other).reciprocal()

    def __radd__(self, other: Exact) -> Enclosure:
        return self + other

    def __rsub__(self, other: Exact) -> Enclosure:
        return enclose(other) - self

    def __rmul__(self, other: Exact) -> Enclosure:
        return self * other

    def __rtruediv__(self, other: Exact) -> Enclosure:
        return enclose(other) / self

    def __pow__(self, exponent: int | Fraction) -> Enclosure:
        """``x ** exponent`` for an integer or a rational exponent (then ``x >= 0`` must be certain)."""
        if isinstance(exponent, bool) or not isinstance(exponent, int | Fraction):
            raise TypeError(f"the exponent {exponent!r} must be an int or a Fraction")
        power = Fraction(exponent)
        if power < 0:
            return (self ** (-power)).reciprocal()
        if power.denominator == 1:
            return self._integer_power(power.numerator)
        if not self._low >= 0:
            raise NotCertified(f"the power {power} of {self}, which is not certified to be nonnegative")
        if power.denominator == 2:
            return self.sqrt()._integer_power(power.numerator)
        quotient = flint.fmpq(power.numerator, power.denominator)
        return self._increasing(lambda x: (x.log() * quotient).exp() if x > 0 else x)

    def _integer_power(self, n: int) -> Enclosure:
        if n % 2 == 0:
            return abs(self)._increasing(lambda x: x**n)
        return self._increasing(lambda x: x**n)

    def sqrt(self) -> Enclosure:
        """The square root; raises :class:`NotCertified` unless ``x >= 0`` is certain."""
        if not self._low >= 0:
            raise NotCertified(f"the square root of {self}, which is not certified to be nonnegative")
        return self._increasing(lambda x: x.sqrt())

    def log(self) -> Enclosure:
        """The natural logarithm; raises :class:`NotCertified` unless ``x > 0`` is certain."""
        if not self._low > 0:
            raise NotCertified(f"the logarithm of {self}, which is not certified to be positive")
        return self._increasing(lambda x: x.log())

    def exp(self) -> Enclosure:
        """The exponential."""
        return self._increasing(lambda x: x.exp())

    def tanh(self) -> Enclosure:
        """The hyperbolic tangent."""
        return self._increasing(lambda x: x.tanh())

    def cosh(self) -> Enclosure:
        """The hyperbolic cosine."""
        return abs(self)._increasing(lambda x: x.cosh())

    def acosh(self) -> Enclosure:
        """The inverse hyperbolic cosine; raises :class:`NotCertified` unless ``x >= 1`` is certain."""
        if not self._low >= 1:
            raise NotCertified(f"acosh of {self}, which is not certified to be at least 1")
        return self._increasing(lambda x: x.acosh())

    def gamma(self) -> Enclosure:
        """Euler's gamma function on positive numbers, evaluated on one ball around the interval."""
        if not self._low > 0:
            raise NotCertified(f"gamma of {self}, which is not certified to be positive")
        with flint.ctx.workprec(WORKING_BITS):
            value = (self._low if self._low.overlaps(self._high) else self.ball).gamma()
        return Enclosure(value, value, self.assumptions)

    def ceil(self) -> Enclosure:
        """The least integer >= x."""
        low, high = (math.ceil(rational(end)) for end in self.endpoints)
        return Enclosure.between(low, high, self.assumptions)

    # -- comparisons --------------------------------------------------------------------------------

    def __lt__(self, other: Enclosure | Exact) -> bool:
        b = enclose(other)
        if self._high < b._low:
            return True
        if self._low >= b._high:
            return False
        raise Undecided(_overlap(self, "<", b))

    def __le__(self, other: Enclosure | Exact) -> bool:
        b = enclose(other)
        if self._high <= b._low:
            return True
        if self._low > b._high:
            return False
        raise Undecided(_overlap(self, "<=", b))

    def __gt__(self, other: Enclosure | Exact) -> bool:
        return enclose(other) < self

    def __ge__(self, other: Enclosure | Exact) -> bool:
        return enclose(other) <= self

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("== on an Enclosure has no answer; use certainly_less, contains or the endpoints")

    def __ne__(self, other: object) -> NoReturn:
        raise TypeError("!= on an Enclosure has no answer; use certainly_less, contains or the endpoints")

    def __bool__(self) -> NoReturn:
        raise TypeError("an Enclosure has no truth value; compare it, or test its endpoints")

    __hash__ = None  # type: ignore[assignment]

    # -- printing -----------------------------------------------------------------------------------

    def __str__(self) -> str:
        return f"[{self.lower_decimal(10)}, {self.upper_decimal(10)}]"

    def __repr__(self) -> str:
        assumed = f", assumptions={sorted(self.assumptions)}" if self.assumptions else ""
        return f"Enclosure({self.lower_decimal()}, {self.upper_decimal()}{assumed})"

    def _repr_html_(self) -> str:
        """The notebook view: the interval, outward-rounded, and what it assumes."""
        assumed = ", ".join(sorted(self.assumptions)) or "nothing"
        interval = f"<code>[{self.lower_decimal()}, {self.upper_decimal()}]</code>"
        return f"{interval} <small>assuming {assumed}</small>"


def _least(ends: list[arb]) -> arb:
    """The least of exact balls, unrounded; exact balls always compare, so the choice is right."""
    best = ends[0]
    for end in ends[1:]:
        if end < best:
            best = end
    return best


def _greatest(ends: list[arb]) -> arb:
    """The greatest of exact balls, unrounded."""
    best = ends[0]
    for end in ends[1:]:
        if end > best:
            best = end
    return best


def _overlap(a: Enclosure, relation: str, b: Enclosure) -> str:
    return f"{a} {relation} {b} is undecided: the enclosures overlap. Narrow them, or use certainly_less"


def _rebuild(low: tuple[int, int], high: tuple[int, int], assumptions: tuple[str, ...]) -> Enclosure:
    with flint.ctx.workprec(WORKING_BITS):
        ends = [_ball(Fraction(m) * Fraction(2) ** e) for m, e in (low, high)]
    return Enclosure(ends[0], ends[1], assumptions)


def enclose(value: Enclosure | Exact) -> Enclosure:
    """``value`` as an Enclosure."""
    return value if isinstance(value, Enclosure) else Enclosure.exact(value)


def certainly_less(a: Enclosure | Exact, b: Enclosure | Exact) -> bool:
    """True when every point of ``a`` is < every point of ``b``; False when not or when undecided."""
    return bool(enclose(a).endpoints[1] < enclose(b).endpoints[0])


def largest(values: Iterable[Enclosure]) -> Enclosure:
    """The maximum of numbers: ``[max of lower ends, max of upper ends]``."""
    items = list(values)
    if not items:
        raise ValueError("the maximum of no numbers")
    low = _greatest([item.endpoints[0] for item in items])
    high = _greatest([item.endpoints[1] for item in items])
    return Enclosure(low, high, frozenset().union(*(item.assumptions for item in items)))


def smallest(values: Iterable[Enclosure]) -> Enclosure:
    """The minimum of numbers: ``[min of lower ends, min of upper ends]``."""
    return -largest(-item for item in values)
