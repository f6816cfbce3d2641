"""``certify teach`` as a user runs it."""

from __future__ import annotations

import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from certify.cli import main
from certify.teach.graph import Node, draw, layers
from certify.teach.serve import address, loopback_server


def test_out_writes_the_chosen_chapters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "course"
    assert main(["teach", "--out", str(out), "--no-browser", "--chapters", "1,4"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "chapter 1 of 2" in captured.err
    assert sorted(path.name for path in out.glob("chapter-*.html")) == [
        "chapter-01-gap.html",
        "chapter-04-contraction.html",
    ]
    assert (out / "static/katex/LICENSE").read_text().startswith("The MIT License")
    text = (out / "chapter-04-contraction.html").read_text()
    assert "chapter-05" not in text, "no link to a chapter that is not there"


def test_export_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["teach", "--export", "latex", "--chapters", "2"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("\\documentclass")
    assert captured.err == ""


@pytest.mark.parametrize("arguments", [["--chapters", "12"], ["--chapters", "0"]])
def test_unknown_chapter(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["teach", *arguments]) == 2
    assert "chapters run from 1 to 11" in capsys.readouterr().err


def test_chapters_must_be_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["teach", "--chapters", "one"])
    assert stop.value.code == 2
    assert "like 1,4,7" in capsys.readouterr().err


def test_out_may_not_be_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "course"
    file.write_text("mine")
    assert main(["teach", "--out", str(file), "--no-browser"]) == 2
    assert "is a file" in capsys.readouterr().err
    assert file.read_text() == "mine"


def test_terminal_stops_politely_when_input_ends() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "certify.cli", "teach", "--terminal", "--chapters", "1"],
        input="2\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0
    assert "Chapter 1." in done.stdout
    assert "The input ended" in done.stderr


def test_server_listens_on_loopback_only(tmp_path: Path) -> None:
    import threading

    (tmp_path / "index.html").write_text("hello")
    with loopback_server(tmp_path) as server:
        assert server.server_address[0] == "127.0.0.1"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with urllib.request.urlopen(address(server), timeout=10) as reply:
                assert reply.read() == b"hello"
        finally:
            server.shutdown()
            thread.join()


def _node(name: str, *needs: str) -> Node:
    return Node(name, name, "coq", "lemma", "#", needs, name)


def test_graph_puts_prerequisites_to_the_left() -> None:
    columns = layers([_node("a"), _node("b", "a"), _node("c", "a", "b"), _node("d", "c"), _node("e")])
    assert columns[0][0] == "a"
    place = {name: index for index, column in enumerate(columns) for name in column}
    assert place["a"] < place["b"] < place["c"] < place["d"]


def test_graph_refuses_circles() -> None:
    with pytest.raises(ValueError, match="circular dependency: a -> b -> a"):
        layers([_node("a", "b"), _node("b", "a")])


def test_graph_escapes_titles() -> None:
    assert "<b>" not in draw([_node("<b>bold</b>")], "a graph")
