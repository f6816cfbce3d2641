"""Decimals are rounded outward, keep the order, and are read back outward."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certify.decimals import (
    enclosed,
    float_above,
    float_below,
    outward,
    outward_arrays,
    round_down,
    round_up,
    short,
)  # fmt: skip
from certify.kernel.enclosure import Enclosure

finite = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=0.0, allow_nan=False, allow_infinity=False)


@given(finite, st.integers(1, 20))
def test_one_number_is_between_its_two_roundings(x: float, digits: int) -> None:
    low, high = round_down(x, digits), round_up(x, digits)
    assert Fraction(low) <= Fraction(x) <= Fraction(high)
    assert Fraction(float_below(low)) <= Fraction(low)
    assert float_above(high) == float("inf") or Fraction(float_above(high)) >= Fraction(high)


@given(st.lists(st.tuples(positive, positive), min_size=1, max_size=20))
def test_spectra_stay_enclosed_and_descending(ends: list[tuple[float, float]]) -> None:
    lower = np.array(sorted((min(e) for e in ends), reverse=True))
    upper = np.array(sorted((max(e) for e in ends), reverse=True))
    lows, ups = outward_arrays(lower, upper)
    assert all(Fraction(t) <= Fraction(float(x)) for t, x in zip(lows, lower, strict=True))
    assert all(Fraction(t) >= Fraction(float(x)) for t, x in zip(ups, upper, strict=True))
    for texts in (lows, ups):
        values = [Fraction(t) for t in texts]
        assert values == sorted(values, reverse=True)


@given(finite, finite)
def test_little_is_lost(a: float, b: float) -> None:
    low, high = outward(min(a, b), max(a, b))
    width = Fraction(max(a, b)) - Fraction(min(a, b))
    size = max(abs(Fraction(a)), abs(Fraction(b)))
    assert Fraction(high) - Fraction(low) <= width * Fraction(103, 100) + size * Fraction(3, 10**16)


@given(st.fractions(min_value=-(10**9), max_value=10**9), st.fractions(min_value=0, max_value=10**9))
def test_enclosures_are_written_outward(low: Fraction, width: Fraction) -> None:
    record = enclosed(Enclosure.between(low, low + width))
    assert Fraction(record["lower"]) <= low
    assert Fraction(record["upper"]) >= low + width


def test_exchanged_ends_are_refused() -> None:
    with pytest.raises(ValueError, match="above"):
        outward(2.0, 1.0)


def test_infinity_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be written"):
        round_up(Decimal("Infinity"))


def test_a_reader_sees_one_number_only_where_the_interval_is_narrow() -> None:
    assert short("1.99999999991", "2.00000000003") == "2"
    assert short("1.9", "2.1") == "[1.9, 2.1]"
    assert short("0", "0") == "0"
