"""From the complexity of a class to a gap theorem, and to one with the norms measured after training."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from proofs.build import Derivation
from proofs.theorems.gap_steps import (
    CONFIDENCE,
    GAP,
    ONE_NORM,
    RADEMACHER,
    SAMPLE,
    Cells,
    conclude_gap,
    peel,
)


@dataclass(frozen=True)
class GapTheorem:
    """A class whose complexity is bounded by the derivation ``complexity-key``."""

    key: str
    label: str
    title: str
    goal: str
    variables: Mapping[str, str]
    hypotheses: Mapping[str, tuple[str, str]]
    """Those of the complexity, in its order, about the drawn sample; the balls have ids ``ball...``."""
    terms: Mapping[str, str]
    """What the complexity's variables are here; functions of parameters are written as lambdas."""
    bound: str
    sources: tuple[str, ...]
    domain: str

    def complexity(self, d: Derivation) -> str:
        """The complexity of the class, from the hypotheses."""
        premises = [d.assume(name) for name in self.hypotheses]
        return d.lemma(
            f"complexity-{self.key}",
            self.terms,
            f"{RADEMACHER} <= {self.bound}",
            "The bound on the complexity of the class, proved before.",
            *premises,
        )

    def derive(self) -> Derivation:
        """The gap is at most twice the complexity plus the confidence term."""
        d = Derivation(
            f"theorem-{self.key}",
            f"Theorem {self.label}: {self.title}",
            self.goal,
            "The complexity bound and Lemma 3(c).",
            self.variables,
            f"{GAP} <= 2*({self.bound}) + {CONFIDENCE}",
            "delta",
            {**SAMPLE, **self.hypotheses},
            self.sources,
            self.domain,
        )
        conclude_gap(d, self.complexity(d), self.bound)
        return d

    def derive_peeled(self, cells: Cells = ONE_NORM, **budgets: str) -> Derivation:
        """The same with each budget replaced by a grid value, by default c0 rho^j for the only one."""
        bound = _with_budgets(self.bound, budgets)
        hypotheses = {name: _in_cell(name, text, cells, budgets) for name, text in self.hypotheses.items()}
        d = Derivation(
            f"theorem-{self.key}-peeled",
            f"Theorem {self.label}, norm{'s' if len(budgets) > 1 else ''} measured after training",
            f"{self.label} for all trained matrices, whatever their norms.",
            "The complexity in every cell of the grid; the union of Theorem P.",
            {**self.variables, **cells.variables},
            f"{cells.gap} <= 2*({bound}) + {cells.confidence}",
            "delta",
            {**SAMPLE, **hypotheses},
            self.sources,
            self.domain,
        )
        terms = {name: cells.function(term) for name, term in self.terms.items()}
        premises = [
            cells.specialise(d, name) if re.search(r"\b[WU]\b", formula) else d.assume(name)
            for name, (formula, _) in hypotheses.items()
        ]
        complexity = d.lemma(
            f"complexity-{self.key}",
            {**terms, **budgets, "W": "v", "U": "u"},
            f"{cells.complexity} <= {bound}",
            "The complexity bound, for the members of one cell of the grid.",
            *premises,
        )
        slope = d.combine(
            f"2*{cells.complexity} <= 2*({bound})",
            "The deviation bound has twice the complexity, so double the bound on it.",
            complexity,
            times=["2"],
        )
        peel(d, cells, slope, f"2*({bound})")
        return d


def _with_budgets(text: str, budgets: Mapping[str, str]) -> str:
    for budget, value in budgets.items():
        text = re.sub(rf"\b{budget}\b", value, text)
    return text


def _in_cell(
    name: str, hypothesis: tuple[str, str], cells: Cells, budgets: Mapping[str, str]
) -> tuple[str, str]:
    """A ball becomes a cell of the grid; every other hypothesis stays, about all parameters."""
    formula, meaning = hypothesis
    if not name.startswith("ball"):
        return hypothesis
    return _with_budgets(cells.of(formula), budgets), f"the grid cell: {meaning}"
