"""Theorems A and C1: small heads, weights on a grid, all signs enumerated."""

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
    best_on_average,
    positive,
    root,
    small,
    softmax,
)


def split(case: tuple[int, int, int], factor: Fraction = Fraction(1)) -> Sides:
    """The split of C1-joint: p + r against sqrt((1 + q^2) p^2 + (1 + q^2)/q^2 r^2)."""
    p, r, q = case
    inside = (1 + q * q) * (p * p + Fraction(r * r, q * q))
    return ball(p + r), ball(factor) * root(ball(inside))


def joint_head(case: list[list[int]], factor: Fraction = Fraction(1)) -> Sides:
    """Theorem C1-joint: scalar tokens, query 1, |V| <= 1 and |W| <= 2 on a grid, loss = output."""
    m = len(case)
    outputs = []
    for v, w in product((-1, Fraction(1, 2), 1), (-2, -1, 0, 1, 2)):
        row = []
        for x in case:
            p = softmax([Fraction(w * t) for t in x])
            row.append(ball(v) * sum((u * t for u, t in zip(p, x, strict=True)), arb(0)))
        outputs.append(row)
    squares = [Fraction(sum(t * t for t in x)) for x in case]
    a0 = root(ball(sum(squares))) / m
    c0 = (
        2
        * root(ball(sum(max(abs(t) for t in x) ** 2 * q for x, q in zip(case, squares, strict=True))))
        / (arb(2).sqrt() * m)
    )
    if not a0 > 0:
        return arb(0), arb(1)
    third = arb(1) / 3
    total = (a0**third) ** 2 + (c0**third) ** 2
    return best_on_average(outputs), ball(factor) * arb(2).sqrt() * total * total.sqrt()


def linear_head(case: list[list[int]], factor: Fraction = Fraction(1)) -> Sides:
    """complexity-a1: losses are lengths of two outputs; W on a grid of the Frobenius unit ball."""
    grid = [w for w in product((Fraction(-1, 2), 0, Fraction(1, 2)), repeat=4)] + [
        (1, 0, 0, 0),
        (0, 1, 0, 0),
        (0, 0, 1, 0),
    ]
    outputs = []
    for w in grid:
        outputs.append(
            [ball((x[0] * w[0] + x[1] * w[1]) ** 2 + (x[0] * w[2] + x[1] * w[3]) ** 2).sqrt() for x in case]
        )
    m = len(case)
    total = sum(x[0] ** 2 + x[1] ** 2 for x in case)
    return best_on_average(outputs), ball(factor) * arb(2).sqrt() * (2 * ball(total)).sqrt() / m


def softmax_head(case: list[list[int]], factor: Fraction = Fraction(1)) -> Sides:
    """complexity-c1-i: one-dimensional tokens, values 1 and -1, query 1; W on a grid of [-2, 2]."""
    m = len(case)
    grid = [Fraction(n, 2) for n in range(-4, 5)]
    outputs = []
    for w in grid:
        row = []
        for x, y in case:
            p = softmax([w * x, w * y])
            row.append(p[0] - p[1])
        outputs.append(row)
    total = sum((4 * Fraction((x - y) ** 2, 2) for x, y in case), Fraction(0))
    return best_on_average(outputs), ball(factor) * 2 * ball(total).sqrt() / (2 * m)


PROPERTIES: dict[str, Property] = {
    "lemma-split": Property(
        "lemma-split", st.tuples(positive, positive, positive), split, ((3, 12, 2),), True, {"factor": ONE}
    ),
    "theorem-c1-joint": Property(
        "theorem-c1-joint",
        st.lists(st.lists(small, min_size=2, max_size=2), min_size=1, max_size=3),
        joint_head,
        ([[1, -1]],),
        False,
        {"factor": ONE},
        floor=0.1,
    ),
    "complexity-a1": Property(
        "complexity-a1",
        st.lists(st.lists(small, min_size=2, max_size=2), min_size=2, max_size=3),
        linear_head,
        ([[1, 0]],),
        False,
        {"factor": ONE},
    ),
    "complexity-c1-i": Property(
        "complexity-c1-i",
        st.lists(st.lists(small, min_size=2, max_size=2), min_size=1, max_size=3),
        softmax_head,
        ([[1, -1]],),
        False,
        {"factor": ONE},
    ),
}
