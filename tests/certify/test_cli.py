"""The command line as a process: what a shell pipeline sees."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from certify.cli import EXIT_CODES, OWN_ERROR, READER_GONE, build_parser, main
from certify.errors import DataError, Undecided


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--show", "lemma-7"]])
def test_a_reader_that_goes_away_ends_in_no_traceback(arguments: list[str]) -> None:
    """``certify ... | head -1`` once the reader is gone: silence and the exit code of a broken pipe."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "certify.cli", *arguments]
    # argparse swallows the error of a write that is not buffered
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False, env=buffered
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (READER_GONE, "")


def failing(error: BaseException) -> Callable[[argparse.Namespace], int]:
    def run(_: argparse.Namespace) -> int:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (DataError("data.npz: no labels"), 2, "data.npz: no labels"),
        (Undecided("too close"), 1, "too close"),
        (
            PermissionError(13, "Permission denied", "out/report.json"),
            2,
            "out/report.json: Permission denied",
        ),
        (MemoryError(), 2, "out of memory"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ZeroDivisionError("float division"), OWN_ERROR, "float division"),
    ],
)
def test_no_error_reaches_the_user_as_a_traceback(
    error: BaseException,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every kind of failure is one line with the exit code of its kind; details of a bug go to a file."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("certify.commands.track.run", failing(error))
    assert main(["track", "x", "--out", str(tmp_path)]) == code
    written = capsys.readouterr().err
    assert written.startswith("certify track: ")
    assert said in written
    assert written.count("\n") == 1
    kept = list(tmp_path.glob("certify-*.txt"))
    assert len(kept) == (1 if code == OWN_ERROR else 0)
    for path in kept:
        assert str(path) in written
        assert "ZeroDivisionError" in path.read_text()


def test_help_lists_every_exit_code_and_every_command_has_examples() -> None:
    codes = [int(code) for code in re.findall(r"^  (\d+)  ", EXIT_CODES, re.MULTILINE)]
    assert codes == [0, 1, 2, OWN_ERROR, 130, READER_GONE]
    commands = next(a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction))
    for name, parser in commands.choices.items():
        text = parser.format_help()
        assert "examples:" in text, name
        assert "exit codes" in text, name
