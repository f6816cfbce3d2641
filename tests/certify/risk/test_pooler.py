"""Theorem D relative to a public layer: margins, certificate, and forgeries of the update."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from certify.bounds.risk import pooler
from certify.bounds.risk.pooler import Anchor, UpdatedHead
from certify.bounds.risk.samples import Sample
from certify.codec import certificate_file
from certify.errors import DataError
from certify.verify import risk as verify_risk

mp = mpmath.mp.clone()
mp.dps = 60
DELTA = Fraction(1, 20)


def problem(n: int = 600, d: int = 5, k: int = 4) -> tuple[Anchor, Sample]:
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 2, n)
    x = generator.standard_normal((n, d)) + (2 * labels[:, None] - 1) * np.array([1.5, 1, 0, 0, 0])
    weight, bias = generator.standard_normal((k, d)), 0.1 * generator.standard_normal(k)
    anchor = Anchor(weight.astype(np.float32), bias.astype(np.float32))
    return anchor, Sample(x.astype(np.float32), labels, d)


def test_margins_contain_the_exact_margin() -> None:
    anchor, sample = problem(20)
    generator = np.random.default_rng(1)
    head = UpdatedHead(anchor, 0.25 * generator.integers(-2, 3, (4, 5)), generator.standard_normal(4), 0.5)
    found = head.margins(sample)
    for i, x in enumerate(sample.inputs):
        total = mp.mpf(head.bias)
        for row, u, b, w in zip(anchor.weight, head.update, anchor.bias, head.weight, strict=True):
            entries = (
                (mp.mpf(float(a)) + mp.mpf(float(c))) * mp.mpf(float(t))
                for a, c, t in zip(row, u, x, strict=True)
            )
            total += mp.mpf(float(w)) * mp.tanh(mp.fsum(entries) + mp.mpf(float(b)))
        truth = total if sample.labels[i] == 1 else -total
        assert abs(truth - mp.mpf(found.middle[i])) <= mp.mpf(found.radius[i])


def test_other_features_are_refused() -> None:
    anchor, sample = problem()
    head = UpdatedHead(anchor, np.zeros((4, 5)), np.zeros(4), 1.0)
    with pytest.raises(DataError, match="dimension 5"):
        head.margins(Sample(sample.inputs[:, :3], sample.labels, 3))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[int, dict[str, Any]]]:
    out = tmp_path_factory.mktemp("update")
    anchor, sample = problem()
    documents = {}
    for rank, word in pooler.compress(anchor, sample, (0, 1), lambda text: None, effort=0.2).items():
        bound = pooler.occam_update(word, anchor, sample, DELTA, rank)
        documents[rank] = certificate_file.update_certificate(
            word, pooler.family_record(anchor), bound, sample
        )
    sample.save(out / "train.npz", anchor_weight=anchor.weight, anchor_bias=anchor.bias)
    sample.save(out / "bare.npz")
    sample.save(out / "moved.npz", anchor_weight=anchor.weight + np.float32(1e-3), anchor_bias=anchor.bias)
    return out, documents


def check(out: Path, document: dict[str, Any], data: str = "train.npz") -> str:
    (out / "update.cert").write_text(json.dumps(document))
    return verify_risk.verify(out / "update.cert", out / data)


@pytest.mark.parametrize("rank", [0, 1])
def test_honest_updates_are_accepted(files: tuple[Path, dict[int, dict[str, Any]]], rank: int) -> None:
    out, documents = files
    assert "theorem D" in check(out, documents[rank])


@pytest.mark.parametrize("rank", [0, 1])
def test_forged_updates_are_refused(files: tuple[Path, dict[int, dict[str, Any]]], rank: int) -> None:
    out, documents = files
    for field, value in (("errors", -1), ("bound", 0.999)):
        forged = copy.deepcopy(documents[rank])
        claim = forged["claim"]
        claim[field] = claim[field] + value if field == "errors" else str(float(claim[field]) * value)
        with pytest.raises(verify_risk.Refused, match=f"claim.{field}"):
            check(out, forged)
    with pytest.raises(verify_risk.Refused, match="anchor"):
        check(out, documents[rank], "moved.npz")
    with pytest.raises(verify_risk.Refused, match="anchor"):
        check(out, documents[rank], "bare.npz")
    forged = copy.deepcopy(documents[rank])
    forged["family"]["kind"] = "linear-head"  # another decoder reads the same bits
    with pytest.raises(verify_risk.Refused):
        check(out, forged)
    forged = copy.deepcopy(documents[rank])
    forged["theorem"] = "E"
    with pytest.raises(verify_risk.Refused):
        check(out, forged)


@pytest.mark.parametrize(("member", "value"), [("first_unit", 1), ("risk", "mean squared")])
def test_no_unit_is_left_out(
    files: tuple[Path, dict[int, dict[str, Any]]], member: str, value: object
) -> None:
    """Whoever may choose the first unit leaves out those with errors; the checker once allowed it here."""
    out, documents = files
    forged = copy.deepcopy(documents[1])
    forged["claim"][member] = value
    forged["claim"]["m"] -= 1 if member == "first_unit" else 0
    forged["claim"]["bound"] = "1"
    with pytest.raises(verify_risk.Refused, match=f"claim.{member}"):
        check(out, forged)
