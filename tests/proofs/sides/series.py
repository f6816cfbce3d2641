"""Lemmas 8 and 9 and Theorem B: matrices of size 2, all signs enumerated."""

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
    norm2,
    signs,
    small,
)

Matrices = list[list[list[int]]]


matrices = st.lists(
    st.lists(st.lists(small, min_size=2, max_size=2), min_size=2, max_size=2), min_size=1, max_size=5
)


SCALAR = [[[1, 0], [0, 0]]]


def _series(case: Matrices) -> tuple[list[arb], arb, Fraction]:
    """Norms of the signed sums for all signs, the variance v, and F^2."""
    norms = []
    for s in signs(len(case)):
        a, b, c, d = (
            sum((e * Fraction(m[i][j]) for e, m in zip(s, case, strict=True)), Fraction(0))
            for i, j in ((0, 0), (0, 1), (1, 0), (1, 1))
        )
        norms.append(norm2(a, b, c, d))
    left, right = [[Fraction(0)] * 2 for _ in range(2)], [[Fraction(0)] * 2 for _ in range(2)]
    for m in case:
        for i, j in product(range(2), repeat=2):
            left[i][j] += sum(m[i][k] * m[j][k] for k in range(2))
            right[i][j] += sum(m[k][i] * m[k][j] for k in range(2))
    v = norm2(*left[0], *left[1]).max(norm2(*right[0], *right[1]))
    return norms, v, Fraction(sum(x * x for m in case for row in m for x in row))


def matrix_series(case: Matrices, factor: Fraction = Fraction(1)) -> Sides:
    norms, v, f2 = _series(case)
    if f2 == 0:
        return arb(0), arb(1)
    bound = (2 * v * (2 * ball(f2) / v).log()).sqrt().min(ball(f2).sqrt())
    return sum(norms, arb(0)) / len(norms), ball(factor) * bound


def matrix_laplace(case: tuple[Matrices, Fraction], factor: Fraction = Fraction(1)) -> Sides:
    series, q = case
    norms, v, f2 = _series(series)
    if f2 == 0:
        return arb(0), arb(1)
    left = sum(((ball(q) * n).cosh() - 1 for n in norms), arb(0)) / len(norms)
    return left, ball(factor) * ball(f2) / v * ((ball(q) ** 2 * v / 2).exp() - 1)


def matrix_acosh(case: tuple[Matrices, Fraction], factor: Fraction = Fraction(1)) -> Sides:
    """lemma-8-acosh with both variances of the same norm bound v."""
    series, q = case
    norms, v, f2 = _series(series)
    if f2 == 0:
        return arb(0), arb(1)
    moment = 1 + ball(f2) / v * ((ball(q) ** 2 * v / 2).exp() - 1)
    return sum(norms, arb(0)) / len(norms), ball(factor) * moment.acosh() / ball(q)


def matrix_tail(case: tuple[Matrices, Fraction], factor: Fraction = Fraction(2)) -> Sides:
    series, ratio = case
    norms, v, f2 = _series(series)
    if f2 == 0:
        return arb(0), arb(1)
    t = (1 + ball(ratio)) * v.sqrt()
    share = Fraction(sum(not n < t for n in norms), len(norms))
    return ball(share), ball(factor) * ball(f2) / v * (-(t**2) / (2 * v)).exp()


def duality(case: tuple[list[list[int]], list[list[int]]], factor: Fraction = Fraction(1)) -> Sides:
    """<A, B> against the nuclear norm of A and the spectral norm of B, 2 x 2."""
    (a, b), (c, d) = case[0]
    determinant, square = abs(a * d - b * c), a * a + b * b + c * c + d * d
    nuclear = ball(square + 2 * determinant).sqrt()
    inner = sum(x * y for r, s in zip(*case, strict=True) for x, y in zip(r, s, strict=True))
    spectral = norm2(*(Fraction(x) for row in case[1] for x in row))
    return ball(inner), ball(factor) * nuclear * spectral


def bilinear(case: Matrices, factor: Fraction = Fraction(1)) -> Sides:
    """complexity-b1, loss = output: the supremum over the ball is the spectral norm of the signed sum."""
    left, right = matrix_series(case, factor)
    return left / len(case), right / len(case)


def vector_outputs(case: list[tuple[list[int], int]], factor: Fraction = Fraction(1)) -> Sides:
    """complexity-b2: two outputs, loss = output along u_i: the supremum is ||sum of e_i phi_i u_i^T||."""
    directions = ((ONE, Fraction(0)), (Fraction(0), ONE), (Fraction(3, 5), Fraction(4, 5)))
    m, left, second = len(case), arb(0), [Fraction(0)] * 3
    for pattern in signs(m):
        entries = [Fraction(0)] * 4
        for e, ((a, b), which) in zip(pattern, case, strict=True):
            u, v = directions[which]
            entries = [t + e * s for t, s in zip(entries, (a * u, a * v, b * u, b * v), strict=True)]
        left += norm2(*entries)
    for (a, b), _ in case:
        second = [t + s for t, s in zip(second, (a * a, a * b, b * b), strict=True)]
    total = 2 * (second[0] + second[2])
    if not total:
        return arb(0), arb(1)
    variance = ball(total / 2).max(2 * norm2(second[0], second[1], second[1], second[2]))
    norm = (2 * variance * (2 * ball(total) / variance).log()).sqrt().min(ball(total).sqrt())
    return left / (m * 2**m), ball(factor) * arb(2).sqrt() * norm / m


PROPERTIES: dict[str, Property] = {
    "lemma-8 laplace": Property(
        "lemma-8-laplace",
        st.tuples(matrices, st.sampled_from([Fraction(1, 10), ONE])),
        matrix_laplace,
        ((SCALAR, Fraction(1, 100)),),
        True,
        {"factor": ONE},
    ),
    "lemma-8b/min": Property("lemma-8-min", matrices, matrix_series, (SCALAR,), True, {"factor": ONE}),
    "lemma-8-acosh": Property(
        "lemma-8-acosh",
        st.tuples(matrices, st.sampled_from([Fraction(1, 10), ONE])),
        matrix_acosh,
        ((SCALAR, Fraction(1, 100)),),
        True,
        {"factor": ONE},
    ),
    "lemma-8b tail near": Property(
        "lemma-8b-tail-near",
        st.tuples(matrices, st.sampled_from([Fraction(-1), Fraction(-1, 2), Fraction(-1, 50)])),
        matrix_tail,
        ((SCALAR, Fraction(-1, 1000)),),
        False,
        {"factor": Fraction(2)},
        wrong={"factor": Fraction(8, 5)},
    ),
    "lemma-8b tail": Property(
        "lemma-8b-tail",
        st.tuples(matrices, st.sampled_from([Fraction(0), Fraction(1, 4), ONE])),
        matrix_tail,
        ((SCALAR, Fraction(0)),),
        False,
        {"factor": Fraction(2)},
        wrong={"factor": Fraction(8, 5)},
    ),
    "lemma-9": Property(
        "lemma-9-nuclear",
        st.tuples(*[st.lists(st.lists(small, min_size=2, max_size=2), min_size=2, max_size=2)] * 2),
        duality,
        (([[1, 0], [0, 0]], [[1, 0], [0, 0]]),),
        True,
        {"factor": ONE},
    ),
    "complexity-b1": Property("complexity-b1", matrices, bilinear, (SCALAR,), True, {"factor": ONE}),
    "complexity-b2": Property(
        "complexity-b2",
        st.lists(
            st.tuples(st.lists(small, min_size=2, max_size=2), st.integers(0, 2)), min_size=1, max_size=5
        ),
        vector_outputs,
        ([([1, 0], 0)],),
        False,
        {"factor": ONE},
        wrong={"factor": Fraction(49, 100)},
    ),
}
