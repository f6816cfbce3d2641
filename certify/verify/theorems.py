"""The bounds that a report may claim: formula and hypotheses of each theorem, known here by heart."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KnownBound:
    """A bound that this checker accepts: the hash of its formula and the hypotheses it must list.

    A test compares these with the symbolic expressions in proofs/, so a changed constant is noticed.
    ``measured`` is the symbol of the sum over the sample, ``level`` how far its proof is checked.
    """

    formula_sha256: str
    hypotheses: frozenset[str]
    measured: str
    level: str


COMMON_HYPOTHESES = frozenset(
    {"fixed-before-sample", "iid", "loss-in-unit-interval", "loss-lipschitz", "grid", "real-arithmetic",
     "future-inputs-no-larger"}
)  # fmt: skip

KNOWN_BOUNDS = {
    "A1-peeled": KnownBound(
        "494c63901af829db1855ec414f2f5cf5b03d619bda0c8badfb4b64205a97b2de",
        COMMON_HYPOTHESES | {"features-frozen"},
        "sum_sq_features",
        "coq",
    ),
    "C1-vector-peeled": KnownBound(
        "2a0f422b20e70b8a4721c8922e4412f19d39c8224ef3a996657e79de3546044f",
        COMMON_HYPOTHESES | {"values-frozen", "bilinear-scores", "read-at-pooled-rows"},
        "sum_sq_scores",
        "coq",
    ),
}

# Hypotheses that no computation can establish: a report may say assumed or violated, never met.
NEVER_MET = frozenset(
    {"fixed-before-sample", "iid", "loss-in-unit-interval", "loss-lipschitz", "features-frozen",
     "values-frozen", "real-arithmetic", "future-inputs-no-larger", "read-at-pooled-rows"}
)  # fmt: skip

LEVELS = ("coq", "kernel", "interval", "cited", "paper")  # strongest first
FALLS_BELOW = ("1", "1/2", "1/10")
