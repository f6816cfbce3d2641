"""Theorem C2: exact rank, a net and one union bound; everything chosen after training."""

from __future__ import annotations

import sympy

from proofs.export import kl_inverse
from proofs.records import IID, UNIT_LOSS, Constant, Hypothesis, Theorem
from proofs.symbols import (
    B,
    B_query,
    K,
    L,
    d,
    delta,
    emp_risk,
    j_scores,
    j_values,
    m,
    rank_scores,
    rank_values,
    resolution,
)

_STANDING = Hypothesis(
    "fixed-before-sample",
    "The embedding of inputs, the loss, L, B and B_query are fixed before the "
    "sample. W, V, their "
    "ranks, norms and the resolution may all be chosen after training.",
    "standing",
)
_BOUNDED = Hypothesis(
    "almost-sure-norms",
    "||x_t|| <= B and ||x_q|| <= B_query almost surely (clipped, "
    "normalised or "
    "layer-normalised tokens), not merely on the training inputs.",
    "bounded",
)
_LOSS = Hypothesis(
    "loss-lipschitz", "For every label the loss is L-Lipschitz in the logits, in the Euclidean norm.", "model"
)
_DYADIC = Hypothesis(
    "dyadic-norms",
    "rank W <= rank_scores, rank V <= rank_values, ||W||_2 <= "
    "2^j_scores, ||V||_2 <= "
    "2^j_values; all may be read off the trained matrices.",
    "model",
)

EPSILON = sympy.Integer(2) ** (-resolution)


def entropy() -> sympy.Expr:
    """The bracket of Theorem C2: log of net sizes, log of the five grid weights, log(1/delta)."""
    r, rv, jw, jv, q = rank_scores, rank_values, j_scores, j_values, resolution
    two = sympy.Integer(2)
    scores = 2 * d * r * sympy.log(1 + two ** (q + 3 + jw + jv) * L * B**2 * B_query)
    values = (d + K) * rv * sympy.log(1 + two ** (q + 3 + jv) * L * B)
    grids = sympy.Add(
        *(
            sympy.log(pair)
            for pair in (r * (r + 1), rv * (rv + 1), (jw + 1) * (jw + 2), (jv + 1) * (jv + 2), q * (q + 1))
        )
    )
    return scores + values + grids + sympy.log(1 / delta)


_CONSTANTS = (
    Constant(
        "net", sympy.Integer(4), "Lemma 11(b)", "a rank-r matrix is a product of two factors; each gets a net"
    ),
    Constant("share per matrix", sympy.Integer(2), "Theorem C2", "half the resolution for W, half for V"),
    Constant(
        "softmax",
        sympy.Integer(1),
        "Lemma 13(a)",
        "softmax is 1-Lipschitz from the largest score change to l1",
    ),
)
_HYPOTHESES = (_STANDING, IID, UNIT_LOSS, _LOSS, _BOUNDED, _DYADIC)
_SOURCES = ("W. Hoeffding 1963", "E. J. Candes and Y. Plan, arXiv:1001.0339 (for nets of low-rank matrices)")

C2 = Theorem(
    name="C2",
    title="Exact rank, relative-entropy form",
    statement="With probability at least 1 - delta, for all W, V, ranks, dyadic norms and resolutions "
    "at once, the risk of "
    "the softmax head f(x) = V^T X^T softmax(X W^T x_q) is at most this bound.",
    quantity="risk",
    bound=EPSILON + kl_inverse(sympy.Min(1, emp_risk + EPSILON), entropy() / m),
    hypotheses=_HYPOTHESES,
    constants=_CONSTANTS,
    derivation="theorem-c2",
    sources=_SOURCES,
    parts=(("net resolution", 2 * EPSILON), ("entropy per unit", entropy() / m)),
)

C2_HOEFFDING = Theorem(
    name="C2-hoeffding",
    title="Exact rank, Hoeffding form",
    statement="As C2, with Hoeffding's inequality: a bound on the gap, never smaller than what C2 gives.",
    quantity="gap",
    bound=2 * EPSILON + sympy.sqrt(entropy() / (2 * m)),
    hypotheses=_HYPOTHESES,
    constants=_CONSTANTS,
    derivation="theorem-c2-hoeffding",
    sources=_SOURCES,
    parts=(("net resolution", 2 * EPSILON), ("entropy", sympy.sqrt(entropy() / (2 * m)))),
)

THEOREMS = (C2, C2_HOEFFDING)
