"""Shapes that several bounds share: the confidence term, peeling, the sphere constant."""

from __future__ import annotations

from dataclasses import replace

import sympy

from proofs.export import to_prefix
from proofs.records import Constant, Hypothesis, Theorem
from proofs.symbols import c0, delta, j, m, norm_after, rho

PRIOR_MOMENT = 2 + sympy.sqrt(sympy.pi * m / 2)
"""Upper bound of Maurer's moment sum_k C(m,k) (k/m)^k (1-k/m)^(m-k) (Lemma 16)."""


def confidence_term(failure: sympy.Expr = delta) -> sympy.Expr:
    """``2 sqrt(log(1/failure) / (2 m))``: the price of one event of Lemma 3(c), loss in [0, 1]."""
    return 2 * sympy.sqrt(sympy.log(1 / failure) / (2 * m))


def peeled_confidence() -> sympy.Expr:
    """The confidence term with the grid's weight ``1/((j+1)(j+2))`` paid for (Theorem P)."""
    return 2 * sympy.sqrt((sympy.log(1 / delta) + sympy.log((j + 1) * (j + 2))) / (2 * m))


def grid_value() -> sympy.Expr:
    """``c0 rho^j``, the complexity rounded up to the grid."""
    return c0 * rho**j


def sphere_constant(dimension: sympy.Expr) -> sympy.Expr:
    """``gamma_k = sqrt(pi) Gamma((k+1)/2) / (sqrt(k) Gamma(k/2))``, between 1 and sqrt(pi/2)."""
    k = dimension
    return sympy.sqrt(sympy.pi) * sympy.gamma((k + 1) / 2) / (sympy.sqrt(k) * sympy.gamma(k / 2))


def peeled(theorem: Theorem, budget: sympy.Symbol, *, name: str, statement: str) -> Theorem:
    """Theorem P over ``theorem``: the budget becomes ``c0 rho^j``, chosen after training."""
    if theorem.complexity is None:
        raise ValueError(f"{theorem.name} has no complexity to peel")
    complexity = theorem.complexity.subs(budget, grid_value())
    grid = Hypothesis(
        "grid",
        "c0 > 0 and rho > 1 are fixed before the sample; j is any index with ||W|| <= c0 rho^j, "
        "computed from an upper enclosure of the norm after training.",
        "numeric",
        (to_prefix(norm_after), to_prefix(grid_value())),
    )
    kept = tuple(h for h in theorem.hypotheses if not h.id.endswith("-ball"))
    price = Constant(
        "grid weight",
        1 / ((j + 1) * (j + 2)),
        "Theorem P",
        "the failure probability is shared over the grid by weights that sum to 1",
    )
    return replace(
        theorem,
        name=name,
        title=theorem.title + ", norm measured after training",
        statement=statement,
        bound=2 * complexity + peeled_confidence(),
        complexity=complexity,
        parts=(("complexity", 2 * complexity), ("confidence", peeled_confidence())),
        hypotheses=(*kept, grid),
        constants=(*theorem.constants, price),
        variants=(),
        derivation=theorem.derivation + "-peeled",
    )
