"""Bounds as prefix text, evaluated in intervals: the second evaluator of this grammar.

Atoms are integers, rationals ``3/2`` and names; nodes are listed in ``_OPERATIONS``, and an unknown one is an
error. ``certify/kernel/bound.py`` is the first evaluator; the two share no code.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from mpmath import libmp

from .interval import BITS, DOWN, UP, Interval, greatest, least, widened

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
    return Interval(widened(libmp.mpf_pi(BITS, DOWN), DOWN), widened(libmp.mpf_pi(BITS, UP), UP))


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


def relative_entropy(q: Fraction, p: Fraction) -> Interval:
    """Relative entropy kl(q || p) of two coins, 0 <= q <= 1 and 0 < p < 1."""
    total = Interval.of(0)
    for a, b in ((q, p), (1 - q, 1 - p)):
        if a > 0:
            total = total + Interval.of(a) * (Interval.of(a) / Interval.of(b)).log()
    return total


def kl_inverse(q: Interval, c: Interval) -> Interval:
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
            kl = relative_entropy(q_end, middle)
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
            tail = binomial_at_most(int(errors), int(trials), middle)
            if tail.low() >= level:
                low = middle
            elif tail.high() < level:
                high = middle
            else:
                break
        ends.append(high if upward else low)
    return Interval.of(ends[0], ends[1])


def binomial_at_most(k: int, n: int, p: Fraction) -> Interval:
    """P(Bin(n, p) <= k) for 0 <= k <= n and 0 < p < 1."""
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
    "max": _fold(lambda a, b: Interval(greatest([a.lo, b.lo]), greatest([a.hi, b.hi]))),
    "min": _fold(lambda a, b: Interval(least([a.lo, b.lo]), least([a.hi, b.hi]))),
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
    "kl_inverse": _arity(2, kl_inverse),
    "binomial_tail_inverse": _arity(3, _binomial_tail_inverse),
}
