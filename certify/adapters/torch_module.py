"""Run any ``torch.nn.Module`` and record the attention of its ``nn.MultiheadAttention`` layers.

``nn.TransformerEncoderLayer`` asks its attention for no weights and, in inference, may bypass it by a fused
kernel. So while a model runs here the fused path is switched off, and each attention module's ``forward`` is
replaced by one that computes the same formula head by head and records it; both are put back afterwards.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import nn

from certify.adapters.capture import AttentionRecord, attend, head_probabilities
from certify.adapters.forms import ScoreHints, score_form
from certify.adapters.layouts import Block, HeadCounts, HeadCountsOf, find_blocks, output_factor
from certify.adapters.model import AttentionCall, Inputs, Skipped
from certify.adapters.scores import ScoreForm
from certify.adapters.sources import TensorDictSource, tensor_to_array
from certify.adapters.tokens import first_line
from certify.adapters.views import apply_view
from certify.errors import DataError

SEQUENCE_FIRST_TYPES = (nn.MultiheadAttention, nn.TransformerEncoder, nn.TransformerEncoderLayer,
                        nn.TransformerDecoder, nn.TransformerDecoderLayer, nn.Transformer)  # fmt: skip


def module_head_counts(module: nn.Module) -> HeadCountsOf:
    """Head counts of the ``nn.MultiheadAttention`` modules below ``module``, by their path."""
    found = {name: m.num_heads for name, m in module.named_modules() if isinstance(m, nn.MultiheadAttention)}

    def counts(path: str, _stack: str) -> HeadCounts | str:
        if path in found:
            return HeadCounts(found[path], found[path])
        return "its number of heads is not known: this is no nn.MultiheadAttention"

    return counts


@dataclass
class _Recorded:
    path: str
    record: AttentionRecord
    queries_in: torch.Tensor
    keys_in: torch.Tensor


class ModuleRunner:
    """Runs one torch module; see :class:`certify.adapters.model.Runner`."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module.eval()
        self.skipped: list[Skipped] = []
        self.pooling = "mean"
        self.source = TensorDictSource(dict(module.named_parameters()))
        self.blocks, _ = find_blocks(self.source.tensors, "torch", module_head_counts(module))
        self.attentions = {n: m for n, m in module.named_modules() if isinstance(m, nn.MultiheadAttention)}
        dtypes = sorted(
            {str(p.dtype).removeprefix("torch.") for p in module.parameters() if p.is_floating_point()}
        )
        self.arithmetic = (
            f"{'/'.join(dtypes)} (torch {torch.__version__}), probabilities computed head by head "
            "by certify in "
            "place of nn.MultiheadAttention's forward and used by the model"
        )

    def tokenize(self, text: str) -> tuple[dict[str, NDArray[Any]], bool]:
        raise DataError(
            "a torch module has no tokenizer: give arrays with --inputs FILE.npz, named as its "
            "forward's arguments"
        )

    def attention(self, inputs: Inputs) -> Iterator[AttentionCall]:
        """Yield the attention layers of each input in order of execution."""
        if not self.attentions:
            self.skipped.append(
                Skipped("attention matrices", "the module has no nn.MultiheadAttention layer")
            )
            return
        for index, item in enumerate(inputs.items):
            yield from self._calls(index, self._forward(index, item)[0])

    def pooled_features(self, inputs: Inputs) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the mean over the rows of the module's (first) output, a (T, d) or (d,) array."""
        for index, item in enumerate(inputs.items):
            _, output = self._forward(index, item)
            yield index, tensor_to_array(output.reshape(-1, output.shape[-1]).mean(dim=0))

    def _forward(self, index: int, item: Any) -> tuple[list[_Recorded], torch.Tensor]:
        arguments = self._arguments(index, item)
        recorded: list[_Recorded] = []
        try:
            with _recording(self.attentions, recorded), torch.no_grad():
                output = self.module(**arguments)
        except (RuntimeError, ValueError, IndexError, TypeError, AssertionError) as error:
            shapes = ", ".join(f"{n} {tuple(a.shape)}" for n, a in arguments.items())
            first = first_line(error)
            raise DataError(
                f"input {index}: {type(self.module).__name__} cannot run on {shapes} ({first})"
            ) from error
        while isinstance(output, (tuple, list)) and output:
            output = output[0]
        if not isinstance(output, torch.Tensor) or output.ndim == 0:
            raise DataError(
                f"input {index}: the module returns {type(output).__name__}; a tensor was expected"
            )
        return recorded, output.detach()

    def _arguments(self, index: int, item: Any) -> dict[str, torch.Tensor]:
        names = [
            p.name
            for p in inspect.signature(self.module.forward).parameters.values()
            if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
        ]
        sequence_first = isinstance(self.module, SEQUENCE_FIRST_TYPES) and not any(
            a.batch_first for a in self.attentions.values()
        )
        floats = [p.dtype for p in self.module.parameters() if p.is_floating_point()]
        arguments = {}
        for name, array in item.items():
            target = names[0] if name == "inputs" and names else name
            if names and target not in names:
                raise DataError(
                    f"input {index}: {type(self.module).__name__} takes {', '.join(names)}, not {name!r}"
                )
            tensor = torch.from_numpy(np.ascontiguousarray(array))
            if tensor.is_floating_point() and floats:
                tensor = tensor.to(floats[0])
            arguments[target] = (
                tensor
                if "attn_mask" in target or target.endswith("src_mask") or target == "mask"
                else (tensor.unsqueeze(1 if sequence_first and "padding" not in target else 0))
            )
        if isinstance(self.module, nn.MultiheadAttention) and set(arguments) == {"query"}:
            arguments["key"] = arguments["value"] = arguments["query"]
        return arguments

    def _calls(self, index: int, recorded: list[_Recorded]) -> Iterator[AttentionCall]:
        blocks = {block.path: block for block in self.blocks}
        counts = Counter(item.path for item in recorded)
        turns: dict[str, int] = {}
        for item in recorded:
            block = blocks.get(item.path)
            if block is None or item.record.notes:
                reason = "; ".join(item.record.notes) or "its weights are not known to this adapter"
                if Skipped(f"attention of {item.path}", reason) not in self.skipped:
                    self.skipped.append(Skipped(f"attention of {item.path}", reason))
                continue
            turn = turns[item.path] = turns.get(item.path, -1) + 1
            yield self._call(index, block, turn, counts[item.path] > 1, item)

    def _call(self, index: int, block: Block, turn: int, shared: bool, item: _Recorded) -> AttentionCall:
        record = item.record
        x, y = tensor_to_array(item.queries_in), tensor_to_array(item.keys_in)
        if record.keep_keys is not None:
            y = y[record.keep_keys[: len(y)]]
        if record.keep_queries is not None:
            x = x[record.keep_queries]

        def form(head: int) -> ScoreForm:
            return score_form(block, head, record, x, y, self.source, ScoreHints(shared=shared))

        def output_weight(head: int) -> NDArray[Any]:
            return apply_view(
                self.source.array(block.output), output_factor(block, head, self.source.tensors).view
            ).T

        # The pooled rows are those of the module's output: the decoder's, where there is one.
        stacks = {block.stack for block in self.blocks}
        pooled = ("decoder", "cross") if "decoder" in stacks else ("", "encoder")
        positions = tuple(range(len(x))) if block.stack in pooled else ()
        return AttentionCall(
            index,
            block.layer + turn,
            record.heads,
            x,
            y,
            positions,
            self.arithmetic,
            block.stack,
            (f"weights shared with layer {block.layer}",) if turn else (),
            record,
            form,
            output_weight,
        )


@contextmanager
def _recording(attentions: dict[str, nn.MultiheadAttention], into: list[_Recorded]) -> Iterator[None]:
    fused = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        for path, module in attentions.items():
            module.forward = _Replacement(path, module, into)  # type: ignore[method-assign]
        yield
    finally:
        for module in attentions.values():
            del module.forward
        torch.backends.mha.set_fastpath_enabled(fused)


class _Replacement:
    """``nn.MultiheadAttention.forward`` for one input, computed and recorded head by head."""

    def __init__(self, path: str, module: nn.MultiheadAttention, into: list[_Recorded]) -> None:
        self.path, self.module, self.into = path, module, into

    def __call__(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        key_padding_mask: torch.Tensor | None = None,
        need_weights: bool = True,
        attn_mask: torch.Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        module = self.module
        batch_axis = None if query.ndim == 2 else 0 if module.batch_first else 1
        if batch_axis is not None and query.shape[batch_axis] != 1:
            raise ValueError(
                f"{self.path or 'the module'} got a batch of {query.shape[batch_axis]}; one input at a time"
            )
        rows = [t if batch_axis is None else t.squeeze(batch_axis) for t in (query, key, value)]
        record = self._record(rows, key_padding_mask, attn_mask, self_attention=query is key)
        self.into.append(_Recorded(self.path, record, rows[0].detach(), rows[1].detach()))
        out = F.linear(attend(record).flatten(1), module.out_proj.weight, module.out_proj.bias)
        weights = None
        if need_weights:
            stacked = torch.stack([head_probabilities(record, head) for head in range(record.heads)])
            weights = stacked.mean(dim=0) if average_attn_weights else stacked
        if batch_axis is None:
            return out, weights
        return out.unsqueeze(batch_axis), None if weights is None else weights[None]

    def _record(
        self,
        rows: list[torch.Tensor],
        padding: torch.Tensor | None,
        mask: torch.Tensor | None,
        self_attention: bool,
    ) -> AttentionRecord:
        module, heads = self.module, self.module.num_heads
        if module.in_proj_weight is not None:
            weights = module.in_proj_weight.chunk(3)
        else:
            weights = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
        biases = (None,) * 3 if module.in_proj_bias is None else module.in_proj_bias.chunk(3)
        q, k, v = (
            F.linear(x, w, b).unflatten(-1, (heads, -1)).transpose(0, 1)
            for x, w, b in zip(rows, weights, biases, strict=True)
        )
        extra = 0
        if module.bias_k is not None and module.bias_v is not None:
            k = torch.cat([k, module.bias_k.reshape(heads, 1, -1)], dim=1)
            v = torch.cat([v, module.bias_v.reshape(heads, 1, -1)], dim=1)
            extra += 1
        if module.add_zero_attn:
            k, v = (torch.cat([t, torch.zeros_like(t[:, :1])], dim=1) for t in (k, v))
            extra += 1
        added = (
            None
            if mask is None
            else F.pad(_additive(mask, q.dtype).reshape(-1, *mask.shape[-2:]), (0, extra))
        )
        keep = None
        if padding is not None:
            hidden = F.pad(_additive(padding.reshape(-1), q.dtype), (0, extra))
            added = hidden[None, None, :] if added is None else added + hidden
            if bool((hidden < 0).any()):
                keep = (hidden >= 0).numpy()
        return AttentionRecord(
            q,
            k,
            v,
            float(q.shape[-1] ** -0.5),
            added,
            keep_keys=keep,
            keep_queries=keep[: q.shape[1]] if self_attention and keep is not None else None,
        )


def _additive(mask: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    if mask.dtype == torch.bool:  # here True hides a key
        return torch.zeros(mask.shape, dtype=dtype).masked_fill(mask, float("-inf"))
    return mask.to(dtype)
