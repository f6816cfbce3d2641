"""The lesson as static pages, filled in from the proof objects."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

from markupsafe import Markup

from certify.errors import CertifyError
from certify.teach.graph import Node, draw
from certify.teach.pages import Link, blocks, copy_static, environment, formula, inline
from proofs import walk
from proofs.lessons.catalogue import (
    LEVEL_MEANING,
    LEVEL_WORDS,
    Entry,
    Step,
    coq_theorems,
    reason_words,
    sentence,
    value_of,
)
from proofs.lessons.markup import parse_line
from proofs.lessons.model import Chapter, Live, Number, Program, Question, Result, Say, Steps
from proofs.records import Constant

SCRIPTS = (
    "live/core.js",
    "live/khintchine.js",
    "live/contraction.js",
    "live/softmax.js",
    "live/ranks.js",
    "live/shattering.js",
    "live/bound.js",
    "live/quantise.js",
    "live/descent.js",
    "lesson.js",
)
TITLE = "Rank and generalization, step by step"
View = dict[str, Any]


class LessonError(CertifyError):
    """A page of the lesson cannot be built; the message names the chapter and the place."""


def file_of(chapter: Chapter) -> str:
    """The file name of a chapter's page."""
    return f"chapter-{chapter.number:02d}-{chapter.slug}.html"


def places_of(course: Sequence[Chapter], entries: dict[str, Entry]) -> dict[str, str]:
    """Where links to results and chapters lead: the page that shows the result first, else the list of
    results."""
    places = {name: f"results.html#{entry.anchor}" for name, entry in entries.items()}
    for chapter in reversed(course):
        places[f"chapter {chapter.number}"] = file_of(chapter)
        for item in chapter.items:
            if isinstance(item, Result) and item.name in entries:
                places[item.name] = f"{file_of(chapter)}#{entries[item.name].anchor}"
    return places


def run_programs(programs: Sequence[str]) -> list[str]:
    """What each program prints, run in order in one fresh Python process, each with names of its own.

    Raises ``LessonError`` with the traceback of a program that fails. The same programs run once only.
    """
    return list(_run(tuple(programs))) if programs else []


@lru_cache(maxsize=8)
def _run(programs: tuple[str, ...]) -> tuple[str, ...]:
    runner = (
        "import contextlib, io, json, sys\n"
        "printed = []\n"
        "for code in json.load(sys.stdin):\n"
        "    out = io.StringIO()\n"
        "    with contextlib.redirect_stdout(out):\n"
        "        exec(compile(code, '<lesson>', 'exec'), {'__name__': '__main__'})\n"
        "    printed.append(out.getvalue())\n"
        "json.dump(printed, sys.stdout)\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", runner],
            input=json.dumps(list(programs)),
            text=True,
            capture_output=True,
            cwd=folder,
            timeout=300,
            check=False,
        )
    if done.returncode != 0:
        raise LessonError(f"a program of the lesson failed:\n{done.stderr.strip()}")
    return tuple(str(text) for text in json.loads(done.stdout))


@dataclass
class Pages:
    """Turns chapters into what the templates show."""

    course: tuple[Chapter, ...]
    reader: walk.Reader
    printed: dict[str, str]
    machine: dict[str, dict[str, Any]]

    # Small pieces
    def html(self, text: str) -> Markup:
        """Lesson text as HTML paragraphs."""
        return blocks(self.reader.blocks(text))

    def line(self, text: str) -> Markup:
        """One line of lesson text as HTML."""
        return inline(parse_line(" ".join(text.split()), self.reader.resolve))

    def level(self, level: str, coq: Sequence[str]) -> View:
        """The badge: its words, what they mean, and the Coq theorems behind it."""
        theorems = []
        for name in coq:
            if name not in self.machine:
                raise LessonError(
                    f"Coq theorem {name} is named by a derivation but not recorded in "
                    f"proofs/coq/theorems.json"
                )
            theorems.append({"name": name, **self.machine[name]})
        return {
            "level": level,
            "level_word": LEVEL_WORDS[level],
            "level_meaning": LEVEL_MEANING[level],
            "coq": theorems,
        }

    def constants(self, constants: Sequence[Constant]) -> list[View]:
        """Rows of a table of constants."""
        return [
            {"name": c.name, "formula": formula(value_of(c.value).latex), "origin": c.origin, "why": c.why}
            for c in constants
        ]

    def question(self, question: Question) -> View:
        """A question with its choices or its accepted interval."""
        view: View = {
            "type": "question",
            "id": question.id,
            "prompt": self.html(question.prompt),
            "explanation": self.html(question.explanation + walk.number_text(question)),
            "choices": None,
            "number": None,
        }
        if isinstance(question.answer, Number):
            lower, upper = walk.accepted(question.answer)
            view["number"] = {
                "lower": repr(float(lower)),
                "upper": repr(float(upper)),
                "right": self.line("Within the accepted range."),
                "wrong": self.line(question.answer.hint),
            }
        else:
            view["choices"] = [
                {"text": self.line(c.text), "feedback": self.line(c.feedback), "right": c.right}
                for c in question.choices
            ]
        return view

    # Items
    def result(self, entry: Entry, note: str = "", with_symbols: bool = True) -> View:
        """The card of a result."""
        symbols = [
            {"formula": formula(written.latex), "meaning": meaning} for written, meaning in entry.symbols
        ]
        return {
            "type": "result",
            "anchor": entry.anchor,
            "heading": entry.heading,
            "statement": entry.statement,
            "formulas": [
                {"label": label, "html": formula(written.latex, display=True)}
                for label, written in entry.formulas
            ],
            "symbols": symbols if with_symbols else [],
            "hypotheses": [
                {"words": words.rstrip("."), "formula": formula(condition.latex) if condition else ""}
                for words, condition in zip_longest(entry.hypotheses, entry.conditions)
            ],
            "idea": entry.idea,
            "constants": self.constants(entry.constants),
            "caveats": entry.caveats,
            "note": self.html(note) if note else "",
            "sources": entry.sources,
            **self.level(entry.level, entry.coq),
        }

    def step(self, item: Steps, step: Step, number: int, steps: Sequence[Step]) -> View:
        """The card of one step: the goal, what is known, the question, the step and its reason."""
        entry, note = self.reader.entry(item.name), item.notes.get(step.id)
        premises = [entry.step(premise) for premise in step.premises]
        rule: str | Markup = reason_words(step)
        if step.uses:
            place = self.reader.places.get(step.uses)
            link = Markup('<a href="{}">{}</a>').format(place, step.uses) if place else step.uses
            rule = Markup("{}: {}").format(rule, link)
        costs = [c for c in entry.constants if step.uses and c.origin == step.uses]
        question = walk.question_of(self.reader, item, step)
        return {
            "anchor": f"{entry.anchor}-{step.id}",
            "result": entry.name,
            "number": number,
            "total": len(steps),
            "of": walk.proof_length(entry) if number == 1 and item.only else 0,
            "goal": formula(entry.formulas[0][1].latex, display=True) if number == 1 else "",
            "known": [formula(s.claim.latex) for s in premises if s.rule != "hypothesis"],
            "question": self.question(question),
            "line_shown": question.line_shown,
            "formula": formula(step.claim.latex, display=True),
            "rule": rule,
            "why": step.why,
            "hypotheses": [
                {"words": sentence(s.why, ""), "formula": formula(s.claim.latex)}
                for s in premises
                if s.rule == "hypothesis"
            ],
            "say": self.html(note.say) if note and note.say else "",
            "costs": [
                {"formula": formula(value_of(c.value).latex), "name": c.name, "why": c.why} for c in costs
            ],
            **self.level(step.level, step.coq),
        }

    def item(self, item: object, chapter: Chapter, index: int) -> View:
        """One item of a chapter for its template."""
        if isinstance(item, Say):
            return {
                "type": "say",
                "title": item.title,
                "anchor": f"c{chapter.number}-{index}",
                "html": self.html(item.text),
            }
        if isinstance(item, Result):
            return self.result(self.reader.entry(item.name), item.note)
        if isinstance(item, Steps):
            steps = walk.steps_of(self.reader, item)
            return {
                "type": "steps",
                "steps": [self.step(item, step, number, steps) for number, step in enumerate(steps, 1)],
            }
        if isinstance(item, Live):
            data = Markup(json.dumps(item.data()).replace("<", "\\u003c"))
            return {
                "type": "live",
                "kind": item.kind,
                "anchor": f"live-{item.kind}",
                "title": item.title,
                "caption": self.line(item.caption),
                "data": data,
            }
        if isinstance(item, Program):
            return {
                "type": "program",
                "code": item.code.rstrip(),
                "printed": self.printed[item.code].rstrip(),
                "caption": self.html(item.caption) if item.caption else "",
            }
        if isinstance(item, Question):
            return self.question(item)
        raise LessonError(f"chapter {chapter.number}: unknown item {item!r}")

    def chapter(self, chapter: Chapter) -> View:
        """A whole chapter for its template."""
        items = []
        for index, item in enumerate(chapter.items):
            try:
                view = self.item(item, chapter, index)
            except (KeyError, ValueError) as error:
                raise LessonError(f"chapter {chapter.number}, item {index + 1}: {error}") from error
            before = chapter.items[index - 1] if index else None
            new_topic = isinstance(item, Question) or (isinstance(item, Say) and item.title)
            view["veil"] = before.id if isinstance(before, Question) and not new_topic else ""
            items.append(view)
        so_far = [c for c in self.course if c.number <= chapter.number]
        return {
            "number": chapter.number,
            "title": chapter.title,
            "goal": self.html(chapter.goal),
            "content": items,
            "exercises": [self.question(q) for q in chapter.exercises],
            "sources": chapter.sources,
            "ledger": self.constants([paid.constant for paid in walk.ledger(so_far, self.reader)]),
        }

    def side_ledger(self, chapter: Chapter) -> list[View]:
        """The constants that this chapter pays, each tied to the card on which it stands."""
        rows = []
        for paid in walk.ledger([c for c in self.course if c.number <= chapter.number], self.reader):
            if paid.chapter == chapter.number:
                rows.append(
                    {
                        "formula": formula(value_of(paid.constant.value).latex),
                        "name": paid.constant.name,
                        "step": self.reader.entry(paid.result).anchor,
                    }
                )
        return rows

    def contents(self) -> list[View]:
        """The chapters for tables of contents."""
        return [
            {
                "number": c.number,
                "title": c.title,
                "short": c.short,
                "goal": self.line(c.goal),
                "file": file_of(c),
                "questions": " ".join(q.id for q in walk.questions(self.reader, c)),
            }
            for c in self.course
        ]

    def graph(self) -> Markup:
        """The map of results."""
        nodes = [
            Node(
                entry.name,
                entry.title,
                entry.level,
                entry.kind,
                self.reader.places[entry.name],
                tuple(need for need in entry.needs if need in self.reader.entries),
                f"{entry.heading}. Level: {LEVEL_WORDS[entry.level]}.",
            )
            for entry in self.reader.entries.values()
        ]
        return draw(nodes, "Which result rests on which")

    def as_list(self) -> list[View]:
        """The map as groups of links, each result with its level and with what it rests on."""
        groups = {"theorem": "Theorems", "counterexample": "Counterexamples", "lemma": "Lemmas"}

        def row(entry: Entry) -> View:
            needs = [need for need in entry.needs if need in self.reader.entries]
            return {
                "heading": entry.heading,
                "link": self.reader.places[entry.name],
                "level": entry.level,
                "level_word": LEVEL_WORDS[entry.level],
                "needs": [{"name": need, "link": self.reader.places[need]} for need in needs],
            }

        entries = self.reader.entries.values()
        return [
            {"title": title, "rows": [row(entry) for entry in entries if entry.kind == kind]}
            for kind, title in groups.items()
        ]

    def levels(self) -> list[View]:
        """The levels that occur, with how many results have each."""
        counts = Counter(entry.level for entry in self.reader.entries.values())
        return [
            {"level": level, "word": word, "meaning": LEVEL_MEANING[level], "count": counts[level]}
            for level, word in LEVEL_WORDS.items()
            if counts[level]
        ]


INTRODUCTION = (
    "A trained network does well on its training examples. How well will it do on new ones? This course "
    "goes from that "
    "question to theorems with every constant written out, for the attention heads of a Transformer. On "
    "the way it "
    "takes apart a claim that sounds right and is not.\n\n"
    "Each formula here is filled in from the objects that `certify check` verifies. Each step shows how "
    "firmly it "
    "is checked. Before a reason is given, a short question asks you for it. You may also just scroll: "
    "everything "
    "is on the page.\n\n"
    "You need to know what an average and a matrix are. Nothing leaves your computer, and your answers "
    "are kept in this "
    "browser only."
)


def build_lesson(
    out: Path,
    chapters: Sequence[int] | None = None,
    docs_link: str = "",
    say: Callable[[str], None] = lambda text: None,
) -> list[Path]:
    """Write the lesson to ``out`` and return the files written.

    ``chapters`` picks chapters by number (``None``: all); ``docs_link`` is shown in the bar where the
    docs lie
    beside the lesson. Raises ``LessonError`` where a page cannot be built and ``ValueError`` for an
    unknown chapter.
    """
    course = walk.select(chapters)
    entries = walk.Reader().entries
    programs = [item.code for chapter in course for item in chapter.items if isinstance(item, Program)]
    say(f"running {len(programs)} programs of the text")
    printed = dict(zip(programs, run_programs(programs), strict=True))
    pages = Pages(course, walk.Reader(entries, places_of(course, entries)), printed, coq_theorems())
    views = []
    for index, chapter in enumerate(course, 1):
        say(f"chapter {index} of {len(course)}: {chapter.title}")
        views.append(pages.chapter(chapter))
    contents = pages.contents()
    out.mkdir(parents=True, exist_ok=True)
    copy_static(out / "static")
    links = [Link("Results", "results.html")] + ([Link("Documentation", docs_link)] if docs_link else [])
    common: View = {
        "static": "static/",
        "frame": "",
        "lesson": True,
        "scripts": SCRIPTS,
        "home_title": TITLE,
        "home_link": "index.html",
        "links": links,
        "contents": contents,
    }
    written = []

    def write(name: str, template: str, **more: Any) -> None:
        (out / name).write_text(
            environment().get_template(template).render(**{**common, **more}), encoding="utf-8"
        )
        written.append(out / name)

    for index, (chapter, view) in enumerate(zip(course, views, strict=True)):
        write(
            file_of(chapter),
            "chapter.html.j2",
            title=f"{chapter.number}. {chapter.title}",
            chapters=[view],
            current=chapter.number,
            side_ledger=pages.side_ledger(chapter),
            pager=True,
            previous=contents[index - 1] if index else None,
            next=contents[index + 1] if index + 1 < len(contents) else None,
        )
    write(
        "print.html",
        "chapter.html.j2",
        title=TITLE,
        chapters=views,
        current=None,
        side_ledger=[],
        pager=False,
        previous=None,
        next=None,
    )
    write(
        "results.html",
        "results.html.j2",
        title="All results",
        frame="wide",
        results=[pages.result(entry) for entry in entries.values()],
        links=[Link("Results", "results.html", True), *links[1:]],
    )
    write(
        "index.html",
        "index.html.j2",
        title=TITLE,
        heading=TITLE,
        frame="wide",
        introduction=pages.html(INTRODUCTION),
        graph=pages.graph(),
        groups=pages.as_list(),
        levels=pages.levels(),
    )
    return written
