"""Pages of the studies: headings, tables and line figures in the report's style. Computes no number."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import markupsafe

from certify.decimals import short

COLOURS = ("#1f5f8b", "#9a6200", "#1d7a4a", "#7b4ba0", "#b3261e", "#5b636d", "#0e8a8a", "#c05299")
WIDTH, HEIGHT, LEFT, BOTTOM = 760, 330, 70, 36


def number(pair: Mapping[str, str] | None, digits: int = 4) -> str:
    """A recorded enclosure for a human."""
    return "none" if pair is None else short(pair["lower"], pair["upper"], digits)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An HTML table; cells are escaped, those that look like numbers align right."""
    parts = ['<div class="scroll"><table><thead><tr>', *(f"<th>{markupsafe.escape(h)}</th>" for h in heads)]
    parts.append("</tr></thead><tbody>")
    for row in rows:
        parts.append(
            "<tr>" + "".join(f'<td class="{_kind(c)}">{markupsafe.escape(c)}</td>' for c in row) + "</tr>"
        )
    return "".join([*parts, "</tbody></table></div>"])


def _kind(cell: str) -> str:
    return "num" if cell[:1].isdigit() or cell[:1] in "-[" else ""


def _scale(values: Sequence[float], low: float, high: float, logarithmic: bool) -> list[float]:
    """Values mapped to [low, high] in pixels."""
    seen = [math.log10(v) if logarithmic else v for v in values]
    bottom, top = min(seen), max(seen)
    span = (top - bottom) or 1.0
    return [low + (v - bottom) / span * (high - low) for v in seen]


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]], x_title: str, y_title: str, *, logarithmic: bool
) -> str:
    """An SVG of several named lines; non-positive values are left out of a logarithmic figure."""
    points = {n: [(x, y) for x, y in s if not logarithmic or (x > 0 and y > 0)] for n, s in series.items()}
    points = {n: s for n, s in points.items() if s}
    if not points:
        return ""
    flat = [p for s in points.values() for p in s]
    xs = _scale([p[0] for p in flat], LEFT + 8, WIDTH - 36, logarithmic)
    ys = _scale([p[1] for p in flat], HEIGHT - BOTTOM, 14, logarithmic)
    place = {p: (x, y) for p, x, y in zip(flat, xs, ys, strict=True)}
    total = HEIGHT + 24 + 18 * len(points)
    parts = [f'<svg viewBox="0 0 {WIDTH} {total}" role="img" aria-label="{markupsafe.escape(y_title)}">']
    for value, x in sorted({(p[0], round(place[p][0], 1)) for p in flat}):
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="14" y2="{HEIGHT - BOTTOM}"/>')
        parts.append(f'<text x="{x}" y="{HEIGHT - 18}" text-anchor="middle">{value:g}</text>')
    for value, level in ((min(p[1] for p in flat), HEIGHT - BOTTOM), (max(p[1] for p in flat), 14)):
        parts.append(f'<text x="{LEFT - 6}" y="{level + 4}" text-anchor="end">{value:.3g}</text>')
    parts.append(
        f'<text x="{WIDTH // 2}" y="{HEIGHT - 2}" text-anchor="middle">{markupsafe.escape(x_title)}</text>'
    )
    for i, (name, own) in enumerate(points.items()):
        colour = COLOURS[i % len(COLOURS)]
        for px, py in (place[p] for p in own):
            parts.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="2.6" style="fill:{colour}"/>')
        path = " ".join(f"{place[p][0]:.1f},{place[p][1]:.1f}" for p in own)
        parts.append(f'<polyline points="{path}" style="fill:none;stroke:{colour};stroke-width:1.5"/>')
        low = HEIGHT + 14 + 18 * i
        parts.append(
            f'<line x1="{LEFT}" x2="{LEFT + 24}" y1="{low}" y2="{low}" '
            f'style="stroke:{colour};stroke-width:2"/>'
        )
        parts.append(f'<text x="{LEFT + 32}" y="{low + 4}">{markupsafe.escape(name)}</text>')
    return "".join([*parts, "</svg>"])


def write(
    record: Mapping[str, Any], out: Path, name: str, title: str, sections: Sequence[tuple[str, str]]
) -> None:
    """Write ``<name>.json`` and ``<name>.html``; each section is a heading and HTML that is already safe."""
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
    style = (resources.files("certify.report") / "templates" / "report.css").read_text(encoding="utf-8")
    body = "".join(f"<h2>{markupsafe.escape(h)}</h2>{content}" for h, content in sections)
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>{markupsafe.escape(title)}</title><style>{style}</style></head>"
        f"<body><main><h1>{markupsafe.escape(title)}</h1>{body}</main></body></html>\n"
    )
    (out / f"{name}.html").write_text(page, encoding="utf-8")
