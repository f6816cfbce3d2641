"""Pages of the studies: headings, tables and line figures in the report's style. Computes no number."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import markupsafe

from certify.decimals import short

NUMBER = re.compile(r"[-\d.,e+%\[\] ]*|none")

PAGE = """<!doctype html>
<html lang="en" data-theme="light"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,"><title>{title}</title><style>{style}</style>
<script>
if (matchMedia("(prefers-color-scheme: dark)").matches) document.documentElement.dataset.theme = "dark";
</script></head>
<body><main><h1>{title}</h1>{body}</main></body></html>
"""


def number(pair: Mapping[str, str] | None, digits: int = 4) -> str:
    """A recorded enclosure for a human."""
    return "none" if pair is None else short(pair["lower"], pair["upper"], digits)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> markupsafe.Markup:
    """An HTML table; cells are escaped, columns of numbers align right, and on a phone each row is a card."""
    right = [all(NUMBER.fullmatch(row[i]) for row in rows) for i in range(len(heads))]
    escape = markupsafe.escape
    parts = ['<div class="scroll"><table class="stack"><thead><tr>']
    parts += [f"<th{_class(r)}>{escape(h)}</th>" for h, r in zip(heads, right, strict=True)]
    parts.append("</tr></thead><tbody>")
    for first, *rest in rows:
        parts.append(f'<tr><th scope="row"{_class(right[0])}>{escape(first)}</th>')
        for name, cell, r in zip(heads[1:], rest, right[1:], strict=True):
            style = "num" if r else "full"
            parts.append(f'<td class="{style}" data-name="{escape(name)}">{escape(cell)}</td>')
        parts.append("</tr>")
    return markupsafe.Markup("".join([*parts, "</tbody></table></div>"]))


def _class(right: bool) -> str:
    return ' class="num"' if right else ""


def folded(summary: str, content: str) -> markupsafe.Markup:
    """Content that opens on a click."""
    return markupsafe.Markup(f"<details><summary>{markupsafe.escape(summary)}</summary>{content}</details>")


def write(
    record: Mapping[str, Any], out: Path, name: str, title: str, sections: Sequence[tuple[str, str]]
) -> None:
    """Write ``<name>.json`` and ``<name>.html``; each section is a heading and HTML that is already safe, and
    is left out where it is empty."""
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
    style = (resources.files("certify.report") / "templates" / "report.css").read_text(encoding="utf-8")
    body = "".join(f"<h2>{markupsafe.escape(h)}</h2>{content}" for h, content in sections if content)
    page = PAGE.format(title=markupsafe.escape(title), style=style, body=body)
    (out / f"{name}.html").write_text(page, encoding="utf-8")
