"""Theorems A and B for a linear read-out of frozen features, by norms of the trained float head.

Features carry a constant 1, so that the bias is a row of the weight W (d + 1, K). A takes the Frobenius
norm of W; B the nuclear norm, and a spectral norm of the features' second moments in return.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from certify.bounds.risk.entries import Bound, exact
from certify.bounds.risk.heads import LinearHead, chunks
from certify.bounds.risk.ramp import best_gap, on_grid, ramp_risks, vector_norm
from certify.bounds.risk.samples import Sample
from certify.kernel.enclosure import Enclosure, largest
from certify.kernel.norms import frobenius_norm, nuclear_norm, spectral_norm
from certify.kernel.rounding import growth_float


def readout_bounds(head: LinearHead, sample: Sample, delta: Fraction) -> list[Bound]:
    """Theorems A and B, at one ramp width: so that their minimum may be taken, each at half of delta."""
    weight, k = np.vstack([head.weight, head.bias]), head.outputs
    squares = exact(Fraction(0))
    for rows in chunks(len(sample)):
        squares = squares + frobenius_norm(sample.inputs[rows]) ** 2
    squares = squares + len(sample)
    lipschitz = exact(1) if k == 1 else exact(2).sqrt()
    risks = ramp_risks(head, sample)
    norm, nuclear = vector_norm(weight), nuclear_norm(weight)
    frobenius = {"norm_after": norm, "j": on_grid(norm), "sum_sq_features": squares}
    series = {"nuclear_after": nuclear, "j": on_grid(nuclear), **_series(sample, squares, k)}
    first, second = ("A1-scalar-peeled", "B1-peeled") if k == 1 else ("A1-peeled", "B2-peeled")
    common = (len(sample), delta)
    verdicts = {"one-output": ("met", "one output decides between two classes.")}
    if k > 1:
        frobenius["K"] = exact(k)
    text = f"norm {norm.upper:.4g}"
    a = best_gap(first, risks, frobenius, *common, verdicts, text, lipschitz=lipschitz)
    width = {i: risk for i, risk in risks.items() if f"ramp {2.0**i:g}" == a.loss}
    text = f"nuclear norm {nuclear.upper:.4g}"
    return [a, best_gap(second, width, series, *common, {}, text, lipschitz=lipschitz)]


def _series(sample: Sample, squares: Enclosure, k: int) -> Mapping[str, Enclosure]:
    """Variance and Frobenius size of the matrix Rademacher series of theorem B.

    One output: the matrices are columns (x, 1), so both are sum ||(x, 1)||^2. K outputs: v is the larger of
    that and K times the largest eigenvalue of sum (x, 1)(x, 1)^T; the Frobenius size is K sum ||(x, 1)||^2.
    """
    variance = squares if k == 1 else largest([squares, largest_moment(sample) * k])
    return {"series_variance": variance, "series_frobenius_sq": squares * k}


def largest_moment(sample: Sample) -> Enclosure:
    """The largest eigenvalue of sum_i (x_i, 1)(x_i, 1)^T, from sums over chunks of the sample.

    Each entry of the float sum is off by at most growth(n + chunks) times the sum of absolute products.
    """
    d = sample.dimension + 1
    total, size = np.zeros((d, d)), np.zeros((d, d))
    for rows in chunks(len(sample)):
        x = np.hstack([sample.inputs[rows].astype(np.float64), np.ones((len(sample.labels[rows]), 1))])
        total += x.T @ x
        size += np.abs(x).T @ np.abs(x)
    radius = size * (2 * growth_float(2 * len(sample) + 4)) + np.finfo(float).tiny
    return spectral_norm((total + total.T) / 2, radius=radius * (1 + 2.0**-40))
