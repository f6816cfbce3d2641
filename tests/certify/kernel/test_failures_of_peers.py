"""What other libraries get wrong without a word (numpy, torch, single precision, intervals), as our tests."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch

import certify
from certify.errors import MatrixError
from tests import strategies, truth
from tests.soundness import Ledger, Subject, check_norms, check_values


@pytest.mark.parametrize("exponent", [-1022, -664, -400, 400, 664, 1000])
def test_norms_far_from_one(exponent: int) -> None:
    """A sum of squares underflows to 0.0 at 1e-200 and overflows at 1e300."""
    A = np.ldexp(np.array([[3.0, 4.0]]), exponent)
    assert certify.frobenius_norm(A).contains(5 * Fraction(2) ** exponent)
    assert certify.spectral_norm(A).contains(5 * Fraction(2) ** exponent)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-100, 1e-14, 1e2, 1e100, 1e300])
def test_small_matrices_at_every_scale(scale: float) -> None:
    """Interval SVDs lose their radius at 1e-200, and now and then at ordinary scales."""
    rng = np.random.default_rng(9)
    ledger = Ledger()
    for _ in range(6):
        subject = Subject.of(rng.standard_normal((2, 2)) * scale, f"scale {scale}")
        check_values(ledger, "spectrum", subject, certify.singular_values(subject.A))
        check_norms(ledger, subject, rng)
    assert not ledger.violations, ledger.violations[:3]
    assert ledger.counts["spectrum"] == 6


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_a_number_is_an_error_not_rank_zero(value: float) -> None:
    A = np.eye(3)
    A[1, 2] = value
    for function in (
        certify.singular_values,
        certify.numerical_rank,
        certify.effective_rank,
        certify.nuclear_norm,
    ):
        with pytest.raises(MatrixError, match="index \\(1, 2\\)"):
            function(A)


@pytest.mark.parametrize("n", [3, 7, 100])
def test_uniform_attention_has_entropy_rank_one(n: int) -> None:
    """An SVD in single precision gives 1.0008: noise counts as singular values."""
    A = torch.full((n, n), 1 / n, dtype=torch.float32)
    for kind in ("entropy", "gram-entropy", "stable", "nuclear"):
        value = certify.effective_rank(A, kind, mode="tight")
        assert value.contains(1)
        assert value.upper < 1 + 1e-9


def test_repeated_and_vanishing_singular_values() -> None:
    """Hilbert, ones, identity, Hadamard, rank k: no gap is needed, and no value is dropped."""
    hilbert = 1.0 / (np.arange(12)[:, None] + np.arange(12)[None] + 1)
    H = strategies.hadamard(3)
    for A in (hilbert, np.ones((5, 8)), np.eye(6), H, H[:, :2] @ H[:2], np.zeros((4, 4))):
        for mode in ("default", "tight", "cheap", "adaptive"):
            values = certify.singular_values(A, mode)
            for i, sigma in enumerate(truth.exact_singular_values(A)):
                assert truth.meets(sigma, float(values.lower[i]), float(values.upper[i]))


def test_a_rank_that_cannot_be_decided_is_an_interval() -> None:
    """numpy's default tolerance lies below what rounding allows one to decide."""
    hilbert = 1.0 / (np.arange(12)[:, None] + np.arange(12)[None] + 1)
    tolerance = Fraction(12, 2**52)
    rank = certify.numerical_rank(hilbert, eps=tolerance)
    low, high = truth.exact_counts(truth.exact_singular_values(hilbert), tolerance)
    assert rank.lower <= low <= high <= rank.upper
    assert (
        certify.numerical_rank(hilbert, eps="1e-6").lower == certify.numerical_rank(hilbert, eps="1e-6").upper
    )
