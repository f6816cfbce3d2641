"""Theorem P: what it costs to measure the complexity after training."""

from __future__ import annotations

from proofs.export import to_prefix
from proofs.records import CONFIDENCE, IID, STANDING, UNIT_LOSS, Constant, Hypothesis, Theorem
from proofs.symbols import j, kap_S, norm_after
from proofs.theorems.shapes import grid_value, peeled_confidence

P = Theorem(
    name="P",
    title="Peeling over a complexity",
    statement="Suppose that for each fixed c, with probability at least 1 - delta, every model of "
    "complexity at most c has "
    "gap <= kap_S c + 2 sqrt(log(1/delta)/(2m)). Then with probability at least 1 - delta every model, "
    "of complexity "
    "at most c0 rho^j, has a gap at most this bound.",
    quantity="gap",
    bound=kap_S * grid_value() + peeled_confidence(j),
    hypotheses=(
        STANDING,
        IID,
        UNIT_LOSS,
        Hypothesis(
            "grid",
            "c0 > 0 and rho > 1 are fixed before the sample; j is any index with "
            "complexity <= c0 rho^j, "
            "computed from an upper enclosure of the complexity after training.",
            "numeric",
            (to_prefix(norm_after), to_prefix(grid_value())),
        ),
        Hypothesis(
            "slope",
            "kap_S times c bounds twice the empirical Rademacher complexity of the "
            "class of complexity at "
            "most c, for every c at once; it may depend on the sample.",
            "model",
        ),
    ),
    constants=(
        CONFIDENCE,
        Constant("grid weight", 1 / ((j + 1) * (j + 2)), "Theorem P", "the weights sum to 1"),
    ),
    derivation="theorem-p",
    parts=(("complexity", kap_S * grid_value()), ("confidence", peeled_confidence(j))),
)

THEOREMS = (P,)
