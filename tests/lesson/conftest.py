"""The lesson, built once for all its tests, and a browser that may reach no network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from certify.teach.build import build_lesson


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the whole lesson."""
    folder = tmp_path_factory.mktemp("lesson")
    build_lesson(folder)
    return folder


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    """Headless Chromium, closed after each file: one process cannot run two Playwright engines."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as engine:
        instance = engine.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        yield instance
        instance.close()


class Watched:
    """A page that writes down console errors and every request that is not for a file of the lesson."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on(
            "console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("requestfailed", lambda request: self.complaints.append(f"failed: {request.url}"))
        page.on("request", self._request)

    def _request(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:")):
            self.complaints.append(f"left the machine: {request.url}")

    def open(self, path: Path, fragment: str = "") -> Any:
        """Open a page from the file system and wait until its script has run."""
        self.page.goto(path.as_uri() + fragment)
        self.page.wait_for_selector("html[data-ready=yes]")
        return self.page


@pytest.fixture(scope="module")
def opened(site: Path, browser: Any) -> Iterator[Callable[[str], Watched]]:
    """Pages of the lesson by name, each opened once for a file of tests; none may complain."""
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, offline=True, reduced_motion="reduce"
    )
    context.set_default_timeout(30_000)
    pages: dict[str, Watched] = {}

    def open_page(name: str) -> Watched:
        if name not in pages:
            pages[name] = Watched(context.new_page())
            pages[name].open(site / name)
        return pages[name]

    yield open_page
    complaints = {name: watched.complaints for name, watched in pages.items() if watched.complaints}
    context.close()
    assert complaints == {}


@pytest.fixture
def watched(browser: Any) -> Iterator[Watched]:
    """A fresh, offline browser window of laptop size."""
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, offline=True, reduced_motion="reduce"
    )
    context.set_default_timeout(30_000)
    yield Watched(context.new_page())
    context.close()
