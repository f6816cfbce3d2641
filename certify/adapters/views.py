"""The steps by which a matrix is cut out of a stored tensor. Exact: they only move numbers.

=====================  ==========================================================
``("rows", a, b)``     rows a..b-1 (first axis)
``("columns", a, b)``  columns a..b-1 (second axis)
``("transpose",)``     swap the two axes of a matrix
``("reshape", *n)``    row-major reshape to shape n
``("index", i)``       entry i of the first axis (one of a stack of matrices)
=====================  ==========================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

ViewStep = tuple[str | int, ...]


def apply_view(array: NDArray[Any], steps: Sequence[ViewStep]) -> NDArray[Any]:
    """Return ``array`` after ``steps``; raises ValueError on a step that does not fit its shape."""
    for step in steps:
        array = _apply_step(array, str(step[0]), [int(n) for n in step[1:]])
    return array


def view_shape(shape: Sequence[int], steps: Sequence[ViewStep]) -> tuple[int, ...]:
    """The shape that ``apply_view`` gives, without any data."""
    return apply_view(np.broadcast_to(np.int8(0), tuple(shape)), steps).shape


def _apply_step(array: NDArray[Any], kind: str, numbers: list[int]) -> NDArray[Any]:
    if kind in ("rows", "columns") and len(numbers) == 2:
        axis = 0 if kind == "rows" else 1
        start, stop = numbers
        if array.ndim <= axis or not 0 <= start < stop <= array.shape[axis]:
            raise ValueError(f"{kind} {start}..{stop} do not fit an array of shape {array.shape}")
        return array[start:stop] if axis == 0 else array[:, start:stop]
    if kind == "transpose" and not numbers and array.ndim == 2:
        return array.T
    if kind == "reshape" and numbers and int(np.prod(numbers)) == array.size:
        return array.reshape(numbers)
    if kind == "index" and len(numbers) == 1 and array.ndim >= 1 and 0 <= numbers[0] < array.shape[0]:
        return array[numbers[0]]
    raise ValueError(f"view step {(kind, *numbers)} does not fit an array of shape {array.shape}")
