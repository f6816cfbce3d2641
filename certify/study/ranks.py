"""Certified effective ranks of a matrix, of an update, and whether a change is beyond the margins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from certify.decimals import enclosed
from certify.errors import UndefinedRank
from certify.kernel.effective_rank import effective_ranks
from certify.kernel.enclosure import Enclosure, certainly_less
from certify.kernel.product import singular_values_of_product
from certify.kernel.spectrum import singular_values

Ranks = Mapping[str, Enclosure]
KINDS = ("stable", "nuclear", "entropy")


def ranks_of(factors: Sequence[np.ndarray]) -> Ranks | None:
    """Effective ranks of F0 (m, n) or of F0 F1^T; None for the zero matrix, which has none."""
    spectrum = (
        singular_values(factors[0])
        if len(factors) == 1
        else singular_values_of_product(factors[0], factors[1])
    )
    try:
        return effective_ranks(spectrum)
    except UndefinedRank:
        return None


def update_ranks(before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> Ranks | None:
    """Effective ranks of after - before.

    One factor: the float64 difference with a radius of 2^-52 of its entries, which covers its rounding. Two
    factors: F0' F1'^T - F0 F1^T = [F0', F0] [F1', -F1]^T, exactly.
    """
    old, new = ([f.astype(np.float64) for f in factors] for factors in (before, after))
    if len(old) == 2:
        return ranks_of([np.hstack([new[0], old[0]]), np.hstack([new[1], -old[1]])])
    difference = new[0] - old[0]
    if not difference.any():
        return None
    try:
        return effective_ranks(singular_values(difference, radius=np.abs(difference) * 2.0**-52))
    except UndefinedRank:
        return None


def direction(before: Enclosure, after: Enclosure) -> str:
    """``"rose"`` or ``"fell"`` if the enclosures prove it, else ``"not decided"``."""
    if certainly_less(before, after):
        return "rose"
    return "fell" if certainly_less(after, before) else "not decided"


def recorded(ranks: Ranks | None) -> dict[str, dict[str, str]] | None:
    """The ranks as decimals."""
    return None if ranks is None else {kind: enclosed(ranks[kind]) for kind in KINDS}


def change(before: Ranks | None, after: Ranks | None) -> dict[str, Any]:
    """Per kind whether it rose or fell."""
    if before is None or after is None:
        return {}
    return {kind: direction(before[kind], after[kind]) for kind in KINDS}
