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
    at_most,
    ball,
    binomial_cases,
    kl,
    largest,
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


def margin_noise(case: tuple[str, int, int, Fraction], factor: Fraction = Fraction(1)) -> Sides:
    """lemma-c3-noise for one matrix at a time: tokens +-1, query 1, margin v tanh(w), gamma = 1.

    Exact probability that the margin moves by more than 1/2. ``factor`` multiplies the allowed moves, so
    that a smaller one allows more noise.
    """
    which, scale, place, eta = case
    v, w = ball(scale), ball(Fraction(place, 4))
    if which == "values":
        level = 1 / (4 * ball(factor) * (-ball(eta).log()).sqrt())
        spread = arb(2).sqrt() * level * abs(w.tanh())
        return (1 / (2 * spread * arb(2).sqrt())).erfc() if spread > 0 else arb(0), ball(eta)
    level = 1 / (2 * v * ball(factor) * (2 * (2 / ball(eta)).log()).sqrt())
    return _leaves(w, 1 / (2 * v), level), ball(eta)


def _leaves(w: arb, distance: arb, level: arb) -> arb:
    """P(|tanh(w + level g) - tanh(w)| > distance) for a standard Gaussian g."""
    total = arb(0)
    for side in (1, -1):
        edge = w.tanh() + side * distance
        if abs(edge) < 1:
            total += (side * (edge.atanh() - w) / (level * arb(2).sqrt())).erfc() / 2
    return total


def margin_bound(case: tuple[int, Fraction, Fraction], factor: Fraction = Fraction(1)) -> Sides:
    """Theorem C3 for W = 1, V columns +-v/2, margin v tanh(1) = 1001/1000 or, with probability p, minus that.

    gamma = 1, eta_1 = eta_2 = 1/10000, noise levels the largest of the grid 2^(-i/4). Exact probability that
    this head breaks the bound; ``factor`` multiplies the relative entropy and the logarithms.
    """
    m, p, delta = case
    eta = Fraction(1, 10000)
    v = ball(Fraction(1001, 1000)) / arb(1).tanh()
    first = _level(1 / (4 * v * (2 * (2 / ball(eta)).log()).sqrt()))
    second = _level(1 / (8 * (-ball(eta).log()).sqrt()))
    cost = (
        1 / (2 * first[0] ** 2)
        + v**2 / (4 * second[0] ** 2)
        + ((2 + (arb.pi() * m / 2).sqrt()) / ball(delta)).log()
    )
    cost += sum((arb((i + 1) * (i + 2)).log() for _, i in (first, second)), arb(0))

    def breaks(k: int) -> bool:
        start, end = Fraction(k, m) + 2 * eta, p * (1 - 2 * eta)
        return start < end and bool(kl(start, end) > ball(factor) * cost / m)

    return at_most(largest(m, breaks), m, p), ball(delta)


def _level(most: arb) -> tuple[arb, int]:
    """The largest 2^(-j/4) that is at most ``most`` < 1, and the zig-zag index 2j."""
    j = 0
    while not (arb(2).root(4)) ** -j < most:
        j += 1
    return arb(2).root(4) ** -j, 2 * j


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
    "lemma-c3-noise": Property(
        "lemma-c3-noise",
        st.tuples(
            st.sampled_from(["scores", "values"]),
            st.integers(1, 9),
            st.integers(-8, 8),
            st.sampled_from([H, Fraction(1, 20), Fraction(999, 1000)]),
        ),
        margin_noise,
        (("values", 1, 400, Fraction(999999, 1000000)), ("values", 1, 400, Fraction(1, 10**140))),
        True,
        {"factor": ONE},
    ),
    "theorem-c3": Property(
        "theorem-c3",
        binomial_cases(5000, Fraction(1, 20), H, Fraction(9, 10)),
        margin_bound,
        ((20000, Fraction(1, 20), Fraction(1, 20)),),
        False,
        {"factor": ONE},
        floor=-1,
        wrong={"factor": Fraction(1, 1000)},
    ),
}
