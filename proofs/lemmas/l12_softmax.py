"""Lemma 12: how far softmax moves, with the best constants."""

from __future__ import annotations

from proofs.build import Derivation

_PATH = {
    "mad": "nonnegative after: mad(z) = E_p |u - E_p u| at the point z of the path",
    "u": "real after: the change of the scores, constant along the path",
    "z": "point dummy: a point of the straight path from the old to the new scores",
}


def derive_l1() -> Derivation:
    """(a) from scores to l1."""
    d = Derivation(
        "lemma-12a",
        "Softmax from scores to l1",
        "The l1 change of the softmax weights is at most the largest entry of the score change: "
        "constant 1, not 2.",
        "Half the oscillation is at most the largest entry.",
        {
            "u": _PATH["u"],
            "move": "real after: l1 distance of the two weight vectors",
            "largest": "nonnegative after: largest modulus of an entry of u",
        },
        "move <= largest",
        hypotheses={
            "weights": ("move <= osc(u)/2", "Lemma 12(a), oscillation form"),
            "range": ("osc(u) <= 2*largest", "the largest minus the smallest entry"),
        },
        sources=("Here; with constant 2 in Edelman, Goel, Kakade, Zhang, arXiv:2110.10090, Lemma A.6",),
        domain="rational scores, extreme logits, 200-bit balls; ratio 1 is approached at two tokens",
    )
    weights, spread = d.assume("weights"), d.assume("range")
    d.combine(
        d.conclude,
        "Put the lines together: what bounds one quantity is bounded by the next.",
        weights,
        spread,
        times=["1", "1/2"],
    )
    return d


def derive_l1_oscillation() -> Derivation:
    """(a), the sharper form."""
    d = Derivation(
        "lemma-12a-osc",
        "Softmax from oscillation to l1",
        "The l1 change of the softmax weights is at most half the oscillation of the score change.",
        "As Lemma 12(a), without the last step.",
        {
            "mad": _PATH["mad"],
            "u": _PATH["u"],
            "z": _PATH["z"],
            "move": "real after: l1 distance of the two weight vectors",
            "var": "nonnegative after: var(z) = Var_p(u)",
        },
        "move <= osc(u)/2",
        hypotheses={
            "path": (
                "move <= E(z, mad(z))",
                "the change is the integral of the derivative, (J u)_t = p_t (u_t - E_p u)",
            ),
            "jensen": ("mad(z)**2 <= var(z)", "the mean deviation is at most the standard deviation"),
        },
        sources=("Here",),
        domain="rational scores, extreme logits; sharp",
    )
    path, jensen = d.assume("path"), d.assume("jensen")
    popoviciu = d.paper(
        "var(z) <= (osc(u)/2)**2", "Popoviciu: every value is within half the range of its middle."
    )
    square = d.combine(
        "mad(z)**2 <= (osc(u)/2)**2",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        jensen,
        popoviciu,
    )
    root = d.axiom(
        "take-root",
        {"a": "mad(z)", "b": "(osc(u)/2)**2"},
        "mad(z) <= sqrt((osc(u)/2)**2)",
        "Take roots on both sides: the root is an increasing function.",
        square,
    )
    average = d.monotone(
        "E(z, mad(z)) <= E(z, sqrt((osc(u)/2)**2))",
        "It holds at every place of the path, so it holds on average over the path.",
        root,
    )
    d.combine(
        d.conclude, "Put the lines together: what bounds one quantity is bounded by the next.", path, average
    )
    return d


def derive_l2() -> Derivation:
    """(b) l2 to l2."""
    d = Derivation(
        "lemma-12b",
        "Softmax from l2 to l2",
        "Softmax is 1/2-Lipschitz in the Euclidean norm.",
        "Its derivative is symmetric with quadratic form Var_p(u).",
        {
            "move": "real after: Euclidean distance of the weight vectors",
            "top": "real after: largest eigenvalue of the derivative",
            "a": "real after: largest entry of a unit vector that attains it",
            "b": "real after: its smallest entry",
            "step": "nonnegative after: Euclidean length of the score change",
        },
        "move <= step/2",
        hypotheses={
            "mean": ("move <= top*step", "mean value inequality along the path"),
            "form": (
                "top <= (a - b)**2/4",
                "Var_p(u) is at most a quarter of the squared oscillation (Popoviciu)",
            ),
            "unit": (
                "a**2 + b**2 <= 1",
                "two entries of a unit vector (they are distinct entries, or a = b and top = 0)",
            ),
        },
        sources=("Here",),
        domain="rational scores; sharp at two equal weights",
    )
    mean, form, unit = d.assume("mean"), d.assume("form"), d.assume("unit")
    square = d.sign("(a - b)**2 <= 2*(a**2 + b**2)", "The difference is (a + b)^2.", squares=[("1", "a + b")])
    top = d.combine(
        "top <= 1/2",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        form,
        square,
        unit,
        times=["1", "1/4", "1/2"],
    )
    d.combine(d.conclude, "Multiply by the step.", mean, top, times=["1", "step"])
    return d


def derive_readout() -> Derivation:
    """(c) the read-out."""
    d = Derivation(
        "lemma-12c",
        "Softmax read-out",
        "A softmax average of numbers a_t moves by at most osc(a)/(2 sqrt 2) times the Euclidean score "
        "change.",
        "The weights' change adds up to 0, so a may be shifted to the middle of its range.",
        {
            "move": "real after: change of the average",
            "change": "nonnegative after: l1 change of the weights",
            "a": "real after: the values",
            "u": "real after: the score change",
            "length": "nonnegative after: its Euclidean length",
            "hi": "real after: largest entry of u",
            "lo": "real after: smallest entry of u",
        },
        "move <= osc(a)/(2*sqrt(2))*length",
        hypotheses={
            "shift": ("move <= osc(a)/2*change", "Hoelder, with a shifted to the middle of its range"),
            "weights": ("change <= osc(u)/2", "Lemma 12(a)"),
            "range": ("osc(u) == hi - lo", "oscillation"),
            "entries": (
                "hi**2 + lo**2 <= length**2",
                "two entries of the vector (distinct, or the change is 0)",
            ),
        },
        sources=("Here",),
        domain="rational scores and values; sharp",
    )
    shift, weights, spread, entries = (d.assume(h) for h in ("shift", "weights", "range", "entries"))
    square = d.sign(
        "(hi - lo)**2 <= 2*(hi**2 + lo**2)", "The difference is (hi + lo)^2.", squares=[("1", "hi + lo")]
    )
    chain = d.combine(
        "(hi - lo)**2 <= 2*length**2",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        square,
        entries,
        times=["1", "2"],
    )
    root = d.axiom(
        "take-root",
        {"a": "hi - lo", "b": "2*length**2"},
        "hi - lo <= sqrt(2*length**2)",
        "Take roots on both sides: the root is an increasing function.",
        chain,
    )
    spread_small = d.combine(
        "osc(u) <= sqrt(2)*length", "The root of a product: sqrt(2 x^2) = sqrt(2) x for x >= 0.", spread, root
    )
    d.combine(
        d.conclude,
        "Put the lines together: 1/2 times 1/2 times sqrt(2) is 1/(2 sqrt 2).",
        shift,
        weights,
        spread_small,
        times=["1", "osc(a)/2", "osc(a)/4"],
    )
    return d


def _state_readout_map() -> Derivation:
    """What is to be proved."""
    return Derivation(
        "lemma-12c-map",
        "Softmax read-out as a function of the parameter",
        "A softmax average f(W) of numbers a_t with scores s(k, W) is osc(a)/(2 sqrt 2)-Lipschitz in "
        "the scores.",
        "Lemma 12(c) for the two score vectors.",
        {
            "f": "real after: f(W), the softmax average",
            "a": "real after: the values",
            "s": "real after: s(k, W), score of token k",
            "o": "positive after: bound on osc(a)",
            "change": "nonnegative after: change(W, U), l1 change of the weights",
            "u": "real after: u(W, U), the score change",
            "hi": "real after: its largest entry",
            "lo": "real after: its smallest",
            "W": "point dummy: a parameter",
            "U": "point dummy: a parameter",
            "k": "point dummy: a token",
        },
        "abs(f(W) - f(U)) <= o/(2*sqrt(2))*sqrt(sum(k, (s(k, W) - s(k, U))**2))",
        hypotheses={
            "average": ("softmax_average(f, a, s)", "f(W) = sum over k of softmax(s(., W))_k a_k"),
            "range": ("osc(a) <= o", "the oscillation of the values"),
        },
        sources=("Here",),
        domain="rational scores and values",
    )


def derive_readout_map() -> Derivation:
    """(c) as a statement on maps."""
    d = _state_readout_map()
    average, spread = d.assume("average"), d.assume("range")
    squares = d.axiom(
        "squares-add-up",
        {"X": "lambda k: s(k, W) - s(k, U)", "k": "k"},
        "0 <= sum(k, (s(k, W) - s(k, U))**2)",
        "A sum of squares is never negative.",
    )
    shift = d.paper(
        "abs(f(W) - f(U)) <= osc(a)/2*change(W, U)",
        "The weights' changes add up to 0, so a may be shifted to the middle of its range; then Hoelder.",
        average,
    )
    weights = d.paper(
        "change(W, U) <= osc(u(W, U))/2", "Lemma 12(a), for the scores at the two parameters.", average
    )
    entries_range = d.paper("osc(u(W, U)) == hi(W, U) - lo(W, U)", "Definition of the oscillation.", average)
    entries = d.paper(
        "hi(W, U)**2 + lo(W, U)**2 <= sqrt(sum(k, (s(k, W) - s(k, U))**2))**2",
        "Two entries of the vector of changes; if there is only one token nothing changes at all.",
        average,
    )
    lemma = d.lemma(
        "lemma-12c",
        {
            "move": "abs(f(W) - f(U))",
            "change": "change(W, U)",
            "a": "a",
            "u": "u(W, U)",
            "hi": "hi(W, U)",
            "lo": "lo(W, U)",
            "length": "sqrt(sum(k, (s(k, W) - s(k, U))**2))",
        },
        "abs(f(W) - f(U)) <= osc(a)/(2*sqrt(2))*sqrt(sum(k, (s(k, W) - s(k, U))**2))",
        "Lemma 12(c): a softmax average moves little when the scores move little.",
        shift,
        weights,
        entries_range,
        entries,
        squares,
    )
    d.combine(
        d.conclude,
        "Put the bound for osc(a).",
        lemma,
        spread,
        squares,
        times=["1", "sqrt(sum(k, (s(k, W) - s(k, U))**2))/(2*sqrt(2))"],
    )
    return d


def derive_readout_vector() -> Derivation:
    """(c) for vector values."""
    d = Derivation(
        "lemma-12c-vector",
        "Softmax average of vectors",
        "A softmax average of vectors within distance rho of a centre is rho/sqrt(2)-Lipschitz in the "
        "scores.",
        "Look at the direction in which the average moves.",
        {
            "move": "nonnegative after: distance of the two averages",
            "length": "nonnegative after: length of the score change",
            "a": "real after: a(k) = <u, value k>, u the direction of the move",
            "radius": "nonnegative after: radius of the values",
        },
        "move <= radius/sqrt(2)*length",
        hypotheses={
            "direction": ("move <= osc(a)/(2*sqrt(2))*length", "Lemma 12(c) in the direction of the move"),
            "range": ("osc(a) <= 2*radius", "both ends are within the radius of the centre"),
        },
        sources=("Here",),
        domain="random vectors",
    )
    direction, spread = d.assume("direction"), d.assume("range")
    d.combine(d.conclude, "2/(2 sqrt 2) = 1/sqrt 2.", direction, spread, times=["1", "length/(2*sqrt(2))"])
    return d


DERIVATIONS = (
    derive_l1_oscillation,
    derive_l1,
    derive_l2,
    derive_readout,
    derive_readout_map,
    derive_readout_vector,
)
