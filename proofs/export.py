"""A bound as plain prefix text, as LaTeX, and back.

The prefix text is what every evaluator reads: S-expressions whose atoms are integers, rationals
``3/2`` and symbol names, and whose nodes are ``add mul neg sub div pow sqrt log exp max min ceil pi
gamma tanh cosh acosh kl_inverse binomial_tail_inverse``. ``(pow x q)`` has a rational exponent ``q``; a
power with any other exponent is written ``(exp (mul q (log x)))``.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy
from sympy.printing.latex import LatexPrinter

from proofs.symbols import SYMBOLS


class kl_inverse(sympy.Function):
    """``kl_inverse(q, c) = max{p in [q, 1] : kl(q || p) <= c}``: binary relative entropy, inverted."""

    nargs = 2

    def _latex(self, printer: LatexPrinter, exp: str | None = None) -> str:
        return _latex_call(r"\mathrm{kl}^{-1}", self.args, printer)


class binomial_tail_inverse(sympy.Function):
    """``binomial_tail_inverse(k, n, delta) = sup{p : P(Binomial(n, p) <= k) >= delta}`` (Clopper-Pearson)."""

    nargs = 3

    def _latex(self, printer: LatexPrinter, exp: str | None = None) -> str:
        return _latex_call(r"\mathrm{bin}^{-1}", self.args, printer)


def _latex_call(name: str, arguments: tuple[sympy.Basic, ...], printer: LatexPrinter) -> str:
    return rf"{name}\left({', '.join(printer.doprint(part) for part in arguments)}\right)"


_HEADS: dict[type, str] = {
    sympy.log: "log",
    sympy.exp: "exp",
    sympy.tanh: "tanh",
    sympy.cosh: "cosh",
    sympy.acosh: "acosh",
    sympy.gamma: "gamma",
    sympy.ceiling: "ceil",
    sympy.Max: "max",
    sympy.Min: "min",
    kl_inverse: "kl_inverse",
    binomial_tail_inverse: "binomial_tail_inverse",
}


def to_prefix(expression: sympy.Expr) -> str:
    """The prefix text of ``expression``; a ``ValueError`` names a node outside the grammar."""
    if isinstance(expression, sympy.Rational):
        return str(expression)
    if isinstance(expression, sympy.Symbol):
        if expression.name not in SYMBOLS or SYMBOLS[expression.name].expression != expression:
            raise ValueError(f"symbol {expression.name!r} was not born in proofs.symbols")
        return expression.name
    if expression is sympy.pi:
        return "(pi)"
    if expression is sympy.E:
        return "(exp 1)"
    if isinstance(expression, sympy.Add):
        return "(add " + " ".join(to_prefix(part) for part in _ordered(expression)) + ")"
    if isinstance(expression, sympy.Mul):
        return _product(expression)
    if isinstance(expression, sympy.Pow):
        return _power(expression)
    head = _HEADS.get(type(expression))
    if head is None:
        raise ValueError(f"{type(expression).__name__} is not in the prefix grammar: {expression}")
    return f"({head} " + " ".join(to_prefix(part) for part in expression.args) + ")"


def _ordered(expression: sympy.Expr) -> list[sympy.Expr]:
    return list(expression.as_ordered_terms() if expression.is_Add else expression.as_ordered_factors())


def _product(expression: sympy.Expr) -> str:
    """A product; factors with negative rational exponents form the denominator."""
    upper: list[str] = []
    lower: list[str] = []
    for factor in _ordered(expression):
        base, exponent = factor.as_base_exp()
        if isinstance(factor, sympy.Rational):
            upper += [str(factor.p)] if factor.p != 1 else []
            lower += [str(factor.q)] if factor.q != 1 else []
        elif isinstance(exponent, sympy.Rational) and exponent.is_negative:
            lower.append(to_prefix(base**-exponent))
        else:
            upper.append(to_prefix(factor))
    numerator = _joined(upper)
    return f"(div {numerator} {_joined(lower)})" if lower else numerator


def _joined(factors: list[str]) -> str:
    if not factors:
        return "1"
    return factors[0] if len(factors) == 1 else "(mul " + " ".join(factors) + ")"


def _power(expression: sympy.Expr) -> str:
    base, exponent = expression.args
    if base is sympy.E:
        return f"(exp {to_prefix(exponent)})"
    if exponent == sympy.Rational(1, 2):
        return f"(sqrt {to_prefix(base)})"
    if isinstance(exponent, sympy.Rational):
        if exponent.is_negative:
            return f"(div 1 {to_prefix(base**-exponent)})"
        return f"(pow {to_prefix(base)} {exponent})"
    return f"(exp (mul {to_prefix(exponent)} (log {to_prefix(base)})))"


def to_latex(expression: sympy.Expr) -> str:
    """LaTeX with the symbols' own notation."""
    names = {record.expression: record.latex for record in SYMBOLS.values()}
    text: str = sympy.latex(expression, symbol_names=names)
    return text


Nested = str | tuple["Nested", ...]


def read_nested(text: str) -> Nested:
    """Parse an S-expression into nested tuples of strings; a ``ValueError`` says where it breaks."""
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()
    position = 0

    def node() -> Nested:
        nonlocal position
        if position >= len(tokens):
            raise ValueError("the expression ends too early: a ')' is missing")
        token = tokens[position]
        position += 1
        if token == ")":
            raise ValueError(f"unexpected ')' at token {position}")
        if token != "(":
            return token
        parts: list[Nested] = []
        while position < len(tokens) and tokens[position] != ")":
            parts.append(node())
        if position >= len(tokens):
            raise ValueError("the expression ends too early: a ')' is missing")
        position += 1
        return tuple(parts)

    tree = node()
    if position != len(tokens):
        raise ValueError(f"text after the end of the expression: {' '.join(tokens[position:])}")
    return tree


def _exponential(exponent: sympy.Expr) -> sympy.Expr:
    """``exp``, with ``exp(q log(x))`` read back as the power ``x^q``."""
    for factor in sympy.Mul.make_args(exponent):
        if isinstance(factor, sympy.log):
            return factor.args[0] ** (exponent / factor)
    return sympy.exp(exponent)


_BUILDERS: dict[str, Callable[..., sympy.Expr]] = {
    "add": sympy.Add,
    "mul": sympy.Mul,
    "neg": lambda x: -x,
    "sub": lambda x, y: x - y,
    "div": lambda x, y: x / y,
    "pow": sympy.Pow,
    "sqrt": sympy.sqrt,
    "log": sympy.log,
    "exp": _exponential,
    "max": sympy.Max,
    "min": sympy.Min,
    "ceil": sympy.ceiling,
    "pi": lambda: sympy.pi,
    "gamma": sympy.gamma,
    "tanh": sympy.tanh,
    "cosh": sympy.cosh,
    "acosh": sympy.acosh,
    "kl_inverse": kl_inverse,
    "binomial_tail_inverse": binomial_tail_inverse,
}


def from_prefix(text: str) -> sympy.Expr:
    """The sympy expression that prefix text names; unknown nodes and symbols are errors."""

    def build(tree: Nested) -> sympy.Expr:
        if isinstance(tree, str):
            if tree in SYMBOLS:
                return SYMBOLS[tree].expression
            try:
                return sympy.Rational(tree)
            except (TypeError, ValueError):
                raise ValueError(f"unknown symbol {tree!r}") from None
        if not tree or not isinstance(tree[0], str) or tree[0] not in _BUILDERS:
            raise ValueError(f"unknown node {tree[0] if tree else '()'!r}")
        return _BUILDERS[tree[0]](*(build(part) for part in tree[1:]))

    return build(read_nested(text))
