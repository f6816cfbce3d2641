"""A layered drawing of a dependency graph as SVG: prerequisites on the left, what follows from them on
the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

BOX_WIDTH, BOX_HEIGHT = 168, 40
COLUMN_GAP, ROW_GAP = 56, 11
MARGIN = 18
LINE_LENGTH = 24
ACROSS = 6
"""Boxes beside each other among those that stand alone."""


@dataclass(frozen=True)
class Node:
    """A box: its name, the words in it, how it is coloured, where it leads and what it rests on."""

    name: str
    title: str
    level: str
    kind: str
    link: str
    needs: tuple[str, ...]
    spoken: str


def layers(nodes: Sequence[Node]) -> list[list[str]]:
    """Columns of names: each node one column to the right of the last of its prerequisites.

    A node without prerequisites stands just before the first node that uses it.

    Raises ``ValueError`` on a circular dependency: a proof cannot rest on itself.
    """
    by_name = {node.name: node for node in nodes}
    depth: dict[str, int] = {}

    def visit(name: str, trail: tuple[str, ...]) -> int:
        if name in trail:
            raise ValueError("circular dependency: " + " -> ".join((*trail, name)))
        if name not in depth:
            needs = [need for need in by_name[name].needs if need in by_name]
            depth[name] = 1 + max((visit(need, (*trail, name)) for need in needs), default=-1)
        return depth[name]

    for node in nodes:
        visit(node.name, ())
    for node in nodes:
        users = [depth[user.name] for user in nodes if node.name in user.needs]
        if users and depth[node.name] == 0:
            depth[node.name] = min(users) - 1
    columns: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for node in nodes:
        columns[depth[node.name]].append(node.name)
    return columns


def _uncross(columns: list[list[str]], nodes: Sequence[Node]) -> None:
    """Order each column by the mean place of its neighbours, a few sweeps (the barycentre heuristic)."""
    needs = {node.name: [n for n in node.needs if any(n in column for column in columns)] for node in nodes}
    serves: dict[str, list[str]] = {node.name: [] for node in nodes}
    for name, sources in needs.items():
        for source in sources:
            serves[source].append(name)
    for sweep in range(8):
        neighbours, ordered = (needs, columns) if sweep % 2 == 0 else (serves, columns[::-1])
        place = {name: row / len(column) for column in columns for row, name in enumerate(column)}
        for column in ordered:
            keys = {}
            for row, name in enumerate(column):
                near = [place[n] for n in neighbours[name]]
                keys[name] = (sum(near) / len(near) if near else place[name], row)
            column.sort(key=lambda name: keys[name])
            place.update({name: row / len(column) for row, name in enumerate(column)})


def _wrap(text: str) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > LINE_LENGTH:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    if len(lines) > 2:
        lines = [lines[0], lines[1][: LINE_LENGTH - 1].rstrip() + "…"]
    return lines


def _box(node: Node, x: float, y: float) -> Markup:
    lines = _wrap(node.title)
    words = Markup("").join(
        Markup('<text x="{}" y="{}">{}</text>').format(
            x + 9, y + (26 if len(lines) == 1 else 21) + 13.5 * i - 1, line
        )
        for i, line in enumerate(lines)
    )
    return Markup(
        '<a href="{link}" class="{kind}" data-level="{level}" aria-label="{spoken}"><title>{spoken}</title>'
        '<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="8"/><text class="kind" x="{kx}" '
        'y="{ky}">{name}</text>'
        "{words}</a>"
    ).format(
        link=node.link,
        kind=node.kind,
        level=node.level,
        spoken=node.spoken,
        x=x,
        y=y,
        w=BOX_WIDTH,
        h=BOX_HEIGHT,
        kx=x + 9,
        ky=y - 3.5,
        name=node.name,
        words=words,
    )


def draw(nodes: Sequence[Node], label: str) -> Markup:
    """The graph as one ``<svg>`` whose boxes are links, so that it also serves as a table of contents."""
    used = {need for node in nodes for need in node.needs}
    names = {node.name for node in nodes}
    alone = [node for node in nodes if node.name not in used and not names & set(node.needs)]
    linked = [node for node in nodes if node not in alone]
    columns = layers(linked)
    _uncross(columns, linked)
    by_name = {node.name: node for node in nodes}
    row_height = BOX_HEIGHT + ROW_GAP + 12
    height = MARGIN * 2 + 8 + row_height * max((len(column) for column in columns), default=0)
    across = max(len(columns), ACROSS)
    width = MARGIN * 2 + across * BOX_WIDTH + (across - 1) * COLUMN_GAP
    corner: dict[str, tuple[float, float]] = {}
    for index, column in enumerate(columns):
        spare = height - 2 * MARGIN - row_height * len(column)
        for row, name in enumerate(column):
            corner[name] = (
                MARGIN + index * (BOX_WIDTH + COLUMN_GAP),
                MARGIN + 10 + spare / 2 + row * row_height,
            )
    heading = Markup("")
    if alone:
        heading = Markup('<text class="group" x="{}" y="{}">Results that stand alone</text>').format(
            MARGIN, height + 12
        )
        for place, node in enumerate(alone):
            row, index = divmod(place, across)
            corner[node.name] = (MARGIN + index * (BOX_WIDTH + COLUMN_GAP), height + 40 + row * row_height)
        height += 40 + row_height * -(-len(alone) // across)
    order = [name for column in columns for name in column] + [node.name for node in alone]
    boxes = Markup("").join(_box(by_name[name], *corner[name]) for name in order)
    return Markup('<svg viewBox="0 0 {} {}" role="group" aria-label="{}">{}{}{}</svg>').format(
        width, round(height), label, _edges(linked, corner), heading, boxes
    )


def _edges(nodes: Sequence[Node], corner: Mapping[str, tuple[float, float]]) -> Markup:
    paths = []
    for node in nodes:
        for need in node.needs:
            if need not in corner:
                continue
            (x0, y0), (x1, y1) = corner[need], corner[node.name]
            x0, y0, y1 = x0 + BOX_WIDTH, y0 + BOX_HEIGHT / 2, y1 + BOX_HEIGHT / 2
            bend = COLUMN_GAP * 0.7
            paths.append(
                Markup('<path d="M{} {:.1f}C{} {:.1f} {} {:.1f} {} {:.1f}"/>').format(
                    x0, y0, x0 + bend, y0, x1 - bend, y1, x1, y1
                )
            )
    return Markup('<g aria-hidden="true">{}</g>').format(Markup("").join(paths))
