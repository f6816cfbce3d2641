"""The whole run on a small word sample: statuses, prices of minima, certificates, pages."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import markupsafe
import numpy as np
import pytest

from certify import cli
from certify.bounds.risk.classical import parameter_counting
from certify.bounds.risk.entries import exact, judged, without_standing
from certify.bounds.risk.heads import LinearHead
from certify.bounds.risk.norm_bounds import covering, joint, margin_bound
from certify.bounds.risk.samples import Sample
from certify.bounds.risk.table import Truth, at_share
from certify.demos.words import Population, tokens_of
from certify.errors import DataError, NotCertified
from certify.report import risk

from .conftest import Run


def test_every_bound_lies_above_the_exact_risk_of_its_head(small_run: Run, words: Population) -> None:
    heads = small_run.heads.fixed()
    checked = 0
    for bound in small_run.table.bounds:
        if bound.loss == "0-1" and bound.subject in heads:
            margins = heads[bound.subject].margins(words.sample)
            truth = Fraction(margins.errors() - margins.undecided(), len(words.words))
            assert truth <= Fraction(bound.value.upper), bound.theorem
            checked += 1
    assert checked >= 6


def test_forms_of_theorem_d_are_ordered(small_run: Run) -> None:
    forms = next(b for b in small_run.table.bounds if b.theorem == "D-binomial").details["forms"]
    ends = [Fraction(forms[name]["upper"]) for name in ("binomial", "kl", "hoeffding")]
    assert ends[0] <= ends[1] <= ends[2]


def test_d_and_e_are_not_vacuous(small_run: Run) -> None:
    status = {(b.theorem, b.loss): b.status for b in small_run.table.bounds}
    assert (
        status["D-binomial", "0-1"] == status["E-single", "0-1"] == status["E-monte-carlo", "0-1"] == "valid"
    )


def test_paying_for_a_choice_makes_a_bound_larger(small_run: Run) -> None:
    for bound in (b for b in small_run.table.bounds if not b.violated):
        paid = at_share(bound, 6)
        assert paid.delta == bound.delta / 6
        if bound.value.upper < 1:
            assert paid.value.upper > bound.value.lower
            again = at_share(bound, 1)
            assert again.value.lower <= bound.value.upper
            assert bound.value.lower <= again.value.upper


def test_minima_stay_within_one_head_and_one_loss(small_run: Run) -> None:
    minima = small_run.table.minima()
    assert minima
    kinds = {(b.subject, b.loss) for b in small_run.table.bounds}
    for row in minima:
        assert (row["subject"], row["loss"]) in kinds
        assert Fraction(row["delta_each"]) * len(row["of"]) == small_run.table.delta


def test_the_headline_pays_for_all_candidates(small_run: Run) -> None:
    best = small_run.table.headline()
    assert best is not None
    bound, candidates = best
    assert bound.delta * candidates == small_run.table.delta
    assert f"delta {bound.delta}" in small_run.table.paragraph()


def test_violating_the_standing_hypothesis_hides_the_number(small_run: Run) -> None:
    why = "trained whole on this sample"
    bounds = [b for b in small_run.table.bounds if b.theorem != "test-set"]
    spoiled = [without_standing(b, why) for b in bounds]
    table = replace(small_run.table, bounds=spoiled)
    assert all(b.status == "not a bound" and b.record()["value"] is None for b in spoiled)
    assert table.headline() is None
    assert why in table.paragraph()
    assert table.record()["minima"] == []
    page = risk.section({**table.record(), "certificates": []})
    assert "not a bound" in page
    for bound in bounds:
        if bound.status == "valid":
            assert bound.record()["value"]["upper"] not in page


def test_a_hypothesis_that_nobody_judged_is_an_error() -> None:
    with pytest.raises(NotCertified, match="grid"):
        judged("A1-peeled", {"loss-lipschitz": ("met", "because")})


def test_norm_bounds_on_a_hand_made_head(words: Population) -> None:
    """The covering bound falls with m at fixed shares, and every norm bound is at least the empirical
    risk."""
    from certify.bounds.risk.heads import SoftmaxHead

    generator = np.random.default_rng(0)
    d = words.sample.dimension
    head = SoftmaxHead(generator.standard_normal(d), generator.standard_normal((d, 1)))
    small, large = words.draw(500, 0), words.draw(20_000, 0)
    for bound_of in (joint, covering, margin_bound):
        few, many = bound_of(head, small, Fraction(1, 20)), bound_of(head, large, Fraction(1, 20))
        assert few.value.upper >= head.margins(small).errors() / 500 - 1e-9
        assert many.value.lower <= few.value.upper + 0.05
        assert few.status in ("valid", "vacuous")


def test_parameter_counting_follows_its_formula() -> None:
    features = np.random.default_rng(0).standard_normal((400, 3)).astype(np.float32)
    sample = Sample(features, (features[:, 0] > 0).astype(np.int64), 3)
    head = LinearHead(np.array([[1.0], [0.0], [0.0]]), np.zeros(1))
    found = parameter_counting(head, sample, Fraction(1, 20))
    by_hand = math.sqrt(2 * 4 * (math.log(400 / 4) + 1) / 400) + math.sqrt(2 * math.log(20) / 400)
    assert abs(float(found["value"]["upper"]) - by_hand) < 1e-12
    assert parameter_counting(head, sample.part(slice(0, 2)), Fraction(1, 20))["value"] is None


def test_every_bound_is_in_the_section_of_the_page(small_run: Run) -> None:
    truth = {"compressed head": Truth("exact", Fraction(1, 10), Fraction(1, 10))}
    record = {**replace(small_run.table, truth=truth).record(), "certificates": []}
    page = risk.section(record)
    assert "http" not in page
    assert "not a valid bound" in page.lower()
    assert "0.10000" in page
    assert str(markupsafe.escape(record["sentence"])) in page
    for row in risk.rows(record):
        assert f"<b>{row['name']}</b>" in page
        assert f"<b>{row['shown']}</b>" in page


def test_printed_bounds_are_rounded_up(small_run: Run) -> None:
    for row in risk.rows(small_run.table.record()):
        if row["value"] is None:
            assert row["shown"] == "none"
        else:
            assert Fraction(row["shown"]) >= Fraction(row["value"]["upper"])


def test_tokens_are_what_the_map_says() -> None:
    tokens = tokens_of(["abc"])[0]
    assert tokens[:3].tolist() == [[38, 39, 79, 117], [0, 40, 80, 117], [1, 41, 116, 117]]
    assert (tokens[3:] == -1).all()
    with pytest.raises(DataError, match="'a!c'"):
        tokens_of(["a!c"])


def test_the_population_has_each_word_once(words: Population) -> None:
    assert len(set(words.words)) == len(words.words) == 40_000
    assert np.bincount(words.sample.labels).tolist() == [20_000, 20_000]


@pytest.fixture
def arrays(tmp_path: Path) -> Path:
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 2, 900)
    x = generator.standard_normal((900, 5)) + 2.0 * (2 * labels[:, None] - 1) * np.array([1, 0, 0, 0, 0])
    for name, rows in (("train", slice(0, 700)), ("test", slice(700, None))):
        np.savez(tmp_path / f"{name}.npz", features=x[rows].astype(np.float32), labels=labels[rows])
    np.savez(tmp_path / "head.npz", weight=np.array([[2.0, 0, 0, 0, 0]]), bias=np.zeros(1))
    return tmp_path


def test_report_and_verify_from_the_command_line(arrays: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = arrays / "out"
    inputs = ["--train", str(arrays / "train.npz"), "--test", str(arrays / "test.npz")]
    assert (
        cli.main(["report", str(arrays / "head.npz"), *inputs, "--out", str(out), "--json", "--quiet"]) == 0
    )
    report = json.loads(capsys.readouterr().out)
    assert {b["theorem"] for b in report["risk"]["bounds"]} >= {
        "D-binomial",
        "E",
        "E-single",
        "E-split",
        "A1-scalar-peeled",
        "B1-peeled",
        "test-set",
    }
    assert [m["name"] for m in report["matrices"]] == ["weight"], "the spectra of the same head"
    assert cli.main(["verify", str(out / "report.json"), "--model", str(arrays / "head.npz")]) == 0
    assert f"{len(report['risk']['certificates'])} certificates derived again" in capsys.readouterr().out
    check = ["verify", str(out / "model.cert"), "--data"]
    assert cli.main([*check, str(out / "train.npz")]) == 0
    assert cli.main([*check, str(arrays / "test.npz")]) == 1
    assert cli.main(check[:2]) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--train", "nowhere.npz"], "no such file"),
        (["--test", "test.npz"], "--test belongs to"),
        (["--train", "train.npz", "--base", "minilm"], "--base belongs to"),
        (["--train", "train.txt"], ".npz, or as .jsonl"),
        (["--train", "one-class.jsonl"], "1 classes found"),
        (["--train", "broken.jsonl"], "line 2"),
        (["--train", "mixed.jsonl"], "found int, str"),
        (["--train", "short.jsonl"], "3 units; at least 20"),
        (["--train", "cut.npz"], "cut.npz: not a readable .npz"),
        (["--train", "unequal.npz"], "unequal.npz: 900 inputs and 5 labels"),
        (["--train", "wide.npz"], "head.npz reads features of dimension 5"),
        (["--train", "constant.npz"], "every label is 0"),
        (["--train", "train.npz", "--test", "wide.npz"], "wide.npz holds features of dimension 6"),
        (["--train", "train.npz", "--test", "third.npz"], "the class 2 does not occur"),
    ],
)
def test_bad_input_is_named(
    arrays: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    (arrays / "train.txt").write_text("text")
    (arrays / "one-class.jsonl").write_text('{"text": "a", "label": "x"}\n' * 20)
    (arrays / "mixed.jsonl").write_text('{"text": "a", "label": "x"}\n{"text": "b", "label": 1}\n' * 10)
    (arrays / "short.jsonl").write_text('{"text": "a", "label": "x"}\n' * 3)
    (arrays / "cut.npz").write_bytes((arrays / "train.npz").read_bytes()[:200])
    features, labels = np.zeros((900, 5), dtype=np.float32), np.arange(900) % 2
    np.savez(arrays / "unequal.npz", features=features, labels=labels[:5])
    np.savez(arrays / "wide.npz", features=np.zeros((900, 6), dtype=np.float32), labels=labels)
    np.savez(arrays / "constant.npz", features=features, labels=np.zeros(900, dtype=np.int64))
    np.savez(arrays / "third.npz", features=features, labels=labels + labels)
    (arrays / "broken.jsonl").write_text('{"text": "a", "label": "x"}\n{"text": "b"}\n')
    named = [str(arrays / a) if "." in a else a for a in arguments]
    code = cli.main(["report", str(arrays / "head.npz"), *named, "--out", str(arrays / "out"), "--quiet"])
    assert code == 2
    assert message in capsys.readouterr().err


def test_texts_are_read_from_both_formats(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    from certify.bounds.risk.tasks import read_texts

    table = pyarrow.table({"text": ["a b", "c"], "label": [1, 0]})
    pyarrow.parquet.write_table(table, tmp_path / "data.parquet")
    (tmp_path / "data.jsonl").write_text('{"text": "a b", "label": 1}\n\n{"text": "c", "label": 0}\n')
    found = [read_texts(tmp_path / f"data.{suffix}") for suffix in ("parquet", "jsonl")]
    assert found[0] == found[1] == (["a b", "c"], [1, 0])
    pyarrow.parquet.write_table(pyarrow.table({"text": ["a"]}), tmp_path / "bare.parquet")
    with pytest.raises(DataError, match="'label'"):
        read_texts(tmp_path / "bare.parquet")


def test_exact_is_exact() -> None:
    assert exact(Fraction(1, 3)).contains(Fraction(1, 3))
