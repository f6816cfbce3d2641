"""Evaluate a bound written as prefix text on enclosures. An unknown node or symbol is an error.

The grammar (``proofs/export.py`` writes it, ``certify/verify/formula.py`` evaluates it independently)::

    expression := integer | rational | symbol | (node expression ...)
    node       := add mul max min (one or more) | neg sqrt log exp ceil gamma tanh cosh acosh (one)
                | sub div (two) | pow (base, rational exponent) | pi (none)
                | kl_inverse (q, c) | binomial_tail_inverse (k, n, delta)
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import flint

from certify.errors import ClaimError, NotCertified
from certify.kernel.enclosure import Enclosure, largest, smallest
from certify.kernel.inverses import binomial_tail_inverse, kl_inverse

Tree = str | list["Tree"]

_TOKEN = re.compile(r"\s*([()]|[^\s()]+)")
_INTEGER = re.compile(r"-?\d+\Z", re.ASCII)
_RATIONAL = re.compile(r"-?\d+/\d+\Z", re.ASCII)
_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z", re.ASCII)

MAX_DEPTH = 200
MAX_EXPONENT = 10_000  # numerator and denominator of a power


def parse(prefix: str) -> Tree:
    """The expression as nested lists; trailing text, unbalanced and empty parentheses are errors."""
    stack: list[list[Tree]] = [[]]
    for token in _TOKEN.findall(prefix):
        if token == "(":
            stack.append([])
            if len(stack) > MAX_DEPTH:
                raise ClaimError(f"the expression is nested more than {MAX_DEPTH} deep")
        elif token == ")":
            node = stack.pop()
            if not stack or not node or not isinstance(node[0], str):
                raise ClaimError(f"misplaced ')' in the expression {prefix[:80]!r}")
            stack[-1].append(node)
        else:
            stack[-1].append(token)
    if len(stack) != 1 or len(stack[0]) != 1:
        raise ClaimError(f"not one complete expression: {prefix[:80]!r}")
    return stack[0][0]


def _unary(name: str) -> Callable[[Enclosure], Enclosure]:
    return lambda x: getattr(x, name)()


def _pi() -> Enclosure:
    with flint.ctx.workprec(128):
        return Enclosure(flint.arb.pi(), flint.arb.pi())


_NARY: dict[str, Callable[[Sequence[Enclosure]], Enclosure]] = {
    "add": lambda items: functools.reduce(operator.add, items),
    "mul": lambda items: functools.reduce(operator.mul, items),
    "max": largest,
    "min": smallest,
}
_FIXED: dict[str, tuple[int, Callable[..., Enclosure]]] = {
    "pi": (0, _pi),
    "neg": (1, operator.neg),
    "sub": (2, operator.sub),
    "div": (2, operator.truediv),
    "kl_inverse": (2, kl_inverse),
    "binomial_tail_inverse": (3, binomial_tail_inverse),
    **{name: (1, _unary(name)) for name in ("sqrt", "log", "exp", "ceil", "gamma", "tanh", "cosh", "acosh")},
}


def _number(atom: str) -> Fraction | None:
    if not (_INTEGER.match(atom) or _RATIONAL.match(atom)):
        return None
    if "/" in atom and int(atom.split("/")[1]) == 0:
        raise ClaimError(f"the rational {atom} has denominator 0")
    return Fraction(atom)


def _power(node: list[Tree], values: Mapping[str, Enclosure]) -> Enclosure:
    if len(node) != 3:
        raise ClaimError(f"pow takes 2 arguments, found {len(node) - 1}")
    exponent = _number(node[2]) if isinstance(node[2], str) else None
    if exponent is None:
        raise ClaimError(f"the exponent of pow must be an integer or a rational, found {node[2]}")
    if max(abs(exponent.numerator), exponent.denominator) > MAX_EXPONENT:
        raise ClaimError(f"the exponent {exponent} is out of range (at most {MAX_EXPONENT})")
    return _evaluate(node[1], values) ** exponent


def _evaluate(tree: Tree, values: Mapping[str, Enclosure]) -> Enclosure:
    if isinstance(tree, str):
        number = _number(tree)
        if number is not None:
            return Enclosure.exact(number)
        if not _SYMBOL.match(tree):
            raise ClaimError(f"{tree!r} is neither a number nor a symbol of the grammar")
        if tree not in values:
            known = ", ".join(sorted(values)) or "none"
            raise ClaimError(f"the symbol {tree!r} has no value; known: {known}")
        return values[tree]
    head = str(tree[0])  # parse() accepts no node that starts with a node
    if head == "pow":
        return _power(tree, values)
    if head in _NARY:
        if len(tree) < 2:
            raise ClaimError(f"{head} takes at least 1 argument")
        return _NARY[head]([_evaluate(item, values) for item in tree[1:]])
    if head in _FIXED:
        arity, function = _FIXED[head]
        if len(tree) != arity + 1:
            raise ClaimError(f"{head} takes {arity} argument(s), found {len(tree) - 1}")
        return function(*(_evaluate(item, values) for item in tree[1:]))
    raise ClaimError(f"unknown node {head!r}; known: {', '.join(sorted([*_NARY, *_FIXED, 'pow']))}")


def evaluate(prefix: str, values: Mapping[str, Enclosure]) -> Enclosure:
    """An enclosure of the value of ``prefix`` for every choice of true values inside ``values``.

    Raises :class:`~certify.errors.ClaimError` for text outside the grammar and
    :class:`~certify.errors.NotCertified` where the value is not certified to be defined (a division by
    an interval around 0, the logarithm of one). The assumptions of all inputs used are joined.
    """
    for name, value in values.items():
        if not isinstance(value, Enclosure):
            raise TypeError(f"the value of {name!r} must be an Enclosure, found {type(value).__name__}")
    try:
        return _evaluate(parse(prefix), values)
    except NotCertified as error:
        raise NotCertified(f"the bound has no certified value: {error}") from error
