"""Every theorem whose bound can be evaluated, by name.

>>> from proofs.theorems import THEOREMS
>>> THEOREMS["D"].prefix
'(kl_inverse emp_risk (div (add (mul code_bits (log 2)) (log (div 1 delta))) m))'
"""

from __future__ import annotations

from proofs.records import Constant, Hypothesis, Theorem, Variant
from proofs.theorems import (
    exact_rank,
    frozen_features,
    gibbs,
    held_out,
    joint_head,
    margin,
    nuclear_ball,
    occam,
    peeling,
    softmax_scores,
)

_FILES = (
    frozen_features,
    nuclear_ball,
    softmax_scores,
    joint_head,
    exact_rank,
    margin,
    occam,
    held_out,
    gibbs,
    peeling,
)

THEOREMS: dict[str, Theorem] = {theorem.name: theorem for file in _FILES for theorem in file.THEOREMS}

__all__ = ["THEOREMS", "Constant", "Hypothesis", "Theorem", "Variant"]
