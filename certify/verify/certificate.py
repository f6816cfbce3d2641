"""Reading a risk certificate: one JSON object, whole numbers and rationals where they are needed."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

FORMAT = "certify-attention/model-certificate/1"

THEOREMS = ("D", "E", "E-single")


class Refused(Exception):
    """The certificate does not prove its claim; the message names the place."""


class Unreadable(Exception):
    """Not a certificate, or not a sample."""


def read_certificate(path: Path) -> dict[str, Any]:
    """The certificate as a dictionary with the fields that every theorem needs."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path}: not a certificate ({error})") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise Unreadable(f"{path}: not a certificate of format {FORMAT!r}")
    for name in ("family", "model", "claim"):
        if not isinstance(found.get(name), dict):
            raise Refused(f"{name}: missing")
    if found.get("theorem") not in THEOREMS:
        raise Refused(f"theorem: {found.get('theorem')!r} is not one of {', '.join(THEOREMS)}")
    return found


def whole(record: dict[str, Any], name: str, path: str, least: int = 0) -> int:
    """A whole number of the certificate."""
    value = record.get(name)
    if type(value) is not int or value < least:
        raise Refused(f"{path}.{name}: expected a whole number >= {least}, found {value!r}")
    return value


def rational(record: dict[str, Any], name: str) -> Fraction:
    """A number of the claim strictly between 0 and 1, or 1."""
    try:
        value = Fraction(str(record[name]))
    except (KeyError, ValueError, ZeroDivisionError) as error:
        raise Refused(f"claim.{name}: not a number ({error})") from error
    if not 0 < value <= 1:
        raise Refused(f"claim.{name}: {value} does not lie in (0, 1]")
    return value
