"""Numeric inequalities over a box, proved by interval arithmetic with bisection.

TRUSTED. Uses mpmath's interval context (outward rounding). Terms as in ``normal_form``; unknown heads are
refused, so that nothing is ever guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

from mpmath import iv

from proofs.normal_form import Term, rational

PRECISION = 120
DEPTH = 16


class NotProved(ValueError):
    """The inequality was not proved over the whole box (it may be true or false)."""


def _number(text: str) -> Any:
    value = rational(text)
    if value is None:
        raise NotProved(f"{text!r} has no value")
    return iv.mpf(value.numerator) / iv.mpf(value.denominator)


def _power(base: Any, exponent: Any) -> Any:
    if base.a <= 0:
        raise NotProved("a power of something that may be 0 or negative")
    return iv.exp(exponent * iv.log(base))


def _sqrt(value: Any) -> Any:
    if value.a < 0:
        raise NotProved("a square root of something that may be negative")
    return iv.sqrt(value)


def _log(value: Any) -> Any:
    if value.a <= 0:
        raise NotProved("a logarithm of something that may be 0 or negative")
    return iv.log(value)


def _divide(top: Any, bottom: Any) -> Any:
    if bottom.a <= 0 <= bottom.b:
        raise NotProved("division by something that may be 0")
    return top / bottom


def _hull(pick: Callable[..., Any], *values: Any) -> Any:
    return iv.mpf([pick(v.a for v in values), pick(v.b for v in values)])


_NODES: dict[str, Callable[..., Any]] = {
    "add": lambda *xs: reduce(lambda a, b: a + b, xs),
    "mul": lambda *xs: reduce(lambda a, b: a * b, xs),
    "neg": lambda x: -x,
    "sub": lambda x, y: x - y,
    "div": _divide,
    "sqrt": _sqrt,
    "log": _log,
    "exp": iv.exp,
    "cosh": lambda x: (iv.exp(x) + iv.exp(-x)) / 2,
    "tanh": lambda x: 1 - 2 / (iv.exp(2 * x) + 1),
    "pi": lambda: +iv.pi,
    "pow": _power,
    "max": lambda *xs: _hull(max, *xs),
    "min": lambda *xs: _hull(min, *xs),
}


def enclose(term: Term, values: Mapping[str, Any]) -> Any:
    """An interval that contains the value of ``term`` for all values of the variables in their intervals."""
    if isinstance(term, str):
        return values[term] if term in values else _number(term)
    if term[0] == "pow" and (exponent := rational(term[2])) is not None and exponent.denominator == 1:
        return enclose(term[1], values) ** int(exponent)
    if term[0] not in _NODES:
        raise NotProved(f"cannot evaluate {term[0]!r}")
    return _NODES[term[0]](*(enclose(part, values) for part in term[1:]))


def prove(claim: Term, box: Mapping[str, tuple[Term, Term]]) -> None:
    """Prove ``(le a b)`` or ``(lt a b)`` over ``box``, or raise ``NotProved``."""
    relation, left, right = claim
    saved, iv.prec = iv.prec, PRECISION
    try:
        start = {name: iv.mpf([enclose(low, {}).a, enclose(high, {}).b]) for name, (low, high) in box.items()}
        pending = [(start, 0)]
        while pending:
            values, depth = pending.pop()
            try:
                gap = enclose(right, values) - enclose(left, values)
                if gap.a > 0 or (relation == "le" and gap.a >= 0):
                    continue
            except NotProved:
                if not box or depth >= DEPTH:
                    raise
            if not box or depth >= DEPTH * len(box):
                raise NotProved(f"not proved by interval arithmetic at {values}")
            widest = max(values, key=lambda name: values[name].delta)
            middle = values[widest].mid
            for half in ([values[widest].a, middle], [middle, values[widest].b]):
                pending.append(({**values, widest: iv.mpf(half)}, depth + 1))
    finally:
        iv.prec = saved
