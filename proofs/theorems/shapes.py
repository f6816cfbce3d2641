"""Shapes that several bounds share: the confidence term, peeling, the sphere constant."""

from __future__ import annotations

from dataclasses import dataclass, replace

import sympy

from proofs.export import to_prefix
from proofs.records import (
    CONFIDENCE,
    IID,
    LIPSCHITZ_LOSS,
    STANDING,
    SYMMETRIZATION,
    UNIT_LOSS,
    Constant,
    Hypothesis,
    Theorem,
    Variant,
)
from proofs.symbols import c0, delta, j, m, norm_after, nu, nuclear_after, omega, rho

PRIOR_MOMENT = 2 + sympy.sqrt(sympy.pi * m / 2)
"""Upper bound of Maurer's moment sum_k C(m,k) (k/m)^k (1-k/m)^(m-k) (Lemma 16)."""


def confidence_term(failure: sympy.Expr = delta) -> sympy.Expr:
    """``2 sqrt(log(1/failure) / (2 m))``: the price of one event of Lemma 3(c), loss in [0, 1]."""
    return 2 * sympy.sqrt(sympy.log(1 / failure) / (2 * m))


def peeled_confidence(*indices: sympy.Symbol) -> sympy.Expr:
    """The confidence term with a weight ``1/((j+1)(j+2))`` paid for each grid index (Theorem P)."""
    prices = [sympy.log((index + 1) * (index + 2)) for index in indices]
    return 2 * sympy.sqrt((sympy.log(1 / delta) + sum(prices)) / (2 * m))


def grid_value(index: sympy.Symbol = j) -> sympy.Expr:
    """``c0 rho^j``, the complexity rounded up to the grid."""
    return c0 * rho**index


def sphere_constant(dimension: sympy.Expr) -> sympy.Expr:
    """``gamma_k = sqrt(pi) Gamma((k+1)/2) / (sqrt(k) Gamma(k/2))``, between 1 and sqrt(pi/2)."""
    k = dimension
    return sympy.sqrt(sympy.pi) * sympy.gamma((k + 1) / 2) / (sympy.sqrt(k) * sympy.gamma(k / 2))


def gap_theorem(
    name: str,
    *,
    title: str,
    statement: str,
    complexity: sympy.Expr,
    hypotheses: tuple[Hypothesis, ...],
    constants: tuple[Constant, ...],
    derivation: str,
    sources: tuple[str, ...],
    variants: tuple[Variant, ...] = (),
) -> Theorem:
    """A bound on the gap: twice the complexity plus the confidence term (Lemma 3(c))."""
    return Theorem(
        name=name,
        title=title,
        statement=statement,
        quantity="gap",
        bound=2 * complexity + confidence_term(),
        complexity=complexity,
        parts=(("complexity", 2 * complexity), ("confidence", confidence_term())),
        hypotheses=(STANDING, IID, UNIT_LOSS, LIPSCHITZ_LOSS, *hypotheses),
        constants=(SYMMETRIZATION, *constants, CONFIDENCE),
        variants=variants,
        derivation=derivation,
        sources=sources,
    )


@dataclass(frozen=True)
class Peeled:
    """One budget that becomes a grid value: which, the grid's index, the norm that was measured."""

    budget: sympy.Symbol
    index: sympy.Symbol
    measured: sympy.Symbol
    hypothesis: str
    norm: str

    def grid(self) -> Hypothesis:
        """The hypothesis that the measured norm is at most the grid value."""
        return Hypothesis(
            self.hypothesis,
            f"c0 > 0 and rho > 1 are fixed before the sample; {self.index} is any index with {self.norm} "
            "<= c0 "
            f"rho^{self.index}, computed from an upper enclosure of the norm after training.",
            "numeric",
            (to_prefix(self.measured), to_prefix(grid_value(self.index))),
        )


FROBENIUS = Peeled(omega, j, norm_after, "grid", "||W||")
NUCLEAR = Peeled(nu, j, nuclear_after, "grid", "||W||_*")


def peeled(theorem: Theorem, *norms: Peeled, name: str, statement: str) -> Theorem:
    """Theorem P over ``theorem``: each budget becomes a grid value, chosen after training."""
    if theorem.complexity is None:
        raise ValueError(f"{theorem.name} has no complexity to peel")
    complexity = theorem.complexity.subs({norm.budget: grid_value(norm.index) for norm in norms})
    confidence = peeled_confidence(*(norm.index for norm in norms))
    kept = tuple(h for h in theorem.hypotheses if not h.id.endswith(("-ball", "-balls")))
    price = Constant(
        "grid weight",
        sympy.prod([1 / ((norm.index + 1) * (norm.index + 2)) for norm in norms]),
        "Theorem P",
        "the failure probability is shared over the grid by weights that sum to 1",
    )
    return replace(
        theorem,
        name=name,
        title=theorem.title
        + (", norm measured" if len(norms) == 1 else ", norms measured")
        + " after training",
        statement=statement,
        bound=2 * complexity + confidence,
        complexity=complexity,
        parts=(("complexity", 2 * complexity), ("confidence", confidence)),
        hypotheses=(*kept, *(norm.grid() for norm in norms)),
        constants=(*theorem.constants, price),
        variants=(),
        derivation=theorem.derivation + "-peeled",
    )
