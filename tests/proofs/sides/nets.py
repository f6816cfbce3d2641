"""Lemmas 10 and 11 and Theorem C2."""

from __future__ import annotations

from fractions import Fraction

from flint import arb
from hypothesis import strategies as st

from tests.proofs.sides.common import (
    ONE,
    Property,
    Sides,
    ball,
    positive,
)


def dudley_integral(case: tuple[int, int], factor: Fraction = Fraction(1)) -> Sides:
    """Integral of sqrt(log(1 + C/u)) over (0, c/2], by a lower sum, against (c/2) sqrt(log(e (1 + 2C/c)))."""
    big, c = case
    half, steps = ball(Fraction(c, 2)), 400
    left = arb(0)
    for n in range(1, steps + 1):  # the integrand decreases, so right ends give a lower sum
        left += (1 + arb(big) * steps / (half * n)).log().sqrt() * half / steps
    return left, ball(factor) * half * (1 + (1 + arb(big) / half).log()).sqrt()


def product_rule(case: tuple[int, ...], factor: Fraction = Fraction(2)) -> Sides:
    """Scalars: |p q - p' q'| for |p|, |q'| <= sqrt(s) = 10 moved by eta sqrt(s)."""
    p, q, dp, dq = case
    eta = max(abs(dp), abs(dq)) / Fraction(10)
    return ball(abs(p * q - (p - dp) * (q - dq))), ball(factor * 100 * eta)


PROPERTIES: dict[str, Property] = {
    "lemma-10 closed": Property(
        "lemma-10-closed",
        st.tuples(positive, positive),
        dudley_integral,
        ((10**6, 1), (10**60, 1)),
        True,
        {"factor": ONE},
    ),
    "lemma-11b product": Property(
        "lemma-11b-product",
        st.tuples(*[st.integers(-10, 10)] * 2, *[st.integers(-3, 3)] * 2).filter(
            lambda c: abs(c[0] - c[2]) <= 10
        ),
        product_rule,
        ((10, 10, Fraction(1, 1000), Fraction(1, 1000)),),
        True,
        {"factor": Fraction(2)},
    ),
}
