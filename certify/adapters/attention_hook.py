"""The attention function that we register with transformers, and what it records.

``AttentionInterface`` lets a model take its attention from a registry. Ours computes the probabilities
head by head and hands the result to the model, so the attention matrices reported are the ones it used.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from certify.adapters.capture import AttentionRecord, attend
from certify.errors import ModelError

HOOK = "certify"
# Keywords of the attention call that leave the scores alone, or whose effect is already in the mask.
NEUTRAL = frozenset({
    "attention_mask_type", "cache_position", "cu_seq_lens_k", "cu_seq_lens_q", "deterministic", "dropout",
    "encoder_attention_mask", "encoder_hidden_states", "is_causal", "layer_idx", "logits_to_keep",
    "max_length_k", "max_length_q", "output_attentions", "output_hidden_states", "past_key_values",
    "position_embeddings", "position_ids", "return_dict", "sliding_window", "token_type_ids", "training",
    "use_cache",
})  # fmt: skip


@dataclass
class Recorder:
    """What one forward pass leaves: attention records in order, and the rows that entered projections.

    ``names``: module id -> its path. ``keep``: which positions of the encoder and decoder are no padding.
    """

    names: dict[int, str]
    keep: dict[str, NDArray[np.bool_] | None]
    calls: list[tuple[str, AttentionRecord]] = field(default_factory=list)
    rows: dict[str, list[torch.Tensor]] = field(default_factory=dict)

    def watch(self, name: str, module: torch.nn.Module) -> torch.utils.hooks.RemovableHandle:
        """Keep the rows that enter ``module``, a projection, at each call."""

        def hook(_module: torch.nn.Module, arguments: tuple[Any, ...]) -> None:
            rows = arguments[0].detach()
            self.rows.setdefault(name, []).append(rows.reshape(-1, rows.shape[-1]))

        return module.register_forward_pre_hook(hook)


_active: list[Recorder] = []


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Send what our attention function sees to ``recorder``."""
    _active.append(recorder)
    try:
        yield
    finally:
        _active.pop()


def certify_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None = None,
    scaling: float | None = None,
    softcap: float | None = None,
    position_bias: torch.Tensor | None = None,
    s_aux: torch.Tensor | None = None,
    **keywords: Any,
) -> tuple[torch.Tensor, None]:
    """The registered function: q (1, H, T, d), k and v (1, G, S, d) -> output (1, T, H, d)."""
    if query.shape[0] != 1:
        raise ModelError(f"attention was called on {query.shape[0]} sequences at once; one was expected")
    record = AttentionRecord(
        query[0],
        key[0],
        value[0],
        float(query.shape[-1] ** -0.5 if scaling is None else scaling),
        _additive(attention_mask, query.dtype),
        None if position_bias is None else position_bias[0],
        softcap,
        s_aux,
    )
    unknown = sorted(name for name, value in keywords.items() if value is not None and name not in NEUTRAL)
    if unknown:
        record.notes.append(f"the model gives its attention {', '.join(unknown)}, unknown to this adapter")
    if _active:
        _active[-1].calls.append((_active[-1].names.get(id(module), type(module).__name__), record))
    return attend(record)[None], None


def register_hook() -> None:
    """Make ``attn_implementation="certify"`` known to transformers."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    AttentionInterface.register(HOOK, certify_attention)
    AttentionMaskInterface.register(HOOK, eager_mask)


def _additive(mask: torch.Tensor | None, dtype: torch.dtype) -> torch.Tensor | None:
    """The mask as numbers added to the scores, (1 or H, T, S); True means visible in a boolean mask."""
    if mask is None:
        return None
    mask = mask.reshape(mask.shape[-3:]) if mask.ndim >= 3 else mask
    if mask.dtype == torch.bool:
        return torch.zeros(mask.shape, dtype=dtype).masked_fill(~mask, torch.finfo(dtype).min)
    return mask
