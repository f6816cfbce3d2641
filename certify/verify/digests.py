"""The digests of a report: one of the whole, and one of every part, which names what was changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from .structure import Problem

PART_LIMIT = 600


def _canonical(value: Any) -> bytes:
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    ).encode()


def sha256(value: Any) -> str:
    """The digest of a JSON value in its one canonical spelling."""
    return hashlib.sha256(_canonical(value)).hexdigest()


def parts(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every part of a report with its path: whatever is at most PART_LIMIT bytes, or cannot be divided."""
    children: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        children = [(f"{path}.{key}" if path else key, value[key]) for key in sorted(value)]
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        children = [(f"{path}[{i}]", item) for i, item in enumerate(value)]
    if not children or (path and len(_canonical(value)) <= PART_LIMIT):
        yield path, value
        return
    for child_path, child in children:
        yield from parts(child, child_path)


def check_digests(report: dict[str, Any]) -> Iterator[Problem]:
    """The whole and each part against the digests in the report."""
    body = {key: value for key, value in report.items() if key not in ("digest", "parts")}
    now = {path: sha256(part)[:16] for path, part in parts(body)}
    recorded = report["parts"]
    for path in sorted(now.keys() | recorded.keys()):
        if path not in recorded:
            yield Problem(path, "was added: the report has no digest of it")
        elif path not in now:
            yield Problem(path, "was removed: the report still has its digest")
        elif now[path] != recorded[path]:
            yield Problem(path, "was changed: its digest differs from the recorded one")
    if sha256({**body, "parts": recorded}) != report["digest"]:
        yield Problem("digest", "the digest of the whole report differs from the recorded one")
