"""Proposition N5: effective ranks do not see the scale, complexity does."""

from __future__ import annotations

from proofs.build import Derivation


def derive_rank() -> Derivation:
    """Rank."""
    d = Derivation(
        "proposition-n5-rank",
        "N5: the stable rank does not see the scale",
        "stable rank(t W) = stable rank(W).",
        "Both norms are homogeneous.",
        {"t": "positive after: scale", "F": "positive after: ||W||_F", "s": "positive after: ||W||_2"},
        "(t*F)**2/(t*s)**2 == F**2/s**2",
        sources=("Here",),
        domain="exact",
    )
    d.algebra(d.conclude, "t cancels.")
    return d


def derive() -> Derivation:
    """Complexity."""
    d = Derivation(
        "proposition-n5",
        "N5: the complexity does",
        "The Rademacher complexity of the class scaled by t is t times as large.",
        "Linear outputs.",
        {
            "t": "positive after: scale",
            "f": "real after: f(i, W), the outputs",
            "e": "signs dummy: signs",
            "W": "point dummy: a parameter",
            "i": "point dummy: a unit",
        },
        "E(e, sup(W, sum(i, e(i)*(t*f(i, W))))) == t*E(e, sup(W, sum(i, e(i)*f(i, W))))",
        sources=("Here",),
        domain="exact",
    )
    d.algebra(d.conclude, "A positive factor leaves the supremum and the average.")
    return d


DERIVATIONS = (derive_rank, derive)
