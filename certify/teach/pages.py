"""What all pages share: the templates' environment, the static files, and the markup as HTML."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from proofs.lessons.markup import Inline, Paragraph
from proofs.lessons.typed import as_html

HERE = Path(__file__).parent
STATIC = HERE / "static"


@dataclass(frozen=True)
class Link:
    """An entry of the bar at the top of a page."""

    text: str
    href: str
    current: bool = False


def environment() -> jinja2.Environment:
    """The templates, with escaping on and undefined names as errors."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters["prose"] = prose
    return made


def copy_static(target: Path) -> None:
    """Copy style sheet, scripts, fonts and their licence to ``target``, replacing what was there."""
    shutil.copytree(STATIC, target, dirs_exist_ok=True)


def formula(latex: str, display: bool = False) -> Markup:
    """A formula for KaTeX; without a script the reader sees its LaTeX."""
    return Markup('<span class="math{}">{}</span>').format(" display" if display else "", latex)


def prose(text: str) -> Markup:
    """The plain words of a proof object as HTML: its typed formulas get their signs, letters and indices."""
    return Markup(as_html(text))


def inline(pieces: tuple[Inline, ...]) -> Markup:
    """The HTML of a line of inline pieces."""
    tags = {"em": "em", "strong": "strong", "code": "code"}
    parts = []
    for piece in pieces:
        if piece.kind == "math":
            parts.append(formula(piece.extra))
        elif piece.kind == "link":
            parts.append(Markup('<a href="{}">{}</a>').format(piece.extra, piece.text))
        elif piece.kind == "words":
            parts.append(prose(piece.text))
        elif piece.kind in tags:
            parts.append(Markup("<{0}>{1}</{0}>").format(Markup(tags[piece.kind]), piece.text))
        else:
            parts.append(escape(piece.text))
    return Markup("").join(parts)


def blocks(paragraphs: tuple[Paragraph, ...]) -> Markup:
    """The HTML of paragraphs and lists."""
    parts = []
    for paragraph in paragraphs:
        lines = [inline(line) for line in paragraph.lines]
        if paragraph.formula:
            parts.append(
                Markup('<div class="formula">{}</div>').format(formula(paragraph.formula.extra, True))
            )
        elif paragraph.is_list:
            items = Markup("").join(Markup("<li>{}</li>").format(line) for line in lines)
            parts.append(Markup('<ul class="hypotheses">{}</ul>').format(items))
        else:
            parts.append(Markup("<p>{}</p>").format(lines[0]))
    return Markup("").join(parts)
