"""Enclosures contain what they should, print outward and evaluate bounds rigorously."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certify.errors import NotCertified, Undecided
from certify.kernel.bound import evaluate
from certify.kernel.enclosure import Enclosure, certainly_less, largest, smallest
from certify.kernel.inverses import binomial_tail
from tests import truth

exact, between = Enclosure.exact, Enclosure.between
FRACTIONS = st.fractions(min_value=-1000, max_value=1000, max_denominator=10**6)
PAIRS = st.tuples(FRACTIONS, FRACTIONS).map(sorted)


@given(PAIRS, PAIRS, st.fractions(0, 1), st.fractions(0, 1))
def test_arithmetic_contains_every_point(
    a: list[Fraction], b: list[Fraction], s: Fraction, t: Fraction
) -> None:
    A, B = between(*a), between(*b)
    x, y = a[0] + s * (a[1] - a[0]), b[0] + t * (b[1] - b[0])
    for value, number in ((A + B, x + y), (A - B, x - y), (A * B, x * y), (-A, -x), (abs(A), abs(x))):
        assert value.contains(number)
    assert (A**2).contains(x**2)
    assert (A**3).contains(x**3)
    assert (A**2).lower >= 0
    if b[0] > 0 or b[1] < 0:
        assert (A / B).contains(x / y)
        assert (B**-1).contains(1 / y)
    assert A.hull(B).contains(x)
    assert largest([A, B]).contains(max(x, y))
    assert smallest([A, B]).contains(min(x, y))
    assert math.ceil(x) == x or A.ceil().contains(math.ceil(x))


@given(FRACTIONS, st.integers(1, 30))
def test_decimals_and_floats_are_outward(x: Fraction, digits: int) -> None:
    value = exact(x)
    assert Fraction(value.lower_decimal(digits)) <= x <= Fraction(value.upper_decimal(digits))
    assert Fraction(value.lower) <= x <= Fraction(value.upper)
    assert math.nextafter(value.lower, math.inf) >= value.upper


@pytest.mark.parametrize("name", ["sqrt", "log", "exp", "tanh", "cosh", "acosh", "gamma"])
def test_functions_contain_the_exact_values(name: str) -> None:
    for low, high in (
        (Fraction(5, 4), Fraction(3, 2)),
        (Fraction(7, 3), Fraction(7, 3)),
        (Fraction(1), Fraction(9)),
    ):
        value = getattr(between(low, high), name)()
        for point in (low, (low + high) / 2, high):
            with flint.ctx.workprec(300):
                ball = flint.arb(flint.fmpz(point.numerator)) / flint.arb(flint.fmpz(point.denominator))
                number = getattr(ball, name)()
            assert truth.meets(number, *value.endpoints)
        if low == high:
            assert value.upper - value.lower <= 1e-14 * abs(value.upper)


def test_even_functions_around_zero() -> None:
    assert between(-2, 1).cosh().lower == 1
    assert (between(-2, 1) ** 2).contains(0)
    assert (between(0, 4) ** Fraction(1, 2)).contains(2)
    assert (between(0, 8) ** Fraction(1, 3)).contains(2)
    assert (between(1, 4) ** Fraction(3, 2)).contains(8)
    assert (between(1, 4) ** Fraction(-1, 2)).contains(Fraction(1, 2))


def test_exact_numbers_stay_exact() -> None:
    for value in (0, 1, -3, 0.5, 2**60, 1e300, "0.25", Fraction(7, 8)):
        number = exact(value)
        assert number.lower == number.upper == float(Fraction(value))
    assert exact("0.1").contains(Fraction(1, 10))
    assert not exact(0.1).contains(Fraction(1, 10))


def test_assumptions_travel() -> None:
    a, b = exact(2, ("binary64",)), exact(3, ("given by the user",))
    for value in (
        a + b,
        a - b,
        a * b,
        a / b,
        a.hull(b),
        largest([a, b]),
        evaluate("(add a (sqrt b))", {"a": a, "b": b}),
    ):
        assert value.assumptions == {"binary64", "given by the user"}
    assert "given by the user" in repr(b)
    assert "given by the user" in b._repr_html_()
    assert exact(1).with_assumptions("x", "y").assumptions == {"x", "y"}


def test_comparisons() -> None:
    assert exact(1) < 2
    assert not exact(2) < 2
    assert exact(2) <= 2
    assert exact(2) >= 2
    assert not exact(1) > 2
    assert certainly_less(1, between(2, 3))
    assert not certainly_less(between(1, 2), between(2, 3))
    with pytest.raises(Undecided):
        bool(between(0, 2) > 1)


def test_disjoint_enclosures_of_one_number_are_an_error() -> None:
    assert between(0, 2).intersection(between(1, 3)).contains(Fraction(3, 2))
    with pytest.raises(NotCertified):
        between(0, 1).intersection(between(2, 3))


CASES = {
    "(add 1 2 3)": 6,
    "(mul 2 3/4 (neg 1))": Fraction(-3, 2),
    "(div (sub 7 1) 4)": Fraction(3, 2),
    "(pow 4 3/2)": 8,
    "(pow 4 -1/2)": Fraction(1, 2),
    "(max 1 (min 5 3) 2)": 3,
    "(ceil 7/2)": 4,
    "(gamma 5)": 24,
    "(exp (log 3))": 3,
    "(tanh 0)": 0,
    "(cosh (acosh 2))": 2,
    "(kl_inverse 0 0)": 0,
    "(kl_inverse 1 3)": 1,
    "(binomial_tail_inverse 3 3 1/20)": 1,
    "(binomial_tail_inverse 0 1 1/20)": Fraction(19, 20),
    "(sqrt (mul x x))": 2,
}


@pytest.mark.parametrize("prefix", CASES)
def test_bounds_contain_their_values(prefix: str) -> None:
    value = evaluate(prefix, {"x": exact(2)})
    assert value.contains(CASES[prefix])
    assert value.upper - value.lower < 1e-12


def test_pi_and_wide_inputs() -> None:
    assert evaluate("(pi)", {}).contains(between("3.14159265358979323846", "3.14159265358979323847")) is False
    assert between("3.1415926535897932384", "3.1415926535897932385").contains(evaluate("(pi)", {}))
    value = evaluate("(div (sqrt (log (div 1 delta))) m)", {"delta": between("0.01", "0.05"), "m": exact(10)})
    assert value.contains(Enclosure.exact("0.1730819"))
    assert value.lower > 0.17
    assert value.upper < 0.22


@pytest.mark.parametrize(("k", "n"), [(0, 5), (3, 10), (9, 10), (30, 1000), (700, 1000)])
def test_binomial_tail_is_the_sum(k: int, n: int) -> None:
    for p in (Fraction(1, 64), Fraction(1, 2), Fraction(15, 16)):
        number = sum((math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1)), Fraction(0))
        with flint.ctx.workprec(192):
            ball = binomial_tail(k, n, flint.arb(p.numerator) / p.denominator)
        with flint.ctx.workprec(400):
            exact_number = flint.arb(flint.fmpz(number.numerator)) / flint.arb(flint.fmpz(number.denominator))
            assert ball.overlaps(exact_number)
            assert float(ball.rad()) < 1e-30


def test_binomial_inverse_of_a_large_sample() -> None:
    value = evaluate("(binomial_tail_inverse 30000 100000 1/20)", {})
    assert between("0.3023", "0.3025").contains(value)
