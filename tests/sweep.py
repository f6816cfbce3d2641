"""A long soundness sweep: ``python -m tests.sweep --matrices 100000 --state FILE``.

Draws matrices of every kind of ``tests.strategies`` in chunks (one seed per chunk), attacks all certifiers
with hostile factors and products, half of the chunks with flush-to-zero switched on, and compares with
exact truth. Progress goes to stderr; after every chunk the state file is rewritten, so an interrupted
sweep resumes where it stopped. Exit code 1 if a violation was found.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

import torch

from tests.soundness import Effort, Ledger, attack

CHUNK = 250
LIGHT = Effort(factors=2, eigenvectors=1, rank_chance=0.1, group_chance=0.3)


def load(path: Path | None) -> tuple[int, Ledger]:
    """The number of finished chunks and what they found."""
    if path is None or not path.exists():
        return 0, Ledger()
    state = json.loads(path.read_text())
    return state["chunks"], Ledger(Counter(state["counts"]), state["violations"])


def save(path: Path | None, chunks: int, ledger: Ledger, seconds: float) -> None:
    if path is None:
        return
    state = {
        "matrices": chunks * CHUNK,
        "chunks": chunks,
        "checks": sum(ledger.counts.values()),
        "violations": ledger.violations,
        "seconds_last_run": round(seconds),
        "counts": dict(sorted(ledger.counts.items())),
    }
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(state, indent=1))
    partial.replace(path)


def sweep(matrices: int, state: Path | None, seconds: float) -> Ledger:
    """Run until ``matrices`` matrices are done in all, or the time is over."""
    torch.set_num_threads(1)
    chunks, ledger = load(state)
    start = time.monotonic()
    while chunks * CHUNK < matrices and time.monotonic() - start < seconds:
        attack(chunks, CHUNK, LIGHT, ledger, flush=chunks % 2 == 1)
        chunks += 1
        save(state, chunks, ledger, time.monotonic() - start)
        checks = sum(ledger.counts.values())
        print(
            f"{chunks * CHUNK} of {matrices} matrices, {checks} checks, {len(ledger.violations)} violations, "
            f"{time.monotonic() - start:.0f} s",
            file=sys.stderr,
            flush=True,
        )
    return ledger


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matrices", type=int, default=100_000)
    parser.add_argument("--state", type=Path, help="JSON file to resume from and to write after every chunk")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this long")
    arguments = parser.parse_args()
    ledger = sweep(arguments.matrices, arguments.state, arguments.seconds)
    refused = sum(count for claim, count in ledger.counts.items() if claim.endswith("(refused)"))
    summary = {
        "checks": sum(ledger.counts.values()),
        "refused": refused,
        "violations": len(ledger.violations),
        "counts": dict(sorted(ledger.counts.items())),
    }
    print(json.dumps(summary, indent=1))
    for violation in ledger.violations[:20]:
        print(violation, file=sys.stderr)
    return 1 if ledger.violations else 0


if __name__ == "__main__":
    sys.exit(main())
