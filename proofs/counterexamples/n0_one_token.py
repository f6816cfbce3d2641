"""Proposition N0: with one token the attention matrix is [1], whatever the network."""

from __future__ import annotations

from proofs.build import Derivation


def derive() -> Derivation:
    """The derivation."""
    d = Derivation(
        "proposition-n0",
        "N0: sequences of length one",
        "The attention matrix of a single token is [1], of rank one, while the rest of the network is "
        "an arbitrary multilayer "
        "perceptron. A bound by attention rank alone would bound every perceptron without its width.",
        "Softmax of one score is 1.",
        {"s": "real after: the only score"},
        "exp(s)/exp(s) == 1",
        sources=("Here",),
        domain="all scores",
    )
    d.algebra(d.conclude, "One weight, normalised.")
    return d
