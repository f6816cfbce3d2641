"""GGUF files: dequantised to float32 by transformers' reader, then treated as that transformers model.

What is analysed are the dequantised numbers, which is also what the model runs on here; a runtime that
multiplies in the quantised format has another arithmetic. The file's own bytes are pinned by their sha256.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

from certify.adapters.config import ROTARY_FAMILIES, layout_family
from certify.adapters.layouts import find_blocks
from certify.adapters.model import Model, Skipped
from certify.adapters.plan import plan_matrices
from certify.errors import ModelError


def open_gguf(path: Path, origin: str) -> Model:
    """Open a GGUF file through transformers. Raises ModelError where it cannot be read."""
    tensors, digest = _read_header(path), _sha256(path)
    kinds = ", ".join(f"{kind} ({n} tensors)" for kind, n in Counter(tensors.values()).most_common())
    from certify.adapters.transformers_model import load_runner

    runner = load_runner(path.parent, "gguf", trust_remote_code=False, gguf=path.name)
    family = runner.family
    matrices, skipped = plan_matrices(runner.source, runner.blocks, rotary=family in ROTARY_FAMILIES)
    _, unknown = find_blocks(runner.source.tensors, layout_family(family, runner.config), runner.counts_of)
    if "output.weight" in tensors:
        skipped.append(
            Skipped("output.weight", "the language-model head is not part of the base model that is run")
        )
    provenance = [
        f"GGUF file {path.name} (sha256 {digest})",
        f"stored as {kinds}; dequantised to float32 by transformers' GGUF reader, and analysed as such",
    ]
    return Model(
        name=origin if len(origin) < 20 and "/" not in origin else path.stem,
        family=family,
        origin=origin,
        root=path.parent,
        source=runner.source,
        matrices=matrices,
        skipped=[*unknown, *skipped],
        provenance=provenance,
        runner=lambda: runner,
    )


def _read_header(path: Path) -> dict[str, str]:
    """Tensor name -> quantisation kind."""
    try:
        from gguf import GGUFReader
    except ImportError as error:
        raise ModelError(f"{path}: reading GGUF needs the package gguf: pip install gguf") from error
    try:
        return {tensor.name: tensor.tensor_type.name for tensor in GGUFReader(path).tensors}
    except (ValueError, OSError, IndexError, KeyError) as error:
        raise ModelError(f"{path}: not a complete GGUF file ({error})") from error


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
