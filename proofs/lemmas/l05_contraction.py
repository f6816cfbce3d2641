"""Lemma 5: scalar contraction (Ledoux-Talagrand), one-sided, constant 1."""

from __future__ import annotations

from proofs.build import Derivation

_SOURCES = ("M. Ledoux, M. Talagrand, Probability in Banach Spaces, 1991, Theorem 4.12",)
_PAIR = "L*(p({0}) - p({1})) + G({0}) + G({1})"
_BEST_PAIR = f"sup(v, sup(w, {_PAIR.format('v', 'w')}))"
"""The largest value over two members, who need not be the t and u of the proof."""
_BELOW_SUP = "Each member is at most the supremum over all members."


def _below_best_pair(d: Derivation) -> tuple[str, str]:
    """The pair (t, u), and the pair (u, t), are at most the best pair."""
    pair = _PAIR.format("v", "w")
    inner = d.axiom(
        "value-below-sup",
        {"X": f"lambda w: {pair}", "t": "w"},
        f"{pair} <= sup(w, {pair})",
        _BELOW_SUP,
    )
    outer = d.axiom(
        "value-below-sup",
        {"X": f"lambda v: sup(w, {pair})", "t": "v"},
        f"sup(w, {pair}) <= {_BEST_PAIR}",
        _BELOW_SUP,
    )
    both = d.combine(
        f"{pair} <= {_BEST_PAIR}",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        inner,
        outer,
    )
    found = []
    for first, second in (("t", "u"), ("u", "t")):
        why = f"It holds for every pair, so for {first} and {second}."
        half = d.specialise("v", first, f"{_PAIR.format(first, 'w')} <= {_BEST_PAIR}", why, both)
        found.append(d.specialise("w", second, f"{_PAIR.format(first, second)} <= {_BEST_PAIR}", why, half))
    return found[0], found[1]


def _without_modulus(d: Derivation) -> str:
    """Why the modulus may be dropped: one of the two orders of a pair makes the difference positive."""
    rest = f"({_BEST_PAIR} - G(t) - G(u))/L"
    one, other = (
        d.combine(f"{sign}(p(t) - p(u)) <= {rest}", "Solve for the difference.", step, times=["1/L"])
        for sign, step in zip(("", "-"), _below_best_pair(d), strict=True)
    )
    modulus = d.axiom(
        "abs-below",
        {"a": "p(t) - p(u)", "c": rest},
        f"abs(p(t) - p(u)) <= {rest}",
        "The modulus is the number or its negative.",
        one,
        other,
    )
    pair = "h(t) - h(u) + G(t) + G(u)"
    moved = d.combine(
        f"{pair} <= {_BEST_PAIR}",
        "Use the Lipschitz condition.",
        d.assume("lipschitz"),
        modulus,
        times=["1", "L"],
    )
    return d.monotone(
        f"sup(t, sup(u, {pair})) <= sup(t, sup(u, {_BEST_PAIR}))",
        "It holds for all t and u, and the right side does not depend on them.",
        moved,
    )


def _renamed(d: Derivation, body: str, old: str, new: str) -> str:
    """The supremum does not depend on what a member is called: ``body`` with ``{}`` for the member."""
    there = f"sup({new}, {body.format(new)})"
    value = d.axiom(
        "value-below-sup",
        {"X": f"lambda {new}: {body.format(new)}", "t": new},
        f"{body.format(new)} <= {there}",
        _BELOW_SUP,
    )
    each = d.specialise(
        new, old, f"{body.format(old)} <= {there}", "It holds for every member, whatever its name.", value
    )
    return d.monotone(
        f"sup({old}, {body.format(old)}) <= sup({old}, {there})",
        "The right side does not depend on the member.",
        each,
    )


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
            **{name: "point dummy: a member of the class" for name in ("t", "u", "v", "w")},
        },
        "E(e, sup(t, e*h(t) + G(t))) <= E(e, sup(t, e*L*p(t) + G(t)))",
        hypotheses={
            "lipschitz": ("h(t) - h(u) <= L*abs(p(t) - p(u))", "h moves at most L times as far as p")
        },
        sources=_SOURCES,
        domain="finite classes, all signs enumerated",
    )
    halves = [
        d.axiom(
            "average-over-one-sign",
            {"X": f"lambda e: sup(t, e*{value} + G(t))", "c": "e"},
            f"E(e, sup(t, e*{value} + G(t))) == (sup(t, {value} + G(t)) + sup(t, -{value} + G(t)))/2",
            "Write out the two signs.",
        )
        for value in ("h(t)", "(L*p(t))")
    ]
    second = _renamed(d, "-h({0}) + G({0})", "t", "u")
    best = _without_modulus(d)
    back = [
        _renamed(d, "L*p({0}) + G({0})", "v", "t"),
        _renamed(d, "-(L*p({0})) + G({0})", "w", "t"),
    ]
    d.combine(
        d.conclude,
        "Two suprema, each with its own member, are the supremum over pairs. Put the lines together.",
        halves[0],
        second,
        best,
        *back,
        halves[1],
        times=["1", "1/2", "1/2", "1/2", "1/2", "-1"],
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
