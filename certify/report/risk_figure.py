"""The figure of the risk section: bounds against the sample size, next to the truth. Computes no number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import markupsafe

from certify.report.figure import Axis, Frame, both, colour, legend

NOT_A_BOUND = "√(R/m): not a valid bound"


def draw(risk: Mapping[str, Any]) -> markupsafe.Markup:
    """Drawing and legend, or nothing if no bound has a curve. Both axes are logarithmic."""
    curves: Sequence[Mapping[str, Any]] = risk["curves"]
    if not curves:
        return markupsafe.Markup("")
    first = 100 if min(curve["points"][-1]["m"] for curve in curves) >= 200 else 10
    last = max(10 * first, 10 ** (math.ceil(2 * math.log10(risk["data"]["m"])) / 2))
    horizontal = Axis("sample size m (independent units)", first, last, True)
    vertical = Axis("bound on the risk", _lowest(risk), 1.0, True)

    def content(frame: Frame) -> list[str]:
        parts = [
            *_vacuous(frame, float(Fraction(risk["chance"]))),
            *_truth(frame, risk["truth"]),
            *_here(frame, risk["data"]["m"]),
        ]
        for i, curve in enumerate(curves):
            points = [(p["m"], float(p["value"])) for p in curve["points"] if p["m"] >= first]
            points = [p for p in points if p[1] < 1]
            parts.append(frame.line(points, f"curve {colour(i)}"))
            parts += [frame.dot(p, f"curve {colour(i)}") for p in points[-1:]]
        if risk["nominal"]["value"]:
            end = min(last, vertical.low**-2)
            parts.append(frame.line([(m, m**-0.5) for m in (first, end)], "nominal"))
        return parts

    names = {curve["name"]: colour(i) for i, curve in enumerate(curves)}
    if risk["nominal"]["value"]:
        names[NOT_A_BOUND] = "invalid"
    label = "Bounds on the risk against the sample size, both axes logarithmic"
    return markupsafe.Markup(both(horizontal, vertical, label, content) + legend(names))


def _lowest(risk: Mapping[str, Any]) -> float:
    """The lower end of the axis: a round number below every bound and every truth."""
    seen = [float(t["lower"]) for t in risk["truth"].values()]
    seen += [float(c["points"][-1]["value"]) for c in risk["curves"]]
    least = max(min(seen), 1e-6) / 1.5
    power = 10.0 ** math.floor(math.log10(least))
    return float(max(f * power for f in (1, 2, 5) if f * power <= least))


def _vacuous(frame: Frame, chance: float) -> list[str]:
    return [
        f'<rect class="vacuous" x="{frame.left}" y="{frame.top}" width="{frame.right - frame.left}" '
        f'height="{frame.y(chance) - frame.top:.1f}"/>',
        f'<text x="{frame.right - 6}" y="{frame.top + 15}" text-anchor="end">'
        "vacuous: no better than guessing</text>",
    ]


def _truth(frame: Frame, truth: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The true risks of all heads as one band."""
    if not truth:
        return []
    low = frame.y(min(float(t["lower"]) for t in truth.values()))
    high = frame.y(max(float(t["upper"]) for t in truth.values()))
    return [
        f'<rect class="truth" x="{frame.left}" y="{high:.1f}" width="{frame.right - frame.left}" '
        f'height="{max(1.5, low - high):.1f}"/>',
        f'<text class="truth" x="{frame.left + 6}" y="{low + 15:.1f}">true risks</text>',
    ]


def _here(frame: Frame, m: int) -> list[str]:
    x = frame.x(m)
    anchor, place = ("end", x - 6) if x > frame.width * 0.6 else ("start", x + 6)
    return [
        f'<line class="level" x1="{x:.1f}" x2="{x:.1f}" y1="{frame.top}" y2="{frame.base}"/>',
        f'<text x="{place:.1f}" y="{frame.base - 8}" text-anchor="{anchor}">this sample</text>',
    ]
