"""What a chapter is made of. Chapters are data: words here, formulas and constants from the proof objects.

Text is a small plain markup, the same for page, terminal, Markdown and LaTeX:
``*emphasis*``, ``**strong**``, `` `code` ``, paragraphs separated by a blank line, lists of lines that begin
with ``- ``, and references in braces that are filled in from ``proofs`` when the lesson is built:

* ``{symbol:m}`` the notation of a symbol of ``proofs.symbols``,
* ``{formula:NAME}`` the formula of a lemma, theorem or proposition (``{formula:NAME:PART}`` for a
  named part),
* ``{constant:NAME:CONSTANT}`` the exact value of one constant of a result,
* ``{level:NAME}`` the level of a result in words,
* ``{value:NAME:symbol=number,...}`` the bound of a theorem at given numbers, rounded up to three digits,
* ``{see:NAME}`` a link to the card of a result, ``{chapter:4}`` a link to a chapter,
* ``{term:S-EXPRESSION}`` a term, ``{words:TEXT}`` words of a derivation; only questions made from a step
  (``Asked``) use them.

A paragraph that is one formula and nothing else stands on a line of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

import sympy


@dataclass(frozen=True)
class Choice:
    """One answer of a multiple-choice question and what it tells the reader who picks it."""

    text: str
    feedback: str
    right: bool = False


@dataclass(frozen=True)
class Number:
    """The answer of a numeric question: an exact expression, accepted within ``tolerance`` (absolute)."""

    expression: Callable[[], sympy.Expr]
    tolerance: str = "0.005"
    hint: str = ""


@dataclass(frozen=True)
class Question:
    """A question that asks for the reason, with the explanation of a good answer.

    Before a step, ``line_shown`` says that the step's line is in view while the reader thinks about its
    reason; else the line waits as well.
    """

    id: str
    prompt: str
    answer: tuple[Choice, ...] | Number
    explanation: str
    line_shown: bool = False

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The choices in the order in which they are shown: mixed, and the same every time."""
        if isinstance(self.answer, Number):
            return ()
        return tuple(sorted(self.answer, key=lambda c: hashlib.sha256((self.id + c.text).encode()).digest()))


def choose(
    id: str,
    prompt: str,
    right: tuple[str, str],
    wrong: tuple[tuple[str, str], ...],
    explanation: str,
    line_shown: bool = False,
) -> Question:
    """A multiple-choice question; each answer is its text and what it tells the reader who picks it."""
    choices = (Choice(*right, right=True), *(Choice(*answer) for answer in wrong))
    return Question(id, prompt, choices, explanation, line_shown)


@dataclass(frozen=True)
class Say:
    """Prose."""

    text: str
    title: str = ""


@dataclass(frozen=True)
class Result:
    """The card of a lemma, theorem or proposition: words, formula, hypotheses, level, constants."""

    name: str
    note: str = ""


@dataclass(frozen=True)
class Asked:
    """A question that is made from the step itself; ``proofs.lessons.asked`` has the kinds.

    ``place`` picks one of several numbers, premises or multipliers of the step, ``hint`` helps with a number.
    """

    kind: str
    place: int = 0
    hint: str = ""


@dataclass(frozen=True)
class Note:
    """What the lesson adds to one step of a derivation: a question before it, words after it.

    Without ``ask`` the question is made from the step, of the kind that suits its rule.
    """

    ask: Question | Asked | None = None
    say: str = ""


@dataclass(frozen=True)
class Steps:
    """A derivation walked step by step. ``notes`` is keyed by step id; ``only`` picks steps by id."""

    name: str
    notes: dict[str, Note] = field(default_factory=dict)
    only: tuple[str, ...] = ()


@dataclass(frozen=True)
class Live:
    """A live figure. ``kind`` names the script, ``data`` gives it formulas from the proof objects."""

    kind: str
    title: str
    caption: str
    data: Callable[[], dict[str, object]]


@dataclass(frozen=True)
class Program:
    """A short Python program; the builder runs it and shows what it printed."""

    code: str
    caption: str = ""


Item = Say | Result | Steps | Live | Program | Question


@dataclass(frozen=True)
class Chapter:
    """One chapter: a goal, a sequence of items, exercises and sources."""

    number: int
    slug: str
    title: str
    short: str
    goal: str
    items: tuple[Item, ...]
    exercises: tuple[Question, ...]
    sources: tuple[str, ...]
