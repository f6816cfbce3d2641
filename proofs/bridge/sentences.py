"""Goals after each sentence of a proof, recorded by driving ``coqtop``.

All sentences of a file are sent at once; the prompts that ``coqtop -emacs`` prints between them say which
answer belongs to which sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from proofs.bridge.compiler import THEORIES, run
from proofs.bridge.sources import Named

_PROMPT = re.compile(r"<prompt>.*?</prompt>", re.DOTALL)
_OPENING = re.compile(r"^(Theorem|Corollary|Lemma|Example)\s+([A-Za-z_0-9']+)")
_SELECTOR = re.compile(r"\d+\s*:")
_CLOSING = ("Qed.", "Defined.", "Abort.")


@dataclass(frozen=True)
class Step:
    """One sentence of a proof and what is left to show after it (empty when nothing is)."""

    sentence: str
    goal: str


def without_comments(text: str) -> str:
    """The text with its (nested) comments replaced by spaces."""
    kept, depth, i = [], 0, 0
    while i < len(text):
        if text.startswith("(*", i):
            depth, i = depth + 1, i + 2
        elif text.startswith("*)", i) and depth:
            depth, i = depth - 1, i + 2
        else:
            kept.append(text[i] if not depth else " " if text[i] != "\n" else "\n")
            i += 1
    return "".join(kept)


def sentences(text: str) -> list[str]:
    """The sentences of a file: up to a full stop before a blank, and bullets and braces on their own."""
    found: list[str] = []
    start, i, quoted = 0, 0, False
    plain = without_comments(text)
    while i < len(plain):
        char = plain[i]
        before = plain[start:i].strip()
        if char == '"':
            quoted = not quoted
        elif not quoted and char == "." and (i + 1 == len(plain) or plain[i + 1].isspace()):
            found.append(_one_line(plain[start : i + 1]))
            start = i + 1
        elif not quoted and (not before or _SELECTOR.fullmatch(before)) and char in "{}":
            found.append(before + char)
            start = i + 1
        elif not quoted and not before and char in "-+*":
            end = i
            while end < len(plain) and plain[end] == char:
                end += 1
            found.append(plain[i:end])
            start, i = end, end - 1
        i += 1
    return found


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def record(file: str, wanted: Iterable[str]) -> dict[str, list[Step]]:
    """For each wanted theorem of ``theories/<file>.v`` its sentences with the goal after each of them."""
    chosen = set(wanted)
    commands: list[str] = []
    places: list[tuple[str, str, int]] = []
    current = ""
    for sentence in sentences((THEORIES / f"{file}.v").read_text(encoding="utf-8")):
        opening = _OPENING.match(sentence)
        if opening and opening.group(2) in chosen:
            current = opening.group(2)
        commands.append(sentence)
        if current:
            closing = sentence in _CLOSING
            if not closing:
                commands.append("Show.")
            places.append((current, sentence, -1 if closing else len(commands) - 1))
            if closing:
                current = ""
    answers = _answers(file, commands)
    found: dict[str, list[Step]] = {name: [] for name in chosen}
    for name, sentence, place in places:
        found[name].append(Step(sentence, "" if place < 0 else _goal(answers[place])))
    missing = sorted(name for name, steps in found.items() if not steps)
    if missing:
        raise ValueError(f"{file}.v has no theorem {', '.join(missing)}")
    return found


def _answers(file: str, commands: list[str]) -> list[str]:
    arguments = ["coqtop", "-q", "-emacs", "-w", "none", "-Q", str(THEORIES), "Attention"]
    outcome = run(["sh", "-c", " ".join(arguments) + " 2>&1"], seconds=300, text="\n".join(commands) + "\n")
    answers = _PROMPT.split(outcome.output)[1:]
    for command, answer in zip(commands, answers, strict=False):
        if re.search(r"^Error|\bError:", answer) and command != "Show.":
            raise RuntimeError(f"{file}.v: coqtop rejects {command[:80]!r}: {answer.strip()[:300]}")
    if len(answers) not in (len(commands), len(commands) + 1):
        raise RuntimeError(f"{file}.v: {len(answers)} answers to {len(commands)} sentences")
    return answers


def _goal(answer: str) -> str:
    """The goal that ``Show.`` prints, without the mark-up of the emacs mode."""
    text = re.sub(
        r"<infomsg>|</infomsg>|\(dependent evars:.*?\)\s*| \(ID \d+\)", "", answer, flags=re.DOTALL
    ).strip()
    return (
        ""
        if text.startswith(("No more", "Error", "This subproof is complete", "All the remaining"))
        else text
    )


def headline(named: Iterable[Named], names: Iterable[str]) -> dict[str, list[str]]:
    """The wanted theorems by file."""
    wanted = set(names)
    by_file: dict[str, list[str]] = {}
    for n in named:
        if n.name in wanted:
            by_file.setdefault(n.file, []).append(n.name)
    return by_file
