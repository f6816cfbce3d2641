"""Theorem C1: the query-key matrix of a softmax head is trained."""

from __future__ import annotations

import sympy

from proofs.records import (
    VECTOR_CONTRACTION,
    Constant,
    Hypothesis,
    Variant,
)
from proofs.symbols import (
    L,
    m,
    nu,
    omega,
    span_dimension,
    sum_sq_readout,
    sum_sq_scores,
)
from proofs.theorems.nuclear_ball import NUCLEAR_BALL, SERIES, series_norm
from proofs.theorems.shapes import FROBENIUS, confidence_term, gap_theorem, peeled, sphere_constant

FROBENIUS_BALL = Hypothesis(
    "frobenius-ball",
    "The trained query-key matrix has ||W||_F <= omega (the score "
    "scale belongs to W); "
    "omega is fixed before the sample. The class ||W||_2 <= s with effective rank <= R lies "
    "inside it with omega = s sqrt(R).",
    "standing",
)
_VALUES = Hypothesis(
    "values-frozen",
    "The values a_t(x) are fixed before the sample and do not depend on the trained matrix.",
    "standing",
)
BILINEAR_SCORES = Hypothesis(
    "bilinear-scores",
    "The score of token t is x_q^T W x_t plus a fixed offset. Query/key "
    "normalisation is not covered; soft-capping only with centre 0.",
    "model",
)
_SOFTMAX = Constant(
    "softmax read-out",
    1 / (2 * sympy.sqrt(2)),
    "Lemma 12(c)",
    "a softmax average moves by at most osc(a)/(2 sqrt 2) times the Euclidean change of the scores",
)
SOFTMAX_AVERAGE = Constant(
    "softmax average",
    1 / sympy.sqrt(2),
    "Lemma 12(c) for vectors",
    "a softmax average of vectors within a radius of a centre moves by at most radius/sqrt 2 times the "
    "Euclidean change of the scores",
)
SOURCES = ("A. Maurer, arXiv:1605.00251", "A. Dhingra, arXiv:2508.17256 (the claim that this repairs)")
_COMMON = (_VALUES, BILINEAR_SCORES)

C1I_COMPLEXITY = L * omega * sympy.sqrt(sum_sq_readout) / (2 * m)
C1II_COMPLEXITY = L * nu * series_norm() / m
C1VECTOR_COMPLEXITY = L * omega * sympy.sqrt(sum_sq_scores) / m


def _sphere(complexity: sympy.Expr) -> Variant:
    factor = sphere_constant(span_dimension) / sympy.sqrt(2)
    return Variant(
        "sphere",
        2 * factor * complexity + confidence_term(),
        "paper",
        "contraction over spheres of dimension span_dimension (the rank of the centred tokens)",
    )


C1_I = gap_theorem(
    "C1(i)",
    title="Trained query-key matrix, scalar read-out, Frobenius ball",
    statement="With probability at least 1 - delta, for every W with ||W||_F <= omega, the gap of the "
    "softmax head "
    "f_W(x) = sum_t softmax(s)_t a_t(x) with scalar values is at most this bound.",
    complexity=C1I_COMPLEXITY,
    hypotheses=(*_COMMON, FROBENIUS_BALL),
    constants=(
        VECTOR_CONTRACTION,
        _SOFTMAX,
    ),
    variants=(_sphere(C1I_COMPLEXITY),),
    derivation="theorem-c1-i",
    sources=SOURCES,
)

C1_II = gap_theorem(
    "C1(ii)",
    title="Trained query-key matrix, scalar read-out, nuclear ball",
    statement="As C1(i) with ||W||_* <= nu and the matrix series of the query-key outer products: v = "
    "(1/4) max(||sum "
    "osc_i^2 ||Xc_i||_F^2 x_q x_q^T||, ||sum osc_i^2 ||x_q||^2 Xc_i^T Xc_i||), F^2 = (1/4) sum osc_i^2 "
    "||x_q||^2 "
    "||Xc_i||_F^2.",
    complexity=C1II_COMPLEXITY,
    hypotheses=(*_COMMON, NUCLEAR_BALL),
    constants=(
        VECTOR_CONTRACTION,
        _SOFTMAX,
        SERIES,
    ),
    derivation="theorem-c1-ii",
    sources=(*SOURCES, "J. A. Tropp, arXiv:1501.01571"),
)

C1_VECTOR = gap_theorem(
    "C1-vector",
    title="Trained query-key matrix, fixed vector values",
    statement="With probability at least 1 - delta, for every W with ||W||_F <= omega, the gap of the "
    "softmax head with "
    "fixed vector values is at most this bound. radius(values_i) is the largest distance of a visible "
    "value from "
    "any fixed centre.",
    complexity=C1VECTOR_COMPLEXITY,
    hypotheses=(*_COMMON, FROBENIUS_BALL),
    constants=(
        VECTOR_CONTRACTION,
        SOFTMAX_AVERAGE,
    ),
    variants=(_sphere(C1VECTOR_COMPLEXITY),),
    derivation="theorem-c1-vector",
    sources=SOURCES,
)

C1_VECTOR_PEELED = peeled(
    C1_VECTOR,
    FROBENIUS,
    name="C1-vector-peeled",
    statement="As C1-vector, for every W whatever its norm: the Frobenius norm of the query-key matrix "
    "is measured after "
    "training and rounded up to the grid c0 rho^j.",
)

THEOREMS = (C1_I, C1_II, C1_VECTOR, C1_VECTOR_PEELED)
