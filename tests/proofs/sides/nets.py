"""Lemmas 10 and 11 and Theorem C2."""

from __future__ import annotations

from fractions import Fraction

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


def net_distance(case: tuple[int, int, int], factor: Fraction = Fraction(1)) -> Sides:
    """lemma-c2-cover: tokens +-1, query 1, L = 1: the head V tanh(W) and its net point, eps = 1/100."""
    w, j, sign = Fraction(case[0], 20), case[1], case[2]
    largest_value, eps = Fraction(2) ** j, Fraction(1, 100)
    step_v, step_w = eps / 2, eps / (2 * largest_value)
    head = ball(largest_value + step_v) * ball(w + sign * step_w).tanh()
    return abs(head - ball(largest_value) * ball(w).tanh()), ball(factor * eps)


def covering(case: tuple[int, Fraction, Fraction], factor: Fraction = Fraction(1)) -> Sides:
    """Theorem C2 in the plane of scalar heads (W, V): exact probability that W = 0, V = 4 breaks it.

    Tokens (1, -1) have output 0, tokens (1, -1/2), which come with probability p, have output V/4 = 1;
    the loss is min(1, |output|). ``factor`` multiplies the entropy.
    """
    m, p, delta = case
    weights = arb(2).log() * 3 + arb(12).log()  # ranks 1 and 1, j = 0, j' = 2

    def breaks(k: int) -> bool:
        for resolution in range(1, 20):
            eps = Fraction(1, 2**resolution)
            nets = 4 * (1 + arb(2) ** (resolution + 5)).log()
            entropy = nets + weights + arb(resolution * (resolution + 1)).log() - ball(delta).log()
            start = Fraction(k, m) + eps
            if start < p - eps and kl(start, p - eps) > ball(factor) * entropy / m:
                return True
        return False

    return at_most(largest(m, breaks), m, p), ball(delta)


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
    "lemma-c2-cover": Property(
        "lemma-c2-cover",
        st.tuples(st.integers(-60, 60), st.integers(0, 3), st.sampled_from([1, -1])),
        net_distance,
        ((11, 3, 1),),
        False,
        {"factor": ONE},
        floor=0.6,
        wrong={"factor": Fraction(6, 10)},
    ),
    "theorem-c2": Property(
        "theorem-c2",
        binomial_cases(2000, Fraction(1, 10), H, Fraction(9, 10)),
        covering,
        ((10**5, Fraction(1, 10), Fraction(1, 20)),),
        False,
        {"factor": ONE},
        floor=-1,
        wrong={"factor": Fraction(1, 100)},
    ),
}
