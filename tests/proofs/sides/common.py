"""What all properties share: balls, signs, and how a lemma is tested."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

from flint import arb, ctx, fmpq
from hypothesis import strategies as st

ctx.prec = 200
Sides = tuple[arb, arb]


def ball(value: Fraction | int) -> arb:
    """A ball around a rational."""
    value = Fraction(value)
    return arb(fmpq(value.numerator, value.denominator))


@lru_cache(maxsize=16)
def signs(n: int) -> tuple[tuple[int, ...], ...]:
    """All sign vectors."""
    return tuple(product((1, -1), repeat=n))


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """Inner product."""
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def root(value: arb) -> arb:
    """Square root of a nonnegative number whose ball may touch 0."""
    return value.sqrt() if value > 0 else arb(0, float(arb(value.abs_upper()).sqrt().upper()) * 1.01)


def softmax(s: Sequence[Fraction]) -> list[arb]:
    top = max(s)
    powers = [ball(x - top).exp() for x in s]
    total = sum(powers, arb(0))
    return [p / total for p in powers]


def kl(q: Fraction, p: Fraction) -> arb:
    total = arb(0)
    for a, b in ((q, p), (1 - q, 1 - p)):
        if a:
            total += ball(a) * (ball(a) / ball(b)).log()
    return total


def norm2(a: Fraction, b: Fraction, c: Fraction, d: Fraction) -> arb:
    """Spectral norm of [[a, b], [c, d]] from the exact quadratic for the squared singular values."""
    trace, determinant = a * a + b * b + c * c + d * d, a * d - b * c
    inner = ball(trace * trace - 4 * determinant * determinant)
    root = arb(0) if inner.is_zero() else inner.max(arb(0)).sqrt()
    return ((ball(trace) + root) / 2).sqrt()


@dataclass(frozen=True)
class Property:
    """How to test a lemma: cases, sides with constants, nearly tight cases, whether it must be sharp."""

    derivation: str
    cases: st.SearchStrategy[Any]
    sides: Callable[..., Sides]
    tight: tuple[Any, ...]
    sharp: bool
    constants: dict[str, Fraction] = field(default_factory=dict)
    """constant -> value; the false direction is the one that makes the right side smaller"""
    larger_is_false: bool = False
    floor: float = 0.3
    """A ratio that some case must exceed, so that the test tests something."""
    wrong: dict[str, Fraction] = field(default_factory=dict)
    """Where no constant is known to be sharp: values with which some tight case must fail."""


small = st.integers(-4, 4)


positive = st.integers(1, 6)


H = Fraction(1, 2)


ONE = Fraction(1)


def best_on_average(outputs: Sequence[Sequence[arb]]) -> arb:
    """Average over all signs of the largest signed sum, divided by the number of units; one row per model."""
    m, total = len(outputs[0]), arb(0)
    for pattern in signs(m):
        values = [sum((e * y for e, y in zip(pattern, row, strict=True)), arb(0)) for row in outputs]
        best = values[0]
        for value in values[1:]:
            best = best.max(value)
        total += best
    return total / (m * 2**m)


def at_most(k: int, m: int, p: Fraction) -> arb:
    """P(Binomial(m, p) <= k), for 0 < p < 1."""
    if k < 0:
        return arb(0)
    if k >= m:
        return arb(1)
    return ball(1 - p).beta_lower(m - k, k + 1, True)


def largest(n: int, holds: Callable[[int], bool]) -> int:
    """The largest k in 0..n with ``holds(k)``, which holds up to some k and then no more; -1 if none."""
    low, high = -1, n + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


Binomial = tuple[int, Fraction, Fraction]


def binomial_cases(largest_sample: int, *risks: Fraction) -> st.SearchStrategy[Binomial]:
    """(sample size, risk, delta)."""
    deltas = st.sampled_from([H, Fraction(1, 20)])
    return st.tuples(st.integers(1, largest_sample), st.sampled_from(risks), deltas)
