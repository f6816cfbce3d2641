"""Lemma 2: the bounded-differences inequality, solved for the deviation."""

from __future__ import annotations

from proofs.build import Derivation


def derive() -> Derivation:
    """The derivation."""
    d = Derivation(
        "lemma-2",
        "McDiarmid's inequality",
        "A function of m independent units that no single unit can move by more than c exceeds its mean "
        "by at most "
        "c sqrt(m log(1/delta)/2), except with probability delta.",
        "The units are independent; changing one of them changes g by at most c.",
        {
            "g": "real before: a function of the sample",
            "c": "positive before: bound on the change by one unit",
            "m": "count before: number of independent units",
            "delta": "positive before: failure probability",
            "Z": "sample after: the sample that was drawn",
            "S": "sample dummy: a sample",
            "k": "point dummy: the unit that is changed",
            "y": "point dummy: what stands in its place",
        },
        "g(Z) <= E(S, g(S)) + c*sqrt(m*log(1/delta)/2)",
        "delta",
        {
            "differences": ("g(S) - g(changed(S, k, y)) <= c", "changing one unit changes g by at most c"),
            "level": ("0 <= log(1/delta)", "delta is at most 1"),
        },
        ("C. McDiarmid, On the method of bounded differences, 1989",),
        "sums of up to 12 fair coins, exact tails",
    )
    differences = d.assume("differences")
    d.cite(
        "mcdiarmid",
        {
            "g": "lambda S: g(S)",
            "c": "c",
            "m": "m",
            "t": "c*sqrt(m*log(1/delta)/2)",
            "Z": "Z",
            "S": "S",
            "k": "k",
            "y": "y",
        },
        d.conclude,
        "The tail exp(-2 t^2/(m c^2)) at this t is exactly delta.",
        differences,
    )
    return d
