"""Run a Hugging Face model on inputs, with our attention function in place of its own.

Families that do not take their attention from transformers' registry are asked for their weights, one layer
at a time; where they return none either, their attention is listed as skipped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from certify.adapters.attention_hook import HOOK, Recorder, recording, register_hook
from certify.adapters.capture import AttentionRecord
from certify.adapters.config import ROTARY_FAMILIES, head_counts_from, layout_family
from certify.adapters.forms import ScoreHints, rotary_pairings, score_form
from certify.adapters.layouts import Block, find_blocks, output_factor
from certify.adapters.model import AttentionCall, Inputs, Skipped
from certify.adapters.pooling import Pooling, declared_pooling
from certify.adapters.returned_weights import ReturnedRecord, ReturnedWeights
from certify.adapters.scores import ScoreForm
from certify.adapters.sources import TensorDictSource, dtype_name, read_json, tensor_to_array
from certify.adapters.tokens import Tokens, first_line
from certify.adapters.views import apply_view
from certify.errors import DataError, ModelError

FED_BY_US = "probabilities computed head by head by certify's attention function and used by the model"
# Rotary families that pair coordinates (2i, 2i+1); the others pair (i, i + half).
INTERLEAVED = frozenset({"gptj", "codegen", "cohere", "cohere2", "glm", "ernie4_5"})
# Decoders whose modules carry no ``is_causal`` flag.
CAUSAL_FAMILIES = frozenset({"gpt2", "gptj", "gpt_neo", "bloom", "falcon", "mpt", "codegen"})


def load_runner(
    folder: Path, family: str, *, trust_remote_code: bool, gguf: str | None = None
) -> TransformersRunner:
    """Load the base model of ``folder`` in float32; a weight that is missing is an error.

    (transformers would put random numbers in its place and only log it.)
    """
    import transformers

    register_hook()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    options: dict[str, Any] = {"gguf_file": gguf} if gguf else {}
    try:
        if not gguf and "model_type" not in read_json(folder / "config.json"):
            options["config"] = transformers.AutoConfig.for_model(family, **read_json(folder / "config.json"))
        model, info = transformers.AutoModel.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=trust_remote_code,
            dtype=torch.float32,
            output_loading_info=True,
            weights_only=True,
            **options,
        )
    except Exception as error:
        hint = "; its own code is only run with trust_remote_code" if "remote_code" in str(error) else ""
        raise ModelError(
            f"{folder}: transformers cannot load this model ({first_line(error)}){hint}"
        ) from error
    lost = sorted(name for name in info.get("missing_keys", ()) if "pooler" not in name)
    lost += sorted(str(entry[0]) for entry in info.get("mismatched_keys", ()))
    if lost:
        raise ModelError(
            f"{folder}: weight {lost[0]} is missing from the files or of another shape ({len(lost)} such); "
            "the model would run on random numbers there"
        )
    return TransformersRunner(model, model.config.model_type, folder, str(folder), gguf=gguf)


class TransformersRunner:
    """Runs one transformers model; see :class:`certify.adapters.model.Runner`."""

    def __init__(
        self, model: Any, family: str, folder: Path | None, origin: str, gguf: str | None = None
    ) -> None:
        register_hook()
        self.family, self.origin = family, origin
        self.skipped: list[Skipped] = []
        self.model = getattr(model, getattr(model, "base_model_prefix", "") or "", model).eval()
        self.config = self.model.config.to_dict()
        parameters = dict(self.model.named_parameters())
        self.source = TensorDictSource(parameters)
        self.counts_of = head_counts_from(self.config, family, "its configuration")
        self.blocks, _ = find_blocks(self.source.tensors, layout_family(family, self.config), self.counts_of)
        self.encoder_decoder = bool(self.config.get("is_encoder_decoder"))
        self._pooling = declared_pooling(folder) or self._usual_pooling()
        self._tokens = Tokens(folder, self.model.config, origin, gguf)
        dtypes = sorted({dtype_name(p.dtype) for p in parameters.values() if p.is_floating_point()})
        self.machine = f"{'/'.join(dtypes)} on {self.model.device.type} (torch {torch.__version__})"

    @property
    def pooling(self) -> str:
        """mean, first-token or last-token."""
        return self._pooling.kind

    def _usual_pooling(self) -> Pooling:
        if getattr(self.model, "main_input_name", "") == "pixel_values":
            return Pooling("first-token")
        flags = [m.is_causal for m in self.model.modules() if isinstance(getattr(m, "is_causal", None), bool)]
        causal = all(flags) if flags else self.family in CAUSAL_FAMILIES
        return Pooling("last-token" if causal and not self.encoder_decoder else "mean")

    def tokenize(self, text: str) -> tuple[dict[str, NDArray[Any]], bool]:
        """Token ids of ``text`` as forward arguments, and whether it had to be cut."""
        ids, cut = self._tokens.encode(text)
        return {"input_ids": ids}, cut

    def attention(self, inputs: Inputs) -> Iterator[AttentionCall]:
        """Yield the attention layers of each input in order of execution."""
        for index, item in enumerate(inputs.items):
            recorder, hidden = self._forward(index, item)
            positions = self._pooling.positions(hidden.shape[0])
            if recorder.calls:
                yield from self._calls(index, recorder, positions)
            else:
                yield from self._returned_calls(index, item, positions)

    def pooled_features(self, inputs: Inputs) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the pooled last hidden rows of each input (of the encoder, in an encoder-decoder)."""
        for index, item in enumerate(inputs.items):
            yield index, tensor_to_array(self._pooling.apply(self._forward(index, item)[1]))

    # Running ----------------------------------------------------------------------------------------

    def _forward(
        self, index: int, item: Mapping[str, Any], returned: ReturnedWeights | None = None
    ) -> tuple[Recorder, torch.Tensor]:
        """Run one input; return what was recorded and the last hidden rows without padding.

        With ``returned``, the model keeps its own eager attention and is asked for its weights.
        """
        arguments: dict[str, Any] = self._arguments(item)
        keep = {side: _kept_positions(arguments, name) for side, name in
                (("encoder", "attention_mask"), ("decoder", "decoder_attention_mask"))}  # fmt: skip
        recorder = Recorder({id(module): name for name, module in self.model.named_modules()}, keep)
        projections = {_module_path(t) for b in self.blocks for t in (b.query_tensor, b.key_tensor)}
        handles = [recorder.watch(name, self.model.get_submodule(name)) for name in sorted(projections)]
        if returned is not None:
            handles += [returned.watch(b.path, self.model.get_submodule(b.path)) for b in self.blocks]
            arguments["output_attentions"] = True
        before = self.model.config._attn_implementation
        self._switch(HOOK if returned is None else "eager")
        try:
            with recording(recorder), torch.no_grad():
                output = self.model(**arguments)
        except (RuntimeError, ValueError, IndexError, TypeError) as error:
            shapes = ", ".join(
                f"{name} {tuple(t.shape[1:])}" for name, t in arguments.items() if isinstance(t, torch.Tensor)
            )
            raise DataError(
                f"input {index}: {self.origin} cannot run on {shapes} ({first_line(error)})"
            ) from error
        finally:
            self._switch(before)
            for handle in handles:
                handle.remove()
        hidden = output.encoder_last_hidden_state if self.encoder_decoder else output.last_hidden_state
        kept = keep["encoder"]
        if kept is not None and len(kept) == hidden.shape[1]:
            return recorder, hidden[0][torch.from_numpy(kept)]
        return recorder, hidden[0]

    def _switch(self, implementation: str | None) -> None:
        try:
            self.model.set_attn_implementation(implementation or "eager")
        except ValueError:  # the family's attention is fixed: nothing gets recorded, and that is reported
            return

    def _arguments(self, item: Mapping[str, Any]) -> dict[str, torch.Tensor]:
        main = getattr(self.model, "main_input_name", "input_ids")
        arguments: dict[str, torch.Tensor] = {}
        for name, array in item.items():
            tensor = torch.from_numpy(np.ascontiguousarray(array))[None]
            tensor = tensor.to(self.model.dtype) if tensor.is_floating_point() else tensor
            arguments[main if name == "inputs" else name] = tensor.to(self.model.device)
        if self.encoder_decoder and not any(name.startswith("decoder_") for name in arguments):
            arguments["decoder_input_ids"] = self._decoder_start(arguments.get("input_ids"))
        if "input_ids" in arguments and "attention_mask" not in arguments:
            arguments["attention_mask"] = torch.ones_like(arguments["input_ids"])
        return arguments

    def _decoder_start(self, ids: torch.Tensor | None) -> torch.Tensor:
        """The decoder reads the encoder's tokens after its start token, as in teacher forcing."""
        start = self.config.get("decoder_start_token_id")
        start = self.config.get("pad_token_id") if start is None else start
        if start is None:
            raise DataError(
                f"{self.origin} has no decoder_start_token_id; give decoder_input_ids with --inputs FILE.npz"
            )
        first = torch.tensor([[int(start)]], device=self.model.device)
        return first if ids is None else torch.cat([first, ids[:, :-1]], dim=1)

    # What was recorded ------------------------------------------------------------------------------

    def _calls(self, index: int, recorder: Recorder, positions: tuple[int, ...]) -> Iterator[AttentionCall]:
        counts = Counter(name for name, _ in recorder.calls)
        uses: dict[str, int] = {}
        while recorder.calls:
            name, record = recorder.calls.pop(0)
            block = self._block_of(name)
            if block is None:
                record.notes.append("its query and key weights are not known to this adapter")
            if block is None or record.notes:
                self._skip(f"attention of {name}", "; ".join(record.notes))
                continue
            use = uses[block.path] = uses.get(block.path, -1) + 1
            yield self._call(index, block, use, counts[name] > 1, record, recorder, positions)

    def _call(
        self,
        index: int,
        block: Block,
        use: int,
        shared: bool,
        record: AttentionRecord,
        recorder: Recorder,
        positions: tuple[int, ...],
    ) -> AttentionCall:
        notes = [f"weights shared with layer {block.layer}"] if use else []
        if record.softcap is not None:
            notes.append(f"scores are capped at {record.softcap}")
        if record.sinks is not None:
            notes.append("attention sinks: rows sum to less than 1")
        query_side = "decoder" if block.stack in ("decoder", "cross") else "encoder"
        key_side = "decoder" if block.stack == "decoder" else "encoder"
        record.keep_queries = _fitting(recorder.keep[query_side], record.query.shape[1], notes)
        record.keep_keys = _fitting(recorder.keep[key_side], record.key.shape[1], notes)
        x = _kept_rows(recorder.rows[_module_path(block.query_tensor)][use], record.keep_queries)
        y = _kept_rows(recorder.rows[_module_path(block.key_tensor)][use], record.keep_keys)
        hints = replace(self.score_hints(block), shared=shared)

        def form(head: int) -> ScoreForm:
            return score_form(block, head, record, x, y, self.source, hints)

        return AttentionCall(
            index,
            block.layer + use,
            record.heads,
            x,
            y,
            positions if block.stack in ("", "encoder") else (),
            f"{self.machine}, {FED_BY_US}",
            block.stack,
            tuple(notes),
            record,
            form,
            self._output_weights(block),
        )

    def _returned_calls(
        self, index: int, item: Mapping[str, Any], positions: tuple[int, ...]
    ) -> Iterator[AttentionCall]:
        """The layers of a family that returns its weights but does not ask the registry."""
        for block in self.blocks:
            returned = ReturnedWeights(block.path)
            recorder, _ = self._forward(index, item, returned)
            if returned.weights is None:
                reason = (
                    "its module neither asks transformers' registry for attention nor returns its weights"
                )
                self._skip(f"attention of {block.path}", reason)
                continue
            notes = ["values recomputed from the projection's input; masks not recorded"]
            keep = _fitting(recorder.keep["encoder"], returned.weights.shape[-1], notes)
            rows = _kept_rows(recorder.rows[_module_path(block.query_tensor)][0], keep)
            yield AttentionCall(
                index,
                block.layer,
                block.counts.heads,
                rows,
                rows,
                positions,
                f"{self.machine}, probabilities returned by the model's own eager attention",
                block.stack,
                tuple(notes),
                ReturnedRecord(returned.weights[0], rows, block, self.source, keep),
                None,
                self._output_weights(block),
            )

    def _output_weights(self, block: Block) -> Callable[[int], NDArray[Any]]:
        def output(head: int) -> NDArray[Any]:
            view = output_factor(block, head, self.source.tensors).view
            return apply_view(self.source.array(block.output), view).T

        return output

    def _block_of(self, module_name: str) -> Block | None:
        found = [b for b in self.blocks if b.query_tensor.startswith(module_name + ".")]
        return found[0] if len(found) == 1 else None

    def score_hints(self, block: Block) -> ScoreHints:
        """What the configuration and the modules say of the scores; checked afterwards on the numbers."""
        config = self.config
        rope = config.get("rope_parameters") or {}
        rotary = block.stack != "cross" and (self.family in ROTARY_FAMILIES or bool(rope))
        share = (
            rope.get("partial_rotary_factor")
            or config.get("partial_rotary_factor")
            or config.get("rotary_pct")
        )
        rotated = int(config.get("rotary_dim") or (share or 1.0) * block.head_dim)
        attention = self.model.get_submodule(_module_path(block.query_tensor).rpartition(".")[0])
        prescales = {1.0, float(block.head_dim**-0.5)}
        for name in ("scaling", "scale"):
            if isinstance(value := getattr(attention, name, None), float):
                prescales.add(value)
        factors = {m.attention_scaling for m in self.model.modules()
                   if isinstance(getattr(m, "attention_scaling", None), float)}  # fmt: skip
        return ScoreHints(
            rotary,
            rotary_pairings(block.head_dim, rotated, self.family in INTERLEAVED),
            tuple(sorted(prescales, reverse=True)),
            factors.pop() if rotary and len(factors) == 1 else 1.0,
        )

    def _skip(self, name: str, reason: str) -> None:
        if Skipped(name, reason) not in self.skipped:
            self.skipped.append(Skipped(name, reason))


def _module_path(tensor: str) -> str:
    return tensor.removesuffix(".weight")


def _kept_positions(arguments: Mapping[str, torch.Tensor], name: str) -> NDArray[np.bool_] | None:
    """Which positions a (1, T) mask leaves visible; None where it hides none."""
    mask = arguments.get(name)
    if mask is None or mask.ndim != 2 or bool((mask != 0).all()):
        return None
    kept: NDArray[np.bool_] = (mask[0] != 0).cpu().numpy()
    if not kept.any():
        raise DataError(f"{name} hides every position of an input")
    return kept


def _fitting(keep: NDArray[np.bool_] | None, length: int, notes: list[str]) -> NDArray[np.bool_] | None:
    if keep is not None and len(keep) != length:
        notes.append(f"the mask has {len(keep)} positions, this layer {length}: padding was not removed")
        return None
    return keep


def _kept_rows(rows: torch.Tensor, keep: NDArray[np.bool_] | None) -> NDArray[Any]:
    array = tensor_to_array(rows)
    return array if keep is None else array[keep]
