"""Theorem D relative to a base with three classes: certificate, held-out units, forgeries, resuming."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certify import cli
from certify.bounds.risk import fitting, update_search
from certify.bounds.risk.updated_base import UpdatedBase
from certify.verify import update as verify_update
from certify.verify.certificate import Refused
from tests.certify.risk.updated import certificate, check

SOURCE = """
import pathlib
import torch
def network():
    return torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.Tanh(), torch.nn.Linear(12, 3))
torch.manual_seed(0)
base = network()
with torch.no_grad():
    base[0].weight[:, 0] = 0  # blind to the only input that tells
other = network()
tuned = network()
tuned.load_state_dict(base.state_dict())
saved = pathlib.Path(__file__).with_name("three_tuned.pt")
if saved.exists():
    tuned.load_state_dict(torch.load(saved))
"""


def units(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 3, n)
    x = generator.standard_normal((n, 6))
    x[:, 0] = 2.0 * (labels - 1) + 0.4 * x[:, 0]
    return x.astype(np.float32), labels


def fine_tune(module: Any, x: Any, y: Any) -> None:
    """Train the head and a rank-1 update of the first layer."""
    import torch

    torch.manual_seed(1)
    frozen = module[0].weight.detach().clone()
    a, b = torch.randn(12, 1, requires_grad=True), torch.zeros(1, 6, requires_grad=True)
    optimiser = torch.optim.Adam([a, b, *module[2].parameters()], lr=0.05)
    for _ in range(200):
        out = torch.func.functional_call(module, {"0.weight": frozen + a @ b}, (x,))
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(out, y).backward()
        optimiser.step()
    with torch.no_grad():
        module[0].weight.copy_(frozen + a @ b)


def plans(deltas: dict[str, np.ndarray], limit: int) -> list[dict[str, int]]:
    return [dict(plan) for plan in update_search.plans(deltas, limit, lambda text: None)]


def few_candidates(patch: pytest.MonkeyPatch) -> None:
    """One candidate with an update and one head: soundness does not depend on how many are tried."""
    patch.setattr(update_search, "PRICES", (5.0,))
    patch.setattr(fitting, "LINEAR_GRIDS", fitting.LINEAR_GRIDS[:1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch

    place = tmp_path_factory.mktemp("classes")
    (place / "three_classes.py").write_text(SOURCE)
    for name, n in (("sample", 900), ("held", 300)):
        x, labels = units(n, n)
        np.savez(place / f"{name}.npz", features=x, labels=labels)
    with pytest.MonkeyPatch.context() as patch:
        few_candidates(patch)
        patch.syspath_prepend(place)
        patch.chdir(place)
        module = __import__("three_classes")
        x, labels = units(900, 900)
        fine_tune(module.tuned, torch.from_numpy(x), torch.from_numpy(labels))
        torch.save(module.tuned.state_dict(), place / "three_tuned.pt")
        arguments = ["report", "three_classes:tuned", "--base", "three_classes:base", "--train", "sample.npz"]
        assert cli.main([*arguments, "--test", "held.npz", "--out", "out", "--quiet"]) == 0
    return place


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(folder)
    monkeypatch.chdir(folder)
    return folder


def bounds(folder: Path, subject: str) -> dict[str, dict[str, Any]]:
    record = json.loads((folder / "out" / "report.json").read_text())["risk"]
    return {f"{b['theorem']} {b['loss']}": b for b in record["bounds"] if b["subject"].startswith(subject)}


def test_update_test_line_ramp_and_rank_zero_stand_side_by_side(folder: Path) -> None:
    update = bounds(folder, "base with low-rank update")
    assert set(update) == {"D-binomial 0-1", "D ramp 1", "test-set 0-1"}
    exact, held = (Fraction(update[k]["value"]["upper"]) for k in ("D-binomial 0-1", "test-set 0-1"))
    assert held < exact < Fraction(1, 4)
    assert exact < Fraction(update["D ramp 1"]["value"]["upper"]) < Fraction(3, 10)
    assert {b["status"] for b in update.values()} == {"valid"}
    frozen = bounds(folder, "base without update")["D-binomial 0-1"]
    assert Fraction(frozen["value"]["upper"]) > Fraction(1, 2)
    assert certificate(folder)["family"]["outputs"] == 3


def test_no_classical_number_stands_on_trained_features(folder: Path) -> None:
    rows = json.loads((folder / "out" / "report.json").read_text())["risk"]["classical"]
    assert rows
    assert not {row["status"] for row in rows} & {"valid", "vacuous"}
    assert {row["value"] for row in rows} == {None}


def test_honest_certificate_is_accepted(here: Path) -> None:
    assert "NOT checked" in check(here, certificate(here))
    assert "run on every unit" in check(here, certificate(here), "three_classes:base")


@pytest.mark.parametrize(("field", "change"), [("errors", -1), ("bound", 0.999), ("delta", 0.9)])
def test_claims_that_do_not_follow(here: Path, field: str, change: float) -> None:
    forged = certificate(here)
    value = forged["claim"][field]
    forged["claim"][field] = value - 1 if field == "errors" else str(Fraction(value) * Fraction(str(change)))
    with pytest.raises(Refused, match=r"claim\."):
        check(here, forged)


def test_one_bit_fewer_and_another_base(here: Path) -> None:
    forged = copy.deepcopy(certificate(here))
    forged["model"]["bits"] -= 1
    with pytest.raises(Refused, match="model"):
        check(here, forged)
    for name in ("tuned", "other"):
        with pytest.raises(Refused, match="anchor_sha256"):
            check(here, certificate(here), f"three_classes:{name}")


@pytest.mark.parametrize("what", ["order", "label"])
def test_other_data(here: Path, what: str) -> None:
    with np.load(here / "out" / "train.npz") as file:
        arrays = {name: file[name] for name in file.files}
    if what == "order":
        rows = np.r_[1, 0, 2 : len(arrays["labels"])]
        arrays |= {n: arrays[n][rows] for n in ("features", "labels", "entered")}
    else:
        arrays["labels"][0] = (arrays["labels"][0] + 1) % 3
    np.savez(here / "out" / "moved.npz", **arrays)
    with pytest.raises(Refused, match="data_sha256"):
        check(here, certificate(here), data="moved.npz")


def test_three_classes_need_three_outputs(here: Path) -> None:
    forged = certificate(here)
    forged["family"]["outputs"] = 2
    with pytest.raises(Refused):
        check(here, forged)


def test_a_base_that_cannot_be_loaded_is_named(here: Path) -> None:
    with pytest.raises(verify_update.Unreadable, match=r"--model three_classes:absent.*module:object"):
        check(here, certificate(here), "three_classes:absent")


def test_spectra_suggest_one_direction_of_one_matrix() -> None:
    generator = np.random.default_rng(0)
    rank_one = np.outer(generator.standard_normal(40), generator.standard_normal(30))
    deltas = {"a": rank_one, "b": 1e-9 * generator.standard_normal((40, 30)), "c": np.zeros((9, 9))}
    assert plans(deltas, 1000) == [{"a": 1}]
    assert plans(deltas, 60) == []


def test_a_flat_spectrum_suggests_many_directions_as_far_as_they_can_be_paid() -> None:
    flat = {"a": np.eye(40)[:, :30]}  # 15 and 27 lie on the edge: an upper end may be one more
    ranks = [plan["a"] for plan in plans(flat, 10_000)]
    assert [rank - least for rank, least in zip(ranks, (15, 27, 30), strict=True)] in ([0, 0, 0], [1, 1, 0])
    assert {plan["a"] for plan in plans(flat, 300)} == {4}
    two = {"a": 2.0 * np.eye(40)[:, :30], "b": np.eye(40)[:, :30]}
    assert {"a": 1, "b": 1} in plans(two, 150)


def test_a_killed_run_is_picked_up(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed at the last chunk of units: the second run trains nothing and runs only what is missing."""
    arguments = ["report", "three_classes:tuned", "--base", "three_classes:base", "--train", "sample.npz"]
    arguments += ["--out", "again", "--quiet"]
    few_candidates(monkeypatch)
    entered, calls = UpdatedBase.entered, []

    def counted(self: UpdatedBase, part: np.ndarray, *more: Any) -> np.ndarray:
        calls.append(len(part))
        if len(calls) == 9:
            raise KeyboardInterrupt
        return entered(self, part, *more)

    monkeypatch.setattr(UpdatedBase, "entered", counted)
    assert cli.main(arguments) == 130
    monkeypatch.setattr(update_search, "train_update", lambda *_: pytest.fail("trained again"))
    assert cli.main(arguments) == 0
    assert calls == [100] * 10
    assert certificate(here)["model"] == json.loads((here / "again" / "model.cert").read_text())["model"]
