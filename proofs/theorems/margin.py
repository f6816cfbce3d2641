"""Theorem C3: a margin bound in the stable rank of the weights, without the dimension."""

from __future__ import annotations

import sympy

from proofs.export import kl_inverse, to_prefix
from proofs.records import IID, Constant, Hypothesis, Theorem
from proofs.symbols import (
    B,
    B_query,
    K,
    delta,
    emp_margin_risk,
    eta_scores,
    eta_values,
    index_scores,
    index_values,
    m,
    margin,
    n_tokens,
    noise_scores,
    noise_values,
    norm_scores,
    norm_values,
    value_diameter,
)
from proofs.theorems.shapes import PRIOR_MOMENT

_CONDITION = value_diameter * B**2 * B_query * noise_scores * sympy.sqrt(
    2 * sympy.log(n_tokens / eta_scores)
) + 2 * noise_values * B * sympy.sqrt(sympy.log((K - 1) / eta_values))

_DIVERGENCE = (
    norm_scores**2 / (2 * noise_scores**2)
    + norm_values**2 / (2 * noise_values**2)
    + sympy.log((index_scores + 1) * (index_scores + 2))
    + sympy.log((index_values + 1) * (index_values + 2))
    + sympy.log(PRIOR_MOMENT / delta)
)
_ETA = eta_scores + eta_values

C3 = Theorem(
    name="C3",
    title="Margin bound in the stable rank of the weights",
    statement="With probability at least 1 - delta, for all W, V and both noise levels of the grid at "
    "once, the 0-1 risk "
    "P(margin <= 0) of the softmax head is at most this bound.",
    quantity="zero-one risk",
    bound=kl_inverse(sympy.Min(1, emp_margin_risk + _ETA), _DIVERGENCE / m) / (1 - _ETA),
    hypotheses=(
        Hypothesis(
            "fixed-before-sample",
            "The embedding of inputs, margin, eta_scores, eta_values, B, "
            "B_query, n_tokens "
            "and the anchors are fixed before the sample.",
            "standing",
        ),
        IID,
        Hypothesis(
            "almost-sure-norms",
            "||x_t|| <= B, ||x_q|| <= B_query and at most n_tokens visible "
            "tokens, almost "
            "surely; there are at least two outputs.",
            "bounded",
        ),
        Hypothesis(
            "noise-small",
            "Gaussian noise of the chosen levels moves no margin by more than "
            "margin/2, except with "
            "probability eta_scores + eta_values.",
            "numeric",
            (to_prefix(_CONDITION), to_prefix(margin / 2)),
        ),
        Hypothesis(
            "eta-below-one", "eta_scores + eta_values < 1 (strictly).", "numeric", (to_prefix(_ETA), "1")
        ),
    ),
    constants=(
        Constant("score noise", sympy.sqrt(2), "Lemma 18", "largest of n centred Gaussians"),
        Constant(
            "relative entropy of the noise",
            sympy.Rational(1, 2),
            "Lemma 17",
            "two Gaussians of equal variance",
        ),
        Constant("prior moment", PRIOR_MOMENT, "Lemma 16", "Maurer's moment, at most 2 + sqrt(pi m/2)"),
    ),
    derivation="theorem-c3",
    sources=("A. Maurer, A note on the PAC Bayesian theorem, 2004, arXiv:cs/0411099",),
    parts=(
        ("noise of W", norm_scores**2 / (2 * noise_scores**2) / m),
        ("noise of V", norm_values**2 / (2 * noise_values**2) / m),
        ("failure of the noise", _ETA),
    ),
)

THEOREMS = (C3,)
