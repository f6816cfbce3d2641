"""A set of checkpoints: certified effective ranks per role, beside what their logs say."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from certify.adapters import open_model
from certify.decimals import enclosed
from certify.errors import CertifyError, ModelError
from certify.kernel.enclosure import Enclosure, largest, smallest
from certify.study.ranks import KINDS, Ranks, ranks_of

Progress = Callable[[str], None]
SCHEMA = "certify-attention/track/1"


def checkpoints(places: Sequence[Path]) -> list[Path]:
    """Each folder that holds a model, in the order given; a folder of folders stands for all of them,
    sorted."""
    found = []
    for place in places:
        if not place.exists():
            raise ModelError(f"{place}: no such folder")
        inside = sorted(p for p in place.iterdir() if p.is_dir()) if place.is_dir() else []
        models = [
            p for p in inside if any(p.glob("*.safetensors")) or any(p.glob("*.pt")) or any(p.glob("*.bin"))
        ]
        found += models or [place]
    return found


def last_log_line(folder: Path) -> dict[str, str]:
    """The last row of ``log.csv`` beside the checkpoint, if there is one."""
    path = folder / "log.csv" if folder.is_dir() else folder.parent / "log.csv"
    if not path.is_file():
        return {}
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {k: v for k, v in rows[-1].items() if k and v} if rows else {}


def _middle(values: list[Enclosure]) -> Enclosure:
    """An enclosure of the lower median: between the medians of the lower and of the upper ends."""
    k = (len(values) - 1) // 2
    return Enclosure.between(sorted(v.lower for v in values)[k], sorted(v.upper for v in values)[k])


def _row(ranks: list[Ranks]) -> dict[str, Any]:
    row: dict[str, Any] = {"matrices": len(ranks)}
    for kind in KINDS:
        values = [r[kind] for r in ranks]
        row[kind] = {
            "smallest": enclosed(smallest(values)),
            "median": enclosed(_middle(values)),
            "largest": enclosed(largest(values)),
        }
    return row


def checkpoint(folder: Path) -> dict[str, Any]:
    """The ranks of one checkpoint by role, with what could not be certified."""
    spec = folder
    if folder.is_dir() and not (folder / "model.safetensors").is_file():
        states = sorted([*folder.glob("*.pt"), *folder.glob("*.bin")])
        spec = states[0] if len(states) == 1 else folder
    by_role: dict[str, list[Ranks]] = {}
    errors = []
    for matrix in open_model(spec).matrices():
        try:
            ranks = ranks_of(matrix.load())
        except CertifyError as error:
            errors.append({"name": matrix.name, "reason": str(error)})
            continue
        if ranks is not None:
            by_role.setdefault(matrix.role, []).append(ranks)
    roles = {role: _row(ranks) for role, ranks in sorted(by_role.items())}
    return {"name": folder.name, "roles": roles, "log": last_log_line(folder), "errors": errors}


def track(places: Sequence[Path], progress: Progress) -> dict[str, Any]:
    """All checkpoints as one record."""
    folders, rows = checkpoints(places), []
    for i, folder in enumerate(folders, 1):
        rows.append(checkpoint(folder))
        progress(f"checkpoints: {i} of {len(folders)} {folder.name}")
    return {"schema": SCHEMA, "checkpoints": rows}
