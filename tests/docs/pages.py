"""What the documentation contains that a reader could run: code blocks, commands in a line of text, examples
of ``--help``.

``python -P tests/docs/pages.py PAGE`` runs the Python of one page with whatever `certify` is installed.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from certify.teach.docs import parser

ROOT = Path(__file__).parents[2]
GROUPS = ("tutorial", "how-to", "explanation", "reference", "decisions")
SHELL = ("sh", "console", "bash")
PROGRAMS = ("certify", "make", "python", "pytest", "apt-get", "npm", "pip", "git")


def pages() -> list[Path]:
    """README first, then the site in the order in which it is read."""
    found = [ROOT / "README.md", ROOT / "examples/README.md", ROOT / "docs/index.md"]
    for group in GROUPS:
        found += sorted((ROOT / "docs" / group).glob("*.md"), key=lambda p: (p.name != "index.md", p.name))
    return found


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    language: str
    code: str


@dataclass(frozen=True)
class Command:
    """A command that a page tells its reader to run, and what the same block tells to run before
    (``. .venv/bin/activate``)."""

    page: str
    text: str
    setup: str = ""


def blocks() -> Iterator[Block]:
    """Every fenced block of every page."""
    for page in pages():
        for token in parser().parse(page.read_text(encoding="utf-8")):
            if token.type == "fence":
                yield Block(page.relative_to(ROOT).as_posix(), (token.info.split() or [""])[0], token.content)


def in_lines() -> Iterator[Command]:
    """Every command that stands in a line of text, as ``code``."""
    for page in pages():
        for token in parser().parse(page.read_text(encoding="utf-8")):
            for child in token.children or []:
                if child.type == "code_inline" and re.match(rf"({'|'.join(PROGRAMS)}) \S", child.content):
                    yield Command(page.relative_to(ROOT).as_posix(), child.content)


def is_a_name(command: Command) -> bool:
    """``certify check`` in a line of text names a command; ``certify check --json`` says how to run it."""
    words = command.text.split()
    return len(words) == 2 and words[0] == "certify" and not words[1].startswith("-")


def commands() -> list[Command]:
    """Every distinct command of the docs, in the order of reading."""
    found: dict[str, Command] = {}
    inside: dict[str, list[Command]] = {}
    for command in in_lines():
        if not is_a_name(command):
            inside.setdefault(command.page, []).append(command)
    for page in pages():
        name = page.relative_to(ROOT).as_posix()
        shown = [command for block in BLOCKS if block.page == name for command in _of_block(block)]
        for command in [*shown, *inside.get(name, [])]:
            found.setdefault(command.text, command)
    return list(found.values())


def _of_block(block: Block) -> Iterator[Command]:
    setup = ""
    for line in block.code.splitlines():
        if block.language in SHELL and line.strip() and not line.startswith("#"):
            text = re.split(r"\s+#\s", line.removeprefix("$ "))[0].strip()
            if text.startswith(". "):
                setup += text + "\n"
            else:
                yield Command(block.page, text, setup)
        elif block.language == "text" and re.match(r"\s*certify [a-z]", line):
            yield Command(block.page, re.split(r"\s{3,}|\s+\(", line.strip())[0])


def python_pages() -> list[str]:
    """The pages with Python in them."""
    return sorted({block.page for block in BLOCKS if block.language == "python"})


def run_python(page: str) -> int:
    """Run the Python blocks of a page in one namespace and check what they print; returns their number."""
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
            if runner.failures:
                raise AssertionError(report.getvalue())
            names = test.globs
        else:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block.code, page, "exec"), names)
        ran += 1
    return ran


BLOCKS = list(blocks())

if __name__ == "__main__":
    sys.path.append(str(ROOT))  # behind the installed certify: for pages whose reader has a checkout
    print(f"{sys.argv[1]}: {run_python(sys.argv[1])} Python blocks ran")
