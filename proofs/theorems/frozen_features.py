"""Theorem A: a head that is linear in its trained matrix, over frozen features or frozen attention."""

from __future__ import annotations

import sympy

from proofs.records import (
    VECTOR_CONTRACTION,
    Hypothesis,
    Variant,
)
from proofs.symbols import (
    K,
    L,
    N_rows,
    attention_rank,
    attention_spectral,
    m,
    omega,
    sum_sq_features,
    tokens_spectral,
)
from proofs.theorems.shapes import FROBENIUS, confidence_term, gap_theorem, peeled, sphere_constant

_BALL = Hypothesis(
    "frobenius-ball",
    "The trained matrix W has ||W||_F <= omega; omega is fixed before "
    "the sample. "
    "The class ||W||_2 <= s with effective rank <= R lies inside it with omega = s sqrt(R), "
    "for the stable rank and every larger effective rank.",
    "standing",
)
_FEATURES = Hypothesis(
    "features-frozen",
    "The features Psi(x) (for A2 the attention matrix times the "
    "tokens) do not "
    "depend on W nor on the sample.",
    "standing",
)
_ONE_OUTPUT = Hypothesis("one-output", "The model has one output, a single number.", "model")

A1_COMPLEXITY = sympy.sqrt(2) * L * omega * sympy.sqrt(K * sum_sq_features) / m
_gamma = sphere_constant(N_rows * K)

A1 = gap_theorem(
    "A1",
    title="Frozen features, trained read-out",
    statement="With probability at least 1 - delta, for every W in the Frobenius ball at once, the risk of "
    "f_W(x) = Psi(x) W exceeds the empirical risk by at most this bound.",
    complexity=A1_COMPLEXITY,
    hypotheses=(_FEATURES, _BALL),
    constants=(VECTOR_CONTRACTION,),
    variants=(
        Variant(
            "sphere",
            2 * _gamma * L * omega * sympy.sqrt(K * sum_sq_features) / m + confidence_term(),
            "paper",
            "contraction over the sphere instead of signs (Lemma 7, sharper form)",
        ),
    ),
    derivation="theorem-a1",
    sources=("A. Maurer, A vector-contraction inequality for Rademacher complexities, arXiv:1605.00251",),
)

A1_PEELED = peeled(
    A1,
    FROBENIUS,
    name="A1-peeled",
    statement="As A1, for every W whatever its norm: the Frobenius norm is measured after training and "
    "rounded up "
    "to the grid c0 rho^j.",
)

A1_SCALAR_COMPLEXITY = L * omega * sympy.sqrt(sum_sq_features) / m

A1_SCALAR = gap_theorem(
    "A1-scalar",
    title="Frozen features, trained read-out with one output",
    statement="As A1 for one row and one output, f_W(x) = <W, Psi(x)>: the scalar contraction has constant "
    "1, "
    "so sqrt(2) sqrt(K) is replaced by 1.",
    complexity=A1_SCALAR_COMPLEXITY,
    hypotheses=(_FEATURES, _ONE_OUTPUT, _BALL),
    constants=(),
    derivation="theorem-a1-scalar",
    sources=("M. Ledoux, M. Talagrand, Probability in Banach Spaces, 1991, Theorem 4.12",),
)

A1_SCALAR_PEELED = peeled(
    A1_SCALAR,
    FROBENIUS,
    name="A1-scalar-peeled",
    statement="As A1-scalar, for every W whatever its norm: the Frobenius norm is measured after training "
    "and "
    "rounded up to the grid c0 rho^j.",
)

A2_COMPLEXITY = (
    sympy.sqrt(2) * L * omega * attention_spectral * tokens_spectral * sympy.sqrt(K * attention_rank / m)
)

A2 = gap_theorem(
    "A2",
    title="Frozen attention: the rank of the attention matrix does count",
    statement="With attention matrices that do not depend on the trained matrix, with probability at "
    "least 1 - delta, "
    "for every W in the Frobenius ball, the gap of f_W(x) = A(x) X W is at most this bound: the sentence "
    "'sqrt(R/m) with R the effective rank of attention', repaired by the norms that it needs.",
    complexity=A2_COMPLEXITY,
    hypotheses=(
        _FEATURES,
        _BALL,
        Hypothesis(
            "attention-bounds",
            "Every frozen attention matrix has spectral norm <= "
            "attention_spectral and stable "
            "rank <= attention_rank, every token matrix has spectral norm <= tokens_spectral.",
            "bounded",
        ),
    ),
    constants=(VECTOR_CONTRACTION,),
    derivation="theorem-a2",
    sources=("A. Maurer, arXiv:1605.00251",),
)

THEOREMS = (A1, A1_PEELED, A1_SCALAR, A1_SCALAR_PEELED, A2)
