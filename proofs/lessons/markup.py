"""The plain markup of the lessons, parsed once and rendered four ways (page, terminal, Markdown, LaTeX)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Inline:
    """A piece of a line. ``kind`` is ``text``, ``em``, ``strong``, ``code``, ``math``, ``link`` or ``words``.

    ``words`` are words of a proof object, see ``typed``.
    For ``math``, ``text`` is plain text for a terminal and ``extra`` is LaTeX. For ``link``, ``extra``
    is the target.
    """

    kind: str
    text: str
    extra: str = ""


@dataclass(frozen=True)
class Paragraph:
    """Lines of inline pieces; a list when ``is_list``."""

    lines: tuple[tuple[Inline, ...], ...]
    is_list: bool

    @property
    def formula(self) -> Inline | None:
        """The formula of a paragraph that is nothing else."""
        pieces = self.lines[0]
        return pieces[0] if not self.is_list and len(pieces) == 1 and pieces[0].kind == "math" else None


Resolve = Callable[[str, str], Inline]

_PIECE = re.compile(
    r"\{(?P<kind>[a-z]+):(?P<what>[^{}]+)\}|\*\*(?P<strong>[^*]+)\*\*|\*(?P<em>[^*]+)\*|`(?P<code>[^`]+)`"
)


def parse_line(text: str, resolve: Resolve) -> tuple[Inline, ...]:
    """The inline pieces of ``text``; ``resolve(kind, what)`` fills in each ``{kind:what}``."""
    pieces: list[Inline] = []
    position = 0
    for match in _PIECE.finditer(text):
        if match.start() > position:
            pieces.append(Inline("text", text[position : match.start()]))
        if match["kind"]:
            pieces.append(resolve(match["kind"], match["what"].strip()))
        else:
            kind = str(match.lastgroup)
            pieces.append(Inline(kind, match[kind]))
        position = match.end()
    if position < len(text):
        pieces.append(Inline("text", text[position:]))
    for piece in pieces:
        if piece.kind == "text" and ("{" in piece.text or "}" in piece.text):
            raise ValueError(f"a reference in braces is not well formed: {piece.text!r}")
    return tuple(pieces)


def parse(text: str, resolve: Resolve) -> tuple[Paragraph, ...]:
    """The paragraphs of ``text``: blank lines separate them, lines that begin with ``- `` make a list."""
    paragraphs = []
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        if not lines:
            continue
        if lines[0].startswith("- "):
            entries: list[str] = []
            for line in lines:
                if line.startswith("- "):
                    entries.append(line[2:])
                else:
                    entries[-1] += " " + line
            paragraphs.append(Paragraph(tuple(parse_line(entry, resolve) for entry in entries), True))
        else:
            paragraphs.append(Paragraph((parse_line(" ".join(lines), resolve),), False))
    return tuple(paragraphs)
