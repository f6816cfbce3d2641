"""The certificates and samples that lie beside a report: each derived again and held against the report."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from .certificate import Refused, Unreadable, read_certificate
from .structure import Problem, pair

Record = dict[str, Any]
CERTIFIES = {"D-binomial": "D", "E-monte-carlo": "E", "E-split": "E"}  # theorem in the table: in the file


def check_certificates(
    risk: Record, folder: Path, progress: Callable[[str], None]
) -> tuple[list[Problem], str]:
    """Derive each certificate that lies in ``folder`` with its sample again: the problems, and a sentence."""
    problems: list[Problem] = []
    absent: list[str] = []
    shown = 0
    for i, entry in enumerate(risk["certificates"]):
        place = f"risk.certificates[{i}]"
        names = str(entry["file"]), str(entry["sample"])
        path, sample = (folder / name for name in names)
        if any(Path(name).name != name for name in names):
            problems.append(Problem(place, "names a file outside the report's folder"))
        elif not path.is_file() or not sample.is_file():
            absent.append(names[0] if not path.is_file() else names[1])
        elif hashlib.sha256(path.read_bytes()).hexdigest() != entry["sha256"]:
            problems.append(Problem(f"{place}.sha256", f"{path.name} is another file"))
        else:
            progress(path.name)
            try:
                _derive(risk, path, sample, place)
                shown += 1
            except Problem as problem:
                problems.append(problem)
    text = f"risk: {len(risk['bounds'])} bounds follow from their recorded inputs; "
    text += f"{shown} of {len(risk['certificates'])} certificates derived again from their samples"
    return problems, text + (f"; not beside the report: {', '.join(dict.fromkeys(absent))}" if absent else "")


def _derive(risk: Record, path: Path, sample: Path, place: str) -> None:
    """The certificate's own claim, and that the report's bound says the same."""
    from .risk import verify  # numpy and scipy are loaded only where a sample is read

    try:
        verify(path, sample)
        certificate = read_certificate(path)
    except (Refused, Unreadable) as refusal:
        raise Problem(place, f"{path.name}: {refusal}") from refusal
    claim, name = certificate["claim"], certificate["theorem"]
    for bound in risk["bounds"]:
        same = name in (
            bound["theorem"],
            {"E-monte-carlo": "E", "E-split": "E", "D-binomial": "D"}.get(bound["theorem"]),
        )
        if same and bound["value"] is not None and bound["m"] == claim["m"] and bound["loss"] == "0-1":
            top = pair(bound["value"], place)[1]
            if Fraction(bound["delta"]) == Fraction(claim["delta"]) and 0 <= Fraction(
                claim["bound"]
            ) - top < (Fraction(1, 10**4) * top):
                return
    raise Problem(place, f"{path.name}: no bound of the report makes its claim")
