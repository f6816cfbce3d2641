"""Lemma 14: effective ranks of a spectrum."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb
from hypothesis import strategies as st

from tests.proofs.sides.common import (
    ONE,
    Property,
    Sides,
    ball,
)

spectra = st.lists(st.integers(0, 30), min_size=1, max_size=5).filter(any)


def _ranks(s: list[int]) -> dict[str, arb]:
    s = [x for x in s if x]
    top, one, two = max(s), sum(s), sum(x * x for x in s)
    entropy = -sum((ball(Fraction(x, one)) * ball(Fraction(x, one)).log() for x in s), arb(0))
    return {
        "stable": ball(Fraction(two, top**2)),
        "nuclear": ball(Fraction(one, top)),
        "participation": ball(Fraction(one**2, two)),
        "entropy": entropy.exp(),
        "rank": arb(len(s)),
    }


def rank_pair(low: str, high: str) -> Callable[..., Sides]:
    """Two neighbours of the chain."""

    def sides(case: list[int], factor: Fraction = Fraction(1)) -> Sides:
        ranks = _ranks(case)
        return ranks[low], ball(factor) * ranks[high]

    return sides


def nuclear_squared(case: list[int], factor: Fraction = Fraction(1)) -> Sides:
    ranks = _ranks(case)
    return ranks["nuclear"] ** 2, ball(factor) * ranks["rank"] * ranks["stable"]


PROPERTIES: dict[str, Property] = {
    "lemma-14a": Property(
        "lemma-14a", spectra, rank_pair("stable", "nuclear"), ([1, 1, 1],), True, {"factor": ONE}
    ),
    "lemma-14b": Property(
        "lemma-14b", spectra, rank_pair("nuclear", "participation"), ([1, 1],), True, {"factor": ONE}
    ),
    "lemma-14c": Property(
        "lemma-14c", spectra, rank_pair("participation", "entropy"), ([2, 2],), True, {"factor": ONE}
    ),
    "lemma-14d": Property(
        "lemma-14d", spectra, rank_pair("entropy", "rank"), ([3, 3, 0],), True, {"factor": ONE}
    ),
    "lemma-14e": Property("lemma-14e", spectra, nuclear_squared, ([3, 3, 0],), True, {"factor": ONE}),
}
