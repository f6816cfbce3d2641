"""Reading the sample that a certificate speaks of, and its digest: units and labels in their order."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from .certificate import Refused, Unreadable, whole


def read_sample(path: Path) -> tuple[str, Any, Any, int]:
    """(kind, inputs, labels, dimension) of an .npz with labels and tokens + dimension, or features."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        labels = arrays["labels"].astype("<i8")
        if "tokens" in arrays:
            kind, inputs, dimension = "tokens", arrays["tokens"].astype("<i2"), int(arrays["dimension"])
        else:
            kind, inputs = "features", arrays["features"].astype("<f4")
            dimension = inputs.shape[1]
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise Unreadable(f"{path}: not a sample with labels and tokens or features ({error})") from error
    if inputs.ndim != (3 if kind == "tokens" else 2) or labels.shape != (len(inputs),) or not len(labels):
        raise Unreadable(
            f"{path}: {kind} of shape {inputs.shape} and labels of shape {labels.shape} do not fit"
        )
    if kind == "features" and not np.isfinite(inputs).all():
        raise Unreadable(f"{path}: a feature is not finite")
    return kind, inputs, labels, dimension


def digest(kind: str, inputs: Any, labels: Any, dimension: int) -> str:
    """SHA-256 of the units in their order."""
    state = hashlib.sha256(f"{kind} {inputs.shape} {dimension} ".encode())
    state.update(np.ascontiguousarray(inputs).tobytes())
    state.update(np.ascontiguousarray(labels).tobytes())
    return state.hexdigest()


def read_anchor(path: Path, family: dict[str, Any], dimension: int) -> tuple[Any, Any]:
    """The public layer (weight (k, d), bias (k,)) that an update is relative to, from the sample's file."""
    with np.load(path, allow_pickle=False) as file:
        if not {"anchor_weight", "anchor_bias"} <= set(file.files):
            raise Refused("family.anchor_sha256: the sample's file holds no anchor_weight and anchor_bias")
        weight, bias = file["anchor_weight"].astype("<f4"), file["anchor_bias"].astype("<f4")
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
    with np.load(path, allow_pickle=False) as file:
        if "entered" not in file.files:
            raise Refused("claim.entered_sha256: the sample's file holds no 'entered' (what enters the head)")
        entered = file["entered"].astype("<f4")
    width = whole(certificate["family"], "hidden", "family", 1)
    if entered.shape != (len(labels), width) or not np.isfinite(entered).all():
        raise Refused(f"family.hidden: 'entered' is not finite of shape {(len(labels), width)}")
    if digest("features", entered, labels, width) != certificate["claim"].get("entered_sha256"):
        raise Refused("claim.entered_sha256: 'entered' is not what the certificate counted its errors on")
    return entered
