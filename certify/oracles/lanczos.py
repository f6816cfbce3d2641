"""Lanczos with full reorthogonalisation for the largest eigenvalue. Untrusted (see the package)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Ritz:
    """The largest Ritz pair of a symmetric matrix, its residual and the gap to the next Ritz value."""

    value: float
    vector: Array
    residual: float
    gap: float


def largest_ritz_pair(
    apply: Callable[[Array], Array], start: Array, steps: int, tolerance: float = 0.0
) -> Ritz:
    """At most ``steps`` Lanczos steps for the symmetric operator ``apply`` from the vector ``start``.

    Every fourth step stops when the residual of the Ritz pair is below ``tolerance`` times its value.
    """
    n = start.size
    steps = min(steps, n)
    basis = np.zeros((steps, n))
    diagonal, off = np.zeros(steps), np.zeros(steps)
    q = start / np.sqrt(start @ start)
    used = 0
    for j in range(steps):
        basis[j] = q
        w = apply(q)
        diagonal[j] = w @ q
        w = w - basis[: j + 1].T @ (basis[: j + 1] @ w)
        off[j] = np.sqrt(w @ w)
        used = j + 1
        if not off[j] > 1e-14 * abs(diagonal[0]):
            break
        if tolerance > 0 and used % 4 == 0:
            values, vectors = _ritz_values(diagonal[:used], off[: used - 1])
            if abs(off[j] * vectors[-1, -1]) <= tolerance * values[-1]:
                break
        q = w / off[j]
    values, vectors = _ritz_values(diagonal[:used], off[: used - 1])
    top = vectors[:, -1]
    gap = float(values[-1] - values[-2]) if used > 1 else 0.0
    return Ritz(float(values[-1]), basis[:used].T @ top, float(abs(off[used - 1] * top[-1])), gap)


def _ritz_values(diagonal: Array, off: Array) -> tuple[Array, Array]:
    values, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(off, 1) + np.diag(off, -1))
    return values, vectors


def random_start(n: int) -> Array:
    """A fixed pseudo-random start vector."""
    return np.random.default_rng(0).standard_normal(n) + 1e-3
