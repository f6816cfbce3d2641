"""Public norms: Frobenius, spectral, nuclear, and the Schatten-4 norm behind the participation ratio."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import flint
import numpy as np

from certify.kernel.cholesky import norm_bounds_of_tall
from certify.kernel.directed import exact_ball
from certify.kernel.enclosure import Enclosure
from certify.kernel.multiply import multiply, use_device
from certify.kernel.nonnegative import upper_and_lower_norms
from certify.kernel.reading import Array, read_matrices
from certify.kernel.rounding import growth
from certify.kernel.scaling import Scaled, scale
from certify.kernel.spectrum import Mode, ball_between, frobenius_of, radius_of_each, singular_values_of
from certify.kernel.upper import square_sum

arb = flint.arb

WIDTH = 1e-6  # relative width above which the next, dearer method is tried as well


@dataclass(frozen=True, eq=False)
class EnclosureArray:
    """Enclosures of one number per matrix of a batch.

    ``lower`` and ``upper`` are float64 arrays of shape ``shape`` (the batch's), rounded outward; indexing
    gives the :class:`Enclosure` of one matrix.
    """

    items: tuple[Enclosure, ...]
    shape: tuple[int, ...]

    @property
    def lower(self) -> Array:
        return np.array([item.lower for item in self.items]).reshape(self.shape)

    @property
    def upper(self) -> Array:
        return np.array([item.upper for item in self.items]).reshape(self.shape)

    @property
    def assumptions(self) -> frozenset[str]:
        return frozenset().union(*(item.assumptions for item in self.items))

    def __getitem__(self, index: Any) -> Enclosure:
        """The enclosure of one matrix of the batch, by its full index."""
        return self.items[int(np.ravel_multi_index(np.atleast_1d(index), self.shape))]

    def __repr__(self) -> str:
        return f"EnclosureArray(lower={self.lower}, upper={self.upper})"


def each_matrix(
    matrix: Any, radius: Any, device: str, compute: Callable[[list[Scaled]], list[Enclosure]]
) -> Any:
    """Read and scale every matrix of ``matrix`` (..., m, n), compute on all, restore the batch's shape."""
    array = read_matrices(matrix)
    batch, shape = array.shape[:-2], array.shape[-2:]
    radii = radius_of_each(radius, array.shape)
    flat = array.reshape(math.prod(batch), *shape)
    with use_device(device):
        results = compute([scale(flat[i], radii(i)) for i in range(len(flat))])
    return results[0] if not batch else EnclosureArray(tuple(results), batch)


def spectral_of(A: Scaled) -> Enclosure:
    """||X + D||_2 in A's scale."""
    return spectral_of_each([A])[0]


def _with_radius(low: arb, high: arb, A: Scaled) -> Enclosure:
    return ball_between(low - A.radius_2, high + A.radius_2, A)


def _wide(value: Enclosure) -> bool:
    return not value.upper - value.lower <= WIDTH * value.upper


def _spectral_by_gram(A: Scaled) -> Enclosure:
    """General matrices: the measured Cholesky factorisation, then, if that is wide, the spectrum."""
    value = _with_radius(*norm_bounds_of_tall(A.tall.X), A)
    if not _wide(value):
        return value
    first = singular_values_of(A)
    low, high = exact_ball(first.scaled_lower[0]), exact_ball(first.scaled_upper[0])
    return value.intersection(ball_between(low, high, A))


def spectral_of_each(matrices: list[Scaled]) -> list[Enclosure]:
    """||X + D||_2 of matrices of one shape: nonnegative ones all at once by matrix-vector products."""
    results: dict[int, Enclosure] = {}
    nonnegative = []
    for i, A in enumerate(matrices):
        if A.X.size == 0 or not A.X.any():
            results[i] = _with_radius(arb(0), arb(0), A)
        elif min(A.X.shape) > 1 and bool((A.X >= 0).all()):
            nonnegative.append(i)
        else:
            results[i] = _spectral_by_gram(A)
    if nonnegative:
        stack = [matrices[i].X for i in nonnegative]
        batch = np.stack(stack) if len(stack) > 1 else stack[0][None]
        for i, (low, high) in zip(nonnegative, upper_and_lower_norms(batch), strict=True):
            value = _with_radius(low, high, matrices[i])
            results[i] = value.intersection(_spectral_by_gram(matrices[i])) if _wide(value) else value
    return [results[i] for i in range(len(matrices))]


def unscaled(value: Enclosure, A: Scaled) -> Enclosure:
    """``value`` times 2^exponent, exactly."""
    unit = arb(2) ** A.exponent
    low, high = value.endpoints
    return Enclosure(low * unit, high * unit, value.assumptions)


def frobenius_norm(matrix: Any, *, radius: Any = None, device: str = "cpu") -> Any:
    """The Frobenius norm ``sqrt(sum a_ij^2)`` of a matrix (m, n) as an :class:`Enclosure`.

    Inputs, ``radius``, ``device`` and errors as in :func:`certify.singular_values`. A batch (..., m, n)
    gives an :class:`EnclosureArray` of shape (...). Relative width about 1e-13 at n = 512.
    Source: error bound of sums, Higham 2002, sec. 4.2.
    """
    return each_matrix(matrix, radius, device, lambda items: [unscaled(frobenius_of(A), A) for A in items])


def spectral_norm(matrix: Any, *, radius: Any = None, device: str = "cpu") -> Any:
    """The spectral norm (largest singular value) of a matrix (m, n) as an :class:`Enclosure`.

    Nonnegative matrices: Collatz-Wielandt bounds from matrix-vector products. Others: a measured Cholesky
    factorisation of ``beta I - A^T A``; if that stays wide, the certified spectrum. Results are
    intersected. Inputs, errors and batches as in :func:`frobenius_norm`.
    Source: Schur test (Seneta 2006, sec. 1.1); shifted Cholesky, Rump 2006, with the residual measured.
    """

    def compute(items: list[Scaled]) -> list[Enclosure]:
        return [unscaled(value, A) for value, A in zip(spectral_of_each(items), items, strict=True)]

    return each_matrix(matrix, radius, device, compute)


def nuclear_of(A: Scaled, mode: str | Mode = "default") -> Enclosure:
    """Sum of singular values in A's scale."""
    values = singular_values_of(A, mode)
    return sum_of(values.scaled_lower, values.scaled_upper, A.assumptions)


def sum_of(lower: Array, upper: Array, assumptions: frozenset[str]) -> Enclosure:
    """The sum of numbers in [lower_i, upper_i] (>= 0): computed sums within a factor 1 + g(n)."""
    factor = 1 + growth(lower.size)
    low, high = exact_ball(lower.sum()) / factor, exact_ball(upper.sum()) * factor
    return Enclosure(low, high, assumptions)


def nuclear_norm(
    matrix: Any, mode: str | Mode = "default", *, radius: Any = None, device: str = "cpu"
) -> Any:
    """The nuclear norm (sum of singular values) of a matrix (m, n) as an :class:`Enclosure`.

    ``mode``, inputs, errors and batches as in :func:`certify.singular_values` and :func:`frobenius_norm`.
    Source: the sum of the enclosed singular values.
    """

    def compute(items: list[Scaled]) -> list[Enclosure]:
        return [unscaled(nuclear_of(A, mode), A) for A in items]

    return each_matrix(matrix, radius, device, compute)


def schatten4_of(A: Scaled) -> Enclosure:
    """||X + D||_(S4)^2 = ||(X+D)^T (X+D)||_F in A's scale, squared Schatten-4 norm, from one product.

    | ||fl(X^T X)||_F - ||X^T X||_F | <= gamma_k ||X||_F^2 with k the inner (long) dimension; the Schatten-4
    norm is a norm below Frobenius, so D moves it by at most ||D||_F.
    """
    X = A.tall.X
    low, high = square_sum(multiply(X.T, X))
    rounding = growth(X.shape[0]) * square_sum(X)[1]
    bottom = (low.sqrt() - rounding).nonnegative_part().lower().sqrt() - A.radius_F
    norm = ball_between(bottom, (high.sqrt() + rounding).sqrt() + A.radius_F, A)
    return norm**2
