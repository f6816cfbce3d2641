"""Mutation tests of the Coq development: every listed change must be rejected.

A mutant is compiled in a folder of its own that links to the compiled theories; if its file still
compiles, the files that need it are compiled too, in order. A mutant that survives all of them is a
failure: the changed text carried no weight. ``python -m proofs.bridge.mutants`` runs all.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from proofs.bridge.compiler import ROOT, THEORIES, compile_file, require
from proofs.bridge.sources import NUMERIC, dependents

SKIPPED_DEPENDENTS = ("Bridge",)
_STALE = "makes inconsistent assumptions"


@dataclass(frozen=True)
class Mutant:
    """One change of one file; ``find`` occurs exactly once in it."""

    file: str
    what: str
    find: str
    replace: str
    fast: bool = False


@dataclass(frozen=True)
class Verdict:
    """Whether Coq rejected a mutant, and in which file."""

    mutant: Mutant
    rejected: bool
    where: str
    message: str
    seconds: float


def mutants() -> list[Mutant]:
    """The list in ``proofs/coq/mutants.toml``."""
    table = tomllib.loads((ROOT / "mutants.toml").read_text(encoding="utf-8"))
    return [Mutant(**entry) for entry in table["mutant"]]


def mutated(mutant: Mutant) -> str:
    """The file's text with the change; raises if the text to replace is not there exactly once."""
    text = (THEORIES / f"{mutant.file}.v").read_text(encoding="utf-8")
    count = text.count(mutant.find)
    if count != 1:
        raise ValueError(
            f"mutant {mutant.what!r}: the text to change occurs {count} times in {mutant.file}.v"
        )
    if mutant.find == mutant.replace:
        raise ValueError(f"mutant {mutant.what!r} changes nothing")
    return text.replace(mutant.find, mutant.replace)


def judge(mutant: Mutant) -> Verdict:
    """Compile the mutant and, while that succeeds, what needs it."""
    start = time.time()
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        place = Path(folder)
        for path in [*THEORIES.glob("*.v"), *THEORIES.glob("*.vo")]:
            os.symlink(path, place / path.name)
        source = place / f"{mutant.file}.v"
        source.unlink()
        source.write_text(mutated(mutant), encoding="utf-8")
        for name in (mutant.file, *dependents(mutant.file)):
            if name in SKIPPED_DEPENDENTS or name in NUMERIC:
                continue
            compiled = place / f"{name}.vo"
            compiled.unlink(missing_ok=True)
            outcome = compile_file(place / f"{name}.v", theories=place)
            if not outcome.ok:
                if _STALE in outcome.output:
                    raise RuntimeError(f"{name} was compiled against an old file: {outcome.first_error}")
                return Verdict(mutant, True, name, outcome.first_error, time.time() - start)
    return Verdict(mutant, False, "", "every file still compiles", time.time() - start)


def judge_all(chosen: Sequence[Mutant], workers: int = 2) -> list[Verdict]:
    """Judge many mutants, ``workers`` at a time; progress goes to stderr."""
    verdicts: list[Verdict] = []
    with ThreadPoolExecutor(workers) as pool:
        for verdict in pool.map(judge, chosen):
            verdicts.append(verdict)
            state = f"rejected in {verdict.where}" if verdict.rejected else "SURVIVED"
            print(
                f"[{len(verdicts)}/{len(chosen)}] {verdict.mutant.file}: {verdict.mutant.what}: {state} "
                f"({verdict.seconds:.1f} s)",
                file=sys.stderr,
            )
    return verdicts


def main(arguments: Sequence[str]) -> int:
    """Run all mutants, or with ``--fast`` the fast ones; 0 if all are rejected."""
    require()
    chosen = [m for m in mutants() if m.fast or "--fast" not in arguments]
    survivors = [v for v in judge_all(chosen) if not v.rejected]
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutants rejected", file=sys.stderr)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
