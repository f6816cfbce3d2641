"""Numbers that the lesson shows in its text: a bound at given inputs, to fifty digits, then rounded up.

For the eye only. Certified values come from ``certify``; the tests hold these numbers against it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, Context, Decimal

import mpmath
import sympy

from proofs.export import Nested, read_nested

DIGITS = 50


def _relative_entropy(q: mpmath.mpf, p: mpmath.mpf) -> mpmath.mpf:
    def part(a: mpmath.mpf, b: mpmath.mpf) -> mpmath.mpf:
        return mpmath.mpf(0) if a == 0 else mpmath.inf if b == 0 else a * mpmath.log(a / b)

    return part(q, p) + part(1 - q, 1 - p)


def _last(low: mpmath.mpf, high: mpmath.mpf, holds: Callable[[mpmath.mpf], bool]) -> mpmath.mpf:
    """The end of the interval, beginning at ``low``, on which ``holds`` is true (bisection)."""
    for _ in range(4 * DIGITS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _kl_inverse(q: mpmath.mpf, budget: mpmath.mpf) -> mpmath.mpf:
    return _last(q, mpmath.mpf(1), lambda p: _relative_entropy(q, p) <= budget)


def _binomial_tail_inverse(k: mpmath.mpf, n: mpmath.mpf, delta: mpmath.mpf) -> mpmath.mpf:
    def below(p: mpmath.mpf) -> mpmath.mpf:
        return mpmath.fsum(mpmath.binomial(n, i) * p**i * (1 - p) ** (n - i) for i in range(int(k) + 1))

    return _last(mpmath.mpf(0), mpmath.mpf(1), lambda p: below(p) >= delta)


_OPERATIONS: dict[str, Callable[..., mpmath.mpf]] = {
    "add": lambda *x: mpmath.fsum(x),
    "mul": lambda *x: mpmath.fprod(x),
    "neg": lambda x: -x,
    "sub": lambda x, y: x - y,
    "div": lambda x, y: x / y,
    "pow": lambda x, y: x**y,
    "sqrt": mpmath.sqrt,
    "log": mpmath.log,
    "exp": mpmath.exp,
    "max": max,
    "min": min,
    "ceil": mpmath.ceil,
    "pi": lambda: +mpmath.pi,
    "gamma": mpmath.gamma,
    "tanh": mpmath.tanh,
    "cosh": mpmath.cosh,
    "acosh": mpmath.acosh,
    "kl_inverse": _kl_inverse,
    "binomial_tail_inverse": _binomial_tail_inverse,
}


def evaluate(prefix: str, values: Mapping[str, object]) -> sympy.Float:
    """The value of a prefix expression; a ``ValueError`` names a missing input or an unknown node."""

    def value(tree: Nested) -> mpmath.mpf:
        if isinstance(tree, tuple):
            if str(tree[0]) not in _OPERATIONS:
                raise ValueError(f"unknown node {tree[0]!r} in {prefix}")
            return _OPERATIONS[str(tree[0])](*(value(branch) for branch in tree[1:]))
        given = values.get(tree, tree)
        try:
            exact = sympy.Rational(str(given))
        except (TypeError, ValueError):
            raise ValueError(f"no value for {tree!r} in {prefix}") from None
        return mpmath.mpf(exact.p) / exact.q

    with mpmath.workdps(DIGITS):
        return sympy.Float(value(read_nested(prefix)), DIGITS)


def shown_above(value: sympy.Expr, digits: int = 3) -> str:
    """``value`` rounded up to ``digits`` significant digits, as a plain decimal."""
    text = Decimal(str(sympy.N(value, DIGITS)))
    rounded = Context(prec=digits, rounding=ROUND_CEILING).plus(text)
    return format(rounded, "f")
