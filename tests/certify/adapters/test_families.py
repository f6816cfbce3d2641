"""Every layout against the model's own queries, keys, values and output, on tiny random configurations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from certify.adapters import AttentionCall, Inputs, Model, ModelMatrix, open_model
from certify.adapters.config import VERIFIED_FAMILIES
from certify.adapters.forms import weight_and_bias
from tests.certify.adapters.families import HOOKED, NORMALISED, UNHOOKED, build, example

# float32 roundings of sums of at most 60 products of numbers below 10.
TOLERANCE = 2e-4


def as_inputs(arguments: dict[str, torch.Tensor]) -> Inputs:
    return Inputs("test", [{name: t[0].numpy() for name, t in arguments.items()}], "0" * 64)


@pytest.fixture(scope="module", params=sorted(HOOKED))
def saved(request: Any, tmp_path_factory: Any) -> tuple[str, Any, Model]:
    """(family, the model as built, the model as opened from the folder it was saved to)."""
    original = build(HOOKED[request.param])
    folder = tmp_path_factory.mktemp("model") / request.param.replace(" ", "-")
    original.save_pretrained(folder)
    return request.param, original, open_model(str(folder))


def head_matrices(model: Model, role: str) -> dict[tuple[str, int, int], ModelMatrix]:
    found = [m for m in model.matrices() if m.role == role]
    named = {(m.stack, m.layer, m.head): m for m in found}
    assert len(named) == len(found)
    return named  # type: ignore[return-value]


def expected_heads(config: Any) -> int:
    if config.model_type == "albert":
        return config.num_attention_heads  # one layer, shared by all
    if config.is_encoder_decoder:
        if config.model_type == "t5":
            return config.num_heads * (config.num_layers + 2 * config.num_decoder_layers)
        return (
            config.encoder_attention_heads * config.encoder_layers
            + 2 * config.decoder_attention_heads * config.decoder_layers
        )
    return config.num_attention_heads * config.num_hidden_layers


def test_every_head_is_listed_once(saved: tuple[str, Any, Model]) -> None:
    _, original, model = saved
    for role in ("query-key", "value-output"):
        assert len(head_matrices(model, role)) == expected_heads(original.config)


def test_every_parameter_is_a_matrix_or_skipped_with_a_reason(saved: tuple[str, Any, Model]) -> None:
    _, original, model = saved
    listed = {f.tensor for m in model.matrices() if m.role == "weight" for f in m.factors} | {
        s.name for s in model.skipped
    }
    total = sum(int(np.prod(t.shape)) for t in model._source.tensors.values())
    assert set(model._source.tensors) <= listed
    assert total == sum(p.numel() for p in original.parameters())
    assert all(s.reason for s in model.skipped)
    assert not [s for s in model.skipped if not s.expected]


def test_projections_are_the_models_own(saved: tuple[str, Any, Model]) -> None:
    """x W + b from the file's factors against the q, k, v that met in the model's attention.

    Rotation leaves position 0 alone, so row 0 is compared for queries and keys; all rows for values.
    """
    family, original, model = saved
    query_key, value_output = head_matrices(model, "query-key"), head_matrices(model, "value-output")
    calls = list(model.attention(as_inputs(example(original))))
    assert len(calls) == len({(c.stack, c.layer) for c in calls}) > 0
    for call in calls:
        layer = 0 if family == "albert" else call.layer
        for head in range(call.heads):
            w_q, w_k = query_key[call.stack, layer, head].load()
            w_v, _ = value_output[call.stack, layer, head].load()
            record: Any = call.captured
            form = call.score_form(head)
            assert form is not None
            assert np.array_equal(form.query_weight, w_q)
            assert np.array_equal(form.key_weight, w_k)
            bias_v = bias_of(model.runner(), block_of(model.runner(), call).value[head])
            assert np.max(np.abs(call.keys_in @ w_v + bias_v - call.values(head))) <= TOLERANCE
            if family in NORMALISED:
                assert form.qk_norm
                assert not form.covered
                assert "normalised" in form.reason
                continue
            if family == "albert":
                assert not form.covered
                assert "serve several layers" in form.reason
            else:
                assert form.covered, form.reason
            q = call.queries_in @ w_q + (0 if form.query_bias is None else form.query_bias)
            k = call.keys_in @ w_k + (0 if form.key_bias is None else form.key_bias)
            scale_q, off_q = proportion(q[0], record.queries(head)[0])
            scale_k, off_k = proportion(k[0], record.keys(head)[0])
            assert max(off_q, off_k) <= TOLERANCE
            assert abs(scale_q * scale_k * record.scale - form.scale) <= 1e-5 * form.scale


def proportion(expected: np.ndarray, found: np.ndarray) -> tuple[float, float]:
    """The factor between two vectors, and how far they are from proportional."""
    factor = float(expected @ found / (expected @ expected))
    return factor, float(np.max(np.abs(factor * expected - found)))


def block_of(runner: Any, call: AttentionCall) -> Any:
    """The block of a call; a single shared block (ALBERT) serves every layer."""
    return next(
        (b for b in runner.blocks if (b.stack, b.layer) == (call.stack, call.layer)), runner.blocks[0]
    )


def bias_of(runner: Any, cut: Any) -> Any:
    bias = weight_and_bias(cut, runner.source)[1]
    return 0.0 if bias is None else bias


def test_probabilities_and_output_agree_with_eager(saved: tuple[str, Any, Model]) -> None:
    """The hook against eager attention, and sum_h P_h V_h W_O^h against the output projection."""
    _, original, model = saved
    arguments = example(original)
    original.set_attn_implementation("eager")
    with torch.no_grad():
        eager = original(**arguments, output_attentions=True)
    theirs = {
        "": getattr(eager, "attentions", None),
        "encoder": getattr(eager, "encoder_attentions", None),
        "decoder": getattr(eager, "decoder_attentions", None),
        "cross": getattr(eager, "cross_attentions", None),
    }
    runner: Any = model.runner()
    outputs: dict[str, list[np.ndarray]] = {}
    handles = [
        runner.model.get_submodule(b.output.removesuffix(".weight")).register_forward_hook(
            lambda _m, _i, out, path=b.path: outputs.setdefault(path, []).append(out[0].numpy())
        )
        for b in runner.blocks
    ]
    calls = list(model.attention(as_inputs(arguments)))
    for handle in handles:
        handle.remove()
    for call in calls:
        expected = theirs[call.stack][call.layer][0].numpy()  # type: ignore[index]
        block = block_of(runner, call)
        mixed: Any = 0.0
        for head, probabilities in call.probabilities():
            assert probabilities.shape == (len(call.queries_in), len(call.keys_in))
            assert np.max(np.abs(probabilities - expected[head])) <= 1e-5
            for query in range(len(probabilities)):
                assert np.array_equal(
                    probabilities[query] > 0, call.visible(query) & (probabilities[query] > 0)
                )
            mixed = mixed + probabilities @ call.values(head) @ call.output_weight(head)  # type: ignore[operator]
        bias = runner.source.tensors.get(block.output.removesuffix("weight") + "bias")
        mixed = mixed + (0 if bias is None else runner.source.array(bias.name))
        own = outputs[block.path][call.layer - block.layer]
        assert np.max(np.abs(mixed - own.reshape(mixed.shape))) <= 10 * TOLERANCE


def test_verified_families_are_those_of_this_file() -> None:
    tried = {make().model_type for make in (*HOOKED.values(), *UNHOOKED.values())}
    assert tried | {"torch"} == VERIFIED_FAMILIES  # torch: test_torch_modules.py


def test_memory_holds_no_attention_stack(saved: tuple[str, Any, Model]) -> None:
    """What a call keeps is of size T, not heads * T * S (masks aside, which are shared by the heads)."""
    _, original, model = saved
    for call in model.attention(as_inputs(example(original))):
        record: Any = call.captured
        assert record.query.numel() == call.heads * record.query.shape[1] * record.query.shape[2]
        assert record.mask is None or record.mask.shape[0] in (1, call.heads)


@pytest.mark.parametrize("family", sorted(UNHOOKED))
def test_unhooked_families_give_the_weights_that_their_model_returns(family: str, tmp_path: Path) -> None:
    original = build(UNHOOKED[family])
    original.save_pretrained(tmp_path / "m")
    model = open_model(str(tmp_path / "m"))
    assert len(head_matrices(model, "query-key")) == expected_heads(original.config)
    arguments = example(original)
    original.set_attn_implementation("eager")
    with torch.no_grad():
        expected = original(**arguments, output_attentions=True).attentions
    calls = list(model.attention(as_inputs(arguments)))
    assert [call.layer for call in calls] == [0, 1]
    runner: Any = model.runner()
    for call in calls:
        assert "returned by the model's own eager attention" in call.arithmetic
        assert call.score_form(0) is None
        assert call.visible(0).all()
        assert call.captured.weights.shape[0] == call.heads  # type: ignore[union-attr]
        for head, probabilities in call.probabilities():
            assert np.array_equal(probabilities, expected[call.layer][0, head].numpy())
            w_v, _ = head_matrices(model, "value-output")["", call.layer, head].load()
            bias = bias_of(runner, block_of(runner, call).value[head])
            assert np.max(np.abs(call.keys_in @ w_v + bias - call.values(head))) <= TOLERANCE
    assert not [s for s in model.skipped if not s.expected]


@pytest.mark.parametrize("family", ["bloom", "falcon grouped"])
def test_returned_weights_are_held_for_one_layer_only(family: str, tmp_path: Path) -> None:
    from certify.adapters.returned_weights import ReturnedWeights

    runner: Any = open_model(build(UNHOOKED[family])).runner()
    sizes: list[int] = []
    runner.model.register_forward_hook(lambda _m, _a, out: sizes.extend(a.numel() for a in out.attentions))
    returned = ReturnedWeights(runner.blocks[1].path)
    runner._forward(0, as_inputs(example(runner.model)).items[0], returned)
    assert sizes == [0, 0]
    assert returned.weights is not None
    assert returned.weights.shape == (1, runner.blocks[1].counts.heads, 6, 6)


def test_padding_is_taken_out_of_returned_weights(tmp_path: Path) -> None:
    model = open_model(build(UNHOOKED["gpt_neo"]))
    ids = np.array([7, 8, 9, 0, 0])
    (padded, *_) = model.attention(
        Inputs("test", [{"input_ids": ids, "attention_mask": np.array([1, 1, 1, 0, 0])}], "0" * 64)
    )
    (plain, *_) = model.attention(Inputs("test", [{"input_ids": ids[:3]}], "0" * 64))
    for (_, p), (_, q) in zip(padded.probabilities(), plain.probabilities(), strict=True):
        assert p.shape == q.shape == (3, 3)
        assert np.max(np.abs(p - q)) <= 1e-6
    assert padded.values(0).shape == plain.values(0).shape


def test_a_family_that_returns_nothing_is_skipped_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    from certify.adapters.returned_weights import ReturnedWeights

    model = open_model(build(UNHOOKED["bloom"]))
    monkeypatch.setattr(
        ReturnedWeights, "watch", lambda self, name, module: module.register_forward_hook(lambda *_: None)
    )
    assert list(model.attention(as_inputs({"input_ids": torch.tensor([[5, 6, 7]])}))) == []
    assert sum("nor returns its weights" in s.reason and not s.expected for s in model.skipped) == 2


@pytest.mark.parametrize("family", sorted(UNHOOKED))
def test_unhooked_layouts_against_eager_attention(family: str, tmp_path: Path) -> None:
    """v, W_O: sum_h P_h V_h W_O^h is the block's output. q, k: log P less scores is content-free."""
    original = build(UNHOOKED[family])
    original.save_pretrained(tmp_path / "m")
    model = open_model(str(tmp_path / "m"))
    query_key, value_output = head_matrices(model, "query-key"), head_matrices(model, "value-output")
    runner: Any = model.runner()
    network = runner.model
    network.set_attn_implementation("eager")
    leftovers = []
    for seed in (1, 2):
        rows: dict[str, np.ndarray] = {}
        handles = []
        for block in runner.blocks:
            projection, output = (
                block.query_tensor.removesuffix(".weight"),
                block.output.removesuffix(".weight"),
            )
            handles.append(
                network.get_submodule(projection).register_forward_pre_hook(
                    lambda _m, a, rows=rows, key=block.path + "/in": rows.__setitem__(key, a[0][0].numpy())
                )
            )
            handles.append(
                network.get_submodule(output).register_forward_hook(
                    lambda _m, _a, out, rows=rows, key=block.path + "/out": rows.__setitem__(
                        key, out[0].numpy()
                    )
                )
            )
        with torch.no_grad():
            attentions = network(**example(original, seed=seed), output_attentions=True).attentions
        for handle in handles:
            handle.remove()
        left = []
        for block in runner.blocks:
            x, mixed = rows[block.path + "/in"], 0.0
            for head in range(block.counts.heads):
                p = attentions[block.layer][0, head].numpy()
                (w_q, w_k), (w_v, w_o) = (
                    query_key["", block.layer, head].load(),
                    value_output["", block.layer, head].load(),
                )
                b_q, b_k, b_v = (bias_of(runner, cut[head]) for cut in (block.query, block.key, block.value))
                mixed = mixed + p @ (x @ w_v + b_v) @ w_o.T
                scores = (
                    (x @ w_q + b_q)
                    @ (x @ w_k + b_k).T
                    * (1.0 if family == "gpt_neo" else block.head_dim**-0.5)
                )
                left.append(np.log(p[-1]) - scores[-1] - np.log(p[-1, 0]) + scores[-1, 0])
                if family.startswith("falcon"):
                    attention = network.get_submodule(block.path)
                    fused = attention.query_key_value(torch.from_numpy(x)[None])
                    own = [t[0, :, head].detach().numpy() for t in attention._split_heads(fused)[:1]]
                    assert np.max(np.abs(x @ w_q + b_q - own[0])) <= TOLERANCE
                    key = attention._split_heads(fused)[1][0].detach().numpy()
                    assert (
                        np.max(np.abs(x @ w_k + b_k - key[:, head if key.shape[1] > 1 else 0])) <= TOLERANCE
                    )
            bias = block.output.removesuffix("weight") + "bias"
            mixed = mixed + (runner.source.array(bias) if bias in runner.source.tensors else 0)
            assert np.max(np.abs(mixed - rows[block.path + "/out"])) <= 10 * TOLERANCE
        leftovers.append(left)
    if not family.startswith(
        "falcon"
    ):  # rotary there: the leftover depends on content, and _split_heads was asked
        assert max(np.max(np.abs(a - b)) for a, b in zip(*leftovers, strict=True)) <= 1e-3
