"""Lemma 19: singular values of a 2 x 2 matrix from the defects of any factors."""

from __future__ import annotations

from fractions import Fraction

from flint import arb
from hypothesis import strategies as st

from tests.proofs.sides.common import ONE, Property, Sides, ball, norm2

Matrix = tuple[Fraction, Fraction, Fraction, Fraction]
"""Rows first: (a, b, c, d) is [[a, b], [c, d]]."""
Case = tuple[Matrix, Matrix, tuple[Fraction, Fraction], Matrix]
"""U, V, the reported values in decreasing order, and A."""
IDENTITY = (ONE, Fraction(0), Fraction(0), ONE)
ZERO = (Fraction(0),) * 4

near_one = st.builds(
    lambda x: (ONE + x[0], x[1], x[2], ONE + x[3]),
    st.tuples(*[st.fractions(Fraction(-1, 5), Fraction(1, 5), max_denominator=40)] * 4),
)
values = st.tuples(st.integers(0, 6), st.integers(0, 6)).map(lambda p: (Fraction(max(p)), Fraction(min(p))))
matrices = st.tuples(*[st.fractions(-3, 3, max_denominator=10)] * 4)
cases: st.SearchStrategy[Case] = st.tuples(near_one, near_one, values, matrices)


def product(x: Matrix, y: Matrix) -> Matrix:
    return (
        x[0] * y[0] + x[1] * y[2],
        x[0] * y[1] + x[1] * y[3],
        x[2] * y[0] + x[3] * y[2],
        x[2] * y[1] + x[3] * y[3],
    )


def transposed(x: Matrix) -> Matrix:
    return (x[0], x[2], x[1], x[3])


def minus(x: Matrix, y: Matrix) -> Matrix:
    return (x[0] - y[0], x[1] - y[1], x[2] - y[2], x[3] - y[3])


def singular_values(x: Matrix) -> tuple[arb, arb]:
    """Both singular values: the first is the norm, their product is the modulus of the determinant."""
    top = norm2(*x)
    return (arb(0), arb(0)) if x == ZERO else (top, ball(abs(x[0] * x[3] - x[1] * x[2])) / top)


def defects(case: Case) -> tuple[arb, arb, arb]:
    """Spectral norms of V^T V - I, U^T U - I and U diag(s) V^T - A."""
    u, v, (first, second), a = case
    scaled = product(u, (first, Fraction(0), Fraction(0), second))
    residual = minus(product(scaled, transposed(v)), a)
    return (
        norm2(*minus(product(transposed(v), v), IDENTITY)),
        norm2(*minus(product(transposed(u), u), IDENTITY)),
        norm2(*residual),
    )


def upper(case: Case, factor: Fraction = ONE) -> Sides:
    """The larger singular value and its upper end; the smaller one where it is nearer to its end."""
    right, left, residual = defects(case)
    stretch = ((1 + right) * (1 + left)).sqrt()
    pairs = [
        (sigma, ball(factor) * (ball(s) * stretch + residual))
        for sigma, s in zip(singular_values(case[3]), case[2], strict=True)
    ]
    return max(pairs, key=lambda pair: float((pair[0] - pair[1]).mid()))


def lower(case: Case, factor: Fraction = ONE) -> Sides:
    """The lower end and the singular value; nothing is claimed where a defect exceeds 1."""
    right, left, residual = defects(case)
    if not (right <= 1 and left <= 1):
        return arb(0), arb(0)
    shrink = ((1 - right) * (1 - left)).max(arb(0)).sqrt()
    pairs = [
        (ball(s) * shrink - residual, ball(factor) * sigma)
        for sigma, s in zip(singular_values(case[3]), case[2], strict=True)
    ]
    return max(pairs, key=lambda pair: float((pair[0] - pair[1]).mid()))


def rest(case: Case, factor: Fraction = ONE) -> Sides:
    """One column each is kept, so the second singular value has nothing reported."""
    u, v, (first, _), a = case
    scaled = product(u, (first, Fraction(0), Fraction(0), Fraction(0)))
    residual = norm2(*minus(product(scaled, transposed(v)), a))
    return singular_values(a)[1], ball(factor) * residual


_EXACT: Case = (IDENTITY, IDENTITY, (Fraction(3), ONE), (Fraction(3), Fraction(0), Fraction(0), ONE))
PROPERTIES: dict[str, Property] = {
    "lemma-19-upper": Property("lemma-19-upper", cases, upper, (_EXACT,), True, {"factor": ONE}),
    "lemma-19-lower": Property("lemma-19-lower", cases, lower, (_EXACT,), True, {"factor": ONE}),
    "lemma-19-rest": Property("lemma-19-rest", cases, rest, (_EXACT,), True, {"factor": ONE}),
}
