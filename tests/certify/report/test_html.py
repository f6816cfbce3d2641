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
