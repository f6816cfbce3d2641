"""Upper ends of a risk, checked and not inverted: one evaluation at the claimed p, with 60 digits.

A claimed p is a valid upper end if p >= q and kl(q || p) >= c, or if P(Bin(m, p) <= k) <= delta.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath

SLACK = mpmath.mpf(10) ** -40

mp = mpmath.mp.clone()
mp.dps = 60


def number(value: Fraction) -> Any:
    """The fraction with 60 digits."""
    return mp.mpf(value.numerator) / value.denominator


def kl(q: Any, p: Any) -> Any:
    """Relative entropy of two coins, 0 <= q <= p < 1."""
    first = q * mp.log(q / p) if q > 0 else mp.mpf(0)
    return first + ((1 - q) * mp.log((1 - q) / (1 - p)) if q < 1 else mp.mpf(0))


def at_least_kl_inverse(p: Any, q: Any, budget: Any) -> bool:
    """Whether p is proved to be >= max{p : kl(q || p) <= budget}."""
    if p >= 1:
        return True
    return bool(p >= q and kl(q, p) >= budget * (1 + SLACK))


def binomial_tail(k: int, m: int, p: Any) -> Any:
    """An upper bound on P(Bin(m, p) <= k) for k < m p: terms downward from k, the rest as a geometric
    series."""
    term = mp.exp(
        mp.loggamma(m + 1)
        - mp.loggamma(k + 1)
        - mp.loggamma(m - k + 1)
        + k * mp.log(p)
        + (m - k) * mp.log1p(-p)
    )
    total = term
    for i in range(k, 0, -1):
        ratio = i * (1 - p) / ((m - i + 1) * p)
        term *= ratio
        total += term
        if ratio < 1 and term * ratio / (1 - ratio) < total * SLACK:
            return total + term * ratio / (1 - ratio)
    return total


def at_least_tail_inverse(p: Any, k: int, m: int, log_delta: Any) -> bool:
    """Whether p is proved to be >= sup{p : P(Bin(m, p) <= k) >= delta}."""
    return bool(
        p >= 1 or (p * m > k and mp.log(binomial_tail(k, m, p)) * (1 - SLACK) <= log_delta * (1 + SLACK))
    )


def kl_inverse_above(q: Any, budget: Any) -> Any:
    """A number just above max{p : kl(q || p) <= budget}, by bisection."""
    low, high = q, mp.mpf(1)
    for _ in range(160):
        middle = (low + high) / 2
        if middle < 1 and kl(q, middle) < budget * (1 + SLACK):
            low = middle
        else:
            high = middle
    return high
