"""The fine-tuned encoder: its units, and in the long profile the whole demonstration on the real MiniLM."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certify import cli
from certify.demos import finetune

SAMPLES = 3000


def test_units_name_the_more_common_word() -> None:
    known = {word: place for place, word in enumerate(finetune.words())}
    texts, labels = finetune.draw(300, 7)
    assert {0, 1} == set(labels.tolist())
    for text, label in zip(texts, labels, strict=True):
        places = [known[word] for word in text.split()]
        assert int(np.argmin(places)) == label
        assert min(places) < finetune.COMMON[1] <= finetune.RARE[0] <= max(places)
    assert finetune.draw(300, 7)[0] == texts
    assert finetune.draw(300, 8)[0] != texts


def test_too_few_units_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["demo", "finetune", "--samples", "100", "--out", str(tmp_path / "out")]) == 2
    assert "at least 500 units" in capsys.readouterr().err


def update_bounds(folder: Path) -> dict[str, Fraction]:
    """Upper ends of the 0-1 bounds by theorem and subject."""
    risk: dict[str, Any] = json.loads((folder / "report.json").read_text())["risk"]
    return {
        f"{b['theorem']}, {b['subject']}": Fraction(b["value"]["upper"])
        for b in risk["bounds"]
        if b["loss"] == "0-1" and b["value"] is not None
    }


def check_bounds(folder: Path) -> None:
    """Non-vacuous with the update and above what fresh units show; vacuous without it."""
    found = update_bounds(folder)
    risk = json.loads((folder / "report.json").read_text())["risk"]
    bound = found["D-binomial, base with low-rank update and compressed head"]
    held = found["test-set, base with low-rank update and compressed head"]
    truth = risk["truth"]["base with low-rank update and compressed head"]
    assert Fraction(truth["lower"]) < held < bound < Fraction(2, 5)
    assert Fraction(truth["upper"]) < bound
    assert found["D-binomial, base without update, with a compressed head"] > Fraction(1, 2)
    first = risk["bounds"][0]["note"]
    assert "encoder.layer.4.attention.self.query.weight rank 1" in first
    assert "encoder.layer.4.attention.self.value.weight rank 1" in first


def verified(folder: Path, certificate: str) -> subprocess.CompletedProcess[str]:
    """`certify verify` in another process, with the public base run on every unit."""
    arguments = [
        "verify",
        str(folder / certificate),
        "--data",
        str(folder / "train.npz"),
        "--model",
        "minilm",
    ]
    return subprocess.run(
        [sys.executable, "-m", "certify.cli", *arguments], capture_output=True, text=True, check=False
    )


def check_certificates(folder: Path) -> None:
    """The certificate is accepted; with one error hidden it is refused by what the model computes here."""
    honest = verified(folder, "model.cert")
    assert honest.returncode == 0, honest.stderr
    assert "run on every unit" in honest.stdout
    forged = json.loads((folder / "model.cert").read_text())
    forged["claim"]["errors"] -= 1
    (folder / "forged.cert").write_text(json.dumps(forged))
    refused = verified(folder, "forged.cert")
    assert refused.returncode == 1
    assert "claim.errors" in refused.stderr


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_a_really_fine_tuned_encoder_is_certified(tmp_path: Path) -> None:
    arguments = ["demo", "finetune", "--samples", str(SAMPLES), "--out", str(tmp_path), "--quiet"]
    assert cli.main(arguments) == 0
    check_bounds(tmp_path)
    check_certificates(tmp_path)
