"""Lemmas 12 and 13: softmax and attention maps."""

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
    dot,
    root,
    small,
    softmax,
)

scores = st.lists(
    st.sampled_from([Fraction(n, d) for n in (-800, -30, -3, -1, 0, 1, 2, 30, 800) for d in (1, 7)]),
    min_size=6,
    max_size=6,
)


def _softmax_change(case: list[Fraction]) -> tuple[list[arb], list[Fraction]]:
    n = len(case) // 2
    s, t = case[:n], case[n:]
    moved = [a - b for a, b in zip(softmax(s), softmax(t), strict=True)]
    return moved, [a - b for a, b in zip(s, t, strict=True)]


def softmax_l1(case: list[Fraction], factor: Fraction = Fraction(1, 2)) -> Sides:
    moved, change = _softmax_change(case)
    return sum((abs(x) for x in moved), arb(0)), ball(factor * (max(change) - min(change)))


def softmax_sup(case: list[Fraction], factor: Fraction = Fraction(1)) -> Sides:
    moved, change = _softmax_change(case)
    return sum((abs(x) for x in moved), arb(0)), ball(factor * max(abs(c) for c in change))


def softmax_l2(case: list[Fraction], factor: Fraction = Fraction(1, 2)) -> Sides:
    moved, change = _softmax_change(case)
    return root(sum((x * x for x in moved), arb(0))), ball(factor) * ball(dot(change, change)).sqrt()


def readout(case: list[Fraction], factor: Fraction = Fraction(1)) -> Sides:
    """Values 1, 0, ..., -1. ``factor`` multiplies 1/(2 sqrt 2)."""
    moved, change = _softmax_change(case)
    a = [1, *[0] * (len(moved) - 2), -1]
    left = abs(sum((x * v for x, v in zip(moved, a, strict=True)), arb(0)))
    return left, ball(factor) * 2 / (2 * arb(2).sqrt()) * ball(dot(change, change)).sqrt()


def attention_map(case: list[int], factor: Fraction = Fraction(1)) -> Sides:
    """Lemma 13(a), tokens +-1 and query 1 in one dimension: W, W', V, V' are numbers."""
    w, w1, v, v1 = (Fraction(x, 2) for x in case)
    p, q = softmax([w, -w]), softmax([w1, -w1])
    left = abs(ball(v) * (p[0] - p[1]) - ball(v1) * (q[0] - q[1]))
    return left, ball(factor) * ball(abs(v - v1) + abs(v1) * abs(w - w1))


def attention_input(case: list[int], factor: Fraction = Fraction(1)) -> Sides:
    """Lemma 13(b), two tokens +-1/2 in one dimension, W = w/2, V = 1, tokens moved by h = 1/100."""
    w, a, b = Fraction(case[0], 2), Fraction(case[1], 400), Fraction(case[2], 400)
    x, y = [Fraction(1, 2), Fraction(-1, 2)], [Fraction(1, 2) + a, Fraction(-1, 2) + b]
    moves = []
    for query, other in zip(x, y, strict=True):
        p, q = softmax([query * w * t for t in x]), softmax([other * w * t for t in y])
        moves.append(
            abs(
                sum((u * ball(t) for u, t in zip(p, x, strict=True)), arb(0))
                - sum((u * ball(t) for u, t in zip(q, y, strict=True)), arb(0))
            )
        )
    h = max(abs(a), abs(b))
    return moves[0].max(moves[1]), ball(factor * (1 + 2 * abs(w)) * h)


TIGHT_SOFTMAX = ([Fraction(1, 1000), Fraction(-1, 1000), Fraction(0), Fraction(0)], [Fraction(0)] * 6)


PROPERTIES: dict[str, Property] = {
    "lemma-12a": Property("lemma-12a-osc", scores, softmax_l1, TIGHT_SOFTMAX, True, {"factor": H}),
    "lemma-12a largest": Property("lemma-12a", scores, softmax_sup, TIGHT_SOFTMAX, True, {"factor": ONE}),
    "lemma-12b": Property("lemma-12b", scores, softmax_l2, TIGHT_SOFTMAX, True, {"factor": H}),
    "lemma-12c": Property("lemma-12c", scores, readout, TIGHT_SOFTMAX, True, {"factor": ONE}),
    "lemma-13a": Property(
        "lemma-13a",
        st.lists(small, min_size=4, max_size=4),
        attention_map,
        ([60, 60, 2, 1],),
        True,
        {"factor": ONE},
    ),
    "lemma-13b": Property(
        "lemma-13b",
        st.lists(small, min_size=3, max_size=3),
        attention_input,
        ([0, 1, 1],),
        True,
        {"factor": ONE},
    ),
}
