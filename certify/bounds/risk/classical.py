"""Classical bounds for comparison: a number only where every constant is in print.

All are about the trained float head and hold at confidence 1 - delta, each on its own event. Parameter
counting follows from this project's lemmas; the others are evaluated as printed in their papers and are not
proved here. None enters the headline. A shape without its constant gets no number, and the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from certify.bounds.risk.entries import exact
from certify.bounds.risk.heads import Head, LinearHead, chunks
from certify.bounds.risk.ramp import RATIO, START, on_grid, ramp_risks, share, vector_norm, weight
from certify.bounds.risk.samples import Sample
from certify.decimals import enclosed
from certify.kernel.enclosure import Enclosure, certainly_less, largest
from certify.kernel.norms import frobenius_norm

CITED = "cited, not proved here"
SPECTRAL = "spectrally normalised margin (Bartlett, Foster, Telgarsky 2017, arXiv:1706.08498)"
PAC_BAYES = "PAC-Bayes spectral bound (Neyshabur, Bhojanapalli, Srebro 2018, arXiv:1707.09564)"
DEPTH = "norm-based Rademacher bound (Golowich, Rakhlin, Shamir 2018, arXiv:1712.06541)"
ATTENTION = "norm-based bound for attention (Edelman, Goel, Kakade, Zhang 2022, arXiv:2110.10090)"
COUNTING = "parameter counting (Vapnik, Chervonenkis; Sauer)"

FEED_FORWARD = (
    "stated for feed-forward networks of matrices and fixed activations, which a softmax head is not"
)
WITHOUT_NUMBER: Mapping[str, str] = {
    SPECTRAL: f"{FEED_FORWARD}; theorem C1-joint is its counterpart here.",
    PAC_BAYES: f"{FEED_FORWARD}. It contains a sum of stable ranks, of weights, times the product of their "
    "spectral norms; theorem C3 is its counterpart for a softmax head, with every constant.",
    DEPTH: f"{FEED_FORWARD}; theorem C1-joint is its counterpart here.",
}
Row = dict[str, Any]


def _without(name: str, status: str, why: str) -> Row:
    return {"name": name, "value": None, "status": status, "why": why}


def _row(name: str, value: Enclosure, chance: Fraction, why: str) -> Row:
    status = "valid" if certainly_less(value, chance) else "vacuous"
    return {"name": name, "value": enclosed(value), "status": status, "why": why}


def parameter_counting(head: LinearHead, sample: Sample, delta: Fraction) -> Row:
    """VC dimension: risk <= errors/m + sqrt(2 h log(e m/h) / m) + sqrt(2 log(1/delta) / m).

    Lemma 3(c), Massart's lemma on the 0-1 patterns moved to +-1/2, and Sauer's lemma (m >= h). The VC
    dimension h = d + 1 is exact for affine classifiers; for softmax heads no dimension with an explicit
    constant is known.
    """
    h, m = len(head.weight) + 1, len(sample)
    if m < h or head.outputs != 1:
        return _without(COUNTING, "not applicable", f"needs two classes and m >= {h}")
    risk = Fraction(head.margins(sample).errors(), m)
    capacity = (exact(2 * h) * (exact(Fraction(m, h)).log() + 1) / m).sqrt()
    confidence = (exact(1 / delta).log() * 2 / m).sqrt()
    value = exact(risk) + capacity + confidence
    return _row(COUNTING, value, Fraction(1, 2), f"VC dimension {h}; ties count as errors.")


def _features(sample: Sample) -> tuple[Enclosure, Enclosure]:
    """(||X||_F^2, largest ||x||^2) of the features with a constant 1."""
    total, longest = exact(len(sample)), []
    for rows in chunks(len(sample)):
        x = sample.inputs[rows].astype(np.float64)
        total = total + frobenius_norm(x) ** 2
        longest.append(vector_norm(x[int(np.argmax((x**2).sum(axis=1)))]) ** 2 + 1)
    return total, largest(longest) * (1 + Fraction(1, 1 << 40))


def spectral_margin(head: LinearHead, sample: Sample, delta: Fraction) -> Row:
    """Bartlett, Foster, Telgarsky, Lemma A.8 for one layer, reference matrix 0.

    risk <= ramp risk + 8/m^(3/2) + 72 ||X||_F sqrt(log(2 W^2)) log(m) b / (g m) + 3 sqrt(log(2/delta)/(2m)),
    b >= sum over the outputs of the norms of their weights, W the larger of d + 1 and K. Width g and b must
    be fixed before the sample; they are taken from grids here, and both grids are paid.
    """
    columns = [vector_norm(column) for column in np.vstack([head.weight, head.bias]).T]
    norm = sum(columns[1:], columns[0])
    index = int(on_grid(norm).upper)
    budget, m = exact(START * RATIO**index), len(sample)
    size = exact(2 * max(len(head.weight) + 1, head.outputs) ** 2).log().sqrt()
    capacity = _features(sample)[0].sqrt() * size * exact(m).log() * budget * Fraction(72, m)

    def bound(i: int, risk: Fraction) -> Enclosure:
        paid = delta * weight(index) * share(i)
        confidence = (exact(2 / paid).log() / (2 * m)).sqrt() * 3
        return exact(risk) + exact(8) / exact(m) ** Fraction(3, 2) + capacity / exact(2) ** i + confidence

    why = (
        f"{CITED}: Lemma A.8 at depth 1. Grids for the norm (2,1), {norm.upper:.4g}, and the width are paid."
    )
    return _row(SPECTRAL, _smallest(bound, head, sample), _chance(head), why)


def depth_product(head: LinearHead, sample: Sample, delta: Fraction) -> Row:
    """Golowich, Rakhlin, Shamir, Theorem 1 at depth 1 for real-valued networks.

    The complexity is at most (sqrt(2 log 2) + 1) M ||X||_F / m; with contraction, Lemma 3(c), and grids for M
    and the ramp width, paid.
    """
    if head.outputs != 1:
        return _without(DEPTH, "not applicable", "stated for one output; theorem A1 is for several.")
    norm, m = vector_norm(np.append(head.weight, head.bias)), len(sample)
    index = int(on_grid(norm).upper)
    constant = (exact(2).log() * 2).sqrt() + 1
    capacity = constant * exact(START * RATIO**index) * _features(sample)[0].sqrt() * Fraction(2, m)

    def bound(i: int, risk: Fraction) -> Enclosure:
        confidence = (exact(1 / (delta * weight(index) * share(i))).log() * 2 / m).sqrt()
        return exact(risk) + capacity / exact(2) ** i + confidence

    why = (
        f"{CITED}: Theorem 1 at depth 1, constant sqrt(2 log 2) + 1; theorem A1 has 1 in its place. Norm "
        f"{norm.upper:.4g} and the ramp's width are on grids, paid."
    )
    return _row(DEPTH, _smallest(bound, head, sample), _chance(head), why)


def pac_bayes_margin(head: LinearHead, sample: Sample, delta: Fraction) -> Row:
    """Neyshabur, Bhojanapalli, Srebro, Lemma 1 for one layer, with the noise computed instead of O(.).

    risk <= P_m(margin <= g) + 4 sqrt((KL + log(6 m/delta)) / (m - 1)) if noise u moves no logit of any input
    by g/4 or more, but for probability 1/2. Gaussian noise of deviation s moves logit k by at most
    B ||u_k||, and ||u_k||^2 <= s^2 (n + 2 sqrt(n l) + 2 l), n = d + 1, for all k but for probability K e^-l
    (Laurent, Massart 2000, Lemma 1): l = log(2 K). KL = ||W||_F^2 / (2 s^2). g is on a grid, paid. B is the
    largest norm of a feature vector in the sample: that no other is longer is an assumption.
    """
    m, k = len(sample), head.outputs
    if m < 2:
        return _without(PAC_BAYES, "not applicable", "needs m >= 2")
    n, level = exact(len(head.weight) + 1), exact(2 * k).log()
    reach = n + (n * level).sqrt() * 2 + level * 2
    longest = _features(sample)[1]
    square = vector_norm(np.vstack([head.weight, head.bias])) ** 2
    margins = head.margins(sample)

    def bound(i: int, _: Fraction) -> Enclosure:
        deviation_sq = exact(2) ** (2 * i) / (longest * reach * 16) * (1 - Fraction(1, 1 << 40))
        entropy = square / (deviation_sq * 2)
        total = entropy + exact(6 * m / (delta * share(i))).log()
        risk = exact(Fraction(margins.at_most(2.0**i), m))
        return risk + (total / (m - 1)).sqrt() * 4

    why = (
        f"{CITED}: Lemma 1 at depth 1. Assumes that no feature vector is longer than the longest of the "
        f"sample ({math.sqrt(longest.upper):.4g} with the constant). The margin's width is on a grid, paid."
    )
    return _row(PAC_BAYES, _smallest(bound, head, sample), _chance(head), why)


def _smallest(bound: Callable[[int, Fraction], Enclosure], head: LinearHead, sample: Sample) -> Enclosure:
    """Over the widths, each of which paid its share."""
    return min((bound(i, risk) for i, risk in ramp_risks(head, sample).items()), key=lambda v: v.upper)


def _chance(head: LinearHead) -> Fraction:
    return 1 - Fraction(1, max(2, head.outputs))


def comparison(head: Head, sample: Sample, delta: Fraction) -> list[Row]:
    """The rows of the classical part of the table."""
    attention = _without(
        ATTENTION, "no constant", "covering numbers up to unspecified constants and logarithms."
    )
    if isinstance(head, LinearHead):
        bounds = (parameter_counting, spectral_margin, pac_bayes_margin, depth_product)
        return [*(f(head, sample, delta) for f in bounds), attention]
    why = (
        "no VC dimension of softmax heads with an explicit constant is known; theorem C2 counts parameters "
        "instead."
    )
    rows = [_without(COUNTING, "no constant", why)]
    return [*rows, *(_without(n, "no constant", why) for n, why in WITHOUT_NUMBER.items()), attention]


def on_trained_features(rows: list[Row], why: str) -> list[Row]:
    """The rows where the features were trained on the sample: no number is a bound, and none is shown."""
    return [_without(r["name"], "not a bound", why) if r["value"] is not None else r for r in rows]
