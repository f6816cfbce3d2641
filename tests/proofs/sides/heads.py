"""Theorems A and C1: small heads, weights on a grid, all signs enumerated."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from flint import arb
from hypothesis import strategies as st

from tests.proofs.sides.common import (
    ONE,
    H,
    Property,
    Sides,
    ball,
    best_on_average,
    dot,
    norm2,
    positive,
    root,
    signs,
    small,
    softmax,
)


def split(case: tuple[int, int, int], factor: Fraction = Fraction(1)) -> Sides:
    """The split of C1-joint: p + r against sqrt((1 + q^2) p^2 + (1 + q^2)/q^2 r^2)."""
    p, r, q = case
    inside = (1 + q * q) * (p * p + Fraction(r * r, q * q))
    return ball(p + r), ball(factor) * root(ball(inside))


def joint_head(case: list[list[int]], factor: Fraction = Fraction(1)) -> Sides:
    """complexity-c1-joint: scalar tokens, query 1, |V| <= 1 and |W| <= 2 on a grid, loss = output."""
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


def scalar_readout(case: list[list[int]], factor: Fraction = Fraction(1)) -> Sides:
    """complexity-a1-scalar, loss = output: the supremum over the ball is the length of the sum."""
    m, total = len(case), arb(0)
    for pattern in signs(m):
        total += root(
            ball(sum(sum(e * x[k] for e, x in zip(pattern, case, strict=True)) ** 2 for k in (0, 1)))
        )
    return total / (m * 2**m), ball(factor) * root(ball(sum(dot(x, x) for x in case))) / m


Attention = tuple[Fraction, Fraction, list[int]]
shares = st.sampled_from([Fraction(0), Fraction(1, 3), H, ONE])
frozen = st.lists(st.tuples(shares, shares, st.lists(small, min_size=4, max_size=4)), min_size=1, max_size=4)


def frozen_attention(case: list[Attention], factor: Fraction = Fraction(1)) -> Sides:
    """Theorem A2: two tokens in the plane, one output, loss = mean of both rows times sqrt(2).

    The supremum over the unit ball is again the length of a signed sum.
    """
    m, readouts = len(case), []
    spectral = rank = tokens = arb(0)
    for p, q, (a, b, c, d) in case:
        norm = norm2(p, 1 - p, q, 1 - q)
        spectral, tokens = spectral.max(norm), tokens.max(norm2(*(Fraction(t) for t in (a, b, c, d))))
        rank = rank.max(ball(p**2 + (1 - p) ** 2 + q**2 + (1 - q) ** 2) / norm**2)
        weights = (p + q, 2 - p - q)
        readouts.append((weights[0] * a + weights[1] * c, weights[0] * b + weights[1] * d))
    left, _ = scalar_readout(readouts)  # type: ignore[arg-type]
    return left / arb(2).sqrt(), ball(factor) * arb(2).sqrt() * spectral * tokens * (rank / m).sqrt()


DIRECTIONS = [
    (ONE, Fraction(0)),
    (Fraction(0), ONE),
    (Fraction(3, 5), Fraction(4, 5)),
    (Fraction(3, 5), Fraction(-4, 5)),
]
planar = st.lists(st.lists(st.integers(-2, 2), min_size=6, max_size=6), min_size=1, max_size=3)


def nuclear_head(case: list[list[int]], factor: Fraction = Fraction(1)) -> Sides:
    """complexity-c1-ii: query and two tokens in the plane, values 1 and -1; W = u v^T/4, nuclear norm 1/4."""
    outputs, m = [], len(case)
    for (a, b), (c, d), sign in product(DIRECTIONS, DIRECTIONS, (1, -1)):
        row = []
        for q1, q2, x1, x2, y1, y2 in case:
            gap = sign * (q1 * a + q2 * b) * ((x1 - y1) * c + (x2 - y2) * d) / 4
            row.append((ball(gap) / 2).tanh())
        outputs.append(row)
    queries, keys, total = [Fraction(0)] * 3, [Fraction(0)] * 3, Fraction(0)
    for q1, q2, x1, x2, y1, y2 in case:  # osc^2/4 = 1; centred at the mean, Xc has rows +-(x - y)/2
        u, v = x1 - y1, x2 - y2
        size, query = Fraction(u * u + v * v, 2), q1 * q1 + q2 * q2
        queries = [t + size * s for t, s in zip(queries, (q1 * q1, q1 * q2, q2 * q2), strict=True)]
        keys = [t + query * Fraction(s, 2) for t, s in zip(keys, (u * u, u * v, v * v), strict=True)]
        total += query * size
    if not total:
        return arb(0), arb(1)
    first, second = (norm2(s[0], s[1], s[1], s[2]) for s in (queries, keys))
    variance = first.max(second)
    norm = (2 * variance * (2 * ball(total) / variance).log()).sqrt().min(ball(total).sqrt())
    return best_on_average(outputs), ball(factor) * norm / (4 * m)


PROPERTIES: dict[str, Property] = {
    "lemma-split": Property(
        "lemma-split", st.tuples(positive, positive, positive), split, ((3, 12, 2),), True, {"factor": ONE}
    ),
    "complexity-c1-joint": Property(
        "complexity-c1-joint",
        st.lists(st.lists(small, min_size=2, max_size=2), min_size=1, max_size=3),
        joint_head,
        ([[1, -1]],),
        False,
        {"factor": ONE},
        floor=0.1,
        wrong={"factor": Fraction(14, 100)},
    ),
    "complexity-a1": Property(
        "complexity-a1",
        st.lists(st.lists(small, min_size=2, max_size=2), min_size=2, max_size=3),
        linear_head,
        ([[1, 0]],),
        False,
        {"factor": ONE},
        wrong={"factor": Fraction(24, 100)},
    ),
    "complexity-c1-i": Property(
        "complexity-c1-i",
        st.lists(st.lists(small, min_size=2, max_size=2), min_size=1, max_size=3),
        softmax_head,
        ([[1, -1]],),
        False,
        {"factor": ONE},
        wrong={"factor": Fraction(1, 3)},
    ),
    "complexity-a1-scalar": Property(
        "complexity-a1-scalar",
        st.lists(st.lists(small, min_size=2, max_size=2), min_size=1, max_size=5),
        scalar_readout,
        ([[3, 4]],),
        True,
        {"factor": ONE},
    ),
    "theorem-a2": Property(
        "theorem-a2",
        frozen,
        frozen_attention,
        ([(ONE, ONE, [1, 0, 0, 0])],),
        False,
        {"factor": ONE},
        floor=0.7,
        wrong={"factor": Fraction(7, 10)},
    ),
    "complexity-c1-ii": Property(
        "complexity-c1-ii",
        planar,
        nuclear_head,
        ([[1, 0, 1, 0, 0, 0]],),
        False,
        {"factor": ONE},
        floor=0.6,
        wrong={"factor": Fraction(2, 3)},
    ),
}
