"""Theorem B: nuclear-norm balls against a matrix Rademacher series."""

from __future__ import annotations

import sympy

from proofs.records import (
    VECTOR_CONTRACTION,
    Constant,
    Hypothesis,
    Variant,
)
from proofs.symbols import L, m, nu, series_frobenius_sq, series_variance
from proofs.theorems.shapes import NUCLEAR, confidence_term, gap_theorem, peeled

NUCLEAR_BALL = Hypothesis(
    "nuclear-ball",
    "The trained matrix has ||W||_* <= nu; nu is fixed before the sample. The class "
    "||W||_2 <= s with "
    "nuclear, participation, entropy or true rank <= R lies inside it with nu = s R. For the stable rank "
    "and the squared-spectrum ranks this is false.",
    "standing",
)
SERIES = Constant(
    "matrix series",
    2 * series_frobenius_sq / series_variance,
    "Lemma 8(b)",
    "twice the intrinsic dimension of the series, instead of the sum of the two dimensions",
)


def series_norm() -> sympy.Expr:
    """Lemma 8(b): ``min(sqrt(2 v log(2 F^2/v)), sqrt(F^2))`` bounds the expected norm."""
    v, f2 = series_variance, series_frobenius_sq
    return sympy.Min(sympy.sqrt(2 * v * sympy.log(2 * f2 / v)), sympy.sqrt(f2))


B1_COMPLEXITY = L * nu * series_norm() / m
B2_COMPLEXITY = sympy.sqrt(2) * L * nu * series_norm() / m

B1 = gap_theorem(
    "B1",
    title="Scalar bilinear class in a nuclear ball",
    statement="With probability at least 1 - delta, for every W with ||W||_* <= nu, the gap of f_W(x) = "
    "<W, G(x)> is at "
    "most this bound. v is the larger of the two spectral norms ||sum G_i G_i^T||, ||sum G_i^T G_i||, "
    "F^2 = sum "
    "||G_i||_F^2.",
    complexity=B1_COMPLEXITY,
    hypotheses=(NUCLEAR_BALL,),
    constants=(SERIES,),
    derivation="theorem-b1",
    sources=("J. A. Tropp, An Introduction to Matrix Concentration Inequalities, arXiv:1501.01571",),
)

B2 = gap_theorem(
    "B2",
    title="Vector outputs, linear in a matrix of a nuclear ball",
    statement="With probability at least 1 - delta, for every W with ||W||_* <= nu, the gap of f_W(x) = "
    "W^T phi(x) with K "
    "outputs is at most this bound. v = max(sum ||phi_i||^2, K ||sum phi_i phi_i^T||_2), F^2 = K sum "
    "||phi_i||^2.",
    complexity=B2_COMPLEXITY,
    hypotheses=(NUCLEAR_BALL,),
    constants=(
        VECTOR_CONTRACTION,
        SERIES,
    ),
    variants=(
        Variant(
            "gaussian",
            2 * sympy.sqrt(sympy.pi / 2) * L * nu * series_norm() / m + confidence_term(),
            "cited",
            "Gaussian instead of sign contraction: sqrt(pi/2) instead of sqrt(2); Lemma 8(b) holds for "
            "Gaussian series with the same constants",
        ),
    ),
    derivation="theorem-b2",
    sources=("A. Maurer, arXiv:1605.00251", "J. A. Tropp, arXiv:1501.01571"),
)

B1_PEELED = peeled(
    B1,
    NUCLEAR,
    name="B1-peeled",
    statement="As B1, for every W whatever its norm: the nuclear norm is measured after training and "
    "rounded up "
    "to the grid c0 rho^j. v and F^2 are measured on the sample.",
)

B2_PEELED = peeled(
    B2,
    NUCLEAR,
    name="B2-peeled",
    statement="As B2, for every W whatever its norm: the nuclear norm is measured after training and "
    "rounded up "
    "to the grid c0 rho^j. v and F^2 are measured on the sample.",
)

THEOREMS = (B1, B1_PEELED, B2, B2_PEELED)
