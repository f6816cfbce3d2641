"""Lemmas 15 and 16, Theorems D and E, held-out sets: exact binomial sums."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

from flint import arb
from hypothesis import strategies as st

from tests.proofs.sides.common import (
    ONE,
    H,
    Property,
    Sides,
    ball,
    kl,
)


def occam(case: tuple[int, Fraction, Fraction], factor: Fraction = Fraction(1)) -> Sides:
    """One model of risk p: exact probability that kl(L-hat || p) > factor log(1/delta)/m."""
    m, p, delta = case
    c = ball(factor) * (1 / ball(delta)).log() / m
    fails = [k for k in range(m + 1) if Fraction(k, m) < p and kl(Fraction(k, m), p) > c]
    return ball(sum((comb(m, k) * p**k * (1 - p) ** (m - k) for k in fails), Fraction(0))), ball(delta)


def prior_moment(m: int, factor: Fraction = Fraction(1)) -> Sides:
    if m <= 300:
        total = sum(
            (ball(Fraction(comb(m, k) * k**k * (m - k) ** (m - k), m**m)) for k in range(m + 1)), arb(0)
        )
    else:
        total = arb(2)
        for k in range(1, m):
            log = arb(m + 1).lgamma() - arb(k + 1).lgamma() - arb(m - k + 1).lgamma()
            total += (log + k * ball(Fraction(k, m)).log() + (m - k) * ball(1 - Fraction(k, m)).log()).exp()
    return total, 2 + ball(factor) * (arb.pi() * m / 2).sqrt()


def pac_bayes(case: tuple[int, Fraction, Fraction, Fraction], factor: Fraction = Fraction(1)) -> Sides:
    """Two models with independent losses, uniform prior, eleven posteriors: exact failure probability."""
    m, p1, p2, delta = case
    cost = (2 + (arb.pi() * m / 2).sqrt()).log() - ball(delta).log()
    failing = Fraction(0)
    for k1, k2 in product(range(m + 1), repeat=2):
        for n in range(11):
            q = Fraction(n, 10)
            emp, risk = (q * k1 + (1 - q) * k2) / m, q * p1 + (1 - q) * p2
            entropy = kl(q, Fraction(1, 2))
            if kl(emp, risk) > ball(factor) * (entropy + cost) / m:
                failing += (
                    comb(m, k1) * p1**k1 * (1 - p1) ** (m - k1) * comb(m, k2) * p2**k2 * (1 - p2) ** (m - k2)
                )
                break
    return ball(failing), ball(delta)


def occam_many(case: tuple[int, Fraction, Fraction], factor: Fraction = Fraction(1)) -> Sides:
    """Eight models of three bits with independent losses: exact probability that one fails."""
    m, p, delta = case
    c = ball(factor) * ((8 / ball(delta)).log()) / m
    fails = sum(
        (
            comb(m, k) * p**k * (1 - p) ** (m - k)
            for k in range(m + 1)
            if Fraction(k, m) < p and kl(Fraction(k, m), p) > c
        ),
        Fraction(0),
    )
    return ball(1 - (1 - fails) ** 8), ball(delta)


PROPERTIES: dict[str, Property] = {
    "lemma-15": Property(
        "lemma-15",
        st.tuples(
            st.integers(1, 30),
            st.sampled_from([Fraction(1, 10), Fraction(3, 10), H, Fraction(9, 10)]),
            st.sampled_from([Fraction(1, 2), Fraction(1, 20)]),
        ),
        occam,
        (
            (10, Fraction(26, 100), Fraction(1, 20)),
            (1, Fraction(9501, 10000), Fraction(1, 20)),
            (1, Fraction(949, 1000), Fraction(1, 20)),
        ),
        True,
        {"factor": ONE},
    ),
    "lemma-16 moment": Property(
        "lemma-16-moment", st.integers(1, 120), prior_moment, (1, 8000), False, {"factor": ONE}
    ),
    "lemma-16": Property(
        "lemma-16",
        st.tuples(
            st.integers(1, 8),
            st.sampled_from([Fraction(1, 10), H]),
            st.sampled_from([Fraction(1, 5), H]),
            st.sampled_from([H, Fraction(1, 20)]),
        ),
        pac_bayes,
        (),
        False,
        {"factor": ONE},
        floor=-1,
    ),
    "theorem-d": Property(
        "theorem-d",
        st.tuples(
            st.integers(1, 20),
            st.sampled_from([Fraction(1, 10), H, Fraction(9, 10)]),
            st.sampled_from([H, Fraction(1, 20)]),
        ),
        occam_many,
        ((1, Fraction(9938, 10000), Fraction(1, 20)),),
        False,
        {"factor": ONE},
        floor=0.9,
    ),
}
