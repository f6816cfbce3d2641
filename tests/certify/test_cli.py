"""The command line as a process: what a shell pipeline sees."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from certify.cli import READER_GONE


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
