"""The documentation site: every page is there, every link leads somewhere, and it opens without a network."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from certify.teach.docs import build, find_pages
from tests.lesson.conftest import Watched

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def docs_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("docs")
    build(ROOT / "docs", out)
    return out


def test_every_page_is_in_the_site(docs_site: Path) -> None:
    for page in find_pages(ROOT / "docs"):
        assert (docs_site / page.file).exists()
    assert (docs_site / "lesson/index.html").exists()
    groups = {page.group for page in find_pages(ROOT / "docs")}
    assert {"", "tutorial", "how-to", "explanation", "reference", "decisions"} <= groups


def test_every_link_leads_somewhere(docs_site: Path) -> None:
    identifiers = {
        path.resolve(): set(re.findall(r'\bid="([^"]+)"', path.read_text(encoding="utf-8")))
        for path in docs_site.rglob("*.html")
    }
    broken = []
    for path in identifiers:
        for link in re.findall(r'href="([^"]+)"', path.read_text(encoding="utf-8")):
            if link.startswith(("http:", "https:", "data:", "mailto:")):
                continue
            name, _, fragment = link.partition("#")
            target = (path.parent / name).resolve() if name else path
            if not target.exists() or (fragment and fragment not in identifiers.get(target, {fragment})):
                broken.append(f"{path.name}: {link}")
    assert broken == []


@pytest.mark.browser
def test_docs_open_offline(docs_site: Path, watched: Watched) -> None:
    watched.page.set_viewport_size({"width": 390, "height": 800})
    for page in find_pages(ROOT / "docs"):
        opened = watched.open(docs_site / page.file)
        assert opened.locator("main h1").count() == 1, page.file
        assert opened.evaluate("document.documentElement.scrollWidth") <= 390, page.file
        assert opened.locator(".math-error").count() == 0
    assert watched.complaints == []


@pytest.mark.browser
def test_index_finds_what_a_newcomer_looks_for(docs_site: Path, watched: Watched) -> None:
    opened = watched.open(docs_site / "all.html")
    every = opened.locator("#terms > li:visible").count()
    for words, target in (
        ("theorem c1(i)", "lesson/chapter-07-attention.html#result-c1-i"),
        ("trusted", "explanation/trust.html"),
        ("rounding model", "explanation/rounding-model.html"),
        ("adapter", "how-to/add-an-adapter.html"),
        ("course", "tutorial/index.html"),
        ("certify report", "reference/cli.html#certify-report"),
        ("effective_rank", "reference/api.html#effective_rank"),
    ):
        opened.fill("#find", words)
        links = opened.locator("#terms > li:visible a")
        assert 0 < links.count() < every, words
        assert target in links.evaluate_all("links => links.map(link => link.getAttribute('href'))"), words
    opened.fill("#find", "nothing of this kind")
    assert opened.locator("#terms > li:visible").count() == 0
    assert opened.inner_text("#found") == f"0 of {every}"
    assert watched.complaints == []
