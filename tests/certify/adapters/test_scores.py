"""Score forms: the augmented matrix gives the model's scores, and a wrong form is refused, not used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certify.adapters import AttentionCall, Inputs, ScoreForm, open_model
from certify.adapters.forms import ScoreHints, rotary_pairings, score_form
from tests.certify.adapters.families import HOOKED, build, example


def calls_of(family: str, folder: Path) -> tuple[Any, list[AttentionCall]]:
    network = build(HOOKED[family])
    network.save_pretrained(folder / "m")
    model = open_model(str(folder / "m"))
    item = {k: v[0].numpy() for k, v in example(network, length=7).items()}
    return model.runner(), list(model.attention(Inputs("test", [item], "0" * 64)))


def rotary_angles(form: ScoreForm, queries: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """theta_f * position, read off the recorded queries: one angle per position and pair."""
    plain = rows @ form.query_weight + (0 if form.query_bias is None else form.query_bias)
    turned = np.stack([queries[:, i] + 1j * queries[:, j] for i, j in form.rotary_pairs], axis=1)
    still = np.stack([plain[:, i] + 1j * plain[:, j] for i, j in form.rotary_pairs], axis=1)
    return np.angle(turned / still)


PLAIN = ["bert", "gpt2", "opt", "t5", "whisper"]
ROTARY = ["gemma2", "gpt_neox", "gpt_oss", "gptj", "llama", "llama biased", "phi", "phi3"]


@pytest.mark.parametrize("family", PLAIN + ROTARY)
def test_blocks_and_known_features_give_the_models_scores(family: str, tmp_path: Path) -> None:
    """score = scale * sum_b <Q_b K_b^T, x feature_b^T> with the docstring's features, up to a shift.

    The recorded q, k are the model's own; W~ comes from the weights alone; the angles are known features.
    """
    _, calls = calls_of(family, tmp_path)
    for call in calls:
        for head in range(call.heads):
            form, record = call.score_form(head), call.captured
            assert form is not None
            assert form.covered, form.reason
            x = with_one(call.queries_in) if form.query_augmented else call.queries_in
            y = with_one(call.keys_in) if form.key_augmented else call.keys_in
            scores = np.zeros((len(x), len(y)))
            blocks = form.blocks()
            if form.rotary_pairs:
                angles = rotary_angles(form, record.queries(head), call.queries_in)  # type: ignore[union-attr]
                relative = angles[None, :, :] - angles[:, None, :]
                for f in range(len(form.rotary_pairs)):
                    (q, k), (q2, k2) = blocks[2 * f], blocks[2 * f + 1]
                    scores += np.cos(relative[:, :, f]) * (x @ q @ (y @ k).T)
                    scores += np.sin(relative[:, :, f]) * (x @ q2 @ (y @ k2).T)
                blocks = blocks[2 * len(form.rotary_pairs) :]
            for q, k in blocks:
                scores += x @ q @ (y @ k).T
            own = record.queries(head) @ record.keys(head).T * record.scale  # type: ignore[union-attr]
            difference = form.scale * scores - own
            difference -= difference[:, :1]  # a shift per query row drops out of the softmax
            assert np.max(np.abs(difference)) <= 2e-4 * (1 + np.max(np.abs(own)))


def with_one(rows: np.ndarray) -> np.ndarray:
    return np.concatenate([rows, np.ones((len(rows), 1), rows.dtype)], axis=1)


@pytest.mark.parametrize(("family", "multiplier"), [("bert", 1), ("llama", 4), ("gpt_neox", 3), ("gptj", 3)])
def test_feature_multiplier_counts_the_copies(family: str, multiplier: int, tmp_path: Path) -> None:
    """Heads of 8: llama turns all (4 pairs); NeoX and GPT-J turn 4 (2 pairs) and leave 4 still."""
    _, calls = calls_of(family, tmp_path)
    form = calls[0].score_form(0)
    assert form is not None
    assert form.key_feature_multiplier == multiplier


def test_blocks_are_copies_of_the_stored_numbers() -> None:
    rng = np.random.default_rng(0)
    q, k = rng.standard_normal((5, 4)).astype(np.float32), rng.standard_normal((6, 4)).astype(np.float32)
    b = rng.standard_normal(4).astype(np.float32)
    form = ScoreForm(q, k, b, b, 0.5, ((0, 2),))
    (q0, m), (q1, n), (q2, rest) = form.blocks()
    assert np.array_equal(q0, np.vstack([q, b])[:, [0, 2]])
    assert np.array_equal(q1, q0)
    assert np.array_equal(m, np.vstack([k, b])[:, [0, 2]])
    assert np.array_equal(n, np.vstack([k, b])[:, [2, 0]] * np.float32([-1, 1]))
    assert np.array_equal(q2, np.vstack([q, b])[:, [1, 3]])
    assert np.array_equal(rest, np.vstack([k, b])[:, [1, 3]])
    plain = replace(form, rotary_pairs=())
    assert [block.shape for block in plain.blocks()[0]] == [(6, 4), (6, 4)]  # the key bias drops out


def planted(call: AttentionCall, runner: Any, block: Any, hints: ScoreHints, head: int = 0) -> ScoreForm:
    return score_form(block, head, call.captured, call.queries_in, call.keys_in, runner.source, hints)  # type: ignore[arg-type]


def test_planted_faults_in_a_layout_are_refused(tmp_path: Path) -> None:
    """Wrong head, swapped q and k, forgotten scale, wrong pairing: not covered, with a reason."""
    runner, calls = calls_of("gptj", tmp_path)
    block = runner.blocks[1]
    hints = runner.score_hints(block)
    assert planted(calls[1], runner, block, hints).covered
    interleaved, half = rotary_pairings(block.head_dim, 4, True)
    faults = [
        (replace(block, query=block.query[1:] + block.query[:1]), hints),
        (replace(block, query=block.key, key=block.query), hints),
        (runner.blocks[0], hints),
        (block, replace(hints, rotary=False)),
        (block, replace(hints, pairings=(half,))),
        (block, replace(hints, prescales=(0.5,))),
    ]
    for wrong, wrong_hints in faults:
        form = planted(calls[1], runner, wrong, wrong_hints)
        assert not form.covered
        assert "a form not known here" in form.reason
        assert form.deviation > 1e-2
    assert (
        planted(calls[1], runner, block, replace(hints, pairings=(half, interleaved))).rotary_pairs
        == interleaved
    )


def test_a_planted_fault_in_the_grouping_of_keys_is_refused(tmp_path: Path) -> None:
    runner, calls = calls_of("llama", tmp_path)
    block = runner.blocks[0]
    hints = runner.score_hints(block)
    assert all(planted(calls[0], runner, block, hints, h).covered for h in range(6))
    spread = tuple(block.key[(h * 3) % 6] for h in range(6))  # head h on key head h % 2, not h // 3
    refused = [not planted(calls[0], runner, replace(block, key=spread), hints, h).covered for h in range(6)]
    assert refused == [h % 2 != h // 3 for h in range(6)]
