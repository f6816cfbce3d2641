"""Prefix text of a bound -> Coq text over the real numbers.

Three dialects. ``claims``: rational powers are ``power q x`` (the theory's own power, 0 at 0), and every node
that a machine-checked theorem uses. ``interval``: rational powers are ``exp (q * ln x)``, since the tactic
``interval`` knows exp and ln. ``report``: as ``interval``, with ``kl_inverse``.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from proofs.export import Nested, read_nested

_UNARY = {"sqrt": "sqrt", "log": "ln", "exp": "exp", "tanh": "tanh", "cosh": "cosh"}
_FOLDED = {"min": "Rmin", "max": "Rmax"}


class NotInCoq(ValueError):
    """The expression has a node or symbol for which no Coq text is defined; the message names it."""


def number(value: Fraction | int) -> str:
    """An exact rational as Coq text: ``2``, ``(-1)``, ``(3 / 2)``."""
    exact = Fraction(value)
    top = str(exact.numerator) if exact.numerator >= 0 else f"(-{-exact.numerator})"
    return top if exact.denominator == 1 else f"({top} / {exact.denominator})"


def to_coq(expression: str | Nested, names: Mapping[str, str], dialect: str = "claims") -> str:
    """Coq text of a prefix expression; ``names`` says what each symbol (or whole node) is called in Coq.

    Raises ``NotInCoq`` for a node or symbol without a counterpart.
    """
    tree = read_nested(expression) if isinstance(expression, str) else expression
    if written(tree) in names:
        return names[written(tree)]
    if isinstance(tree, str):
        return _atom(tree, names)
    if not tree or not isinstance(tree[0], str):
        raise NotInCoq("an expression starts with something that is not a node")
    head, arguments = tree[0], tree[1:]
    if head == "pow":
        return _power(arguments, names, dialect)
    parts = [to_coq(argument, names, dialect) for argument in arguments]
    if head in ("add", "mul"):
        return "(" + (" + " if head == "add" else " * ").join(parts) + ")"
    if head in ("sub", "div"):
        return f"({parts[0]} {'-' if head == 'sub' else '/'} {parts[1]})"
    if head == "neg":
        return f"(- {parts[0]})"
    if head == "pi":
        return "PI"
    if head in _UNARY and len(parts) == 1:
        return f"({_UNARY[head]} {parts[0]})"
    if head in _FOLDED:
        text = parts[-1]
        for part in reversed(parts[:-1]):
            text = f"({_FOLDED[head]} {part} {text})"
        return text
    if head == "kl_inverse" and dialect in ("claims", "report"):
        return f"(kl_inverse {parts[0]} {parts[1]})"
    if head == "binomial_tail_inverse" and dialect == "claims":
        return f"(binomial_tail_inverse {' '.join(parts)})"
    raise NotInCoq(f"the node {head!r} has no Coq text in the dialect {dialect!r}")


def written(tree: Nested) -> str:
    """The prefix text of a tree."""
    return tree if isinstance(tree, str) else "(" + " ".join(written(part) for part in tree) + ")"


def _atom(text: str, names: Mapping[str, str]) -> str:
    if text in names:
        return names[text]
    try:
        return number(Fraction(text))
    except ValueError:
        raise NotInCoq(f"the symbol {text!r} has no counterpart in the Coq statement") from None


def _power(arguments: tuple[Nested, ...], names: Mapping[str, str], dialect: str) -> str:
    base, exponent = arguments
    text = to_coq(base, names, dialect)
    if not isinstance(exponent, str) or exponent in names:
        return f"(exp ({to_coq(exponent, names, dialect)} * ln {text}))"
    value = Fraction(exponent)
    if value.denominator == 1 and value >= 0:
        return f"({text} ^ {value.numerator})"
    if dialect == "claims":
        return f"(power {number(value)} {text})"
    return f"(exp ({number(value)} * ln {text}))"
