"""The documentation site: the Markdown files of ``docs/`` as pages with the look of the lesson, and no
network.

Run from a checkout: ``python -m certify.teach.docs --source docs --out site``.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup, escape

from certify.errors import DataError
from certify.teach.pages import Link, copy_static, environment

LESSON = "lesson/index.html"
GROUPS = (
    ("", "Start"),
    ("tutorial", "Tutorial"),
    ("how-to", "How to"),
    ("explanation", "Explanation"),
    ("reference", "Reference"),
    ("decisions", "Decisions"),
)


@dataclass(frozen=True)
class Page:
    """A Markdown file of the docs: where it lies, its title, and the file it becomes."""

    source: Path
    title: str
    file: str
    group: str


def _dollar_math(state: StateInline, silent: bool) -> bool:
    """``$...$`` is a formula when no blank touches the dollar signs from inside."""
    if state.src[state.pos] != "$":
        return False
    end = state.src.find("$", state.pos + 1)
    inside = state.src[state.pos + 1 : end] if end > 0 else ""
    if not inside or inside != inside.strip() or "\n" in inside:
        return False
    if not silent:
        token = state.push("math_inline", "", 0)
        token.content = inside
    state.pos = end + 1
    return True


def parser() -> MarkdownIt:
    """CommonMark with tables and formulas: ``$...$`` in a line, a fenced block ``math`` for display."""
    markdown = MarkdownIt("commonmark").enable("table")
    markdown.inline.ruler.before("escape", "dollar_math", _dollar_math)
    # The library declares its table of rules as bound methods; any callable of this shape is one.
    rules = cast("dict[str, Callable[..., str]]", cast(RendererHTML, markdown.renderer).rules)
    plain_fence = rules["fence"]

    def math_inline(tokens: Sequence[Token], index: int, options: object, env: object) -> str:
        return str(Markup('<span class="math">{}</span>').format(tokens[index].content))

    def fence(tokens: Sequence[Token], index: int, options: object, env: object) -> str:
        if tokens[index].info.split()[:1] == ["math"]:
            return str(Markup('<span class="math display">{}</span>').format(tokens[index].content.strip()))
        return plain_fence(tokens, index, options, env)

    rules["math_inline"] = math_inline
    rules["fence"] = fence
    return markdown


def anchor(title: str) -> str:
    """The id of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")


def render(text: str) -> Markup:
    """The HTML of a Markdown text; headings get ids and links to ``.md`` files lead to pages."""
    markdown = parser()
    tokens = markdown.parse(text)
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor(tokens[index + 1].content))
        for child in token.children or []:
            href = child.attrGet("href") if child.type == "link_open" else None
            if isinstance(href, str) and not href.startswith(("http:", "https:")):
                child.attrSet("href", re.sub(r"\.md(?=$|#)", ".html", href))
    html = markdown.renderer.render(tokens, markdown.options, {})
    return Markup(
        html.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>")
    )


def title_of(path: Path) -> str:
    """The first heading of a Markdown file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            return line[2:].strip().replace("`", "")
    raise DataError(f"{path}: no '# ' heading; every page of the docs begins with one")


def find_pages(source: Path) -> list[Page]:
    """All pages under ``source``, group by group, in the order in which the front page names them."""
    front = source / "index.md"
    named = re.findall(r"\]\(([^)#]+\.md)", front.read_text(encoding="utf-8")) if front.is_file() else []
    places = {source / name: place for place, name in reversed(list(enumerate(named)))}
    pages = []
    for group, _ in GROUPS:
        folder = source / group
        found = sorted(folder.glob("*.md"), key=lambda path: (places.get(path, len(named)), path.name))
        for path in found:
            pages.append(
                Page(path, title_of(path), path.relative_to(source).with_suffix(".html").as_posix(), group)
            )
    if not pages:
        raise DataError(f"{source}: no Markdown file found; run this in a checkout, or give --source")
    return pages


@dataclass(frozen=True)
class Term:
    """An entry of the index: a heading or a result, the page it stands on, and where."""

    text: str
    page: str
    href: str


def index_terms(pages: Sequence[Page]) -> list[Term]:
    """Every page, heading (no numbered step), chapter and result, in alphabetical order."""
    from certify.teach.build import file_of, places_of
    from proofs import walk

    found = [Term(re.sub(r"^\d+\. ", "", page.title), page.title, page.file) for page in pages]
    for page in pages:
        tokens = parser().parse(page.source.read_text(encoding="utf-8"))
        for token, inside in itertools.pairwise(tokens):
            if token.type == "heading_open" and token.tag != "h1" and not re.match(r"\d+\. ", inside.content):
                text = inside.content.replace("`", "")
                found.append(Term(text, page.title, f"{page.file}#{anchor(inside.content)}"))
    course, entries = walk.select(None), walk.Reader().entries
    found += [Term(c.title, f"The course, chapter {c.number}", f"lesson/{file_of(c)}") for c in course]
    places = places_of(course, entries)
    for entry in entries.values():
        found.append(Term(entry.heading, "The course", f"lesson/{places[entry.name]}"))
    return sorted(set(found), key=lambda term: (_natural(term.text), term.href))


def _natural(text: str) -> list[str]:
    """A key that puts Lemma 2 before Lemma 15."""
    return [part.zfill(4) if part.isdigit() else part for part in re.split(r"(\d+)", text.casefold())]


def build(source: Path, out: Path) -> list[Path]:
    """Write the site to ``out``, with the lesson under ``out/lesson``; returns the files written."""
    from certify.teach.build import build_lesson

    pages = find_pages(source)
    out.mkdir(parents=True, exist_ok=True)
    copy_static(out / "static")
    groups = [
        {"title": title, "entries": [page for page in pages if page.group == group]}
        for group, title in GROUPS
        if any(page.group == group for page in pages)
    ]
    written = []

    def write(file: str, template: str, **more: Any) -> None:
        root = "../" * file.count("/")
        links = (Link("Index", root + "all.html", file == "all.html"), Link("The lesson", root + LESSON))
        html = (
            environment()
            .get_template(template)
            .render(
                groups=groups,
                current=file,
                root=root,
                static=root + "static/",
                frame="docs",
                lesson=False,
                home_title="certify",
                home_link=root + "index.html",
                links=links,
                **more,
            )
        )
        target = out / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(html, encoding="utf-8")
        written.append(target)

    for page in pages:
        content = render(page.source.read_text(encoding="utf-8"))
        write(page.file, "docs.html.j2", title=page.title, content=content, scripts=("lesson.js",))
    scripts = ("lesson.js", "find.js")
    write("all.html", "docs_index.html.j2", title="Index", terms=index_terms(pages), scripts=scripts)
    for path in source.rglob("*"):
        if path.is_file() and path.suffix in {".json", ".svg", ".png", ".toml"}:
            target = out / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
            written.append(target)
    written += build_lesson(out / "lesson", docs_link="../index.html")
    return written


def main(argv: Sequence[str] | None = None) -> int:
    """``python -m certify.teach.docs``: build the site and say where it is."""
    options = argparse.ArgumentParser(prog="python -m certify.teach.docs", description=__doc__)
    options.add_argument(
        "--source", type=Path, default=Path("docs"), help="folder of Markdown files (default: docs)"
    )
    options.add_argument("--out", type=Path, default=Path("site"), help="folder to write (default: site)")
    arguments = options.parse_args(argv)
    try:
        written = build(arguments.source, arguments.out)
    except DataError as error:
        print(escape(str(error)), file=sys.stderr)
        return 2
    print(f"{len(written)} files in {os.path.relpath(arguments.out)}; open {arguments.out / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
