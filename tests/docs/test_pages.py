"""All Python in the docs runs, all commands are real, generated pages are current.

The commands themselves are run by `make docs-check`: `test_commands.py`.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from certify.cli import build_parser
from certify.teach import reference
from tests.docs.pages import BLOCKS, ROOT, commands, in_lines, is_a_name, python_pages, run_python

COMMANDS = [command.text for command in commands()]
SPECIAL = tomllib.loads((Path(__file__).parent / "commands.toml").read_text(encoding="utf-8"))

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_only_known_languages() -> None:
    known = {"python", "sh", "console", "bash", "toml", "json", "text", "math", "coq"}
    assert {block.language for block in BLOCKS} <= known


@pytest.mark.parametrize("page", python_pages())
def test_python_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_python(page) > 0


@pytest.mark.parametrize("command", COMMANDS)
def test_command_is_real(command: str) -> None:
    """Each command names a target, a test file or arguments that the parser takes."""
    words = shlex.split(command.split(" > ")[0])
    if words[0] == "certify":
        if words != ["certify", "--help"] and "run" not in SPECIAL.get(command, {}):
            build_parser().parse_args(words[1:])
    elif words[0] == "make":
        folder = words[words.index("-C") + 1] if "-C" in words else "."
        makefile = (ROOT / folder / "Makefile").read_text()
        assert re.search(rf"^{re.escape(words[-1])}:", makefile, re.MULTILINE)
    elif words[0] == "pytest":
        assert all((ROOT / word.split("::")[0]).exists() for word in words[1:] if not word.startswith("-"))
    elif words[:2] == ["pip", "install"]:
        extra = re.fullmatch(r"\.\[(\w+)\]", words[2])
        assert extra
        assert extra.group(1) in PROJECT["optional-dependencies"]
    elif words[:3] == ["python", "-m", "verify"]:  # from a copy of the folder
        assert (ROOT / "certify/verify/__main__.py").exists()
    elif words[:2] == ["python", "-m"]:
        assert (ROOT / (words[2].replace(".", "/") + ".py")).exists() or (
            ROOT / words[2].replace(".", "/")
        ).is_dir()
    else:
        assert words[0] == "apt-get", f"{command}: no test knows how to try this; see commands.toml"


def test_commands_named_in_the_text_exist() -> None:
    names = [command.text.split()[1] for command in in_lines() if is_a_name(command)]
    assert names
    assert set(names) <= set(reference.command_names())


def test_the_list_of_special_commands_is_current() -> None:
    """Whatever does not run as written is a command of the docs and says why."""
    assert set(SPECIAL) <= set(COMMANDS), "commands.toml lists what no page says"
    for command, special in SPECIAL.items():
        assert set(special) <= {"run", "why", "exit", "says", "where", "tool"}, command
        assert ("run" in special) == ("why" in special), command


def test_every_dependency_is_justified() -> None:
    page = (ROOT / "docs/decisions/0002-dependencies.md").read_text(encoding="utf-8")
    extras = PROJECT["optional-dependencies"]
    for requirement in [*PROJECT["dependencies"], *(line for lines in extras.values() for line in lines)]:
        name = re.split(r"[\[<>=]", requirement)[0]
        assert name == PROJECT["name"] or re.search(rf"\b{re.escape(name)}\b", page), f"{name}: no line why"
    for extra in extras:
        assert f"| `{extra}` |" in page


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
