"""Reading the ``.v`` files: which theorems there are, what their comments say, who depends on whom."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from proofs.bridge.compiler import THEORIES

NUMERIC = ("Numbers",)
"""Files that use the tactic ``interval``: left out of ``coqchk`` and of the list of axioms."""

_THEOREM = re.compile(r"^(Theorem|Corollary)\s+([A-Za-z_0-9']+)", re.MULTILINE)
_REQUIRE = re.compile(r"From Attention Require Import\s+([^.]*)\.")


@dataclass(frozen=True)
class Named:
    """A theorem of a file: its name, the words of the comment above it, and where it starts."""

    name: str
    file: str
    words: str
    offset: int


def modules(folder: Path = THEORIES) -> list[str]:
    """Names of all theories, each after the ones it needs."""
    needs = {path.stem: requires(path) for path in sorted(folder.glob("*.v"))}
    ordered: list[str] = []

    def visit(name: str) -> None:
        if name not in ordered:
            for other in needs[name]:
                visit(other)
            ordered.append(name)

    for name in needs:
        visit(name)
    return ordered


def requires(path: Path) -> list[str]:
    """The theories that a file imports."""
    return [word for names in _REQUIRE.findall(path.read_text(encoding="utf-8")) for word in names.split()]


def dependents(name: str, folder: Path = THEORIES) -> list[str]:
    """All theories that need ``name``, directly or not, in an order in which they can be compiled."""
    found = {name}
    ordered = []
    for other in modules(folder):
        if other != name and found & set(requires(folder / f"{other}.v")):
            found.add(other)
            ordered.append(other)
    return ordered


def theorems(folder: Path = THEORIES) -> list[Named]:
    """Every ``Theorem`` and ``Corollary`` of the symbolic part, in reading order."""
    return [
        named
        for module in modules(folder)
        if module not in NUMERIC
        for named in _in_file(folder / f"{module}.v")
    ]


def _in_file(path: Path) -> list[Named]:
    text = path.read_text(encoding="utf-8")
    return [
        Named(m.group(2), path.stem, _words_above(text, m.start()), m.start())
        for m in _THEOREM.finditer(text)
    ]


def _words_above(text: str, offset: int) -> str:
    """The comment that ends directly above ``offset``, as one line of plain words."""
    before = text[:offset].rstrip()
    if not before.endswith("*)"):
        return ""
    start = before.rfind("(*")
    words = re.sub(r"\s+", " ", before[start:].strip("(*) "))
    return re.sub(r"\[\[(.*?)\]\]", r"[\1]", words.replace("** ", "")).strip()


@lru_cache(maxsize=1)
def digests() -> dict[str, str]:
    """sha256 of every theory's source."""
    return {path.stem: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(THEORIES.glob("*.v"))}
