"""Certificates and samples that are written to confuse the second checker: read in two ways, decided by
rounding, hidden behind huge numbers. Each is refused with its place, none ends in a traceback."""

from __future__ import annotations

import io
import json
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certify.bounds.risk.run import Plan, run_risk
from certify.bounds.risk.samples import Sample
from certify.verify import counting, noise, risk, sample
from certify.verify.certificate import Refused, Unreadable, read_certificate
from certify.verify.codeword import read_payload
from certify.verify.command import main

Arrays = dict[str, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates of a small sample of features."""
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 2, 600)
    x = generator.standard_normal((600, 4)) + 1.2 * (2 * labels[:, None] - 1)
    out = tmp_path_factory.mktemp("certificates")
    run_risk(Sample(x.astype(np.float32), labels, 4), out, Plan(effort=0.1, levels=(1,), norms=False))
    return out


# -- the sample --------------------------------------------------------------------------------------


def features() -> Arrays:
    return {"features": np.ones((5, 3), dtype=np.float32), "labels": np.array([0, 1, 0, 1, 1])}


def tokens() -> Arrays:
    inputs = np.array([[[0], [1]], [[2], [-1]], [[1], [1]]], dtype=np.int16)
    return {"tokens": inputs, "labels": np.array([0, 1, 1]), "dimension": np.array(3)}


def changed(arrays: Arrays, **other: Any) -> Arrays:
    return {**arrays, **other}


def token(value: Any) -> Arrays:
    arrays = tokens()
    arrays["tokens"] = arrays["tokens"].astype(np.asarray(value).dtype)
    arrays["tokens"][0, 0, 0] = value
    return arrays


SAMPLES: dict[str, tuple[Arrays, str]] = {
    "labels with a fraction": (changed(features(), labels=np.array([0, 1, 0, 1, 0.9])), "labels"),
    "a label below 0": (changed(features(), labels=np.array([0, 1, 0, 1, -1])), "labels"),
    "labels as text": (changed(features(), labels=np.array(list("01011"))), "labels"),
    "labels that overflow": (
        changed(features(), labels=np.array([2**64 - 1] * 5, dtype=np.uint64)),
        "labels",
    ),
    "objects": (changed(features(), labels=np.array([0, 1, 0, 1, None])), "labels|allow_pickle|object"),
    "features of 64 bits": (changed(features(), features=np.ones((5, 3))), "float32"),
    "complex features": (changed(features(), features=np.ones((5, 3), dtype=np.complex64)), "float32"),
    "a feature that is NaN": (
        changed(features(), features=np.full((5, 3), np.nan, dtype=np.float32)),
        "not finite",
    ),
    "features of no width": (changed(features(), features=np.ones((5, 0), dtype=np.float32)), "shape"),
    "both kinds": ({**features(), **tokens()}, "tokens or features"),
    "no units": ({"features": np.ones((0, 3), dtype=np.float32), "labels": np.zeros(0, dtype=int)}, "labels"),
    "a token that 16 bits would wrap": (token(np.int64(65537)), "65537"),
    "the token before padding": (token(np.int16(-2)), "-2"),
    "a token that is no coordinate": (token(np.int16(3)), "to 3"),
    "a unit without a token": (changed(tokens(), tokens=np.full((3, 2, 1), -1, dtype=np.int16)), "no token"),
    "half a token": (
        changed(tokens(), tokens=np.array([[[0, -1]], [[1, 2]], [[0, 1]]], dtype=np.int16)),
        "some coordinates",
    ),
    "tokens of floats": (
        changed(tokens(), tokens=tokens()["tokens"].astype(np.float32)),
        "tokens of (type )?float",
    ),
    "a dimension that 16 bits would wrap": (changed(tokens(), dimension=np.array(40000)), "40000"),
    "a dimension of two numbers": (changed(tokens(), dimension=np.array([3, 3])), "dimension"),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_never_cast(name: str, tmp_path: Path) -> None:
    arrays, said = SAMPLES[name]
    np.savez(tmp_path / "sample.npz", **arrays)
    with pytest.raises(Unreadable, match=said):
        sample.read_sample(tmp_path / "sample.npz")


def test_good_samples_are_read(tmp_path: Path) -> None:
    for arrays, kind in ((features(), "features"), (tokens(), "tokens")):
        np.savez(tmp_path / "sample.npz", **arrays)
        assert sample.read_sample(tmp_path / "sample.npz")[0] == kind


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def test_an_array_that_stands_twice(tmp_path: Path) -> None:
    """One reader takes the first, another the last."""
    path = tmp_path / "sample.npz"
    np.savez(path, **features())
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("labels.npy", npy(np.ones(5, dtype=np.int64)))
    with pytest.raises(Unreadable, match="twice"):
        sample.read_sample(path)


def test_an_archive_that_unpacks_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "sample.npz"
    np.savez_compressed(
        path, features=np.zeros((50000, 30), dtype=np.float32), labels=np.zeros(50000, dtype=int)
    )
    assert path.stat().st_size < 50_000
    monkeypatch.setattr(sample, "MAX_BYTES", 1_000_000)
    with pytest.raises(Unreadable, match="larger than"):
        sample.read_sample(path)


@pytest.mark.parametrize("damage", ["cut", "header", "garbage", "checksum", "shape"])
def test_damaged_archives(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "sample.npz"
    np.savez(path, **features())
    data = bytearray(path.read_bytes())
    if damage == "cut":
        data = data[: len(data) // 2]
    elif damage == "header":
        data[data.index(b"\x93NUMPY") + 12] = 0
    elif damage == "garbage":
        data = bytearray(b"PK\x03\x04" + bytes(100))
    elif damage == "checksum":
        data[data.index(b"\x93NUMPY") + 130] ^= 1
    else:
        data = data.replace(b"(5, 3)", b"(9**9)")
    path.write_bytes(data)
    with pytest.raises(Unreadable):
        sample.read_sample(path)


# -- the file ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"claim"', '"theorem": "E", "claim"', "twice"),
        ('"claim"', '"x": NaN, "claim"', "NaN"),
        ('"claim"', '"x": 1e999, "claim"', "too large"),
        ('"claim"', f'"x": {"[" * 90000 + "]" * 90000}, "claim"', "nested"),
        ("{", "\ufeff{", "BOM"),
    ],
)
def test_files_that_two_readers_may_read_apart(
    old: str, new: str, said: str, folder: Path, tmp_path: Path
) -> None:
    text = (folder / "model.cert").read_text()
    assert old in text
    (tmp_path / "forged.cert").write_text(text.replace(old, new, 1))
    with pytest.raises(Unreadable, match=said):
        read_certificate(tmp_path / "forged.cert")


def forged(folder: Path, name: str, **changes: Any) -> Path:
    """A certificate with some members of its claim, model or family replaced."""
    certificate = json.loads((folder / name).read_text())
    for place, value in changes.items():
        part, _, member = place.partition("_of_")
        certificate[member][part] = value
    path = folder / "forged.cert"
    path.write_text(json.dumps(certificate))
    return path


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"bound_of_claim": "٠.٩"}, "claim.bound"),
        ({"bound_of_claim": " 0.9"}, "claim.bound"),
        ({"bound_of_claim": "0.9_9"}, "claim.bound"),
        ({"bound_of_claim": "1e-400000000"}, "claim.bound"),
        ({"bound_of_claim": "1/0"}, "claim.bound"),
        ({"bound_of_claim": 1}, "claim.bound"),
        ({"delta_of_claim": ["0.05"]}, "claim.delta"),
        ({"errors_of_claim": 10**30}, "claim.errors"),
        ({"m_of_claim": True}, "claim.m"),
        ({"first_unit_of_claim": -1}, "claim.first_unit"),
        ({"dimension_of_family": "4"}, "family.dimension"),
        ({"outputs_of_family": 10**12}, "family"),
        ({"bits_of_model": 1 << 25}, "model.bits"),
        ({"payload_of_model": "0 0"}, "model.payload"),
        ({"payload_of_model": "٠٠"}, "model.payload"),
        ({"payload_of_model": None}, "model"),
        ({"kind_of_family": ["linear-head"]}, "family"),
        ({"kind_of_family": "base-update"}, "family"),
        ({"kind_of_family": "pooler-update"}, "family"),
    ],
)
def test_confusing_members_are_refused(changes: dict[str, Any], place: str, folder: Path) -> None:
    with pytest.raises(Refused) as found:
        risk.verify(forged(folder, "model.cert", **changes), folder / "train.npz")
    assert str(found.value).startswith(place)


def test_a_theorem_that_is_no_text(folder: Path) -> None:
    certificate = json.loads((folder / "model.cert").read_text())
    (folder / "forged.cert").write_text(json.dumps({**certificate, "theorem": {"D": 1}}))
    with pytest.raises(Refused, match="theorem"):
        risk.verify(folder / "forged.cert", folder / "train.npz")


def test_a_message_does_not_steer_the_terminal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = forged(folder, "model.cert", risk_of_claim="\x1b[2J\rverified: risk <= 0")
    assert main([str(path), "--data", str(folder / "train.npz")]) == 1
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert "\r" not in said


def test_posterior_numbers_beyond_floats(folder: Path) -> None:
    """Means of 1e308 overflow every float product; nothing is decided by an infinity."""
    certificate = json.loads((folder / "drawn.cert").read_text())
    import base64

    huge = base64.b64encode(np.full(5, 1e308).astype("<f8").tobytes()).decode()
    certificate["model"]["posterior"]["means"] = [huge]
    (folder / "forged.cert").write_text(json.dumps(certificate))
    with pytest.raises(Refused, match="claim"):
        risk.verify(folder / "forged.cert", folder / "train.npz")


def test_too_many_draws_are_not_begun() -> None:
    with pytest.raises(Refused, match=r"claim\.passes"):
        risk._averaged(
            None, "tokens", None, np.zeros(10), 1, "", {"passes": 10**12, "errors": 0}, Fraction(1, 20)
        )


@pytest.mark.parametrize("payload", ["0", "zz", "0x00", "AB"])
def test_payloads_have_one_spelling(payload: str) -> None:
    with pytest.raises(Refused, match=r"model\.payload"):
        read_payload(payload, 8)


# -- errors hidden by rounding -----------------------------------------------------------------------


def test_terms_below_every_float_still_decide() -> None:
    """Only exp(-800) and exp(-1600) have a value: cut off at exp(-700) their signs would be exchanged."""
    scores = np.array([[0, -800, -1600]]), Fraction(1)
    unit = np.array([[[0], [1], [2]]], dtype=np.int16)
    for values, wrong in (([[0], [-1], [2]], 1), ([[0], [1], [-2]], 1)):
        # The second margin is positive, by exp(-800): not shown with 60 digits, so it counts as an error.
        head = np.array(values), Fraction(1)
        assert counting.softmax_errors(scores, head, unit, np.array([1])) == wrong


def test_an_unused_score_does_not_hide_errors() -> None:
    """Its size makes every float margin undecided; undecided was not an error once."""
    labels = np.array([1, 0, 1, 0])
    unit = np.zeros((4, 1, 3), dtype=np.int16)
    unit[:, 0, 1:] = 1, 2
    w = np.tile([0.0, 0.0, 0.0, 1e15], (4, 1))
    v = np.tile([-1.0, 0.25, 0.25, 0.0], (4, 1))
    assert noise.softmax_errors_of(w, v, unit, labels) == 2
    assert noise.softmax_errors_of(w * np.array([1, 1, 1, 1e-15]), v, unit, labels) == 2


@pytest.mark.parametrize("scale", [1e-200, 1e-300, 1e160])
def test_errors_of_noise_do_not_depend_on_its_scale(scale: float) -> None:
    """Squares of 1e-200 are 0 in floats: every margin would be 0, undecided, and once no error."""
    generator = np.random.default_rng(1)
    x, labels = generator.standard_normal((40, 3)).astype(np.float32), generator.integers(0, 3, 40)
    mean, deviation = generator.standard_normal(12), np.exp(generator.standard_normal(12))
    found = [
        noise.linear_draw_errors(([mean * s], [deviation * s]), x, labels, 3, 2, 7) for s in (1.0, scale)
    ]
    assert found[0] == found[1] > 0


def test_errors_of_a_drawn_head_do_not_depend_on_its_scale() -> None:
    generator = np.random.default_rng(2)
    x, labels = generator.standard_normal((40, 3)).astype(np.float32), generator.integers(0, 3, 40)
    weight = generator.standard_normal((4, 3))
    errors = noise.linear_errors_of(weight, x, labels)
    assert errors > 0
    for scale in (2.0**-1000, 2.0**1000):
        assert noise.linear_errors_of(weight * scale, x, labels) == errors


def test_equal_logits_are_errors() -> None:
    x = np.ones((3, 2), dtype=np.float32)
    assert noise.linear_errors_of(np.zeros((3, 2)), x, np.array([0, 1, 0])) == 3
    assert noise.linear_errors_of(np.zeros((3, 1)), x, np.array([0, 1, 0])) == 3
