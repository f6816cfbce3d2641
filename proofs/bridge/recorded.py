"""What Coq's recorded results are worth here: only recorded, or compiled from these sources."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from proofs.bridge.compiler import ROOT, THEORIES, available
from proofs.bridge.sources import digests


@dataclass(frozen=True)
class Standing:
    """``recorded`` theorems; ``stale``: files changed since; ``compiled``: all built here, none older."""

    recorded: int
    stale: tuple[str, ...]
    compiled: bool
    coq_installed: bool

    @property
    def sentence(self) -> str:
        """One line for a reader."""
        if self.stale:
            return (
                f"Coq: {self.recorded} theorems recorded, but these sources changed since: "
                f"{', '.join(self.stale)}. Run: make coq && make -C proofs/coq record"
            )
        if self.compiled:
            return f"Coq: {self.recorded} theorems, compiled on this machine from these sources."
        todo = "Run: make coq" if self.coq_installed else "To run them here, install coq and run: make coq"
        return f"Coq: {self.recorded} theorems recorded from an earlier run, not run again here. {todo}"


def standing() -> Standing:
    """How the recorded theorems stand to the sources and to what is compiled here."""
    table = json.loads((ROOT / "theorems.json").read_text(encoding="utf-8"))["theorems"]
    now = digests()
    stale = {Path(e["file"]).stem for e in table if e["source_sha256"] != now.get(Path(e["file"]).stem)}
    compiled = all(_built(path) for path in THEORIES.glob("*.v"))
    return Standing(len(table), tuple(sorted(stale)), compiled, available())


def _built(source: Path) -> bool:
    product = source.with_suffix(".vo")
    return product.exists() and product.stat().st_mtime >= source.stat().st_mtime
