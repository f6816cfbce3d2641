"""What a report must look like: JSON without ambiguity, records with their members, decimals, enclosures."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

from .interval import Interval

SCHEMA = "certify-attention/report/1"


class Problem(Exception):
    """A place in the report and what is wrong there."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


_DECIMAL = re.compile(r"-?\d+(\.\d+)?(E[-+]?\d{1,4})?")

Pair = dict[str, str]

# Members of each kind of record: name -> type(s); a name that ends in "?" may be absent.
_TEXT, _LIST, _MAP, _FLAG, _INT = str, list, dict, bool, int

_NONE = type(None)

SHAPES: dict[str, dict[str, Any]] = {
    "report": {
        "schema": _TEXT, "tool": _MAP, "created": _TEXT, "status": _TEXT, "model": _MAP, "parameters": _MAP,
        "inputs": (_MAP, _NONE), "tensors": _LIST, "matrices": _LIST, "attention": (_MAP, _NONE),
        "bounds": _LIST, "nominal": _LIST, "skipped": _LIST, "uncertified": _LIST, "trust": _MAP,
        "environment": _MAP, "parts": _MAP, "digest": _TEXT,
    },
    "matrix": {
        "name": _TEXT, "role": _TEXT, "stack": _TEXT, "layer": (_INT, _NONE), "head": (_INT, _NONE),
        "shape": _LIST, "factors": _LIST, "note": _TEXT, "spectrum?": _MAP, "assumptions?": _LIST,
        "norms?": _MAP, "ranks?": (_MAP, _NONE), "undefined?": _TEXT, "numerical_rank?": _LIST,
        "energy_rank?": _LIST, "error?": _TEXT,
    },
    "attention": {
        "arithmetic": _LIST, "pooled_feature_norms": _LIST, "calls": _LIST, "heads": _LIST, "capacity": _MAP,
        "trained_norms": _LIST, "pooling": _TEXT, "notes": _LIST,
    },
    "head": {
        "head": _INT, "sha256?": _TEXT, "spectrum?": _MAP, "ranks?": (_MAP, _NONE), "undefined?": _TEXT,
        "assumptions?": _LIST, "measured": (_MAP, _NONE), "error?": _TEXT,
    },
    "group": {
        "theorem": _TEXT, "title": _TEXT, "statement": _TEXT, "quantity": _TEXT, "level": _TEXT,
        "formula": _TEXT, "inputs": _MAP, "constants": _LIST, "sources": _LIST, "hypotheses": _LIST,
        "entries": _LIST,
    },
    "entry": {
        "subject": _MAP, "norm_after": _MAP, "grid_index": _INT, "sum": _MAP, "largest_term": _MAP,
        "on_these_inputs": _MAP, "at_samples": (_MAP, _NONE), "curve": _LIST, "falls_below": _LIST,
    },
}  # fmt: skip


def check_shape(kind: str, value: Any, path: str) -> None:
    """Every member of a record is there, of its type, and there is no other."""
    if not isinstance(value, dict):
        raise Problem(path, "a record was expected here")
    allowed = {name.rstrip("?"): (types, name.endswith("?")) for name, types in SHAPES[kind].items()}
    for name in value:
        if name not in allowed:
            raise Problem(f"{path}.{name}", "this member does not belong here")
    for name, (types, optional) in allowed.items():
        if name not in value:
            if not optional:
                raise Problem(path, f"the member {name!r} is missing")
            continue
        item = value[name]
        right = isinstance(item, types) and not (isinstance(item, bool) and types is not _FLAG)
        if not right:
            raise Problem(f"{path}.{name}", f"has the wrong type ({type(item).__name__})")


def decimal(text: Any, path: str) -> Fraction:
    """A recorded decimal, read exactly."""
    if not isinstance(text, str) or not _DECIMAL.fullmatch(text):
        raise Problem(path, f"{text!r} is not a decimal number")
    return Fraction(text)


def decimal_or_zero(text: Any) -> Fraction:
    """The number a text stands for, or 0 if it stands for none."""
    try:
        return Fraction(text)
    except (TypeError, ValueError, ZeroDivisionError):
        return Fraction(0)


def sample_size(m: Any, path: str) -> int:
    if not isinstance(m, int) or isinstance(m, bool) or m < 1:
        raise Problem(path, f"{m!r} is not a sample size")
    return m


def pair(value: Any, path: str) -> tuple[Fraction, Fraction]:
    """A recorded enclosure, read exactly; lower <= upper."""
    if not isinstance(value, dict) or "lower" not in value or "upper" not in value:
        raise Problem(path, "an enclosure with 'lower' and 'upper' was expected here")
    low, high = decimal(value["lower"], f"{path}.lower"), decimal(value["upper"], f"{path}.upper")
    if not low <= high:
        raise Problem(path, f"lower {value['lower']} is above upper {value['upper']}")
    return low, high


def interval(value: Any, path: str) -> Interval:
    """A recorded enclosure as an `Interval`."""
    return Interval.of(*pair(value, path))


def follows(value: Any, recomputed: Interval, path: str, plain: Interval | None = None) -> None:
    """The recorded enclosure is what the recorded evidence proves: no tighter, and hardly wider.

    ``plain``: what a simpler formula than ours gives, where the writer of the report uses that one.
    """
    low, high = pair(value, path)
    sure_low, sure_high = recomputed.low(), recomputed.high()
    if low > sure_low or high < sure_high:
        raise Problem(
            path,
            f"[{value['lower']}, {value['upper']}] does not follow from the recorded evidence, "
            f"which gives [{float(sure_low):.17g}, {float(sure_high):.17g}]",
        )
    if plain is not None:
        sure_low, sure_high = min(sure_low, plain.low()), max(sure_high, plain.high())
    slack = (sure_high - sure_low) * 3 + (abs(sure_low) + abs(sure_high)) * Fraction(1, 10**13)
    if low < sure_low - slack or high > sure_high + slack:
        raise Problem(
            path,
            f"[{value['lower']}, {value['upper']}] is not the number that the recorded evidence gives, "
            f"[{float(sure_low):.17g}, {float(sure_high):.17g}]",
        )


def read(path: Path) -> dict[str, Any]:
    """The report at ``path``; repeated members, NaN and infinity are refused."""

    def no_repeats(members: list[tuple[str, Any]]) -> dict[str, Any]:
        seen = dict(members)
        if len(seen) != len(members):
            names = [name for name, _ in members]
            raise Problem(next(n for n in names if names.count(n) > 1), "this member occurs twice")
        return seen

    def no_constants(name: str) -> Any:
        raise Problem("report", f"{name} is not JSON")

    try:
        text = path.read_text(encoding="utf-8")
        report = json.loads(text, object_pairs_hook=no_repeats, parse_constant=no_constants)
    except (OSError, ValueError) as error:
        raise Problem(str(path), f"not a readable JSON file ({error})") from error
    if not isinstance(report, dict):
        raise Problem(str(path), "not a report: one JSON object was expected")
    if report.get("schema") != SCHEMA:
        raise Problem(
            "schema", f"{report.get('schema')!r} is not {SCHEMA!r}, the only one this checker knows"
        )
    return report
