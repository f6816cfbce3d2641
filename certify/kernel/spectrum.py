"""The public ``singular_values``: read, scale, ask an oracle for factors, certify by the mode chosen."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import flint
import numpy as np

import certify.oracles.factors as oracle
from certify.errors import InputError, NotCertified
from certify.kernel.cheap import from_eigenvectors
from certify.kernel.enclosure import Enclosure
from certify.kernel.gram import from_gram, gram_of
from certify.kernel.multiply import current_device, multiply, use_device
from certify.kernel.reading import Array, exact_float64, read_matrices
from certify.kernel.scaling import Scaled, broadcast_radius, scale
from certify.kernel.singular_values import SingularValues, from_factors
from certify.kernel.tight import from_factors_tightly
from certify.kernel.upper import square_sum

VERY_TALL = 4  # rows per column from which the cheap mode uses the Gram matrix itself


arb = flint.arb


class Mode(Protocol):
    """A way to certify a spectrum: scaled enclosures (lower, upper) of all singular values of a matrix."""

    def enclose(self, A: Scaled) -> tuple[Array, Array]: ...


@dataclass(frozen=True)
class Default:
    """One SVD and three products; radius about 1e-11 sigma_1 at n = 512."""

    def enclose(self, A: Scaled) -> tuple[Array, Array]:
        return from_factors(A, *oracle.svd(A.X, current_device()))


@dataclass(frozen=True)
class Tight:
    """One SVD and seven products; radius about 1e-13 sigma_1 at n = 512."""

    def enclose(self, A: Scaled) -> tuple[Array, Array]:
        return from_factors_tightly(A, *oracle.svd(A.X, current_device()))


@dataclass(frozen=True)
class Cheap:
    """One symmetric eigenproblem and three products; singular values below about 1e-8 sigma_1 stay wide.

    Very tall or wide matrices take the Gram matrix itself: one large product.
    """

    def enclose(self, A: Scaled) -> tuple[Array, Array]:
        tall = A.tall
        m, n = tall.X.shape
        if m >= VERY_TALL * n:
            C = gram_of(tall.X)
            return from_gram(tall, C, *oracle.eigenpairs(C.X, current_device()))
        _, eigenvectors = oracle.eigenpairs(multiply(tall.X.T, tall.X), current_device())
        return from_eigenvectors(tall, eigenvectors)


@dataclass(frozen=True)
class Adaptive:
    """Cheap, then default, then tight, until the widths add up to at most ``width`` of the sum of values.

    Every rung is sound and each value keeps its narrowest enclosure. On trained weights the first rung
    suffices, at about half the price of an SVD.
    """

    width: float = 1e-7

    def enclose(self, A: Scaled) -> tuple[Array, Array]:
        lower, upper = np.zeros(min(A.X.shape)), np.full(min(A.X.shape), np.inf)
        refusal: NotCertified | None = None
        for rung in (Cheap(), Default(), Tight()):
            try:
                low, high = rung.enclose(A)
            except NotCertified as error:
                refusal = error
                continue
            lower, upper = np.maximum(lower, low), np.minimum(upper, high)
            if float((upper - lower).sum()) <= self.width * float(lower.sum()):
                break
        if not bool(np.isfinite(upper).all()):
            raise NotCertified(f"no mode certifies this matrix; the last one said: {refusal}")
        return lower, upper


MODES: dict[str, Callable[[], Mode]] = {
    "default": Default,
    "tight": Tight,
    "cheap": Cheap,
    "adaptive": Adaptive,
}


def as_mode(mode: str | Mode) -> Mode:
    """The mode object for a name, or the object itself."""
    if not isinstance(mode, str):
        return mode
    if mode not in MODES:
        raise InputError(f"unknown mode {mode!r}; choose one of {', '.join(MODES)} or pass a mode object")
    return MODES[mode]()


def enclose_scaled(A: Scaled, mode: Mode) -> tuple[Array, Array]:
    """Scaled enclosures; empty and zero matrices need no oracle."""
    count = min(A.X.shape)
    if count == 0 or A.is_zero:
        return np.zeros(count), np.zeros(count)
    lower, upper = mode.enclose(A)
    return np.ascontiguousarray(lower), np.ascontiguousarray(upper)


def singular_values_of(A: Scaled, mode: str | Mode = "default") -> SingularValues:
    """Certified singular values of one scaled matrix."""
    lower, upper = enclose_scaled(A, as_mode(mode))
    frobenius = frobenius_of(A)
    return SingularValues(lower, upper, np.asarray(A.exponent), A.assumptions, scaled_frobenius=frobenius)


def frobenius_of(A: Scaled) -> Enclosure:
    """||X + D||_F in A's scale: m + n roundings, then the radius."""
    low, high = square_sum(A.X)
    return ball_between(low.sqrt() - A.radius_F, high.sqrt() + A.radius_F, A)


def ball_between(low: arb, high: arb, A: Scaled) -> Enclosure:
    """The enclosure [max(low, 0), high] of a number >= 0 in the scale of ``A``."""
    bottom = low.lower()
    return Enclosure(bottom if bottom > 0 else arb(0), high, A.assumptions)


def singular_values(
    matrix: Any, mode: str | Mode = "default", *, radius: Any = None, device: str = "cpu"
) -> SingularValues:
    """All singular values of a matrix, as intervals that contain the exact ones.

    Args:
        matrix: (..., m, n) numpy array, torch tensor or nested lists; any real float dtype or integers up
            to 2^53, taken as exact numbers; a batch gives a batch.
        mode: "default", "tight" (about 100 times narrower), "cheap" (faster, wide for tiny values),
            "adaptive" (the cheapest that is narrow enough), or a mode object.
        radius: scalar or array >= 0: the true entries lie within it of the stored ones.
        device: "cpu" or "cuda": where products and the SVD run; the proof is the same.

    Returns:
        :class:`~certify.kernel.singular_values.SingularValues` with float64 ``lower`` and ``upper`` of shape
        (..., min(m, n)), descending.

    Raises:
        MatrixError: NaN, infinity, complex, not a matrix, integers beyond 2^53.
        NotCertified: an oracle's factors do not prove anything, or the rounding model fails its probes.

    Source: Miyajima 2014, Thm 7 (default, tight); Rump 2011, Thm 3.2 (cheap).
    """
    chosen = as_mode(mode)
    array = read_matrices(matrix)
    with use_device(device):
        if array.ndim == 2:
            return singular_values_of(scale(array, radius), chosen)
        batch, shape = array.shape[:-2], array.shape[-2:]
        radii = radius_of_each(radius, array.shape)
        flat = array.reshape(math.prod(batch), *shape)
        parts = [singular_values_of(scale(flat[i], radii(i)), chosen) for i in range(len(flat))]
    count = min(shape)
    lower = np.array([part.scaled_lower for part in parts]).reshape(*batch, count)
    upper = np.array([part.scaled_upper for part in parts]).reshape(*batch, count)
    exponent = np.array([part.exponent for part in parts], dtype=np.int64).reshape(batch)
    return SingularValues(lower, upper, exponent, frozenset().union(*(part.assumptions for part in parts)))


def radius_of_each(radius: Any, shape: tuple[int, ...]) -> Callable[[int], Any]:
    """The radius of the i-th matrix of a batch."""
    if radius is None:
        return lambda i: None
    values = exact_float64(radius, "radius")
    flat = broadcast_radius(values, shape).reshape(math.prod(shape[:-2]), *shape[-2:])
    return lambda i: flat[i]
