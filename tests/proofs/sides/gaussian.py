"""Lemmas 17 and 18 and Theorem C3: Gaussian noise."""

from __future__ import annotations

from fractions import Fraction

from flint import arb
from hypothesis import strategies as st

from tests.proofs.sides.common import (
    ONE,
    H,
    Property,
    Sides,
    ball,
    positive,
)


def gaussian_entropy(case: tuple[int, int, int], factor: Fraction = Fraction(1, 2)) -> Sides:
    """Lemma 17, free variance: the entropy at the best prior variance against dist^2/(2 s^2)."""
    dimension, s, dist = case
    left = ball(Fraction(dimension, 2)) * (1 + ball(Fraction(dist**2, dimension * s**2))).log()
    return left, ball(factor * Fraction(dist**2, s**2))


def gaussian_maximum(case: tuple[int, Fraction], factor: Fraction = Fraction(1)) -> Sides:
    """N independent standard Gaussians: exact P(max |g| > u) at u = factor sqrt(2 log(N/eta))."""
    n, eta = case
    u = ball(factor) * (2 * (arb(n) / ball(eta)).log()).sqrt()
    tail = (u / arb(2).sqrt()).erfc()
    return tail if n == 1 else 1 - (1 - tail) ** n, ball(eta)


PROPERTIES: dict[str, Property] = {
    "lemma-17 free": Property(
        "lemma-17-free",
        st.tuples(positive, positive, st.integers(0, 9)),
        gaussian_entropy,
        ((10**6, 10, 1),),
        True,
        {"factor": H},
    ),
    "lemma-18": Property(
        "lemma-18",
        st.tuples(st.integers(1, 20), st.sampled_from([Fraction(1, 2), Fraction(1, 20), ONE])),
        gaussian_maximum,
        ((1, Fraction(999999, 1000000)), (1, Fraction(1, 10**140))),
        True,
        {"factor": ONE},
    ),
}
