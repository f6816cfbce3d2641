"""S-expressions as a reader sees them: LaTeX for a page, plain text for a terminal.

Reads the same terms that the kernel checks, so what is displayed is what was checked. Binders are
``(E w X)``, ``(sup t X)``, ``(sum i X)`` and ``(lambda x X)``; ``(at f i)`` is an index; any other
head is a function.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from proofs.export import Nested, read_nested
from proofs.symbols import SYMBOLS

_GREEK = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi chi "
    "psi omega "
    "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega".split()
)
_RELATION = {"le": (r"\le", "<="), "lt": ("<", "<"), "eq": ("=", "=")}
_FUNCTION = {
    "log": r"\log",
    "exp": r"\exp",
    "cosh": r"\cosh",
    "tanh": r"\tanh",
    "max": r"\max",
    "min": r"\min",
    "gamma": r"\Gamma",
    "acosh": r"\operatorname{arcosh}",
    "kl_inverse": r"\operatorname{kl}^{-1}",
    "binomial_tail_inverse": r"\operatorname{bin}^{-1}",
    "osc": r"\operatorname{osc}",
    "trace": r"\operatorname{tr}",
    "rank": r"\operatorname{rank}",
}
BOX = "?"
"""The atom of a number that the reader is asked for."""
_SPECIAL_NAME = {"eps": r"\varepsilon", "EPS": r"\varepsilon"}
SUM, BINDER, PRODUCT, POWER, ATOM = range(5)
INDICES = frozenset("ijk")
"""Names that are written as indices when they are a function's first arguments."""
LINE = 52
"""Width in characters beyond which a sum is broken into lines."""


@dataclass(frozen=True)
class Written:
    """A term in both notations, with how tightly it binds."""

    latex: str
    plain: str
    binds: int


def name_latex(name: str) -> str:
    """The notation of a name: that of ``proofs.symbols`` where it is born there, else read from its
    spelling."""
    if name in SYMBOLS:
        return SYMBOLS[name].latex
    if name in _SPECIAL_NAME:
        return _SPECIAL_NAME[name]
    head, _, below = name.partition("_")
    if below:
        under = ",".join(
            name_latex(part) if len(part) < 3 else rf"\mathrm{{{part}}}" for part in below.split("_")
        )
        return rf"{{{name_latex(head)}}}_{{{under}}}"
    if name.endswith("'"):
        return name_latex(name.rstrip("'")) + "'" * (len(name) - len(name.rstrip("'")))
    if name in _GREEK:
        return rf"\{name}"
    numbered = re.fullmatch(r"([A-Za-z]+)(\d+)", name)
    if numbered:
        return rf"{name_latex(numbered[1])}_{{{numbered[2]}}}"
    return name if len(name) == 1 else rf"\mathrm{{{name}}}"


def _wrap(part: Written, least: int) -> Written:
    if part.binds >= least:
        return part
    return Written(rf"\left({part.latex}\right)", f"({part.plain})", ATOM)


def _atom(text: str) -> Written:
    if text == BOX:
        return Written(r"\boxed{\,?\,}", "[?]", ATOM)
    if re.fullmatch(r"-?\d+(/\d+)?", text):
        binds = SUM if text.startswith("-") else ATOM
        top, _, bottom = text.lstrip("-").partition("/")
        sign = "-" if text.startswith("-") else ""
        if bottom:
            return Written(rf"{sign}\frac{{{top}}}{{{bottom}}}", text, SUM if sign else PRODUCT)
        return Written(text, text, binds)
    return Written(name_latex(text), text, ATOM)


def visible(latex: str) -> int:
    """Roughly how many characters wide a formula is."""
    return len(
        re.sub(
            r"\\(left|right|,|mathrm|frac|cdot)|\\[a-z]+|[{}_^\\]",
            lambda m: "x" if m[1] is None and m[0][:1] == "\\" and len(m[0]) > 1 else "",
            latex,
        )
    )


def _lines(terms: list[str]) -> str:
    """A sum on one line, or on several when it is wide."""
    if visible("".join(terms)) <= LINE or len(terms) < 3:
        return "".join(terms)
    lines = [""]
    for term in terms:
        if lines[-1] and visible(lines[-1] + term) > LINE:
            lines.append("")
        lines[-1] += term
    return r"\begin{aligned}&" + r"\\&\quad ".join(lines) + r"\end{aligned}"


def _summands(parts: list[Nested]) -> list[Nested]:
    """The parts of a sum, with those of a sum in first place: (a - b) + c is a - b + c."""
    first = parts[0]
    if isinstance(first, tuple) and first[0] == "add":
        return [*_summands(list(first[1:])), *parts[1:]]
    if isinstance(first, tuple) and first[0] == "sub":
        return [*_summands([first[1], ("neg", first[2])]), *parts[1:]]
    return parts


def _sum(parts: list[Nested]) -> Written:
    terms, plain = [], ""
    for index, part in enumerate(_summands(parts)):
        negative = isinstance(part, tuple) and part[0] == "neg"
        inner = write(part[1] if negative and isinstance(part, tuple) else part)
        inner = _wrap(inner, PRODUCT) if negative else inner
        if negative:
            terms.append("-" + inner.latex)
            plain += (" - " if index else "-") + inner.plain
        elif inner.latex.startswith("-"):
            terms.append(inner.latex)
            plain += (" - " + inner.plain[1:]) if index else inner.plain
        else:
            terms.append(("+" if index else "") + inner.latex)
            plain += (" + " if index else "") + inner.plain
    return Written(_lines(terms), plain, SUM)


def _product(parts: list[Nested]) -> Written:
    if len(parts) == 1:
        return write(parts[0])
    if parts[0] == "-1":
        inner = _product(parts[1:])
        return Written("-" + inner.latex, "-" + inner.plain, SUM)
    written = [_wrap(write(part), PRODUCT) for part in parts[:-1]] + [_wrap(write(parts[-1]), BINDER)]
    latex = written[0].latex
    for left, right in pairwise(written):
        digits = right.latex[:1].isdigit() or (
            left.latex[-1:].isdigit() and right.latex.startswith(r"\frac{")
        )
        latex += (r"\cdot " if digits else r"\,") + right.latex
    return Written(latex, " * ".join(part.plain for part in written), PRODUCT)


def _binder(head: str, variable: str, body: Nested) -> Written:
    inner = write(body)
    name = name_latex(variable)
    if head == "E":
        return Written(
            rf"\mathbb{{E}}_{{{name}}}\left[{inner.latex}\right]", f"E_{variable}[{inner.plain}]", ATOM
        )
    if head == "lambda":
        return Written(rf"\left({name}\mapsto {inner.latex}\right)", f"({variable} -> {inner.plain})", ATOM)
    tight = _wrap(inner, BINDER)
    sign = {"sup": r"\sup", "sum": r"\sum", "max": r"\max"}.get(head, rf"\operatorname*{{{head}}}")
    return Written(rf"{sign}_{{{name}}} {tight.latex}", f"{head}_{variable} {tight.plain}", BINDER)


def _power(base: Nested, exponent: Nested) -> Written:
    inner = _wrap(write(base), ATOM)
    above = write(exponent)
    return Written(
        rf"{{{inner.latex}}}^{{{above.latex}}}", f"{inner.plain}^{_wrap(above, ATOM).plain}", POWER
    )


def _join_roots(parts: list[Nested]) -> list[Nested]:
    """The roots among the factors under one root: the same number, and easier to read."""
    roots = [part[1] for part in parts if _is_root(part)]
    if len(roots) < 2:
        return parts
    others = [part for part in parts if not _is_root(part)]
    return [*others, ("sqrt", ("mul", *roots))]


def _is_root(term: Nested) -> bool:
    return isinstance(term, tuple) and term[0] == "sqrt"


def _factors(term: Nested) -> list[Nested]:
    return _join_roots(list(term[1:])) if isinstance(term, tuple) and term[0] == "mul" else [term]


def _quotient(top: Nested, bottom: Nested) -> Written:
    above = _factors(top)
    below = _factors(bottom)
    if _is_root(above[-1]) and _is_root(below[-1]):
        inside, under_root = above[-1][1], below[-1][1]
        if len(below) == 2 and isinstance(inside, tuple) and inside[:2] == ("mul", below[0]):
            rest = inside[2:]
            root: Nested = (
                "sqrt",
                ("div", ("mul", *rest) if len(rest) > 1 else rest[0], ("mul", below[0], under_root)),
            )
            return _product([*above[:-1], root])
        if len(below) == 1:
            return _product([*above[:-1], ("sqrt", ("div", inside, under_root))])
    over, under = write(top), write(bottom)
    plain = f"{_wrap(over, PRODUCT).plain} / {_wrap(under, POWER).plain}"
    return Written(rf"\frac{{{over.latex}}}{{{under.latex}}}", plain, PRODUCT)


def _special(head: str, parts: list[Nested]) -> Written | None:
    if head == "neg":
        inner = _wrap(write(parts[0]), PRODUCT)
        return Written("-" + inner.latex, "-" + inner.plain, SUM)
    if head == "add":
        return _sum(parts)
    if head == "sub":
        return _sum([parts[0], ("neg", parts[1])])
    if head == "mul":
        return _product(_join_roots(parts))
    if head == "div":
        return _quotient(parts[0], parts[1])
    if head == "pow":
        return _power(parts[0], parts[1])
    if head == "sqrt":
        inner = write(parts[0])
        return Written(rf"\sqrt{{{inner.latex}}}", f"sqrt({inner.plain})", ATOM)
    if head == "pi" and not parts:
        return Written(r"\pi", "pi", ATOM)
    if head == "log_power" and len(parts) == 2:
        base, above = write(("log", parts[0])), write(parts[1])
        latex = rf"{{\left({base.latex}\right)}}^{{{above.latex}}}"
        return Written(latex, f"({base.plain})^{above.plain}", POWER)
    if head == "abs":
        inner = write(parts[0])
        return Written(rf"\left|{inner.latex}\right|", f"|{inner.plain}|", ATOM)
    if head.startswith("norm"):
        inner = write(parts[0])
        kind = head.removeprefix("norm").strip("_")
        return Written(
            rf"\left\|{inner.latex}\right\|" + (rf"_{{{kind}}}" if kind else ""),
            f"||{inner.plain}||" + (f"_{kind}" if kind else ""),
            ATOM,
        )
    if head == "at":
        inner, index = _wrap(write(parts[0]), ATOM), [write(part) for part in parts[1:]]
        return Written(
            rf"{{{inner.latex}}}_{{{','.join(i.latex for i in index)}}}",
            f"{inner.plain}[{', '.join(i.plain for i in index)}]",
            ATOM,
        )
    return None


def _indexed(head: str, indices: list[str], rest: list[Nested]) -> Written:
    """``(p i j t)`` is p with the indices i, j, at t."""
    written = [write(part) for part in rest]
    latex = rf"{{{name_latex(head)}}}_{{{','.join(indices)}}}"
    plain = f"{head}[{','.join(indices)}]"
    if written:
        latex += rf"\left({', '.join(part.latex for part in written)}\right)"
        plain += f"({', '.join(part.plain for part in written)})"
    return Written(latex, plain, ATOM)


def _base_of(exponent: Nested) -> tuple[Nested, Nested] | None:
    """``(base, q)`` when an exponent is ``q log(base)``: a power whose exponent is not a number."""
    if not isinstance(exponent, tuple) or exponent[0] != "mul":
        return None
    logs = [part for part in exponent[1:] if isinstance(part, tuple) and part[0] == "log"]
    others = [part for part in exponent[1:] if part not in logs]
    if len(logs) != 1 or not others:
        return None
    return logs[0][1], others[0] if len(others) == 1 else ("mul", *others)


def write(term: Nested) -> Written:
    """A term in both notations."""
    if isinstance(term, str):
        return _atom(term)
    head, parts = str(term[0]), list(term[1:])
    if head in _RELATION and len(parts) == 2:
        left, right = write(parts[0]), write(parts[1])
        signs = _RELATION[head]
        plain = f"{left.plain} {signs[1]} {right.plain}"
        if visible(left.latex + right.latex) > LINE:
            lines = rf"\begin{{aligned}}&{left.latex}\\&\quad {signs[0]}\; {right.latex}\end{{aligned}}"
            return Written(lines, plain, SUM)
        return Written(f"{left.latex} {signs[0]} {right.latex}", plain, SUM)
    if head in ("E", "sup", "sum", "lambda") and len(parts) == 2:
        return _binder(head, str(parts[0]), parts[1])
    if head == "exp" and _base_of(parts[0]) is not None:
        return _power(*_base_of(parts[0]))  # type: ignore[misc]
    special = _special(head, parts)
    if special is not None:
        return special
    leading = next((n for n, part in enumerate(parts) if part not in INDICES), len(parts))
    if leading and head not in _FUNCTION:
        return _indexed(head, [str(part) for part in parts[:leading]], parts[leading:])
    written = [write(part) for part in parts]
    latex = ",\\,".join(part.latex for part in written)
    if head in ("max", "min"):
        function = rf"\{head}\left\{{{latex}\right\}}"
    else:
        bare = len(parts) == 1 and isinstance(parts[0], str) and parts[0].isdigit() and head in _FUNCTION
        function = _FUNCTION.get(head, name_latex(head)) + (
            f" {latex}" if bare else rf"\left({latex}\right)" if written else ""
        )
    return Written(function, f"{head}({', '.join(part.plain for part in written)})", ATOM)


def read(text: str) -> Written:
    """The S-expression ``text`` in both notations."""
    return write(read_nested(text))


def sides(claim: str) -> tuple[str, str]:
    """Left and right side of a relation, as S-expressions."""
    tree = read_nested(claim)
    if not isinstance(tree, tuple) or str(tree[0]) not in _RELATION or len(tree) != 3:
        raise ValueError(f"not a relation: {claim}")
    return spell(tree[1]), spell(tree[2])


def spell(term: Nested) -> str:
    """A term back as text."""
    return term if isinstance(term, str) else "(" + " ".join(spell(part) for part in term) + ")"


def is_numeric(term: Nested) -> bool:
    """Whether a term is an explicit number."""
    if isinstance(term, str):
        return re.fullmatch(r"-?\d+(/\d+)?", term) is not None
    return str(term[0]) in ("sqrt", "mul", "div", "pow", "pi") and all(is_numeric(part) for part in term[1:])


def numeric_factors(expression: str) -> tuple[str, ...]:
    """The explicit constant of each summand of an expression, where it is not 1: ``2 E[..] + 3 M
    sqrt(..)`` has 2 and 3."""

    def summands(term: Nested) -> list[Nested]:
        if isinstance(term, tuple) and term[0] == "add":
            return [leaf for part in term[1:] for leaf in summands(part)]
        return [term]

    def factors(term: Nested) -> list[Nested]:
        if isinstance(term, tuple) and term[0] == "mul":
            return [leaf for part in term[1:] for leaf in factors(part)]
        if isinstance(term, tuple) and term[0] == "div" and is_numeric(term[2]):
            return [*factors(term[1]), ("div", "1", term[2])]
        return [term]

    found = []
    for summand in summands(read_nested(expression)):
        numbers = [part for part in factors(summand) if is_numeric(part)]
        if numbers and numbers != ["1"]:
            found.append(spell(numbers[0] if len(numbers) == 1 else ("mul", *numbers)))
    return tuple(found)
