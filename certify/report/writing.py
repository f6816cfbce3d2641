"""The report's files, written whole or not at all."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certify.engine.journal import Journal
from certify.report.html import render


@dataclass(frozen=True)
class Paths:
    """Where the report lies."""

    json: Path
    html: Path


def to_json(report: dict[str, Any]) -> str:
    """The text of ``report.json``: one member of the top level per block, lists of numbers on one line."""
    return _indented(report, 0) + "\n"


def _indented(value: Any, depth: int) -> str:
    compact = json.dumps(value, ensure_ascii=True, allow_nan=False)
    nested = isinstance(value, dict | list) and bool(value)
    plain_list = isinstance(value, list) and not any(isinstance(item, dict | list) for item in value)
    if not nested or plain_list or (depth and len(compact) <= 110):
        return compact
    pad, end = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict):
        lines = [f"{pad}{json.dumps(key)}: {_indented(item, depth + 1)}" for key, item in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{end}}}"
    return "[\n" + ",\n".join(pad + _indented(item, depth + 1) for item in value) + f"\n{end}]"


def write(report: dict[str, Any], folder: Path) -> Paths:
    """Write ``report.json`` and ``report.html`` into ``folder`` and drop the finished work items."""
    paths = Paths(folder / "report.json", folder / "report.html")
    _replace(paths.json, to_json(report))
    _replace(paths.html, render(report))
    Journal(folder / ".work").clear()
    return paths


def _replace(path: Path, text: str) -> None:
    part = path.with_suffix(path.suffix + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
