"""Lemma 5: scalar contraction (Ledoux-Talagrand), one-sided, constant 1."""

from __future__ import annotations

from proofs.build import Derivation

_SOURCES = ("M. Ledoux, M. Talagrand, Probability in Banach Spaces, 1991, Theorem 4.12",)


def derive_step() -> Derivation:
    """One coordinate."""
    d = Derivation(
        "lemma-5-step",
        "Scalar contraction, one coordinate",
        "Behind one random sign, an L-Lipschitz function of p may be replaced by L p.",
        "The average over one sign is half the sum of two suprema.",
        {
            "h": "real after: h(t) is the Lipschitz function's value",
            "p": "real after: p(t) is what it is a function of",
            "G": "real after: everything else",
            "L": "positive after: Lipschitz constant",
            "e": "sign dummy: one sign",
            "t": "point dummy: a member of the class",
            "u": "point dummy: a member of the class",
        },
        "E(e, sup(t, e*h(t) + G(t))) <= E(e, sup(t, e*L*p(t) + G(t)))",
        hypotheses={
            "lipschitz": ("h(t) - h(u) <= L*abs(p(t) - p(u))", "h moves at most L times as far as p")
        },
        sources=_SOURCES,
        domain="finite classes, all signs enumerated",
    )
    lipschitz = d.assume("lipschitz")
    pair = d.lemma(
        "lemma-one-sign",
        {"F": "h", "G": "G", "e": "e", "t": "t", "u": "u"},
        "2*E(e, sup(t, e*h(t) + G(t))) == sup(t, sup(u, h(t) - h(u) + G(t) + G(u)))",
        "Write out the two signs; the two suprema choose t and u.",
    )
    moved = d.monotone(
        "sup(t, sup(u, h(t) - h(u) + G(t) + G(u))) <= sup(t, sup(u, L*abs(p(t) - p(u)) + G(t) + G(u)))",
        "Use the Lipschitz condition inside.",
        lipschitz,
    )
    unsigned = d.lemma(
        "lemma-drop-modulus",
        {"F": "p", "G": "G", "r": "L", "t": "t", "u": "u"},
        "sup(t, sup(u, L*abs(p(t) - p(u)) + G(t) + G(u))) == sup(t, sup(u, L*(p(t) - p(u)) + G(t) + G(u)))",
        "The bracket does not change when t and u are exchanged; one of the two orders has p(t) >= p(u).",
    )
    back = d.lemma(
        "lemma-one-sign",
        {"F": "lambda t: L*p(t)", "G": "G", "e": "e", "t": "t", "u": "u"},
        "2*E(e, sup(t, e*L*p(t) + G(t))) == sup(t, sup(u, L*(p(t) - p(u)) + G(t) + G(u)))",
        "The first step, read backwards with L p instead of h.",
    )
    d.combine(
        d.conclude,
        "Put the lines together and halve.",
        pair,
        moved,
        unsigned,
        back,
        times=["1/2", "1/2", "1/2", "-1/2"],
    )
    return d


def derive() -> Derivation:
    """All coordinates."""
    d = Derivation(
        "lemma-5",
        "Scalar contraction",
        "Lipschitz functions of the outputs follow random signs at most as well as L times the outputs "
        "themselves.",
        "One coordinate at a time.",
        {
            "h": "real after: h(i, t) is the Lipschitz function's value at unit i",
            "p": "real after: p(i, t) is what it is a function of",
            "L": "positive after: Lipschitz constant",
            "e": "signs dummy: independent signs",
            "t": "point dummy: a member",
            "u": "point dummy: a member",
            "i": "point dummy: a unit",
            "c": "sign dummy: one sign",
            "G": "real free: everything else, in the step for one unit",
        },
        "E(e, sup(t, sum(i, e(i)*h(i, t)))) <= L*E(e, sup(t, sum(i, e(i)*p(i, t))))",
        hypotheses={
            "lipschitz": (
                "h(i, t) - h(i, u) <= L*abs(p(i, t) - p(i, u))",
                "at each unit h moves at most L times as far",
            )
        },
        sources=_SOURCES,
        domain="finite classes, all signs enumerated",
    )
    lipschitz = d.assume("lipschitz")
    step = d.lemma(
        "lemma-5-step",
        {
            "h": "lambda t: h(i, t)",
            "p": "lambda t: p(i, t)",
            "G": "lambda t: G(t)",
            "L": "L",
            "e": "c",
            "t": "t",
            "u": "u",
        },
        "E(c, sup(t, c*h(i, t) + G(t))) <= E(c, sup(t, c*L*p(i, t) + G(t)))",
        "One unit, with everything else in G.",
        lipschitz,
    )
    d.axiom(
        "one-unit-at-a-time",
        {"X": "h", "Y": "lambda i, t: L*p(i, t)", "G": "G", "e": "e", "c": "c", "t": "t", "i": "i"},
        d.conclude,
        "Replace the units one after the other: average over the sign of one unit while "
        "all other signs are held fixed (they sit in G), then average over those.",
        step,
    )
    return d


DERIVATIONS = (derive_step, derive)
