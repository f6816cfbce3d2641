"""What an adapter reads from a model's ``config.json``: family, head counts, rotary or not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from certify.adapters.layouts import HeadCounts, HeadCountsOf
from certify.adapters.sources import TensorInfo
from certify.errors import ModelError

HEAD_KEYS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "nhead")
KV_KEYS = ("num_key_value_heads", "num_kv_heads", "n_head_kv")
STACK_HEAD_KEYS = {
    "encoder": ("encoder_attention_heads",),
    "decoder": ("decoder_attention_heads",),
}
ROTARY_FAMILIES = frozenset({
    "codegen", "cohere", "falcon", "gemma", "gemma2", "gemma3_text", "gpt_neox", "gpt_oss", "gptj", "granite",
    "llama", "mistral", "mixtral", "modernbert", "olmo", "olmo2", "persimmon", "phi", "phi3", "qwen2",
    "qwen3", "smollm3", "stablelm",
})  # fmt: skip
# Held against the model's own queries, keys and values on tiny random configurations, by the tests.
VERIFIED_FAMILIES = frozenset({
    "albert", "bart", "bert", "bloom", "dinov2", "distilbert", "falcon", "gemma2", "gpt2", "gpt_bigcode",
    "gpt_neo", "gpt_neox", "gpt_oss", "gptj", "llama", "mistral", "modernbert", "mpt", "opt", "persimmon",
    "phi", "phi3", "qwen2", "qwen3", "roberta", "stablelm", "t5", "torch", "vit", "whisper",
})  # fmt: skip


def family_of(config: Mapping[str, Any], tensors: Mapping[str, TensorInfo]) -> str:
    """``model_type``, or what the tensor names show of a checkpoint older than that key; else ``unknown``."""
    named = config.get("model_type")
    if isinstance(named, str) and named:
        return named
    if any("attention.self.query" in name for name in tensors) and "type_vocab_size" in config:
        return "bert"
    if any("albert_layer_groups" in name for name in tensors):
        return "albert"
    if any(name.endswith("in_proj_weight") for name in tensors):
        return "torch"
    return "unknown"


def layout_family(family: str, config: Mapping[str, Any]) -> str:
    """The row of the layout table: Falcon and BigCode have one per kind of key sharing."""
    multi_query = (
        family == "falcon"
        and config.get("multi_query", True)
        and not config.get("new_decoder_architecture", False)
    )
    if multi_query or (family == "gpt_bigcode" and config.get("multi_query", True)):
        return family + "-multi-query"
    return family


def head_counts_from(config: Mapping[str, Any], family: str, where: str) -> HeadCountsOf:
    """A reader of head counts for each stack of ``config``."""

    def counts(path: str, stack: str) -> HeadCounts | str:
        section = config.get(
            {"text_model": "text_config", "vision_model": "vision_config"}.get(stack, ""), config
        )
        heads = _first_int(section, (*STACK_HEAD_KEYS.get(stack, ()), *HEAD_KEYS))
        if heads is None:
            heads = _only_nested_int(section, HEAD_KEYS)
        if heads is None:
            return f"the number of heads is not known: none of {', '.join(HEAD_KEYS)} is a number in {where}"
        if layout_family(family, config).endswith("-multi-query"):
            return HeadCounts(heads, 1)
        kv_heads = _first_int(section, KV_KEYS)
        if family == "falcon" and not config.get("new_decoder_architecture", False):
            kv_heads = None
        return HeadCounts(heads, heads if kv_heads is None else kv_heads)

    return counts


def check_config(config: Mapping[str, Any], path: Path) -> None:
    """Raise ModelError where a head count is present but no positive integer."""
    for key in (*HEAD_KEYS, *KV_KEYS):
        value = config.get(key)
        if (
            value is not None
            and not isinstance(value, list)
            and (isinstance(value, bool) or not isinstance(value, int) or value < 1)
        ):
            raise ModelError(f"{path}: {key} is {value!r}; a positive integer was expected")


def _first_int(section: Any, keys: tuple[str, ...]) -> int | None:
    if isinstance(section, Mapping):
        for key in keys:
            if isinstance(section.get(key), int) and not isinstance(section[key], bool):
                return int(section[key])
    return None


def _only_nested_int(section: Any, keys: tuple[str, ...]) -> int | None:
    """The head count of a configuration of someone's own making, if it is written just once."""
    found: set[int] = set()

    def walk(node: Any) -> None:
        if isinstance(node, Mapping):
            value = _first_int(node, keys)
            if value is not None:
                found.add(value)
            for child in node.values():
                walk(child)

    walk(section)
    return found.pop() if len(found) == 1 else None
