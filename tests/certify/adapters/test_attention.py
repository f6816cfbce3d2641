"""Attention of the real MiniLM on text, and of a tiny GGUF file: exact where our function fed the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from certify.adapters import Inputs, Model, open_model, read_text_inputs
from certify.errors import ModelError

LINES = [
    "The cat sat on the mat.",
    "A bound that is never false may still be wide; one that is false is worth nothing.",
]


@pytest.fixture(scope="module")
def minilm() -> Model:
    return open_model("minilm")


@pytest.fixture(scope="module")
def text(minilm: Model, tmp_path_factory: Any) -> Inputs:
    path = tmp_path_factory.mktemp("text") / "lines.txt"
    path.write_text("\n".join(LINES))
    return read_text_inputs(minilm, path)


def test_every_layer_and_head_of_every_input(minilm: Model, text: Inputs) -> None:
    calls = list(minilm.attention(text))
    assert [(c.input_index, c.layer) for c in calls] == [(i, l) for i in range(2) for l in range(6)]
    for call in calls:
        length = len(text.items[call.input_index]["input_ids"])
        heads = dict(call.probabilities())
        assert sorted(heads) == list(range(12))
        assert all(p.shape == (length, length) and p.dtype == np.float32 for p in heads.values())
        assert all(np.max(np.abs(p.sum(axis=1, dtype=np.float64) - 1)) <= 1e-6 for p in heads.values())
        assert call.query_positions == tuple(range(length))
        assert call.visible(0).all()
        assert "float32" in call.arithmetic


def test_reported_probabilities_are_bit_for_bit_those_that_fed_the_model(
    minilm: Model, text: Inputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    from certify.adapters import capture

    fed: list[np.ndarray] = []
    compute = capture.head_probabilities

    def spy(record: Any, head: int) -> torch.Tensor:
        out = compute(record, head)
        fed.append(out.numpy().copy())
        return out

    monkeypatch.setattr(capture, "head_probabilities", spy)
    calls = list(minilm.attention(Inputs(text.source, text.items[1:], text.sha256)))
    assert len(fed) == 72
    monkeypatch.setattr(capture, "head_probabilities", compute)
    for call in calls:
        for head, reported in call.probabilities():
            assert np.array_equal(reported, fed[12 * call.layer + head])


def test_eager_attention_of_the_library_agrees(minilm: Model, text: Inputs) -> None:
    runner: Any = minilm.runner()
    runner.model.set_attn_implementation("eager")
    ids = torch.from_numpy(text.items[1]["input_ids"])[None]
    with torch.no_grad():
        expected = runner.model(input_ids=ids, output_attentions=True).attentions
    for call in minilm.attention(Inputs(text.source, text.items[1:], text.sha256)):
        for head, ours in call.probabilities():
            assert np.max(np.abs(ours - expected[call.layer][0, head].numpy())) <= 1e-5
    assert runner.model.config._attn_implementation == "eager"  # put back as found


def test_pooled_features_are_those_of_sentence_transformers(minilm: Model, text: Inputs) -> None:
    from sentence_transformers import SentenceTransformer

    expected = SentenceTransformer(str(minilm.root), device="cpu").encode(LINES)
    features = dict(minilm.pooled_features(text))
    assert minilm.pooling == "mean"
    for index in range(2):
        assert np.max(np.abs(features[index] - expected[index])) <= 1e-5


def write_gguf(path: Path, network: Any) -> None:
    """A LLaMA of transformers as GGUF, with the row permutation of q and k that the format uses."""
    import gguf

    config, weights = network.config, {k: v.numpy() for k, v in network.state_dict().items()}

    def permute(weight: np.ndarray, heads: int) -> np.ndarray:
        return (
            weight.reshape(heads, 2, weight.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(weight.shape)
        )

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tensor("token_embd.weight", weights["embed_tokens.weight"])
    writer.add_tensor("output_norm.weight", weights["norm.weight"])
    attention = {"q_proj": "attn_q", "k_proj": "attn_k", "v_proj": "attn_v", "o_proj": "attn_output"}
    names = {f"self_attn.{ours}": theirs for ours, theirs in attention.items()}
    names |= {"mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}
    names |= {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}
    for layer in range(config.num_hidden_layers):
        for ours, theirs in names.items():
            weight = weights[f"layers.{layer}.{ours}.weight"]
            if theirs in ("attn_q", "attn_k"):
                weight = permute(
                    weight, config.num_attention_heads if theirs == "attn_q" else config.num_key_value_heads
                )
            writer.add_tensor(f"blk.{layer}.{theirs}.weight", np.ascontiguousarray(weight))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_gguf_opens_as_the_model_it_was_made_from(tmp_path: Path) -> None:
    import transformers

    from tests.certify.adapters.families import build

    network = build(
        lambda: transformers.LlamaConfig(
            vocab_size=41,
            hidden_size=48,
            num_hidden_layers=2,
            num_attention_heads=6,
            num_key_value_heads=2,
            intermediate_size=20,
            max_position_embeddings=32,
        )
    )
    write_gguf(tmp_path / "tiny.gguf", network)
    model = open_model(str(tmp_path / "tiny.gguf"))
    assert model.family == "llama"
    assert any("sha256" in line for line in model.provenance)
    assert any("F32" in line and "dequantised" in line for line in model.provenance)
    weights = {m.name: m.load()[0] for m in model.matrices() if m.role == "weight"}
    digests = {tensor: digest for _, tensor, digest in model.tensor_digests()}
    runner: Any = model.runner()
    for name, expected in network.state_dict().items():
        if expected.ndim == 2:
            assert np.array_equal(weights[name], expected.numpy())
            assert np.array_equal(
                runner.source.array(name), expected.numpy()
            )  # what runs is what is analysed
            assert digests[name] == runner.source.digest(name)
    assert all(f.file is None for m in model.matrices() for f in m.factors)
    assert all("relative position 0" in m.note for m in model.matrices() if m.role == "query-key")
    ids = np.array([3, 4, 5, 6, 7])
    for call in model.attention(Inputs("test", [{"input_ids": ids}], "0" * 64)):
        assert call.query_positions == (4,)
        for head, probabilities in call.probabilities():
            form = call.score_form(head)
            assert form is not None
            assert form.covered, form.reason
            assert np.array_equal(probabilities, np.tril(probabilities))


def test_gguf_of_another_architecture_goes_through_transformers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same file, opened as if its names were not known here: same matrices."""
    import transformers

    from certify.adapters import gguf_file
    from tests.certify.adapters.families import build

    sizes = {"hidden_size": 48, "num_attention_heads": 6, "num_key_value_heads": 2, "intermediate_size": 20}
    network = build(
        lambda: transformers.LlamaConfig(
            vocab_size=41, num_hidden_layers=1, max_position_embeddings=32, **sizes
        )
    )
    write_gguf(tmp_path / "tiny.gguf", network)
    streamed = list(open_model(str(tmp_path / "tiny.gguf")).matrices())
    monkeypatch.setattr(gguf_file, "_llama_config", lambda reader: None)
    loaded = list(open_model(str(tmp_path / "tiny.gguf")).matrices())
    assert [m.name for m in streamed] == [m.name for m in loaded]
    for one, two in zip(streamed, loaded, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one.load(), two.load(), strict=True))


def test_broken_gguf_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "cut.gguf").write_bytes(b"GGUF\x03\x00\x00\x00 no more")
    with pytest.raises(ModelError, match=r"cut\.gguf"):
        open_model(str(tmp_path / "cut.gguf"))
