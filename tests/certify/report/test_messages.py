"""Progress of the risk report: bars for a reader, lines for a log, nothing on stdout."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from certify.report.progress import Messages


def test_a_counted_message_moves_its_bar() -> None:
    screen = Console(file=io.StringIO(), force_terminal=True, width=120)
    with Messages("certify report", screen) as progress:
        progress("train the head")
        progress("features: 200 of 800 texts")
        progress("features: 800 of 800 texts")
    shown = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "train the head" in shown
    assert "800/800" in shown
    assert "of 800" not in shown


def test_a_log_gets_lines_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with Messages("certify report", Console(file=io.StringIO(), force_terminal=False)) as progress:
        progress("features: 200 of 800 texts")
    written = capsys.readouterr()
    assert written.err == "certify report: features: 200 of 800 texts\n"
    assert written.out == ""
