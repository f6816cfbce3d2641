"""Nothing the kernel certifies may miss the truth, whatever matrix, factors and legal product it gets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certify.kernel.scaling import scale
from tests import directed, strategies, truth
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
