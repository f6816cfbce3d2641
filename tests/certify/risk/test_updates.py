"""Theorem D relative to a base: a transformer with a rank-1 update, its certificate, and forgeries."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certify import cli
from certify.bounds.risk import fitting, update_search, updates
from certify.bounds.risk.run import Plan
from certify.codec.arithmetic import Codeword
from certify.codec.matrices import QuantisedMatrix, decode_update, encode_update, unchanged
from certify.engine.journal import Journal
from certify.errors import VerificationError
from certify.verify import risk as verify_risk
from tests.certify.risk.updated import certificate, check

SOURCE = '''
import torch
class Classifier(torch.nn.Module):
    """Three tokens of four numbers; the base does not look at the first one of each."""
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Linear(4, 8)
        self.block = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        self.head = torch.nn.Linear(8, 2)
    def forward(self, x):
        return self.head(self.block(self.embed(x.reshape(len(x), 3, 4))).mean(dim=1))
torch.manual_seed(0)
base = Classifier()
with torch.no_grad():
    base.embed.weight[:, 0] = 0
torch.manual_seed(1)
other = Classifier()
tuned = Classifier()
tuned.load_state_dict(base.state_dict())
import pathlib
saved = pathlib.Path(__file__).with_name("tuned.pt")
if saved.exists():
    tuned.load_state_dict(torch.load(saved))
'''


def train(module: Any, x: Any, y: Any) -> None:
    """Train the head and a rank-1 update of the embedding, as LoRA does."""
    import torch

    torch.manual_seed(2)
    frozen = module.embed.weight.detach().clone()
    a, b = torch.zeros(8, 1, requires_grad=True), torch.randn(1, 4, requires_grad=True)
    optimiser = torch.optim.Adam([a, b, *module.head.parameters()], lr=0.03)
    for _ in range(150):
        state = {"embed.weight": frozen + a @ b}
        loss = torch.nn.functional.cross_entropy(torch.func.functional_call(module, state, (x,)), y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        module.embed.weight.copy_(frozen + a @ b)


def few_candidates(patch: pytest.MonkeyPatch) -> None:
    """One candidate with an update and one head: soundness does not depend on how many are tried."""
    patch.setattr(update_search, "PRICES", (5.0,))
    patch.setattr(fitting, "LINEAR_GRIDS", fitting.LINEAR_GRIDS[:1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base and a fine-tuned module in a file, the sample, and the report in ``out``."""
    import torch

    place = tmp_path_factory.mktemp("updates")
    (place / "tiny_update.py").write_text(SOURCE)
    generator = np.random.default_rng(0)
    x = generator.standard_normal((1500, 3, 4)).astype(np.float32)
    labels = generator.integers(0, 2, 1500)
    x[:, :, 0] += 1.1 * (2 * labels[:, None] - 1)  # only the first number of a token tells
    x = x.reshape(1500, 12)
    np.savez(place / "sample.npz", features=x, labels=labels)
    with pytest.MonkeyPatch.context() as patch:
        few_candidates(patch)
        patch.syspath_prepend(place)
        patch.chdir(place)
        tiny = __import__("tiny_update")
        train(tiny.tuned, torch.from_numpy(x), torch.from_numpy(labels))
        torch.save(tiny.tuned.state_dict(), place / "tuned.pt")
        arguments = ["report", "tiny_update:tuned", "--base", "tiny_update:base", "--train", "sample.npz"]
        assert cli.main([*arguments, "--out", "out", "--quiet"]) == 0
    return place


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(folder)
    monkeypatch.chdir(folder)
    return folder


def test_rank_one_is_certified_and_the_rest_is_not_a_bound(folder: Path) -> None:
    record = json.loads((folder / "out" / "report.json").read_text())["risk"]
    first, rest = record["bounds"][0], record["bounds"][1:]
    assert first["theorem"] == "D-binomial"
    assert first["status"] == "valid"
    assert float(first["value"]["upper"]) < 0.2
    assert "embed.weight rank 1" in first["note"]
    others = [b for b in rest if b["subject"] not in (updates.SUBJECT, updates.FROZEN)]
    assert {b["status"] for b in others} == {"not a bound"}
    assert any("float64" in h["why"] for h in first["hypotheses"] if h["status"] == "assumed")
    assert [c["file"] for c in record["certificates"]] == ["model.cert"]


def test_rank_zero_fails_on_these_data(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from certify.bounds.risk.tasks import read_task

    record = json.loads((here / "out" / "report.json").read_text())["risk"]
    frozen = [b for b in record["bounds"] if b["subject"] == updates.FROZEN]
    assert [b["status"] for b in frozen] == ["vacuous"]
    monkeypatch.setattr(update_search, "plans", lambda *_: [])
    spec = "tiny_update:tuned", here / "sample.npz", None, "tiny_update:base", lambda text: None
    tuned = read_task(*spec).tuned
    assert tuned is not None
    journal, plan = Journal(here / "work"), Plan(effort=0.1)
    word = update_search.Search(tuned, plan, journal).best()
    found = updates.decoded(word, tuned, plan, journal)
    assert not found.ranks
    assert {b.status for b in updates.bounds_of(found, tuned, plan, journal) if b.loss == "0-1"} == {
        "vacuous"
    }


def test_what_is_said_with_and_without_the_base(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["verify", "out/model.cert", "--data", "out/train.npz"]
    assert cli.main(arguments) == 0
    assert "NOT checked" in capsys.readouterr().out
    done = subprocess.run(
        [sys.executable, "-m", "certify.cli", *arguments, "--model", "tiny_update:base"],
        capture_output=True,
        text=True,
        cwd=here,
    )
    assert done.returncode == 0, done.stderr
    assert "run on every unit" in done.stdout
    assert "NOT" not in done.stdout


@pytest.mark.parametrize(("field", "change"), [("errors", -1), ("bound", 0.999), ("delta", 0.9)])
def test_claims_that_do_not_follow(here: Path, field: str, change: float) -> None:
    forged = certificate(here)
    value = forged["claim"][field]
    if field == "errors":
        forged["claim"][field] = value + int(change)
    else:
        forged["claim"][field] = str(Fraction(value) * Fraction(str(change)))
    with pytest.raises(verify_risk.Refused, match="claim"):
        check(here, forged)


def test_one_bit_fewer(here: Path) -> None:
    forged = certificate(here)
    forged["model"]["bits"] -= 1
    with pytest.raises(verify_risk.Refused, match="model"):
        check(here, forged)


@pytest.mark.parametrize("name", ["tuned", "other"])
def test_another_base(here: Path, name: str) -> None:
    with pytest.raises(verify_risk.Refused, match="anchor_sha256"):
        check(here, certificate(here), f"tiny_update:{name}")


def test_inputs_of_the_head_that_the_model_does_not_compute(here: Path) -> None:
    """Recorded inputs that hide every error pass without the base, which says so; never with it."""
    forged = certificate(here)
    with np.load(here / "out" / "train.npz") as file:
        arrays = {name: file[name] for name in file.files}
    weight, _ = verify_risk.update_of(forged)[1]
    sign = np.where(arrays["labels"] == 1, 1, -1)[:, None]
    arrays["entered"] = (1000 * sign * np.sign(weight[:-1, 0])).astype(np.float32)
    np.savez(here / "out" / "hidden.npz", **arrays)
    with pytest.raises(verify_risk.Refused, match="entered_sha256"):
        check(here, forged, data="hidden.npz")
    labels = arrays["labels"].astype("<i8")
    forged["claim"]["entered_sha256"] = verify_risk.digest(
        "features", arrays["entered"], labels, arrays["entered"].shape[1]
    )
    honest = forged["claim"]["errors"]
    assert honest > 0
    forged["claim"]["errors"] = 0
    assert "NOT checked" in check(here, forged, data="hidden.npz")
    with pytest.raises(verify_risk.Refused, match=f"makes {honest}"):
        check(here, forged, "tiny_update:base", "hidden.npz")


def test_another_update_in_the_payload(here: Path) -> None:
    """The head stays, the update goes: fewer bits, other features, more errors."""
    forged = certificate(here)
    shapes = [(t[1], t[2]) for t in forged["family"]["tensors"]]
    bits = forged["model"]["bits"]
    number = int.from_bytes(bytes.fromhex(forged["model"]["payload"]), "big") >> (-bits % 8)
    _, head = decode_update(Codeword(number, bits), shapes, (9, 1))
    word = encode_update([unchanged(s) for s in shapes], head)
    size = (word.length + 7) // 8
    payload = (word.number << (8 * size - word.length)).to_bytes(size, "big").hex()
    forged["model"] = {"bits": word.length, "payload": payload}
    check(here, forged)
    with pytest.raises(verify_risk.Refused, match=r"claim\.errors"):
        check(here, forged, "tiny_update:base")


def test_tensors_that_are_not_the_bases(here: Path) -> None:
    forged = copy.deepcopy(certificate(here))
    forged["family"]["tensors"][0][0] += "x"
    with pytest.raises(verify_risk.Refused, match="tensors"):
        check(here, forged, "tiny_update:base")
    forged["family"]["tensors"][0] = forged["family"]["tensors"][1]
    with pytest.raises(verify_risk.Refused, match="twice"):
        check(here, forged)


def test_flags_make_unchanged_matrices_cheap() -> None:
    head = QuantisedMatrix(np.ones((3, 1), dtype=np.int64), np.ones((1, 1), dtype=np.int64))
    shapes = [(4, 5)] * 100
    update = [unchanged(s) for s in shapes]
    update[7] = QuantisedMatrix(np.ones((4, 1), dtype=np.int64), np.ones((5, 1), dtype=np.int64), 1, -3)
    word = encode_update(update, head)
    assert word.length < 60
    back, again = decode_update(word, shapes, (3, 1))
    assert [m.rank for m in back] == [m.rank for m in update]
    assert np.array_equal(back[7].integers(), update[7].integers())
    assert back[7].step == update[7].step
    assert np.array_equal(again.integers(), head.integers())
    with pytest.raises(VerificationError):
        decode_update(Codeword(word.number >> 1, word.length - 1), shapes, (3, 1))
