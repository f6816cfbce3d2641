"""Lemma 13: how far an attention head's output moves with its parameters and with its input."""

from __future__ import annotations

from proofs.build import Derivation


def derive_parameters() -> Derivation:
    """(a) in the parameters."""
    d = Derivation(
        "lemma-13a",
        "Attention in its parameters",
        "||f_{W,V} - f_{W',V'}|| <= B ||V - V'|| + ||V'|| B^2 B_q ||W - W'||.",
        "z = X^T p is an average of tokens; move V first, then p.",
        {
            "move": "real after: distance of the outputs",
            "B": "nonnegative after: bound on the tokens' norms",
            "B_query": "nonnegative after: bound on the query's norm",
            "dV": "nonnegative after: ||V - V'||",
            "nV": "nonnegative after: ||V'||",
            "dW": "nonnegative after: ||W - W'||",
            "dz": "real after: ||z - z'||",
            "dp": "real after: l1 change of the weights",
            "ds": "real after: largest score change",
        },
        "move <= B*dV + nV*B**2*B_query*dW",
        hypotheses={
            "triangle": (
                "move <= B*dV + nV*dz",
                "V^T z - V'^T z' = (V - V')^T z + V'^T (z - z'), and ||z|| <= B",
            ),
            "average": ("dz <= B*dp", "a combination of tokens of norm at most B"),
            "softmax": ("dp <= ds", "Lemma 12(a)"),
            "scores": ("ds <= B_query*B*dW", "x_q^T (W - W') x_t"),
        },
        sources=("Here; with 2 instead of 1 in the literature",),
        domain="random heads",
    )
    triangle, average, softmax, scores = (d.assume(h) for h in ("triangle", "average", "softmax", "scores"))
    d.combine(
        d.conclude,
        "Put the lines together: what bounds one quantity is bounded by the next.",
        triangle,
        average,
        softmax,
        scores,
        times=["1", "nV", "nV*B", "nV*B"],
    )
    return d


def derive_input() -> Derivation:
    """(b) in the input."""
    d = Derivation(
        "lemma-13b",
        "Self-attention in its input",
        "With tokens in the unit ball, a self-attention layer is ||V|| (1 + 2 ||W||)-Lipschitz in the "
        "largest token change.",
        "A token change h moves every score by at most 2 ||W|| h.",
        {
            "move": "real after: largest output change",
            "nV": "nonnegative after: ||V||",
            "nW": "nonnegative after: ||W||",
            "h": "nonnegative after: largest token change",
            "dp": "real after: l1 change of the weights",
            "ds": "real after: largest score change",
        },
        "move <= nV*(1 + 2*nW)*h",
        hypotheses={
            "split": (
                "move <= nV*(h + dp)",
                "the tokens move by h, and the weights move over tokens of norm at most 1",
            ),
            "softmax": ("dp <= ds", "Lemma 12(a)"),
            "scores": ("ds <= 2*nW*h", "both the query and the key token move"),
        },
        sources=("Here",),
        domain="random heads",
    )
    split, softmax, scores = d.assume("split"), d.assume("softmax"), d.assume("scores")
    d.combine(
        d.conclude,
        "Put the lines together: what bounds one quantity is bounded by the next.",
        split,
        softmax,
        scores,
        times=["1", "nV", "nV"],
    )
    return d


DERIVATIONS = (derive_parameters, derive_input)
