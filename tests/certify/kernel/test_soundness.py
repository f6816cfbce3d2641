"""Nothing the kernel certifies may miss the truth, whatever matrix, factors and legal product it gets."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certify.kernel.entropy import entropy
from certify.kernel.scaling import scale
from tests import directed, strategies, sweep, truth
from tests.soundness import Effort, Ledger, Subject, attack, check_matrix, flushing, products_for

CLAIMS = (
    "default spectrum",
    "tight spectrum",
    "cheap spectrum",
    "gram spectrum",
    "frobenius norm",
    "spectral norm",
    "nuclear norm",
    "schatten-4 norm squared",
    "collatz-wielandt",
    "gram norm",
    "stable",
    "participation",
    "entropy from default",
    "gram-entropy from tight",
    "nuclear from cheap",
    "numerical rank",
    "energy rank",
)


def assert_sound(ledger: Ledger) -> None:
    assert not ledger.violations, "\n".join(ledger.violations[:5])


def test_random_matrices_with_hostile_factors_and_products() -> None:
    ledger = attack(seed=20, count=60)
    assert_sound(ledger)
    assert all(ledger.counts[claim] > 10 for claim in CLAIMS), ledger.counts


def test_random_matrices_under_flush_to_zero() -> None:
    ledger = attack(seed=21, count=40, effort=Effort(3, 3, 0.3), flush=True)
    assert_sound(ledger)
    assert ledger.counts["default spectrum"] > 40


@pytest.mark.parametrize("kind", list(strategies.MATRICES))
def test_each_kind_of_matrix(kind: str) -> None:
    rng = np.random.default_rng(len(kind))
    ledger = Ledger()
    for _ in range(2):
        _, A = strategies.matrix(rng, kind)
        check_matrix(ledger, Subject.of(A, kind), rng, Effort(2, 2, 0.5))
    assert_sound(ledger)
    assert ledger.counts["frobenius norm"] == 2


@settings(max_examples=40)
@given(A=strategies.small_matrices(), seed=st.integers(0, 2**32 - 1), flush=st.booleans())
def test_any_small_matrix(A: np.ndarray, seed: int, flush: bool) -> None:
    rng = np.random.default_rng(seed)
    ledger = Ledger()
    sigma = truth.exact_singular_values(A)
    with flushing(flush):
        subject = Subject(A, scale(A), sigma, "hypothesis")
        with strategies.product_replaced(products_for(rng, subject.scaled.X)[seed % 5]):
            check_matrix(ledger, subject, rng, Effort(1, 1, 0.3))
    assert_sound(ledger)


@pytest.mark.parametrize("case", directed.CASES, ids=lambda case: case.__name__)
def test_directed_attack(case: object) -> None:
    ledger = Ledger()
    case(ledger, np.random.default_rng(7))  # type: ignore[operator]
    assert_sound(ledger)
    assert sum(ledger.counts.values()) > 0


@pytest.mark.parametrize("k", [2, 3, 4])
def test_exact_hadamard_spectra(k: int) -> None:
    ledger = Ledger()
    directed.hadamard_spectra(ledger, np.random.default_rng(k), k)
    assert_sound(ledger)
    assert ledger.counts["hadamard default"] == 1


@pytest.mark.parametrize("shape", [(1, 7), (7, 1), (1, 1), (2, 40), (40, 2)])
def test_thin_shapes(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(5)
    ledger = Ledger()
    check_matrix(ledger, Subject.of(rng.standard_normal(shape), str(shape)), rng, Effort(3, 3, 0.5))
    assert_sound(ledger)


@pytest.mark.long
def test_thousands_of_matrices() -> None:
    for seed in range(100, 110):
        assert_sound(attack(seed, 200, flush=bool(seed % 2)))
    rng = np.random.default_rng(0)
    ledger = Ledger()
    directed.hadamard_spectra(ledger, rng, 5)
    for seed in range(10):
        assert_sound(directed.run_all(seed))
    assert_sound(ledger)


def test_the_mean_value_form_at_the_midpoint_is_false_and_ours_is_not() -> None:
    """sigma = (1, s), s in [0.05, 0.15]: the tempting form misses the truth at both ends."""
    low, high = entropy(np.array([1.0, 0.05]), np.array([1.0, 0.15]))
    ends = [truth.renyi([truth.arb(1), truth.arb(s)], Fraction(1), 1).log() for s in (0.05, 0.15)]
    assert all(truth.meets(H, low, high) for H in ends)
    false_low, false_high = 0.2095, 0.3998
    assert ends[0] < false_low
    assert ends[1] < false_high - 0.01
    assert float(high) - float(low) < 0.21


def test_the_sweep_resumes_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "CHUNK", 4)
    state = tmp_path / "state.json"
    first = sweep.sweep(8, state, seconds=1e9)
    assert json.loads(state.read_text())["matrices"] == 8
    again = sweep.sweep(12, state, seconds=1e9)
    assert json.loads(state.read_text())["chunks"] == 3
    assert sum(again.counts.values()) > sum(first.counts.values()) > 0
    assert not again.violations
