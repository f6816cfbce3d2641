"""Proposition N2: no bound C (log m)^a sqrt(R/m) with R the rank of the attention matrices can hold."""

from __future__ import annotations

from proofs.build import Derivation


def _state() -> Derivation:
    """What is to be proved."""
    return Derivation(
        "proposition-n2",
        "N2: no such theorem",
        "If every attention matrix has effective rank 1 and d >= 2m, a bound gap <= C (log m)^a "
        "sqrt(R/m) forces C (log m)^a >= sqrt(m)/2: "
        "false for large m, whatever C and a.",
        "For every sample there is a parameter that is right on the sample and wrong everywhere else.",
        {
            "C": "positive after: the claimed constant",
            "a": "real after: the claimed power",
            "m": "count after: sample size",
            "d": "count after: number of equally likely inputs",
            "R": "positive after: effective rank of the attention matrices",
            "risk": "real after: population margin loss",
            "emp": "real after: empirical margin loss",
        },
        "1/2*sqrt(m) <= C*log_power(m, a)",
        hypotheses={
            "claim": ("risk - emp <= C*log_power(m, a)*sqrt(R/m)", "the claimed bound"),
            "rank": ("R == 1", "Proposition N1"),
            "train": ("emp == 0", "the sample is fitted at full margin"),
            "wide": ("2*m <= d", "many inputs"),
        },
        sources=("Here; the claim is that of arXiv:2508.17256",),
        domain="exact enumeration for small m, d",
    )


def derive() -> Derivation:
    """The derivation."""
    d = _state()
    claim, rank, train, wide = (d.assume(h) for h in ("claim", "rank", "train", "wide"))
    missed = d.paper(
        "1 - m/d <= risk",
        "Omega agrees with the labels on the inputs seen and is "
        "opposite elsewhere; at least d - m of the d equally "
        "likely inputs were not seen, and each loses 1.",
    )
    half = d.combine(
        "1/2 <= 1 - m/d", "There are at least 2m inputs, so m/d is at most 1/2.", wide, times=["1/(2*d)"]
    )
    ratio = d.combine(
        "R/m == 1/m",
        "Every attention matrix has effective rank 1, so R = 1 may be put in.",
        rank,
        times=["1/m"],
    )
    root = d.monotone(
        "sqrt(R/m) == sqrt(1/m)", "Take roots on both sides: the root is an increasing function.", ratio
    )
    scaled = d.combine(
        "C*log_power(m, a)*sqrt(R/m) == C*log_power(m, a)*sqrt(1/m)",
        "Multiply both sides by C (log m)^a.",
        root,
        times=["C*log_power(m, a)"],
    )
    d.combine(
        d.conclude,
        "Put the lines together: 1/2 <= C (log m)^a sqrt(1/m). Multiply by sqrt(m).",
        half,
        missed,
        train,
        claim,
        scaled,
        times=["sqrt(m)", "sqrt(m)", "sqrt(m)", "sqrt(m)", "sqrt(m)"],
    )
    return d
