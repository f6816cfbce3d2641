"""The API reference in Markdown, from the docstrings of the public names."""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import inspect
import itertools
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType

from certify.teach.docs import anchor

# Module -> its public names; None: what it lists in ``__all__`` or defines itself.
PUBLIC: dict[str, tuple[str, ...] | None] = {
    "certify": None,
    "certify.kernel.enclosure": ("enclose", "exact_fraction", "largest", "smallest"),
    "certify.kernel.bound": ("evaluate", "parse"),
    "certify.kernel.product": ("frobenius_norm_of_product",),
    "certify.kernel.rounding": ("ASSUMPTIONS", "environment"),
    "certify.adapters": None,
    "certify.errors": None,
    "proofs.theorems": ("THEOREMS",),
    "proofs.records": ("Constant", "Hypothesis", "Theorem", "Variant"),
    "proofs.export": None,
    "proofs.claims": ("BadClaim", "Claim", "Verdict", "judge", "read_claim"),
    "proofs.build": ("Derivation",),
    "proofs.kernel": ("check",),
    "proofs.library": ("load", "recheck"),
    "proofs.walk": ("Reader", "to_latex", "to_markdown"),
}


def api(generated: str) -> str:
    """The whole page. A name that two modules offer is described where it is met first."""
    lines = ["# Python API", "", generated, ""]
    met: dict[int, str] = {}
    for name in PUBLIC:
        module = importlib.import_module(name)
        lines += [f"## {name}", "", _markdown(inspect.getdoc(module)).split("\n\n")[0], ""]
        again = []
        for public in _public_names(name, module):
            value = getattr(module, public)
            if id(value) in met:
                again.append(f"[`{public}`](#{met[id(value)]})")
                continue
            met[id(value)] = anchor(public)
            lines += _entry(public, value)
        if again:
            lines += [f"Described above: {', '.join(again)}.", ""]
    return "\n".join(lines).rstrip() + "\n"


def _public_names(name: str, module: ModuleType) -> list[str]:
    listed = PUBLIC[name] or getattr(module, "__all__", None)
    if listed is not None:
        return sorted(listed)
    return sorted(
        public
        for public, value in vars(module).items()
        if not public.startswith("_") and str(getattr(value, "__module__", None)).startswith(name)
    )


def _entry(name: str, value: object) -> list[str]:
    lines = [f"### {name}", ""]
    if isinstance(value, Mapping):
        return [*lines, *_mapping(value), ""]
    if inspect.isclass(value):
        bases = [f"`{base.__name__}`" for base in value.__bases__ if base is not object]
        lines += [f"A class; a kind of {', '.join(bases)}.", ""] if bases else []
    else:
        lines += _signature(name, value)  # type: ignore[arg-type]
    lines += [_markdown(inspect.getdoc(value)), ""]
    if inspect.isclass(value) and not issubclass(value, Exception):
        lines += [textwrap.indent(member, "  ").replace("  ", "* ", 1) for member in _attributes(value)]
        lines += [""] if lines[-1] else []
        for method, call in _methods(value):
            lines += [*_signature(f"{name}.{method}", call), _markdown(inspect.getdoc(call)), ""]
    return lines


def _mapping(value: Mapping[str, object]) -> list[str]:
    if all(isinstance(text, str) for text in value.values()):
        return [f"* `{key}`: {text}" for key, text in value.items()]
    return [f"A mapping with the keys {', '.join(f'`{key}`' for key in value)}."]


def _attributes(value: type) -> Iterator[str]:
    """The fields of a dataclass with their types and notes, and the documented properties."""
    notes = _field_notes(value)
    for field in dataclasses.fields(value) if dataclasses.is_dataclass(value) else ():
        if not field.name.startswith("_"):
            note = f": {notes[field.name]}" if field.name in notes else ""
            yield f"`{field.name}` (`{field.type}`){note}"
    for name, member in vars(value).items():
        if isinstance(member, property | functools.cached_property) and not name.startswith("_"):
            if document := inspect.getdoc(member):
                yield f"`{name}`: {_markdown(document)}"


def _field_notes(value: type) -> dict[str, str]:
    """The texts that stand below the fields of a class in its source."""
    body = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0].body  # type: ignore[attr-defined]
    notes = {}
    for field, note in itertools.pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(note, ast.Expr):
            if isinstance(field.target, ast.Name) and isinstance(note.value, ast.Constant):
                notes[field.target.id] = _markdown(inspect.cleandoc(str(note.value.value)))
    return notes


def _methods(value: type) -> Iterator[tuple[str, Callable[..., object]]]:
    for name, function in sorted(vars(value).items()):
        call = function.__func__ if isinstance(function, classmethod | staticmethod) else function
        if not name.startswith("_") and inspect.isfunction(call) and inspect.getdoc(call):
            yield name, call


def _markdown(document: str | None) -> str:
    """A docstring without the marks of other documentation tools; ``Args:`` and the like become lists."""
    text = re.sub(r":(?:class|func|data|mod|meth):`~?(?:[\w.]+\.)?(\w+)`", r"`\1`", document or "")
    lines: list[str] = []
    inside = False
    for line in text.replace("``", "`").splitlines():
        if re.fullmatch(r"(Args|Returns|Raises):", line):
            inside = True
            lines += [line, ""]
        elif inside and re.match(r" {4}\S", line) and (not lines[-1] or re.match(r" {4}[\w, ]+: ", line)):
            lines.append(f"* {line.strip()}")
        elif inside and line.startswith("    "):
            lines.append(f"  {line.strip()}")
        else:
            inside = inside and not line.strip()
            lines.append(line)
    return "\n".join(lines)


class _Bare(str):
    """An annotation that is printed without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _signature(name: str, function: Callable[..., object]) -> list[str]:
    """The call with annotations as they are written."""
    signature = inspect.signature(function)

    def bare(annotation: object) -> object:
        return _Bare(annotation) if isinstance(annotation, str) else annotation

    parameters = [
        p.replace(annotation=bare(p.annotation))
        for p in signature.parameters.values()
        if p.name not in ("self", "cls")
    ]
    shown = signature.replace(parameters=parameters, return_annotation=bare(signature.return_annotation))
    return ["```text", f"{name}{shown}", "```", ""]
