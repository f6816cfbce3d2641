"""Ten digits: theorem D and the test set for more than two classes, and the certificate's second check."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from certify import cli
from certify.bounds.risk.heads import LinearHead
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
    record = json.loads(capsys.readouterr().out)
    found = {(b["theorem"], b["subject"]): float(b["value"]["upper"]) for b in record["bounds"]}
    assert found["D", "compressed head"] < 0.9  # guessing errs on nine of ten
    assert found["test-set", "trained head"] < 0.2
    assert cli.main(["verify", str(out / "model.cert"), "--data", str(out / "train.npz")]) == 0
    document = json.loads((out / "model.cert").read_text())
    document["claim"]["errors"] -= 1
    (out / "forged.cert").write_text(json.dumps(document))
    with pytest.raises(verify_risk.Refused, match=r"claim\.errors"):
        verify_risk.verify(out / "forged.cert", out / "train.npz")


def test_a_head_with_too_few_outputs_is_refused(digits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(digits / "small.npz", weight=np.zeros((3, 64)), bias=np.zeros(3))
    arguments = ["report", str(digits / "small.npz"), "--train", str(digits / "train.npz"), "--quiet"]
    assert cli.main([*arguments, "--out", str(digits / "o")]) == 2
    assert "10 classes" in capsys.readouterr().err


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
    with pytest.raises(DataError, match="mixed"):
        classes_of(["a", 1], tmp_path)
    with pytest.raises(DataError, match="no such file"):
        read_task("x", tmp_path / "nowhere.npz", None, None, lambda text: None)
