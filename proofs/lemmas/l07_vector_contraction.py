"""Lemma 7: Maurer's vector contraction, constant sqrt(2)."""

from __future__ import annotations

from proofs.build import Derivation

_SIGNED = "sum(j, x(j)*p(j, t))"
_OTHER = "sum(j, x(j)*p(j, u))"


def _part_the_suprema(d: Derivation, constant: str, longer: str, random: str) -> None:
    """From ``longer``, that h(t) - h(u) is at most ``constant`` times an average modulus, to the conclusion.

    The same steps for signs and for directions; ``random`` says which of the two is drawn.
    """
    modulus = "abs(sum(j, x(j)*(p(j, t) - p(j, u))))"
    rest = "G(t) + G(u)"
    average, inside = f"{constant}*E(x, {modulus}) + {rest}", f"{constant}*{modulus} + {rest}"
    pair = d.lemma(
        "lemma-one-sign",
        {"F": "h", "G": "G", "e": "e", "t": "t", "u": "u"},
        f"2*E(e, sup(t, e*h(t) + G(t))) == sup(t, sup(u, h(t) - h(u) + {rest}))",
        "Write out the two signs; the two suprema choose t and u.",
    )
    moved = d.monotone(
        f"sup(t, sup(u, h(t) - h(u) + {rest})) <= sup(t, sup(u, {average}))",
        "Something larger is put inside of the suprema, so they can only grow.",
        longer,
    )
    inner = d.axiom(
        "sup-of-average",
        {"X": f"lambda x, u: {inside}", "w": "x", "t": "u"},
        f"sup(u, {average}) <= E(x, sup(u, {inside}))",
        f"Choosing u after the {random} can only help.",
    )
    inner_sup = d.monotone(
        f"sup(t, sup(u, {average})) <= sup(t, E(x, sup(u, {inside})))",
        "The line holds for every t, so the suprema over t compare as well.",
        inner,
    )
    outer = d.axiom(
        "sup-of-average",
        {"X": f"lambda x, t: sup(u, {inside})", "w": "x", "t": "t"},
        f"sup(t, E(x, sup(u, {inside}))) <= E(x, sup(t, sup(u, {inside})))",
        f"Choosing t after the {random} can only help.",
    )
    unsigned = d.lemma(
        "lemma-drop-modulus-average",
        {"F": f"lambda x, t: {_SIGNED}", "G": "G", "r": constant, "x": "x", "t": "t", "u": "u"},
        f"E(x, sup(t, sup(u, {inside}))) == E(x, sup(t, sup(u, {constant}*({_SIGNED} - {_OTHER}) + {rest})))",
        "Why may the modulus be dropped? The bracket does not change when t and u are exchanged, and "
        "one of the two orders makes the inner sum nonnegative.",
    )
    mirrored = d.lemma(
        "lemma-mirror" + ("" if random == "signs" else "-directions"),
        {"p": "p", "G": "G", "c": constant, "x": "x", "t": "t", "u": "u", "j": "j"},
        f"E(x, sup(u, -({constant}*{_OTHER}) + G(u))) == E(x, sup(t, {constant}*{_SIGNED} + G(t)))",
        f"The {random} x and -x have the same distribution; then rename u.",
    )
    d.combine(
        d.conclude,
        "The two suprema part, each gives the same average; chain and halve.",
        pair,
        moved,
        inner_sup,
        outer,
        unsigned,
        mirrored,
        times=["1/2"] * 6,
    )


def derive_step() -> Derivation:
    """One unit."""
    d = Derivation(
        "lemma-7-step",
        "Vector contraction, one unit",
        "Behind one random sign, a 1-Lipschitz function of a vector p may be replaced by sqrt(2) times "
        "the vector's "
        "coordinates, each behind a random sign of its own.",
        "Lemma 6 turns the length of a difference of vectors into an average over signs.",
        {
            "h": "real after: h(t), a function of the vector",
            "p": "real after: p(j, t), coordinate j of the vector",
            "G": "real after: everything else",
            "N": "count after: number of coordinates",
            "flip": "real after: turns one sign",
            "e": "sign dummy: one sign",
            "x": "signs dummy: independent signs x(j)",
            "t": "point dummy: a member of the class",
            "u": "point dummy: a member of the class",
            "j": "point dummy: a coordinate",
        },
        f"E(e, sup(t, e*h(t) + G(t))) <= E(x, sup(t, sqrt(2)*{_SIGNED} + G(t)))",
        hypotheses={
            "lipschitz": (
                "h(t) - h(u) <= sqrt(sum(j, (p(j, t) - p(j, u))**2))",
                "h moves at most as far as p",
            )
        },
        sources=("A. Maurer, arXiv:1605.00251, Corollary 4",),
        domain="finite classes, all signs enumerated",
    )
    modulus = "abs(sum(j, x(j)*(p(j, t) - p(j, u))))"
    lipschitz = d.assume("lipschitz")
    khintchine = d.lemma(
        "lemma-6-vector",
        {"a": "lambda j: p(j, t) - p(j, u)", "N": "N", "flip": "lambda x, j: flip(x, j)", "x": "x", "j": "j"},
        f"sqrt(sum(j, (p(j, t) - p(j, u))**2)) <= sqrt(2)*E(x, {modulus})",
        "Khintchine's inequality for the vector of the differences p_j(t) - p_j(u).",
    )
    longer = d.combine(
        f"h(t) - h(u) <= sqrt(2)*E(x, {modulus})",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        lipschitz,
        khintchine,
    )
    _part_the_suprema(d, "sqrt(2)", longer, "signs")
    return d


def _state() -> Derivation:
    """What is to be proved."""
    return Derivation(
        "lemma-7",
        "Maurer's vector contraction",
        "Lipschitz functions of vectors follow random signs at most sqrt(2) L times as well as the "
        "vectors' coordinates "
        "follow signs of their own.",
        "One unit at a time.",
        {
            "h": "real after: h(i, t), the loss at unit i",
            "p": "real after: p(i, j, t), coordinate j of the vector at unit i",
            "L": "positive after: Lipschitz constant",
            "N": "count after: number of coordinates",
            "G": "real after: everything else, in the step for one unit",
            "flip": "real after: turns one sign",
            "e": "signs dummy: one independent sign e(i) for each unit",
            "c": "sign dummy: one sign",
            "x": "signs dummy: independent signs x(i, j)",
            "y": "signs dummy: independent signs y(j)",
            "t": "point dummy: a member",
            "u": "point dummy: a member",
            "i": "point dummy: a unit",
            "j": "point dummy: a coordinate",
        },
        "E(e, sup(t, sum(i, e(i)*h(i, t)))) <= sqrt(2)*L*E(x, sup(t, sum(i, sum(j, x(i, j)*p(i, j, t)))))",
        hypotheses={
            "lipschitz": (
                "h(i, t) - h(i, u) <= L*sqrt(sum(j, (p(i, j, t) - p(i, j, u))**2))",
                "at each unit h moves at most L times as far as the vector",
            )
        },
        sources=("A. Maurer, arXiv:1605.00251, Corollary 4",),
        domain="finite classes, all signs enumerated",
    )


def derive() -> Derivation:
    """All units."""
    d = _state()
    lipschitz = d.assume("lipschitz")
    scaled = d.combine(
        "h(i, t)/L - h(i, u)/L <= sqrt(sum(j, (p(i, j, t) - p(i, j, u))**2))",
        "Divide by L, which is positive.",
        lipschitz,
        times=["1/L"],
    )
    step = d.lemma(
        "lemma-7-step",
        {
            "h": "lambda t: h(i, t)/L",
            "p": "lambda j, t: p(i, j, t)",
            "G": "lambda t: G(t)",
            "N": "N",
            "flip": "lambda x, j: flip(x, j)",
            "e": "c",
            "x": "y",
            "t": "t",
            "u": "u",
            "j": "j",
        },
        "E(c, sup(t, c*h(i, t)/L + G(t))) <= E(y, sup(t, sqrt(2)*sum(j, y(j)*p(i, j, t)) + G(t)))",
        "One unit, with everything else in G.",
        scaled,
    )
    d.paper(
        d.conclude,
        "Replace the units one after the other: average over the sign of one unit while "
        "all other signs "
        "are held fixed (they sit in G), then average over those. Multiply by L.",
        step,
    )
    return d


def derive_sphere_step() -> Derivation:
    """One unit, with a random direction instead of random signs."""
    d = Derivation(
        "lemma-7-sphere-step",
        "Vector contraction over the sphere, one unit",
        "With a random direction instead of signs the constant is gamma_k, between 1 and sqrt(pi/2).",
        "The length of a vector is gamma_k times the average modulus of its inner product with a random "
        "direction.",
        {
            "h": "real after: h(t), a function of the vector",
            "p": "real after: p(j, t), coordinate j of the vector",
            "G": "real after: everything else",
            "gamma_k": "positive after: sqrt(pi) Gamma((k+1)/2)/(sqrt(k) Gamma(k/2)), k the dimension of "
            "the span",
            "e": "sign dummy: one sign",
            "x": "gauss dummy: a uniform vector on the sphere of radius sqrt(k), or a standard Gaussian "
            "vector",
            "t": "point dummy: a member of the class",
            "u": "point dummy: a member of the class",
            "j": "point dummy: a coordinate",
        },
        "E(e, sup(t, e*h(t) + G(t))) <= E(x, sup(t, gamma_k*sum(j, x(j)*p(j, t)) + G(t)))",
        hypotheses={
            "lipschitz": (
                "h(t) - h(u) <= sqrt(sum(j, (p(j, t) - p(j, u))**2))",
                "h moves at most as far as p",
            ),
            "constant": (
                "sqrt(sum(j, (p(j, t) - p(j, u))**2)) == gamma_k*E(x, abs(sum(j, x(j)*(p(j, t) - p(j, u)))))",
                "rotation invariance: gamma_k is the inverse of the average modulus of one coordinate",
            ),
        },
        sources=("Here, after A. Maurer, arXiv:1605.00251",),
        domain="the constant for k = 1, 2, 3 in balls",
    )
    lipschitz, constant = d.assume("lipschitz"), d.assume("constant")
    longer = d.combine(
        "h(t) - h(u) <= gamma_k*E(x, abs(sum(j, x(j)*(p(j, t) - p(j, u)))))",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        lipschitz,
        constant,
    )
    _part_the_suprema(d, "gamma_k", longer, "directions")
    return d


def _state_sphere() -> Derivation:
    """What is to be proved."""
    return Derivation(
        "lemma-7-sphere",
        "Vector contraction over spheres",
        "Lemma 7 with gamma_k in place of sqrt(2): 1 for k = 1, 1.1107 for k = 2, 1.1547 for k = 3, at most "
        "sqrt(pi/2) = 1.2533. With Gaussian vectors the constant is sqrt(pi/2) for every k.",
        "One unit at a time; the largest of the units' constants.",
        {
            "h": "real after: h(i, t), the loss at unit i",
            "p": "real after: p(i, j, t), coordinate j of the vector at unit i",
            "L": "positive after: Lipschitz constant",
            "gamma_k": "positive after: the sphere's constant, for the dimension of the span at each unit",
            "G": "real after: everything else, in the step for one unit",
            "e": "signs dummy: one independent sign e(i) for each unit",
            "c": "sign dummy: one sign",
            "x": "gauss dummy: independent vectors x(i, .), uniform on spheres or Gaussian",
            "y": "gauss dummy: one such vector",
            "t": "point dummy: a member",
            "u": "point dummy: a member",
            "i": "point dummy: a unit",
            "j": "point dummy: a coordinate",
        },
        "E(e, sup(t, sum(i, e(i)*h(i, t)))) <= gamma_k*L*E(x, sup(t, sum(i, sum(j, x(i, j)*p(i, j, t)))))",
        hypotheses={
            "lipschitz": (
                "h(i, t) - h(i, u) <= L*sqrt(sum(j, (p(i, j, t) - p(i, j, u))**2))",
                "at each unit h moves at most L times as far as the vector",
            ),
            "constant": (
                "sqrt(sum(j, (p(i, j, t) - p(i, j, u))**2)) == "
                "gamma_k*E(y, abs(sum(j, y(j)*(p(i, j, t) - p(i, j, u)))))",
                "rotation invariance",
            ),
        },
        sources=("Here, after A. Maurer, arXiv:1605.00251",),
        domain="the constant for k = 1, 2, 3 in balls",
    )


def derive_sphere() -> Derivation:
    """All units."""
    d = _state_sphere()
    lipschitz, constant = d.assume("lipschitz"), d.assume("constant")
    scaled = d.combine(
        "h(i, t)/L - h(i, u)/L <= sqrt(sum(j, (p(i, j, t) - p(i, j, u))**2))",
        "Divide by L, which is positive.",
        lipschitz,
        times=["1/L"],
    )
    step = d.lemma(
        "lemma-7-sphere-step",
        {
            "h": "lambda t: h(i, t)/L",
            "p": "lambda j, t: p(i, j, t)",
            "G": "lambda t: G(t)",
            "gamma_k": "gamma_k",
            "e": "c",
            "x": "y",
            "t": "t",
            "u": "u",
            "j": "j",
        },
        "E(c, sup(t, c*h(i, t)/L + G(t))) <= E(y, sup(t, gamma_k*sum(j, y(j)*p(i, j, t)) + G(t)))",
        "One unit, with everything else in G.",
        scaled,
        constant,
    )
    d.paper(
        d.conclude,
        "Replace the units one after the other while all others are held fixed (they sit in G), then "
        "average over "
        "those. Multiply by L.",
        step,
    )
    return d


DERIVATIONS = (derive_step, derive, derive_sphere_step, derive_sphere)
