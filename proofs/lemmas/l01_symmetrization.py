"""Lemma 1: symmetrization, with the factor 2."""

from __future__ import annotations

from proofs.build import Derivation

VARIABLES = {
    "P": "real before: P(f) is the expected loss of f",
    "l": "real before: l(f, S, i) is the loss of f on unit i of the sample S",
    "m": "count before: number of independent units",
    "S": "sample dummy: a sample of m independent units",
    "T": "sample dummy: a second, independent sample of m units (the ghost sample)",
    "f": "point dummy: a member of the class",
    "i": "point dummy: a unit of the sample",
    "e": "signs dummy: independent random signs e(i), one for each unit",
}
DEVIATION = "sup(f, P(f) - sum(i, l(f, S, i))/m)"
RADEMACHER = "E(e, sup(f, sum(i, e(i)*l(f, S, i))/m))"


def _state() -> Derivation:
    """What is to be proved."""
    return Derivation(
        "lemma-1",
        "Symmetrization",
        "On average, the largest gap between risk and empirical risk over a class is at most twice the "
        "class's Rademacher complexity: how well the class can follow random signs.",
        "The m units are independent and have one distribution, and the class is fixed before the sample.",
        VARIABLES,
        f"E(S, {DEVIATION}) <= 2*E(S, {RADEMACHER})",
        hypotheses={
            "unbiased": (
                "P(f) == E(T, sum(i, l(f, T, i))/m)",
                "the risk of a fixed f is its average loss on a fresh sample",
            )
        },
        sources=("Mohri, Rostamizadeh, Talwalkar, Foundations of Machine Learning, Theorem 3.3",),
        domain="finite distributions on up to 3 units, all samples and signs enumerated",
    )


_FRESH = "sum(i, l(f, T, i))/m - sum(i, l(f, S, i))/m"


def _ghost_sample(d: Derivation) -> str:
    """The risk is an average over ghost samples; f may be chosen for each of them."""
    unbiased = d.assume("unbiased")
    ghost = d.monotone(
        f"{DEVIATION} == sup(f, E(T, sum(i, l(f, T, i))/m) - sum(i, l(f, S, i))/m)",
        "Write the risk as the average loss on a ghost sample.",
        unbiased,
    )
    outside = d.axiom(
        "sup-of-average",
        {"X": f"lambda T, f: {_FRESH}", "w": "T", "t": "f"},
        f"sup(f, E(T, {_FRESH})) <= E(T, sup(f, {_FRESH}))",
        "The best f for the average is at most as good as the best f for each ghost sample.",
    )
    joined = d.combine(
        f"{DEVIATION} <= E(T, sup(f, {_FRESH}))",
        "Write the risk by ghost samples, then let f be chosen after the ghost sample.",
        ghost,
        outside,
    )
    return d.monotone(
        f"E(S, {DEVIATION}) <= E(S, E(T, sup(f, {_FRESH})))",
        "It holds for every sample, so it holds on average over samples.",
        joined,
    )


def derive() -> Derivation:
    """The derivation."""
    d = _state()
    signed = "sum(i, e(i)*l(f, T, i))/m - sum(i, e(i)*l(f, S, i))/m"
    averaged = _ghost_sample(d)
    swapped = d.paper(
        f"E(S, E(T, sup(f, {_FRESH}))) == E(S, E(T, E(e, sup(f, {signed}))))",
        "Unit i of the sample and unit i of the ghost sample are independent and alike, so exchanging "
        "them changes "
        "nothing on average; exchanging them is the same as flipping the sign of their difference. Do "
        "it for a "
        "random set of units.",
    )
    split = d.axiom(
        "sup-of-sum",
        {"X": "lambda f: sum(i, e(i)*l(f, T, i))/m", "Y": "lambda f: -(sum(i, e(i)*l(f, S, i))/m)", "t": "f"},
        f"sup(f, {signed}) <= sup(f, sum(i, e(i)*l(f, T, i))/m) + sup(f, -(sum(i, e(i)*l(f, S, i))/m))",
        "The two samples may each choose their own best f: this is where the factor 2 comes from.",
    )
    both = d.monotone(
        f"E(S, E(T, E(e, sup(f, {signed})))) <= E(S, E(T, E(e, sup(f, sum(i, e(i)*l(f, T, i))/m) "
        "+ sup(f, -(sum(i, e(i)*l(f, S, i))/m)))))",
        "It holds for all samples and signs, so it holds on average over them.",
        split,
    )
    mirrored = d.paper(
        f"E(e, sup(f, -(sum(i, e(i)*l(f, S, i))/m))) == {RADEMACHER}",
        "The signs e and -e have the same distribution.",
    )
    mirrored_average = d.monotone(
        f"E(S, E(e, sup(f, -(sum(i, e(i)*l(f, S, i))/m)))) == E(S, {RADEMACHER})",
        "It holds for every sample, so it holds on average over samples.",
        mirrored,
    )
    alike = d.paper(
        f"E(T, E(e, sup(f, sum(i, e(i)*l(f, T, i))/m))) == E(S, {RADEMACHER})",
        "The ghost sample has the distribution of the sample.",
    )
    d.combine(
        d.conclude,
        "Put the lines together: both suprema have the same average, so it is counted twice.",
        averaged,
        swapped,
        both,
        mirrored_average,
        alike,
    )
    return d
