"""Reading the sample that a certificate speaks of, and its digest: units and labels in their order."""

from __future__ import annotations

import hashlib
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from .certificate import Refused, Unreadable, whole

MAX_BYTES = 1 << 32
MAX_DIMENSION = 1 << 15  # tokens are 16-bit integers
BROKEN = (
    OSError, ValueError, LookupError, EOFError, MemoryError, RuntimeError,  # a password is a RuntimeError
    zipfile.BadZipFile, zlib.error, struct.error,
)  # fmt: skip


def read_arrays(path: Path, *names: str) -> dict[str, Any]:
    """Those of the arrays ``names`` that the .npz holds: plain numbers, each once, 4 GiB in all."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.removesuffix(".npy") in names]
        if len({entry.filename.removesuffix(".npy") for entry in entries}) != len(entries):
            raise Unreadable(f"{path}: an array stands twice in it")
        if sum(entry.file_size for entry in entries) > MAX_BYTES:
            raise Unreadable(f"{path}: its arrays are larger than {MAX_BYTES} bytes")
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in names if name in file.files}
    except BROKEN as error:
        raise Unreadable(f"{path}: not a readable .npz of plain arrays ({error})") from error


def read_sample(path: Path) -> tuple[str, Any, Any, int]:
    """(kind, inputs, labels, dimension) of an .npz with labels and tokens + dimension, or features.

    Every number is taken as it stands: an array of another type is refused, never cast.
    """
    arrays = read_arrays(path, "labels", "tokens", "dimension", "features")
    labels = arrays.get("labels")
    if labels is None or ("tokens" in arrays) == ("features" in arrays):
        raise Unreadable(f"{path}: not a sample with labels and tokens or features")
    kind = "tokens" if "tokens" in arrays else "features"
    inputs = arrays[kind]
    if labels.dtype.kind not in "iu" or not labels.size or labels.min() < 0 or labels.max() >= 1 << 31:
        raise Unreadable(f"{path}: labels must be integers from 0 on, found {labels.dtype} {labels.shape}")
    if inputs.ndim != (3 if kind == "tokens" else 2) or labels.shape != (len(inputs),) or not inputs.size:
        raise Unreadable(
            f"{path}: {kind} of shape {inputs.shape} and labels of shape {labels.shape} do not fit"
        )
    if kind == "tokens":
        dimension = _token_dimension(path, inputs, arrays.get("dimension"))
        return kind, inputs.astype("<i2"), labels.astype("<i8"), dimension
    return kind, _floats(path, "features", inputs), labels.astype("<i8"), inputs.shape[1]


def _token_dimension(path: Path, tokens: Any, dimension: Any) -> int:
    """The number of coordinates that the tokens (n, T, k) choose from, -1 being padding of a whole token."""
    if dimension is None or dimension.shape != () or dimension.dtype.kind not in "iu":
        raise Unreadable(f"{path}: tokens need the whole number 'dimension'")
    top = int(dimension)
    if tokens.dtype.kind not in "iu" or not 1 <= top <= MAX_DIMENSION:
        raise Unreadable(
            f"{path}: tokens of type {tokens.dtype} and dimension {top}, not integers below 2^15"
        )
    if tokens.min() < -1 or tokens.max() >= top:
        raise Unreadable(f"{path}: tokens run from {tokens.min()} to {tokens.max()}, outside -1..{top - 1}")
    padded = tokens < 0
    if (padded.any(axis=2) != padded.all(axis=2)).any() or padded.all(axis=(1, 2)).any():
        raise Unreadable(f"{path}: a token is padding in some coordinates only, or a unit has no token")
    return top


def _floats(path: Path, name: str, array: Any) -> Any:
    """The array, which has to be finite and float32 already."""
    if array.dtype.kind != "f" or array.dtype.itemsize != 4:
        raise Unreadable(f"{path}: {name} must be float32, found {array.dtype}")
    if not np.isfinite(array).all():
        raise Unreadable(f"{path}: a number of {name} is not finite")
    return array.astype("<f4")


def digest(kind: str, inputs: Any, labels: Any, dimension: int) -> str:
    """SHA-256 of the units in their order."""
    state = hashlib.sha256(f"{kind} {inputs.shape} {dimension} ".encode())
    state.update(np.ascontiguousarray(inputs).tobytes())
    state.update(np.ascontiguousarray(labels).tobytes())
    return state.hexdigest()


def read_anchor(path: Path, family: dict[str, Any], dimension: int) -> tuple[Any, Any]:
    """The public layer (weight (k, d), bias (k,)) that an update is relative to, from the sample's file."""
    arrays = read_arrays(path, "anchor_weight", "anchor_bias")
    if len(arrays) != 2:
        raise Refused("family.anchor_sha256: the sample's file holds no anchor_weight and anchor_bias")
    weight, bias = (_floats(path, name, array) for name, array in arrays.items())
    state = hashlib.sha256(f"{weight.shape} ".encode())
    state.update(np.ascontiguousarray(weight).tobytes() + np.ascontiguousarray(bias).tobytes())
    if state.hexdigest() != family.get("anchor_sha256"):
        raise Refused("family.anchor_sha256: this is not the public layer of the certificate")
    hidden = whole(family, "hidden", "family", 1)
    if weight.shape != (hidden, dimension) or bias.shape != (hidden,):
        raise Refused(f"family: an anchor of shape {weight.shape} does not fit {hidden} x {dimension}")
    return weight, bias


def read_entered(path: Path, certificate: dict[str, Any], labels: Any) -> Any:
    """What entered the head, as the sample's file records it: float32 (n, hidden)."""
    arrays = read_arrays(path, "entered")
    if not arrays:
        raise Refused("claim.entered_sha256: the sample's file holds no 'entered' (what enters the head)")
    entered = _floats(path, "entered", arrays["entered"])
    width = whole(certificate["family"], "hidden", "family", 1)
    if entered.shape != (len(labels), width):
        raise Refused(f"family.hidden: 'entered' is not of shape {(len(labels), width)}")
    if digest("features", entered, labels, width) != certificate["claim"].get("entered_sha256"):
        raise Refused("claim.entered_sha256: 'entered' is not what the certificate counted its errors on")
    return entered
