"""Four probes that a matrix product must pass before anything is certified with it.

They detect wrong kernels and modes that are on at that moment (Strassen, truncated or fixed-point
operands, float32, directed rounding, a product that swallows NaN). They cannot detect emulation that
depends on the data, a mode switched on later, or a kernel chosen only for another shape: the
hypothesis stays an assumption of every certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Product = Callable[[Array, Array], Array]

PROBES: dict[str, str] = {
    "positive-integers": "products of positive 22-bit integers, 512 terms, are exact",
    "graded-single-term": "with one nonzero per column and exponents within 200, each entry is rounded once",
    "round-to-nearest": "1 + 2^-53 (1 +- 2^-52) rounds to nearest in every entry",
    "nan-propagates": "a NaN in a row makes that row of the product NaN",
}


def _forms(X: Array, Y: Array) -> Iterator[tuple[Array, Array]]:
    """The memory layouts the kernel uses for X Y: plain, both transposed views, one vector."""
    yield X, Y
    yield np.ascontiguousarray(X.T).T, Y
    yield X, np.ascontiguousarray(Y.T).T
    yield X, np.ascontiguousarray(Y[:, 0])


def _as_columns(P: Array) -> Array:
    return P[:, None] if P.ndim == 1 else P


def _positive_integers(product: Product) -> bool:
    rng = np.random.default_rng(0)
    X = rng.integers(2**21, 2**22, (64, 512))
    Y = rng.integers(2**21, 2**22, (512, 96))
    truth = X @ Y  # int64 arithmetic, no BLAS; below 2^53
    floats = X.astype(np.float64), Y.astype(np.float64)
    plain = all(
        bool((_as_columns(product(A, B)) == truth[:, : B.shape[1] if B.ndim == 2 else 1]).all())
        for A, B in _forms(*floats)
    )
    gram = product(floats[0].T, floats[0])
    return plain and bool((gram == X.T @ X).all())


def _graded_single_term(product: Product) -> bool:
    rng = np.random.default_rng(1)
    k, n = 160, 128
    X = (1 + rng.random((96, k))) * rng.choice([-1.0, 1.0], (96, k))
    X *= np.ldexp(1.0, rng.integers(-200, 201, (1, k)))
    row, value = rng.integers(0, k, n), (1 + rng.random(n)) * np.ldexp(1.0, rng.integers(-200, 201, n))
    Y = np.zeros((k, n))
    Y[row, np.arange(n)] = value
    truth = X[:, row] * value
    return all(
        bool((_as_columns(product(A, B)) == truth[:, : B.shape[1] if B.ndim == 2 else 1]).all())
        for A, B in _forms(X, Y)
    )


def _round_to_nearest(product: Product) -> bool:
    k = 64
    for tail, truth in ((2.0**-53 * (1 + 2.0**-52), 1 + 2.0**-52), (2.0**-53 * (1 - 2.0**-52), 1.0)):
        X, Y = np.zeros((256, k)), np.zeros((k, 256))
        X[:, 0], X[:, k // 2], Y[0], Y[k // 2] = 1.0, tail, 1.0, 1.0
        if not all(bool((product(A, B) == truth).all()) for A, B in _forms(X, Y)):
            return False
    return True


def _nan_propagates(product: Product) -> bool:
    X, Y = np.ones((32, 48)), np.zeros((48, 40))
    X[5, 7] = np.nan
    return all(bool(np.isnan(_as_columns(product(A, B))[5]).all()) for A, B in _forms(X, Y))


def run_probes(product: Product) -> dict[str, bool]:
    """Each probe's name and whether ``product`` passed it."""
    return {
        "positive-integers": _positive_integers(product),
        "graded-single-term": _graded_single_term(product),
        "round-to-nearest": _round_to_nearest(product),
        "nan-propagates": _nan_propagates(product),
    }


def gradual_underflow() -> bool:
    """Whether this thread keeps subnormals (recorded; no certificate depends on it)."""
    half = np.full(1, 2.0**-1022) * 0.5
    return int(half.view(np.int64)[0]) != 0
