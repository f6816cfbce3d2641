"""The lesson follows the proof objects: references resolve, constants and levels are theirs, exports
are complete."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import sympy

from certify.teach.build import LessonError, build_lesson, run_programs
from proofs import library, walk
from proofs.lessons import chapters, figures
from proofs.lessons.catalogue import LEVEL_MEANING, LEVEL_WORDS, RULE_WORDS, catalogue, coq_theorems
from proofs.lessons.markup import parse
from proofs.lessons.model import Chapter, Choice, Number, Question, Result, Say, Steps
from proofs.lessons.notation import numeric_factors, read
from proofs.lessons.numbers import evaluate, shown_above

READER = walk.Reader()
LESSONS = Path(walk.__file__).parent / "lessons"


def test_eleven_chapters_in_order_with_exercises_and_sources() -> None:
    course = chapters()
    assert [chapter.number for chapter in course] == list(range(1, 12))
    for chapter in course:
        assert len(chapter.exercises) >= 3
        assert chapter.sources
        assert any(isinstance(item, Question) for item in chapter.items)


def test_question_ids_are_unique_and_each_choice_has_one_right_answer() -> None:
    questions = [question for chapter in chapters() for question in walk.questions(READER, chapter)]
    assert len({question.id for question in questions}) == len(questions) >= 150
    for question in questions:
        if isinstance(question.answer, tuple):
            assert sum(choice.right for choice in question.answer) == 1, question.id
            assert all(choice.feedback for choice in question.answer), question.id


def test_right_answers_stand_at_every_place() -> None:
    shown = [q.choices for c in chapters() for q in walk.questions(READER, c) if q.choices]
    for place in range(3):
        assert sum(choices[place].right for choices in shown) > len(shown) / 5


def test_no_formula_is_typed_in_a_lesson() -> None:
    """LaTeX in the words would be a formula that no proof object stands behind."""
    for file in LESSONS.glob("chapter_*.py"):
        text = file.read_text(encoding="utf-8")
        assert "$" not in text, file.name
        assert not re.search(r"\\(?!n|\"|')", text), file.name


def test_every_reference_resolves() -> None:
    reader = walk.Reader()
    for chapter in chapters():
        texts = [chapter.goal]
        for item in chapter.items:
            texts += [item.text] if isinstance(item, Say) else []
            if isinstance(item, Result):
                reader.entry(item.name)
            if isinstance(item, Steps):
                assert walk.steps_of(reader, item), item.name
        for question in walk.questions(READER, chapter):
            texts += [question.prompt, question.explanation]
            if isinstance(question.answer, tuple):
                texts += [part for choice in question.answer for part in (choice.text, choice.feedback)]
            else:
                texts.append(question.answer.hint)
        for text in texts:
            assert "{" not in reader.plain(text) or not re.search(r"\{[a-z]+:", reader.plain(text))


@pytest.mark.parametrize(
    "text", ["{symbol:m", "{formula:No such lemma}", "{what:m}", "{constant:D:no such constant}"]
)
def test_a_bad_reference_is_an_error(text: str) -> None:
    with pytest.raises((KeyError, ValueError)):
        walk.Reader().plain(text)


def test_headline_results_are_taught() -> None:
    shown = {item.name for chapter in chapters() for item in chapter.items if isinstance(item, Result)}
    assert {
        "Lemma 1",
        "Lemma 3(c)",
        "Lemma 6 (vector)",
        "Lemma 7",
        "C1(i)",
        "C1-vector",
        "A1",
        "A2",
        "B1",
        "C2",
        "D",
        "E",
        "P",
        "N0",
        "N1",
        "N2",
        "N3",
        "N4",
        "N5",
        "N6'",
    } <= shown


def test_every_level_and_rule_has_words() -> None:
    from proofs.kernel import LEVELS

    entries = catalogue().values()
    assert set(LEVELS) <= set(LEVEL_WORDS) == set(LEVEL_MEANING)
    assert {step.rule for entry in entries for step in entry.steps} <= set(RULE_WORDS)
    recorded = coq_theorems()
    named = {name for entry in entries for name in entry.coq}
    assert named <= set(recorded)
    assert any(recorded[name]["goals"] for name in named)


def _site_of_changed_proofs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Any) -> str:
    """Copy the stored derivations, change them, build chapter 4, and give back its page."""
    store = tmp_path / "stored"
    shutil.copytree(library.STORE, store)
    change(store)
    monkeypatch.setattr(library, "STORE", store)
    library.load.cache_clear()
    figures._entries.cache_clear()
    try:
        build_lesson(tmp_path / "site", chapters=[4])
    finally:
        monkeypatch.undo()
        library.load.cache_clear()
        figures._entries.cache_clear()
    return (tmp_path / "site/chapter-04-contraction.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Chapter 4 as it is."""
    out = tmp_path_factory.mktemp("unchanged")
    build_lesson(out, chapters=[4])
    return (out / "chapter-04-contraction.html").read_text(encoding="utf-8")


def _edit(file: Path, change: Any) -> None:
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))


def test_a_changed_constant_changes_the_lesson(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unchanged: str
) -> None:
    def change(store: Path) -> None:
        def replace(data: Any) -> None:
            claim = data["conclusion"]["claim"]
            assert "(sqrt 2)" in claim
            data["conclusion"]["claim"] = claim.replace("(sqrt 2)", "(sqrt 3)")

        _edit(store / "lemma-6-vector.json", replace)

    after = _site_of_changed_proofs(tmp_path, monkeypatch, change)
    card = re.search(r'id="result-lemma-6-vector".*?</article>', after, re.DOTALL)
    assert card
    assert r"\sqrt{3}" in card[0]
    assert r"\sqrt{3}" not in unchanged
    ledger = re.search(r'id="c4-ledger".*?</table>', after, re.DOTALL)
    assert ledger
    assert r"\sqrt{3}" in ledger[0]
    figure = '{"constant": "(sqrt 3)"}'
    assert figure in after
    assert figure not in unchanged


def test_a_dropped_level_turns_the_badge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unchanged: str
) -> None:
    def badge(page: str, anchor: str) -> str:
        found = re.search(rf'id="{anchor}" data-level="(\w+)".*?<summary>(.*?)</summary>', page, re.DOTALL)
        assert found
        assert found[2] == LEVEL_WORDS[found[1]]
        return found[1]

    assert badge(unchanged, "result-lemma-6-s6") == "kernel"
    assert badge(unchanged, "result-lemma-7") == "coq"

    def change(store: Path) -> None:
        def drop(data: Any) -> None:
            data["lemma-6"]["steps"]["s6"] = "cited"
            data["lemma-7"]["level"] = "paper"

        _edit(store / "levels.json", drop)
        _edit(store / "machine.json", lambda data: data.pop("lemma-7"))

    after = _site_of_changed_proofs(tmp_path, monkeypatch, change)
    assert badge(after, "result-lemma-6-s6") == "cited"
    assert badge(after, "result-lemma-7") == "paper"


def test_a_missing_step_stops_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = Chapter(1, "x", "X", "X", "Goal.", (Steps("Lemma 1", only=("s99",)),), (), ())
    monkeypatch.setattr(walk, "all_chapters", lambda: (bad,))
    with pytest.raises(LessonError, match=r"chapter 1, item 1.*s99"):
        build_lesson(tmp_path)


def test_a_failing_program_stops_the_build() -> None:
    assert run_programs(["print(6 * 7)", "x = 1"]) == ["42\n", ""]
    with pytest.raises(LessonError, match="ZeroDivisionError"):
        run_programs(["1 / 0"])


def test_terminal_walk_asks_checks_and_goes_on() -> None:
    course = walk.select([1])
    wanted: list[str] = []
    for item in (*course[0].items, *course[0].exercises):
        if isinstance(item, Question):
            if isinstance(item.answer, Number):
                lower, upper = walk.accepted(item.answer)
                wanted += ["-7", str(float((lower + upper) / 2))]
            else:
                right = next(i for i, choice in enumerate(item.choices, 1) if choice.right)
                wanted += ["nonsense", str(right)]
    answers = iter(wanted)
    lines: list[str] = []
    right = walk.walk_terminal(course, lambda prompt: next(answers), lines.append)
    text = "\n".join(lines)
    assert right == len(walk.questions(READER, course[0]))
    assert next(answers, None) is None, "every question was asked"
    assert text.count("Right.") == right
    assert "Please type a number from 1 to 3." in text
    assert "Not yet." in text
    assert "[machine-checked] Theorem D-hoeffding" in text
    skipped: list[str] = []
    assert walk.walk_terminal(course, lambda prompt: "", skipped.append) == 0
    assert len("\n".join(skipped)) > 3000, "an empty answer goes on, and everything is shown"


def test_terminal_walk_shows_steps_with_reasons() -> None:
    lines: list[str] = []
    walk.walk_terminal(walk.select([4]), lambda prompt: "", lines.append)
    text = "\n".join(lines)
    assert "Why may the modulus be dropped?" in " ".join(text.split())
    assert "Lemma 6, step 1 of 8 [proved on paper]" in text
    assert "sqrt(2) * E_x[" in text


def test_exports_hold_every_step() -> None:
    reader = walk.Reader()
    course = walk.select([4, 7])
    markdown, latex = walk.to_markdown(course, reader), walk.to_latex(course, reader)
    assert markdown.startswith("# 4. ")
    steps = [
        step
        for c in course
        for item in c.items
        if isinstance(item, Steps)
        for step in walk.steps_of(reader, item)
    ]
    assert len(steps) > 30
    for step in steps:
        assert step.claim.latex in markdown
        assert step.claim.latex in latex
    assert "# 5." not in markdown
    assert latex.startswith("\\documentclass{article}")
    assert latex.rstrip().endswith("\\end{document}")
    assert latex.count("\\begin{itemize}") == latex.count("\\end{itemize}") > 0
    outside = re.sub(
        r"\\\[.*?\\\]|\$.*?\$|\\begin\{verbatim\}.*?\\end\{verbatim\}", "", latex, flags=re.DOTALL
    )
    outside = re.sub(r"\\textasciicircum\{\}|\\[&%$#_{}]", "", outside)
    assert not re.search(r"[%&#^]|(?<!\\)_", outside), "special characters are escaped"


def test_select() -> None:
    assert [c.number for c in walk.select(None)] == list(range(1, 12))
    assert [c.number for c in walk.select([7, 1])] == [1, 7]
    with pytest.raises(ValueError, match="there is no chapter 12"):
        walk.select([1, 12])


def test_markup() -> None:
    paragraphs = parse("One *two* `three`.\n\n- a\n  b\n- c **d**", walk.Reader({}).resolve)
    assert [p.is_list for p in paragraphs] == [False, True]
    assert [piece.kind for piece in paragraphs[0].lines[0]] == ["text", "em", "text", "code", "text"]
    assert paragraphs[1].lines[0][0].text == "a b"


@pytest.mark.parametrize(
    ("prefix", "plain", "latex"),
    [
        ("(le a (div b (mul 2 (sqrt 2))))", "a <= b / (2 * sqrt(2))", r"a \le \frac{b}{2\,\sqrt{2}}"),
        ("(sub a (sub b c))", "a - (b - c)", r"a-\left(b-c\right)"),
        ("(mul 2 (add a b))", "2 * (a + b)", r"2\,\left(a+b\right)"),
        ("(pow (add a b) 2)", "(a + b)^2", r"{\left(a+b\right)}^{2}"),
        ("(exp (mul j (log rho)))", "rho^j", r"{\rho}^{j}"),
        ("(log_power m a)", "(log(m))^a", r"{\left(\log\left(m\right)\right)}^{a}"),
        ("(sub (sub a b) (sub c d))", "a - b - (c - d)", r"a-b-\left(c-d\right)"),
        ("(div (sqrt a) (sqrt b))", "sqrt(a / b)", r"\sqrt{\frac{a}{b}}"),
        (
            "(E e (sup t (mul (e i) (h i t))))",
            "E_e[sup_t e[i] * h[i](t)]",
            r"\mathbb{E}_{e}\left[\sup_{t} {e}_{i}\,{h}_{i}\left(t\right)\right]",
        ),
    ],
)
def test_notation(prefix: str, plain: str, latex: str) -> None:
    assert read(prefix).plain == plain
    assert read(prefix).latex == latex


def test_plain_notation_keeps_the_value() -> None:
    """What is displayed is the formula that is evaluated: read back, it has the same value."""
    from proofs.theorems import THEOREMS

    chosen = {"m": 1000, "delta": sympy.Rational(1, 20), "j": 3, "rho": sympy.Rational(11, 10)}
    for name in (
        "A1",
        "A1-peeled",
        "C1(i)",
        "C1-vector-peeled",
        "C1-joint",
        "D-hoeffding",
        "E-rank",
        "P",
        "B1",
    ):
        theorem = THEOREMS[name]
        values = {symbol.name: chosen.get(symbol.name, 2) for symbol in theorem.inputs}
        text = read(theorem.prefix).plain.replace("^", "**")
        known = {**values, "min": sympy.Min, "max": sympy.Max}
        shown = sympy.sympify(
            text, locals={k: sympy.sympify(v) if not callable(v) else v for k, v in known.items()}
        )
        difference = sympy.N(shown - evaluate(theorem.prefix, values), 30)
        assert abs(difference) < sympy.Rational(1, 10**25), name


def test_numeric_factors() -> None:
    assert numeric_factors("(add (mul 2 x) (mul (mul 3 M) (sqrt y)))") == ("2", "3")
    assert numeric_factors("(mul (mul (sqrt 2) L) (E x y))") == ("(sqrt 2)",)
    assert numeric_factors("(div x 2)") == ("(div 1 2)",)
    assert numeric_factors("(add x y)") == ()


def test_shown_values_are_rounded_up() -> None:
    assert shown_above(sympy.Rational(12341, 10000)) == "1.24"
    assert shown_above(sympy.Rational(1234, 1000)) == "1.24"
    assert shown_above(sympy.Rational(123, 100)) == "1.23"
    with pytest.raises(ValueError, match="no value for 'm'"):
        evaluate("(div 1 m)", {})
    with pytest.raises(ValueError, match="unknown node"):
        evaluate("(what 1)", {})


def test_values_in_the_text_are_upper_bounds_by_the_kernel() -> None:
    """Every ``{value:...}`` of the text, held against the numeric kernel: not below it, and within its
    last digit."""
    from certify.kernel.bound import evaluate as certified
    from certify.kernel.enclosure import Enclosure
    from proofs.theorems import THEOREMS

    reader = walk.Reader()
    found = [
        match
        for file in LESSONS.glob("chapter_*.py")
        for match in re.findall(r"\{value:([^{}]+)\}", file.read_text(encoding="utf-8"))
    ]
    assert len(found) >= 2
    for what in found:
        name, _, inputs = what.partition(":")
        values = {
            key: Enclosure.exact(value) for key, value in (pair.split("=") for pair in inputs.split(","))
        }
        truth = certified(THEOREMS[name].prefix, values)
        shown = sympy.Rational(reader.resolve("value", what).text)
        assert truth.upper <= float(shown)
        assert float(shown) <= truth.lower * 1.01


def test_numeric_answers_are_accepted_as_text() -> None:
    question = Question("q", "?", Number(lambda: sympy.Rational(1, 3), "0.001"), "!")
    assert walk.check_number(question, "0.3333")
    assert walk.check_number(question, "0,333")
    assert walk.check_number(question, "1/3")
    assert not walk.check_number(question, "0.34")
    assert not walk.check_number(question, "third")
    with pytest.raises(TypeError):
        walk.check_number(Question("q", "?", (Choice("a", "b", True),), "!"), "1")
