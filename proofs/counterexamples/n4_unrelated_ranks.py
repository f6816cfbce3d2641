"""Proposition N4: the rank of the attention matrix and the rank of the weight matrix are unrelated."""

from __future__ import annotations

from proofs.build import Derivation


def derive() -> Derivation:
    """The derivation."""
    d = Derivation(
        "proposition-n4",
        "N4: attention rank and weight rank",
        "Scalar tokens 0 and 1 with a weight c > 0 (rank one) give an attention matrix of determinant "
        "tanh(c/2)/2, so of full rank; equal tokens "
        "give equal rows, rank one, whatever the weight's rank.",
        "Rows softmax(0, 0) and softmax(0, c).",
        {"c": "positive after: the weight"},
        "1/2*(exp(c)/(1 + exp(c))) - 1/2*(1/(1 + exp(c))) == tanh(c/2)/2",
        sources=("Here",),
        domain="exact; 3 tokens in intervals",
    )
    d.algebra(d.conclude, "The 2 x 2 determinant.")
    return d
