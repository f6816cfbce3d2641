"""Every number and constant word of the lesson: filled in from a proof object, tied to one, or an example's.

A changed constant then either changes the lesson by itself or fails a test that names the sentence.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction

import pytest
import sympy

from certify.kernel.rounding import UNIT_ROUNDOFF
from proofs import walk
from proofs.lessons import chapters, figures
from proofs.lessons.model import Chapter, Live, Number, Program, Question, Result, Say
from proofs.lessons.notation import sides
from proofs.lessons.numbers import evaluate

READER = walk.Reader()
ENTRIES = READER.entries
CONSTANT_WORDS = (
    r"twice|thrice|doubles?|doubled|half|halves?|halved|quarter|fourfold|fourteen|ninths?|sixth|twelfth"
    r"|per cent|roots? of (?:two|three)|factor (?:of )?(?:two|three|four)"
    r"|(?:two|three|four|ten|hundred) times|\w+ in (?:ten|twenty)"
)
TOKEN = re.compile(rf"\d+(?:[.,]\d+)*|\b(?:{CONSTANT_WORDS})\b", re.IGNORECASE)
NAMES = re.compile(
    r"\{[^{}]*\}|`[^`]*`"
    r"|\b(?:chapters? \d+(?: and \d+)?|Chapter \d+|Lemma \d+(?:\([a-z]\))?|N\d'?|C\d(?:\(i+\))?)(?![\w.]*\d)"
)
"""What is filled in, and names of results and chapters."""


def texts(chapter: Chapter) -> Iterator[tuple[str, bool]]:
    """The words of a chapter that are typed, and whether they belong to a numeric question."""
    yield chapter.goal, False
    for item in chapter.items:
        if isinstance(item, Say):
            yield item.text, False
        elif isinstance(item, Result):
            yield item.note, False
        elif isinstance(item, (Live, Program)):
            yield item.caption, False
    made = {
        question.id
        for item in chapter.items
        if not isinstance(item, (Say, Result, Live, Program, Question))
        for question in (walk.question_of(READER, item, s) for s in walk.steps_of(READER, item))
        if not question.id.startswith(f"c{chapter.number}-")
    }
    for question in walk.questions(READER, chapter):
        if question.id in made:
            continue
        numeric = isinstance(question.answer, Number)
        yield from ((text, numeric) for text in (question.prompt, question.explanation))
        if isinstance(question.answer, Number):
            yield question.answer.hint, True
        else:
            yield from (
                (text, False) for choice in question.answer for text in (choice.text, choice.feedback)
            )


def found(text: str, numeric: bool) -> Iterator[str]:
    """The sentences with a typed number or constant; 0 and 1 are ends of intervals, not constants.

    The digits of a numeric question are its data; its answer is computed from the proof objects.
    """
    for sentence in re.split(r"(?<=[.?!:])\s+", NAMES.sub("", text)):
        tokens = [token for token in TOKEN.findall(sentence) if token.strip(".,") not in ("0", "1")]
        if any(not (numeric and token[0].isdigit()) for token in tokens):
            yield sentence.strip()


def factor(name: str, number: int = 1) -> sympy.Expr:
    return ENTRIES[name].constant(str(number)).value


def _confidence(name: str, delta: str = "0.05") -> float:
    return float(evaluate(ENTRIES[name].last_term, {"M": 1, "m": 2, "delta": delta}))


def _steps_of_3c() -> tuple[sympy.Expr, sympy.Expr]:
    """By how much one unit moves the gap and the complexity in Lemma 3(c)."""
    entry = ENTRIES["Lemma 3(c)"]
    moves = [
        evaluate(sides(s.prefix)[1], {"M": 1, "m": 1})
        for s in entry.steps
        if s.rule == "paper" and s.prefix.startswith("(le")
    ]
    return moves[0], moves[1]


def _spiked() -> tuple[float, float]:
    values = [10.0] + [1.0] * 100
    shares = [x / sum(values) for x in values]
    stable = sum(x * x for x in values) / max(values) ** 2
    return stable, math.exp(-sum(q * math.log(q) for q in shares))


TIED: dict[str, Callable[[], bool]] = {
    # chapter 2 and 3
    "counted twice": lambda: factor("Lemma 1") == 2,
    "wice the complexity": lambda: factor("Lemma 1") == 2 == factor("Lemma 3(c)"),
    "twice the average complexity": lambda: factor("Lemma 1") == 2,
    "only half as much": lambda: (
        Fraction(str(sympy.nsimplify(_steps_of_3c()[1] / _steps_of_3c()[0]))) == Fraction(1, 2)
    ),
    "one half": lambda: float(_steps_of_3c()[1]) == 0.5,
    "root of twice": lambda: "(mul 2 m)" in ENTRIES["Lemma 3(c)"].last_term,
    "saves 40 per cent": lambda: 0.395 < 1 - _confidence("Lemma 3(c)") / _confidence("Lemma 3(b)") < 0.405,
    "It doubles, roughly": lambda: (
        1.8 < _confidence("Lemma 3(c)", "0.000001") / _confidence("Lemma 3(c)") < 2.3
    ),
    "grows from 3 to 14": lambda: round(math.log(20)) == 3 and round(math.log(10**6)) == 14,
    "take the root, double it": lambda: factor("Lemma 3(c)", 2) == 2,
    "Twice the root of log": lambda: factor("Lemma 3(c)", 2) == 2,
    # chapter 4
    "degree 2": lambda: factor("Lemma 6") ** 2 == 2,
    "next degree, 2": lambda: factor("Lemma 6") ** 2 == 2,
    "half the sum of two suprema": lambda: (
        ENTRIES["Lemma 7 (step)"].step("s4").prefix.startswith("(eq (mul 2 ")
    ),
    "*twice* the average on the left": lambda: (
        ENTRIES["Lemma 7 (step)"].step("s4").prefix.startswith("(eq (mul 2 ")
    ),
    "Twice the same thing": lambda: _two_suprema(),
    # chapter 5
    "the stable rank is 2, the entropy rank is 89": lambda: _spiked()[0] == 2 and round(_spiked()[1]) == 89,
    # chapter 7
    "quarter of the squared length": lambda: float(_popoviciu()) == 0.25,
    "The complexity has one half": lambda: _halved(),
    "Two halves": lambda: _halved() and float(figures.gap_over_complexity_shape()) == 1,
    "bound doubles it": lambda: factor("Lemma 3(c)") == 2,
    "spends it in two halves": lambda: "(div 2 delta)" in ENTRIES["Lemma 3(b)"].last_term,
    "Twice that is": lambda: factor("Lemma 3(c)") == 2,
    # chapter 8
    "is twice the sum of the squares": lambda: "(mul 2 " in _sign_step(),
    "The complexity is 2 times 2000": lambda: _halved(),
    "Double it, then add": lambda: factor("Lemma 3(c)") == 2,
    "half the scale": lambda: ENTRIES["N1"].prefixes["right"] == "(tanh (div beta 2))",
    "twice as many contents": lambda: any(h.prefix == "(le (mul 2 m) d)" for h in ENTRIES["N2"].steps),
    "half the root of": lambda: ENTRIES["N2"].prefixes["left"] == "(mul 1/2 (sqrt m))",
    "stays above one half": lambda: ENTRIES["N2"].step("s6").prefix.startswith("(le 1/2 "),
    "ten times more contents": lambda: any(h.prefix == "(eq d (mul 10 m))" for h in ENTRIES["N3"].steps),
    "near one half": lambda: ENTRIES["N3"].prefixes["left"] == "9/20",
    "gap of one half": lambda: ENTRIES["N2"].step("s6").prefix.startswith("(le 1/2 "),
    # chapter 9
    "about twice their product": lambda: "(mul 2 d rank_scores" in _c2(),
    "One half, one sixth, one twelfth": lambda: (
        [figures.share_of_cell(j) for j in (0, 1, 2)] == [sympy.Rational(1, n) for n in (2, 6, 12)]
    ),
    "half of it": lambda: figures.share_of_cell(0) == sympy.Rational(1, 2),
    "less than fourteen": lambda: -math.log(figures.share_of_cell(1000)) < 14,
    # chapter 10
    "53 binary digits": lambda: sys.float_info.mant_dig == 53,
    "half a unit of its last digit": lambda: sys.float_info.epsilon / 2 == float(UNIT_ROUNDOFF),
    "The root of 1.01 is about 1.005": lambda: round(float(figures.stretch("1/100")), 3) == 1.005,
    "Half of one per cent": lambda: round(float(figures.stretch("1/100")), 3) == 1.005,
    "up to half of that": lambda: abs(float((figures.stretch("1/10000") - 1) * 10000) - 0.5) < 0.001,
}
"""Sentence -> what a proof object says about its constant."""


def _popoviciu() -> sympy.Expr:
    step = next(s for s in ENTRIES["Lemma 12(a) (osc)"].steps if s.rule == "paper")
    return evaluate(sides(step.prefix)[1].replace("(osc u)", "1"), {})


def _two_suprema() -> bool:
    return ENTRIES["Lemma 7 (step)"].step("s4").prefix.startswith("(eq (mul 2 ")


def _sign_step() -> str:
    return next(s for s in ENTRIES["Lemma 12(c)"].steps if s.rule == "sign").prefix


def _halved() -> bool:
    return ENTRIES["Complexity of C1(i)"].prefixes["right"].endswith("(mul 2 m))")


def _c2() -> str:
    return ENTRIES["C2"].prefixes["bound"]


EXAMPLE_DATA = (
    "A gap of 0.02",
    "2 percentage points",
    "20 errors on 1000",
    "0.05",
    "22 million parameters of 32 bits",
    "In 2025",
    "a bound of 1.7",
    "cannot be 1.7",
    "in 2016",
    "All 4 and all 16 patterns",
    "It grows 50,000 times",
    "ten times as many examples",
    "half of the signs are plus",
    "Half of the time the sign is plus",
    "concentration twice",
    '"effective rank 1.7"',
    "with a factor 2",
    "Half the weight",
    "half of the weight",
    "It halves",
    "fourfold",
    "its root doubles",
    "Four times as many",
    "four times the number",
    "All patterns of eight signs against all 256",
    "constant of 100",
    "100,000 times more",
    "one in twenty is wrong",
    "all 1024 cases",
    '"the risk is at most 0.09"',
    "defect 0.01",
    "Ten per cent",
    "which is 0.006",
    "Half of the bound",
    "It doubles",
    "Nothing here doubles",
    "split in halves",
    "halve",
    "Ten times log 2",
    "95 per cent",
    "One half times four ninths",
    "ten times, for a thousand people",
    "once in twenty",
    "Four times plus, once minus",
    "three times",
    "one and a half directions",
    "One singular value of 10",
    "missed twice",
    "Two times 0.9",
    "2 per cent",
)
"""Sentences whose numbers are data of an example, a date, a wrong answer's, or a count of cases."""


def _all_found() -> list[tuple[int, str]]:
    return [
        (chapter.number, sentence)
        for chapter in chapters()
        for text, numeric in texts(chapter)
        for sentence in found(text, numeric)
    ]


def test_every_typed_number_is_tied_or_an_example() -> None:
    known = (*TIED, *EXAMPLE_DATA)
    loose = [(n, sentence) for n, sentence in _all_found() if not any(key in sentence for key in known)]
    assert loose == [], "take the number from a proof object, or tie it to one"


def test_the_lists_have_no_dead_entries() -> None:
    sentences = [sentence for _, sentence in _all_found()]
    tied_away = [s for s in sentences if not any(key in s for key in TIED)]
    assert [key for key in TIED if not any(key in s for s in sentences)] == []
    assert [key for key in EXAMPLE_DATA if not any(key in s for s in tied_away)] == []


@pytest.mark.parametrize("sentence", TIED)
def test_the_proof_objects_still_say_so(sentence: str) -> None:
    assert TIED[sentence](), f"the lesson says {sentence!r}; the proof object says something else now"


def test_a_typed_constant_would_be_found() -> None:
    assert list(found("It costs a factor of two.", False)) == ["It costs a factor of two."]
    assert list(found("The price is 1.41 here.", False)) == ["The price is 1.41 here."]
    assert list(found("It costs {constant:Lemma 7:1}, see chapter 4 and N1.", False)) == []
    assert list(found("The numbers are 3 and 4.", True)) == []
