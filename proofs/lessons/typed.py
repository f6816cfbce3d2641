"""Words of proof objects with their typed formulas set: ``1 - delta <= s_k^2`` for a page or in LaTeX.

Statements and reasons are plain text, so that a terminal can show them. This turns ``<=``, ``||``, ``sqrt``,
Greek letters, ``x_i`` and ``x^2`` into signs. Everything else stays as it is.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass

_GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eps": "ε", "eta": "η", "kappa": "κ",
    "lambda": "λ", "nu": "ν", "omega": "ω", "rho": "ρ", "sigma": "σ", "tau": "τ", "Omega": "Ω", "Psi": "Ψ",
}  # fmt: skip
_COMMAND = {"eps": "varepsilon"}
_TOKEN = re.compile(
    r"(?P<sign><=|>=|\|\||->|sqrt(?=[ (](?!\d\)))|sqrt\(\d\))"
    r"|(?<![A-Za-z-])(?P<greek>" + "|".join(_GREEK) + r")(?![A-Za-z'-])"
    r"|(?<=[A-Za-z0-9|])_(?P<below>\*|[A-Za-z0-9]+)"
    r"|\^(?P<above>-?(?:\d+(?:/\d+)?|[A-Za-z]+|\|[a-z]\|))"
)
_ROOTS = range(2, 10)
_HTML_SIGN = {"<=": "≤", ">=": "≥", "||": "‖", "->": "→", "sqrt": "√"} | {
    f"sqrt({n})": f"√{n}" for n in _ROOTS
}
_LATEX_SIGN = {"<=": r"$\le$", ">=": r"$\ge$", "||": r"$\|$", "->": r"$\to$", "sqrt": r"$\surd$"} | {
    f"sqrt({n})": rf"$\sqrt{{{n}}}$" for n in _ROOTS
}


@dataclass(frozen=True)
class _Form:
    text: Callable[[str], str]
    sign: Callable[[str], str]
    greek: Callable[[str], str]
    below: Callable[[str], str]
    above: Callable[[str], str]


def _set(text: str, form: _Form) -> str:
    parts, position = [], 0
    for match in _TOKEN.finditer(text):
        parts.append(form.text(text[position : match.start()]))
        kind = str(match.lastgroup)
        parts.append(getattr(form, kind)(match[kind]))
        position = match.end()
    return "".join(parts) + form.text(text[position:])


def as_html(text: str) -> str:
    """Escaped HTML."""
    return _set(
        text,
        _Form(
            html.escape,
            _HTML_SIGN.__getitem__,
            _GREEK.__getitem__,
            lambda x: f"<sub>{x}</sub>",
            lambda x: f"<sup>{x}</sup>",
        ),
    )


def as_latex(text: str, escape: Callable[[str], str]) -> str:
    """LaTeX source; ``escape`` is for the words in between."""
    return _set(
        text,
        _Form(
            escape,
            _LATEX_SIGN.__getitem__,
            lambda x: rf"$\{_COMMAND.get(x, x)}$",
            lambda x: "$_*$" if x == "*" else rf"$_{{\mathrm{{{x}}}}}$",
            lambda x: rf"$^{{\mathrm{{{x}}}}}$",
        ),
    )
