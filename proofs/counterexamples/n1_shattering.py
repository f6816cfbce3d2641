"""Proposition N1: rank-one attention shatters R d points."""

from __future__ import annotations

from proofs.build import Derivation


def derive_output() -> Derivation:
    """The head's output."""
    d = Derivation(
        "proposition-n1-output",
        "N1: the output of the rank-one head",
        "With scores beta Omega and 0 on values 1 and -1 the output is tanh(beta Omega/2).",
        "Two softmax weights, subtracted.",
        {"beta": "positive after: score scale", "O": "real after: the entry of Omega"},
        "exp(beta*O)/(exp(beta*O) + exp(0)) - exp(0)/(exp(beta*O) + exp(0)) == tanh(beta*O/2)",
        sources=("Here",),
        domain="exact",
    )
    d.algebra(d.conclude, "Multiply out.")
    return d


def derive() -> Derivation:
    """The complexity."""
    signed = "sum(i, e(i)*f(i, W))/m"
    d = Derivation(
        "proposition-n1",
        "N1: attention of rank one, complexity tanh(beta/2)",
        "On m = R d inputs every attention matrix has rank one, but the class realises every sign "
        "pattern: its Rademacher complexity is "
        "exactly tanh(beta/2), close to 1 for large beta.",
        "The class contains a parameter that agrees with any given signs.",
        {
            "beta": "positive after: score scale",
            "m": "count after: number of inputs, R d",
            "f": "real after: f(i, W), the output on input i",
            "e": "signs dummy: signs",
            "W": "point dummy: the matrix Omega",
            "i": "point dummy: an input",
            "V": "real after: V(e) = the parameter that agrees with the signs e",
        },
        f"E(e, sup(W, {signed})) == tanh(beta/2)",
        hypotheses={"count": ("sum(i, 1) == m", "m inputs")},
        sources=("Here",),
        domain="m = 4, 6, 8 by full enumeration",
    )
    count = d.assume("count")
    odd = d.algebra(
        "tanh(beta*(0 - 1)/2) == -tanh(beta/2)", "tanh is odd: the output is Omega times tanh(beta/2)."
    )
    best = d.paper(
        "sup(W, sum(i, e(i)*f(i, W))) == sum(i, tanh(beta/2))",
        "Outputs are Omega_i tanh(beta/2) with Omega_i = 1 or -1, so each term is at most "
        "tanh(beta/2); the Omega that agrees with "
        "the signs attains it for every term at once.",
        odd,
    )
    average = d.monotone(
        "E(e, sup(W, sum(i, e(i)*f(i, W)))) == E(e, sum(i, tanh(beta/2)))",
        "It holds for every value, so it holds on average.",
        best,
    )
    d.combine(
        d.conclude,
        "There are m equal terms, and their sum is divided by m.",
        average,
        count,
        times=["1/m", "tanh(beta/2)/m"],
    )
    return d


DERIVATIONS = (derive_output, derive)
