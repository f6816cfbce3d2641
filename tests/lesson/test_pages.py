"""The pages in a real browser: nothing leaves the machine, everything is drawn, every control answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proofs.lessons import chapters
from proofs.lessons.model import Chapter, Question
from proofs.walk import Reader, accepted, questions
from tests.lesson.conftest import Watched

READER = Reader()
pytestmark = pytest.mark.browser
OPACITY = "(node) => getComputedStyle(node).opacity"
PAGES = [
    "index.html",
    "results.html",
    "print.html",
    *(f"chapter-{c.number:02d}-{c.slug}.html" for c in chapters()),
]


def page_of(site: Path, chapter: Chapter) -> Path:
    return site / f"chapter-{chapter.number:02d}-{chapter.slug}.html"


@pytest.mark.parametrize("name", PAGES)
def test_page_opens_offline_without_complaint(site: Path, watched: Watched, name: str) -> None:
    page = watched.open(site / name)
    formulas = page.locator(".math").count()
    assert page.locator(".math[data-done]").count() == formulas
    assert page.locator(".math-error").count() == 0
    assert page.locator(".math .katex").count() == formulas
    assert page.locator(".live").count() == page.locator(".live[data-state]").count()
    repeated = page.evaluate(
        "() => { const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);"
        " return ids.filter((id, i) => ids.indexOf(id) !== i); }"
    )
    assert repeated == []
    for width in (1280, 360) if name != "print.html" else (1280,):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert watched.complaints == []


def test_a_broken_formula_would_be_noticed(site: Path, watched: Watched, tmp_path: Path) -> None:
    text = (
        (site / "chapter-01-gap.html")
        .read_text()
        .replace('<span class="math">', '<span class="math">\\nonsense{', 1)
    )
    broken = site / "broken.html"
    broken.write_text(text)
    page = watched.open(broken)
    broken.unlink()
    assert page.locator(".math-error").count() == 1


PRESS_ALL = """
(id) => {
  const box = document.getElementById(id);
  const buttons = [...box.querySelectorAll('.choice')].sort((a, b) => (a.dataset.right >
  b.dataset.right ? 1 : -1));
  return buttons.map((button) => {
    button.click();
    return [button.textContent, box.dataset.result, box.querySelector('.feedback').textContent,
    box.querySelector('.model').open];
  });
}
"""
TYPE = """
([id, text]) => {
  const box = document.getElementById(id);
  box.querySelector('input').value = text;
  box.querySelector('button[type=submit]').click();
  return [box.dataset.result, box.querySelector('.feedback').textContent];
}
"""


def _answer_choices(page: Any, question: Question) -> None:
    assert isinstance(question.answer, tuple)
    answers = page.evaluate(PRESS_ALL, question.id)  # the right one last
    assert len(answers) == len(question.answer)
    assert [result for _, result, _, _ in answers] == ["wrong"] * (len(answers) - 1) + ["right"]
    for _, result, feedback, explained in answers:
        assert feedback.startswith("Right." if result == "right" else "Not yet.")
        assert len(feedback) > len("Not yet. ") + 5
        assert explained


def _answer_number(page: Any, question: Question) -> None:
    lower, upper = accepted(question.answer)  # type: ignore[arg-type]
    middle, outside = (lower + upper) / 2, upper + (upper - lower)
    result, feedback = page.evaluate(TYPE, [question.id, str(float(outside))])
    assert result == "wrong"
    assert len(feedback) > 15, "a wrong number gets a hint"
    assert page.evaluate(TYPE, [question.id, f"{float(middle):.12g}"])[0] == "right"
    assert "Type a number" in page.evaluate(TYPE, [question.id, "many"])[1]


@pytest.mark.parametrize("chapter", chapters(), ids=lambda c: c.slug)
def test_every_question_right_and_wrong(site: Path, watched: Watched, chapter: Chapter) -> None:
    page = watched.open(page_of(site, chapter))
    for question in questions(READER, chapter):
        if isinstance(question.answer, tuple):
            _answer_choices(page, question)
        else:
            _answer_number(page, question)
    mark = page.locator(".toc a[aria-current] .done").inner_text()
    assert mark == f"✓ all {len(questions(READER, chapter))}"
    assert watched.complaints == []


def test_progress_is_kept_and_forgotten(site: Path, watched: Watched) -> None:
    page = watched.open(site / "chapter-01-gap.html")
    page.locator("#c1-why-gap .choice[data-right=yes]").click()
    page.reload()
    page.wait_for_selector("html[data-ready=yes]")
    kept = page.locator(".toc a[aria-current] .done").inner_text()
    assert kept == f"1 of {len(questions(READER, chapters()[0]))}"
    page.goto((site / "index.html").as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    assert kept in page.locator(".chapters .done").all_inner_texts()
    page.get_by_role("button", name="Forget my answers").click()
    assert page.locator(".chapters .done").all_inner_texts() == [""] * len(chapters())
    assert watched.complaints == []


def test_works_without_local_storage(site: Path, watched: Watched) -> None:
    watched.page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('no'); } })"
    )
    page = watched.open(site / "chapter-01-gap.html")
    page.locator("#c1-why-gap .choice[data-right=yes]").click()
    assert page.locator("#c1-why-gap").get_attribute("data-result") == "right"
    assert watched.complaints == []


def test_reasons_lift_when_answered_and_when_scrolled(site: Path, watched: Watched) -> None:
    page = watched.open(site / "chapter-04-contraction.html")
    veil = page.locator(".veil[data-question=c4-modulus]")
    assert "lifted" not in str(veil.get_attribute("class"))
    page.locator("#c4-modulus .choice").first.evaluate("(node) => node.click()")
    assert "lifted" in str(veil.get_attribute("class"))
    assert page.locator(".veil:not(.lifted)").count() >= 2
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    page.wait_for_function("() => !document.querySelector('.veil:not(.lifted)')")


def test_bar_buttons(site: Path, watched: Watched) -> None:
    page = watched.open(site / "chapter-04-contraction.html")
    paper = "getComputedStyle(document.body).backgroundColor"
    theme = page.locator("[data-action=theme]")
    seen = {}
    for _ in range(3):
        seen[theme.inner_text().split(": ")[1]] = page.evaluate(paper)
        theme.click()
    assert seen.keys() == {"system", "light", "dark"}
    assert seen["light"] != seen["dark"]
    reasons = page.locator("[data-action=reasons]")
    reasons.click()
    assert reasons.get_attribute("aria-pressed") == "true"
    assert page.locator(".veil").first.evaluate(OPACITY) == "1"


def test_badges_explain_and_show_recorded_goals(site: Path, watched: Watched) -> None:
    page = watched.open(site / "chapter-02-signs.html")
    badge = page.locator("#result-lemma-1 > header .badge")
    badge.locator("summary").first.click()
    text = badge.inner_text()
    assert "Coq theorem symmetrization" in text
    assert "forall" in text
    goals = badge.locator("details")
    goals.locator("summary").click()
    assert "====" in goals.inner_text()


def test_keyboard_reaches_and_answers(site: Path, watched: Watched) -> None:
    page = watched.open(site / "chapter-01-gap.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.locator("#c1-why-gap .choice[data-right=yes]").focus()
    page.keyboard.press("Enter")
    assert page.locator("#c1-why-gap").get_attribute("data-result") == "right"


def test_graph_is_a_table_of_contents(site: Path, watched: Watched) -> None:
    page = watched.open(site / "index.html")
    boxes = page.locator(".graph a")
    from proofs.lessons.catalogue import catalogue

    assert boxes.count() == len(catalogue())
    for target in boxes.evaluate_all("(nodes) => nodes.map((n) => n.getAttribute('href'))"):
        name, _, anchor = target.partition("#")
        assert f'id="{anchor}"' in (site / name).read_text(), target


def test_prints_open_and_unveiled(site: Path, watched: Watched) -> None:
    page = watched.open(site / "chapter-04-contraction.html")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator(".model:not([open])").count() == 0
    assert page.locator(".veil:not(.lifted)").count() >= 2
    assert all(page.locator(".veil").nth(i).evaluate(OPACITY) == "1" for i in range(2))
    assert not page.locator(".bar").is_visible()


def test_everything_is_there_without_a_script(site: Path, browser: Any) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto((site / "chapter-04-contraction.html").as_uri())
    text = page.inner_text("main")
    assert r"\sqrt{2}" in text
    assert page.locator(".veil").count() >= 2
    context.close()
