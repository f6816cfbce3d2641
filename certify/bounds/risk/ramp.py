"""What bounds by norms share: ramp losses of several widths, grids of norms, and who pays for them.

They speak of the ramp risk of the float head at a width 2^i: every i has its share of delta. Norms are
certified and rounded up to a grid, which the peeled theorems pay for.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from certify.bounds.peeling import grid_index
from certify.bounds.risk.entries import Bound, Verdict, exact, judged, value_of
from certify.bounds.risk.heads import Head
from certify.bounds.risk.samples import Sample
from certify.codec.matrices import zigzag
from certify.kernel.enclosure import Enclosure
from certify.kernel.norms import frobenius_norm

TRAINED = "trained head"
RATIO, START = Fraction(11, 10), Fraction(1, 64)  # of the grid of norms, fixed here
WIDTHS = tuple(range(-2, 6))  # exponents of the ramp width

LIPSCHITZ: Verdict = (
    "met",
    "the ramp of width g is 1/g-Lipschitz in the margin; a signed output is 1-Lipschitz, a difference of two "
    "logits sqrt(2)-Lipschitz.",
)
PAID: Verdict = ("met", "the grid value was computed from the upper end of the certified norm.")


ONE = exact(1)


def weight(index: int) -> Fraction:
    """1 / ((i+1)(i+2)): adds up to 1 over i = 0, 1, 2, ..."""
    return Fraction(1, (index + 1) * (index + 2))


def share(width: int) -> Fraction:
    """The share of delta for the ramp width 2^width."""
    return weight(zigzag(width))


def vector_norm(x: np.ndarray) -> Enclosure:
    """The Euclidean norm of all entries."""
    return frobenius_norm(np.ascontiguousarray(x.reshape(1, -1)))


def on_grid(norm: Enclosure) -> Enclosure:
    """The index of the least grid value above the norm."""
    return exact(grid_index(Fraction(norm.upper), START, RATIO))


def ramp_risks(head: Head, sample: Sample) -> Mapping[int, Fraction]:
    """Upper bounds on the empirical ramp risk for each width."""
    margins = head.margins(sample)
    return {i: margins.ramp_risk(2.0**i) for i in WIDTHS}


def best_gap(
    name: str,
    risks: Mapping[int, Fraction],
    inputs: Mapping[str, Enclosure],
    m: int,
    delta: Fraction,
    verdicts: Mapping[str, Verdict],
    complexity: str,
    subject: str = TRAINED,
    lipschitz: Enclosure = ONE,
) -> Bound:
    """The gap theorem ``name`` plus the empirical ramp risk, at the width where that is smallest.

    ``inputs``: all but L, m, delta and the grid. ``lipschitz``: of the margin in the outputs.
    """
    bounds = []
    for i, risk in risks.items():
        given = {
            **inputs,
            "L": lipschitz / Fraction(2) ** i,
            "m": exact(m),
            "rho": exact(RATIO),
            "c0": exact(START),
            "delta": exact(delta * share(i)),
            "emp_risk": exact(risk),
        }
        hypotheses = judged(name, {"loss-lipschitz": LIPSCHITZ, "grid": PAID, **verdicts})
        value = value_of(name, given)
        loss = f"ramp {2.0**i:g}"
        bounds.append(Bound(name, subject, loss, value, m, delta, complexity, given, hypotheses))
    return min(bounds, key=lambda bound: bound.value.upper)
