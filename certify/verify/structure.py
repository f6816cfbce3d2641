"""What a report must look like: JSON without ambiguity, records with their members, decimals, enclosures."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath

from .interval import Interval
from .shapes import SHAPES
from .strict_json import Ambiguous, printable, read_json, shown

SCHEMA = "certify-attention/report/1"


class Problem(Exception):
    """A place in the report and what is wrong there."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{printable(path)}: {printable(message)}")
        self.path = path
        self.message = message


# No more digits than any writer needs: longer numbers only cost time.
_DECIMAL = re.compile(r"-?[0-9]{1,1000}(\.[0-9]{1,1000})?([Ee][-+]?[0-9]{1,4})?")
_RATIONAL = re.compile(r"[0-9]{1,1000}/[0-9]{1,1000}")

Pair = dict[str, str]


def check_shape(kind: str, value: Any, path: str) -> None:
    """Every member of a record (of a kind in `SHAPES`) is there, of its type, and there is no other."""
    if not isinstance(value, dict):
        raise Problem(path or "report", "a record was expected here")
    allowed = {name.rstrip("?"): spec for name, spec in SHAPES[kind].items()}
    for name in value:
        if name not in allowed:
            raise Problem(_at(path, name), "this member does not belong here")
    for name, spec in allowed.items():
        if name in value:
            _check_type(spec, value[name], _at(path, name))
        elif f"{name}?" not in SHAPES[kind]:
            raise Problem(path or "report", f"the member {name!r} is missing")


def _at(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _check_type(spec: Any, item: Any, path: str) -> None:
    options = spec if isinstance(spec, tuple) else (spec,)
    kinds = [option for option in options if isinstance(option, str)]
    if isinstance(item, dict) and kinds:
        # The kind with the most similar members is meant; what it lacks is then said of that one.
        check_shape(min(kinds, key=lambda kind: len(_names(kind) ^ item.keys())), item, path)
        return
    for option in options:
        if isinstance(option, dict) and isinstance(item, dict):
            for name, child in item.items():
                _check_type(option["*"], child, _at(path, name))
            return
        if isinstance(option, list) and isinstance(item, list):
            for i, child in enumerate(item):
                _check_type(option[0], child, f"{path}[{i}]")
            return
        if isinstance(option, type) and type(item) is option:
            return
    raise Problem(path, f"has the wrong type ({type(item).__name__})")


def _names(kind: str) -> set[str]:
    return {name.rstrip("?") for name in SHAPES[kind]}


def decimal(text: Any, path: str) -> Fraction:
    """A recorded decimal, read exactly."""
    if not isinstance(text, str) or not _DECIMAL.fullmatch(text):
        raise Problem(path, f"{shown(text)} is not a decimal number")
    return Fraction(text)


def rational(text: Any, path: str) -> Fraction:
    """A recorded decimal or quotient of two whole numbers, read exactly."""
    if isinstance(text, str) and _RATIONAL.fullmatch(text) and int(text.partition("/")[2]):
        return Fraction(text)
    return decimal(text, path)


def sample_size(m: Any, path: str) -> int:
    """A recorded number of units."""
    if type(m) is not int or not 1 <= m < 10**40:
        raise Problem(path, f"{shown(m)} is not a sample size")
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


def _digits(x: Fraction) -> str:
    """17 digits of a number of any size, rounded to nearest: for messages only."""
    with mpmath.workprec(60):
        return str(mpmath.nstr(mpmath.mpf(x.numerator) / x.denominator, 17))


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
            f"which gives {_digits(sure_low)} to {_digits(sure_high)}",
        )
    if plain is not None:
        sure_low, sure_high = min(sure_low, plain.low()), max(sure_high, plain.high())
    slack = (sure_high - sure_low) * 3 + (abs(sure_low) + abs(sure_high)) * Fraction(1, 10**13)
    if low < sure_low - slack or high > sure_high + slack:
        raise Problem(
            path,
            f"[{value['lower']}, {value['upper']}] is not the number that the recorded evidence gives, "
            f"{_digits(sure_low)} to {_digits(sure_high)}",
        )


def read(path: Path) -> dict[str, Any]:
    """The report at ``path``: unambiguous JSON of the schema that this checker knows."""
    try:
        report = read_json(path)
    except (OSError, Ambiguous) as error:
        raise Problem(str(path), f"not a readable JSON file ({error})") from error
    if not isinstance(report, dict):
        raise Problem(str(path), "not a report: one JSON object was expected")
    if report.get("schema") != SCHEMA:
        raise Problem("schema", f"{shown(report.get('schema'))} is not {SCHEMA!r}, the only one known here")
    return report
