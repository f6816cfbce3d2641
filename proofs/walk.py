"""The lesson without a page: the same chapters and the same derivations as text, Markdown or LaTeX.

>>> from proofs.walk import Reader
>>> Reader().plain("The sample has {symbol:m} examples.")
'The sample has m examples.'
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import sympy

from proofs.lessons import chapters as all_chapters
from proofs.lessons.asked import question_before
from proofs.lessons.catalogue import LEVEL_WORDS, Entry, Step, catalogue, reason_words, sentence, value_of
from proofs.lessons.markup import Inline, Paragraph, parse, parse_line
from proofs.lessons.model import Chapter, Live, Note, Number, Program, Question, Result, Say, Steps
from proofs.lessons.notation import read, visible
from proofs.lessons.numbers import evaluate, shown_above
from proofs.lessons.typed import as_latex
from proofs.records import Constant

WIDTH = 88


class Reader:
    """Fills in the references of lesson text from the catalogue of results.

    ``places`` maps names of results to link targets; without it links are only names.
    """

    def __init__(
        self, entries: Mapping[str, Entry] | None = None, places: Mapping[str, str] | None = None
    ) -> None:
        self.entries = catalogue() if entries is None else dict(entries)
        self.places = places or {}

    def entry(self, name: str) -> Entry:
        """The result called ``name``; a ``KeyError`` says which names there are."""
        if name not in self.entries:
            raise KeyError(f"the lesson refers to {name!r}; there are {sorted(self.entries)}")
        return self.entries[name]

    def resolve(self, kind: str, what: str) -> Inline:
        """The inline piece that stands for ``{kind:what}``."""
        if kind == "symbol":
            written = read(what)
            return Inline("math", written.plain, written.latex)
        if kind == "words":
            return Inline("words", what)
        if kind == "term":
            written = read(what)
            return Inline("math", written.plain, written.latex)
        if kind == "formula":
            name, _, part = what.partition(":")
            entry = self.entry(name)
            written = read(entry.prefixes[part]) if part else entry.formulas[0][1]
            return Inline("math", written.plain, written.latex)
        if kind == "constant":
            name, _, constant = what.rpartition(":")
            written = value_of(self.entry(name).constant(constant).value)
            return Inline("math", written.plain, written.latex)
        if kind == "level":
            return Inline("text", LEVEL_WORDS[self.entry(what).level])
        if kind == "value":
            return Inline("text", self._value(what))
        if kind == "see":
            return Inline("link", self.entry(what).name, self.places.get(what, ""))
        if kind == "chapter":
            return Inline("link", f"chapter {what}", self.places.get(f"chapter {what}", ""))
        raise ValueError(f"unknown reference {{{kind}:{what}}}")

    def _value(self, what: str) -> str:
        name, _, inputs = what.partition(":")
        values = dict(pair.split("=") for pair in inputs.split(","))
        return shown_above(evaluate(self.entry(name).prefixes["bound"], values))

    def blocks(self, text: str) -> tuple[Paragraph, ...]:
        """The paragraphs of lesson text."""
        return parse(text, self.resolve)

    def plain(self, text: str) -> str:
        """Lesson text for a terminal."""
        return _join(self.blocks(text), _plain_piece, _plain_display, "- ", "\n\n")

    def line(self, text: str) -> str:
        """One line of lesson text for a terminal."""
        return "".join(piece.text for piece in parse_line(" ".join(text.split()), self.resolve))


def steps_of(reader: Reader, item: Steps) -> tuple[Step, ...]:
    """The steps that a chapter walks through, in order; hypotheses are shown where they are used.

    A note on a step that is not there is an error.
    """
    steps = reader.entry(item.name).steps
    known = {step.id for step in steps if step.rule != "hypothesis"}
    for wanted in (*item.notes, *item.only):
        if wanted not in known:
            raise KeyError(f"{item.name} has no step {wanted!r}; its steps are {sorted(known)}")
    shown = tuple(step for step in steps if step.rule != "hypothesis")
    return tuple(step for step in shown if not item.only or step.id in item.only)


def proof_length(entry: Entry) -> int:
    """How many steps a proof has, without its hypotheses."""
    return sum(step.rule != "hypothesis" for step in entry.steps)


def question_of(reader: Reader, item: Steps, step: Step) -> Question:
    """The question before a step of a derivation that a chapter walks through."""
    return question_before(reader.entries, reader.entry(item.name), step, item.notes.get(step.id))


def questions(reader: Reader, chapter: Chapter) -> tuple[Question, ...]:
    """All questions of a chapter in reading order, exercises last."""
    found: list[Question] = []
    for item in chapter.items:
        if isinstance(item, Question):
            found.append(item)
        elif isinstance(item, Steps):
            found += [question_of(reader, item, step) for step in steps_of(reader, item)]
    return (*found, *chapter.exercises)


def check_number(question: Question, text: str) -> bool:
    """Whether ``text`` is a right answer to a numeric question."""
    if not isinstance(question.answer, Number):
        raise TypeError(f"{question.id} is not a numeric question")
    try:
        given = sympy.Rational(text.strip().replace(",", "."))
    except (TypeError, ValueError):
        return False
    lower, upper = accepted(question.answer)
    return bool(lower <= given <= upper)


def number_text(question: Question) -> str:
    """The answer of a numeric question as a sentence; empty for other questions."""
    if not isinstance(question.answer, Number):
        return ""
    value = question.answer.expression()
    exact = sympy.nsimplify(sympy.N(value, 30), rational=True)
    if 10**6 % exact.q == 0:
        return f" The number: {float(exact):g}."
    return f" The number: {float(value):.3g}, rounded."


def accepted(answer: Number) -> tuple[sympy.Expr, sympy.Expr]:
    """The interval of answers that count as right."""
    value, tolerance = (
        sympy.nsimplify(sympy.N(answer.expression(), 30), rational=True),
        sympy.Rational(answer.tolerance),
    )
    return value - tolerance, value + tolerance


@dataclass(frozen=True)
class Paid:
    """A constant in the ledger: what it is, and the result in whose chapter it was first paid."""

    constant: Constant
    result: str
    chapter: int


def ledger(course: Sequence[Chapter], reader: Reader) -> tuple[Paid, ...]:
    """Every constant of the results that the chapters show, once, in the order in which the reader
    meets it."""
    paid: dict[tuple[str, str], Paid] = {}
    for chapter in course:
        for item in chapter.items:
            if not isinstance(item, Result):
                continue
            for constant in reader.entry(item.name).paid():
                paid.setdefault(
                    (str(constant.value), constant.origin),
                    Paid(constant, item.name, chapter.number),
                )
    return tuple(paid.values())


def select(numbers: Sequence[int] | None) -> tuple[Chapter, ...]:
    """The chapters with these numbers, in reading order; ``None`` takes all. A ``ValueError`` names an
    unknown one."""
    course = all_chapters()
    if numbers is None:
        return course
    unknown = sorted(set(numbers) - {chapter.number for chapter in course})
    if unknown:
        raise ValueError(f"there is no chapter {unknown[0]}; chapters run from 1 to {len(course)}")
    return tuple(chapter for chapter in course if chapter.number in numbers)


# Rendering of inline pieces
def _plain_piece(piece: Inline) -> str:
    return piece.text


def _plain_display(piece: Inline) -> str:
    return "    " + piece.text


def _markdown_piece(piece: Inline) -> str:
    if piece.kind == "math":
        return f"${piece.extra}$"
    marks = {"em": "*", "strong": "**", "code": "`"}
    mark = marks.get(piece.kind, "")
    return f"{mark}{piece.text}{mark}"


_LATEX_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


def latex_text(text: str) -> str:
    """Plain text as LaTeX source."""
    return "".join(_LATEX_ESCAPES.get(character, character) for character in text)


def _latex_piece(piece: Inline) -> str:
    if piece.kind == "math":
        return f"${piece.extra}$"
    if piece.kind == "words":
        return as_latex(piece.text, latex_text)
    commands = {"em": "emph", "strong": "textbf", "code": "texttt"}
    words = latex_text(piece.text)
    return rf"\{commands[piece.kind]}{{{words}}}" if piece.kind in commands else words


Shown = Callable[[Inline], str]


def _join(paragraphs: Sequence[Paragraph], piece: Shown, display: Shown, bullet: str, gap: str) -> str:
    parts = []
    for paragraph in paragraphs:
        lines = ["".join(piece(part) for part in line) for line in paragraph.lines]
        if paragraph.formula:
            parts.append(display(paragraph.formula))
        else:
            parts.append("\n".join(bullet + line for line in lines) if paragraph.is_list else lines[0])
    return gap.join(parts)


# The terminal
def _filled(text: str, indent: str = "") -> str:
    return "\n".join(
        textwrap.fill(
            line,
            WIDTH,
            initial_indent=indent,
            subsequent_indent=indent + ("  " if line.startswith("- ") else ""),
        )
        for line in text.splitlines()
    )


def conditions(entry: Entry) -> list[str]:
    """The hypotheses as text, each with its formula where it has one."""
    if not entry.conditions:
        return list(entry.hypotheses)
    pairs = zip(entry.hypotheses, entry.conditions, strict=True)
    return [f"{words.rstrip('.')}: {formula.plain}" for words, formula in pairs]


def entry_text(entry: Entry, reader: Reader) -> str:
    """The card of a result as text."""
    lines = [f"[{LEVEL_WORDS[entry.level]}] {entry.heading}", "", _filled(entry.statement), ""]
    for label, formula in entry.formulas:
        lines += [_filled(f"{label}:", "  ")] if label else []
        lines += [_filled(formula.plain, "    "), ""]
    if entry.symbols:
        letters = [_filled(f"- {written.plain}: {meaning}") for written, meaning in entry.symbols]
        lines += ["The letters", *letters, ""]
    if entry.hypotheses:
        lines += ["It holds when", *(_filled(f"- {text}") for text in conditions(entry)), ""]
    for constant in entry.constants:
        lines.append(
            _filled(
                f"- {constant.name} = {value_of(constant.value).plain} ({constant.origin}): {constant.why}"
            )
        )
    return "\n".join(lines).rstrip()


def known_text(entry: Entry, step: Step) -> str:
    """The earlier lines from which a step follows, as text; empty where there are none."""
    lines = [s.claim.plain for s in map(entry.step, step.premises) if s.rule != "hypothesis"]
    return "\n".join(["We have", *(_filled(line, "    ") for line in lines)]) if lines else ""


def reason_text(entry: Entry, step: Step, note: Note | None, reader: Reader) -> str:
    """Why a step is allowed, as text."""
    rule = reason_words(step) + (f" ({step.uses})" if step.uses else "")
    lines = [_filled(f"Why it is allowed: {rule}. {step.why}")]
    for used in map(entry.step, step.premises):
        if used.rule == "hypothesis":
            lines.append(_filled(f"- {sentence(used.why, '')}: {used.claim.plain}"))
    if note and note.say:
        lines += ["", _filled(reader.plain(note.say))]
    return "\n".join(lines)


Ask = Callable[[str], str]


def _ask(question: Question, reader: Reader, ask: Ask, say: Callable[[str], None]) -> bool:
    """Put a question until it is answered, and explain; an empty answer goes on."""
    say("\n" + _filled("Think first. " + reader.plain(question.prompt)))
    choices = question.choices
    for index, choice in enumerate(choices, 1):
        text = f"{index}) {reader.line(choice.text)}"
        say(textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="     "))
    prompt = (
        f"Your answer (1-{len(choices)}, Enter to go on): " if choices else "Your number (Enter to go on): "
    )
    right = False
    while not right:
        given = ask(prompt).strip()
        if not given:
            break
        if isinstance(question.answer, Number):
            right = check_number(question, given)
            say("Right." if right else _filled(f"Not yet. {reader.line(question.answer.hint)}"))
        elif given.isdigit() and 1 <= int(given) <= len(choices):
            choice = choices[int(given) - 1]
            right = choice.right
            say(_filled(("Right. " if right else "Not yet. ") + reader.line(choice.feedback)))
        else:
            say(f"Please type a number from 1 to {len(choices)}.")
    say(_filled("A good answer: " + reader.plain(question.explanation) + number_text(question)))
    return right


def walk_terminal(
    course: Sequence[Chapter], ask: Ask, say: Callable[[str], None], reader: Reader | None = None
) -> int:
    """Walk the chapters in a terminal; returns the number of questions answered right."""
    reader = reader or Reader()
    score = 0

    def pose(question: Question) -> None:
        nonlocal score
        score += _ask(question, reader, ask, say)

    for chapter in course:
        say(f"\n{'=' * WIDTH}\nChapter {chapter.number}. {chapter.title}\n{'=' * WIDTH}\n")
        say(_filled(reader.plain(chapter.goal)))
        for item in chapter.items:
            if isinstance(item, Question):
                pose(item)
            elif isinstance(item, Steps):
                _walk_steps(item, reader, pose, say)
            else:
                say("\n" + _item_text(item, reader))
        say("\nExercises")
        for exercise in chapter.exercises:
            pose(exercise)
        say("Sources\n" + "\n".join(_filled("- " + source) for source in chapter.sources))
    return score


def _walk_steps(
    item: Steps, reader: Reader, pose: Callable[[Question], None], say: Callable[[str], None]
) -> None:
    """Show the steps of a derivation, each after its question."""
    entry, steps = reader.entry(item.name), steps_of(reader, item)
    for number, step in enumerate(steps, 1):
        question = question_of(reader, item, step)
        say(f"\n{item.name}, step {number} of {len(steps)} [{LEVEL_WORDS[step.level]}]")
        if known := known_text(entry, step):
            say("\n" + known)
        line = "\nThe step\n" + _filled(step.claim.plain, "    ")
        if question.line_shown:
            say(line)
        pose(question)
        if not question.line_shown:
            say(line)
        say("\n" + reason_text(entry, step, item.notes.get(step.id), reader))


def _item_text(item: Say | Result | Live | Program, reader: Reader) -> str:
    if isinstance(item, Say):
        title = f"{item.title}\n{'-' * len(item.title)}\n" if item.title else ""
        return title + _filled(reader.plain(item.text))
    if isinstance(item, Result):
        return entry_text(reader.entry(item.name), reader) + (
            "\n" + reader.plain(item.note) if item.note else ""
        )
    if isinstance(item, Live):
        return _filled(
            f"(On the page there is a live figure here: {item.title} {reader.plain(item.caption)})"
        )
    return textwrap.indent(item.code.rstrip(), "    ") + "\n\n" + _filled(reader.plain(item.caption))


# Exports
def to_markdown(course: Sequence[Chapter], reader: Reader | None = None) -> str:
    """The chapters as one Markdown text: every result, every step with its reason and level, every
    question."""
    reader = reader or Reader()
    return "\n\n".join(_export(chapter, reader, _Markdown()) for chapter in course) + "\n"


def to_latex(course: Sequence[Chapter], reader: Reader | None = None) -> str:
    """The chapters as one LaTeX document that compiles with the packages of a basic installation."""
    reader = reader or Reader()
    body = "\n\n".join(_export(chapter, reader, _Latex()) for chapter in course)
    packages = ("[utf8]{inputenc}", "[margin=2.5cm]{geometry}", "{amsmath,amssymb}")
    head = ["\\documentclass{article}", *(f"\\usepackage{package}" for package in packages)]
    return "\n".join([*head, "\\setlength{\\parindent}{0pt}\\setlength{\\parskip}{0.6ex}", "\\sloppy"]) + (
        "\n\\begin{document}\n" + body + "\n\\end{document}\n"
    )


class _Markdown:
    piece = staticmethod(_markdown_piece)
    bullet = "- "

    def heading(self, level: int, text: str) -> str:
        return "#" * level + " " + text

    def formula(self, latex: str) -> str:
        return f"$$\n{latex}\n$$"

    def aside(self, latex: str) -> str:
        """A formula after the words of a list item."""
        return f" ${latex}$"

    def items(self, lines: Sequence[str]) -> str:
        return "\n".join("- " + line for line in lines)

    def code(self, text: str) -> str:
        return f"```python\n{text.rstrip()}\n```"

    def text(self, text: str) -> str:
        return text

    def said(self, text: str) -> str:
        """Words of a proof object."""
        return text

    def label(self, text: str) -> str:
        return f"**{text}** "


class _Latex(_Markdown):
    piece = staticmethod(_latex_piece)
    bullet = r"\par$\bullet$ "

    def heading(self, level: int, text: str) -> str:
        return "\\" + ("section", "subsection", "subsubsection")[level - 1] + f"*{{{self.said(text)}}}"

    def formula(self, latex: str) -> str:
        return f"\\[\n{latex}\n\\]"

    def aside(self, latex: str) -> str:
        return f" ${latex}$" if visible(latex) < 40 else self.formula(latex)

    def items(self, lines: Sequence[str]) -> str:
        return "\\begin{itemize}\n" + "\n".join(r"\item " + line for line in lines) + "\n\\end{itemize}"

    def code(self, text: str) -> str:
        return f"\\begin{{verbatim}}\n{text.rstrip()}\n\\end{{verbatim}}"

    def text(self, text: str) -> str:
        return latex_text(text)

    def said(self, text: str) -> str:
        return as_latex(text, latex_text)

    def label(self, text: str) -> str:
        return rf"\textbf{{{text}}} "


def _export(chapter: Chapter, reader: Reader, form: _Markdown) -> str:
    def words(text: str) -> str:
        return _join(
            reader.blocks(text), form.piece, lambda math: form.formula(math.extra), form.bullet, "\n\n"
        )

    def line(text: str) -> str:
        return "".join(form.piece(piece) for piece in parse_line(" ".join(text.split()), reader.resolve))

    def question(item: Question) -> Iterator[str]:
        yield form.label("Think first.") + words(item.prompt)
        if item.choices:
            yield form.items([line(choice.text) for choice in item.choices])
        yield form.label("A good answer.") + words(item.explanation) + form.text(number_text(item))

    def result(entry: Entry) -> Iterator[str]:
        yield form.heading(3, entry.heading)
        yield form.text(f"Level: {LEVEL_WORDS[entry.level]}. ") + form.said(entry.statement)
        yield from (form.formula(formula.latex) for _, formula in entry.formulas)
        if entry.symbols:
            yield form.items([f"${w.latex}$: {form.said(meaning)}" for w, meaning in entry.symbols])
        if entry.hypotheses:
            formulas = [form.aside(formula.latex) for formula in entry.conditions]
            formulas = formulas or [""] * len(entry.hypotheses)
            ends = [":" if formula else "." for formula in formulas]
            yield form.items(
                [
                    form.said(text.rstrip(".") + end) + formula
                    for text, end, formula in zip(entry.hypotheses, ends, formulas, strict=True)
                ]
            )
        if entry.constants:
            yield form.items(
                [
                    f"{form.said(c.name)}: ${value_of(c.value).latex}$ ({form.said(f'{c.origin}; {c.why}')})"
                    for c in entry.constants
                ]
            )

    def step(item: Steps, shown: Step, number: int, total: int) -> Iterator[str]:
        asked, note = question_of(reader, item, shown), item.notes.get(shown.id)
        line = form.formula(shown.claim.latex)
        yield form.heading(3, f"{item.name}, step {number} of {total} ({LEVEL_WORDS[shown.level]})")
        yield line if asked.line_shown else ""
        yield from question(asked)
        yield "" if asked.line_shown else line
        used = f" ({shown.uses})" if shown.uses else ""
        yield form.label("Why.") + form.said(f"{reason_words(shown).capitalize()}{used}. {shown.why}")
        if note and note.say:
            yield words(note.say)

    parts = [form.heading(1, f"{chapter.number}. {chapter.title}"), words(chapter.goal)]
    for item in chapter.items:
        if isinstance(item, Say):
            parts += [form.heading(2, item.title)] if item.title else []
            parts.append(words(item.text))
        elif isinstance(item, Result):
            parts += result(reader.entry(item.name))
        elif isinstance(item, Steps):
            steps = steps_of(reader, item)
            for number, shown in enumerate(steps, 1):
                parts += step(item, shown, number, len(steps))
        elif isinstance(item, Question):
            parts += question(item)
        elif isinstance(item, Live):
            parts.append(form.text(f"Live figure: {item.title} ") + words(item.caption))
        else:
            parts += [form.code(item.code), words(item.caption)]
    parts.append(form.heading(2, "Exercises"))
    for exercise in chapter.exercises:
        parts += question(exercise)
    parts += [form.heading(2, "Sources"), form.items([form.text(source) for source in chapter.sources])]
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(part for part in parts if part))
