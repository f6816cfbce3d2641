"""All code in the docs runs, all commands are real, generated pages are current."""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from certify.cli import build_parser
from certify.teach import reference
from certify.teach.docs import parser

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "examples/README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    language: str
    code: str


def blocks() -> Iterator[Block]:
    for page in PAGES:
        for token in parser().parse(page.read_text(encoding="utf-8")):
            if token.type == "fence":
                yield Block(page.relative_to(ROOT).as_posix(), (token.info.split() or [""])[0], token.content)


BLOCKS = list(blocks())
PYTHON_PAGES = sorted({block.page for block in BLOCKS if block.language == "python"})
COMMANDS = sorted(
    {
        line.removeprefix("$ ").split("  #")[0].strip()
        for block in BLOCKS
        if block.language in ("sh", "console", "bash")
        for line in block.code.splitlines()
        if line.strip() and not line.startswith("#")
    }
)
# What takes minutes or a download runs elsewhere: `make report`, the long profile, or a test of its own area.
SLOW = (
    "certify report",
    "certify verify",
    "certify demo",
    "certify study",
    "certify compare",
    "certify track",
)
SERVES = "certify teach"  # opens a browser and waits


def test_only_known_languages() -> None:
    assert {block.language for block in BLOCKS} <= {
        "",
        "python",
        "sh",
        "console",
        "bash",
        "toml",
        "json",
        "text",
        "math",
        "coq",
    }


@pytest.mark.parametrize("page", PYTHON_PAGES)
def test_python_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    ran = 0
    for block in BLOCKS:
        if block.page != page or block.language != "python":
            continue
        if ">>>" in block.code:
            test = doctest.DocTestParser().get_doctest(block.code, names, page, page, 0)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
            report = io.StringIO()
            runner.run(test, out=report.write, clear_globs=False)
            assert runner.failures == 0, report.getvalue()
            names = test.globs
        else:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block.code, page, "exec"), names)
        ran += 1
    assert ran


@pytest.mark.parametrize("command", COMMANDS)
def test_command_is_real(command: str) -> None:
    """Each command names a target, a test file or arguments that the parser takes."""
    words = shlex.split(command)
    while words and "=" in words[0]:
        words = words[1:]
    if words[0] == "certify":
        build_parser().parse_args(words[1:])
    elif words[0] == "make":
        makefile = (ROOT / "Makefile").read_text()
        for target in words[1:]:
            if not target.startswith("-") and "=" not in target:
                folder = "proofs/coq/Makefile" if "-C" in words else None
                assert re.search(
                    rf"^{re.escape(target)}:", (ROOT / folder).read_text() if folder else makefile, re.M
                )
    elif words[0] == "pytest":
        assert all((ROOT / word.split("::")[0]).exists() for word in words[1:] if not word.startswith("-"))
    elif words[:2] == ["python", "-m"]:
        assert words[2] == "pytest" or (ROOT / (words[2].replace(".", "/") + ".py")).exists()
    else:
        assert words[0] in (".", "git", "pip", "sudo", "apt-get", "cd", "coqc"), command


def _run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.run(
        shlex.split(command),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
        env=environment,
    )


QUICK = [c for c in COMMANDS if c.startswith("certify ") and not c.startswith(SLOW) and c != SERVES]


@pytest.mark.parametrize("command", QUICK)
def test_quick_command_runs(command: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    claim = next(b for b in BLOCKS if b.page == "docs/how-to/check-a-claim.md" and b.language == "toml")
    (tmp_path / "claim.toml").write_text(claim.code, encoding="utf-8")
    done = _run(command, tmp_path)
    refuted = "khintchine-1.3" in command or command.endswith(" claim.toml")  # as the page says
    assert done.returncode == (1 if refuted else 0), done.stderr
    assert done.stdout or done.stderr


def test_the_classifier_page_runs_on_small_data(tmp_path: Path) -> None:
    """The commands of `certify a classifier` on arrays of the form that the page describes."""
    commands = [
        c
        for c in COMMANDS
        if "head.npz" in c or (c.startswith("certify verify out/risk/") and "--model" not in c)
    ]
    assert [c.split()[1] for c in commands] == ["report", "verify"]
    chance = np.random.default_rng(1)
    weight = chance.normal(size=(2, 8)).astype(np.float32)
    for name, size in (("sample", 1500), ("held-out", 300)):
        features = chance.normal(size=(size, 8)).astype(np.float32)
        np.savez(tmp_path / f"{name}.npz", features=features, labels=np.argmax(features @ weight.T, axis=1))
    np.savez(tmp_path / "head.npz", weight=weight, bias=np.zeros(2, np.float32))
    for command in commands:
        done = _run(command, tmp_path)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/risk/risk.html").exists()


def test_toml_blocks_are_claims() -> None:
    found = [block for block in BLOCKS if block.language == "toml"]
    assert found
    for block in found:
        assert {"name", "about", "bound"} <= set(tomllib.loads(block.code))


@pytest.mark.parametrize("name", reference.PAGES)
def test_generated_reference_is_current(name: str) -> None:
    text = (ROOT / "docs/reference" / name).read_text(encoding="utf-8")
    assert text == reference.PAGES[name](), "renew with: python -m certify.teach.reference --write"


def test_reference_notices_a_stale_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reference.main(["--folder", str(tmp_path), "--write"]) == 0
    assert reference.main(["--folder", str(tmp_path)]) == 0
    (tmp_path / "cli.md").write_text("old")
    assert reference.main(["--folder", str(tmp_path)]) == 1
    assert "out of date: cli.md" in capsys.readouterr().err
