"""Classical bounds for comparison: with a number only where every constant is known and proved here.

The rest is named with the reason why it has none: a shape without its constant is not a bound.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from certify.bounds.risk.entries import exact
from certify.bounds.risk.heads import Head, LinearHead
from certify.bounds.risk.samples import Sample
from certify.decimals import enclosed
from certify.kernel.enclosure import Enclosure, certainly_less

WITHOUT_NUMBER: tuple[tuple[str, str], ...] = (
    (
        "spectrally normalised margin (Bartlett, Foster, Telgarsky 2017)",
        "stated for feed-forward networks of matrices and fixed activations, which a softmax head is not; "
        "its form "
        "for all norms after training holds up to a constant that the theorem leaves open.",
    ),
    (
        "PAC-Bayes spectral bound (Neyshabur, Bhojanapalli, Srebro 2018)",
        "stated with O(.) for feed-forward ReLU networks. It contains a sum of stable ranks, of weights, "
        "times the "
        "product of their spectral norms; theorem C3 is its counterpart for a softmax head, with every "
        "constant.",
    ),
    (
        "norm-based Rademacher bound with the product over depth (Golowich, Rakhlin, Shamir 2018)",
        "for feed-forward networks; at depth 1 it is theorem A1 of this table.",
    ),
    (
        "norm-based bound for attention (Edelman, Goel, Kakade, Zhang 2022)",
        "covering numbers up to unspecified constants and logarithms.",
    ),
)


def parameter_counting(head: Head, sample: Sample, delta: Fraction) -> dict[str, Any]:
    """VC dimension: risk <= errors/m + sqrt(2 h log(e m/h) / m) + sqrt(2 log(1/delta) / m).

    Lemma 3(c), Massart's lemma on the 0-1 patterns moved to +-1/2, and Sauer's lemma (m >= h). The VC
    dimension h = d + 1 is exact for affine classifiers; for softmax heads no dimension with an explicit
    constant is known.
    """
    name = "parameter counting (Vapnik, Chervonenkis; Sauer)"
    if not isinstance(head, LinearHead):
        why = (
            "no VC dimension of softmax heads with an explicit constant is known; theorem C2 counts "
            "parameters instead."
        )
        return {"name": name, "value": None, "status": "no constant", "why": why}
    h, m = len(head.weight) + 1, len(sample)
    if m < h or head.weight.shape[1] != 1:
        return {
            "name": name,
            "value": None,
            "status": "not applicable",
            "why": f"needs two classes and m >= {h}",
        }
    risk = Fraction(head.margins(sample).errors(), m)
    capacity = (exact(2 * h) * (exact(Fraction(m, h)).log() + 1) / m).sqrt()
    confidence = (exact(1 / delta).log() * 2 / m).sqrt()
    value: Enclosure = exact(risk) + capacity + confidence
    return {
        "name": name,
        "value": enclosed(value),
        "status": "valid" if certainly_less(value, Fraction(1, 2)) else "vacuous",
        "why": f"VC dimension {h}; ties count as errors.",
    }


def comparison(head: Head, sample: Sample, delta: Fraction) -> list[dict[str, Any]]:
    """The rows of the classical part of the table."""
    named = [{"name": n, "value": None, "status": "no constant", "why": why} for n, why in WITHOUT_NUMBER]
    return [parameter_counting(head, sample, delta), *named]
