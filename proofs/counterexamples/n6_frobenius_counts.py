"""Proposition N6: rank alone is not the right number; and where matrix concentration stops."""

from __future__ import annotations

from proofs.build import Derivation


def derive() -> Derivation:
    """Hard attention and the identity have the same Frobenius norm."""
    d = Derivation(
        "proposition-n6",
        "N6: rank without norm says nothing",
        "Hard attention (stable rank 1, spectral norm sqrt(n)) and the identity (stable rank n, "
        "spectral norm 1) have the same Frobenius norm "
        "sqrt(n), the quantity in Theorem A2.",
        "||A||_F = ||A||_2 sqrt(stable rank).",
        {"n": "count after: number of tokens"},
        "sqrt(n)*sqrt(1) == 1*sqrt(n)",
        sources=("Here",),
        domain="exact",
    )
    d.algebra(d.conclude, "Both are sqrt(n).")
    return d


def derive_interchange() -> Derivation:
    """N6': expectation and supremum may not be exchanged."""
    d = Derivation(
        "proposition-n6-prime",
        "N6': where 'contraction plus matrix concentration' stops",
        "For each fixed parameter the signed sum of N1's attention outputs has expected norm at most "
        "sqrt(6m); the supremum over the parameters is at "
        "least m tanh(beta/2), more than the former once m tanh(beta/2)^2 > 6.",
        "Matrix concentration speaks of fixed matrices.",
        {
            "m": "count after: number of inputs",
            "t": "positive after: tanh(beta/2)",
            "fixed": "real after: largest expected norm at a fixed parameter",
            "supremum": "real after: expected supremum",
        },
        "fixed < supremum",
        hypotheses={
            "fixed": ("fixed <= sqrt(6*m)", "Lemma 8 with sum ||A X||_F^2 <= 6m"),
            "sup": ("m*t <= supremum", "Proposition N1"),
            "large": ("6*m < (m*t)**2", "m is large"),
        },
        sources=("Here",),
        domain="exact",
    )
    fixed, largest, large = d.assume("fixed"), d.assume("sup"), d.assume("large")
    gap = d.combine(
        "0 < m*t - sqrt(6*m)",
        "Divide the difference of squares by the sum.",
        large,
        times=["1/(m*t + sqrt(6*m))"],
    )
    d.combine(
        d.conclude,
        "Put the lines together: what bounds one quantity is bounded by the next.",
        fixed,
        gap,
        largest,
    )
    return d


DERIVATIONS = (derive, derive_interchange)
