"""The risk section: one table of all bounds, two figures, one paragraph. Computes no number."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
import markupsafe

from certify.decimals import round_up, short

WIDTH, HEIGHT, LEFT, BOTTOM = 720, 300, 56, 40
COLOURS = ("#1f5f8b", "#9a6200", "#1d7a4a", "#7b4ba0", "#5b636d")


def _asset(name: str) -> str:
    return (resources.files("certify.report") / "templates" / name).read_text(encoding="utf-8")


def rows(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The lines of the table: valid bounds first, smallest first."""
    order = {"valid": 0, "vacuous": 1, "not a bound": 2}
    found = []
    for bound in record["bounds"]:
        truth = record["truth"].get(bound["subject"]) if bound["loss"] == "0-1" else None
        statuses: dict[str, list[str]] = {}
        for hypothesis in bound["hypotheses"]:
            statuses.setdefault(hypothesis["status"], []).append(hypothesis["id"])
        found.append(
            {
                **bound,
                "name": bound["note"] if bound["theorem"].startswith("E") else bound["theorem"],
                "shown": "none" if bound["value"] is None else round_up(Decimal(bound["value"]["upper"]), 4),
                "upper": 1.0 if bound["value"] is None else float(bound["value"]["upper"]),
                "truth": truth,
                "truth_shown": truth_text(truth),
                "statuses": statuses,
            }
        )
    return sorted(found, key=lambda b: (order[b["status"]], b["loss"] != "0-1", b["upper"]))


def truth_text(truth: Mapping[str, str] | None) -> str:
    """The known risk: one number where it is exact, a range where it was estimated."""
    if truth is None:
        return ""
    low, high = float(truth["lower"]), float(truth["upper"])
    digits = 5 if high - low < 2e-4 else 4
    return f"{high:.5f}" if high - low < 1e-6 else f"{low:.{digits}f} to {high:.{digits}f}"


def terminal(record: Mapping[str, Any], out: Path) -> str:
    """The summary on stdout."""
    lines = [
        f"\n{record['data'].get('name', 'sample')}: m = {record['data']['m']}, delta = {record['delta']}",
        "",
    ]
    heading = (
        f"{'theorem':<20} {'about':<38} {'loss':<10} {'bound':>8}  {'truth':<18} {'complexity':<30} status"
    )
    lines += [heading, "-" * len(heading)]
    for b in rows(record):
        lines.append(
            f"{b['name']:<20} {b['subject']:<38} {b['loss']:<10} {b['shown']:>8}  {b['truth_shown']:<18} "
            f"{b['complexity']:<30} {b['status']}"
        )
    for c in record["classical"]:
        value = "no number" if c["value"] is None else short(c["value"]["lower"], c["value"]["upper"], 4)
        lines.append(f"{c['name']}: {value} ({c['status']}): {c['why']}")
    nominal = record["nominal"]
    if nominal["value"]:
        lines.append(f"{nominal['formula']} = {float(nominal['value']['upper']):.4g}: {nominal['why']}")
    lines += ["", record["paragraph"], "", f"  page    {out / 'risk.html'}"]
    for name in record["certificates"]:
        data = out / ("update-train.npz" if name.startswith("update-") else "train.npz")
        lines.append(f"  check   certify verify {out / name} --data {data}")
    return "\n".join(lines)


def _x(m: float, low: float, high: float) -> float:
    return LEFT + (WIDTH - LEFT - 16) * (math.log10(m) - low) / (high - low)


def curve_figure(record: Mapping[str, Any]) -> markupsafe.Markup:
    """SVG: bounds against the sample size, the truth as a band, the invalid sqrt(R/m) dashed."""
    curves: Sequence[Mapping[str, Any]] = record["curves"]
    if not curves:
        return markupsafe.Markup("")
    ms = [p["m"] for p in curves[0]["points"]]
    low, high, top = math.log10(ms[0]), math.log10(ms[-1]), 0.5

    def y(value: float) -> float:
        return (HEIGHT - BOTTOM) - (HEIGHT - BOTTOM - 14) * min(value, top) / top

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT + 18 * len(curves) + 30}" role="img" '
        f'aria-label="bounds against m">'
    ]
    for k in range(math.ceil(low), math.floor(high) + 1):
        parts.append(
            f'<line class="grid" x1="{_x(10**k, low, high):.1f}" x2="{_x(10**k, low, high):.1f}" y1="14" '
            f'y2="{HEIGHT - BOTTOM}"/>'
        )
        parts.append(
            f'<text x="{_x(10**k, low, high):.1f}" y="{HEIGHT - 20}" text-anchor="middle">10^{k}</text>'
        )
    for value in (0, 0.1, 0.2, 0.3, 0.4, 0.5):
        parts.append(f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - 16}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
        )
    here = _x(record["data"]["m"], low, high)
    parts.append(f'<line class="level" x1="{here:.1f}" x2="{here:.1f}" y1="14" y2="{HEIGHT - BOTTOM}"/>')
    for truth in record["truth"].values():
        parts.append(
            f'<line class="level" x1="{LEFT}" x2="{WIDTH - 16}" y1="{y(float(truth["upper"])):.1f}" '
            f'y2="{y(float(truth["upper"])):.1f}"/>'
        )
    entries = []
    for curve, colour in zip(curves, COLOURS * len(curves), strict=False):
        path = " ".join(f"{_x(p['m'], low, high):.1f},{y(p['value']):.1f}" for p in curve["points"])
        parts.append(f'<polyline points="{path}" style="fill:none;stroke:{colour};stroke-width:2"/>')
        entries.append((curve["name"], f"stroke:{colour};stroke-width:2"))
    if record["nominal"]["value"]:
        path = " ".join(f"{_x(m, low, high):.1f},{y(m**-0.5):.1f}" for m in ms)
        parts.append(f'<polyline class="nominal" points="{path}"/>')
        entries.append(("sqrt(R/m): not a valid bound", "stroke:#b3261e;stroke-dasharray:6 5"))
    for i, (name, style) in enumerate(entries):
        place = HEIGHT + 14 + 18 * i
        parts.append(f'<line x1="{LEFT}" x2="{LEFT + 26}" y1="{place}" y2="{place}" style="{style}"/>')
        parts.append(f'<text x="{LEFT + 34}" y="{place + 4}">{markupsafe.escape(name)}</text>')
    parts.append("</svg>")
    return markupsafe.Markup("".join(parts))


def section(record: Mapping[str, Any]) -> markupsafe.Markup:
    """The section as an HTML fragment, for any page with the report's style."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["up"] = lambda text: round_up(Decimal(text), 4)
    template = environment.from_string(_asset("risk.html.j2"))
    return markupsafe.Markup(template.render(risk=record, rows=rows(record), figure=curve_figure(record)))


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,"><title>{title}</title><style>{style}</style></head>
<body><main><h1>{title}</h1>{section}</main></body></html>
"""


def write(record: Mapping[str, Any], out: Path) -> None:
    """Write ``risk.json`` and ``risk.html``."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "risk.json").write_text(json.dumps(record, indent=1) + "\n")
    title = markupsafe.escape(f"Certified risk: {record['data'].get('name', 'sample')}")
    page = PAGE.format(title=title, style=_asset("report.css"), section=section(record))
    (out / "risk.html").write_text(page, encoding="utf-8")
