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
    at_most,
    ball,
    binomial_cases,
    kl,
    largest,
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


def occam_binomial(case: tuple[int, Fraction, Fraction], factor: Fraction = Fraction(1)) -> Sides:
    """Theorem D-binomial: eight models of three bits; a model fails if its tail is below delta/8."""
    m, p, delta = case
    k = largest(m, lambda k: bool(at_most(k, m, p) < ball(factor * delta / 8)))
    return 1 - (1 - at_most(k, m, p)) ** 8, ball(delta)


def _moment(m: int) -> arb:
    return 2 + (arb.pi() * m / 2).sqrt()


def single_draw(case: tuple[int, Fraction, Fraction, Fraction], factor: Fraction = Fraction(1)) -> Sides:
    """E-single: two models with independent losses, prior 1/2 each; the better one is drawn with
    9 chances in 10.

    Exact probability over sample and draw that the drawn model's risk is above the bound.
    """
    m, p1, p2, delta = case
    failing, base = Fraction(0), (_moment(m) / ball(delta)).log()
    for k1, k2 in product(range(m + 1), repeat=2):
        chance = H if k1 == k2 else Fraction(9 if k1 < k2 else 1, 10)
        weight = comb(m, k1) * p1**k1 * (1 - p1) ** (m - k1) * comb(m, k2) * p2**k2 * (1 - p2) ** (m - k2)
        for k, p, share in ((k1, p1, chance), (k2, p2, 1 - chance)):
            cost = (ball(factor) * (ball(2 * share).log() + base) / m).max(arb(0))
            if Fraction(k, m) < p and kl(Fraction(k, m), p) > cost:
                failing += weight * share
    return ball(failing), ball(delta)


def learned_prior(
    case: tuple[int, int, Fraction, Fraction],
    factor: Fraction = Fraction(1),
    same_data: Fraction = Fraction(0),
) -> Sides:
    """E-split: the first part singles out one of n models with independent losses, which gets half of
    the prior.

    The posterior sits on any one model, chosen with the second part of m units: the bound must hold for all n
    at once. With ``same_data`` the prior is learned from the units that the bound is evaluated on.
    """
    n, m, p, delta = case

    def fails(weight: Fraction) -> arb:
        cost = ball(factor) * ((_moment(m) / ball(delta)).log() - ball(weight).log()) / m
        return at_most(largest(m, lambda k: Fraction(k, m) < p and bool(kl(Fraction(k, m), p) > cost)), m, p)

    chosen, other = fails(H + Fraction(1, 2 * n)), fails(Fraction(1, 2 * n))
    if same_data:
        return 1 - (1 - chosen) ** n, ball(delta)
    return 1 - (1 - chosen) * (1 - other) ** (n - 1), ball(delta)


PROPERTIES: dict[str, Property] = {
    "lemma-15": Property(
        "lemma-15",
        binomial_cases(30, Fraction(1, 10), Fraction(3, 10), H, Fraction(9, 10)),
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
        "lemma-16-moment",
        st.integers(1, 120),
        prior_moment,
        (1, 8000),
        False,
        {"factor": ONE},
        wrong={"factor": Fraction(9, 10)},
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
        ((1, Fraction(24, 25), Fraction(24, 25), Fraction(1, 20)),),
        False,
        {"factor": ONE},
        floor=-1,
        wrong={"factor": H},
    ),
    "theorem-d": Property(
        "theorem-d",
        binomial_cases(20, Fraction(1, 10), H, Fraction(9, 10)),
        occam_many,
        ((1, Fraction(9938, 10000), Fraction(1, 20)), (1, Fraction(99, 100), Fraction(1, 20))),
        False,
        {"factor": ONE},
        floor=0.9,
        wrong={"factor": Fraction(9, 10)},
    ),
    "theorem-d-binomial": Property(
        "theorem-d-binomial",
        binomial_cases(60, Fraction(1, 10), H, Fraction(9, 10)),
        occam_binomial,
        tuple((1, 1 - Fraction(n, 8 * 10**7), Fraction(1, 1000)) for n in (9999, 10005)),
        True,
        {"factor": ONE},
        larger_is_false=True,
    ),
    "theorem-e-single": Property(
        "theorem-e-single",
        st.tuples(
            st.integers(1, 8),
            st.sampled_from([Fraction(1, 50), H, Fraction(99, 100)]),
            st.sampled_from([Fraction(1, 5), H, Fraction(99, 100)]),
            st.sampled_from([H, Fraction(1, 20)]),
        ),
        single_draw,
        tuple((1, p, p, Fraction(1, 20)) for p in (Fraction(9915, 10000), Fraction(91, 100))),
        False,
        {"factor": ONE},
        floor=0.2,
        wrong={"factor": Fraction(1, 2)},
    ),
    "theorem-e-split": Property(
        "theorem-e-split",
        st.tuples(
            st.integers(2, 50),
            st.integers(1, 30),
            st.sampled_from([Fraction(1, 10), H, Fraction(99, 100)]),
            st.sampled_from([H, Fraction(1, 20)]),
        ),
        learned_prior,
        ((50, 1, Fraction(9925, 10000), Fraction(1, 20)),),
        False,
        {"factor": ONE, "same_data": Fraction(0)},
        floor=0.1,
        wrong={"same_data": ONE},
    ),
}
