"""Attention matrices of families that do not ask transformers' registry, but return their weights.

A model asked for its attentions collects those of all layers. Here a hook on every layer empties what it
returns, except for the one layer that is wanted, and the model is run once per layer: slower by the number
of layers, and never more than one layer's heads * T * S numbers in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from certify.adapters.forms import weight_and_bias
from certify.adapters.layouts import Block
from certify.adapters.sources import TensorSource, tensor_to_array


@dataclass
class ReturnedWeights:
    """Catches the (1, H, T, S) weights that the module at ``wanted`` returns, and empties the others'."""

    wanted: str
    weights: torch.Tensor | None = None

    def watch(self, name: str, module: torch.nn.Module) -> torch.utils.hooks.RemovableHandle:
        """Hook ``module``, the attention of one layer."""

        def hook(_module: torch.nn.Module, _arguments: Any, output: Any) -> Any:
            if not isinstance(output, tuple):
                return output
            found = [
                i for i, part in enumerate(output) if i and isinstance(part, torch.Tensor) and part.ndim == 4
            ]
            if len(found) != 1:
                return output
            weights = output[found[0]]
            if name == self.wanted:
                self.weights = weights.detach()
            return (*output[: found[0]], weights.new_empty(0), *output[found[0] + 1 :])

        return module.register_forward_hook(hook)


@dataclass
class ReturnedRecord:
    """One layer's returned weights (H, T, S) and the rows (S, d) that entered its value projection."""

    weights: torch.Tensor
    rows: NDArray[Any]
    block: Block
    source: TensorSource
    keep: NDArray[np.bool_] | None = None
    notes: list[str] = field(default_factory=list)

    def probabilities(self, head: int) -> NDArray[Any]:
        """The attention matrix of ``head`` with padded rows and columns removed."""
        matrix = tensor_to_array(self.weights[head])
        return matrix if self.keep is None else matrix[self.keep][:, self.keep]

    def values(self, head: int) -> NDArray[Any]:
        """The value rows of ``head``, recomputed as x W_V + b_V in the dtype of ``rows``."""
        weight, bias = weight_and_bias(self.block.value[head], self.source)
        product: NDArray[Any] = self.rows @ weight
        return product if bias is None else product + bias

    def visible(self, query: int) -> NDArray[np.bool_]:
        """Every key: which ones the mask hides is not recorded, and more keys only widen a bound."""
        return np.ones(len(self.rows), dtype=bool)
