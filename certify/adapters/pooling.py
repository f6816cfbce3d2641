"""How the last hidden rows become one feature vector: what a model's files declare, or its kind's custom."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from certify.adapters.sources import read_json

_DECLARED = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "first-token",
    "pooling_mode_lasttoken": "last-token",
}


@dataclass(frozen=True)
class Pooling:
    """``kind`` is mean, first-token or last-token; ``normalise``: divided by its length afterwards."""

    kind: str
    normalise: bool = False

    def positions(self, length: int) -> tuple[int, ...]:
        """The rows read from a sequence of ``length`` rows."""
        if self.kind == "mean":
            return tuple(range(length))
        return (0,) if self.kind == "first-token" else (length - 1,)

    def apply(self, hidden: torch.Tensor) -> torch.Tensor:
        """Hidden rows (T, d) -> feature (d,), in their own dtype."""
        pooled = hidden[list(self.positions(hidden.shape[0]))].mean(dim=0)
        return torch.nn.functional.normalize(pooled, dim=0) if self.normalise else pooled


def declared_pooling(folder: Path | None) -> Pooling | None:
    """The pooling that a sentence-transformers folder declares, if it is one of the three known kinds."""
    if folder is None or not (folder / "1_Pooling" / "config.json").is_file():
        return None
    config = read_json(folder / "1_Pooling" / "config.json")
    modes = [key for key, value in config.items() if key.startswith("pooling_mode_") and value is True]
    if len(modes) != 1 or modes[0] not in _DECLARED:
        return None
    modules = folder / "modules.json"
    normalise = modules.is_file() and "Normalize" in modules.read_text(encoding="utf-8")
    return Pooling(_DECLARED[modes[0]], normalise)
