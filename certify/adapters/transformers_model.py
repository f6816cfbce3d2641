"""Run a Hugging Face model with our attention function in place of its own, and record each layer.

``AttentionInterface`` lets a model take its attention from a registry. Ours computes the probabilities head by
head and hands the result to the model, so the attention matrices reported are the ones the model used.
Families that do not ask the registry are listed as skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from certify.adapters.capture import AttentionRecord, attend
from certify.adapters.config import ROTARY_FAMILIES, head_counts_from, layout_family
from certify.adapters.forms import ScoreHints, rotary_pairings, score_form
from certify.adapters.layouts import Block, find_blocks, output_factor
from certify.adapters.model import AttentionCall, Inputs, Skipped
from certify.adapters.scores import ScoreForm
from certify.adapters.sources import TensorDictSource, dtype_name, read_json
from certify.adapters.views import apply_view
from certify.errors import DataError, ModelError

HOOK = "certify"
INTERLEAVED = frozenset({"gptj", "codegen", "cohere", "cohere2", "glm", "ernie4_5"})
# Keywords of the attention call that leave the scores alone, or are already in the mask.
NEUTRAL = frozenset({
    "dropout", "is_causal", "sliding_window", "output_attentions", "output_hidden_states", "position_ids", "use_cache",
    "cache_position", "return_dict", "deterministic", "position_embeddings", "past_key_values", "max_length_q",
    "max_length_k", "attention_mask_type", "training", "cu_seq_lens_q", "cu_seq_lens_k", "head_mask", "layer_idx",
    "encoder_hidden_states", "encoder_attention_mask", "token_type_ids", "logits_to_keep",
})  # fmt: skip
_SINK: list[Recorder] = []


@dataclass
class Recorder:
    """Collects the records of one forward pass."""

    names: dict[int, str]
    keep: dict[str, NDArray[np.bool_] | None]
    calls: list[tuple[str, AttentionRecord]] = field(default_factory=list)
    rows: dict[str, list[torch.Tensor]] = field(default_factory=dict)


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
    """The attention function registered with transformers: q (1, H, T, d) -> output (1, T, H, d)."""
    if query.shape[0] != 1:
        raise ModelError(
            f"attention was called on a batch of {query.shape[0]}; one input at a time was expected"
        )
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
    unknown = sorted(k for k, v in keywords.items() if v is not None and k not in NEUTRAL)
    if unknown:
        record.notes.append(
            f"the model passes {', '.join(unknown)} to its attention, which this adapter does not know"
        )
    if _SINK:
        recorder = _SINK[-1]
        recorder.calls.append((recorder.names.get(id(module), type(module).__name__), record))
    return attend(record)[None], None


def _additive(mask: torch.Tensor | None, dtype: torch.dtype) -> torch.Tensor | None:
    if mask is None:
        return None
    mask = mask.reshape(mask.shape[-3:]) if mask.ndim >= 3 else mask
    if mask.dtype == torch.bool:
        return torch.zeros(mask.shape, dtype=dtype).masked_fill(~mask, torch.finfo(dtype).min)
    return mask


def register_hook() -> None:
    """Make ``attn_implementation="certify"`` known to transformers."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    AttentionInterface.register(HOOK, certify_attention)
    AttentionMaskInterface.register(HOOK, eager_mask)


def load_runner(
    folder: Path, family: str, *, trust_remote_code: bool, gguf: str | None = None
) -> TransformersRunner:
    """Load the base model of ``folder`` in float32. Weights that are missing are an error, not random numbers."""
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
        first = _first_line(error)
        hint = (
            "; its own code is only run with trust_remote_code" if "trust_remote_code" in str(error) else ""
        )
        raise ModelError(f"{folder}: transformers cannot load this model ({first}){hint}") from error
    lost = sorted(k for k in info.get("missing_keys", ()) if "pooler" not in k)
    if lost or info.get("mismatched_keys"):
        what = lost[0] if lost else next(iter(info["mismatched_keys"]))
        raise ModelError(
            f"{folder}: weight {what} is missing or of another shape in the file ({len(lost)} missing); "
            "the model would run on random numbers there"
        )
    return TransformersRunner(model, model.config.model_type, folder, str(folder), gguf=gguf)


class TransformersRunner:
    """Runs one transformers model; see :class:`certify.adapters.model.Runner`."""

    def __init__(
        self, model: Any, family: str, folder: Path | None, origin: str, gguf: str | None = None
    ) -> None:
        register_hook()
        self.family, self.folder, self.origin, self.gguf = family, folder, origin, gguf
        self.skipped: list[Skipped] = []
        self.model = getattr(model, getattr(model, "base_model_prefix", "") or "", model).eval()
        self.config = self.model.config.to_dict()
        parameters = dict(self.model.named_parameters())
        self.source = TensorDictSource(parameters)
        self.counts_of = head_counts_from(self.config, family, "its configuration")
        self.blocks, _ = find_blocks(self.source.tensors, layout_family(family, self.config), self.counts_of)
        self.encoder_decoder = bool(self.config.get("is_encoder_decoder"))
        self.causal = bool(self.blocks) and not self.encoder_decoder and self._looks_causal()
        self.pooling, self.normalise = self._pooling()
        dtypes = sorted({dtype_name(p.dtype) for p in parameters.values() if p.is_floating_point()})
        self.arithmetic = (
            f"{'/'.join(dtypes)} on {self.model.device.type} (torch {torch.__version__}), probabilities computed "
            "head by head by certify's attention function and used by the model"
        )
        self._tokenizer: Any = None

    def _looks_causal(self) -> bool:
        modules = [m for m in self.model.modules() if isinstance(getattr(m, "is_causal", None), bool)]
        names = {type(m).__name__ for m in self.model.modules()}
        if modules:
            return all(m.is_causal for m in modules) and not any(
                "Embeddings" in n and "Patch" in n for n in names
            )
        return self.family in ("gpt2", "gptj", "gpt_neo", "bloom", "falcon", "mpt", "codegen")

    def _pooling(self) -> tuple[str, bool]:
        """The pooling that sentence-transformers files declare, else last token / class token / mean."""
        if self.folder is not None and (self.folder / "1_Pooling" / "config.json").is_file():
            config = read_json(self.folder / "1_Pooling" / "config.json")
            modes = [k for k, v in config.items() if k.startswith("pooling_mode_") and v is True]
            normalise = (self.folder / "2_Normalize").exists() or "Normalize" in (
                (self.folder / "modules.json").read_text("utf-8")
                if (self.folder / "modules.json").is_file()
                else ""
            )
            known = {
                "pooling_mode_mean_tokens": "mean",
                "pooling_mode_cls_token": "first-token",
                "pooling_mode_lasttoken": "last-token",
            }
            if len(modes) == 1 and modes[0] in known:
                return known[modes[0]], normalise
        if self.causal:
            return "last-token", False
        return (
            "first-token" if getattr(self.model, "main_input_name", "") == "pixel_values" else "mean"
        ), False

    # -- inputs ------------------------------------------------------------------------------------------------

    def tokenize(self, text: str) -> tuple[dict[str, NDArray[Any]], bool]:
        """Token ids of ``text`` as forward arguments, and whether it had to be cut."""
        tokenizer = self._load_tokenizer()
        limit = self._max_length(tokenizer)
        encoded = tokenizer(text, truncation=False, verbose=False)
        cut = limit is not None and len(encoded["input_ids"]) > limit
        if cut:
            encoded = tokenizer(text, truncation=True, max_length=limit, verbose=False)
        ids = [int(i) for i in encoded["input_ids"]]
        if not ids:
            raise DataError(f"the tokenizer of {self.origin} makes no token of the line {text[:40]!r}")
        return {"input_ids": np.asarray(ids, dtype=np.int64)}, cut

    def _load_tokenizer(self) -> Any:
        if self._tokenizer is None:
            from transformers import AutoTokenizer

            instead = "give token ids with --inputs FILE.npz (an integer array input_ids)"
            if self.folder is None:
                raise DataError(f"{self.origin} comes without a tokenizer: {instead}")
            try:
                options: dict[str, Any] = (
                    {"gguf_file": self.gguf} if self.gguf else {"config": self.model.config}
                )
                tokenizer = AutoTokenizer.from_pretrained(self.folder, local_files_only=True, **options)
            except Exception as error:
                raise DataError(
                    f"{self.folder}: no usable tokenizer ({_first_line(error)}); {instead}"
                ) from error
            # Without vocabulary files transformers may build a tokenizer that knows special tokens only.
            if len(tokenizer) <= len(tokenizer.all_special_tokens):
                raise DataError(f"{self.folder}: no usable tokenizer (no vocabulary file there); {instead}")
            self._tokenizer = tokenizer
        return self._tokenizer

    def _max_length(self, tokenizer: Any) -> int | None:
        limits = [int(getattr(tokenizer, "model_max_length", 10**30))]
        if self.folder is not None and (self.folder / "sentence_bert_config.json").is_file():
            limits.append(
                int(read_json(self.folder / "sentence_bert_config.json").get("max_seq_length") or 10**30)
            )
        for key in ("max_position_embeddings", "n_positions", "max_seq_len"):
            if isinstance(self.config.get(key), int):
                limits.append(self.config[key])
        shortest = min(limits)
        return shortest if shortest < 10**6 else None

    # -- running -----------------------------------------------------------------------------------------------

    def attention(self, inputs: Inputs) -> Iterator[AttentionCall]:
        """Yield the attention layers of each input in order of execution."""
        for index, item in enumerate(inputs.items):
            recorder, hidden = self._forward(index, item)
            positions = pooled_positions(self.pooling, hidden.shape[0])
            yield from self._calls(index, recorder, positions)

    def pooled_features(self, inputs: Inputs) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the pooled last hidden rows of each input, L2-normalised where the model's files say so."""
        for index, item in enumerate(inputs.items):
            _, hidden = self._forward(index, item)
            rows = hidden[list(pooled_positions(self.pooling, hidden.shape[0]))]
            pooled = rows.mean(dim=0)
            yield (
                index,
                (torch.nn.functional.normalize(pooled, dim=0) if self.normalise else pooled).float().numpy(),
            )

    def _forward(self, index: int, item: Any) -> tuple[Recorder, torch.Tensor]:
        arguments = self._arguments(item)
        recorder = Recorder({id(m): n for n, m in self.model.named_modules()}, self._keeps(arguments))
        handles = [self._watch(name, recorder) for name in self._projections()]
        before = self.model.config._attn_implementation
        self._switch(HOOK)
        _SINK.append(recorder)
        try:
            with torch.no_grad():
                output = self.model(**arguments)
        except (RuntimeError, ValueError, IndexError, TypeError) as error:
            first = _first_line(error)
            raise DataError(
                f"input {index}: {self.origin} cannot run on {_shapes(arguments)} ({first})"
            ) from error
        finally:
            _SINK.pop()
            self._switch(before)
            for handle in handles:
                handle.remove()
        hidden = output.encoder_last_hidden_state if self.encoder_decoder else output.last_hidden_state
        hidden = hidden[0]
        keep = recorder.keep["encoder"]
        return recorder, hidden[torch.from_numpy(keep)] if keep is not None and len(keep) == len(
            hidden
        ) else hidden

    def _switch(self, implementation: str | None) -> None:
        try:
            self.model.set_attn_implementation(implementation or "eager")
        except ValueError:  # the family has a fixed attention: nothing will be recorded, and that is reported
            return

    def _projections(self) -> list[str]:
        tensors = {t for b in self.blocks for t in (b.query_tensor, b.key_tensor)}
        return sorted(t.removesuffix(".weight") for t in tensors)

    def _watch(self, name: str, recorder: Recorder) -> torch.utils.hooks.RemovableHandle:
        def hook(_module: torch.nn.Module, arguments: tuple[Any, ...]) -> None:
            rows = arguments[0].detach()
            recorder.rows.setdefault(name, []).append(rows.reshape(-1, rows.shape[-1]))

        return self.model.get_submodule(name).register_forward_pre_hook(hook)

    def _arguments(self, item: Any) -> dict[str, torch.Tensor]:
        main = getattr(self.model, "main_input_name", "input_ids")
        arguments = {}
        for name, array in item.items():
            tensor = torch.from_numpy(np.ascontiguousarray(array))[None]
            if tensor.is_floating_point():
                tensor = tensor.to(self.model.dtype)
            arguments[main if name == "inputs" else name] = tensor
        if self.encoder_decoder and not any(k.startswith("decoder_") for k in arguments):
            start = self.config.get("decoder_start_token_id")
            start = self.config.get("pad_token_id") if start is None else start
            if start is None:
                raise DataError(
                    f"{self.origin} has no decoder_start_token_id; give decoder_input_ids with --inputs FILE.npz"
                )
            first = torch.tensor([[int(start)]])
            ids = arguments.get("input_ids")
            arguments["decoder_input_ids"] = first if ids is None else torch.cat([first, ids[:, :-1]], dim=1)
        if "input_ids" in arguments and "attention_mask" not in arguments:
            arguments["attention_mask"] = torch.ones_like(arguments["input_ids"])
        return arguments

    def _keeps(self, arguments: dict[str, torch.Tensor]) -> dict[str, NDArray[np.bool_] | None]:
        def keep(name: str) -> NDArray[np.bool_] | None:
            mask = arguments.get(name)
            if mask is None or mask.ndim != 2 or bool((mask != 0).all()):
                return None
            kept: NDArray[np.bool_] = (mask[0] != 0).numpy()
            if not kept.any():
                raise DataError(f"{name} hides every position of an input")
            return kept

        return {"encoder": keep("attention_mask"), "decoder": keep("decoder_attention_mask")}

    # -- results -----------------------------------------------------------------------------------------------

    def _calls(self, index: int, recorder: Recorder, positions: tuple[int, ...]) -> Iterator[AttentionCall]:
        if not recorder.calls:
            self._skip(
                "attention matrices",
                f"family {self.family!r} does not take its attention from transformers' registry, "
                "so no attention matrix was recorded",
            )
        seen: dict[str, int] = {}
        for name, record in recorder.calls:
            block = self._block_of(name)
            if block is None:
                self._skip(f"attention of {name}", "its query and key weights are not known to this adapter")
                continue
            if record.notes:
                self._skip(f"attention of {name}", "; ".join(record.notes))
                continue
            turn = seen[block.path] = seen.get(block.path, -1) + 1
            yield self._call(index, block, turn, record, recorder, positions)

    def _call(
        self,
        index: int,
        block: Block,
        turn: int,
        record: AttentionRecord,
        recorder: Recorder,
        positions: tuple[int, ...],
    ) -> AttentionCall:
        queries_in = recorder.rows[block.query_tensor.removesuffix(".weight")][turn]
        keys_in = recorder.rows[block.key_tensor.removesuffix(".weight")][turn]
        notes = [f"weights shared with layer {block.layer}"] if turn else []
        queries, keys = (
            ("decoder", "encoder")
            if block.stack == "cross"
            else (("decoder",) * 2 if block.stack == "decoder" else ("encoder",) * 2)
        )
        record.keep_queries = _fitting(recorder.keep[queries], record.query.shape[1], notes)
        record.keep_keys = _fitting(recorder.keep[keys], record.key.shape[1], notes)
        x, y = _kept(queries_in, record.keep_queries), _kept(keys_in, record.keep_keys)
        hints = self._hints(block, self._module_of(block))

        def form(head: int) -> ScoreForm:
            return score_form(block, head, record, x, y, self.source, hints)

        def output(head: int) -> NDArray[Any]:
            return apply_view(
                self.source.array(block.output), output_factor(block, head, self.source.tensors).view
            ).T

        if record.softcap is not None:
            notes.append(f"scores are capped at {record.softcap}")
        if record.sinks is not None:
            notes.append("attention sinks: rows sum to less than 1")
        return AttentionCall(
            index,
            block.layer + turn,
            record.heads,
            x,
            y,
            positions if block.stack in ("", "encoder") else (),
            self.arithmetic,
            block.stack,
            tuple(notes),
            record,
            form,
            output,
        )

    def _block_of(self, module_name: str) -> Block | None:
        found = [b for b in self.blocks if b.query_tensor.startswith(module_name + ".")]
        return found[0] if len(found) == 1 else None

    def _module_of(self, block: Block) -> torch.nn.Module:
        return self.model.get_submodule(block.query_tensor.removesuffix(".weight").rpartition(".")[0])

    def _hints(self, block: Block, module: torch.nn.Module) -> ScoreHints:
        config = self.config
        rotary = block.stack != "cross" and (
            self.family in ROTARY_FAMILIES or bool(config.get("rope_parameters"))
        )
        share = (config.get("rope_parameters") or {}).get(
            "partial_rotary_factor", config.get("partial_rotary_factor")
        )
        rotated = int(config.get("rotary_dim") or (share or config.get("rotary_pct") or 1.0) * block.head_dim)
        prescales = {1.0, float(block.head_dim**-0.5)}
        for name in ("scaling", "scale"):
            if isinstance(getattr(module, name, None), float):
                prescales.add(getattr(module, name))
        rotary_modules = [
            m for m in self.model.modules() if isinstance(getattr(m, "attention_scaling", None), float)
        ]
        return ScoreHints(
            rotary,
            rotary_pairings(block.head_dim, rotated, self.family in INTERLEAVED),
            tuple(sorted(prescales, reverse=True)),
            rotary_modules[0].attention_scaling if rotary and rotary_modules else 1.0,
        )  # type: ignore[arg-type]

    def _skip(self, name: str, reason: str) -> None:
        if Skipped(name, reason) not in self.skipped:
            self.skipped.append(Skipped(name, reason))


def pooled_positions(pooling: str, length: int) -> tuple[int, ...]:
    """The rows that a pooling reads from a sequence of ``length`` rows."""
    return {"mean": tuple(range(length)), "first-token": (0,), "last-token": (length - 1,)}[pooling]


def _fitting(keep: NDArray[np.bool_] | None, length: int, notes: list[str]) -> NDArray[np.bool_] | None:
    if keep is not None and len(keep) != length:
        notes.append(
            f"the attention mask has {len(keep)} positions but this layer {length}: padding was not removed"
        )
        return None
    return keep


def _kept(rows: torch.Tensor, keep: NDArray[np.bool_] | None) -> NDArray[Any]:
    array: NDArray[Any] = (
        rows.to("cpu").float().numpy() if rows.dtype == torch.bfloat16 else rows.to("cpu").numpy()
    )
    return array if keep is None else array[keep]


def _shapes(arguments: dict[str, torch.Tensor]) -> str:
    return ", ".join(f"{name} {tuple(t.shape[1:])}" for name, t in arguments.items())


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
