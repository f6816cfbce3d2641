"""The digests of a report: one over the whole, and one per small part so that a change has a place.

The whole-report digest protects every character. The part digests exist to *name* what changed:
``certify verify`` compares them and prints the path of each part that differs. Neither is a
signature: whoever can rewrite a report can recompute digests, which is why the verifier also
recomputes every derived number.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

PART_LIMIT = 600
DIGEST_FIELDS = ("digest", "parts")


def canonical(value: Any) -> bytes:
    """The one byte text of a JSON value: sorted keys, no spaces, ASCII."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    ).encode()


def sha256(value: Any) -> str:
    """Hex sha256 of the canonical text of ``value``."""
    return hashlib.sha256(canonical(value)).hexdigest()


def parts(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The parts of a JSON value that get their own digest, as (path, part).

    A part is a scalar, an empty container, a list of scalars, or anything whose canonical text is
    at most `PART_LIMIT` bytes; larger containers are split into their members.
    """
    children: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        children = [(f"{path}.{key}" if path else key, value[key]) for key in sorted(value)]
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        children = [(f"{path}[{i}]", item) for i, item in enumerate(value)]
    if not children or (path and len(canonical(value)) <= PART_LIMIT):
        yield path, value
        return
    for child_path, child in children:
        yield from parts(child, child_path)


def sealed(report: dict[str, Any]) -> dict[str, Any]:
    """``report`` with its ``parts`` (path -> first 16 hex digits) and its ``digest`` filled in."""
    body = {key: value for key, value in report.items() if key not in DIGEST_FIELDS}
    table = {path: sha256(part)[:16] for path, part in parts(body)}
    body["parts"] = table
    body["digest"] = sha256(body)
    return body
