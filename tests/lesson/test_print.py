"""What comes out on paper: a PDF from the browser, and a PDF from LaTeX."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proofs import walk
from proofs.lessons import chapters
from proofs.lessons.model import Steps
from proofs.lessons.typed import as_html, as_latex

PRINTED = "chapter-03-concentration.html"
"""A chapter with steps, both kinds of questions, a program and wide formulas; and it is short."""


PIECES = """
[...document.querySelectorAll('.veil > p, .model > p')].map((node) =>
  [...node.childNodes].filter((part) => part.nodeType === Node.TEXT_NODE).map((part) => part.textContent)
    .sort((a, b) => b.length - a.length)[0])
"""
"""The longest piece between two formulas of everything that waits behind a question."""


def letters(text: str) -> str:
    """The letters of a text: line breaks, hyphens and indices differ between page and paper."""
    return "".join(re.findall(r"[A-Za-z]", text))


@pytest.fixture(scope="module")
def paper(site: Path, browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any]]:
    """The chapter, printed while the reader looks at it in the dark theme; and the page it came from."""
    import pypdfium2 as pdfium

    page = browser.new_page(color_scheme="dark", viewport={"width": 1280, "height": 800})
    page.goto((site / PRINTED).as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    file = tmp_path_factory.mktemp("paper") / "chapter.pdf"
    page.pdf(path=str(file), format="A4", print_background=True)
    document = pdfium.PdfDocument(str(file))
    yield page, document
    document.close()
    page.close()


@pytest.mark.browser
def test_everything_veiled_or_folded_is_on_paper(paper: tuple[Any, Any]) -> None:
    page, document = paper
    printed = letters("".join(p.get_textpage().get_text_range() for p in document))
    hidden = page.evaluate(PIECES)
    assert len(hidden) >= 12
    assert page.locator(".veil:not(.lifted)").count() >= 4, "on the screen the reasons still wait"
    assert [text for text in hidden if letters(text)[:25] not in printed] == []
    derivations = [item for item in chapters()[2].items if isinstance(item, Steps)]
    steps = [step for item in derivations for step in walk.steps_of(walk.Reader(), item)]
    assert len(steps) >= 6
    for step in steps:
        assert letters(html.unescape(re.sub(r"<[^>]*>", "", as_html(step.why))))[:25] in printed, step.why


@pytest.mark.browser
def test_dark_prints_dark_on_white(paper: tuple[Any, Any]) -> None:
    page, document = paper
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    for sheet in document:
        grey = sheet.render(scale=0.5).to_numpy()[..., :3].mean(axis=2)
        assert np.median(grey) > 235, "the paper is white or lightly tinted"
        assert (grey < 120).mean() < 0.15, "no dark areas"
        assert grey.min() < 110, "the ink is dark"


@pytest.mark.browser
def test_no_formula_is_cut_off_on_paper(paper: tuple[Any, Any]) -> None:
    """The page is laid out for paper before it is printed: no displayed formula is wider than its place."""
    page, _ = paper
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    too_wide = "(n) => n.scrollWidth > n.clientWidth + 1"
    wide = page.evaluate(f"[...document.querySelectorAll('.math.display')].filter({too_wide}).length")
    assert page.evaluate("document.querySelector('main').clientWidth") < 700
    assert wide == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator(".model[open]").count() == 0, "the screen is put back"


@pytest.mark.browser
def test_the_print_button_prints(site: Path, watched: Any) -> None:
    page = watched.open(site / "chapter-01-gap.html")
    page.evaluate("window.before = 0; addEventListener('beforeprint', () => { window.before += 1; })")
    page.locator("[data-action=print]").click()
    page.wait_for_function("window.before === 1")
    assert page.locator(".model:not([open])").count() == 0
    assert watched.complaints == []


# LaTeX
def _environments_close(latex: str) -> bool:
    stack = []
    for kind, name in re.findall(r"\\(begin|end)\{([a-z*]+)\}", latex):
        if kind == "begin":
            stack.append(name)
        elif not stack or stack.pop() != name:
            return False
    return not stack


@pytest.fixture(scope="module")
def latex() -> str:
    return walk.to_latex(walk.select(None))


def test_latex_is_well_formed(latex: str) -> None:
    """Without a LaTeX: environments nest, braces and formulas close, every character is plain ASCII."""
    assert _environments_close(latex)
    body = re.sub(r"\\begin\{verbatim\}.*?\\end\{verbatim\}", "", latex, flags=re.DOTALL)
    assert [c for c in set(latex) if ord(c) > 126] == []
    bare = re.sub(r"\\[{}$\\]", "", body)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert body.count(r"\left") - body.count(r"\leftarrow") == body.count(r"\right") - body.count(
        r"\rightarrow"
    )
    assert body.count(r"\[") == body.count(r"\]")
    used = set(re.findall(r"\\usepackage(?:\[[^]]*\])?\{([^}]*)\}", latex))
    assert used == {"inputenc", "geometry", "amsmath,amssymb"}


def test_an_open_environment_would_be_noticed() -> None:
    assert not _environments_close(r"\begin{itemize}\begin{aligned}\end{itemize}\end{aligned}")


def test_latex_compiles(latex: str, tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        if os.environ.get("CERTIFY_REQUIRE_TOOLS"):
            pytest.fail("pdflatex is missing: apt-get install texlive-latex-base texlive-latex-recommended")
        pytest.skip("no pdflatex on this machine")
    (tmp_path / "course.tex").write_text(latex, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "course.tex"],
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        check=False,
    )
    log = (tmp_path / "course.log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, "\n".join(line for line in log.splitlines() if line.startswith("!"))
    assert "Missing character" not in log
    assert "Undefined" not in log
    pages = re.search(r"Output written on course\.pdf \((\d+) pages", log)
    assert pages
    assert int(pages[1]) > 40
    overfull = [float(x) for x in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]
    assert all(x < 71 for x in overfull), "a line that runs off the sheet: the margin is 71 pt"


def test_words_of_proofs_in_both_settings() -> None:
    text = "<A, B> <= sqrt(2) ||W||_F^2 with probability 1 - delta"
    assert as_html(text) == "&lt;A, B&gt; ≤ √2 ‖W‖<sub>F</sub><sup>2</sup> with probability 1 - δ"
    assert as_latex("1 - delta <= s_k & x", walk.latex_text) == r"1 - $\delta$ $\le$ s$_{\mathrm{k}}$ \& x"
    assert as_html("2^-|h| and 2^-bits, x^T") == "2<sup>-|h|</sup> and 2<sup>-bits</sup>, x<sup>T</sup>"
    assert as_html("gamma-function, delta-dense") == "gamma-function, delta-dense"
