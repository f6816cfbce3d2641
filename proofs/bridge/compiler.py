"""Running Coq's own programs: the compiler ``coqc``, the toplevel ``coqtop`` and the checker ``coqchk``."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "coq"
THEORIES = ROOT / "theories"


class CoqMissing(RuntimeError):
    """Coq or the compiled theories are not there; the message says what to do."""


@dataclass(frozen=True)
class Outcome:
    """What a run of Coq said."""

    ok: bool
    output: str

    @property
    def first_error(self) -> str:
        """The first lines of the error, for messages."""
        at = self.output.find("Error")
        return self.output[max(at, 0) :][:300].strip()


def available() -> bool:
    """Whether ``coqc`` is installed."""
    return shutil.which("coqc") is not None


def require(theories: bool = True) -> None:
    """Raise ``CoqMissing`` unless Coq (and, if asked, the compiled theories) can be used."""
    if not available():
        raise CoqMissing(
            "coqc was not found. Install it with: apt-get install coq libcoq-coquelicot libcoq-interval. "
            "Without it the recorded results in proofs/coq/theorems.json can still be read."
        )
    if theories and not (THEORIES / "Main.vo").exists():
        raise CoqMissing("the Coq theories are not compiled yet. Run: make coq")


def compile_text(
    source: str, *, theories: Path | None = None, name: str = "Generated", seconds: int = 300
) -> Outcome:
    """Compile one file's text against the compiled theories, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="coq-") as folder:
        path = Path(folder) / f"{name}.v"
        path.write_text(source, encoding="utf-8")
        return compile_file(path, theories=theories, seconds=seconds)


def compile_file(path: Path, *, theories: Path | None = None, seconds: int = 300) -> Outcome:
    """Compile ``path``; a run longer than ``seconds`` counts as refused."""
    command = ["coqc", "-q", "-w", "none", "-Q", str(theories or THEORIES), "Attention", str(path)]
    return run(command, seconds=seconds)


def run(command: list[str], *, seconds: int, text: str | None = None) -> Outcome:
    """Run one of Coq's programs and collect what it says."""
    try:
        done = subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
    except subprocess.TimeoutExpired:
        return Outcome(False, f"Error: no answer within {seconds} seconds")
    return Outcome(done.returncode == 0, done.stdout + done.stderr)
