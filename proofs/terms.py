"""Terms: reading them, substituting in them, differentiating them.

TRUSTED. A term is a variable or rational (``str``) or a tuple ``(head, argument, ...)``. The binders ``E``,
``sup``, ``sum`` and ``lambda`` have a bound variable and a body. Bound variables are not renamed: their names
stand for the measure or set they run through. A substitution that would be captured is refused.
"""

from __future__ import annotations

from collections.abc import Mapping

from proofs.normal_form import BINDERS, Term, mentions, rational


class Refused(Exception):
    """A derivation does not check; the message names the derivation, the step and what is wrong."""


# Reading
def parse(text: object) -> Term:
    """Read one S-expression."""
    if not isinstance(text, str):
        raise Refused(f"an expression must be text, found {text!r}")
    stack: list[list[Term]] = [[]]
    for token in text.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            stack.append([])
        elif token != ")":
            stack[-1].append(token)
        elif len(stack) == 1 or not stack[-1]:
            raise Refused(f"unbalanced parentheses in {text!r}")
        else:
            done = tuple(stack.pop())
            stack[-1].append(done)
    if len(stack) != 1 or len(stack[0]) != 1:
        raise Refused(f"not one expression: {text!r}")
    return stack[0][0]


def free_names(term: Term) -> frozenset[str]:
    """Names that occur free in ``term``, as variables or as heads of applications."""
    if isinstance(term, str):
        return frozenset() if rational(term) is not None else frozenset({term})
    head, arguments = term[0], term[1:]
    if head in BINDERS and len(arguments) == 2:
        return free_names(arguments[1]) - {arguments[0]}
    return frozenset({head}).union(*(free_names(part) for part in arguments))


def substitute(term: Term, mapping: Mapping[str, Term], rename_binders: bool = False) -> Term:
    """Replace free variables; a function variable takes a ``lambda`` and is applied. Capture is refused.

    With ``rename_binders`` (instantiating a lemma) bound variables that ``mapping`` names are renamed, too.
    """
    if isinstance(term, str):
        return mapping.get(term, term)
    head, arguments = term[0], term[1:]
    if head in BINDERS and len(arguments) == 2:
        bound = mapping.get(arguments[0], arguments[0]) if rename_binders else arguments[0]
        if not isinstance(bound, str) or rational(bound) is not None:
            raise Refused(f"the bound variable {arguments[0]} cannot become {bound}")
        inner = {k: v for k, v in mapping.items() if k != arguments[0]}
        for name in free_names(arguments[1]) & set(inner):
            if bound in free_names(inner[name]):
                raise Refused(f"substitution for {name} would be captured by {head} {bound}")
        return (head, bound, substitute(arguments[1], {**inner, arguments[0]: bound}, rename_binders))
    parts = [substitute(part, mapping, rename_binders) for part in arguments]
    replacement = mapping.get(head)
    if replacement is None:
        return (head, *parts)
    if isinstance(replacement, str):
        return (replacement, *parts)
    for part in parts:
        if replacement[0] != "lambda":
            raise Refused(f"{head} is applied to arguments but is given as {replacement}")
        replacement = substitute(replacement[2], {replacement[1]: part})
    return replacement


def derivative(term: Term, name: str) -> Term:
    """The derivative of a term with respect to a variable; unknown heads that mention it are refused."""
    if term == name:
        return "1"
    if not mentions(term, name):
        return "0"
    head, arguments = term[0], term[1:]
    if head in ("add", "sub", "neg"):
        return (head, *(derivative(part, name) for part in arguments))
    if head == "mul":
        terms = []
        for place in range(len(arguments)):
            factors = [derivative(p, name) if n == place else p for n, p in enumerate(arguments)]
            terms.append(("mul", *factors))
        return ("add", *terms)
    inner = derivative(arguments[0], name)
    if head == "div":
        top = ("sub", ("mul", inner, arguments[1]), ("mul", arguments[0], derivative(arguments[1], name)))
        return ("div", top, ("pow", arguments[1], "2"))
    if head == "pow" and (exponent := rational(arguments[1])) is not None:
        return ("mul", str(exponent), ("pow", arguments[0], str(exponent - 1)), inner)
    simple = {
        "sqrt": ("div", inner, ("mul", "2", term)),
        "log": ("div", inner, arguments[0]),
        "exp": ("mul", term, inner),
    }
    if head not in simple:
        raise Refused(f"cannot differentiate {show(term)}")
    return simple[head]


def show(term: Term) -> str:
    """A term as text."""
    return term if isinstance(term, str) else "(" + " ".join(show(part) for part in term) + ")"
