"""Exact truth about small matrices: singular values and effective ranks as balls of more than 200 bits.

A float matrix is an integer matrix times a power of two, so A^T A has an exact integer characteristic
polynomial, whose roots FLINT isolates with multiplicities. Nothing here uses the package under test.
"""

from __future__ import annotations

import functools
from fractions import Fraction

import flint
import numpy as np

arb = flint.arb
BITS = 320


def dyadic(x: float) -> tuple[int, int]:
    """x = mantissa * 2^exponent with integers."""
    numerator, denominator = float(x).as_integer_ratio()
    return numerator, 1 - denominator.bit_length()


def integer_matrix(A: np.ndarray) -> tuple[list[list[int]], int]:
    """A = 2^e times an integer matrix."""
    pairs = [[dyadic(x) for x in row] for row in A]
    e = min((exponent for row in pairs for mantissa, exponent in row if mantissa), default=0)
    return [[mantissa << (exponent - e) if mantissa else 0 for mantissa, exponent in row] for row in pairs], e


def sorted_roots(gram: flint.fmpz_mat) -> list[arb]:
    """Square roots of all eigenvalues of an exact positive semidefinite integer matrix, descending."""
    roots: list[arb] = []
    for z, multiplicity in gram.charpoly().complex_roots():
        if not z.imag.contains(0):
            raise ArithmeticError(f"a symmetric matrix has the root {z}")
        x = z.real
        roots += [(x if x > 0 else x.nonnegative_part()).sqrt()] * multiplicity
    order = functools.cmp_to_key(lambda x, y: int(x.mid() < y.mid()) - int(x.mid() > y.mid()))
    return sorted(roots, key=order)


def exact_singular_values(A: np.ndarray) -> list[arb]:
    """All min(m, n) singular values of an exactly given float matrix."""
    tall = A if A.shape[0] >= A.shape[1] else A.T
    count = tall.shape[1]
    integers, e = integer_matrix(np.asarray(tall, dtype=np.float64))
    if not any(any(row) for row in integers):
        return [arb(0)] * count
    M = flint.fmpz_mat(integers)
    with flint.ctx.workprec(BITS):
        return [root * arb(2) ** e for root in sorted_roots(M.transpose() * M)]


def exact_product_singular_values(Q: np.ndarray, K: np.ndarray) -> list[arb]:
    """All min(m, n) singular values of Q K^T for exactly given factors."""
    (q, eq), (k, ek) = integer_matrix(Q), integer_matrix(K)
    P = flint.fmpz_mat(q) * flint.fmpz_mat(k).transpose()
    gram = P.transpose() * P if Q.shape[0] >= K.shape[0] else P * P.transpose()
    with flint.ctx.workprec(BITS):
        return [root * arb(2) ** (eq + ek) for root in sorted_roots(gram)]


def _ball(value: Fraction) -> arb:
    return arb(flint.fmpz(value.numerator)) / arb(flint.fmpz(value.denominator))


def renyi(values: list[arb], order: Fraction | None, power: int) -> arb:
    """N(order, power) straight from its definition; order None is infinity."""
    with flint.ctx.workprec(BITS):
        weights = [x**power for x in values]
        total = sum(weights, arb(0))
        p = [w / total for w in weights]
        if order is None:
            return 1 / p[0]
        if order == 1:
            return (-sum((x * x.log() for x in p if x > 0), arb(0))).exp()
        alpha = _ball(order)
        powers = sum(((x.log() * alpha).exp() for x in p if x > 0), arb(0))
        return (powers.log() / (1 - alpha)).exp()


def exact_counts(values: list[arb], eps: Fraction) -> tuple[int, int]:
    """Least and greatest possible #{sigma_i > eps sigma_1} given the balls (equal unless there is a tie)."""
    with flint.ctx.workprec(BITS):
        threshold = _ball(eps) * values[0]
        return sum(1 for x in values if x > threshold), sum(1 for x in values if not x <= threshold)


def exact_energy_rank(values: list[arb], level: Fraction) -> tuple[int, int]:
    """Least and greatest possible energy rank given the balls."""
    with flint.ctx.workprec(BITS):
        squares = [x * x for x in values]
        target = _ball(level) * sum(squares, arb(0))
        head, least, most = arb(0), None, None
        for k, square in enumerate(squares, 1):
            head += square
            if least is None and not head < target:
                least = k
            if most is None and head >= target:
                most = k
        return least or len(values), most or len(values)


def meets(truth: arb, lower: arb | float, upper: arb | float) -> bool:
    """False when the true number certainly lies outside [lower, upper] (exact ends)."""
    with flint.ctx.workprec(BITS):
        return not (truth < arb(lower) or truth > arb(upper))
