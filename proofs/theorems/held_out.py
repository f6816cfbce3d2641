"""Bounds from a held-out test set."""

from __future__ import annotations

import sympy

from proofs.export import binomial_tail_inverse, kl_inverse
from proofs.records import IID, UNIT_LOSS, Hypothesis, Theorem
from proofs.symbols import delta, emp_risk, k_errors, n_test

_HELD_OUT = Hypothesis(
    "held-out", "The model was final before the test units were drawn or looked at.", "standing"
)

TEST_SET = Theorem(
    name="test-set",
    title="Held-out test set, 0-1 loss",
    statement="With probability at least 1 - delta, the risk of one fixed model that made k_errors "
    "errors on n_test held-out "
    "units is at most this bound (Clopper-Pearson).",
    quantity="zero-one risk",
    bound=binomial_tail_inverse(k_errors, n_test, delta),
    hypotheses=(_HELD_OUT, IID, Hypothesis("zero-one-loss", "The loss of a unit is 0 or 1.", "bounded")),
    constants=(),
    derivation="test-set",
    sources=("C. Clopper and E. Pearson 1934",),
)

TEST_SET_KL = Theorem(
    name="test-set-kl",
    title="Held-out test set, loss in [0, 1]",
    statement="With probability at least 1 - delta, the risk of one fixed model on held-out units with "
    "a loss in [0, 1] is at "
    "most this bound.",
    quantity="risk",
    bound=kl_inverse(emp_risk, sympy.log(1 / delta) / n_test),
    hypotheses=(_HELD_OUT, IID, UNIT_LOSS),
    constants=(),
    derivation="test-set-kl",
    sources=("W. Hoeffding 1963",),
)

THEOREMS = (TEST_SET, TEST_SET_KL)
