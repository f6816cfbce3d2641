"""The documentation site: the Markdown files of ``docs/`` as pages with the look of the lesson, and no
network.

Run from a checkout: ``python -m certify.teach.docs --source docs --out site``.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup, escape

from certify.errors import DataError
from certify.teach.pages import Link, copy_static, environment

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
            return line[2:].strip()
    raise DataError(f"{path}: no '# ' heading; every page of the docs begins with one")


def find_pages(source: Path) -> list[Page]:
    """All pages under ``source``, group by group, the group's index first."""
    pages = []
    for group, _ in GROUPS:
        folder = source / group
        found = sorted(folder.glob("*.md"), key=lambda path: (path.name != "index.md", path.name))
        for path in found:
            pages.append(
                Page(path, title_of(path), path.relative_to(source).with_suffix(".html").as_posix(), group)
            )
    if not pages:
        raise DataError(f"{source}: no Markdown file found; run this in a checkout, or give --source")
    return pages


def build(source: Path, out: Path) -> list[Path]:
    """Write the site to ``out``, with the lesson under ``out/lesson``; returns the files written."""
    from certify.teach.build import build_lesson

    pages = find_pages(source)
    out.mkdir(parents=True, exist_ok=True)
    copy_static(out / "static")
    template = environment().get_template("docs.html.j2")
    groups = [
        {"title": title, "entries": [page for page in pages if page.group == group]}
        for group, title in GROUPS
        if any(page.group == group for page in pages)
    ]
    written = []
    for page in pages:
        root = "../" * page.file.count("/")
        target = out / page.file
        target.parent.mkdir(parents=True, exist_ok=True)
        html = template.render(
            title=page.title,
            content=render(page.source.read_text(encoding="utf-8")),
            groups=groups,
            current=page.file,
            root=root,
            static=root + "static/",
            frame="docs",
            lesson=False,
            scripts=("lesson.js",),
            home_title="certify",
            home_link=root + "index.html",
            links=(Link("The lesson", root + "lesson/index.html"),),
        )
        target.write_text(html, encoding="utf-8")
        written.append(target)
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
