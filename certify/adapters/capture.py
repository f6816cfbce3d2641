"""What is recorded of one attention layer on one input, and the one function that computes its probabilities.

The hooks feed the model with ``head_probabilities`` and the report reads ``head_probabilities`` again from
the recorded q, k and masks: the same operations on the same floats, so nothing of size heads * T * S is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from certify.adapters.sources import tensor_to_array

HIDDEN_BELOW = -1e30  # a mask entry below this hides a key: masks use -inf or the lowest float


@dataclass
class AttentionRecord:
    """q (H, T, d), k (G, S, d), v (G, S, e) as they meet, G dividing H, and what is added to the scores.

    ``mask`` and ``bias``: additive, broadcastable to (H, T, S). ``sinks``: (H,) extra logits without a value.
    ``keep_queries``, ``keep_keys``: boolean (T,), (S,) where padding is to be taken out, or None.
    """

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    scale: float
    mask: torch.Tensor | None = None
    bias: torch.Tensor | None = None
    softcap: float | None = None
    sinks: torch.Tensor | None = None
    keep_queries: NDArray[np.bool_] | None = None
    keep_keys: NDArray[np.bool_] | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def heads(self) -> int:
        return self.query.shape[0]

    def group(self, head: int) -> int:
        """The key-value head that query head ``head`` reads."""
        return head * self.key.shape[0] // self.heads

    def probabilities(self, head: int) -> NDArray[Any]:
        """The attention matrix of ``head`` with padded rows and columns removed."""
        return self._trim(tensor_to_array(head_probabilities(self, head)))

    def values(self, head: int) -> NDArray[Any]:
        """The value rows of ``head``, padding removed."""
        rows = tensor_to_array(self.value[self.group(head)])
        return rows if self.keep_keys is None else rows[self.keep_keys]

    def queries(self, head: int) -> NDArray[Any]:
        """The query rows (after rotation and normalisation, if any), padding removed."""
        rows = tensor_to_array(self.query[head])
        return rows if self.keep_queries is None else rows[self.keep_queries]

    def keys(self, head: int) -> NDArray[Any]:
        """The key rows (after rotation and normalisation, if any), padding removed."""
        rows = tensor_to_array(self.key[self.group(head)])
        return rows if self.keep_keys is None else rows[self.keep_keys]

    def visible(self, query: int) -> NDArray[np.bool_]:
        """Which keys query row ``query`` (counted without padding) may attend to."""
        size = self.key.shape[1]
        hidden = torch.zeros(size, dtype=torch.bool)
        row = query if self.keep_queries is None else int(np.flatnonzero(self.keep_queries)[query])
        for added in (self.mask, self.bias):
            if added is not None:
                full = added.expand(*added.shape[:-2], self.query.shape[1], size)
                hidden |= full.reshape(-1, self.query.shape[1], size)[0, row] < HIDDEN_BELOW
        seen: NDArray[np.bool_] = (~hidden).numpy()
        return seen if self.keep_keys is None else seen[self.keep_keys]

    def _trim(self, matrix: NDArray[Any]) -> NDArray[Any]:
        if self.keep_queries is not None:
            matrix = matrix[self.keep_queries]
        return matrix if self.keep_keys is None else matrix[:, self.keep_keys]


def head_probabilities(record: AttentionRecord, head: int) -> torch.Tensor:
    """The (T, S) probabilities of one head, in the dtype of its queries (softmax in at least float32)."""
    scores = torch.matmul(record.query[head], record.key[record.group(head)].T) * record.scale
    if record.softcap is not None:
        scores = record.softcap * torch.tanh(scores / record.softcap)
    for added in (record.bias, record.mask):
        if added is not None:
            scores = scores + (
                added[head] if added.ndim == 3 and added.shape[0] > 1 else added.reshape(added.shape[-2:])
            )
    wide = scores.double() if scores.dtype == torch.float64 else scores.float()
    if record.sinks is not None:
        sink = record.sinks[head].to(wide.dtype).expand(wide.shape[0], 1)
        return torch.softmax(torch.cat([wide, sink], dim=-1), dim=-1)[:, :-1].to(scores.dtype)
    return torch.softmax(wide, dim=-1).to(scores.dtype)


def attend(record: AttentionRecord) -> torch.Tensor:
    """The attention output (T, H, e), one head at a time, from ``head_probabilities``."""
    rows = [
        torch.matmul(head_probabilities(record, h), record.value[record.group(h)])
        for h in range(record.heads)
    ]
    return torch.stack(rows, dim=1)
