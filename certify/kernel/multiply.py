"""The one seam through which every matrix product used in a proof goes.

Tests replace :data:`product` by legal liars. On a CUDA device the operands are sent there, multiplied
in float64 and brought back, so the proofs around a product are the same code everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

import numpy as np

from certify.errors import InputError, NotCertified
from certify.kernel.selftest import Array, Product

_DEVICE: ContextVar[str] = ContextVar("device", default="cpu")


def _product_on_cpu(X: Array, Y: Array) -> Array:
    return np.matmul(X, Y)


def product_on(device: str) -> Product:
    """The float64 product of ``device`` ("cpu", "cuda", "cuda:1", ...)."""
    if device == "cpu":
        return _product_on_cpu
    import torch

    def product_on_device(X: Array, Y: Array) -> Array:
        x, y = (torch.from_numpy(np.ascontiguousarray(part)).to(device) for part in (X, Y))
        result: Array = torch.matmul(x, y).cpu().numpy()
        return result

    return product_on_device


def _product_here(X: Array, Y: Array) -> Array:
    return product_on(_DEVICE.get())(X, Y)


SPOT_CHECK_FROM = 64
product: Product = _product_here
exact_product: Product = _product_here


def multiply(X: Array, Y: Array) -> Array:
    """fl(X Y) for X (m, k) and Y (k, n) or (k,), under hypothesis ``matrix-product``."""
    return spot_checked(X, Y, product(X, Y))


def multiply_exactly(X: Array, Y: Array) -> Array:
    """X Y when every partial sum is an integer multiple of one unit below 2^53 of it: no rounding at all.

    This holds in every order of summation, so it rests on ``binary64`` alone; a separate seam because a
    product that uses all of the gamma bound would still be legal for :func:`multiply`.
    """
    return spot_checked(X, Y, exact_product(X, Y))


@cache
def _signs(n: int) -> Array:
    return np.random.default_rng(n).choice([-1.0, 1.0], n)


def spot_checked(X: Array, Y: Array, P: Array) -> Array:
    """P, if P v agrees with X (Y v) for a random sign vector v (Freivalds 1977), as any legal product must:

    |P v - X (Y v)|_i <= (2 gamma_k + 2 gamma_n + ...) ||x_i|| ||Y||_F sqrt(n), generously rounded up.

    It sees gross errors (a wrong entry, a broken kernel for one shape) and nothing at rounding level, so no
    proof rests on it. Small products are not worth it.
    """
    if Y.ndim != 2 or min(P.shape) < SPOT_CHECK_FROM:
        return P
    (k, n), v = Y.shape, _signs(Y.shape[1])
    rows = np.sqrt(np.einsum("ij,ij->i", X, X))
    allowed = 16 * (k + n + 4) * 2.0**-53 * np.sqrt(n * np.einsum("ij,ij->", Y, Y)) * rows + 2.0**-440
    if not bool((np.abs(P @ v - X @ (Y @ v)) <= allowed).all()):
        raise NotCertified(
            f"a {X.shape} by {Y.shape} matrix product failed its spot check: the hardware or the BLAS made a "
            "gross error, so nothing is certified with it"
        )
    return P


def current_device() -> str:
    """The device that products and oracles use now."""
    return _DEVICE.get()


@contextmanager
def use_device(device: str) -> Iterator[None]:
    """Within the block, products and oracles run on ``device``, whose probes must pass first."""
    from certify.kernel.rounding import require_model

    name = str(device)
    if name != "cpu":
        import torch

        if not name.startswith("cuda"):
            raise InputError(f"device {name!r} is not supported: use 'cpu' or 'cuda'")
        if not torch.cuda.is_available():
            raise InputError(f"device {name!r} asked for, but torch sees no CUDA device; use device='cpu'")
    require_model(name)
    token = _DEVICE.set(name)
    try:
        yield
    finally:
        _DEVICE.reset(token)
