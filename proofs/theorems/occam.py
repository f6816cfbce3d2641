"""Theorem D: bits of a compressed model; and held-out test sets."""

from __future__ import annotations

import sympy

from proofs.export import binomial_tail_inverse, kl_inverse
from proofs.records import IID, UNIT_LOSS, Constant, Hypothesis, Theorem
from proofs.symbols import code_bits, delta, emp_risk, k_errors, m, n_test

_BITS = Constant(
    "nats per bit", sympy.log(2), "Lemma 15", "a prefix code of |h| bits is a prior weight 2^-|h| (Kraft)"
)
_HYPOTHESES = (
    Hypothesis(
        "fixed-before-sample",
        "The prefix code (decoder, shapes, number of matrices, anchors) "
        "is fixed before the "
        "sample; ranks, bits and what is compressed may be chosen after training and are paid in "
        "bits.",
        "standing",
    ),
    IID,
    UNIT_LOSS,
    Hypothesis(
        "compressed-model", "The empirical risk is that of the decoded model itself, on all m units.", "model"
    ),
)
_NATS = code_bits * sympy.log(2) + sympy.log(1 / delta)

D = Theorem(
    name="D",
    title="Occam bound for a compressed model, relative-entropy form",
    statement="With probability at least 1 - delta, for every model h that the code can describe, the "
    "risk of h is at most "
    "this bound.",
    quantity="compressed risk",
    bound=kl_inverse(emp_risk, _NATS / m),
    hypotheses=_HYPOTHESES,
    constants=(_BITS,),
    derivation="theorem-d",
    sources=("W. Hoeffding 1963", "J. Langford, Tutorial on practical prediction theory, JMLR 2005"),
    parts=(("description", code_bits * sympy.log(2) / m), ("confidence", sympy.log(1 / delta) / m)),
)

D_HOEFFDING = Theorem(
    name="D-hoeffding",
    title="Occam bound for a compressed model, Hoeffding form",
    statement="As D, by Pinsker's inequality: never smaller than D.",
    quantity="compressed risk",
    bound=emp_risk + sympy.sqrt(_NATS / (2 * m)),
    hypotheses=_HYPOTHESES,
    constants=(_BITS,),
    derivation="theorem-d-hoeffding",
    sources=("W. Hoeffding 1963",),
    parts=(("empirical risk", emp_risk), ("description and confidence", sympy.sqrt(_NATS / (2 * m)))),
)

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

THEOREMS = (D, D_HOEFFDING, TEST_SET, TEST_SET_KL)
