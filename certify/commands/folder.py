"""The folder that ``--out`` names: made before any work, so that a wrong one costs nothing."""

from __future__ import annotations

from pathlib import Path

from certify.errors import InputError


def make(path: Path) -> None:
    """Make the folder; raises `InputError` with the reason."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be made a folder ({error.strerror}); choose another --out"
        ) from error
