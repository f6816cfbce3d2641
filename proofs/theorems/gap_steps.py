"""Steps that the derivations of the gap theorems share: from a complexity to a gap, and to a peeled gap.

A gap theorem is: the complexity of the class (a derivation of its own, ``complexity-...``), Lemma 3(c), and
for a norm that is measured after training the union of Theorem P over the cells of a grid.
"""

from __future__ import annotations

import re

from proofs.build import Derivation

LOSS = {
    "P": "real before: P(W), the risk of the model with parameter W",
    "l": "real before: l(W, S, i), its loss on unit i of the sample S",
    "m": "count before: number of independent units",
    "delta": "positive before: failure probability",
    "S": "sample dummy: a sample",
    "T": "sample dummy: a ghost sample",
    "Z": "sample after: the sample that was drawn",
    "i": "point dummy: a unit",
    "e": "signs dummy: independent signs e(i)",
    "W": "point dummy: a parameter of the class",
}
SAMPLE = {
    "unbiased": ("P(W) == E(T, sum(i, l(W, T, i))/m)", "the units are independent and alike"),
    "low": ("0 <= l(W, S, i)", "the loss is at least 0"),
    "high": ("l(W, S, i) <= 1", "the loss is at most 1"),
    "level": ("0 <= log(1/delta)", "delta is at most 1"),
}
FIXED = {
    **LOSS,
    "L": "positive before: Lipschitz constant of the loss",
    "U": "point dummy: a parameter",
    "x": "signs dummy: signs x(i, k)",
    "k": "point dummy: an output",
}
LIPSCHITZ_VECTOR = (
    "l(W, Z, i) - l(U, Z, i) <= L*sqrt(sum(k, (g(Z, i, k, W) - g(Z, i, k, U))**2))",
    "the loss is L-Lipschitz in the outputs",
)
LIPSCHITZ_SCALAR = (
    "l(W, Z, i) - l(U, Z, i) <= L*abs(g(Z, i, W) - g(Z, i, U))",
    "the loss is L-Lipschitz in the output",
)
RADEMACHER = "E(e, sup(W, sum(i, e(i)*l(W, Z, i))/m))"
GAP = "P(W) - sum(i, l(W, Z, i))/m"
CONFIDENCE = "2*sqrt(log(1/delta)/(2*m))"
_LEMMA_3C = {"P": "P", "l": "l", "m": "m", "M": "1", "delta": "delta"} | {
    k: k for k in ("S", "T", "Z", "i", "e")
}


def conclude_gap(d: Derivation, complexity: str, bound: str) -> None:
    """The last steps of every gap theorem: Lemma 3(c), then the bound on the complexity."""
    unbiased, low, high, level = (d.assume(h) for h in SAMPLE)
    uniform = d.lemma(
        "lemma-3c",
        {**_LEMMA_3C, "f": "W"},
        f"sup(W, {GAP}) <= 2*{RADEMACHER} + {CONFIDENCE}",
        "Lemma 3(c): one number is concentrated, so the failure probability is spent once.",
        unbiased,
        low,
        high,
        level,
    )
    value = d.axiom(
        "value-below-sup",
        {"X": f"lambda W: {GAP}", "t": "W"},
        f"{GAP} <= sup(W, {GAP})",
        "Each member is at most the supremum over all members.",
    )
    d.combine(
        f"{GAP} <= 2*({bound}) + {CONFIDENCE}",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        value,
        uniform,
        complexity,
        level,
        times=["1", "1", "2"],
    )


# The norm is measured after training
MEANINGS = {
    "j": "grid index, chosen after training",
    "j_value": "grid index of the value matrix's Frobenius norm, chosen after training",
    "j_spectral": "grid index of the value matrix's spectral norm, chosen after training",
}


class Cells:
    """The classes that Theorem P unites: ``member(j, v)`` runs through the models of grid cell ``j``.

    With several norms a cell has several indices, ``member(j, j_value, j_spectral, v)``.
    """

    def __init__(self, *indices: str) -> None:
        self.indices = indices
        self.member = f"member({', '.join(indices)}, v)"
        self.other = f"member({', '.join(indices)}, u)"
        self.family = f"sum(i, e(i)*l({self.member}, Z, i))/m"
        self.complexity = f"E(e, sup(v, {self.family}))"
        self.gap = f"P({self.member}) - sum(i, l({self.member}, Z, i))/m"
        prices = " + ".join(f"log(({j} + 1)*({j} + 2))" for j in indices)
        self.confidence = f"2*sqrt((log(1/delta) + {prices})/(2*m))"
        self.variables = {
            **{k: v for k, v in LOSS.items() if k != "W"},
            "W": "point dummy: a model",
            "member": f"real before: {self.member} runs through the models of complexity at most c0 rho^j"
            if len(indices) == 1
            else f"real before: {self.member} runs through the models of one grid cell",
            "v": "point dummy: numbers the models of one grid cell",
            "u": "point dummy: numbers the models of one cell",
            "c0": "positive before: start of the grid",
            "rho": "positive before: grid ratio",
            **{j: f"index grid: {MEANINGS[j]}" for j in indices},
        }

    def of(self, formula: str) -> str:
        """``formula`` about the parameters W and U, for two members of a cell."""
        return re.sub(r"\bU\b", self.other, re.sub(r"\bW\b", self.member, formula))

    def function(self, term: str) -> str:
        """A function of parameters, ``lambda i, W: ...``, as a function of the numbers of the members."""
        head, colon, body = term.partition(":")
        if not colon:
            return term
        return re.sub(r"\bU\b", "u", re.sub(r"\bW\b", "v", head)) + ":" + self.of(body)

    def specialise(self, d: Derivation, hypothesis: str) -> str:
        """The hypothesis, about all W and U, for the members of a cell."""
        why, formula = (
            "It holds for every parameter, so for the members of the cell.",
            d.hypotheses[hypothesis][0],
        )
        first = re.sub(r"\bW\b", self.member, formula)
        step = d.specialise("W", self.member, first, why, d.assume(hypothesis))
        second = re.sub(r"\bU\b", self.other, first)
        return step if second == first else d.specialise("U", self.other, second, why, step)


ONE_NORM = Cells("j")
THREE_NORMS = Cells("j", "j_value", "j_spectral")


def _share_of_delta(d: Derivation, cells: Cells, level: str) -> tuple[str, str]:
    """The failure probability that one cell may use, and the step that says that it is at most 1."""
    share = "delta" + "".join(f"/(({j} + 1)*({j} + 2))" for j in cells.indices)
    steps = [level]
    for j in cells.indices:
        one = d.sign(f"1 <= ({j} + 1)*({j} + 2)", f"{j} is at least 0.")
        steps.append(
            d.monotone(
                f"log(1) <= log(({j} + 1)*({j} + 2))",
                "Take logarithms on both sides: the logarithm is an increasing function.",
                one,
            )
        )
    return share, d.combine(f"0 <= log(1/({share}))", "The share of delta is at most 1.", *steps)


def peel(d: Derivation, cells: Cells, slope: str, slope_bound: str) -> None:
    """Lemma 3(c) for every grid cell with its share of delta, and the union: proves ``d.conclude``."""
    special = [cells.specialise(d, name) for name in ("unbiased", "low", "high")]
    share, level = _share_of_delta(d, cells, d.assume("level"))
    uniform = d.lemma(
        "lemma-3c",
        {
            **_LEMMA_3C,
            "P": f"lambda v: P({cells.member})",
            "l": f"lambda v, S, i: l({cells.member}, S, i)",
            "delta": share,
            "f": "v",
        },
        f"sup(v, {cells.gap}) <= 2*{cells.complexity} + 2*sqrt(log(1/({share}))/(2*m))",
        "Lemma 3(c) for one grid cell, at its share of delta.",
        *special,
        level,
    )
    value = d.axiom(
        "value-below-sup",
        {"X": f"lambda v: {cells.gap}", "t": "v"},
        f"{cells.gap} <= sup(v, {cells.gap})",
        "Each member is at most the supremum over all members.",
    )
    step = d.combine(
        f"{cells.gap} <= {slope_bound} + {cells.confidence}",
        "Put the lines together; the logarithm of one over the share is a sum of logarithms.",
        value,
        uniform,
        slope,
        level,
        times=["1", "1", "1"],
    )
    for place in reversed(range(len(cells.indices))):
        j = cells.indices[place]
        total = "delta" + "".join(f"/(({other} + 1)*({other} + 2))" for other in cells.indices[:place])
        why = f"1/(({j}+1)({j}+2)) = 1/({j}+1) - 1/({j}+2): the shares add up to {total.split('/')[0]}."
        if place:
            why = f"The shares of the cells that differ in {j} alone add up."
        step = d.grid(j, total, f"1/({j} + 1)", d.conclude, why, step)
