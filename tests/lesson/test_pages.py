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
LONG = ["index.html", "results.html", "print.html"]


def page_of(site: Path, chapter: Chapter) -> Path:
    return site / f"chapter-{chapter.number:02d}-{chapter.slug}.html"


def check_page(page: Any, widths: tuple[int, ...]) -> None:
    """Every formula and figure is drawn, ids are unique, nothing is wider than the window."""
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
    for width in widths:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", LONG)
def test_page_opens_offline_without_complaint(site: Path, watched: Watched, name: str) -> None:
    page = watched.open(site / name)
    check_page(page, (1280, 360) if name == "index.html" else ())
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


ANSWER = """
(questions) => questions.map(([id, outside, inside]) => {
  const box = document.getElementById(id);
  const told = () => [box.dataset.result, box.querySelector('.feedback').textContent,
                      box.querySelector('.model').open];
  if (outside === null) {
    const late = (button) => (button.dataset.right === "yes" ? 1 : 0);
    const buttons = [...box.querySelectorAll(".choice")].sort((a, b) => late(a) - late(b));
    return buttons.map((button) => { button.click(); return told(); });
  }
  return [outside, inside, 'many'].map((text) => {
    box.querySelector('input').value = text;
    box.querySelector('button[type=submit]').click();
    return told();
  });
})
"""


def _to_try(question: Question) -> list[str | None]:
    """The question's id; for a number also one answer outside of what is accepted and one inside."""
    if isinstance(question.answer, tuple):
        return [question.id, None, None]
    lower, upper = accepted(question.answer)
    return [question.id, str(float(upper + (upper - lower))), f"{float((lower + upper) / 2):.12g}"]


@pytest.mark.parametrize("chapter", chapters(), ids=lambda c: c.slug)
def test_chapter_opens_and_every_question_is_answered_right_and_wrong(
    site: Path, watched: Watched, chapter: Chapter
) -> None:
    page = watched.open(page_of(site, chapter))
    asked = questions(READER, chapter)
    answers = page.evaluate(ANSWER, [_to_try(question) for question in asked])
    for question, told in zip(asked, answers, strict=True):
        results = [result for result, _, _ in told]
        feedback = [text for _, text, _ in told]
        if isinstance(question.answer, tuple):
            assert results == ["wrong"] * (len(question.answer) - 1) + ["right"], question.id
        else:
            assert results[:2] == ["wrong", "right"], question.id
            assert "Type a number" in feedback[2]
        for result, text, explained in told[: None if isinstance(question.answer, tuple) else 2]:
            assert text.startswith("Right." if result == "right" else "Not yet.")
            assert len(text) > len("Not yet. ") + 5, question.id
            assert explained
    assert page.locator(".toc a[aria-current] .done").inner_text() == f"✓ all {len(asked)}"
    assert page.locator(".math-error").count() == 0, "a formula of a feedback"
    check_page(page, (1280, 360))
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
    page = watched.open(site / "chapter-03-concentration.html")
    veil = page.locator(".veil[data-question=c3-better]")
    assert "lifted" not in str(veil.get_attribute("class"))
    page.locator("#c3-better .choice").first.evaluate("(node) => node.click()")
    assert "lifted" in str(veil.get_attribute("class"))
    assert page.locator(".veil:not(.lifted)").count() >= 2
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    page.wait_for_function("() => !document.querySelector('.veil:not(.lifted)')")


def test_bar_buttons(site: Path, watched: Watched) -> None:
    page = watched.open(site / "chapter-03-concentration.html")
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


def test_the_map_is_also_a_list(site: Path, watched: Watched) -> None:
    """Open on a phone, where the drawing is too small; for a screen reader everywhere."""
    watched.page.set_viewport_size({"width": 390, "height": 800})
    page = watched.open(site / "index.html")
    assert not page.locator(".graph").is_visible()
    rows = page.locator(".as-list li")
    drawn = page.locator(".graph a").evaluate_all("(nodes) => nodes.map((n) => n.getAttribute('href'))")
    listed = rows.evaluate_all("(nodes) => nodes.map((n) => n.querySelector('a').getAttribute('href'))")
    assert sorted(listed) == sorted(drawn)
    assert rows.first.is_visible()
    assert rows.filter(has_text="Lemma 7: Maurer").locator(".needs a").all_inner_texts() == ["Lemma 7 (step)"]
    assert watched.complaints == []


def test_the_map_can_be_skipped_and_says_what_it_is(site: Path, watched: Watched) -> None:
    page = watched.open(site / "index.html")
    region = page.get_by_role("region", name="Map of the results")
    assert region.get_attribute("tabindex") == "0", "a keyboard can scroll it"
    skip = page.get_by_role("link", name="Skip the map")
    skip.focus()
    page.keyboard.press("Enter")
    assert page.url.endswith("#list")
    spoken = page.locator(".graph a").first.get_attribute("aria-label")
    assert "Level:" in str(spoken)
    assert watched.complaints == []


def test_every_control_has_a_name(site: Path, watched: Watched) -> None:
    """A screen reader has words for every button, field and slider of a chapter with live figures."""
    page = watched.open(site / "chapter-05-ranks.html")
    nameless = page.evaluate(
        "() => [...document.querySelectorAll('button, input, select, summary, a[href]')].filter((e) =>"
        " !(e.getAttribute('aria-label') || e.textContent.trim() ||"
        "   (e.labels && [...e.labels].some((l) => l.textContent.trim())))).map((e) => e.outerHTML)"
    )
    assert nameless == []
    assert page.locator("main").count() == 1
    assert page.locator("[role=status]").count() == page.locator("[data-question]:not(.veil)").count()


def test_everything_is_there_without_a_script(site: Path, browser: Any) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto((site / "chapter-03-concentration.html").as_uri())
    text = page.inner_text("main")
    assert r"\sqrt{" in text
    assert page.locator(".veil").count() >= 4
    assert page.locator(".veil").first.evaluate(OPACITY) == "1"
    context.close()
