"""``certify check`` without claims: the table, --show, and its refusal of a changed derivation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from certify.cli import main
from proofs import library


def test_table_is_complete_and_every_step_has_a_level(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    names = {row["name"] for row in table["derivations"]}
    for number in (*range(1, 3), 4, 5, 6, 7, 10, 15, 16, 17, 18):
        assert f"lemma-{number}" in names
    assert {
        "lemma-3a",
        "lemma-3b",
        "lemma-3c",
        "lemma-8a",
        "lemma-8b",
        "lemma-8c",
        "lemma-8d",
        "lemma-9-nuclear",
        "lemma-11a",
        "lemma-11b",
        "lemma-11c",
        "lemma-11d",
        "lemma-12a",
        "lemma-12b",
        "lemma-12c",
        "lemma-13a",
        "lemma-13b",
        "lemma-14a",
    } <= names
    assert {
        f"theorem-{t}"
        for t in (
            "a1",
            "a2",
            "b1",
            "b2",
            "c1-i",
            "c1-ii",
            "c1-vector",
            "c1-joint",
            "c2",
            "c3",
            "d",
            "e",
            "e-single",
            "e-split",
            "p",
        )
    } <= names
    assert {f"proposition-n{k}" for k in range(8)} | {"proposition-n6-prime"} <= names
    assert all(row["steps"] and row["tested"] and row["sources"] for row in table["derivations"])
    assert set(table["levels"]) <= {"coq", "kernel", "interval", "cited", "paper"}


def test_a_changed_constant_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = json.loads(json.dumps(library.load()))
    lemma = next(d for d in changed if d["name"] == "lemma-3c")
    lemma["conclusion"]["claim"] = lemma["conclusion"]["claim"].replace("(mul 2 M)", "(mul 1 M)")
    monkeypatch.setattr(library, "load", lambda: tuple(changed))
    assert main(["check"]) == 1
    assert "REFUSED: lemma-3c" in capsys.readouterr().out


def test_a_dropped_level_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = library.stored

    def raised(name: str) -> Any:
        record = real(name)
        if name == "levels":
            record["lemma-8b"]["level"] = "coq"
        return record

    monkeypatch.setattr(library, "stored", raised)
    assert main(["check"]) == 1
    assert "LEVEL DROPPED: lemma-8b: coq before, paper now" in capsys.readouterr().out


def test_show_gives_constants_shares_and_the_loosest_part(capsys: pytest.CaptureFixture[str]) -> None:
    at = "m=50000,delta=0.05,L=1,omega=2,sum_sq_scores=50000"
    assert main(["check", "--show", "C1-vector", "--at", at, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["loosest"] == "complexity"
    assert [part["name"] for part in record["parts"]] == ["complexity", "confidence"]
    assert {c["from"] for c in record["constants"]} >= {"Lemma 1", "Lemma 3(c)", "Lemma 7"}
    assert 0.0288 < float(record["value"]["upper"]) < 0.0289


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--show", "no-such-theorem"],
        ["check", "--show", "D", "--at", "m=10"],
        ["check", "--show", "D", "--at", "phlogiston=1"],
        ["check", "--at", "m=10"],
        ["check", "--coq", "no-such-report.json"],
        ["check", "no-such-claim.toml"],
    ],
)
def test_bad_input_is_exit_code_2(arguments: list[str]) -> None:
    assert main(arguments) == 2


def test_show_a_lemma(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--show", "lemma-7-step"]) == 0
    assert "Why may the modulus be dropped?" in capsys.readouterr().out
