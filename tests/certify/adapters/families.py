"""Tiny random configurations of every family in the layout tables. Two layers, odd sizes, nothing square."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import transformers as T

_COMMON: dict[str, Any] = {"vocab_size": 41, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
_SIZES: dict[str, Any] = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3}
_BERT: dict[str, Any] = {**_COMMON, **_SIZES, "intermediate_size": 20, "max_position_embeddings": 32}
_PHI3: dict[str, Any] = {**_BERT, "num_attention_heads": 6, "num_key_value_heads": 2}
_LLAMA: dict[str, Any] = {**_PHI3, "head_dim": 8}
_GPT: dict[str, Any] = {**_COMMON, "n_embd": 24, "n_layer": 2, "n_head": 3, "n_positions": 32}
_VIT: dict[str, Any] = {**_SIZES, "image_size": 8, "patch_size": 4}
_SEQ2SEQ: dict[str, Any] = {
    **_COMMON,
    "d_model": 24,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 3,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 20,
    "decoder_ffn_dim": 20,
    "decoder_start_token_id": 1,
}

# Families whose attention comes from transformers' registry.
HOOKED: dict[str, Callable[[], Any]] = {
    "albert": lambda: T.AlbertConfig(**_BERT, embedding_size=10),
    "bart": lambda: T.BartConfig(**_SEQ2SEQ, max_position_embeddings=32),
    "bert": lambda: T.BertConfig(**_BERT),
    "dinov2": lambda: T.Dinov2Config(**_VIT),
    "distilbert": lambda: T.DistilBertConfig(
        vocab_size=41, dim=24, n_layers=2, n_heads=3, hidden_dim=20, max_position_embeddings=32
    ),
    "gemma2": lambda: T.Gemma2Config(
        **_LLAMA, query_pre_attn_scalar=11, attn_logit_softcapping=3.0, sliding_window=4
    ),
    "gpt2": lambda: T.GPT2Config(**_GPT),
    "gpt_bigcode": lambda: T.GPTBigCodeConfig(**_GPT, multi_query=False),
    "gpt_bigcode multi-query": lambda: T.GPTBigCodeConfig(**_GPT, multi_query=True),
    "gpt_neox": lambda: T.GPTNeoXConfig(**_BERT, rotary_pct=0.5),
    "gpt_oss": lambda: T.GptOssConfig(**_LLAMA, num_local_experts=2, num_experts_per_tok=1),
    "gptj": lambda: T.GPTJConfig(**_GPT, rotary_dim=4),
    "llama": lambda: T.LlamaConfig(**_LLAMA),
    "llama biased": lambda: T.LlamaConfig(**_LLAMA, attention_bias=True),
    "mistral windowed": lambda: T.MistralConfig(**_LLAMA, sliding_window=3),
    "modernbert": lambda: T.ModernBertConfig(
        **_BERT, cls_token_id=1, sep_token_id=2, global_attn_every_n_layers=2, local_attention=4
    ),
    "opt": lambda: T.OPTConfig(
        **_COMMON, **_SIZES, ffn_dim=20, max_position_embeddings=32, word_embed_proj_dim=24
    ),
    "persimmon": lambda: T.PersimmonConfig(**_BERT, partial_rotary_factor=0.5),
    "phi": lambda: T.PhiConfig(**_BERT, partial_rotary_factor=0.5),
    "phi3": lambda: T.Phi3Config(**_PHI3, original_max_position_embeddings=32),
    "qwen2": lambda: T.Qwen2Config(**_PHI3),
    "qwen3": lambda: T.Qwen3Config(**_LLAMA),
    "roberta": lambda: T.RobertaConfig(**_BERT),
    "stablelm": lambda: T.StableLmConfig(**_PHI3, partial_rotary_factor=0.5),
    "t5": lambda: T.T5Config(
        **_COMMON, d_model=24, d_kv=10, d_ff=20, num_layers=2, num_heads=3, decoder_start_token_id=0
    ),
    "vit": lambda: T.ViTConfig(**_VIT, intermediate_size=20),
    "whisper": lambda: T.WhisperConfig(
        **_SEQ2SEQ, num_mel_bins=4, max_source_positions=7, max_target_positions=32
    ),
}

# Families that normalise queries and keys: their scores are not linear in W_Q W_K^T.
NORMALISED = frozenset({"persimmon", "qwen3"})

# Families with an attention of their own, which returns its weights when asked.
UNHOOKED: dict[str, Callable[[], Any]] = {
    "bloom": lambda: T.BloomConfig(**_COMMON, hidden_size=24, n_layer=2, n_head=3),
    "falcon grouped": lambda: T.FalconConfig(
        **_COMMON,
        **(_SIZES | {"num_attention_heads": 6}),
        num_kv_heads=2,
        new_decoder_architecture=True,
    ),
    "falcon interleaved": lambda: T.FalconConfig(**_COMMON, **_SIZES, multi_query=False),
    "falcon multi-query": lambda: T.FalconConfig(**_COMMON, **_SIZES),
    "gpt_neo": lambda: T.GPTNeoConfig(
        **_COMMON,
        hidden_size=24,
        num_layers=2,
        num_heads=3,
        attention_types=[[["global"], 2]],
        max_position_embeddings=32,
        intermediate_size=20,
    ),
    "mpt": lambda: T.MptConfig(**_COMMON, d_model=24, n_layers=2, n_heads=3, max_seq_len=32),
}


def build(make: Callable[[], Any], seed: int = 0) -> Any:
    """A random model with weights and biases of size about 1: small defaults would hide a wrong slice."""
    torch.manual_seed(seed)
    model = T.AutoModel.from_config(make()).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim >= 2 or name.endswith("bias"):
                parameter.normal_(0.0, 0.3)
    return model


def example(model: Any, length: int = 6, seed: int = 1) -> dict[str, torch.Tensor]:
    """One batch of one random input in the model's own terms."""
    generator = torch.Generator().manual_seed(seed)
    if model.main_input_name == "pixel_values":
        return {"pixel_values": torch.randn(1, 3, 8, 8, generator=generator)}
    ids = torch.randint(3, 41, (1, length), generator=generator)
    if model.main_input_name == "input_features":
        return {"input_features": torch.randn(1, 4, 14, generator=generator), "decoder_input_ids": ids}
    if model.config.is_encoder_decoder:
        return {
            "input_ids": ids,
            "decoder_input_ids": torch.randint(3, 41, (1, length - 2), generator=generator),
        }
    return {"input_ids": ids}
