"""Theorem D: bits of a compressed model."""

from __future__ import annotations

import sympy

from proofs.export import binomial_tail_inverse, kl_inverse
from proofs.records import IID, UNIT_LOSS, Constant, Hypothesis, Theorem
from proofs.symbols import code_bits, delta, emp_risk, k_errors, m

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

D_BINOMIAL = Theorem(
    name="D-binomial",
    title="Occam bound for a compressed model, 0-1 loss, binomial tail",
    statement="With probability at least 1 - delta, for every model h that the code can describe, the "
    "probability "
    "that h errs is at most this bound, k_errors its errors on the m units: the binomial tail inverted at "
    "the share "
    "delta 2^-code_bits of the failure probability. Never larger than D.",
    quantity="compressed risk",
    bound=binomial_tail_inverse(k_errors, m, delta * 2 ** (-code_bits)),
    hypotheses=(
        *(h for h in _HYPOTHESES if h is not UNIT_LOSS),
        Hypothesis("zero-one-loss", "The loss of a unit is 0 or 1.", "bounded"),
    ),
    constants=(_BITS,),
    derivation="theorem-d-binomial",
    sources=(
        "C. Clopper and E. Pearson 1934",
        "J. Langford, Tutorial on practical prediction theory, JMLR 2005",
    ),
)

THEOREMS = (D, D_HOEFFDING, D_BINOMIAL)
