"""Inputs from files: one text per line, or arrays stacked along their first axis."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import numpy as np

from certify.adapters.model import Inputs, Model
from certify.errors import DataError


def read_text_inputs(model: Model, path: str | Path) -> Inputs:
    """Tokenise ``path``: every non-empty line is one input, cut at the model's own maximum length.

    The number of lines cut is recorded in ``Inputs.truncated`` and in a note. Raises DataError.
    """
    path = Path(path)
    raw = _read_bytes(path)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: not UTF-8 at byte {error.start} (0x{raw[error.start]:02x}); save the text as UTF-8"
        ) from error
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise DataError(f"{path}: no text in this file; one input per non-empty line was expected")
    runner = model.runner()
    tokenised = [runner.tokenize(line) for line in lines]
    truncated = sum(cut for _, cut in tokenised)
    notes = [f"{len(lines)} non-empty lines, one input each"]
    if truncated:
        notes.append(f"{truncated} of {len(lines)} lines were longer than the model takes and were cut")
    return Inputs(
        path.name, [item for item, _ in tokenised], hashlib.sha256(raw).hexdigest(), truncated, tuple(notes)
    )


def read_array_inputs(path: str | Path) -> Inputs:
    """Read an ``.npz`` whose arrays are named as the model's forward arguments (or ``inputs``).

    The first axis of every array runs over the inputs, so all have one length there. An
    ``attention_mask`` (0 = padding) takes padded rows and columns out of the attention matrices.
    Raises DataError.
    """
    path = Path(path)
    raw = _read_bytes(path)
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        raise DataError(f"{path}: not a readable .npz archive of plain arrays ({error})") from error
    if not arrays:
        raise DataError(f"{path}: holds no array")
    for name, array in arrays.items():
        if array.ndim == 0:
            raise DataError(
                f"{path}: array {name!r} is a single number; its first axis must run over the inputs"
            )
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
            raise DataError(f"{path}: array {name!r} holds {array[place]} at {place}")
        if array.dtype.kind not in "fiub":
            raise DataError(
                f"{path}: array {name!r} has dtype {array.dtype}; real numbers or integers were expected"
            )
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) != 1:
        raise DataError(f"{path}: arrays differ in their number of inputs (first axis): {lengths}")
    count = next(iter(lengths.values()))
    if count == 0:
        raise DataError(f"{path}: the arrays hold no input (first axis has length 0)")
    items = [{name: array[i] for name, array in arrays.items()} for i in range(count)]
    return Inputs(
        path.name,
        items,
        hashlib.sha256(raw).hexdigest(),
        0,
        (f"{count} inputs from arrays {', '.join(arrays)}",),
    )


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error
