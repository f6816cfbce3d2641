"""Read a matrix exactly: any real float or integer dtype to float64 without a rounding.

Narrow formats are decoded from their bits, because hardware that reads subnormals as zero would change
them in a cast.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certify.errors import MatrixError

Array = NDArray[np.float64]
_REAL_ONLY = "; pass real matrices, for example the real and imaginary parts"
MAX_INTEGER = 2**53  # every integer up to this magnitude is a double


@dataclass(frozen=True)
class FloatFormat:
    """A narrow binary format: sign, exponent and mantissa bits, bias, and how it writes NaN and infinity.

    ``specials``: "ieee" (top exponent), "fn" (only all ones is NaN), "fnuz" (only -0 is NaN),
    "e8m0" (unsigned powers of two, all ones is NaN).
    """

    exponent_bits: int
    mantissa_bits: int
    bias: int
    specials: str

    @property
    def bits(self) -> int:
        return self.exponent_bits + self.mantissa_bits + (0 if self.specials == "e8m0" else 1)


FORMATS: dict[str, FloatFormat] = {
    "float16": FloatFormat(5, 10, 15, "ieee"),
    "bfloat16": FloatFormat(8, 7, 127, "ieee"),
    "float8_e5m2": FloatFormat(5, 2, 15, "ieee"),
    "float8_e4m3fn": FloatFormat(4, 3, 7, "fn"),
    "float8_e4m3fnuz": FloatFormat(4, 3, 8, "fnuz"),
    "float8_e5m2fnuz": FloatFormat(5, 2, 16, "fnuz"),
    "float8_e8m0fnu": FloatFormat(8, 0, 127, "e8m0"),
}


@cache
def decoding_table(name: str) -> Array:
    """The exact value of every bit pattern of a narrow format (all are normal doubles or 0)."""
    form = FORMATS[name]
    code = np.arange(2**form.bits, dtype=np.int64)
    mantissa = code & (2**form.mantissa_bits - 1)
    exponent = (code >> form.mantissa_bits) & (2**form.exponent_bits - 1)
    if form.specials == "e8m0":
        values = np.ldexp(1.0, exponent - form.bias)
        values[-1] = np.nan
        return values
    normal = exponent > 0
    significand = (mantissa + (normal.astype(np.int64) << form.mantissa_bits)).astype(np.float64)
    values = np.ldexp(significand, np.maximum(exponent, 1) - form.bias - form.mantissa_bits)
    top = exponent == 2**form.exponent_bits - 1
    if form.specials == "ieee":
        values[top & (mantissa == 0)] = np.inf
        values[top & (mantissa > 0)] = np.nan
    elif form.specials == "fn":
        values[top & (mantissa == 2**form.mantissa_bits - 1)] = np.nan
    negative = code >= 2 ** (form.bits - 1)
    values = np.where(negative, -values, values)
    if form.specials == "fnuz":
        values[2 ** (form.bits - 1)] = np.nan
    return values


def _from_float32(values: NDArray[np.float32]) -> Array:
    """Exact; subnormals are rebuilt from their bits (a flushing cast would read 0)."""
    bits = np.asarray(values, order="C").view(np.uint32)
    wide = np.asarray(values, dtype=np.float64, order="C")
    magnitude = bits & np.uint32(0x7FFFFFFF)
    subnormal = magnitude - np.uint32(1) < np.uint32(0x007FFFFF)  # 0 wraps round to the largest integer
    if subnormal.any():
        units = magnitude[subnormal].astype(np.float64)
        wide[subnormal] = np.ldexp(np.where(bits[subnormal] >> 31, -units, units), -149)
    return wide


def _from_integers(values: NDArray[Any], name: str) -> Array:
    if values.size:
        extremes = int(values.min()), int(values.max())
        if max(-extremes[0], extremes[1]) > MAX_INTEGER:
            flat = np.argmax(np.abs(values.astype(np.float64)))
            place = tuple(int(i) for i in np.unravel_index(flat, values.shape))
            raise MatrixError(
                f"{name}: the integer {int(values[place])} at index {place} is beyond 2^53 and has no exact "
                "double; divide by a power of two first"
            )
    return values.astype(np.float64)


def _torch_to_numpy(tensor: Any, name: str) -> tuple[NDArray[Any], str]:
    """A torch tensor as a numpy array of the same bits, and the name of its dtype."""
    torch = sys.modules["torch"]
    kind = str(tensor.dtype).removeprefix("torch.")
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.device.type == "meta":
        raise MatrixError(
            f"{name}: a {tensor.layout} tensor on {tensor.device} (quantized: {tensor.is_quantized}) "
            "holds no plain entries; make it dense first, for example with .to_dense() or .dequantize()"
        )
    if tensor.is_complex():
        raise MatrixError(f"{name}: complex entries ({kind}){_REAL_ONLY}")
    plain = tensor.detach().cpu().resolve_neg()
    if kind in FORMATS:
        plain = plain.contiguous().view(torch.uint8 if FORMATS[kind].bits == 8 else torch.int16)
    return plain.numpy(), kind


def _to_numpy(matrix: Any, name: str) -> tuple[NDArray[Any], str]:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(matrix, torch.Tensor):
        return _torch_to_numpy(matrix, name)
    if isinstance(matrix, np.ma.MaskedArray):
        raise MatrixError(f"{name}: a masked array; fill it first with .filled(value)")
    try:
        array = np.asarray(matrix)
    except ValueError as error:
        raise MatrixError(f"{name}: not a rectangular array of numbers ({error})") from error
    return array, array.dtype.name


def exact_float64(matrix: Any, name: str = "matrix") -> Array:
    """``matrix`` as a C-ordered float64 array, entry by entry the same real numbers (a view if it is one).

    Accepts numpy arrays and torch tensors of any strides and device, read-only or not, nested lists;
    float64, float32, float16, bfloat16, every float8 of torch, integers up to 2^53, booleans.
    Raises :class:`~certify.errors.MatrixError` for everything else, naming what was found.
    """
    array, kind = _to_numpy(matrix, name)
    if kind in FORMATS:
        codes = array.view(np.uint8 if FORMATS[kind].bits == 8 else np.uint16)
        return np.asarray(decoding_table(kind)[codes], order="C")
    if kind in ("float32", "float64"):
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        wide = _from_float32(native) if kind == "float32" else native
        return np.asarray(wide, order="C")
    if array.dtype.kind in "iu":
        return np.asarray(_from_integers(array, name), order="C")
    if array.dtype.kind == "b":
        return np.asarray(array, dtype=np.float64, order="C")
    if array.dtype.kind == "c":
        raise MatrixError(f"{name}: complex entries ({kind}){_REAL_ONLY}")
    raise MatrixError(
        f"{name}: dtype {kind} is not read exactly; convert to float64, float32, float16, bfloat16 or "
        "integers"
    )


def first_not_finite(array: Array) -> tuple[tuple[int, ...], float] | None:
    """Index and value of the first NaN or infinity, or None."""
    with np.errstate(invalid="ignore"):
        # NaN propagates through max and min, so two reductions decide the usual case without a copy.
        if array.size == 0 or (np.isfinite(array.max()) and np.isfinite(array.min())):
            return None
    bad = (array.view(np.int64) & 0x7FF0000000000000) == 0x7FF0000000000000
    place = tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), array.shape))
    return place, float(array[place])


def read_matrices(matrix: Any, name: str = "matrix") -> Array:
    """``matrix`` (..., m, n) exactly, at least two-dimensional and finite."""
    array = exact_float64(matrix, name)
    if array.ndim < 2:
        raise MatrixError(
            f"{name}: shape {array.shape} has {array.ndim} dimension(s); a matrix (m, n) or a batch "
            "(..., m, n) is needed. For a vector use reshape(1, -1) or reshape(-1, 1)"
        )
    found = first_not_finite(array)
    if found is not None:
        place, value = found
        raise MatrixError(f"{name}: the entry at index {place} is {value}; every entry must be finite")
    return array


def read_matrix(matrix: Any, name: str = "matrix") -> Array:
    """One matrix (m, n), exactly."""
    array = read_matrices(matrix, name)
    if array.ndim != 2:
        raise MatrixError(f"{name}: one matrix (m, n) is needed, found a batch of shape {array.shape}")
    return array
