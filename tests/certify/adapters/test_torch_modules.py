"""Any torch module: fused and separate projections, the fast path, masks, and what cannot be recorded."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from certify.adapters import Inputs, open_model
from certify.errors import DataError, ModelError

# float32 roundings of sums of at most 60 products of numbers below 10.
TOLERANCE = 2e-5


def inputs(**arrays: Any) -> Inputs:
    return Inputs("test", [{k: np.asarray(v) for k, v in arrays.items()}], "0" * 64)


def randomised(module: nn.Module) -> nn.Module:
    torch.manual_seed(3)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(0.0, 0.4)
    return module.eval()


def rows(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize(
    "extra", [{}, {"kdim": 7, "vdim": 5}, {"bias": False}, {"add_bias_kv": True}, {"add_zero_attn": True}]
)
def test_multihead_attention(batch_first: bool, extra: dict[str, Any]) -> None:
    module: Any = randomised(nn.MultiheadAttention(12, 3, batch_first=batch_first, **extra))
    query, key, value = rows(5, 12), rows(6, extra.get("kdim", 12), 1), rows(6, extra.get("vdim", 12), 2)
    model = open_model(module)
    (call,) = model.attention(inputs(query=query, key=key, value=value))
    with torch.no_grad():
        _, expected = module(*(torch.from_numpy(t) for t in (query, key, value)), average_attn_weights=False)
    query_key = {m.head: m for m in model.matrices() if m.role == "query-key"}
    assert len(query_key) == 3
    for head, probabilities in call.probabilities():
        assert np.max(np.abs(probabilities - expected[head].numpy())) <= TOLERANCE
        form = call.score_form(head)
        assert form is not None
        assert all(
            np.array_equal(a, b)
            for a, b in zip(query_key[head].load(), (form.query_weight, form.key_weight), strict=True)
        )
        if "add_bias_kv" in extra or "add_zero_attn" in extra:
            assert not form.covered  # one key more than key rows
            continue
        assert form.covered, form.reason
        assert form.query_augmented == extra.get("bias", True)
        assert not form.key_augmented
        assert form.scale == 0.5


def test_bias_of_separate_projections_is_cut_from_the_shared_one() -> None:
    module = randomised(nn.MultiheadAttention(12, 3, kdim=7))
    (call,) = open_model(module).attention(inputs(query=rows(5, 12), key=rows(6, 7), value=rows(6, 12)))
    forms = [call.score_form(head) for head in range(3)]
    bias = module.in_proj_bias.detach().numpy()  # type: ignore[union-attr, operator]
    assert np.array_equal(np.concatenate([f.query_bias for f in forms]), bias[:12])  # type: ignore[union-attr, misc]
    assert np.array_equal(np.concatenate([f.key_bias for f in forms]), bias[12:24])  # type: ignore[union-attr, misc]


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("padded", [True, False])
def test_transformer_encoder_despite_its_fast_path(norm_first: bool, padded: bool) -> None:
    """In inference the encoder fuses attention away; what we record must be what it computes."""
    layer = nn.TransformerEncoderLayer(12, 4, 20, batch_first=True, norm_first=norm_first)
    module: Any = randomised(nn.TransformerEncoder(layer, 2, enable_nested_tensor=not norm_first))
    x = rows(6, 12)
    arguments: dict[str, Any] = {"src": x}
    padding = np.array([False] * 4 + [True] * 2)
    if padded:
        arguments["src_key_padding_mask"] = padding
    model = open_model(module)
    assert sorted({(m.layer, m.head) for m in model.matrices() if m.role == "value-output"}) == [
        (l, h) for l in range(2) for h in range(4)
    ]
    calls = list(model.attention(inputs(**arguments)))
    assert [c.layer for c in calls] == [0, 1]
    length = 4 if padded else 6
    for call in calls:
        assert call.queries_in.shape == call.keys_in.shape == (length, 12)
        for head, probabilities in call.probabilities():
            assert probabilities.shape == (length, length)
            assert np.max(np.abs(probabilities.sum(axis=1) - 1)) <= 1e-6
            form = call.score_form(head)
            assert form is not None
            assert form.covered, form.reason
    with torch.no_grad():
        mask = torch.from_numpy(padding)[None] if padded else None
        expected = module(torch.from_numpy(x)[None], src_key_padding_mask=mask)[0, :length].numpy()
    runner: Any = model.runner()
    ours = runner._forward(0, inputs(**arguments).items[0])[1][0, :length].numpy()
    assert np.max(np.abs(ours - expected)) <= TOLERANCE


def test_the_module_is_put_back_as_it_was() -> None:
    module: Any = randomised(nn.TransformerEncoderLayer(12, 4, 20, batch_first=True))
    enabled = torch.backends.mha.get_fastpath_enabled()
    list(open_model(module).attention(inputs(src=rows(4, 12))))
    assert "forward" not in vars(module.self_attn)
    assert torch.backends.mha.get_fastpath_enabled() == enabled
    with pytest.raises(DataError):
        list(open_model(module).attention(inputs(src=rows(4, 11))))
    assert "forward" not in vars(module.self_attn)
    assert torch.backends.mha.get_fastpath_enabled() == enabled


def test_encoder_decoder_has_rectangular_cross_attention_and_a_causal_mask() -> None:
    module: Any = randomised(nn.Transformer(12, 4, 2, 2, 20, batch_first=True))
    mask = nn.Transformer.generate_square_subsequent_mask(4).numpy()
    calls = list(open_model(module).attention(inputs(src=rows(6, 12), tgt=rows(4, 12, 1), tgt_mask=mask)))
    assert [(c.stack, c.layer) for c in calls] == [
        ("encoder", 0),
        ("encoder", 1),
        ("decoder", 0),
        ("cross", 0),
        ("decoder", 1),
        ("cross", 1),
    ]
    for call in calls:
        shape = {"encoder": (6, 6), "decoder": (4, 4), "cross": (4, 6)}[call.stack]
        assert call.query_positions == (() if call.stack == "encoder" else (0, 1, 2, 3))
        for head, probabilities in call.probabilities():
            assert probabilities.shape == shape
            form = call.score_form(head)
            assert form is not None
            assert form.covered, form.reason
            if call.stack == "decoder":
                assert np.array_equal(probabilities, np.tril(probabilities))
                assert call.visible(1).tolist() == [True, True, False, False]


class Tied(nn.Module):
    """One attention module used twice, and one weight under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.attend = nn.MultiheadAttention(12, 3, batch_first=True)
        self.first = nn.Linear(12, 12)
        self.second = nn.Linear(12, 12)
        self.second.weight = self.first.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(2):
            x = self.second(self.first(x + self.attend(x, x, x, need_weights=True)[0]))
        return x


def make_tied() -> nn.Module:
    return randomised(Tied())


def test_shared_weights_are_counted_once_and_every_use_is_a_layer() -> None:
    model = open_model(make_tied())
    weights = [m.name for m in model.matrices() if m.role == "weight"]
    assert weights == ["attend.in_proj_weight", "attend.out_proj.weight", "first.weight"]
    calls = list(model.attention(inputs(inputs=rows(4, 12))))
    assert [(c.layer, c.notes) for c in calls] == [(0, ()), (1, ("weights shared with layer 0",))]
    for call in calls:
        form = call.score_form(0)
        assert form is not None
        assert not form.covered
        assert "serve several layers" in form.reason


def test_module_and_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_models.py").write_text(
        "from torch import nn\nnet = nn.Linear(3, 4)\nclass Holder:\n    inner = net\ndef make():\n "
        "   return nn.Linear(5, 6)\nnumber = 3\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert [m.shape for m in open_model("my_models:net").matrices()] == [(4, 3)]
    assert [m.shape for m in open_model("my_models:Holder.inner").matrices()] == [(4, 3)]
    assert [m.shape for m in open_model("my_models:make").matrices()] == [(6, 5)]
    for spec, message in (
        ("my_models:nothing", "has no 'nothing'"),
        ("no_such_module:x", "cannot be imported"),
        ("my_models:number", "is a int"),
    ):
        with pytest.raises(ModelError, match=message):
            open_model(spec)
    sys.modules.pop("my_models", None)


def test_a_module_without_attention_says_so() -> None:
    model = open_model(nn.Sequential(nn.Linear(3, 4), nn.Conv2d(2, 3, 5)))
    assert [(m.name, m.shape) for m in model.matrices()] == [("0.weight", (4, 3)), ("1.weight", (3, 50))]
    assert list(model.attention(inputs(input=rows(2, 3)))) == []
    assert any("no nn.MultiheadAttention" in s.reason for s in model.skipped)


def test_an_argument_the_module_does_not_take_is_named() -> None:
    with pytest.raises(DataError, match=r"takes input, not 'pixels'"):
        list(open_model(nn.Linear(3, 4)).pooled_features(inputs(pixels=rows(2, 3))))


def test_pooled_features_are_the_mean_row() -> None:
    module = randomised(nn.Linear(3, 4))
    x = rows(5, 3)
    ((index, pooled),) = open_model(module).pooled_features(inputs(input=x))
    with torch.no_grad():
        expected = module(torch.from_numpy(x)).mean(dim=0).numpy()
    assert index == 0
    assert np.max(np.abs(pooled - expected)) <= 1e-6


def test_a_transformers_object_opens_by_its_own_names() -> None:
    from tests.certify.adapters.families import HOOKED, build, example

    network = build(HOOKED["vit"])
    model = open_model(network)
    assert sum(m.role == "query-key" for m in model.matrices()) == 6
    item = {k: v[0].numpy() for k, v in example(network).items()}
    calls = list(model.attention(inputs(**item)))
    assert [(c.layer, c.query_positions) for c in calls] == [(0, (0,)), (1, (0,))]
