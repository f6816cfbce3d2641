"""Bounds by norms and ranks of the trained float head itself: C1-joint, C2, C3, and C1-vector for scores
that were trained alone. (Linear heads: theorems A and B, see `readout_bounds`.)

All speak of the ramp risk at a width from the grid 2^i (the price of the grid is in delta), except C3, which
speaks of the 0-1 risk. The fixed query is the number 1: a query-key matrix has one row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from certify.bounds.risk.entries import Bound, Verdict, exact, judged, value_of
from certify.bounds.risk.heads import LinearHead, SoftmaxHead, chunks, token_sums
from certify.bounds.risk.ramp import (
    LIPSCHITZ,
    PAID,
    TRAINED,
    best_gap,
    on_grid,
    ramp_risks,
    share,
    vector_norm,
    weight,
)
from certify.bounds.risk.readout_bounds import readout_bounds
from certify.bounds.risk.samples import PADDING, Sample
from certify.codec.matrices import zigzag
from certify.kernel.enclosure import Enclosure, certainly_less

SCORES_ALONE = "trained scores over values from part 1"
MARGINS = tuple(range(0, 8))

_BILINEAR: Verdict = ("met", "the score is w^T x_t, a query-key matrix of one row for the query 1.")


def all_of(head: SoftmaxHead | LinearHead, sample: Sample, delta: Fraction) -> list[Bound]:
    """Every norm bound that speaks of a head of this kind, trained whole on the sample."""
    if isinstance(head, LinearHead):
        return readout_bounds(head, sample, delta)
    return [f(head, sample, delta) for f in (joint, covering, margin_bound)]


def _token_norm(sample: Sample) -> int:
    """||x_t||^2 of 0-1 tokens with k ones: k, for every token there can be."""
    return sample.inputs.shape[2]


def _counts(sample: Sample) -> np.ndarray:
    return np.asarray((sample.inputs[:, :, 0] != PADDING).sum(axis=1))


def joint(head: SoftmaxHead, sample: Sample, delta: Fraction) -> Bound:
    """Theorem C1-joint with centre 0: both matrices may be trained on the sample.

    One column of values: its spectral norm is its Frobenius norm.
    """
    scores, values = vector_norm(head.scores), vector_norm(head.values)
    k, tokens = _token_norm(sample), int(_counts(sample).sum())
    inputs = {
        "K": exact(1),
        "norm_after": scores,
        "norm_value_after": values,
        "spectral_value_after": values,
        "j": on_grid(scores),
        "j_value": on_grid(values),
        "j_spectral": on_grid(values),
        "sum_sq_tokens": exact(k * tokens),
        "sum_sq_joint": exact(k * k * tokens),  # radius^2 = k, query norm 1, ||X||_F^2 = k * tokens
    }
    verdicts = {"bilinear-scores": _BILINEAR, "grid-value": PAID, "grid-spectral": PAID}
    text = f"norms {scores.upper:.4g}, {values.upper:.4g}"
    return best_gap("C1-joint-peeled", ramp_risks(head, sample), inputs, len(sample), delta, verdicts, text)


def scores_alone(head: SoftmaxHead, start: np.ndarray, sample: Sample, delta: Fraction) -> Bound:
    """Theorem C1-vector for a head whose values, and the scores ``start``, were fixed before this sample.

    Only scores - start was trained on it: the scores that the tokens had before are fixed offsets.
    """
    moved = vector_norm(head.scores - start)  # the floats' difference is exact up to one rounding
    moved = moved * Enclosure.between(1 - Fraction(1, 2**52), 1 + Fraction(1, 2**52))
    inputs = {
        "norm_after": moved,
        "j": on_grid(moved),
        "sum_sq_scores": _sum_of_scores(head.values, sample),
    }
    verdicts: dict[str, Verdict] = {
        "bilinear-scores": _BILINEAR,
        "values-frozen": ("met", "the values were trained on part 1 of the sample and then left alone."),
        "fixed-before-sample": (
            "assumed",
            "by you: token map and share were fixed beforehand. Values and first scores come from part 1.",
        ),
    }
    risks, text = ramp_risks(head, sample), f"scores moved by {moved.upper:.4g}"
    return best_gap("C1-vector-peeled", risks, inputs, len(sample), delta, verdicts, text, SCORES_ALONE)


def _sum_of_scores(values: np.ndarray, sample: Sample) -> Enclosure:
    """sum_i rho_i^2 ||Xc_i||_F^2 over the visible tokens: rho_i half the range of the values, Xc_i around the
    mean.

    ||Xc||_F^2 = k T - (sum of squared counts of the coordinates) / T, from whole numbers. A value a_t is a
    sum of k floats; its rounding is at most k 2^-52 times the sum of their sizes.
    """
    low = high = 0.0
    table = values[:, 0]
    slack = sample.inputs.shape[2] * 2.0**-52
    for rows in chunks(len(sample)):
        tokens = sample.inputs[rows]
        hidden = tokens[:, :, 0] == PADDING
        read, size = token_sums(table, tokens), token_sums(np.abs(table), tokens).max(axis=1) * slack
        top = np.where(hidden, -np.inf, read).max(axis=1)
        radius = (top - np.where(hidden, np.inf, read).min(axis=1)) / 2
        spread = _centred_squares(tokens, sample.dimension)
        low += float((np.maximum(radius - 2 * size, 0.0) ** 2 * spread).sum())
        high += float(((radius + 2 * size) ** 2 * spread).sum())
    return Enclosure.between(low * (1 - 2.0**-30), high * (1 + 2.0**-30), {"binary64"})


def _centred_squares(tokens: np.ndarray, dimension: int) -> np.ndarray:
    """||X - mean||_F^2 of the visible 0-1 tokens of each unit, float64 (n,), right to a part in 2^40."""
    counts = np.zeros((len(tokens), dimension + 1))
    unit = np.arange(len(tokens))[:, None]
    for j in range(tokens.shape[2]):
        np.add.at(counts, (unit, tokens[:, :, j]), 1.0)  # padding -1 falls on the last column
    visible = (tokens[:, :, 0] != PADDING).sum(axis=1)
    squares = (counts[:, :-1] ** 2).sum(axis=1)
    return np.asarray((tokens.shape[2] * visible**2 - squares) / visible)


_TOKENS: Verdict = ("met", "every token is a 0-1 vector with a fixed number of ones; the query is 1.")


def _dyadic(norm: Enclosure) -> int:
    j = 0
    while not certainly_less(norm, 2**j) and j < 200:
        j += 1
    return j


def covering(head: SoftmaxHead, sample: Sample, delta: Fraction) -> Bound:
    """Theorem C2 in its relative-entropy form: exact ranks (1 and 1), resolution chosen after training."""
    scores, values = _dyadic(vector_norm(head.scores)), _dyadic(vector_norm(head.values))
    token_norm = exact(_token_norm(sample)).sqrt()
    likely = round(math.log2(len(sample) / (3 * sample.dimension)) / 2) if len(sample) > 1 else 1
    resolutions = range(
        max(1, likely), max(1, likely) + 5
    )  # heuristic: where the resolution meets the entropy term
    bounds = []
    for i, risk in ramp_risks(head, sample).items():
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
                "delta": exact(delta * share(i)),
            }
            bounds.append(_covering_bound(inputs, i, sample, delta))
    return min(bounds, key=lambda bound: bound.value.upper)


def _covering_bound(inputs: Mapping[str, Enclosure], width: int, sample: Sample, delta: Fraction) -> Bound:
    verdicts = {
        "loss-lipschitz": LIPSCHITZ,
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
    scores, values = vector_norm(head.scores), vector_norm(head.values) / exact(2).sqrt()
    diameter = vector_norm(head.values)
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
            "delta": exact(delta * weight(g)),
        }
        bounds.append(_margin_entry(inputs, sample, delta, g))
    return min(bounds, key=lambda bound: bound.value.upper)


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
