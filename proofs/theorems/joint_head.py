"""Theorem C1-joint: the query-key and the value matrix of a softmax head are trained."""

from __future__ import annotations

import sympy

from proofs.records import (
    VECTOR_CONTRACTION,
    Constant,
    Hypothesis,
)
from proofs.symbols import (
    K,
    L,
    j_spectral,
    j_value,
    m,
    norm_value_after,
    omega,
    omega_value,
    spectral_value,
    spectral_value_after,
    sum_sq_joint,
    sum_sq_tokens,
)
from proofs.theorems.shapes import FROBENIUS, Peeled, gap_theorem, peeled
from proofs.theorems.softmax_scores import BILINEAR_SCORES, FROBENIUS_BALL, SOFTMAX_AVERAGE, SOURCES

_A0 = omega_value * sympy.sqrt(K * sum_sq_tokens) / m
_C0 = spectral_value * omega * sympy.sqrt(sum_sq_joint) / (sympy.sqrt(2) * m)
_TWO_THIRDS = sympy.Rational(2, 3)
C1JOINT_COMPLEXITY = sympy.sqrt(2) * L * (_A0**_TWO_THIRDS + _C0**_TWO_THIRDS) ** sympy.Rational(3, 2)

C1_JOINT = gap_theorem(
    "C1-joint",
    title="Trained query-key and value matrices",
    statement="With probability at least 1 - delta, for every W with ||W||_F <= omega and every V with "
    "||V||_F <= "
    "omega_value, ||V||_2 <= spectral_value, the gap of f(x) = V^T X^T softmax(s) is at most this bound.",
    complexity=C1JOINT_COMPLEXITY,
    hypotheses=(
        BILINEAR_SCORES,
        FROBENIUS_BALL,
        Hypothesis(
            "value-balls",
            "The trained value matrix has ||V||_F <= omega_value and ||V||_2 <= "
            "spectral_value, "
            "both fixed before the sample.",
            "standing",
        ),
    ),
    constants=(
        VECTOR_CONTRACTION,
        SOFTMAX_AVERAGE,
        Constant(
            "split",
            sympy.Rational(3, 2),
            "Theorem C1-joint",
            "the best split of the contraction between values and scores (Hoelder)",
        ),
    ),
    derivation="theorem-c1-joint",
    sources=SOURCES,
)

C1_JOINT_PEELED = peeled(
    C1_JOINT,
    FROBENIUS,
    Peeled(omega_value, j_value, norm_value_after, "grid-value", "||V||_F"),
    Peeled(spectral_value, j_spectral, spectral_value_after, "grid-spectral", "||V||_2"),
    name="C1-joint-peeled",
    statement="As C1-joint, for all W and V whatever their norms: ||W||_F, ||V||_F and ||V||_2 are "
    "measured after "
    "training and rounded up to grids c0 rho^j; each of the three grids costs a logarithm.",
)

THEOREMS = (C1_JOINT, C1_JOINT_PEELED)
