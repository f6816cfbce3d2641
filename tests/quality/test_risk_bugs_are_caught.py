"""Bugs planted in the maker of risk certificates: the maker itself or the second checker must stop each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from certify.bounds.risk import classical, heads, noise, norm_bounds, occam, pac_bayes, ramp, readout_bounds
from certify.bounds.risk.entries import exact
from certify.bounds.risk.run import Plan, run_risk
from certify.bounds.risk.samples import Sample
from certify.codec import arithmetic
from certify.errors import CertifyError
from certify.verify import risk as verify_risk
from tests.certify.risk import test_norms

Plant = Callable[[pytest.MonkeyPatch], None]


def sample() -> Sample:
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 2, 500)
    x = generator.standard_normal((500, 4)) + 0.8 * (2 * labels[:, None] - 1)
    return Sample(x.astype(np.float32), labels, 4)


def three_classes() -> Sample:
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 3, 500)
    x = generator.standard_normal((500, 3)) + 1.5 * np.eye(3)[labels]
    return Sample(x.astype(np.float32), labels, 3)


def make_and_check(out: Path, units: Sample | None = None) -> list[str]:
    """Names of the certificates that the second checker refuses."""
    run_risk(units or sample(), out, Plan(effort=0.1, levels=(1,), norms=False))
    refused = []
    for path in sorted(out.glob("*.cert")):
        try:
            verify_risk.verify(path, out / "train.npz")
        except verify_risk.Refused:
            refused.append(path.name)
    return refused


def hide_errors(patch: pytest.MonkeyPatch) -> None:
    real = heads.Margins.errors
    patch.setattr(heads.Margins, "errors", lambda self: max(0, real(self) - 1))


def free_grid(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(noise.Prior, "cost", lambda self: exact(0))


def half_entropy(patch: pytest.MonkeyPatch) -> None:
    real = pac_bayes.relative_entropy
    patch.setattr(pac_bayes, "relative_entropy", lambda q, prior: real(q, prior) / 2)


def small_log_ratio(patch: pytest.MonkeyPatch) -> None:
    real = pac_bayes.log_ratio
    patch.setattr(pac_bayes, "log_ratio", lambda q, prior, drawn: real(q, prior, drawn) - 1)


def small_noise_risk(patch: pytest.MonkeyPatch) -> None:
    real = pac_bayes.linear_gibbs_risk
    patch.setattr(pac_bayes, "linear_gibbs_risk", lambda q, units: real(q, units) * exact("0.99"))


def tighter_tail(patch: pytest.MonkeyPatch) -> None:
    real = occam.value_of
    patch.setattr(occam, "value_of", lambda name, inputs: real(name, inputs) * exact("0.999"))


def stolen_bit(patch: pytest.MonkeyPatch) -> None:
    real = arithmetic.Encoder.codeword

    def shorter(self: arithmetic.Encoder) -> arithmetic.Codeword:
        word = real(self)
        return arithmetic.Codeword(word.number >> 1, word.length - 1)

    patch.setattr(arithmetic.Encoder, "codeword", shorter)


def improper_law(patch: pytest.MonkeyPatch) -> None:
    def share(self: arithmetic.AdaptiveLaw, value: int) -> tuple[int, int, int]:
        return (
            sum(self.counts[:value]),
            self.counts[value],
            max(1, self.total - 1),
        )  # shares that add up to more than 1

    patch.setattr(arithmetic.AdaptiveLaw, "share", share)


@pytest.mark.parametrize(
    ("plant", "caught"),
    [
        (hide_errors, {"model.cert", "drawn.cert", "split-drawn.cert"}),
        (free_grid, {"gibbs.cert", "drawn.cert"}),
        (half_entropy, {"gibbs.cert"}),
        (small_log_ratio, {"drawn.cert", "split-drawn.cert"}),
        (small_noise_risk, {"gibbs.cert", "split-gibbs.cert"}),
        (tighter_tail, {"model.cert"}),
    ],
)
def test_the_second_checker_refuses(
    plant: Plant, caught: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert caught <= set(make_and_check(tmp_path))


def fewer_draw_errors(patch: pytest.MonkeyPatch) -> None:
    real = pac_bayes.draw_errors
    patch.setattr(pac_bayes, "draw_errors", lambda *given: real(*given) - 1)


def narrow_logits(patch: pytest.MonkeyPatch) -> None:
    real = pac_bayes._LinearNoise.__init__

    def narrow(self: pac_bayes._LinearNoise, *given: object) -> None:
        real(self, *given)  # type: ignore[arg-type]
        self.deviation = self.deviation / 2

    patch.setattr(pac_bayes._LinearNoise, "__init__", narrow)


def own_seed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pac_bayes, "seed_of", lambda *given: 1)  # draws of one's own choice


def forgotten_class(patch: pytest.MonkeyPatch) -> None:
    """The last class never wins: fewer errors on the others."""
    real = heads.margin_of

    def without(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
        logits = logits.copy()
        logits[labels != logits.shape[1] - 1, -1] = -np.inf
        return real(logits, labels)

    patch.setattr(heads, "margin_of", without)


@pytest.mark.parametrize(
    ("plant", "caught"),
    [
        (hide_errors, {"model.cert", "gibbs.cert", "drawn.cert", "split-gibbs.cert", "split-drawn.cert"}),
        (half_entropy, {"gibbs.cert"}),
        (fewer_draw_errors, {"gibbs.cert", "split-gibbs.cert"}),
        (narrow_logits, {"gibbs.cert"}),
        (own_seed, {"gibbs.cert"}),
        (forgotten_class, {"model.cert", "drawn.cert", "split-drawn.cert"}),
        (small_log_ratio, {"drawn.cert", "split-drawn.cert"}),
    ],
)
def test_the_second_checker_refuses_with_three_classes(
    plant: Plant, caught: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert caught <= set(make_and_check(tmp_path, three_classes()))


def uncentred(patch: pytest.MonkeyPatch) -> None:
    def squares(tokens: np.ndarray, dimension: int) -> np.ndarray:
        return np.asarray(tokens.shape[2] * (tokens[:, :, 0] >= 0).sum(axis=1), dtype=float)

    patch.setattr(norm_bounds, "_centred_squares", squares)


def half_range(patch: pytest.MonkeyPatch) -> None:
    real = norm_bounds.token_sums
    patch.setattr(norm_bounds, "token_sums", lambda table, tokens: real(table, tokens) / 2)


def small_moment(patch: pytest.MonkeyPatch) -> None:
    real = readout_bounds.spectral_norm
    patch.setattr(readout_bounds, "spectral_norm", lambda *a, **k: real(*a, **k) * exact("0.999"))


def forgotten_gap(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ramp, "value_of", lambda name, inputs: inputs["emp_risk"])


def free_widths(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(classical, "share", lambda width: 1)


def free_norms(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(classical, "weight", lambda index: 1)


@pytest.mark.parametrize(
    ("plant", "check"),
    [
        (uncentred, lambda: test_norms.test_the_sum_of_scores_is_contained(0)),
        (half_range, lambda: test_norms.test_the_sum_of_scores_is_contained(0)),
        (small_moment, lambda: test_norms.test_the_largest_moment_is_contained(0)),
        (forgotten_gap, test_norms.test_readout_bounds_hold_on_fresh_samples_and_forgetting_the_gap_does_not),
        (free_widths, lambda: test_norms.test_classical_numbers_follow_their_formulas(classical.PAC_BAYES)),
        (free_norms, lambda: test_norms.test_classical_numbers_follow_their_formulas(classical.SPECTRAL)),
        (free_norms, lambda: test_norms.test_classical_numbers_follow_their_formulas(classical.DEPTH)),
    ],
)
def test_the_tests_of_norms_find(
    plant: Plant, check: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    check()
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        check()


@pytest.mark.parametrize("plant", [stolen_bit, improper_law])
def test_a_broken_code_does_not_get_past_its_own_decoder(
    plant: Plant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    with pytest.raises(CertifyError):
        make_and_check(tmp_path)


@pytest.mark.parametrize("units", [sample, three_classes])
def test_without_a_bug_nothing_is_refused(tmp_path: Path, units: Callable[[], Sample]) -> None:
    assert make_and_check(tmp_path, units()) == []
