"""Find a head's :class:`ScoreForm` and hold it against the recorded queries and keys.

Theorem C1 needs the score to be the stated function of W_Q and W_K. The tables say what the family does; this
module checks on the recorded numbers that q and k really are (a rotation of) scale * (x W + b). A form that
does not fit is handed over with ``covered = False`` and the reason, never used silently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from certify.adapters.capture import AttentionRecord
from certify.adapters.layouts import Block, Slice, slice_factor
from certify.adapters.scores import ScoreForm
from certify.adapters.sources import TensorSource
from certify.adapters.views import apply_view

FloatArray = NDArray[np.floating[Any]]
Pairs = tuple[tuple[int, int], ...]
# Largest relative disagreement that float32 roundings of a projection explain, with room; bfloat16 has 2^-8.
TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4}


@dataclass(frozen=True)
class ScoreHints:
    """What the family says of its scores: rotary or not, pairings to try, scale factors to try on q and k."""

    rotary: bool = False
    pairings: tuple[Pairs, ...] = ()
    prescales: tuple[float, ...] = (1.0,)
    rotary_scale: float = 1.0
    additive: str | None = None
    shared: bool = False  # the weights serve several layers of this run


def rotary_pairings(head_dim: int, rotated: int, interleaved: bool) -> tuple[Pairs, ...]:
    """The two ways in which families pair coordinates, the family's own first."""
    half = tuple((i, i + rotated // 2) for i in range(rotated // 2))
    inter = tuple((2 * i, 2 * i + 1) for i in range(rotated // 2))
    return (inter, half) if interleaved else (half, inter)


def score_form(
    block: Block,
    head: int,
    record: AttentionRecord,
    queries_in: FloatArray,
    keys_in: FloatArray,
    source: TensorSource,
    hints: ScoreHints,
) -> ScoreForm:
    """The score form of ``head``, checked against ``record``."""
    query_weight, query_bias = weight_and_bias(block.query[head], source)
    key_weight, key_bias = weight_and_bias(block.key[head], source)

    def form(scale: float, pairs: Pairs, covered: bool, reason: str, deviation: float) -> ScoreForm:
        return ScoreForm(
            query_weight,
            key_weight,
            query_bias,
            key_bias,
            scale,
            pairs,
            block.qk_norm,
            record.softcap,
            hints.additive or ("a bias on the scores" if record.bias is not None else None),
            covered,
            reason,
            deviation,
        )

    if block.qk_norm:
        return form(
            record.scale,
            (),
            False,
            "queries and keys are normalised: their product is not linear in W_Q W_K^T",
            float("nan"),
        )
    if hints.shared:
        reason = "its weights serve several layers: trained, they change more than this layer's scores"
        return form(record.scale, (), False, reason, float("nan"))
    q_hat = _project(queries_in, query_weight, query_bias)
    k_hat = _project(keys_in, key_weight, key_bias)
    q, k = record.queries(head).astype(np.float64), record.keys(head).astype(np.float64)
    if q_hat.shape != q.shape or k_hat.shape != k.shape:
        return form(
            record.scale,
            (),
            False,
            f"the model's queries {q.shape} are not those of its projection {q_hat.shape}",
            float("nan"),
        )
    tolerance = TOLERANCE.get(record.query.dtype, 0.05)
    best: tuple[float, float, Pairs] = (float("inf"), 1.0, ())
    for pairs in hints.pairings if hints.rotary else ((),):
        for prescale in hints.prescales:
            deviation = max(
                _disagreement(q, prescale * hints.rotary_scale * q_hat, pairs),
                _disagreement(k, hints.rotary_scale * k_hat, pairs),
            )
            if deviation < best[0]:
                best = (deviation, prescale, pairs)
            if deviation <= tolerance:
                return form(record.scale * prescale * hints.rotary_scale**2, pairs, True, "", deviation)
    return form(
        record.scale,
        best[2],
        False,
        f"the model's queries and keys differ from x W + b by {best[0]:.2g} (relative): a form not "
        "known here",
        best[0],
    )


def weight_and_bias(cut: Slice, source: TensorSource) -> tuple[FloatArray, FloatArray | None]:
    """W (in, d_head) of a head's projection and its bias (d_head,), if the model has one."""
    weight = apply_view(source.array(cut.tensor), slice_factor(cut, source.tensors).view)
    name = bias_name(cut.tensor)
    if name not in source.tensors:
        return weight, None
    offset = 0
    if cut.tensor.endswith(
        ("k_proj_weight", "v_proj_weight")
    ):  # nn.MultiheadAttention: one bias for all three
        offset = source.tensors[name].shape[0] // 3 * (1 if cut.tensor.endswith("k_proj_weight") else 2)
    return weight, source.array(name)[offset + cut.start : offset + cut.stop]


def bias_name(tensor: str) -> str:
    """The name of the bias that goes with a projection's weight."""
    if tensor.endswith("in_proj_weight"):
        return tensor.removesuffix("weight") + "bias"
    for kind in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
        if tensor.endswith(kind):
            return tensor.removesuffix(kind) + "in_proj_bias"
    return tensor.removesuffix("weight") + "bias"


def _project(rows: FloatArray, weight: FloatArray, bias: FloatArray | None) -> FloatArray:
    out = rows.astype(np.float64) @ weight.astype(np.float64)
    return out if bias is None else out + bias.astype(np.float64)


def _disagreement(found: FloatArray, expected: FloatArray, pairs: Sequence[tuple[int, int]]) -> float:
    """Largest difference relative to the largest entry: entry by entry, or of lengths for rotated pairs."""
    left, right = [i for i, _ in pairs], [j for _, j in pairs]
    rest = [i for i in range(found.shape[1]) if i not in {*left, *right}]
    scale = float(np.max(np.abs(expected), initial=0.0)) or 1.0
    differences = np.abs(found[:, rest] - expected[:, rest])
    lengths = np.hypot(found[:, left], found[:, right]) - np.hypot(expected[:, left], expected[:, right])
    return max(float(np.max(differences, initial=0.0)), float(np.max(np.abs(lengths), initial=0.0))) / scale
