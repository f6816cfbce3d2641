"""Ten digits: every theorem for more than two classes, and the second check of every certificate."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from certify import cli
from certify.bounds.risk.heads import LinearHead
from certify.bounds.risk.run import Plan, run_risk
from certify.bounds.risk.samples import Sample
from certify.bounds.risk.tasks import linear_head, read_task
from certify.errors import DataError, ModelError
from certify.verify import risk as verify_risk


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("digits")
    features, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    x, y = (features[order] / 16).astype(np.float32), labels[order].astype(np.int64)
    np.savez(out / "train.npz", features=x[:1300], labels=y[:1300])
    np.savez(out / "test.npz", features=x[1300:], labels=y[1300:])
    means = np.stack([x[:1300][y[:1300] == c].mean(axis=0) for c in range(10)])
    np.savez(out / "head.npz", weight=8 * means, bias=-4 * (means**2).sum(axis=1))  # nearest class mean
    return out


def test_ten_classes_from_the_command_line(digits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = digits / "out"
    inputs = ["--train", str(digits / "train.npz"), "--test", str(digits / "test.npz")]
    assert (
        cli.main(["report", str(digits / "head.npz"), *inputs, "--out", str(out), "--json", "--quiet"]) == 0
    )
    record = json.loads(capsys.readouterr().out)["risk"]
    found = {(b["theorem"], b["subject"], b["loss"]): b for b in record["bounds"]}
    upper = {key: float(b["value"]["upper"]) for key, b in found.items()}
    assert upper["D-binomial", "compressed head", "0-1"] < 0.6  # guessing errs on nine of ten
    assert upper["E-monte-carlo", "noisy head (Gibbs)", "0-1"] < 0.9
    assert upper["E-single", "one drawn head", "0-1"] < 0.9
    assert upper["E-monte-carlo", "noisy head (Gibbs), prior from part 1", "0-1"] < 0.15
    assert upper["E-single", "one drawn head, prior from part 1", "0-1"] < 0.15
    assert upper["test-set", "trained head", "0-1"] < 0.2
    assert {"A1-peeled", "B2-peeled"} <= {theorem for theorem, _, _ in found}
    assert record["chance"] == "9/10"
    assert all(
        b["status"] == "valid" for b in found.values() if upper[b["theorem"], b["subject"], b["loss"]] < 0.9
    )
    for name in ("model", "gibbs", "drawn", "split-gibbs", "split-drawn"):
        assert cli.main(["verify", str(out / f"{name}.cert"), "--data", str(out / "train.npz")]) == 0
    document = json.loads((out / "model.cert").read_text())
    document["claim"]["errors"] -= 1
    (out / "forged.cert").write_text(json.dumps(document))
    with pytest.raises(verify_risk.Refused, match=r"claim\.errors"):
        verify_risk.verify(out / "forged.cert", out / "train.npz")


def test_a_head_with_too_few_outputs_is_refused(digits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(digits / "small.npz", weight=np.zeros((3, 64)), bias=np.zeros(3))
    arguments = ["report", str(digits / "small.npz"), "--train", str(digits / "train.npz"), "--quiet"]
    assert cli.main([*arguments, "--out", str(digits / "o")]) == 2
    assert "has 3 outputs; the sample holds features of 10 classes" in capsys.readouterr().err


def test_three_outputs_for_two_classes_keep_their_shape(tmp_path: Path) -> None:
    """A head with an output to spare: its own number of outputs counts, not the labels that occur."""
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 2, 300)
    x = (generator.standard_normal((300, 3)) + 2.0 * np.eye(3)[labels]).astype(np.float32)
    head = LinearHead(2.0 * np.eye(3), np.zeros(3))
    table, heads = run_risk(Sample(x, labels, 3), tmp_path, Plan(effort=0.1, levels=(1,)), trained=head)
    assert heads.family.outputs == 3
    assert {b.chance for b in table.bounds} == {Fraction(2, 3)}
    for path in sorted(tmp_path.glob("*.cert")):
        verify_risk.verify(path, tmp_path / "train.npz")


def test_three_classes_of_tokens_are_refused(tmp_path: Path) -> None:
    tokens = np.zeros((6, 1, 1), dtype=np.int16)
    with pytest.raises(DataError, match="3 classes need features"):
        run_risk(Sample(tokens, np.arange(6) % 3, 2), tmp_path, Plan())


def test_two_logits_become_one_output() -> None:
    head = linear_head(np.array([[1.0, 2.0], [4.0, 1.0]]), np.array([0.5, 1.5]), "here")
    assert isinstance(head, LinearHead)
    assert head.weight.tolist() == [[3.0], [-1.0]]
    assert head.bias.tolist() == [1.0]
    with pytest.raises(ModelError, match="101 outputs"):
        linear_head(np.zeros((101, 2)), None, "here")


def test_labels_are_numbered_in_order(tmp_path: Path) -> None:
    from certify.bounds.risk.tasks import class_numbers, classes_of

    classes = classes_of(["b", "a", "c", "a"], tmp_path)
    assert class_numbers(["b", "a", "c"], classes, tmp_path).tolist() == [1, 0, 2]
    with pytest.raises(DataError, match="'z'"):
        class_numbers(["z"], classes, tmp_path)
    with pytest.raises(DataError, match="found int, str"):
        classes_of(["a", 1], tmp_path)
    with pytest.raises(DataError, match="no such file"):
        read_task("x", tmp_path / "nowhere.npz", None, None, lambda text: None)
