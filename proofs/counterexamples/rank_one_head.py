"""The head of Proposition N1, computed exactly: attention of rank one, every sign pattern.

Input (r, j) has two tokens (e_r, e_j, 1) and (e_r, 0, -1); the query-key matrix has only the block beta Omega
from the query part to the content part; the value is the last coordinate. All numbers are intervals that
contain the truth (mpmath, outward rounding).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

from mpmath import iv

Matrix = list[list[Any]]


def tokens(r: int, j: int, rows: int, columns: int) -> list[list[int]]:
    """The two tokens of input (r, j), each of length rows + columns + 1."""
    query = [int(k == r) for k in range(rows)]
    content = [int(k == j) for k in range(columns)]
    return [[*query, *content, 1], [*query, *[0] * columns, -1]]


def attention(omega: list[list[int]], r: int, j: int, beta: Fraction) -> Matrix:
    """The 2 x 2 attention matrix on input (r, j): softmax over the columns of x_a^T W x_b."""
    rows, columns = len(omega), len(omega[0])
    x = tokens(r, j, rows, columns)
    matrix: Matrix = []
    for a in x:
        scores = []
        for b in x:
            signed = sum(a[k] * omega[k][c] * b[rows + c] for k in range(rows) for c in range(columns))
            scores.append(iv.exp(iv.mpf(signed) * beta.numerator / beta.denominator))
        total = scores[0] + scores[1]
        matrix.append([score / total for score in scores])
    return matrix


def output(omega: list[list[int]], r: int, j: int, beta: Fraction) -> Any:
    """The head's output at the first position: weights times the value coordinates 1 and -1."""
    first = attention(omega, r, j, beta)[0]
    return first[0] - first[1]


def is_rank_one(matrix: Matrix) -> bool:
    """Both rows are the same row: computed from the same scores, they are identical intervals."""
    return all(a.a == b.a and a.b == b.b for a, b in zip(matrix[0], matrix[1], strict=True))


@lru_cache(maxsize=64)
def rademacher_complexity(rows: int, columns: int, beta: Fraction) -> Any:
    """Empirical Rademacher complexity on all rows*columns inputs, over all Omega in {-1, 1}^(rows x columns).

    All sign vectors and all Omega are enumerated. An output depends on Omega only through its entry at
    (r, j), so the signed sum is counted in integers first: one integer per output value.
    """
    m = rows * columns
    values = {}
    for sign in (1, -1):
        omega = [[sign] * columns for _ in range(rows)]
        outputs = [output(omega, r, j, beta) for r in range(rows) for j in range(columns)]
        values[sign] = outputs[0]
        if any(o.a != outputs[0].a or o.b != outputs[0].b for o in outputs):
            raise ArithmeticError("equal inputs gave unequal intervals")
    sums: dict[tuple[int, int], Any] = {}
    total = iv.mpf(0)
    for sigma in product((1, -1), repeat=m):
        best: Any = None
        for entries in product((1, -1), repeat=m):
            plus = sum(s for s, o in zip(sigma, entries, strict=True) if o == 1)
            minus = sum(s for s, o in zip(sigma, entries, strict=True) if o == -1)
            if (plus, minus) not in sums:
                sums[plus, minus] = plus * values[1] + minus * values[-1]
            value = sums[plus, minus]
            best = value if best is None else iv.mpf([max(best.a, value.a), max(best.b, value.b)])
        total += best
    return total / (m * 2**m)


def half_tanh(beta: Fraction) -> Any:
    """An interval that contains tanh(beta/2)."""
    power = iv.exp(iv.mpf(beta.numerator) / beta.denominator)
    return (power - 1) / (power + 1)
