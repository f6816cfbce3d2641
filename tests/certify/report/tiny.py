"""How the tiny model and its report are made; shared by the report's tests and the attacks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from certify.cli import main


@dataclass(frozen=True)
class Tiny:
    """Folder of the model, folder of the report, inputs file, and the parsed report."""

    model: Path
    inputs: Path
    out: Path
    report: dict[str, Any]


def make_model(folder: Path) -> Path:
    """A BERT with 2 layers, 2 heads, width 8, saved as safetensors."""
    torch.manual_seed(7)
    config = transformers.BertConfig(
        vocab_size=32, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=16,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def make_inputs(path: Path) -> Path:
    """Three sequences of six tokens, the last one padded."""
    rng = np.random.default_rng(3)
    tokens = rng.integers(1, 32, size=(3, 6))
    mask = np.ones_like(tokens)
    mask[2, 4:] = 0
    np.savez(path, input_ids=tokens, attention_mask=mask)
    return path


def make_tiny(folder: Path) -> Tiny:
    """Run ``certify report`` on the tiny model."""
    model, inputs, out = make_model(folder / "model"), make_inputs(folder / "inputs.npz"), folder / "out"
    code = main(
        ["report", str(model), "--inputs", str(inputs), "--out", str(out), "--quiet", "--samples", "1000"]
    )
    assert code == 0
    return Tiny(model, inputs, out, json.loads((out / "report.json").read_text()))
