"""The one seam through which every matrix product used in a proof goes.

Tests replace :data:`product` by legal liars. On a CUDA device the operands are sent there, multiplied
in float64 and brought back, so the proofs around a product are the same code everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from certify.errors import InputError
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


product: Product = _product_here
exact_product: Product = _product_here


def multiply(X: Array, Y: Array) -> Array:
    """fl(X Y) for X (..., m, k) and Y (..., k, n) or (k,), under hypothesis ``matrix-product``."""
    return product(X, Y)


def multiply_exactly(X: Array, Y: Array) -> Array:
    """X Y when every partial sum is an integer multiple of one unit below 2^53 of it: no rounding at all.

    This holds in every order of summation, so it rests on ``binary64`` alone; a separate seam because a
    product that uses all of the gamma bound would still be legal for :func:`multiply`.
    """
    return exact_product(X, Y)


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
