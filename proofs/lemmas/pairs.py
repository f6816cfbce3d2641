"""Suprema over pairs of members: what both contraction lemmas (5 and 7) are made of."""

from __future__ import annotations

from proofs.build import Derivation

_CLASS = {
    "F": "real after: F(t), a function of the member",
    "G": "real after: G(t), everything else",
    **{name: "point dummy: a member of the class" for name in ("t", "u", "v", "w")},
}
_SOURCES = ("M. Ledoux, M. Talagrand, Probability in Banach Spaces, 1991, Theorem 4.12",)
_BELOW_SUP = "Each member is at most the supremum over all members."
_DOMAIN = "finite classes, all signs enumerated"


def _not_above(d: Derivation, body: str, old: str, new: str) -> str:
    """One half of ``_renamed``."""
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


def _equal(d: Derivation, left: str, right: str, *halves: str) -> str:
    why = "Neither is larger than the other."
    return d.axiom("antisymmetric", {"a": left, "b": right}, f"{left} == {right}", why, *halves)


def _renamed(d: Derivation, body: str, old: str, new: str) -> str:
    """A supremum does not depend on what a member is called: ``body`` with ``{0}`` for the member."""
    halves = (_not_above(d, body, old, new), _not_above(d, body, new, old))
    left, right = (f"sup({name}, {body.format(name)})" for name in (old, new))
    return _equal(d, left, right, *halves)


def derive_sign() -> Derivation:
    """One fair sign."""
    d = Derivation(
        "lemma-one-sign",
        "One random sign, two members",
        "The average of a supremum over one random sign is half a supremum over pairs of members.",
        "Write out the two signs; each supremum chooses its own member.",
        {**_CLASS, "e": "sign dummy: one sign"},
        "2*E(e, sup(t, e*F(t) + G(t))) == sup(t, sup(u, F(t) - F(u) + G(t) + G(u)))",
        sources=_SOURCES,
        domain=_DOMAIN,
    )
    signs = d.axiom(
        "average-over-one-sign",
        {"X": "lambda e: sup(t, e*F(t) + G(t))", "c": "e"},
        "E(e, sup(t, e*F(t) + G(t))) == (sup(t, F(t) + G(t)) + sup(t, -F(t) + G(t)))/2",
        "Write out the two signs.",
    )
    second = _renamed(d, "-F({0}) + G({0})", "t", "u")
    d.combine(d.conclude, "The two suprema choose t and u.", signs, second, times=["2", "1"])
    return d


_PAIR = "r*(F({0}) - F({1})) + G({0}) + G({1})"
_BEST = f"sup(v, sup(w, {_PAIR.format('v', 'w')}))"


def _below_best(d: Derivation) -> tuple[str, str]:
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
        f"sup(w, {pair}) <= {_BEST}",
        _BELOW_SUP,
    )
    both = d.combine(f"{pair} <= {_BEST}", "Put the two lines together.", inner, outer)
    found = []
    for first, second in (("t", "u"), ("u", "t")):
        why = f"It holds for every pair, so for {first} and {second}."
        half = d.specialise("v", first, f"{_PAIR.format(first, 'w')} <= {_BEST}", why, both)
        found.append(d.specialise("w", second, f"{_PAIR.format(first, second)} <= {_BEST}", why, half))
    return found[0], found[1]


def _modulus_below_best(d: Derivation) -> str:
    """One of the two orders of a pair makes the difference positive."""
    rest = f"({_BEST} - G(t) - G(u))/r"
    one, other = (
        d.combine(f"{sign}(F(t) - F(u)) <= {rest}", "Solve for the difference.", step, times=["1/r"])
        for sign, step in zip(("", "-"), _below_best(d), strict=True)
    )
    modulus = d.axiom(
        "abs-below",
        {"a": "F(t) - F(u)", "c": rest},
        f"abs(F(t) - F(u)) <= {rest}",
        "The modulus is the number or its negative.",
        one,
        other,
    )
    bracket = "r*abs(F(t) - F(u)) + G(t) + G(u)"
    each = d.combine(f"{bracket} <= {_BEST}", "Multiply by r, which is positive.", modulus, times=["r"])
    return d.monotone(
        f"sup(t, sup(u, {bracket})) <= sup(t, sup(u, {_BEST}))",
        "It holds for all t and u, and the right side does not depend on them.",
        each,
    )


_WITH = "sup(t, sup(u, r*abs(F(t) - F(u)) + G(t) + G(u)))"
_WITHOUT = f"sup(t, sup(u, {_PAIR.format('t', 'u')}))"


def derive_modulus() -> Derivation:
    """Why the modulus may be dropped."""
    d = Derivation(
        "lemma-drop-modulus",
        "The modulus under a supremum over pairs",
        "Under a supremum over pairs the modulus of a difference may be dropped.",
        "The bracket does not change when t and u are exchanged, and one of the two orders makes the "
        "difference "
        "positive.",
        {**_CLASS, "r": "positive after: a factor"},
        f"{_WITH} == {_WITHOUT}",
        sources=_SOURCES,
        domain=_DOMAIN,
    )
    below = _modulus_below_best(d)
    first, second = _renamed(d, "r*F({0}) + G({0})", "v", "t"), _renamed(d, "-(r*F({0})) + G({0})", "w", "u")
    upper = d.combine(
        f"{_WITH} <= {_WITHOUT}", "The best pair does not depend on the names.", below, first, second
    )
    modulus = d.axiom("below-modulus", {"a": "F(t) - F(u)"}, "F(t) - F(u) <= abs(F(t) - F(u))", "A modulus.")
    lower = d.monotone(f"{_WITHOUT} <= {_WITH}", "Something larger is put inside of the suprema.", modulus)
    _equal(d, _WITH, _WITHOUT, upper, lower)
    return d


def derive_modulus_average() -> Derivation:
    """The same on average."""
    f = "lambda t: F(x, t)"
    left, right = (text.replace("F(", "F(x, ") for text in (_WITH, _WITHOUT))
    d = Derivation(
        "lemma-drop-modulus-average",
        "The modulus under an average of suprema over pairs",
        "The modulus may be dropped under an average, too.",
        "It may be dropped for every draw.",
        {
            **_CLASS,
            "F": "real after: F(x, t), a function of the draw and the member",
            "r": "positive after: a factor",
            "x": "any dummy: a random draw",
        },
        f"E(x, {left}) == E(x, {right})",
        sources=_SOURCES,
        domain=_DOMAIN,
    )
    each = d.lemma(
        "lemma-drop-modulus",
        {"F": f, "G": "G", "r": "r", "t": "t", "u": "u"},
        f"{left} == {right}",
        "For every draw.",
    )
    d.monotone(d.conclude, "It holds for every draw, so it holds on average.", each)
    return d


def _mirror(sort: str, suffix: str, random: str) -> Derivation:
    signed = "c*sum(j, x(j)*p(j, {0}))"
    d = Derivation(
        f"lemma-mirror{suffix}",
        f"Random {random}, mirrored",
        f"The {random} x and -x have the same distribution, so a signed sum may be replaced by its "
        "negative under "
        "an average of suprema.",
        "Replace x by -x.",
        {
            "p": "real after: p(j, t), coordinate j of member t",
            "G": "real after: G(t), everything else",
            "c": "real after: a factor",
            "x": f"{sort} dummy: random {random}",
            **{name: "point dummy: a member of the class" for name in ("t", "u")},
            "j": "point dummy: a coordinate",
        },
        f"E(x, sup(u, -({signed.format('u')}) + G(u))) == E(x, sup(t, {signed.format('t')} + G(t)))",
        sources=_SOURCES,
        domain=_DOMAIN,
    )
    there = f"E(x, sup(u, {signed.format('u')} + G(u)))"
    flipped = d.axiom(
        f"{sort}-mirrored",
        {"X": f"lambda x: sup(u, {signed.format('u')} + G(u))", "x": "x", "j": "j"},
        f"{there} == E(x, sup(u, -({signed.format('u')}) + G(u)))",
        f"The {random} x and -x have the same distribution.",
    )
    renamed = _renamed(d, signed + " + G({0})", "u", "t")
    average = d.monotone(
        f"{there} == E(x, sup(t, {signed.format('t')} + G(t)))",
        "The supremum does not depend on the name, for every draw, so on average.",
        renamed,
    )
    d.combine(d.conclude, "Put the two lines together.", flipped, average, times=["-1", "1"])
    return d


def derive_mirror() -> Derivation:
    """Random signs."""
    return _mirror("signs", "", "signs")


def derive_mirror_directions() -> Derivation:
    """Random directions."""
    return _mirror("gauss", "-directions", "directions")


DERIVATIONS = (derive_sign, derive_modulus, derive_modulus_average, derive_mirror, derive_mirror_directions)
