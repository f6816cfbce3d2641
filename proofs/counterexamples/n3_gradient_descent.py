"""Proposition N3: gradient descent from zero finds such a solution."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from proofs.build import Derivation


def expected_error(d: int, m: int) -> Fraction:
    """Expected population 0-1 error of the learned head, exactly.

    All samples of m out of d inputs and all labels are enumerated. Only the seen coordinates of Omega
    move (in the direction of the label); an unseen input has margin 0,
    which is decided by a fixed sign. One gradient step is enough, from zero, for any margin loss with
    negative slope at 0.

    >>> expected_error(3, 2), expected_error(4, 3), expected_error(5, 2)
    (Fraction(2, 9), Fraction(27, 128), Fraction(8, 25))
    """
    wrong = 0
    for sample in product(range(d), repeat=m):
        for labels in product((1, -1), repeat=d):
            omega = [0] * d
            for unit in sample:
                omega[unit] += labels[unit]
            wrong += sum(
                (1 if weight >= 0 else -1) != label for weight, label in zip(omega, labels, strict=True)
            )
    return Fraction(wrong, d**m * 2**d * d)


def derive() -> Derivation:
    """The derivation."""
    d = Derivation(
        "proposition-n3",
        "N3: the learned solution",
        "With d = 10 m inputs and random labels, gradient descent from zero on the block Omega fits the "
        "sample after one step, and its "
        "expected error is at least 9/20, while every attention matrix has rank one.",
        "The gradient touches only the coordinates of inputs that were seen.",
        {
            "m": "count after: sample size",
            "d": "count after: number of equally likely inputs",
            "err": "real after: expected population error",
            "unseen": "real after: (1 - 1/d)^m, the probability that an input was not seen",
        },
        "9/20 <= err",
        hypotheses={"wide": ("d == 10*m", "ten times as many inputs as units")},
        sources=("Here",),
        domain="exact enumeration for d <= 5, m <= 3",
    )
    wide = d.assume("wide")
    exact = d.paper(
        "err == 1/2*unseen",
        "An input that was not seen (probability (1 - 1/d)^m) "
        "has output 0, and a random label is missed with "
        "probability 1/2; an input that was seen is right.",
    )
    bernoulli = d.paper("1 - m/d <= unseen", "Bernoulli's inequality.")
    share = d.combine("m/d == 1/10", "d = 10 m.", wide, times=["-1/(10*d)"])
    d.combine(d.conclude, "Half of 1 - 1/10.", exact, bernoulli, share, times=["-1", "1/2", "1/2"])
    return d
