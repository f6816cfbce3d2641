"""Where tensors come from: names, shapes and dtypes up front, numbers one tensor at a time.

Opening a source reads headers only (torch pickles are read whole, by torch's weights-only unpickler).
No source ever runs code that came with the model.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from certify.errors import ModelError

SAFETENSORS_DTYPES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "BOOL": "bool",
    "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8", "U8": "uint8",
    "U16": "uint16", "U32": "uint32", "U64": "uint64",
}  # fmt: skip
FLOATS = ("float64", "float32", "float16", "bfloat16")


@dataclass(frozen=True)
class TensorInfo:
    """Name, shape and stored dtype of a tensor, and the file (relative to the root) that holds it, if any."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    file: str | None

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS


class TensorSource(Protocol):
    """A set of named tensors. ``left_out``: names that are no part of the model, and why."""

    tensors: dict[str, TensorInfo]
    left_out: list[tuple[str, str]]

    def array(self, name: str) -> NDArray[Any]:
        """The tensor as a numpy array, exact (bfloat16 becomes float32)."""
        ...

    def digest(self, name: str) -> str:
        """sha256 over the tensor's raw little-endian bytes in its stored dtype, row-major."""
        ...


def tensor_to_array(tensor: torch.Tensor) -> NDArray[Any]:
    """A torch tensor as a numpy array, exactly: bfloat16 is widened to float32."""
    tensor = tensor.detach().to("cpu")
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def tensor_digest(tensor: torch.Tensor) -> str:
    """sha256 over the raw little-endian bytes of ``tensor``, row-major, in its own dtype."""
    raw = tensor.detach().to("cpu").contiguous().reshape(-1)
    digest = hashlib.sha256()
    if raw.numel():
        digest.update(raw.view(torch.uint8).numpy().data)
    return digest.hexdigest()


def dtype_name(dtype: torch.dtype) -> str:
    """``torch.float32`` -> ``float32``."""
    return str(dtype).removeprefix("torch.")


class SafetensorsSource:
    """One safetensors file, or a folder's shards with their index (whose ``weight_map`` is the law)."""

    def __init__(self, root: Path, files: Mapping[str, set[str] | None]) -> None:
        """``files``: file name -> the tensors to take from it (None: all of them)."""
        self.root = root
        self.tensors: dict[str, TensorInfo] = {}
        self.left_out: list[tuple[str, str]] = []
        for file, wanted in files.items():
            found = self._header(file)
            for name in sorted((wanted or set()) - found.keys()):
                raise ModelError(f"{root / file}: the index says that tensor {name!r} is here, but it is not")
            for name, info in found.items():
                if wanted is not None and name not in wanted:
                    self.left_out.append(
                        (name, f"in {file}, but not in the index's weight_map, so not part of the model")
                    )
                elif name in self.tensors:
                    raise ModelError(f"tensor {name!r} is in {self.tensors[name].file} and again in {file}")
                else:
                    self.tensors[name] = info

    def _header(self, file: str) -> dict[str, TensorInfo]:
        from safetensors import SafetensorError, safe_open

        path = self.root / file
        try:
            with safe_open(path, framework="pt") as reader:
                slices = {name: reader.get_slice(name) for name in reader.keys()}
                return {
                    name: TensorInfo(
                        name, tuple(s.get_shape()), SAFETENSORS_DTYPES.get(s.get_dtype(), s.get_dtype()), file
                    )
                    for name, s in slices.items()
                }
        except (SafetensorError, OSError) as error:
            raise ModelError(
                f"{path}: not a complete safetensors file ({error}); copy or download it again"
            ) from error

    def _tensor(self, name: str) -> torch.Tensor:
        from safetensors import safe_open

        file = self.tensors[name].file
        with safe_open(self.root / str(file), framework="pt") as reader:
            tensor: torch.Tensor = reader.get_tensor(name)
        return tensor

    def array(self, name: str) -> NDArray[Any]:
        return tensor_to_array(self._tensor(name))

    def digest(self, name: str) -> str:
        return tensor_digest(self._tensor(name))


class NpzSource:
    """A numpy ``.npz`` archive; arrays that need pickle are refused by numpy itself."""

    def __init__(self, path: Path) -> None:
        self.path, self.root = path, path.parent
        self.left_out: list[tuple[str, str]] = []
        self.tensors: dict[str, TensorInfo] = {}
        try:
            with zipfile.ZipFile(path) as archive:
                for member in archive.namelist():
                    if member.endswith(".npy"):
                        self._add(archive, member)
        except (zipfile.BadZipFile, OSError, ValueError, EOFError) as error:
            raise ModelError(f"{path}: not a readable .npz archive ({error})") from error

    def _add(self, archive: zipfile.ZipFile, member: str) -> None:
        with archive.open(member) as stream:
            version = np.lib.format.read_magic(stream)
            read = (
                np.lib.format.read_array_header_1_0
                if version == (1, 0)
                else np.lib.format.read_array_header_2_0
            )
            shape, _, dtype = read(stream)
        name = member.removesuffix(".npy")
        self.tensors[name] = TensorInfo(name, tuple(shape), dtype.name, self.path.name)

    def array(self, name: str) -> NDArray[Any]:
        try:
            with np.load(self.path, allow_pickle=False) as archive:
                array: NDArray[Any] = archive[name]
        except (zipfile.BadZipFile, ValueError, OSError, EOFError) as error:
            raise ModelError(f"{self.path}: array {name!r} cannot be read ({error})") from error
        return array

    def digest(self, name: str) -> str:
        array = np.ascontiguousarray(self.array(name))
        return hashlib.sha256(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()).hexdigest()


class TensorDictSource:
    """Tensors held in memory: a live module's, a torch pickle's, a dequantised GGUF file's."""

    def __init__(self, tensors: Mapping[str, torch.Tensor]) -> None:
        self._held = dict(tensors)
        self.left_out: list[tuple[str, str]] = []
        self.tensors = {
            name: TensorInfo(name, tuple(t.shape), dtype_name(t.dtype), None)
            for name, t in self._held.items()
        }

    def __reduce__(self) -> Any:
        """Refused: a matrix sent to another process would take the whole model along."""
        raise TypeError(
            "these tensors are held in memory; send what ModelMatrix.load() gives, not the matrix"
        )

    def array(self, name: str) -> NDArray[Any]:
        return tensor_to_array(self._held[name])

    def digest(self, name: str) -> str:
        return tensor_digest(self._held[name])


def safetensors_folder(folder: Path) -> SafetensorsSource | None:
    """The safetensors of a model folder: sharded by its index, else ``model.safetensors``, else None.

    Without an index, several ``*.safetensors`` are ambiguous (adapters, duplicates) and refused.
    """
    indices = sorted(folder.glob("*.safetensors.index.json"))
    if len(indices) > 1:
        raise ModelError(
            f"{folder}: several indices ({', '.join(i.name for i in indices)}); give one model per folder"
        )
    files = sorted(path.name for path in folder.glob("*.safetensors"))
    wanted: dict[str, set[str] | None]
    if indices:
        wanted = _weight_map(indices[0])
    elif "model.safetensors" in files or len(files) == 1:
        wanted = {"model.safetensors" if "model.safetensors" in files else files[0]: None}
    elif files:
        raise ModelError(
            f"{folder}: {len(files)} safetensors files but no index that says which tensors belong to the "
            f"model: {', '.join(files[:4])}; give one file, or add model.safetensors.index.json"
        )
    else:
        return None
    source = SafetensorsSource(folder, wanted)
    why = f"not named by {indices[0].name}" if indices else "beside model.safetensors, and no index names it"
    source.left_out.extend((file, f"{why}, so not part of the model") for file in files if file not in wanted)
    return source


def _weight_map(index: Path) -> dict[str, set[str] | None]:
    data = read_json(index)
    weight_map = data.get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise ModelError(f"{index}: no 'weight_map' from tensor to file in this index")
    files: dict[str, set[str]] = {}
    for tensor, file in weight_map.items():
        if not isinstance(file, str) or Path(file).name != file:
            raise ModelError(
                f"{index}: tensor {tensor!r} is mapped to {file!r}, which is no file name in this folder"
            )
        files.setdefault(file, set()).add(tensor)
    missing = [file for file in sorted(files) if not (index.parent / file).is_file()]
    if missing:
        raise ModelError(
            f"{index}: shard {missing[0]} is missing ({len(files) - len(missing)} of {len(files)} "
            "shards found)"
        )
    return dict(sorted(files.items()))


def torch_pickle(path: Path) -> TensorDictSource:
    """A torch state dict, unpickled with ``weights_only=True``; anything else in it is refused."""
    return TensorDictSource(_load_pickle(path))


def torch_pickles(index: Path) -> TensorDictSource:
    """A state dict in several torch files; ``index`` maps each tensor to its file."""
    tensors: dict[str, torch.Tensor] = {}
    for file, wanted in _weight_map(index).items():
        found = _load_pickle(index.parent / file)
        for name in sorted(wanted or ()):
            if name not in found:
                raise ModelError(
                    f"{index.parent / file}: the index says that tensor {name!r} is here, but it is not"
                )
            tensors[name] = found[name]
    return TensorDictSource(tensors)


def _load_pickle(path: Path) -> dict[str, torch.Tensor]:
    try:
        data = torch.load(path, map_location="cpu", weights_only=True, mmap=None)
    except pickle.UnpicklingError as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else "unknown content"
        raise ModelError(
            f"{path}: this pickle needs more than tensors, and unpickling it could run code, so it "
            "is refused "
            f"({reason}). Save the weights alone with torch.save(model.state_dict(), ...) or as safetensors"
        ) from error
    except (RuntimeError, OSError, EOFError, ValueError, KeyError) as error:
        raise ModelError(f"{path}: not a readable torch file ({str(error).splitlines()[0]})") from error
    for key in ("state_dict", "model_state_dict", "model"):
        if isinstance(data, Mapping) and isinstance(data.get(key), Mapping):
            data = data[key]
            break
    if not isinstance(data, Mapping):
        raise ModelError(f"{path}: holds a {type(data).__name__}, not a state dict of named tensors")
    tensors = {str(name): value for name, value in data.items() if isinstance(value, torch.Tensor)}
    if not tensors:
        raise ModelError(f"{path}: the state dict holds no tensor")
    return tensors


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from ``path``; ModelError names the file and the place of the fault."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise ModelError(f"{path}: not UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise ModelError(
            f"{path}: not JSON (line {error.lineno}, column {error.colno}: {error.msg})"
        ) from error
    if not isinstance(data, dict):
        raise ModelError(f"{path}: a JSON object was expected, found a {type(data).__name__}")
    return data
