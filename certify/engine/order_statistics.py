"""Order statistics of numbers that are only known by enclosures, without any arithmetic.

If ``x_i`` lies in ``[a_i, b_i]`` then the k-th smallest ``x`` lies between the k-th smallest ``a``
and the k-th smallest ``b``. Endpoints stay the recorded decimal strings, so nothing is rounded.
A quantile at level ``q`` is the ``ceil(q n)``-th smallest value (the inverse of the empirical
distribution function): no interpolation, so it is one of the values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

Pair = dict[str, str]

STATISTICS = (
    ("minimum", "0"),
    ("lower_quartile", "1/4"),
    ("median", "1/2"),
    ("upper_quartile", "3/4"),
    ("maximum", "1"),
)


def position(level: Fraction, count: int) -> int:
    """The 1-based place of the quantile at ``level`` among ``count`` values."""
    if count < 1 or not 0 <= level <= 1:
        raise ValueError(f"no quantile at level {level} of {count} values")
    return max(1, math.ceil(level * count))


def order_statistic(pairs: Sequence[Pair], level: Fraction) -> Pair:
    """The enclosure of the quantile at ``level`` of the enclosed numbers."""
    k = position(level, len(pairs)) - 1
    return {
        "lower": sorted((p["lower"] for p in pairs), key=Decimal)[k],
        "upper": sorted((p["upper"] for p in pairs), key=Decimal)[k],
    }


def summary(pairs: Sequence[Pair]) -> dict[str, Pair]:
    """Minimum, quartiles, median and maximum."""
    return {name: order_statistic(pairs, Fraction(level)) for name, level in STATISTICS}


def largest(places: Sequence[tuple[dict[str, Any], Pair]]) -> dict[str, Any]:
    """The enclosure of the maximum, with the place whose upper endpoint is largest."""
    pairs = [pair for _, pair in places]
    where, _ = max(places, key=lambda item: Decimal(item[1]["upper"]))
    return {**order_statistic(pairs, Fraction(1)), "at": where}
