"""Which axioms the theorems rest on: ``Print Assumptions`` of every theorem, and ``coqchk`` on the whole.

``python -m proofs.bridge.axioms`` compares both with ``proofs/coq/axioms.txt`` and fails on any other axiom.
"""

from __future__ import annotations

import re
import sys
import time

from proofs.bridge.compiler import ROOT, THEORIES, compile_text, require, run
from proofs.bridge.sources import NUMERIC, Named, modules, theorems

_MARK = "@@"
CHUNK = 10
"""Theorems whose axioms are printed in one run of Coq."""
SECONDS = 900
"""Patience for one run: a busy machine is not an error."""


def allowed() -> set[str]:
    """The axioms that may appear, by their full names."""
    return set((ROOT / "axioms.txt").read_text(encoding="utf-8").split())


def assumptions(named: list[Named]) -> dict[str, list[str]]:
    """For each theorem (``File.name``) the full names of the axioms that Coq prints."""
    found: dict[str, list[str]] = {}
    for start in range(0, len(named), CHUNK):
        found |= _assumptions(named[start : start + CHUNK])
    return found


def _assumptions(named: list[Named]) -> dict[str, list[str]]:
    files = sorted({n.file for n in named})
    lines = [f"From Attention Require {' '.join(files)}."]
    for n in named:
        lines.append(
            f'Goal True. idtac "{_MARK}{n.file}.{n.name}". Abort.\nPrint Assumptions {n.file}.{n.name}.'
        )
    outcome = compile_text("\n".join(lines) + "\n", seconds=SECONDS)
    if not outcome.ok:
        raise RuntimeError(f"Print Assumptions failed: {outcome.first_error}")
    return parse(outcome.output)


def all_assumptions(named: list[Named]) -> list[str]:
    """The axioms that any of the theorems rests on: one ``Print Assumptions`` of all of them together."""
    files = sorted({n.file for n in named})
    parts = ", ".join(f"@{n.file}.{n.name}" for n in named)
    outcome = compile_text(
        f"From Attention Require {' '.join(files)}.\nDefinition every_theorem := ({parts}).\n"
        f'Goal True. idtac "{_MARK}every". Abort.\nPrint Assumptions every_theorem.\n'
    )
    if not outcome.ok:
        raise RuntimeError(f"Print Assumptions failed: {outcome.first_error}")
    return parse(outcome.output)["every"]


def parse(output: str) -> dict[str, list[str]]:
    """Read the output of ``Print Assumptions`` between the marks."""
    found: dict[str, list[str]] = {}
    for part in output.split(_MARK)[1:]:
        name, _, rest = part.partition("\n")
        if "Closed under the global context" in rest:
            found[name.strip()] = []
            continue
        names = re.findall(r"^([A-Za-z_][\w.']*)\s*(?::|$)", rest.replace("Axioms:", ""), re.MULTILINE)
        if not names:
            raise RuntimeError(f"no axioms could be read for {name.strip()}: {rest[:200]!r}")
        found[name.strip()] = sorted(full_name(axiom) for axiom in names)
    return found


def full_name(axiom: str) -> str:
    """The full name of an axiom that Coq prints by a shorter one; an unknown axiom keeps its printed name."""
    for name in allowed():
        if name == axiom or name.endswith("." + axiom):
            return name
    return axiom


def checked_axioms() -> list[str]:
    """The axioms that ``coqchk`` finds in the compiled symbolic part; raises if it rejects a file."""
    chosen = [f"Attention.{m}" for m in modules() if m not in NUMERIC]
    outcome = run(["coqchk", "-silent", "-o", "-Q", str(THEORIES), "Attention", *chosen], seconds=2 * SECONDS)
    if not outcome.ok:
        raise RuntimeError(f"coqchk rejects the compiled theories: {outcome.output[-500:]}")
    return parse_coqchk(outcome.output)


def parse_coqchk(output: str) -> list[str]:
    """The list under ``* Axioms:``; every other section of the summary must be empty."""
    sections = re.split(r"^\* ", output, flags=re.MULTILINE)[1:]
    found: list[str] = []
    seen = False
    for section in sections:
        title, _, rest = section.partition(":")
        if title == "Axioms":
            seen = True
            found = [] if "<none>" in rest else rest.split()
        elif title.startswith("Constants/Inductives") or title.startswith("Inductives"):
            if "<none>" not in rest:
                raise RuntimeError(f"coqchk reports: {section.strip()}")
    if not seen:
        raise RuntimeError(f"no summary in the output of coqchk: {output[-300:]!r}")
    return sorted(found)


def main() -> int:
    """Compare; 0 if only allowed axioms appear."""
    require()
    start = time.time()
    named = theorems()
    printed = all_assumptions(named)
    bad = sorted(set(printed) - allowed())
    if bad:
        print(f"axioms that proofs/coq/axioms.txt does not allow: {', '.join(bad)}", file=sys.stderr)
        for name, axioms in assumptions(named).items():
            if set(axioms) & set(bad):
                print(f"  {name} rests on {', '.join(sorted(set(axioms) & set(bad)))}", file=sys.stderr)
    print(
        f"{len(named)} theorems rest on {len(printed)} axioms ({time.time() - start:.0f} s)", file=sys.stderr
    )
    whole = checked_axioms()
    strange = sorted(set(whole) - allowed())
    print(f"coqchk: {len(whole)} axioms in {time.time() - start:.0f} s: {', '.join(whole)}", file=sys.stderr)
    if strange:
        print(f"coqchk finds axioms that are not allowed: {', '.join(strange)}", file=sys.stderr)
    return 1 if bad or strange else 0


if __name__ == "__main__":
    sys.exit(main())
