"""Forged risk sections, with every digest made right again: the second checker names the place."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from certify.cli import main
from certify.report.digest import sealed
from certify.verify.report import check
from certify.verify.risk_files import check_certificates

SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "docs/reference/report-schema.json").read_text())
Report = dict[str, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with its certificates: a linear head on two Gaussian classes."""
    place = tmp_path_factory.mktemp("risk-report")
    generator = np.random.default_rng(5)
    labels = generator.integers(0, 2, 400)
    x = generator.standard_normal((400, 4)) + 2.0 * (2 * labels[:, None] - 1) * np.array([1, 0, 0, 0])
    for name, rows in (("train", slice(0, 300)), ("test", slice(300, None))):
        np.savez(place / f"{name}.npz", features=x[rows].astype(np.float32), labels=labels[rows])
    np.savez(place / "head.npz", weight=np.array([[2.0, 0, 0, 0]]), bias=np.zeros(1))
    data = ["--train", str(place / "train.npz"), "--test", str(place / "test.npz")]
    code = main(["report", str(place / "head.npz"), *data, "--out", str(place / "out"), "--quiet"])
    assert code == 0
    return place


def read(folder: Path) -> Report:
    """The report, with the last two points of each curve only: each point costs a tenth of a second."""
    report: Report = json.loads((folder / "out" / "report.json").read_text())
    for curve in report["risk"]["curves"]:
        curve["points"] = curve["points"][-2:]
    return report


def bound(report: Report, theorem: str) -> Report:
    return next(b for b in report["risk"]["bounds"] if b["theorem"] == theorem and b["loss"] == "0-1")


def smaller(pair: dict[str, str]) -> dict[str, str]:
    value = str(float(pair["lower"]) / 2)
    return {"lower": value, "upper": value}


def hide_errors(r: Report) -> None:
    b = bound(r, "test-set")
    b["errors"] -= 1


def drop_iid(r: Report) -> None:
    b = bound(r, "D-binomial")
    b["hypotheses"] = [h for h in b["hypotheses"] if h["id"] != "iid"]


def iid_is_met(r: Report) -> None:
    next(h for h in bound(r, "D-binomial")["hypotheses"] if h["id"] == "iid")["status"] = "met"


def headline_pays_nothing(r: Report) -> None:
    chosen = r["risk"]["headline"]["bound"]
    r["risk"]["headline"]["bound"] = {
        **next(b for b in r["risk"]["bounds"] if all(b[k] == chosen[k] for k in ("theorem", "subject"))),
        "delta": chosen["delta"],
    }


def boast(r: Report) -> None:
    r["risk"]["sentence"] = "With 95 % confidence this classifier errs on at most 0.1 of 100 new units."


def surer(r: Report) -> None:
    r["risk"]["sentence"] = r["risk"]["sentence"].replace("With 95 %", "With 99 %")


def other_formula(r: Report) -> None:
    r["risk"]["formulas"]["D"] = r["risk"]["formulas"]["D"].replace("code_bits", "1")


def set_value(theorem: str) -> Callable[[Report], None]:
    def change(r: Report) -> None:
        bound(r, theorem)["value"] = smaller(bound(r, theorem)["value"])

    return change


def lower_minimum(r: Report) -> None:
    r["risk"]["minima"][0]["value"] = smaller(r["risk"]["minima"][0]["value"])


def lower_curve(r: Report) -> None:
    point = r["risk"]["curves"][0]["points"][0]
    point["value"] = str(float(point["value"]) / 2)


def nominal_is_a_bound(r: Report) -> None:
    r["risk"]["nominal"]["status"] = "valid"


def wrong_inputs(r: Report) -> None:
    b = bound(r, "E-single")
    b["inputs"]["m"] = {"lower": "6000", "upper": "6000"}


def bigger_delta(r: Report) -> None:
    b = bound(r, "E-single")
    b["inputs"]["delta"] = {"lower": "0.5", "upper": "0.5"}


FORGERIES: list[tuple[Callable[[Report], None], str]] = [
    (hide_errors, "k_errors"),
    (drop_iid, "hypotheses"),
    (iid_is_met, "iid cannot be met"),
    (headline_pays_nothing, "headline"),
    (boast, "risk.sentence"),
    (surer, "risk.sentence"),
    (other_formula, "risk.formulas.D"),
    (set_value("D-binomial"), "does not follow from errors, bits"),
    (set_value("E-single"), "recorded inputs"),
    (set_value("test-set"), "does not follow from errors"),
    (lower_minimum, "minima"),
    (lower_curve, "curves"),
    (nominal_is_a_bound, "sqrt(R/m)"),
    (wrong_inputs, "number of units"),
    (bigger_delta, "more than delta"),
]


def test_the_true_report_is_accepted(folder: Path) -> None:
    report = read(folder)
    jsonschema.Draft202012Validator(SCHEMA).validate(report)
    assert [str(p) for p in check(sealed(report))] == []
    problems, sentence = check_certificates(report["risk"], folder / "out", lambda text: None)
    assert not problems
    count = len(report["risk"]["certificates"])
    assert count == 5
    assert f"{count} of {count} certificates derived again" in sentence


@pytest.mark.parametrize(("forge", "place"), FORGERIES, ids=lambda x: getattr(x, "__name__", ""))
def test_a_forged_risk_section_is_refused(folder: Path, forge: Callable[[Report], None], place: str) -> None:
    report = copy.deepcopy(read(folder))
    forge(report)
    problems = [str(p) for p in check(sealed(report))]
    assert any(place in p for p in problems), problems


def test_another_certificate_beside_the_report_is_refused(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(folder / "out", out)
    shutil.copy(out / "split-drawn.cert", out / "drawn.cert")
    assert main(["verify", str(out / "report.json"), "--quiet"]) == 1


def test_a_certificate_that_says_more_than_the_report_is_refused(folder: Path) -> None:
    """Digest and file agree, and the certificate is true, but no bound of the report makes its claim."""
    risk = read(folder)["risk"]
    risk["bounds"] = [b for b in risk["bounds"] if b["theorem"] != "D-binomial"]
    problems, _ = check_certificates(risk, folder / "out", lambda text: None)
    assert any("model.cert: no bound of the report" in str(p) for p in problems)


def test_absent_certificates_are_named_not_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(folder / "out" / "report.json", tmp_path / "report.json")
    assert main(["verify", str(tmp_path / "report.json")]) == 0
    assert "not beside the report: model.cert" in capsys.readouterr().out


def test_a_certificate_outside_the_folder_is_not_read(folder: Path) -> None:
    risk = read(folder)["risk"]
    risk["certificates"][0]["file"] = "../head.npz"
    problems, _ = check_certificates(risk, folder / "out", lambda text: None)
    assert "outside" in str(problems[0])


def test_the_formulas_are_those_of_proofs() -> None:
    from hashlib import sha256

    from certify.verify.risk_theorems import RISK_BOUNDS
    from proofs.theorems import THEOREMS

    for name, known in RISK_BOUNDS.items():
        assert known.formula_sha256 == sha256(THEOREMS[name].prefix.encode()).hexdigest(), name
        assert known.gap == (THEOREMS[name].quantity == "gap"), name
        assert known.hypotheses == {h.id for h in THEOREMS[name].hypotheses}, name
