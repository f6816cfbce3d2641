"""Lemma 14: the chain of effective ranks."""

from __future__ import annotations

from dataclasses import dataclass

from proofs.build import Derivation


@dataclass(frozen=True)
class EffectiveRank:
    """An effective rank as the exponential of a Renyi entropy of the spectrum.

    With q_k = s_k^power / sum s^power, the rank is exp(H_order(q)): order 1 is Shannon's entropy, order 2 is
    -log sum q^2, order inf is -log max q. Renyi entropies decrease in the order (A. Renyi 1961), which is why
    the ranks of one power stand in a chain. ``formula`` is the rank in the letters of this file, if it has
    one.
    """

    kind: str
    order: str
    power: int
    formula: str = ""


RANKS = (
    EffectiveRank("stable", "inf", 2, "(div S2 (pow top 2))"),
    EffectiveRank("nuclear", "inf", 1, "(div S1 top)"),
    EffectiveRank("participation", "2", 2),
    EffectiveRank("nuclear-frobenius", "2", 1, "(div (pow S1 2) S2)"),
    EffectiveRank("gram-entropy", "1", 2),
    EffectiveRank("entropy", "1", 1, "(exp H)"),
)
"""The six that a report prints."""

_SPECTRUM = {
    "s": "nonnegative after: s(k), the singular values",
    "top": "positive after: the largest singular value",
    "S1": "positive after: sum of the singular values (nuclear norm)",
    "S2": "positive after: sum of their squares (Frobenius norm squared)",
    "k": "point dummy: index of a singular value",
}
_HYPOTHESES = {
    "top": ("s(k) <= top", "the largest singular value"),
    "S1": ("sum(k, s(k)) == S1", "nuclear norm"),
    "S2": ("sum(k, s(k)**2) == S2", "squared Frobenius norm"),
}


def derive_stable() -> Derivation:
    """Stable rank at most nuclear rank."""
    d = Derivation(
        "lemma-14a",
        "Stable rank and nuclear rank",
        "||W||_F^2/||W||_2^2 <= ||W||_*/||W||_2.",
        "s_k^2 <= s_1 s_k.",
        _SPECTRUM,
        "S2/top**2 <= S1/top",
        hypotheses=_HYPOTHESES,
        sources=("Here",),
        domain="rational spectra",
    )
    top, s1, s2 = d.assume("top"), d.assume("S1"), d.assume("S2")
    each = d.combine("s(k)**2 <= top*s(k)", "Multiply by s_k, which is not negative.", top, times=["s(k)"])
    added = d.monotone(
        "sum(k, s(k)**2) <= sum(k, top*s(k))",
        "The line holds for every index; add up over all of them.",
        each,
    )
    d.combine(
        d.conclude,
        "Divide by the squared top value.",
        added,
        s1,
        s2,
        times=["1/top**2", "1/top", "-1/top**2"],
    )
    return d


def derive_participation() -> Derivation:
    """Nuclear rank at most participation ratio."""
    d = Derivation(
        "lemma-14b",
        "Nuclear rank and participation ratio",
        "||W||_*/||W||_2 <= ||W||_*^2/||W||_F^2.",
        "Lemma 14(a), inverted.",
        _SPECTRUM,
        "S1/top <= S1**2/S2",
        hypotheses=_HYPOTHESES,
        sources=("Here",),
        domain="rational spectra",
    )
    top, s1, s2 = d.assume("top"), d.assume("S1"), d.assume("S2")
    stable = d.lemma(
        "lemma-14a",
        {"s": "lambda k: s(k)", "top": "top", "S1": "S1", "S2": "S2", "k": "k"},
        "S2/top**2 <= S1/top",
        "Lemma 14(a): stable rank at most nuclear rank.",
        top,
        s1,
        s2,
    )
    d.combine(d.conclude, "Multiply by S1 top/S2, which is positive.", stable, times=["S1*top/S2"])
    return d


def derive_entropy() -> Derivation:
    """Participation ratio at most entropy rank (Roy-Vetterli)."""
    d = Derivation(
        "lemma-14c",
        "Participation ratio and entropy rank",
        "||W||_*^2/||W||_F^2 <= exp(-sum q log q), q_k = s_k/sum s (Roy and Vetterli's effective rank).",
        "log is concave: the mean of log q under q is at most the log of the mean of q.",
        {
            "q": "positive after: q(k), the normalised singular values that are not 0",
            "PR": "positive after: 1/sum of q^2",
            "H": "real after: entropy -sum q log q",
            "k": "point dummy: index",
        },
        "PR <= exp(H)",
        hypotheses={
            "PR": ("sum(k, q(k)**2) == 1/PR", "participation ratio"),
            "H": ("H == -sum(k, q(k)*log(q(k)))", "entropy"),
            "one": ("sum(k, q(k)) == 1", "normalised"),
        },
        sources=("A. Renyi 1961", "O. Roy, M. Vetterli, The effective rank, 2007"),
        domain="rational spectra",
    )
    ratio, entropy, one = d.assume("PR"), d.assume("H"), d.assume("one")
    tangent = d.axiom(
        "log-tangent",
        {"a": "q(k)*PR"},
        "log(q(k)*PR) <= q(k)*PR - 1",
        "The logarithm lies below its tangent at 1: log x <= x - 1.",
    )
    weighted = d.combine(
        "q(k)*log(q(k)) + q(k)*log(PR) <= q(k)**2*PR - q(k)",
        "Multiply by q_k, which is positive.",
        tangent,
        times=["q(k)"],
    )
    added = d.monotone(
        "sum(k, q(k)*log(q(k)) + q(k)*log(PR)) <= sum(k, q(k)**2*PR - q(k))",
        "The line holds for every index; add up over all of them.",
        weighted,
    )
    logs = d.combine(
        "log(PR) <= H",
        "The right sides add up to 1 - 1 = 0.",
        added,
        ratio,
        entropy,
        one,
        times=["1", "PR", "-1", "-1 - log(PR)"],
    )
    powers = d.monotone(
        "exp(log(PR)) <= exp(H)", "Take exponentials on both sides: exp is an increasing function.", logs
    )
    d.combine(d.conclude, "The exponential undoes the logarithm: exp(log PR) = PR.", powers)
    return d


def derive_rank() -> Derivation:
    """Entropy rank at most rank; and PR <= rank by Cauchy-Schwarz."""
    d = Derivation(
        "lemma-14d",
        "Entropy rank and rank",
        "exp(-sum q log q) <= rank.",
        "log lies below its tangent at 1/rank.",
        {
            "q": "positive after: q(k), the normalised singular values that are not 0",
            "r": "positive after: their number, the rank",
            "H": "real after: entropy -sum q log q",
            "k": "point dummy: index",
        },
        "H <= log(r)",
        hypotheses={
            "H": ("H == -sum(k, q(k)*log(q(k)))", "entropy"),
            "one": ("sum(k, q(k)) == 1", "normalised"),
            "rank": ("sum(k, 1) == r", "there are r of them"),
        },
        sources=("J. W. Gibbs 1902",),
        domain="rational spectra",
    )
    entropy, one, rank = d.assume("H"), d.assume("one"), d.assume("rank")
    tangent = d.axiom(
        "log-tangent",
        {"a": "1/(q(k)*r)"},
        "log(1/(q(k)*r)) <= 1/(q(k)*r) - 1",
        "The logarithm lies below its tangent at 1: log x <= x - 1.",
    )
    weighted = d.combine(
        "-(q(k)*log(q(k))) - q(k)*log(r) <= 1/r - q(k)",
        "Multiply by q_k, which is positive.",
        tangent,
        times=["q(k)"],
    )
    added = d.monotone(
        "sum(k, -(q(k)*log(q(k))) - q(k)*log(r)) <= sum(k, 1/r - q(k))",
        "The line holds for every index; add up over all of them.",
        weighted,
    )
    d.combine(
        d.conclude,
        "The right sides add up to 1 - 1 = 0.",
        added,
        entropy,
        one,
        rank,
        times=["1", "1", "log(r) - 1", "1/r"],
    )
    return d


def derive_square() -> Derivation:
    """PR <= nrank^2 <= rank srank."""
    d = Derivation(
        "lemma-14e",
        "Nuclear rank squared",
        "(||W||_*/||W||_2)^2 <= rank * ||W||_F^2/||W||_2^2.",
        "Cauchy-Schwarz.",
        {**_SPECTRUM, "r": "positive after: rank"},
        "S1**2/top**2 <= r*(S2/top**2)",
        hypotheses={
            "S1": _HYPOTHESES["S1"],
            "S2": _HYPOTHESES["S2"],
            "rank": ("sum(k, 1) == r", "r singular values"),
        },
        sources=("A. Cauchy 1821",),
        domain="rational spectra",
    )
    s1, s2, rank = d.assume("S1"), d.assume("S2"), d.assume("rank")
    square = d.sign("0 <= (s(k) - S1/r)**2", "A square.", squares=[("1", "s(k) - S1/r")])
    added = d.monotone(
        "sum(k, 0) <= sum(k, (s(k) - S1/r)**2)",
        "The line holds for every index; add up over all of them.",
        square,
    )
    d.combine(
        d.conclude,
        "Multiply out: S2 - 2 S1^2/r + S1^2/r >= 0.",
        added,
        s1,
        s2,
        rank,
        times=["r/top**2", "-2*S1/top**2", "r/top**2", "S1**2/(r*top**2)"],
    )
    return d


DERIVATIONS = (derive_stable, derive_participation, derive_entropy, derive_rank, derive_square)
