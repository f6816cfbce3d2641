"""Bounds by norms and ranks of the trained float head itself: C1-joint, C2, C3 and, for linear heads, A1.

All speak of the ramp risk at a width from the grid 2^i (the price of the grid is in delta), except C3, which
speaks of the 0-1 risk. Every norm is certified; budgets are grid values above the certified norms, paid
for by splitting delta (Theorem P: a union over a countable grid with weights 1/((j+1)(j+2))).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from certify.bounds.peeling import grid_index
from certify.bounds.risk.entries import Bound, Verdict, exact, judged, value_of
from certify.bounds.risk.heads import LinearHead, SoftmaxHead
from certify.bounds.risk.samples import PADDING, Sample
from certify.codec.matrices import zigzag
from certify.kernel.enclosure import Enclosure, certainly_less
from certify.kernel.norms import frobenius_norm

TRAINED = "trained head"
RATIO, START = Fraction(11, 10), Fraction(1)
WIDTHS = tuple(range(-2, 6))  # exponents of the ramp width
MARGINS = tuple(range(0, 8))

_LIPSCHITZ: Verdict = ("met", "the ramp of width g of the signed output is 1/g-Lipschitz.")
_PAID: Verdict = (
    "met",
    "the budget is a grid value above the certified norm; the grid is paid by its share of delta.",
)


def _weight(index: int) -> Fraction:
    return Fraction(1, (index + 1) * (index + 2))


def _norm(x: np.ndarray) -> Enclosure:
    return frobenius_norm(np.ascontiguousarray(x.reshape(1, -1)))


def _budget(norm: Enclosure) -> tuple[Fraction, Fraction]:
    """(grid value >= the norm, its weight)."""
    index = grid_index(Fraction(norm.upper), START, RATIO)
    return START * RATIO**index, _weight(index)


def _best(bounds: list[Bound]) -> Bound:
    """The smallest of bounds whose common event is already paid for."""
    return min(bounds, key=lambda bound: bound.value.upper)


def _ramp(head: SoftmaxHead | LinearHead, sample: Sample) -> Mapping[int, Fraction]:
    margins = head.margins(sample)
    return {i: margins.ramp_risk(2.0**i) for i in WIDTHS}


def all_of(head: SoftmaxHead | LinearHead, sample: Sample, delta: Fraction) -> list[Bound]:
    """Every norm bound that speaks of this kind of head."""
    if isinstance(head, LinearHead):
        return [linear_readout(head, sample, delta)] if head.outputs == 1 else []
    return [f(head, sample, delta) for f in (joint, covering, margin_bound, scores_alone)]


def linear_readout(head: LinearHead, sample: Sample, delta: Fraction) -> Bound:
    """Theorem A1-peeled (scalar form: K = 1): norm of weight and bias, features with a constant 1."""
    risks = _ramp(head, sample)
    norm = _norm(np.append(head.weight, head.bias))
    squares = exact(Fraction(float(frobenius_norm(sample.inputs).upper)) ** 2 + len(sample))
    index = grid_index(Fraction(norm.upper), START, RATIO)
    bounds = []
    for i, risk in risks.items():
        inputs = {
            "K": exact(1),
            "L": exact(1 / Fraction(2) ** i),
            "m": exact(len(sample)),
            "sum_sq_features": squares,
            "rho": exact(RATIO),
            "c0": exact(START),
            "j": exact(index),
            "norm_after": norm,
            "delta": exact(delta * _weight(zigzag(i))),
        }
        bounds.append(
            _gap("A1-peeled", risk, i, inputs, sample, delta, {"grid": _PAID}, f"norm {norm.upper:.4g}")
        )
    return _best(bounds)


def _gap(
    name: str,
    risk: Fraction,
    width: int,
    inputs: Mapping[str, Enclosure],
    sample: Sample,
    delta: Fraction,
    verdicts: Mapping[str, Verdict],
    complexity: str,
) -> Bound:
    """Empirical ramp risk plus the gap of theorem ``name``."""
    value = value_of(name, inputs) + exact(risk)
    if certainly_less(1, value):
        value = exact(1)
    return Bound(
        name,
        TRAINED,
        f"ramp {2.0**width:g}",
        value,
        len(sample),
        delta,
        complexity,
        {**inputs, "emp_risk": exact(risk)},
        judged(name, {"loss-lipschitz": _LIPSCHITZ, **verdicts}),
    )


def _token_norm(sample: Sample) -> int:
    """||x_t||^2 of 0-1 tokens with k ones: k, for every token there can be."""
    return sample.inputs.shape[2]


def _counts(sample: Sample) -> np.ndarray:
    return np.asarray((sample.inputs[:, :, 0] != PADDING).sum(axis=1))


def joint(head: SoftmaxHead, sample: Sample, delta: Fraction) -> Bound:
    """Theorem C1-joint with the fixed query 1, centre 0: both matrices may be trained on the sample."""
    scores, values = _norm(head.scores), _norm(head.values)
    (omega, first), (omega_value, second) = _budget(scores), _budget(values)
    spectral_value, third = (
        omega_value,
        second,
    )  # one column: spectral and Frobenius norms agree, one grid for both
    k, tokens = _token_norm(sample), int(_counts(sample).sum())
    bounds = []
    for i, risk in _ramp(head, sample).items():
        inputs = {
            "K": exact(1),
            "L": exact(1 / Fraction(2) ** i),
            "m": exact(len(sample)),
            "omega": exact(omega),
            "omega_value": exact(omega_value),
            "spectral_value": exact(spectral_value),
            "sum_sq_tokens": exact(k * tokens),
            "sum_sq_joint": exact(k * k * tokens),  # radius^2 = k, query norm 1, ||X||_F^2 = k * tokens
            "delta": exact(delta * first * third * _weight(zigzag(i))),
        }
        verdicts = {
            "bilinear-scores": (
                "met",
                "the score is w^T x_t, a query-key matrix of one row for the query 1.",
            ),
            "frobenius-ball": _PAID,
            "value-balls": _PAID,
        }
        text = f"norms {scores.upper:.4g}, {values.upper:.4g}"
        bounds.append(_gap("C1-joint", risk, i, inputs, sample, delta, verdicts, text))
    return _best(bounds)


def scores_alone(head: SoftmaxHead, sample: Sample, delta: Fraction) -> Bound:
    """Theorem C1-vector is about trained scores over *frozen* values. Here both were trained: no bound,
    said so."""
    verdicts = {
        "loss-lipschitz": _LIPSCHITZ,
        "bilinear-scores": ("met", "the score is w^T x_t."),
        "grid": _PAID,
        "values-frozen": ("violated", "the values were trained on the same sample; see theorem C1-joint."),
    }
    norm = _norm(head.scores)
    return Bound(
        "C1-vector-peeled",
        TRAINED,
        "ramp 1",
        exact(1),
        len(sample),
        delta,
        f"norm {norm.upper:.4g}",
        {"delta": exact(delta), "m": exact(len(sample)), "norm_after": norm},
        judged("C1-vector-peeled", verdicts),
    )


_TOKENS: Verdict = ("met", "every token is a 0-1 vector with a fixed number of ones; the query is 1.")


def _dyadic(norm: Enclosure) -> int:
    j = 0
    while not certainly_less(norm, 2**j) and j < 200:
        j += 1
    return j


def covering(head: SoftmaxHead, sample: Sample, delta: Fraction) -> Bound:
    """Theorem C2 in its relative-entropy form: exact ranks (1 and 1), resolution chosen after training."""
    scores, values = _dyadic(_norm(head.scores)), _dyadic(_norm(head.values))
    token_norm = exact(_token_norm(sample)).sqrt()
    likely = round(math.log2(len(sample) / (3 * sample.dimension)) / 2) if len(sample) > 1 else 1
    resolutions = range(
        max(1, likely), max(1, likely) + 5
    )  # heuristic: where the resolution meets the entropy term
    bounds = []
    for i, risk in _ramp(head, sample).items():
        for resolution in resolutions:
            inputs = {
                "B": token_norm,
                "B_query": exact(1),
                "K": exact(1),
                "L": exact(1 / Fraction(2) ** i),
                "d": exact(sample.dimension),
                "emp_risk": exact(risk),
                "j_scores": exact(scores),
                "j_values": exact(values),
                "m": exact(len(sample)),
                "rank_scores": exact(1),
                "rank_values": exact(1),
                "resolution": exact(resolution),
                "delta": exact(delta * _weight(zigzag(i))),
            }
            bounds.append(_covering_bound(inputs, i, sample, delta))
    return _best(bounds)


def _covering_bound(inputs: Mapping[str, Enclosure], width: int, sample: Sample, delta: Fraction) -> Bound:
    verdicts = {
        "loss-lipschitz": _LIPSCHITZ,
        "almost-sure-norms": _TOKENS,
        "dyadic-norms": ("met", "ranks are 1 by shape; the norms are certified."),
    }
    nats = 2 * sample.dimension
    return Bound(
        "C2",
        TRAINED,
        f"ramp {2.0**width:g}",
        value_of("C2", inputs),
        len(sample),
        delta,
        f"{nats + sample.dimension + 1} parameters, ranks 1, 1",
        inputs,
        judged("C2", verdicts),
    )


def margin_bound(head: SoftmaxHead, sample: Sample, delta: Fraction) -> Bound:
    """Theorem C3 for the two columns -v/2, v/2 (the same classifier): 0-1 risk by norms, no dimension."""
    margins = head.margins(sample)
    scores, values = _norm(head.scores), _norm(head.values) / exact(2).sqrt()
    diameter = _norm(head.values)
    token_norm = exact(_token_norm(sample)).sqrt()
    tokens, m = sample.inputs.shape[1], len(sample)
    bounds = []
    for g in MARGINS:
        width = Fraction(2) ** g
        eta = Fraction(1, 200)
        budget = width / 4
        noise_scores = _noise(
            budget, diameter * token_norm**2 * (exact(Fraction(tokens) / eta).log() * 2).sqrt()
        )
        noise_values = _noise(budget, token_norm * 2 * exact(1 / eta).log().sqrt())
        inputs = {
            "B": token_norm,
            "B_query": exact(1),
            "K": exact(2),
            "margin": exact(width),
            "n_tokens": exact(tokens),
            "value_diameter": diameter,
            "eta_scores": exact(eta),
            "eta_values": exact(eta),
            "noise_scores": noise_scores[0],
            "noise_values": noise_values[0],
            "index_scores": exact(noise_scores[1]),
            "index_values": exact(noise_values[1]),
            "norm_scores": scores,
            "norm_values": values,
            "m": exact(m),
            "emp_margin_risk": exact(Fraction(margins.at_most(float(width)), m)),
            "delta": exact(delta * _weight(g)),
        }
        bounds.append(_margin_entry(inputs, sample, delta, g))
    return _best(bounds)


def _noise(budget: Fraction, factor: Enclosure) -> tuple[Enclosure, int]:
    """The largest noise level 2^(-i/4) with level * factor <= budget, and its zig-zag index."""
    ratio = exact(budget) / factor
    exponent = math.floor(4 * math.log2(ratio.lower))
    while True:
        level = exact(2) ** Fraction(exponent, 4)
        if not certainly_less(level, ratio):
            exponent -= 1
            continue
        return level, zigzag(-exponent)


def _margin_entry(inputs: Mapping[str, Enclosure], sample: Sample, delta: Fraction, g: int) -> Bound:
    verdicts = {
        "almost-sure-norms": _TOKENS,
        "noise-small": ("met", "the levels were chosen below the budget, in balls."),
        "eta-below-one": ("met", "1/200 + 1/200 < 1."),
    }
    return Bound(
        "C3",
        TRAINED,
        "0-1",
        value_of("C3", inputs),
        len(sample),
        delta,
        f"norms {inputs['norm_scores'].upper:.4g}, {inputs['norm_values'].upper:.4g}",
        inputs,
        judged("C3", verdicts),
        note=f"margin {2**g}",
    )
