"""Labelled samples: what the certificates are about. The unit of independence is one row."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from certify.errors import DataError

PADDING = -1


@dataclass(frozen=True)
class Sample:
    """Inputs and labels, in their order.

    ``inputs`` is either ``tokens``: int16 (n, T, k), token t of unit i is the 0-1 vector with ones at the k
    coordinates listed (all distinct; -1 throughout for padding), or ``features``: float32 (n, d).
    ``labels`` int64 (n,), classes 0, 1, ... ``dimension``: d.
    """

    inputs: np.ndarray
    labels: np.ndarray
    dimension: int

    def __post_init__(self) -> None:
        if len(self.inputs) != len(self.labels) or not len(self.labels):
            raise DataError(f"{len(self.inputs)} inputs and {len(self.labels)} labels make no sample")

    @property
    def kind(self) -> str:
        """``"tokens"`` or ``"features"``."""
        return "tokens" if self.inputs.ndim == 3 else "features"

    def __len__(self) -> int:
        return len(self.labels)

    def part(self, rows: slice | np.ndarray) -> Sample:
        """The sub-sample of these rows."""
        return Sample(self.inputs[rows], self.labels[rows], self.dimension)

    def digest(self) -> str:
        """SHA-256 of kind, dimension, inputs and labels in their order: another order is another sample."""
        state = hashlib.sha256()
        state.update(f"{self.kind} {self.inputs.shape} {self.dimension} ".encode())
        state.update(
            np.ascontiguousarray(self.inputs.astype("<i2" if self.kind == "tokens" else "<f4")).tobytes()
        )
        state.update(np.ascontiguousarray(self.labels.astype("<i8")).tobytes())
        return state.hexdigest()

    def save(self, path: Path, **more: np.ndarray) -> None:
        """Write the sample, and ``more`` arrays, as ``.npz`` (what `certify verify --data` reads)."""
        arrays: dict[str, Any] = {
            self.kind: self.inputs,
            "labels": self.labels,
            "dimension": self.dimension,
            **more,
        }
        np.savez_compressed(path, **arrays)


def _tokens(path: Path, tokens: np.ndarray, dimension: int) -> np.ndarray:
    if tokens.ndim != 3 or not np.issubdtype(tokens.dtype, np.integer):
        raise DataError(
            f"{path}: tokens must be integers of shape (n, T, k), found {tokens.dtype} {tokens.shape}"
        )
    if tokens.min() < PADDING or tokens.max() >= dimension:
        raise DataError(
            f"{path}: token coordinates run from {tokens.min()} to {tokens.max()}, "
            f"outside -1..{dimension - 1}"
        )
    padded = (tokens == PADDING).any(axis=2)
    if not np.array_equal(padded, (tokens == PADDING).all(axis=2)):
        raise DataError(f"{path}: a token is padding in some of its coordinates only")
    if padded.all(axis=1).any():
        raise DataError(f"{path}: unit {int(np.argmax(padded.all(axis=1)))} has no token")
    inner = np.sort(tokens, axis=2)
    if ((inner[..., 1:] == inner[..., :-1]) & ~padded[..., None]).any():
        raise DataError(f"{path}: a token lists a coordinate twice")
    return tokens.astype(np.int16)


def read_npz(path: Path) -> Sample:
    """A sample from ``.npz`` with ``labels`` and either ``tokens`` and ``dimension`` or ``features``."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: not a readable .npz of plain arrays ({error})") from error
    if "labels" not in arrays or not {"tokens", "features"} & set(arrays):
        raise DataError(f"{path}: needs 'labels' and 'features' or 'tokens', found {sorted(arrays)}")
    labels = arrays["labels"]
    rows = len(arrays["tokens" if "tokens" in arrays else "features"])
    if rows != labels.size or not rows:
        raise DataError(f"{path}: {rows} inputs and {labels.size} labels make no sample")
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer) or (labels.size and labels.min() < 0):
        raise DataError(
            f"{path}: labels must be one row of integers 0, 1, ..., found {labels.dtype} {labels.shape}"
        )
    if "tokens" in arrays:
        if "dimension" not in arrays:
            raise DataError(f"{path}: 'tokens' need the token 'dimension'")
        dimension = int(arrays["dimension"])
        return Sample(_tokens(path, arrays["tokens"], dimension), labels.astype(np.int64), dimension)
    features = arrays["features"]
    if features.ndim != 2 or features.dtype != np.float32:
        raise DataError(
            f"{path}: features must be float32 of shape (n, d), found {features.dtype} {features.shape}"
        )
    bad = np.argwhere(~np.isfinite(features))
    if len(bad):
        row, column = bad[0]
        raise DataError(
            f"{path}: feature {column} of unit {row} is {features[row, column]}; remove or repair it"
        )
    return Sample(features, labels.astype(np.int64), features.shape[1])
