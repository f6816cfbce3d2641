"""The questions before the steps: every step has one, and the checker agrees on what is right and wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from proofs import library, walk
from proofs.kernel import Refused, check
from proofs.lemmas.l14_effective_ranks import RANKS
from proofs.lessons import asked, chapters
from proofs.lessons.asked import CannotAsk, question_before
from proofs.lessons.catalogue import Entry, Step
from proofs.lessons.figures import RANK_LABELS
from proofs.lessons.model import Asked, Note, Number, Question, Steps
from proofs.lessons.notation import BOX, sides
from proofs.lessons.numbers import evaluate

READER = walk.Reader()
TERM = re.compile(r"\{term:([^{}]+)\}")


def asked_steps() -> Iterator[tuple[Entry, Step, Question, bool]]:
    """Every step that the course walks through, its question, and whether it was made from the step."""
    for chapter in chapters():
        for item in chapter.items:
            if isinstance(item, Steps):
                entry = READER.entry(item.name)
                for step in walk.steps_of(READER, item):
                    question = walk.question_of(READER, item, step)
                    yield entry, step, question, not question.id.startswith(f"c{chapter.number}-")


STEPS = list(asked_steps())
MADE = [(entry, step, question) for entry, step, question, made in STEPS if made]


LINES = Path(__file__).parent / "asked_lines.json"


def written_lines() -> dict[str, str]:
    """The line after each question that was written by hand."""
    return {question.id: f"{entry.name}: {step.prefix}" for entry, step, question, made in STEPS if not made}


@pytest.fixture(scope="module")
def checked() -> dict[str, Any]:
    """The statements of all derivations, and the derivations by the name the lesson uses."""
    from proofs.lessons.catalogue import display_name

    return {
        "statements": library.recheck(),
        "records": {display_name(record["name"]): record for record in library.load()},
    }


def verdict(checked: dict[str, Any], entry: Entry, step: Step, **change: Any) -> str:
    """What the checker says of a derivation that ends with this step, changed; empty if the step passes."""
    record = checked["records"][entry.name]
    place = next(i for i, s in enumerate(record["steps"]) if s["id"] == step.id)
    changed = {**record["steps"][place], **change}
    derivation = {**record, "steps": [*record["steps"][:place], changed]}
    try:
        check(derivation, checked["statements"], library.stored("prose"), library.machine_table())
    except Refused as error:
        return str(error) if f"step {step.id}:" in str(error) else ""
    return ""


def test_recorded_levels_are_what_the_kernel_finds_now(checked: dict[str, Any]) -> None:
    """The badges come from the recorded table; this is the same table that a fresh check gives."""
    for name, record in library.stored("levels").items():
        assert checked["statements"][name].level == record["level"], name


def test_every_step_has_a_question_of_its_own() -> None:
    assert len(STEPS) >= 95
    assert len({question.id for _, _, question, _ in STEPS}) == len(STEPS)
    written = sum(not made for *_, made in STEPS)
    assert written >= 55, "reasons are asked for in words where words matter"
    kinds = {type(question.answer).__name__ for _, _, question, _ in STEPS}
    assert kinds == {"tuple", "Number"}


def test_written_questions_stand_before_the_line_they_were_written_for() -> None:
    """Steps are named by number, and a proof may get another step. Then every question is read again."""
    recorded = json.loads(LINES.read_text(encoding="utf-8"))
    moved = {key for key, line in written_lines().items() if recorded.get(key) != line}
    gone = set(recorded) - set(written_lines())
    assert not moved | gone, "read these questions beside their steps, then run this file"


def test_neighbours_do_not_repeat_a_prompt() -> None:
    prompts = [question.prompt for _, _, question, _ in STEPS]
    repeated = [a for a, b in pairwise(prompts) if a == b]
    assert repeated == []


def test_a_made_question_does_not_show_its_answer_above_it() -> None:
    """The right answer is not written in the lines that the reader sees before: the known lines, and the
    step's own line where it is shown."""
    for entry, step, question in MADE:
        known = [entry.step(p).prefix for p in step.premises if entry.step(p).rule != "hypothesis"]
        if isinstance(question.answer, Number):
            box = TERM.findall(question.prompt)[0]
            assert BOX in box
            value = sides(step.prefix)[1]
            assert not any(sides(line)[1] == value for line in known), (entry.name, step.id)
        elif not question.line_shown:
            right = next(choice.text for choice in question.answer if choice.right)
            assert not any(line == TERM.findall(right)[0] for line in known), (entry.name, step.id)


def _wrong_terms(question: Question) -> list[str]:
    assert isinstance(question.answer, tuple)
    return [TERM.findall(choice.text)[-1] for choice in question.answer if not choice.right]


def test_the_checker_refuses_every_wrong_line(checked: dict[str, Any]) -> None:
    seen = 0
    for entry, step, question in MADE:
        if question.prompt.startswith("One of these lines"):
            assert verdict(checked, entry, step) == ""
            for line in _wrong_terms(question):
                assert verdict(checked, entry, step, claim=line), (entry.name, step.id, line)
            seen += 1
    assert seen >= 2


def test_the_checker_refuses_every_other_multiplier(checked: dict[str, Any]) -> None:
    seen = 0
    for entry, step, question in MADE:
        if question.prompt.startswith("By what was"):
            right = TERM.findall(next(c.text for c in question.answer if c.right))[0]  # type: ignore[union-attr]
            place = step.times.index(right)
            for factor in _wrong_terms(question):
                times = [*step.times[:place], factor, *step.times[place + 1 :]]
                assert verdict(checked, entry, step, data={"times": times}), (entry.name, step.id, factor)
            seen += 1
    assert seen >= 7


def test_the_checker_needs_the_hypothesis_that_is_asked_for(checked: dict[str, Any]) -> None:
    seen = 0
    for entry, step, question in MADE:
        if "hypothesis" in question.prompt and isinstance(question.answer, tuple):
            ids = {s.prefix: s.id for s in entry.steps if s.rule == "hypothesis"}
            right = ids[TERM.findall(next(c.text for c in question.answer if c.right))[-1]]
            assert right in step.premises
            for other in (ids[line] for line in _wrong_terms(question)):
                swapped = [other if premise == right else premise for premise in step.premises]
                assert verdict(checked, entry, step, premises=swapped), (entry.name, step.id, other)
            seen += 1
    assert seen >= 4


def test_the_checker_refuses_every_other_optimum(checked: dict[str, Any]) -> None:
    seen = 0
    for entry, step, question in MADE:
        if step.at:
            for value in _wrong_terms(question):
                assert verdict(checked, entry, step, data={"variable": step.variable, "at": value})
            seen += 1
    assert seen >= 1


def test_the_number_in_the_box_is_the_step_s_own(checked: dict[str, Any]) -> None:
    seen = 0
    for entry, step, question in MADE:
        if isinstance(question.answer, Number):
            line = TERM.findall(question.prompt)[0]
            number = TERM.findall(question.explanation)[0]
            assert line.count(BOX) == 1
            assert line.replace(BOX, number) == step.prefix
            assert abs(float(question.answer.expression()) - float(evaluate(number, {}))) < 1e-12
            assert verdict(checked, entry, step, claim=line.replace(BOX, "7")), (entry.name, step.id)
            seen += 1
    assert seen >= 7


def test_the_result_asked_for_is_the_one_that_is_used() -> None:
    for entry, step, question in MADE:
        if "result" in question.prompt:
            assert isinstance(question.answer, tuple)
            right = next(choice.text for choice in question.answer if choice.right)
            assert READER.entry(step.uses).heading in right
            for choice in question.answer:
                assert choice.right or READER.entry(step.uses).heading not in choice.text, entry.name


def test_a_step_that_cannot_be_asked_needs_a_written_question() -> None:
    entry = READER.entry("Lemma 1")
    with pytest.raises(CannotAsk, match="write a question for it in the chapter"):
        question_before(READER.entries, entry, entry.step("s6"), None)
    with pytest.raises(CannotAsk, match="has no number 9"):
        question_before(READER.entries, entry, entry.step("s12"), Note(Asked("number", 8)))


def test_unasked_steps_get_the_kind_that_suits_their_rule() -> None:
    entry = READER.entry("Lemma 6")
    made = question_before(READER.entries, entry, entry.step("s6"), None)
    assert isinstance(made.answer, Number)
    assert made.answer.expression() == 2
    used = READER.entry("C1(i)").step("s12")
    assert "earlier result" in question_before(READER.entries, READER.entry("C1(i)"), used, None).prompt


def test_changed_lines_claim_more_never_less() -> None:
    """A smaller number in a denominator would be true: only increasing places are changed."""
    step = READER.entry("Lemma 3(c)").step("s5")
    with pytest.raises(CannotAsk, match="too little can be changed"):
        asked.changed_lines(step)
    assert len(asked.changed_lines(READER.entry("Lemma 3(c)").step("s6"))) == 2


def test_ranks_of_the_figure_are_those_of_lemma_14() -> None:
    """Order and power give, on a spectrum, what the derivations of Lemma 14 and the kernel call that rank."""
    import math

    from certify.kernel.effective_rank import ORDER_POWER

    spectrum = [4.0, 2.0, 1.0, 1.0]
    top, s1, s2 = 4, 8, 22
    shares = [x / s1 for x in spectrum]
    entropy = -sum(q * math.log(q) for q in shares)
    values = {"top": top, "S1": s1, "S2": s2, "H": repr(entropy)}
    claims = {name: sides(READER.entry(f"Lemma 14({name})").prefixes["claim"]) for name in "abc"}
    assert [rank.formula for rank in RANKS if rank.formula] == [
        claims["a"][0],
        claims["a"][1],
        claims["b"][1],
        claims["c"][1],
    ]
    assert set(RANK_LABELS) == {rank.kind for rank in RANKS}
    for rank in RANKS:
        order, power = ORDER_POWER[rank.kind]
        assert (rank.order, rank.power) == ("inf" if order is None else str(order), power)
        weights = [x**rank.power for x in spectrum]
        p = [w / sum(weights) for w in weights]
        renyi = {
            "inf": 1 / max(p),
            "2": 1 / sum(x * x for x in p),
            "1": math.exp(-sum(x * math.log(x) for x in p)),
        }[rank.order]
        if rank.formula:
            assert math.isclose(renyi, float(evaluate(rank.formula, values)), rel_tol=1e-12), rank.kind


if __name__ == "__main__":
    LINES.write_text(json.dumps(written_lines(), indent=1) + "\n", encoding="utf-8")
