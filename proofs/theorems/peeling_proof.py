"""Derivation of Theorem P: peeling."""

from __future__ import annotations

from proofs.build import Derivation
from proofs.theorems.gap_steps import ONE_NORM, SAMPLE, peel


def derive() -> Derivation:
    """Theorem P."""
    d = Derivation(
        "theorem-p",
        "Theorem P: peeling",
        "A bound for every fixed complexity becomes a bound at the complexity measured after training, "
        "rounded up to a grid.",
        "A union over the grid with weights 1/((j+1)(j+2)).",
        {
            **ONE_NORM.variables,
            "kap_S": "nonnegative after: gap bound per unit of complexity; may depend on the sample",
        },
        f"{ONE_NORM.gap} <= kap_S*c0*rho**j + {ONE_NORM.confidence}",
        "delta",
        {
            **SAMPLE,
            "slope": (f"2*{ONE_NORM.complexity} <= kap_S*c0*rho**j", "twice the complexity of a cell"),
        },
        ("Here",),
        "finite classes, exact probabilities",
    )
    peel(d, ONE_NORM, d.assume("slope"), "kap_S*c0*rho**j")
    return d


DERIVATIONS = (derive,)
