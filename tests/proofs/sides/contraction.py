"""Lemmas 4 to 7: finite classes, all signs enumerated."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from flint import arb
from hypothesis import strategies as st

from tests.proofs.sides.common import (
    ONE,
    Property,
    Sides,
    ball,
    dot,
    signs,
    small,
)

vectors = st.lists(st.lists(small, min_size=3, max_size=3), min_size=2, max_size=4)


members = st.lists(st.tuples(small, st.integers(0, 5)), min_size=1, max_size=5)


def massart(case: list[list[int]], inside: Fraction = Fraction(2)) -> Sides:
    n = len(case[0])
    best = Fraction(sum(max(dot(s, v) for v in case) for s in signs(n)), 2**n)
    length = ball(max(dot(v, v) for v in case)).sqrt()
    return ball(best), length * (ball(inside) * arb(len(case)).log()).sqrt()


def khintchine(case: list[int], factor: Fraction = Fraction(1)) -> Sides:
    """``factor`` multiplies sqrt(2)."""
    mean = Fraction(sum(abs(dot(s, case)) for s in signs(len(case))), 2 ** len(case))
    return ball(dot(case, case)).sqrt(), ball(factor) * arb(2).sqrt() * ball(mean)


def contraction(case: list[list[int]], factor: Fraction = Fraction(1)) -> Sides:
    """Absolute values and positive parts are 1-Lipschitz; the identity is the tight case."""
    n = len(case[0])
    maps = [abs, lambda x: max(x, 0), lambda x: x]
    left = sum(max(sum(e * maps[i % 3](v[i]) for i, e in enumerate(s)) for v in case) for s in signs(n))
    right = sum(max(dot(s, v) for v in case) for s in signs(n))
    return ball(Fraction(left, 2**n)), ball(factor * Fraction(right, 2**n))


def pair_modulus(case: list[tuple[int, int]], factor: Fraction = Fraction(1)) -> Sides:
    """Members (F, G): the best pair with the modulus of F - F' against the best pair without it."""
    with_modulus = max(abs(f - k) + g + h for (f, g), (k, h) in product(case, repeat=2))
    without = max(f - k + g + h for (f, g), (k, h) in product(case, repeat=2))
    return ball(with_modulus), ball(factor * without)


def pair_sign(case: list[tuple[int, int]], factor: Fraction = Fraction(1)) -> Sides:
    """Members (F, G): both signs written out, against the best pair."""
    average = sum((Fraction(max(e * f + g for f, g in case), 2) for e in (1, -1)), Fraction(0))
    best = max(f - k + g + h for (f, g), (k, h) in product(case, repeat=2))
    return ball(2 * average), ball(factor * best)


def mirrored(case: list[list[int]], factor: Fraction = Fraction(1)) -> Sides:
    """Signs and their negatives: the averages of the best signed sums."""
    n = len(case[0])
    left = sum(max(-dot(s, v) for v in case) for s in signs(n))
    return ball(Fraction(left, 2**n)), ball(
        factor * Fraction(sum(max(dot(s, v) for v in case) for s in signs(n)), 2**n)
    )


def vector_contraction(case: list[list[int]], factor: Fraction = Fraction(1)) -> Sides:
    """Vectors (a, b | c, d) at two units; the losses are their lengths. ``factor`` multiplies sqrt(2)."""
    units = len(case[0]) // 2
    left = arb(0)
    for s in signs(units):
        values = [
            sum((e * ball(v[2 * i] ** 2 + v[2 * i + 1] ** 2).sqrt() for i, e in enumerate(s)), arb(0))
            for v in case
        ]
        best = values[0]
        for value in values[1:]:
            best = best.max(value)
        left += best
    right = Fraction(sum(max(dot(s, v) for v in case) for s in signs(2 * units)), 2 ** (2 * units))
    return left / 2**units, ball(factor) * arb(2).sqrt() * ball(right)


PROPERTIES: dict[str, Property] = {
    "lemma-4": Property(
        "lemma-4",
        vectors,
        massart,
        ([list(s) for s in signs(6)],),
        False,
        {"inside": Fraction(2)},
        wrong={"inside": Fraction(7, 5)},
    ),
    "lemma-5": Property("lemma-5", vectors, contraction, ([[0, 0, 1], [0, 0, -1]],), True, {"factor": ONE}),
    "lemma-6": Property(
        "lemma-6-vector",
        st.lists(small, min_size=1, max_size=7),
        khintchine,
        ([1, 1],),
        True,
        {"factor": ONE},
    ),
    "lemma-7": Property(
        "lemma-7",
        st.lists(st.lists(small, min_size=4, max_size=4), min_size=2, max_size=3),
        vector_contraction,
        ([[1, 1], [0, 0]],),
        True,
        {"factor": ONE},
    ),
    "lemma-drop-modulus": Property(
        "lemma-drop-modulus", members, pair_modulus, ([(3, 1), (-1, 2)],), True, {"factor": ONE}
    ),
    "lemma-one-sign": Property(
        "lemma-one-sign", members, pair_sign, ([(3, 1), (-1, 2)],), True, {"factor": ONE}
    ),
    "lemma-mirror": Property(
        "lemma-mirror", vectors, mirrored, ([[1, 2, 3], [0, 0, -1]],), True, {"factor": ONE}
    ),
}
