"""``certify report``: the schema, what is in the report, exit codes, streams."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from safetensors.numpy import load_file

from certify.cli import main
from certify.report.digest import sealed
from certify.report.writing import to_json
from tests.certify.report.tiny import Tiny

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "docs/reference/report-schema.json").read_text())


def test_the_report_fits_the_published_schema(tiny: Tiny) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(tiny.report)


@pytest.mark.parametrize("spoil", ["drop", "number", "extra", "valid"])
def test_the_schema_refuses_what_is_no_report(tiny: Tiny, spoil: str) -> None:
    report = json.loads(json.dumps(tiny.report))
    if spoil == "drop":
        del report["matrices"][0]["spectrum"]
    elif spoil == "number":
        report["matrices"][0]["norms"]["spectral"]["lower"] = 1.5
    elif spoil == "extra":
        report["best_bound"] = "0.1"
    else:
        report["nominal"][0]["valid"] = True
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(report)


def test_everything_of_the_model_is_there(tiny: Tiny) -> None:
    roles = [m["role"] for m in tiny.report["matrices"]]
    assert roles.count("query-key") == roles.count("value-output") == 4
    assert roles.count("weight") >= 2 * 6 + 3
    heads = [h for call in tiny.report["attention"]["calls"] for h in call["heads"]]
    assert len(heads) == 3 * 2 * 2
    assert tiny.report["attention"]["calls"][-1]["shape"] == [4, 4], "padded rows are taken out"
    assert [g["theorem"] for g in tiny.report["bounds"]] == ["A1-peeled", "C1-vector-peeled"]
    assert len(tiny.report["bounds"][1]["entries"]) == 4
    assert all(item["expected"] for item in tiny.report["skipped"])


def test_recorded_spectra_contain_the_singular_values(tiny: Tiny) -> None:
    """LAPACK's values in longer arithmetic: the residual of numpy is far below the slack allowed here."""
    stored = load_file(tiny.model / "model.safetensors")
    checked = 0
    for matrix in tiny.report["matrices"]:
        if matrix["role"] != "weight":
            continue
        (factor,) = matrix["factors"]
        array = stored[factor["tensor"]].astype(np.float64)
        values = np.linalg.svd(array, compute_uv=False)
        slack = Fraction(float(values[0])) * Fraction(1, 2**46)
        for low, high, value in zip(
            matrix["spectrum"]["lower"], matrix["spectrum"]["upper"], values, strict=True
        ):
            assert Fraction(low) - slack <= Fraction(float(value)) <= Fraction(high) + slack
            checked += 1
    assert checked > 100


def test_the_mode_used_unless_chosen_shows_every_effective_rank_to_six_digits(tiny: Tiny) -> None:
    assert tiny.report["parameters"]["mode"] == "adaptive"
    heads = [h for call in tiny.report["attention"]["calls"] for h in call["heads"]]
    ranks = [r for m in [*tiny.report["matrices"], *heads] if m["ranks"] for r in m["ranks"].values()]
    assert len(ranks) >= 6 * (len(heads) + 20)
    for rank in ranks:
        assert Fraction(rank["upper"]) - Fraction(rank["lower"]) <= Fraction(rank["lower"]) / 10**6


def test_the_capacity_is_the_largest_rank_of_all(tiny: Tiny) -> None:
    attention = tiny.report["attention"]
    for kind, capacity in attention["capacity"].items():
        tops = [h["ranks"][kind]["upper"] for call in attention["calls"] for h in call["heads"]]
        assert Fraction(capacity["upper"]) == max(Fraction(t) for t in tops)


def test_vacuous_is_said_and_matches_the_value(tiny: Tiny) -> None:
    for group in tiny.report["bounds"]:
        for entry in group["entries"]:
            for record in (entry["on_these_inputs"], entry["at_samples"]):
                assert record["vacuous"] is (Fraction(record["value"]["upper"]) >= 1)
    page = (tiny.out / "report.html").read_text()
    assert "Vacuous on these 3 inputs" in page
    assert page.count("not a bound") >= 6


def test_standing_hypotheses_are_assumed_never_met(tiny: Tiny) -> None:
    for group in tiny.report["bounds"]:
        status = {h["id"]: h["status"] for h in group["hypotheses"]}
        assert status["fixed-before-sample"] == status["iid"] == "assumed"
        assert status["grid"] == "met"


def test_work_folder_is_gone_after_success(tiny: Tiny) -> None:
    assert sorted(p.name for p in tiny.out.iterdir()) == ["report.html", "report.json"]


def test_json_on_stdout_is_only_json(tiny: Tiny, tmp_path: Path) -> None:
    arrays = tmp_path / "weights.npz"
    np.savez(arrays, first=np.arange(6.0).reshape(2, 3), second=np.eye(4, dtype=np.float32))
    done = subprocess.run(
        [sys.executable, "-m", "certify.cli", "report", str(arrays), "--out", str(tmp_path / "o"), "--json"],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert {m["name"] for m in report["matrices"]} == {"first", "second"}
    assert "weights" in done.stderr, "progress goes to stderr"


def test_text_of_the_file_is_stable(tiny: Tiny) -> None:
    assert to_json(tiny.report) == (tiny.out / "report.json").read_text()
    body = {k: v for k, v in tiny.report.items() if k not in ("parts", "digest")}
    assert sealed(body) == tiny.report


def test_a_bad_matrix_is_listed_and_the_exit_code_is_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoiled = np.eye(3)
    spoiled[1, 2] = np.nan
    np.savez(tmp_path / "m.npz", good=np.eye(3), spoiled=spoiled)
    code = main(["report", str(tmp_path / "m.npz"), "--out", str(tmp_path / "o")])
    assert code == 1
    report = json.loads((tmp_path / "o/report.json").read_text())
    assert report["status"] == "incomplete"
    assert [item["name"] for item in report["uncertified"]] == ["spoiled"]
    assert "nan" in report["uncertified"][0]["reason"].lower()
    jsonschema.Draft202012Validator(SCHEMA).validate(report)
    assert "spoiled" in capsys.readouterr().out


def test_the_zero_matrix_has_norms_but_no_rank(tmp_path: Path) -> None:
    np.savez(tmp_path / "m.npz", zero=np.zeros((3, 2)))
    assert main(["report", str(tmp_path / "m.npz"), "--out", str(tmp_path / "o"), "--quiet"]) == 0
    (matrix,) = json.loads((tmp_path / "o/report.json").read_text())["matrices"]
    assert matrix["ranks"] is None
    assert "zero matrix" in matrix["undefined"]
    assert matrix["norms"]["spectral"] == {"lower": "0", "upper": "0"}
    assert main(["verify", str(tmp_path / "o/report.json"), "--quiet"]) == 0


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["report", "/no/such/model"], "/no/such/model"),
        (["report", "{npz}", "--text", "/no/such/text"], "/no/such/text"),
    ],
)
def test_bad_input_exits_with_2(
    arguments: list[str], word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "m.npz", a=np.eye(2))
    filled = [a.replace("{npz}", str(tmp_path / "m.npz")) for a in arguments]
    assert main([*filled, "--out", str(tmp_path / "o"), "--quiet"]) == 2
    assert word in capsys.readouterr().err


@pytest.mark.parametrize(
    "option",
    [
        ["--delta", "0"],
        ["--delta", "1"],
        ["--delta", "x"],
        ["--samples", "0"],
        ["--jobs", "-1"],
        ["--mode", "fast"],
    ],
)
def test_bad_usage_exits_with_2(option: list[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["report", "m", "--out", str(tmp_path), *option])
    assert stop.value.code == 2


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    for command, words in (
        ("report", ["examples:", "exit codes", ".work"]),
        ("verify", ["examples:", "exit codes", "--all"]),
    ):
        with pytest.raises(SystemExit) as stop:
            main([command, "--help"])
        assert stop.value.code == 0
        text = capsys.readouterr().out
        assert all(word in text for word in words)
