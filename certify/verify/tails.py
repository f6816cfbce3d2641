"""Upper ends of a risk, checked and not inverted: one evaluation in intervals at the claimed p."""

from __future__ import annotations

from fractions import Fraction

from .formula import binomial_at_most, relative_entropy
from .interval import Interval


def at_least_kl_inverse(p: Fraction, q: Fraction, budget: Interval) -> bool:
    """Whether p is proved to be >= max{p : kl(q || p) <= budget}: p >= q and kl(q || p) >= budget."""
    return p >= 1 or (p >= q and relative_entropy(q, p).low() >= budget.high())


def at_least_tail_inverse(p: Fraction, k: int, m: int, delta: Fraction, bits: int) -> bool:
    """Whether p is proved to be >= sup{p : P(Bin(m, p) <= k) >= delta 2^-bits}."""
    level = Interval.of(delta).log() - Interval.of(bits) * Interval.of(2).log()
    return p >= 1 or binomial_at_most(k, m, p).log().high() <= level.low()
