"""Results on disk, one file per work item, so that a killed run loses at most the items in flight."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np


def digest_of(*pieces: str | bytes) -> str:
    """Hex sha256 of length-prefixed pieces (so that no two lists of pieces share a text)."""
    state = hashlib.sha256()
    for piece in pieces:
        raw = piece.encode() if isinstance(piece, str) else piece
        state.update(len(raw).to_bytes(8, "big"))
        state.update(raw)
    return state.hexdigest()


def array_digest(array: np.ndarray) -> str:
    """Hex sha256 of dtype, shape and the bytes of an array in C order, little-endian."""
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return digest_of(little.dtype.str, repr(little.shape), np.ascontiguousarray(little).tobytes())


class Journal:
    """A folder of finished results, each ``<key>.json``.

    A key is a digest of everything the result depends on (input, parameters, version), so a stale
    result cannot be picked up. Files appear whole: they are written aside and renamed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, key: str) -> dict[str, Any] | None:
        """The stored result of ``key``, or None; an unreadable file counts as absent."""
        path = self.folder / f"{key}.json"
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(stored, dict) or stored.get("key") != key:
            return None
        result = stored.get("result")
        text = json.dumps(result, sort_keys=True)
        if not isinstance(result, dict) or stored.get("check") != digest_of(key, text):
            return None
        return result

    def put(self, key: str, result: dict[str, Any]) -> None:
        """Store ``result`` under ``key``, atomically."""
        text = json.dumps(result, sort_keys=True)
        record = {"key": key, "check": digest_of(key, text), "result": result}
        handle, temporary = tempfile.mkstemp(dir=self.folder, suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(json.dumps(record))
            os.replace(temporary, self.folder / f"{key}.json")
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def clear(self) -> None:
        """Delete every result; the run is complete and the report holds them all."""
        for path in self.folder.iterdir():
            if path.suffix in {".json", ".part"}:
                path.unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()
