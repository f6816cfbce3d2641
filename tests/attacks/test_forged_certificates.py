"""Certificates that claim more than they prove are refused by the independent checker, each for its
reason."""

from __future__ import annotations

import base64
import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certify.bounds.risk.run import Plan, run_risk
from certify.bounds.risk.samples import Sample
from certify.verify import risk as verify_risk
from certify.verify.certificate import Refused, Unreadable

Forgery = Callable[[dict[str, Any]], None]


def features(n: int, seed: int) -> Sample:
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 2, n)
    x = generator.standard_normal((n, 6)) + 1.5 * (2 * labels[:, None] - 1) * np.array([1, 1, 0, 0, 0, -1])
    return Sample(x.astype(np.float32), labels, 6)


def classes(n: int, seed: int) -> Sample:
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 3, n)
    x = generator.standard_normal((n, 4)) + 2.0 * np.eye(3, 4)[labels]
    return Sample(x.astype(np.float32), labels, 4)


def tokens(n: int, seed: int) -> Sample:
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 2, n)
    first = generator.integers(0, 4, (n, 3)) + 4 * (generator.random((n, 3)) < 0.15 + 0.7 * labels[:, None])
    inputs = np.stack([first, np.full_like(first, 8)], axis=2).astype(np.int16)
    return Sample(inputs, labels, 9)


SAMPLES = {"features": features, "classes": classes, "tokens": tokens}


@pytest.fixture(scope="module", params=list(SAMPLES))
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp(request.param)
    run_risk(SAMPLES[request.param](1500, 0), out, Plan(passes=2, effort=0.2, levels=(1,), norms=False))
    return out


CERTIFICATES = ("model.cert", "gibbs.cert", "drawn.cert", "split-gibbs.cert", "split-drawn.cert")


def outcome(folder: Path, certificate: dict[str, Any], data: str = "train.npz") -> tuple[int, str]:
    """(exit code, what was said) of the checker in another process."""
    path = folder / "forged.cert"
    path.write_text(json.dumps(certificate))
    command = [sys.executable, "-m", "certify.verify", str(path), "--data", str(folder / data)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def refusal(folder: Path, certificate: dict[str, Any], data: str = "train.npz") -> str:
    """Why the checker refuses; fails if it does not."""
    path = folder / "forged.cert"
    path.write_text(json.dumps(certificate))
    with pytest.raises(Refused) as found:
        verify_risk.verify(path, folder / data)
    return str(found.value)


def read(folder: Path, name: str) -> dict[str, Any]:
    return dict(json.loads((folder / name).read_text()))


@pytest.mark.parametrize("name", CERTIFICATES)
def test_honest_certificates_are_accepted_in_another_process(folder: Path, name: str) -> None:
    code, said = outcome(folder, read(folder, name))
    assert code == 0, said
    assert said.startswith("verified: risk <= ")


def test_a_refusal_has_exit_code_1_and_rubbish_2(folder: Path) -> None:
    certificate = read(folder, "model.cert")
    certificate["claim"]["errors"] -= 1
    assert outcome(folder, certificate)[0] == 1
    assert outcome(folder, {"format": "something else"})[0] == 2


def shrink(field: str) -> Forgery:
    def forge(c: dict[str, Any]) -> None:
        c["claim"][field] = str(float(c["claim"][field]) * 0.999)

    return forge


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_smaller_bound_is_refused(folder: Path, name: str) -> None:
    certificate = read(folder, name)
    shrink("bound")(certificate)
    assert "claim.bound" in refusal(folder, certificate)


@pytest.mark.parametrize("name", CERTIFICATES)
def test_another_delta_is_refused(folder: Path, name: str) -> None:
    certificate = read(folder, name)
    certificate["claim"]["delta"] = "1/100"
    assert "does not follow" in refusal(folder, certificate)


@pytest.mark.parametrize("name", ["model.cert", "drawn.cert", "split-drawn.cert"])
def test_a_hidden_error_is_refused(folder: Path, name: str) -> None:
    certificate = read(folder, name)
    certificate["claim"]["errors"] -= 1
    assert "claim.errors" in refusal(folder, certificate)


def test_one_bit_fewer_is_refused(folder: Path) -> None:
    certificate = read(folder, "model.cert")
    model, bits = certificate["model"], certificate["model"]["bits"]
    claimed = copy.deepcopy(certificate)
    claimed["model"]["bits"] = bits - 1
    assert refusal(folder, claimed)
    size = (bits - 1 + 7) // 8
    number = int(model["payload"], 16) >> (
        8 * ((bits + 7) // 8) - bits + 1
    )  # the payload cut by its last bit
    model["payload"] = (number << (8 * size - bits + 1)).to_bytes(size, "big").hex()
    model["bits"] = bits - 1
    assert refusal(folder, certificate)


def test_more_bits_hidden_behind_the_claimed_ones_are_refused(folder: Path) -> None:
    certificate = read(folder, "model.cert")
    certificate["model"]["payload"] += "01"
    assert "model.bits" in refusal(folder, certificate)


@pytest.mark.parametrize("name", CERTIFICATES)
@pytest.mark.parametrize("change", ["reordered", "one label", "one input", "one unit fewer"])
def test_other_data_are_refused(folder: Path, name: str, change: str) -> None:
    with np.load(folder / "train.npz") as file:
        arrays = {key: file[key].copy() for key in file.files}
    kind = "features" if "features" in arrays else "tokens"
    rows = np.arange(len(arrays["labels"]))
    if change == "reordered":
        rows[[0, 1]] = rows[[1, 0]]
    elif change == "one label":
        arrays["labels"][7] = 1 - arrays["labels"][7]
    elif change == "one input":
        arrays[kind][3] = arrays[kind][4]
    else:
        rows = rows[:-1]
    arrays[kind], arrays["labels"] = arrays[kind][rows], arrays["labels"][rows]
    np.savez(folder / "other.npz", **arrays)
    assert "data_sha256" in refusal(folder, read(folder, name), "other.npz")


def other_payload(c: dict[str, Any]) -> None:
    data = bytearray.fromhex(c["model"]["payload"])
    data[1] ^= 0x10
    c["model"]["payload"] = data.hex()


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        (lambda c: c["claim"].update(m=c["claim"]["m"] + 1), "claim.m"),
        (lambda c: c["claim"].update(m=float(c["claim"]["m"])), "claim.m"),
        (lambda c: c["claim"].update(first_unit=10), "claim"),
        (lambda c: c["claim"].update(bound="nan"), "claim.bound"),
        (lambda c: c["claim"].update(bound="-0.1"), "claim.bound"),
        (lambda c: c["claim"].update(delta="2"), "claim.delta"),
        (lambda c: c["claim"].update(errors=-1), "claim.errors"),
        (lambda c: c["claim"].update(risk="mean squared"), "claim.risk"),
        (lambda c: c["family"].update(dimension=c["family"]["dimension"] + 1), "family"),
        (lambda c: c["family"].update(outputs=0), "family.outputs"),
        (lambda c: c["model"].update(payload="zz"), "model.payload"),
        (lambda c: c["model"].update(bits=True), "model.bits"),
        (lambda c: c.update(theorem="D+"), "theorem"),
        (lambda c: c.pop("claim"), "claim"),
    ],
)
def test_broken_fields_are_refused(folder: Path, forge: Forgery, message: str) -> None:
    certificate = read(folder, "model.cert")
    forge(certificate)
    assert message in refusal(folder, certificate)


def test_another_model_is_refused(folder: Path) -> None:
    certificate = read(folder, "model.cert")
    other_payload(certificate)
    assert refusal(folder, certificate)


def numbers(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype="<f8").copy()


def text_of(x: np.ndarray) -> str:
    return base64.b64encode(x.astype("<f8").tobytes()).decode()


def wider_prior(c: dict[str, Any]) -> None:
    c["model"]["prior_exponents"][0] += 40


def narrower_posterior(c: dict[str, Any]) -> None:
    c["model"]["posterior"]["deviations"][0] = text_of(
        numbers(c["model"]["posterior"]["deviations"][0]) * 1e-6
    )


def nan_mean(c: dict[str, Any]) -> None:
    c["model"]["posterior"]["means"][0] = text_of(numbers(c["model"]["posterior"]["means"][0]) * np.nan)


def negative_deviation(c: dict[str, Any]) -> None:
    c["model"]["posterior"]["deviations"][0] = text_of(-numbers(c["model"]["posterior"]["deviations"][0]))


def prior_is_the_posterior(c: dict[str, Any]) -> None:
    c["model"]["prior"] = copy.deepcopy(c["model"]["posterior"])  # learned on the whole sample


def fewer_entries(c: dict[str, Any]) -> None:
    c["model"]["posterior"]["means"][0] = text_of(numbers(c["model"]["posterior"]["means"][0])[1:])


def more_outputs(c: dict[str, Any]) -> None:
    c["family"]["outputs"] += 1


def one_output(c: dict[str, Any]) -> None:
    """Claim the certificate of a two-class head for what was counted on three classes."""
    c["family"]["outputs"] = 1 if c["family"]["outputs"] > 1 else 2


def more_passes(c: dict[str, Any]) -> None:
    c["claim"]["passes"] = 2 * c["claim"].get("passes", 1)  # the same errors among more draws
    c["claim"]["errors"] = c["claim"].get("errors", 0)


NOISE = [wider_prior, narrower_posterior, nan_mean, negative_deviation, prior_is_the_posterior, fewer_entries]


@pytest.mark.parametrize("name", ["gibbs.cert", "drawn.cert"])
@pytest.mark.parametrize("forge", [*NOISE, more_outputs, one_output])
def test_forged_noise_is_refused(folder: Path, name: str, forge: Forgery) -> None:
    certificate = read(folder, name)
    forge(certificate)
    assert refusal(folder, certificate)


def test_fewer_monte_carlo_errors_are_refused(folder: Path) -> None:
    certificate = read(folder, "gibbs.cert")
    if certificate["family"]["kind"] == "linear-head" and certificate["family"]["outputs"] == 1:
        assert "errors" not in certificate["claim"]  # one output needs no draws: its risk is exact
        return
    certificate["claim"]["errors"] -= 1
    assert "prescribed draws" in refusal(folder, certificate)


def test_more_passes_than_were_drawn_are_refused(folder: Path) -> None:
    certificate = read(folder, "gibbs.cert")
    if "passes" in certificate["claim"]:
        more_passes(certificate)
        assert "prescribed draws" in refusal(folder, certificate)


def test_a_learned_prior_from_elsewhere_is_refused(folder: Path) -> None:
    """The bound was computed for another prior: nats and bound no longer fit."""
    certificate = read(folder, "split-gibbs.cert")
    moved = numbers(certificate["model"]["prior"]["means"][0]) + 1.0
    certificate["model"]["prior"]["means"][0] = text_of(moved)
    assert "claim.bound" in refusal(folder, certificate)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"format": 1}'])
def test_files_that_are_no_certificates(folder: Path, content: bytes) -> None:
    path = folder / "rubbish.cert"
    path.write_bytes(content)
    with pytest.raises(Unreadable):
        verify_risk.verify(path, folder / "train.npz")


def test_a_sample_that_is_none(folder: Path) -> None:
    path = folder / "rubbish.npz"
    path.write_bytes(b"not an archive")
    with pytest.raises(Unreadable):
        verify_risk.verify(folder / "model.cert", path)
