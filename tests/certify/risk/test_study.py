"""Compare, track and scaling: updates are certified exactly, changes are claimed only when proved."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from certify import cli
from certify.errors import ModelError
from certify.kernel.enclosure import Enclosure
from certify.study import scaling
from certify.study.compare import compare
from certify.study.ranks import direction, ranks_of, update_ranks
from certify.study.track import checkpoints, track


def silent(_: str) -> None:
    return None


def orthogonal(n: int) -> np.ndarray:
    """A Hadamard matrix (n a power of 2): exact, orthogonal up to the scale sqrt(n)."""
    h = np.ones((1, 1))
    while len(h) < n:
        h = np.block([[h, h], [h, -h]])
    return h


def test_the_rank_of_an_update_contains_the_truth() -> None:
    h = orthogonal(8)
    update = (
        h @ np.diag([4.0, 2, 1, 0, 0, 0, 0, 0]) @ h.T
    )  # singular values 32, 16, 8: stable rank 1344 / 1024
    before = np.random.default_rng(0).integers(-8, 8, (8, 8)).astype(np.float32)
    after = (before + update).astype(np.float32)
    found = update_ranks([before], [after])
    assert found is not None
    assert found["stable"].contains("1.3125")
    assert found["nuclear"].contains("1.75")


def test_the_update_of_a_product_is_the_difference_of_products() -> None:
    generator = np.random.default_rng(1)
    old = [generator.integers(-3, 4, (6, 2)).astype(np.float32) for _ in range(2)]
    new = [generator.integers(-3, 4, (6, 2)).astype(np.float32) for _ in range(2)]
    found, direct = update_ranks(old, new), ranks_of([new[0] @ new[1].T - old[0] @ old[1].T])
    assert found is not None
    assert direct is not None
    for kind in ("stable", "nuclear"):
        found[kind].intersection(direct[kind])  # raises if the two enclosures of one number do not meet


def test_an_unchanged_matrix_has_no_update() -> None:
    matrix = np.ones((3, 3), dtype=np.float32)
    assert update_ranks([matrix], [matrix]) is None


def test_a_change_is_claimed_only_beyond_the_margins() -> None:
    assert direction(Enclosure.between(1, 2), Enclosure.between(3, 4)) == "rose"
    assert direction(Enclosure.between(3, 4), Enclosure.between(1, 2)) == "fell"
    assert direction(Enclosure.between(1, 3), Enclosure.between(2, 4)) == "not decided"


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    generator = np.random.default_rng(2)
    first = {f"layer.{i}.weight": generator.standard_normal((6, 5)).astype(np.float32) for i in range(2)}
    second = {**first, "layer.1.weight": first["layer.1.weight"] + np.float32(0.5)}
    places = []
    for name, tensors in (("before", first), ("after", second)):
        (tmp_path / name).mkdir()
        save_file(tensors, tmp_path / name / "model.safetensors")
        (tmp_path / name / "log.csv").write_text("epoch,loss\n0,3.5\n1,2.5\n")
        places.append(tmp_path / name)
    return places[0], places[1]


def test_compare_finds_what_changed(pair: tuple[Path, Path]) -> None:
    record = compare(str(pair[0]), str(pair[1]), None, silent)
    by_name = {r["name"]: r for r in record["weights"]}
    assert by_name["layer.0.weight"]["unchanged"] is True
    update = by_name["layer.1.weight"]["update"]["stable"]
    assert float(update["lower"]) <= 1.0 + 1e-6  # a constant update has rank one up to float32 rounding
    assert float(update["upper"]) < 1.0001


def test_compare_and_track_from_the_command_line(
    pair: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert cli.main(["compare", str(pair[0]), str(pair[1]), "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["weight"]["unchanged"] == 1
    assert "layer.1.weight" in (out / "compare.html").read_text()
    assert cli.main(["track", str(pair[0]), str(pair[1]), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "loss 2.5" in said
    assert "<polyline" in (out / "track.html").read_text()
    assert cli.main(["track", str(tmp_path / "nowhere"), "--out", str(out)]) == 2
    assert cli.main(["compare", str(pair[0]), str(tmp_path / "nowhere"), "--out", str(out)]) == 2


def test_a_folder_of_checkpoints_stands_for_all_of_them(pair: tuple[Path, Path]) -> None:
    assert checkpoints([pair[0].parent]) == [pair[1], pair[0]]
    record = track([pair[0]], silent)
    row = record["checkpoints"][0]["roles"]["weight"]
    assert row["matrices"] == 2
    assert float(row["stable"]["smallest"]["lower"]) <= float(row["stable"]["largest"]["upper"])
    assert record["checkpoints"][0]["log"] == {"epoch": "1", "loss": "2.5"}


def test_models_without_a_common_matrix_are_refused(pair: tuple[Path, Path], tmp_path: Path) -> None:
    save_file({"other.weight": np.ones((2, 2), dtype=np.float32)}, tmp_path / "other.safetensors")
    with pytest.raises(ModelError, match="no matrix in common"):
        compare(str(pair[0]), str(tmp_path / "other.safetensors"), None, silent)


def test_a_pure_power_law_is_found_again() -> None:
    sizes = [10.0, 100, 1000, 10_000, 100_000]
    found = scaling.exponent(sizes, [3 * m**-0.4 for m in sizes])
    assert abs(found["exponent"] - 0.4) < 1e-12
    assert found["low"] <= 0.4 + 1e-9
    noisy = scaling.exponent(sizes, [3 * m**-0.4 * math.exp(0.2 * (-1) ** i) for i, m in enumerate(sizes)])
    assert noisy["low"] < 0.4 < noisy["high"]
    assert scaling.exponent([1, 2, 3], [1.0, 0.0, -1.0])["exponent"] is None


def test_a_gap_above_the_invalid_bound_is_pointed_out() -> None:
    runs = [{"m": 1000.0, "gap": 0.05, "nominal": 0.03}, {"m": 100.0, "gap": 0.01, "nominal": 0.1}]
    assert "at m = 1000 the gap is 0.050" in scaling.broken(runs)
    assert scaling.broken(runs[1:]) == ""
    assert "left out of its fit: 2" in scaling.caveat({"gap": {"left_out": 2}}, 200_000, 0.39)


def test_the_study_never_says_that_a_law_was_confirmed() -> None:
    fits = {"gap": {"exponent": 0.5, "low": 0.4, "high": 0.6}}
    said = scaling.says(fits)
    assert "lies inside" in said
    assert "neither predicted nor contradicted" in said
    assert "no bound at all" in said
    assert "lies outside" in scaling.says({"gap": {"exponent": 0.9, "low": 0.8, "high": 1.0}})
