"""``report.html`` in a real browser: no error, no request, working controls, themes, phone, print."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from certify.report import html, view
from tests.certify.report.tiny import Tiny

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


class Watched:
    """A page, and everything that went wrong on it."""

    def __init__(self, browser: Browser, path: Path, **options: Any) -> None:
        self.page: Page = browser.new_page(**options)
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda m: self.errors.append(m.text))
        self.page.on("pageerror", lambda e: self.errors.append(str(e)))
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.goto(path.resolve().as_uri())

    def finish(self) -> None:
        assert self.errors == []
        outside = [url for url in self.requests if not url.startswith(("file:", "data:"))]
        assert outside == [], outside
        assert len([url for url in self.requests if url.startswith("file:")]) == 1
        self.page.close()


def test_controls_show_recorded_intervals(tiny: Tiny, browser: Browser) -> None:
    watched = Watched(browser, tiny.out / "report.html")
    page = watched.page
    matrix = next(m for m in tiny.report["matrices"] if m["role"] == "query-key")
    for kind in view.KIND_TITLES:
        page.select_option("#weight-kind", kind)
        page.hover("#weight-heat td >> nth=0")
        tip = page.inner_text("#tip")
        pair = matrix["ranks"][kind]
        assert tip == f"{matrix['name']}: [{pair['lower']}, {pair['upper']}]"
    page.select_option("#attention-stat", "maximum")
    page.select_option("#attention-kind", "entropy")
    page.hover("#attention-heat td >> nth=1")
    pair = tiny.report["attention"]["heads"][1]["ranks"]["entropy"]["maximum"]
    assert f"[{pair['lower']}, {pair['upper']}]" in page.inner_text("#tip")
    for role in ("value-output", "weight"):
        page.select_option("#weight-role", role)
        shown = page.locator("#weight-heat td[data-tip]").count()
        assert shown == sum(m["role"] == role for m in tiny.report["matrices"])
    for i in range(len(tiny.report["matrices"])):
        page.select_option("#spectrum-matrix", str(i))
        assert page.locator("#spectrum-figure svg, #spectrum-figure p").count() >= 1
    assert page.locator("#bound-figure svg path.line").count() >= 2
    watched.finish()


def test_the_table_filters_and_details_open(tiny: Tiny, browser: Browser) -> None:
    watched = Watched(browser, tiny.out / "report.html")
    page = watched.page
    for i in range(page.locator("details").count()):
        page.locator("details > summary").nth(i).click()
    page.fill("#filter", "layer.1")
    visible = page.locator("#all tbody tr:visible").count()
    assert visible == sum("layer.1" in m["name"] for m in tiny.report["matrices"])
    assert tiny.report["tensors"][0]["sha256"] in page.inner_text("body")
    watched.finish()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_themes_differ_and_toggle(scheme: Any, tiny: Tiny, browser: Browser) -> None:
    watched = Watched(browser, tiny.out / "report.html", color_scheme=scheme)
    colour = "getComputedStyle(document.body).backgroundColor"
    before = watched.page.evaluate(colour)
    assert watched.page.evaluate("document.documentElement.dataset.theme") == scheme
    watched.page.click("#theme")
    assert watched.page.evaluate(colour) != before
    watched.finish()


def test_a_phone_does_not_scroll_sideways_and_print_works(tiny: Tiny, browser: Browser) -> None:
    watched = Watched(browser, tiny.out / "report.html", viewport={"width": 390, "height": 800})
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert len(watched.page.pdf()) > 10_000
    watched.finish()


def bound(theorem: str, value: str | None, status: str) -> dict[str, Any]:
    """One line of the table as report.json has it."""
    hypotheses = [
        {"id": "iid", "text": "drawn independently", "status": "assumed", "why": "by you"},
        {"id": "proved", "text": "checked", "status": "violated" if value is None else "met", "why": "so"},
    ]
    pair = value and {"lower": value, "upper": value}
    return {
        "theorem": theorem, "title": f"title of {theorem}", "subject": "compressed head", "loss": "0-1",
        "value": pair, "status": status, "m": 20_000, "delta": "1/20", "complexity": "759 bits",
        "inputs": {}, "hypotheses": hypotheses, "note": "",
    }  # fmt: skip


@pytest.fixture
def with_risk(tiny: Tiny, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """The tiny report with a hand-made risk: a valid bound, a vacuous one, one that is not a bound."""
    record = {
        "data": {"name": "words: A or B", "m": 20_000},
        "delta": "1/20", "unit": "word", "chance": "1/2", "headline": {}, "sentence": "It errs on few.",
        "terms": "Theorem D.",
        "bounds": [bound("D-binomial", "0.0481", "valid"), bound("C3", "1", "vacuous"),
                   bound("C1-vector-peeled", None, "not a bound")],
        "minima": [],
        "curves": [{"name": "D, compressed head",
                    "points": [{"m": 100, "value": "0.9"}, {"m": 20_000, "value": "0.05"}]}],
        "classical": [{"name": "counting", "value": None, "status": "no constant", "why": "none is known"}],
        "nominal": {"formula": "sqrt(R/m), R = 1", "value": {"lower": "0.007", "upper": "0.0071"},
                    "status": "not a bound", "why": "Not a valid bound."},
        "truth": {"compressed head": {"text": "exact", "lower": "0.0335", "upper": "0.0335"}},
        "certificates": [{"file": "model.cert", "sha256": "0" * 64, "sample": "train.npz", "holds": "D"}],
        "assumptions": {},
    }  # fmt: skip
    path = tmp_path / "risk.html"
    path.write_text(html.render({**tiny.report, "risk": record}))
    return path, record


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_risk_comes_first_and_its_figure_names_what_is_no_bound(
    with_risk: tuple[Path, dict[str, Any]], browser: Browser, scheme: Any
) -> None:
    path, record = with_risk
    watched = Watched(browser, path, color_scheme=scheme)
    page = watched.page
    assert page.inner_text("h1") == "words: A or B"
    assert page.inner_text("main h2 >> nth=0") == "Risk on new data"
    assert page.inner_text("#risk + p") == record["sentence"]
    figure = page.locator("#risk ~ .panel >> nth=0")
    assert "√(R/m): not a valid bound" in figure.inner_text()
    for text in ("sample size m (independent units)", "bound on the risk", "true risks", "this sample"):
        assert text in figure.locator(".wide svg").inner_html()
    dashes = "getComputedStyle(document.querySelector('.wide .nominal')).strokeDasharray"
    assert page.evaluate(dashes) != "none"
    strokes = (
        "[...document.querySelectorAll('.wide .curve, .wide .nominal')].map(e => getComputedStyle(e).stroke)"
    )
    background = page.evaluate("getComputedStyle(document.querySelector('.panel')).backgroundColor")
    assert background not in page.evaluate(strokes)
    page.click(".bounds summary >> nth=0")
    assert "by you" in page.inner_text(".bounds")
    assert page.locator(".bounds .badge").all_inner_texts() == ["valid", "vacuous", "not a bound"]
    watched.finish()


def test_the_table_of_bounds_is_whole_on_a_phone_and_on_paper(
    with_risk: tuple[Path, dict[str, Any]], browser: Browser
) -> None:
    cells = "[...document.querySelectorAll('.bounds td, .bounds th')]"
    right = f"Math.max(...{cells}.map(c => c.getBoundingClientRect().right))"
    phone = Watched(browser, with_risk[0], viewport={"width": 390, "height": 800})
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert phone.page.evaluate(right) <= 390
    assert phone.page.is_visible(".narrow svg >> nth=0")
    assert not phone.page.is_visible(".wide svg >> nth=0")
    phone.finish()
    paper = Watched(browser, with_risk[0], viewport={"width": 718, "height": 1000})  # A4 with its margins
    paper.page.emulate_media(media="print")
    assert paper.page.evaluate(right) <= 718
    paper.finish()


def test_readable_without_javascript(tiny: Tiny, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tiny.out / "report.html").resolve().as_uri())
    text = page.inner_text("body")
    assert "Vacuous on these" in text
    assert "not a valid bound" in text
    context.close()


def test_hostile_names_are_inert(tiny: Tiny, browser: Browser, tmp_path: Path) -> None:
    hostile = "</script><script>window.bad=1</script><img src=x onerror='window.bad=1'>{{7*7}}"
    report = json.loads(json.dumps(tiny.report))
    report["model"]["name"] = report["model"]["origin"] = hostile
    report["matrices"][0]["name"] = hostile
    report["matrices"][0]["note"] = hostile
    path = tmp_path / "hostile.html"
    path.write_text(html.render(report))
    watched = Watched(browser, path)
    watched.page.select_option("#spectrum-matrix", "0")
    assert watched.page.evaluate("window.bad") is None
    assert "49" not in watched.page.inner_text("h1")
    watched.finish()


def test_one_file_without_addresses(tiny: Tiny) -> None:
    page = (tiny.out / "report.html").read_text()
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", page)
    assert "url(http" not in page
