"""GGUF files: dequantised to float32, one tensor at a time for LLaMA, else through transformers' model.

What is analysed are the dequantised numbers, which are also those that the model runs on here; a runtime
that multiplies in the quantised format has another arithmetic. The file's bytes are pinned by their sha256.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certify.adapters.model import Runner
from certify.adapters.sources import TensorInfo, TensorSource
from certify.errors import ModelError

# GGUF's names of a LLaMA and ours (those of transformers' base model).
_WHOLE = {"token_embd": "embed_tokens", "output_norm": "norm", "output": "lm_head"}
_LAYER = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}


@dataclass(frozen=True)
class OpenedGguf:
    """What opening needs of a GGUF file: its tensors, its configuration, its story, and how to run it."""

    source: TensorSource
    config: dict[str, Any]
    provenance: list[str]
    runner: Callable[[], Runner]


class LlamaGgufSource:
    """The tensors of a LLaMA in a GGUF file, dequantised when asked for.

    GGUF stores the rows of q and k of each head with the two halves of the rotary pairs interleaved;
    ``array`` puts them back in the order that transformers uses.
    """

    def __init__(self, reader: Any, config: dict[str, Any]) -> None:
        self.left_out: list[tuple[str, str]] = []
        self._stored = {our_name(tensor.name): tensor for tensor in reader.tensors}
        self._heads = {"q_proj": config["num_attention_heads"], "k_proj": config["num_key_value_heads"]}
        self.tensors = {
            name: TensorInfo(name, tuple(int(n) for n in reversed(tensor.shape)), "float32", None)
            for name, tensor in self._stored.items()
            if name is not None
        }

    def array(self, name: str) -> NDArray[Any]:
        from gguf import dequantize

        tensor = self._stored[name]
        array = np.array(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)
        array = array.reshape(self.tensors[name].shape)
        for projection, heads in self._heads.items():
            if f"self_attn.{projection}." in name:
                halves = array.reshape(heads, -1, 2, *array.shape[1:])
                array = np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(array.shape)
        return array

    def digest(self, name: str) -> str:
        return hashlib.sha256(self.array(name).astype("<f4", copy=False).tobytes()).hexdigest()

    def __reduce__(self) -> Any:
        """Refused: opening the file again is cheaper than sending what is mapped into memory."""
        raise TypeError("a GGUF file is mapped into memory; open the model again, or send the loaded arrays")


def our_name(name: str) -> str | None:
    """``blk.3.attn_q.weight`` -> ``layers.3.self_attn.q_proj.weight``; None for a name not of a LLaMA."""
    stem, _, kind = name.rpartition(".")
    if kind not in ("weight", "bias"):
        return None
    if stem in _WHOLE:
        return f"{_WHOLE[stem]}.{kind}"
    layer = re.fullmatch(r"blk\.(\d+)\.(\w+)", stem)
    if layer is None or layer.group(2) not in _LAYER:
        return None
    return f"layers.{layer.group(1)}.{_LAYER[layer.group(2)]}.{kind}"


def open_gguf(path: Path) -> OpenedGguf:
    """Read a GGUF file. Raises ModelError where it is broken or its architecture cannot be read."""
    reader = _reader(path)
    kinds = Counter(tensor.tensor_type.name for tensor in reader.tensors)
    stored = ", ".join(f"{kind} ({n} tensors)" for kind, n in kinds.most_common())
    provenance = [
        f"GGUF file {path.name} (sha256 {_sha256(path)})",
        f"stored as {stored}; dequantised to float32 by the gguf library, and analysed as such",
    ]

    def make_runner() -> Any:
        from certify.adapters.transformers_model import load_runner

        return load_runner(path.parent, "gguf", trust_remote_code=False, gguf=path.name)

    config = _llama_config(reader)
    if config is not None:
        return OpenedGguf(LlamaGgufSource(reader, config), config, provenance, make_runner)
    runner = make_runner()
    if any(tensor.name == "output.weight" for tensor in reader.tensors):
        runner.source.left_out.append(("output.weight", "the language-model head is not in the base model"))
    return OpenedGguf(runner.source, runner.config, provenance, lambda: runner)


def _llama_config(reader: Any) -> dict[str, Any] | None:
    """Family and head counts, if the file is a LLaMA whose tensors all have a known name."""

    def field(key: str) -> Any:
        entry = reader.fields.get(key)
        return None if entry is None else entry.contents()

    heads = field("llama.attention.head_count")
    known = all(our_name(tensor.name) is not None for tensor in reader.tensors)
    if field("general.architecture") != "llama" or not known or not isinstance(heads, int):
        return None
    shared = field("llama.attention.head_count_kv")
    return {
        "model_type": "llama",
        "num_attention_heads": heads,
        "num_key_value_heads": heads if shared is None else shared,
    }


def _reader(path: Path) -> Any:
    try:
        from gguf import GGUFReader
    except ImportError as error:
        raise ModelError(f"{path}: reading GGUF needs the package gguf: pip install gguf") from error
    try:
        return GGUFReader(path)
    except (ValueError, OSError, IndexError, KeyError) as error:
        raise ModelError(f"{path}: not a complete GGUF file ({error})") from error


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
