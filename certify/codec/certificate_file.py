"""``model.cert``: a compressed or noisy head and the claim about its risk, for `certify verify` to re-derive.

One JSON object (docs/reference/model-cert.md). Floats of a Gaussian are base64 of little-endian float64, so
that they are exact; every bound is a decimal rounded up.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from certify.bounds.risk.entries import Bound
from certify.bounds.risk.families import Family
from certify.bounds.risk.noise import Gaussian, Prior
from certify.bounds.risk.samples import Sample
from certify.codec.arithmetic import Codeword

FORMAT = "certify-attention/model-certificate/1"


def hexadecimal(word: Codeword) -> str:
    """The bits of the payload, first bit first, filled up with zeros to whole bytes."""
    size = (word.length + 7) // 8
    return (word.number << (8 * size - word.length)).to_bytes(size, "big").hex()


def _array(x: np.ndarray) -> str:
    return base64.b64encode(x.astype("<f8").tobytes()).decode()


def _gaussian(q: Gaussian) -> dict[str, list[str]]:
    return {"means": [_array(m) for m in q.means], "deviations": [_array(s) for s in q.deviations]}


def _claim(bound: Bound, sample: Sample, first_unit: int, fields: Sequence[str]) -> dict[str, Any]:
    return {
        "risk": "0-1",
        "bound": bound.value.upper_decimal(6),
        "delta": str(bound.delta),
        "m": bound.m,
        "first_unit": first_unit,
        "data_sha256": sample.digest(),
        **{name: bound.details[name] for name in fields},
        "assumed": [h["text"] for h in bound.hypotheses if h["status"] == "assumed"],
    }


def _document(
    theorem: str, family: Family, model: Mapping[str, Any], claim: Mapping[str, Any]
) -> dict[str, Any]:
    described = {"kind": family.kind, "dimension": family.dimension, "outputs": family.outputs}
    return {
        "format": FORMAT,
        "theorem": theorem,
        "family": described,
        "model": dict(model),
        "claim": dict(claim),
    }


def occam_certificate(word: Codeword, family: Family, bound: Bound, sample: Sample) -> dict[str, Any]:
    """The certificate of theorem D."""
    model = {"bits": word.length, "payload": hexadecimal(word)}
    return _document("D", family, model, _claim(bound, sample, 0, ["errors"]))


def update_certificate(
    word: Codeword, family: Mapping[str, Any], bound: Bound, sample: Sample
) -> dict[str, Any]:
    """The certificate of theorem D for an updated public layer; ``family`` names its anchor by digest."""
    return {
        "format": FORMAT,
        "theorem": "D",
        "family": dict(family),
        "model": {"bits": word.length, "payload": hexadecimal(word)},
        "claim": _claim(bound, sample, 0, ["errors"]),
    }


def noise_certificate(
    theorem: str, family: Family, q: Gaussian, prior: Prior, bound: Bound, sample: Sample, first_unit: int = 0
) -> dict[str, Any]:
    """The certificate of theorem ``"E"`` or ``"E-single"``; ``sample`` is whole, the bound is on units
    from ``first_unit``."""
    model: dict[str, Any] = {"posterior": _gaussian(q)}
    if prior.learned is None:
        model["prior_exponents"] = list(prior.exponents)
    else:
        model["prior"] = _gaussian(prior.learned)
    fields = [name for name in ("errors", "passes") if name in bound.details]
    return _document(theorem, family, model, _claim(bound, sample, first_unit, fields))


def write(path: Path, certificate: Mapping[str, Any]) -> None:
    """Write a certificate; read back by `certify verify` only."""
    path.write_text(json.dumps(certificate, indent=1, sort_keys=True) + "\n")
