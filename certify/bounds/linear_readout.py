"""Theorem A1-peeled: a linear read-out trained on the model's frozen pooled features."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from certify.bounds.hypotheses import judged
from certify.bounds.peeling import Pair, PeeledBound, Settings, enclosure_of, grid_index, recorded
from certify.decimals import enclosed
from certify.kernel.enclosure import Enclosure, largest

THEOREM = "A1-peeled"


def linear_readout_bound(feature_norms: Sequence[Pair], settings: Settings) -> dict[str, Any]:
    """The record of Theorem A1-peeled.

    ``feature_norms``: for each input an enclosure of ||Psi(x_i)||_2, the Euclidean norm of the pooled
    feature vector. The class is all W (d x K) of norm at most ``settings.readout_norm`` after training.
    """
    from proofs.theorems import THEOREMS

    theorem = THEOREMS[THEOREM]
    squares = [enclosure_of(pair) ** 2 for pair in feature_norms]
    total = sum(squares[1:], squares[0])
    norm = Fraction(settings.readout_norm)
    index = grid_index(norm, Fraction(settings.grid_start), Fraction(settings.grid_ratio))
    fixed = {**settings.exact(), "norm_after": Enclosure.exact(norm), "j": Enclosure.exact(index)}
    bound = PeeledBound(theorem.prefix, fixed, "sum_sq_features", total, largest(squares))
    return {
        "subject": {"object": "linear read-out of the pooled features"},
        "norm_after": {"lower": str(settings.readout_norm), "upper": str(settings.readout_norm)},
        "grid_index": index,
        "sum": enclosed(total),
        "largest_term": enclosed(largest(squares)),
        **recorded(bound, settings, len(squares)),
    }


def group(feature_norms: Sequence[Pair], settings: Settings) -> dict[str, Any]:
    """The theorem with its hypotheses and its one entry."""
    return {**judged(THEOREM, {}), "entries": [linear_readout_bound(feature_norms, settings)]}
