"""JSON without ambiguity: what two readers could read in two ways is refused.

Refused are names that occur twice in a record, NaN, infinities and numbers that overflow to one, more than 64
levels of nesting, and text that is not UTF-8.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

DEPTH = 64
SHOWN = 200


class Ambiguous(ValueError):
    """A text that is not JSON, or JSON that two readers could understand differently."""


def read_json(path: Path) -> Any:
    """The value in the file at ``path``; raises `Ambiguous` or OSError."""
    try:
        value = json.loads(
            path.read_bytes().decode("utf-8"),
            object_pairs_hook=_record,
            parse_constant=_refused,
            parse_float=_finite,
        )
    except RecursionError as error:
        raise Ambiguous("it is nested too deeply") from error
    except UnicodeDecodeError as error:
        raise Ambiguous(f"it is not UTF-8 ({error})") from error
    except json.JSONDecodeError as error:
        raise Ambiguous(str(error)) from error
    except ValueError as error:  # an integer of thousands of digits
        raise Ambiguous(str(error)) from error
    _check_depth(value)
    return value


def _record(members: list[tuple[str, Any]]) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for name, value in members:
        if name in record:
            raise Ambiguous(f"the member {shown(name)} occurs twice in one record")
        record[name] = value
    return record


def _refused(text: str) -> Any:
    raise Ambiguous(f"{text} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise Ambiguous(f"{text[:SHOWN]} is too large for a number")
    return value


def _check_depth(value: Any) -> None:
    layer, depth = [value], 0
    while layer:
        depth += 1
        if depth > DEPTH:
            raise Ambiguous(f"it is nested more than {DEPTH} levels deep")
        layer = [
            child
            for item in layer
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, dict | list)
        ]


def shown(value: Any) -> str:
    """A foreign value for a message, shortened."""
    text = repr(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


def printable(text: str) -> str:
    """The text with everything escaped that steers a terminal or cannot be printed."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )
