"""Progress of a run: bars for a reader, calm lines for a log, nothing on stdout."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from certify.report import progress
from certify.report.progress import Bars


def test_a_counted_message_moves_its_bar() -> None:
    screen = Console(file=io.StringIO(), force_terminal=True, width=120)
    with Bars("certify report", screen) as shown:
        shown("train the head")
        shown("features: 200 of 800 texts")
        shown("features: 800 of 800 texts")
        shown.start("weights", 2)
        shown.advance("a [bold]name[/]")
    text = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "train the head" in text
    assert "800/800" in text
    assert "of 800" not in text
    assert "1/2" in text
    assert "left" in text
    assert "a [bold]name[/]" in text, "names are not markup"


def test_a_log_gets_a_line_at_the_end_of_a_stage_and_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 1000, 7))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))
    with Bars("certify report", Console(file=io.StringIO(), force_terminal=False)) as shown:
        shown("train the head")
        for done in range(1, 9):
            shown(f"features: {done} of 8 texts")
        shown("features: 1 of 8 texts")  # the same stage again
        shown.start("weights", 1)
        shown.advance("w")
    written = capsys.readouterr()
    assert written.out == ""
    lines = written.err.splitlines()
    assert lines[0] == "certify report: train the head"
    assert "features: 8 of 8 in 56 s" in written.err
    assert "features: 3 of 8, about 35 s left (texts)" in written.err
    assert lines[-1] == "certify report: weights: 1 of 1 in 7 s"
    assert len(lines) == 5
