"""Reading a risk certificate: one unambiguous JSON object, whole numbers, rationals."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from . import structure
from .strict_json import Ambiguous, printable, read_json, shown

FORMAT = "certify-attention/model-certificate/1"

THEOREMS = ("D", "E", "E-single")


class Refused(Exception):
    """The certificate does not prove its claim; the message names the place."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


class Unreadable(Exception):
    """Not a certificate, or not a sample."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


def read_certificate(path: Path) -> dict[str, Any]:
    """The certificate as a dictionary with the fields that every theorem needs."""
    try:
        found = read_json(path)
    except (OSError, Ambiguous) as error:
        raise Unreadable(f"{path}: not a certificate ({error})") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise Unreadable(f"{path}: not a certificate of format {FORMAT!r}")
    for name in ("family", "model", "claim"):
        if not isinstance(found.get(name), dict):
            raise Refused(f"{name}: missing")
    if found.get("theorem") not in THEOREMS:
        raise Refused(f"theorem: {shown(found.get('theorem'))} is not one of {', '.join(THEOREMS)}")
    return found


def whole(record: dict[str, Any], name: str, path: str, least: int = 0) -> int:
    """A whole number of the certificate."""
    value = record.get(name)
    if type(value) is not int or value < least:
        raise Refused(f"{path}.{name}: expected a whole number >= {least}, found {shown(value)}")
    return value


def rational(record: dict[str, Any], name: str) -> Fraction:
    """A number of the claim strictly between 0 and 1, or 1: a decimal or a quotient, as text."""
    try:
        value = structure.rational(record.get(name), f"claim.{name}")
    except structure.Problem as problem:
        raise Refused(str(problem)) from problem
    if not 0 < value <= 1:
        raise Refused(f"claim.{name}: {shown(record[name])} does not lie in (0, 1]")
    return value
