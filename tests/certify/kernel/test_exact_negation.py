"""Negation must not round: at FLINT's default 53 bits, ``-x`` of a longer number is a ball with a radius,
and a comparison of that ball with a near neighbour is undecided, which ``abs`` once took for "smaller"."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

from certify.kernel.enclosure import Enclosure, largest, smallest

TINY = Fraction(1, 2**100)


def test_absolute_value_keeps_the_larger_end() -> None:
    assert abs(Enclosure.between(-(1 + TINY), 1)).contains(1 + TINY)
    assert abs(Enclosure.between(-1, 1 + TINY)).contains(1 + TINY)


def test_negation_and_difference_lose_nothing() -> None:
    number = Enclosure.exact(1 + TINY)
    assert (-number).endpoints[0].is_exact()
    assert number.contains(-(-number))  # noqa: B002
    difference = number - 1
    assert difference.contains(TINY)
    assert Enclosure.exact(TINY).contains(difference)


def test_extremes_are_exact() -> None:
    items = [Enclosure.exact(1), Enclosure.exact(1 + TINY)]
    assert Enclosure.exact(1 + TINY).contains(largest(items))
    assert Enclosure.exact(1).contains(smallest(items))


def test_a_library_that_does_not_negate_is_refused() -> None:
    """python-flint 0.7 and 0.8 return the ball itself: -2 would get the lower end +2."""
    program = """
import flint
class Old(flint.arb):
    def neg(self, exact=False):
        return self
flint.arb = Old
from certify.errors import NotCertified
try:
    import certify.kernel.enclosure
except NotCertified as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "does not negate exactly" in done.stdout
    assert "install python-flint 0.9" in done.stdout
