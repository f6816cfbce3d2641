"""Line figures as SVG, drawn twice (wide and narrow) so that letters keep their size on a phone.

Colours are the classes ``c0`` to ``c7`` of the style sheet, which knows light and dark. Computes no number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import markupsafe

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
COLOURS = 8
WIDE, NARROW = (760, 380), (360, 330)
MOST_TICKS = 9
escape = markupsafe.escape


@dataclass(frozen=True)
class Axis:
    """A range of values with its title, linear or logarithmic (then 0 < low); ``whole``: no fractions."""

    title: str
    low: float
    high: float
    logarithmic: bool = False
    whole: bool = False

    def share(self, value: float) -> float:
        """Where the value lies between 0 and 1; what lies outside is moved to the edge."""
        low, high, at = (self._scale(v) for v in (self.low, self.high, value))
        return min(1.0, max(0.0, (at - low) / (high - low)))

    def _scale(self, value: float) -> float:
        return math.log10(max(value, 1e-300)) if self.logarithmic else value

    def ticks(self) -> list[float]:
        """Round numbers in the range, at most MOST_TICKS."""
        if not self.logarithmic:
            return _linear_ticks(self.low, self.high, 1.0 if self.whole else 0.0)
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for factors in ((1, 2, 5), (1,)):
            found = [f * 10.0**k for k in decades for f in factors]
            found = [t for t in found if self.low * 0.999 <= t <= self.high * 1.001]
            if len(found) <= MOST_TICKS:
                return found
        step = math.ceil(len(found) / MOST_TICKS)
        return found[::step]

    @staticmethod
    def around(title: str, values: Sequence[float], logarithmic: bool = False) -> Axis:
        """An axis that holds the values with a little room."""
        low, high = min(values), max(values)
        if logarithmic:
            return Axis(title, low / 1.15, high * 1.15, True)
        room = 0.06 * (high - low) or max(0.5, 0.1 * abs(high))
        return Axis(title, low - room, high + room, whole=all(v == round(v) for v in values))


def _linear_ticks(low: float, high: float, least: float) -> list[float]:
    size = max(least, (high - low) / (MOST_TICKS - 3))
    power = 10.0 ** math.floor(math.log10(size))
    step = next(f * power for f in (1, 2, 5, 10) if f * power >= size)
    first = math.ceil(low / step)
    return [round(k * step, 12) for k in range(first, math.floor(high / step) + 1)]


def tick_text(value: float) -> str:
    """A tick for reading: powers of ten from 10000 on and below a thousandth."""
    exponent = math.log10(value) if value > 0 else 0.0
    if (exponent >= 4 or exponent < -3) and abs(exponent - round(exponent)) < 1e-9:
        return "10" + str(round(exponent)).translate(SUPERSCRIPT)
    return f"{value:g}"


@dataclass(frozen=True)
class Frame:
    """The place of values in a picture of some size in pixels."""

    width: int
    height: int
    horizontal: Axis
    vertical: Axis

    left, margin, top, bottom = 62, 14, 12, 46

    @property
    def right(self) -> int:
        """The right edge of the drawing area."""
        return self.width - self.margin

    @property
    def base(self) -> int:
        """The y of the horizontal axis."""
        return self.height - self.bottom

    def x(self, value: float) -> float:
        """The pixel of a value of the horizontal axis."""
        return self.left + (self.right - self.left) * self.horizontal.share(value)

    def y(self, value: float) -> float:
        """The pixel of a value of the vertical axis."""
        return self.base - (self.base - self.top) * self.vertical.share(value)

    def axes(self) -> list[str]:
        """Grid, ticks and titles."""
        middle, parts = (self.top + self.base) / 2, []
        for tick in self.horizontal.ticks():
            x = f"{self.x(tick):.1f}"
            parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{self.top}" y2="{self.base}"/>')
            parts.append(f'<text x="{x}" y="{self.base + 18}" text-anchor="middle">{tick_text(tick)}</text>')
        for tick in self.vertical.ticks():
            y = self.y(tick)
            parts.append(f'<line class="grid" x1="{self.left}" x2="{self.right}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(
                f'<text x="{self.left - 8}" y="{y + 4:.1f}" text-anchor="end">{tick_text(tick)}</text>'
            )
        parts.append(
            f'<line class="axis" x1="{self.left}" x2="{self.right}" y1="{self.base}" y2="{self.base}"/>'
            f'<text x="{(self.left + self.right) / 2:.0f}" y="{self.height - 8}" text-anchor="middle">'
            f"{escape(self.horizontal.title)}</text>"
            f'<text x="13" y="{middle:.0f}" text-anchor="middle" transform="rotate(-90 13 {middle:.0f})">'
            f"{escape(self.vertical.title)}</text>"
        )
        return parts

    def line(self, points: Sequence[tuple[float, float]], style: str) -> str:
        """A broken line of the class ``style``."""
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        return f'<polyline class="{style}" points="{path}"/>'

    def dot(self, point: tuple[float, float], style: str) -> str:
        """A dot of the class ``style``."""
        return f'<circle class="{style}" cx="{self.x(point[0]):.1f}" cy="{self.y(point[1]):.1f}" r="3.5"/>'


def both(horizontal: Axis, vertical: Axis, label: str, content: Callable[[Frame], Sequence[str]]) -> str:
    """The wide and the narrow drawing; the style sheet shows the one that fits."""
    parts = []
    for name, (width, height) in (("wide", WIDE), ("narrow", NARROW)):
        frame = Frame(width, height, horizontal, vertical)
        inner = "".join([*frame.axes(), *content(frame)])
        parts.append(
            f'<div class="{name}"><svg viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{escape(label)}">{inner}</svg></div>'
        )
    return "".join(parts)


def colour(index: int) -> str:
    """The class of the ``index``-th line."""
    return f"c{index % COLOURS}"


def legend(names: Mapping[str, str]) -> str:
    """The names of the lines beside their colours; ``names``: name -> class, "invalid" for dashed red."""
    items = (
        f'<li class="invalid"><i class="dashed"></i>{escape(name)}</li>'
        if style == "invalid"
        else f'<li><i class="{style}"></i>{escape(name)}</li>'
        for name, style in names.items()
    )
    return f'<ul class="lines">{"".join(items)}</ul>'


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]],
    titles: tuple[str, str],
    *,
    logarithmic: bool,
    invalid: Sequence[str] = (),
) -> markupsafe.Markup:
    """Several named lines with dots; those in ``invalid`` are dashed and red. Values that a logarithmic axis
    cannot show are left out; nothing is drawn if none is left."""
    shown = {n: [p for p in s if not logarithmic or min(p) > 0] for n, s in series.items()}
    shown = {name: points for name, points in shown.items() if points}
    if not shown:
        return markupsafe.Markup("")
    flat = [p for points in shown.values() for p in points]
    horizontal = Axis.around(titles[0], [p[0] for p in flat], logarithmic)
    vertical = Axis.around(titles[1], [p[1] for p in flat], logarithmic)
    styles = {name: "invalid" if name in invalid else colour(i) for i, name in enumerate(shown)}

    def content(frame: Frame) -> list[str]:
        parts = []
        for name, points in shown.items():
            bad = styles[name] == "invalid"
            parts.append(frame.line(points, "nominal" if bad else f"curve {styles[name]}"))
            parts += [] if bad else [frame.dot(p, f"curve {styles[name]}") for p in points]
        return parts

    drawing = both(horizontal, vertical, f"{titles[1]} against {titles[0]}", content)
    return markupsafe.Markup(drawing + legend(styles))
