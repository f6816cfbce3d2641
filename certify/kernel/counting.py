"""Ranks that count: the numerical (epsilon) rank and the energy rank, as intervals of integers.

Theorem. Let a_i <= sigma_i <= b_i, descending, q of them, 0 <= eps < 1 exact. Then

    #{i : sigma_i > eps sigma_1}  lies in  [1 + #{i > 1 : a_i > eps b_1},  q - #{i > 1 : b_i <= eps a_1}]

when a_1 > 0. With F_l <= ||A||_F^2 <= F_u and 0 < theta <= 1, the least k with
sum_{i<=k} sigma_i^2 >= theta ||A||_F^2 is at most k if sum_{i<=k} a_i^2 >= theta F_u or
sum_{i>k} b_i^2 <= (1-theta) F_l, and above k if sum_{i<=k} b_i^2 < theta F_l or
sum_{i>k} a_i^2 > (1-theta) F_u. k = the rank bound always suffices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint

from certify.errors import InputError
from certify.kernel.directed import exact_ball
from certify.kernel.enclosure import Enclosure, Exact, exact_fraction
from certify.kernel.multiply import use_device
from certify.kernel.norms import frobenius_of
from certify.kernel.reading import Array, read_matrix
from certify.kernel.rounding import MODEL
from certify.kernel.scaling import scale
from certify.kernel.singular_values import SingularValues
from certify.kernel.spectrum import Mode, singular_values_of

arb = flint.arb


@dataclass(frozen=True)
class RankInterval:
    """An integer rank: ``lower <= rank <= upper``; decided when they agree."""

    lower: int
    upper: int
    assumptions: frozenset[str] = MODEL

    def __str__(self) -> str:
        return str(self.lower) if self.lower == self.upper else f"{self.lower}..{self.upper}"


def _ball(value: Fraction) -> arb:
    return arb(flint.fmpz(value.numerator)) / arb(flint.fmpz(value.denominator))


def _count(condition: list[bool]) -> int:
    return sum(1 for item in condition if item)


def numerical_rank_of(values: SingularValues, eps: Exact = Fraction(1, 10**6)) -> RankInterval:
    """``#{sigma_i > eps sigma_1}`` from certified singular values of one matrix; 0 for the zero matrix."""
    threshold = exact_fraction(eps)
    if not 0 <= threshold < 1:
        raise InputError(f"eps = {eps} must satisfy 0 <= eps < 1")
    lower, upper, count = values.scaled_lower, values.scaled_upper, len(values)
    if count == 0 or not upper[0] > 0:
        return RankInterval(0, 0, values.assumptions)
    bound = count if values.rank_bound is None else min(values.rank_bound, count)
    e = _ball(threshold)
    high, low = e * exact_ball(upper[0]), e * exact_ball(lower[0])
    # arb(float) comparisons are exact; only entries near the threshold would need them, but n is small.
    above = _count([bool(exact_ball(x) > high) for x in lower[1:]])
    below = _count([bool(exact_ball(x) <= low) for x in upper[1:]])
    certain = 1 + above if lower[0] > 0 else 0
    return RankInterval(certain, max(min(count - below, bound), certain), values.assumptions)


def _prefix_sums(squares: list[arb]) -> list[arb]:
    sums = [arb(0)]
    for square in squares:
        sums.append(sums[-1] + square)
    return sums


def _squares(values: Array) -> list[arb]:
    return [exact_ball(x) * exact_ball(x) for x in values]


def energy_ranks_of(
    values: SingularValues, levels: Sequence[Exact], frobenius: Enclosure | None = None
) -> list[RankInterval]:
    """Per level, the least k with ``sum_{i<=k} sigma_i^2 >= level ||A||_F^2``; 0 for the zero matrix.

    ``frobenius``: an enclosure of ||A||_F in the true scale, used when given.
    """
    shares = [exact_fraction(level) for level in levels]
    for level, theta in zip(levels, shares, strict=True):
        if not 0 < theta <= 1:
            raise InputError(f"level = {level} must satisfy 0 < level <= 1")
    lower, upper, count = values.scaled_lower, values.scaled_upper, len(values)
    if count == 0 or not upper[0] > 0:
        return [RankInterval(0, 0, values.assumptions) for _ in shares]
    bound = count if values.rank_bound is None else min(values.rank_bound, count)
    low, high = _squares(lower), _squares(upper)  # once for all levels: this is most of the work
    head_low, head_high = _prefix_sums(low), _prefix_sums(high)
    tail_low, tail_high = _prefix_sums(low[::-1])[::-1], _prefix_sums(high[::-1])[::-1]
    F_low, F_high = head_low[-1], head_high[-1]
    if frobenius is not None:
        unit = arb(2) ** -int(values.exponent)
        F_low, F_high = ((end * unit) ** 2 for end in frobenius.endpoints)
    ranks = []
    for theta in shares:
        share_low, share_high = _ball(theta) * F_low, _ball(theta) * F_high
        rest_low, rest_high = _ball(1 - theta) * F_low, _ball(1 - theta) * F_high
        enough = (k for k in range(1, bound) if head_low[k] >= share_high or tail_high[k] <= rest_low)
        reached = (k for k in range(1, bound) if not (head_high[k] < share_low or tail_low[k] > rest_high))
        most, least = next(enough, bound), next(reached, bound)
        ranks.append(RankInterval(min(least, most) if lower[0] > 0 else 0, most, values.assumptions))
    return ranks


def energy_rank_of(
    values: SingularValues, level: Exact = Fraction(9, 10), frobenius: Enclosure | None = None
) -> RankInterval:
    """The energy rank at one level; see :func:`energy_ranks_of`."""
    return energy_ranks_of(values, [level], frobenius)[0]


def numerical_rank(
    matrix: Any,
    eps: Exact = Fraction(1, 10**6),
    *,
    mode: str | Mode = "default",
    radius: Any = None,
    device: str = "cpu",
) -> RankInterval:
    """How many singular values of a matrix (m, n) exceed ``eps`` times the largest: an integer interval.

    ``eps`` is exact (a float means its exact value; "1e-6" the decimal). It is one integer unless an
    enclosure straddles the threshold; then try mode="tight". Inputs and errors as in
    :func:`certify.singular_values`. Source: the theorem at the head of ``certify/kernel/counting.py``.
    """
    with use_device(device):
        return numerical_rank_of(singular_values_of(scale(read_matrix(matrix), radius), mode), eps)


def energy_rank(
    matrix: Any,
    level: Exact = Fraction(9, 10),
    *,
    mode: str | Mode = "default",
    radius: Any = None,
    device: str = "cpu",
) -> RankInterval:
    """The least number of leading singular values of a matrix (m, n) that hold ``level`` of ||A||_F^2.

    ``level`` is exact, in (0, 1]. Inputs and errors as in :func:`certify.singular_values`.
    Source: the theorem at the head of ``certify/kernel/counting.py``.
    """
    with use_device(device):
        A = scale(read_matrix(matrix), radius)
        values = singular_values_of(A, mode)
        low, high = frobenius_of(A).endpoints
        unit = arb(2) ** A.exponent
        return energy_rank_of(values, level, Enclosure(low * unit, high * unit, A.assumptions))
