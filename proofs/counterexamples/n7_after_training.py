"""Proposition N7: a rank measured after training must be paid for."""

from __future__ import annotations

from fractions import Fraction

from proofs.build import Derivation


def failure_without_union(delta: Fraction, cells: int) -> Fraction:
    """Probability that the bound of the cell chosen after seeing the sample fails, with independent cells.

    Each of ``cells`` bounds fails with probability delta; choosing the cell after
    the sample may choose one that failed.

    >>> failure_without_union(Fraction(1, 20), 20) > Fraction(16, 25)
    True
    """
    return 1 - (1 - delta) ** cells


def derive() -> Derivation:
    """The price of the grid."""
    d = Derivation(
        "proposition-n7",
        "N7: the price of a rank measured after training",
        "Weights 1/((j+1)(j+2)) add up to 1, so that every cell's bound holds at once at the price "
        "log((j+1)(j+2)); without it the bound of the "
        "chosen cell may fail far more often than delta.",
        "The weights telescope.",
        {"j": "index after: grid index"},
        "1/((j + 1)*(j + 2)) == 1/(j + 1) - 1/(j + 2)",
        sources=("Here",),
        domain="exact",
    )
    d.algebra(d.conclude, "Partial fractions.")
    return d
