"""Lemmas 1 to 3 and Theorem P: one sample, all classes and signs enumerated."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

from flint import arb
from hypothesis import strategies as st

from tests.proofs.sides.common import (
    ONE,
    H,
    Property,
    Sides,
    ball,
    dot,
    positive,
    signs,
)


@st.composite
def finite_classes(draw: st.DrawFn) -> dict[str, Any]:
    """A distribution on 2 or 3 points and a class of functions with values in {0, 1/2, 1}."""
    k = draw(st.integers(2, 3))
    weights = [draw(positive) for _ in range(k)]
    total = sum(weights)
    values = st.lists(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)]), min_size=k, max_size=k)
    return {
        "p": [Fraction(w, total) for w in weights],
        "f": draw(st.lists(values, min_size=1, max_size=4)),
        "m": draw(st.integers(1, 3)),
    }


def subsets(k: int) -> dict[str, Any]:
    """Uniform distribution on k points, all subsets, one unit."""
    return {
        "p": [Fraction(1, k)] * k,
        "f": [[Fraction(v) for v in row] for row in product((0, 1), repeat=k)],
        "m": 1,
    }


def samples(case: dict[str, Any]) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
    """(probability, largest gap, empirical complexity) for every sample."""
    p, functions, m = case["p"], case["f"], case["m"]
    risks = [dot(p, f) for f in functions]
    for sample in product(range(len(p)), repeat=m):
        weight = Fraction(1)
        for z in sample:
            weight *= p[z]
        gap = max(risk - sum(f[z] for z in sample) / m for f, risk in zip(functions, risks, strict=True))
        rademacher = sum(max(dot(s, [f[z] for z in sample]) for f in functions) for s in signs(m)) / (
            m * 2**m
        )
        yield weight, gap, rademacher


def symmetrization(case: dict[str, Any], factor: Fraction = Fraction(2)) -> Sides:
    rows = list(samples(case))
    return ball(sum(w * g for w, g, _ in rows)), ball(factor * sum(w * r for w, _, r in rows))


def deviation(
    case: dict[str, Any], factor: Fraction = Fraction(2), inside: int = 1, complexity: int = 2
) -> Sides:
    """Largest ratio (failure probability)/delta over several delta; left is the failure probability."""
    worst: Sides = (arb(0), arb(1))
    for delta in (Fraction(1, 2), Fraction(1, 5), Fraction(1, 20)):
        term = ball(factor) * ((ball(inside) / ball(delta)).log() / (2 * case["m"])).sqrt()
        failing = sum((w for w, g, r in samples(case) if ball(g - complexity * r) > term), Fraction(0))
        if ball(failing) / ball(delta) > worst[0] / worst[1]:
            worst = (ball(failing), ball(delta))
    return worst


def deviation_expected(case: dict[str, Any], factor: Fraction = Fraction(1)) -> Sides:
    """Form (a): the expected complexity instead of the empirical one."""
    rows = list(samples(case))
    expected = sum(w * r for w, _, r in rows)
    worst: Sides = (arb(0), arb(1))
    for delta in (Fraction(1, 2), Fraction(1, 5), Fraction(1, 20)):
        term = ball(factor) * ((1 / ball(delta)).log() / (2 * case["m"])).sqrt()
        failing = sum((w for w, g, _ in rows if ball(g - 2 * expected) > term), Fraction(0))
        if ball(failing) / ball(delta) > worst[0] / worst[1]:
            worst = (ball(failing), ball(delta))
    return worst


def deviation_textbook(case: dict[str, Any], factor: Fraction = Fraction(3)) -> Sides:
    """Form (b): 3 and log(2/delta)."""
    return deviation(case, factor, inside=2)


def complexity_difference(case: dict[str, Any], factor: Fraction = Fraction(1, 2)) -> Sides:
    """Lemma 3(c)'s key step: one unit moves the empirical complexity by at most M/(2m), M = 1."""
    functions, m, k = case["f"], case["m"], len(case["p"])

    def rademacher(sample: tuple[int, ...]) -> Fraction:
        return Fraction(
            sum(max(dot(s, [f[z] for z in sample]) for f in functions) for s in signs(m)), m * 2**m
        )

    worst = Fraction(0)
    for sample in product(range(k), repeat=m):
        for z in range(k):
            worst = max(worst, abs(rademacher(sample) - rademacher((z, *sample[1:]))))
    return ball(worst), ball(factor / m)


def coins(case: tuple[int, Fraction], exponent: Fraction = Fraction(2)) -> Sides:
    """The mean of m fair coins exceeds 1/2 by t: exact binomial tail against exp(-2 m t^2)."""
    m, t = case
    k = -int(-(Fraction(m, 2) + m * t) // 1)
    if m <= 2000:
        tail = ball(Fraction(sum(comb(m, n) for n in range(k, m + 1)), 2**m))
    else:  # one term is a lower bound
        log_term = arb(m + 1).lgamma() - arb(k + 1).lgamma() - arb(m - k + 1).lgamma() - m * arb(2).log()
        tail = log_term.exp()
    t_exact = Fraction(k, m) - Fraction(1, 2)
    return tail, (-ball(exponent) * m * ball(t_exact) ** 2).exp()


def peeled_deviation(case: dict[str, Any], factor: Fraction = Fraction(2)) -> Sides:
    """Theorem P, cell j = the first j + 1 functions: exact probability that the bound of some cell fails."""
    functions = case["f"]
    cells = [list(samples({**case, "f": functions[: j + 1]})) for j in range(len(functions))]
    worst: Sides = (arb(0), arb(1))
    for delta in (Fraction(1, 2), Fraction(1, 20)):
        failing = Fraction(0)
        for rows in zip(*cells, strict=True):
            for j, (_, gap, rademacher) in enumerate(rows):
                logs = (1 / ball(delta)).log() + arb((j + 1) * (j + 2)).log()
                if ball(gap - 2 * rademacher) > ball(factor) * (logs / (2 * case["m"])).sqrt():
                    failing += rows[0][0]
                    break
        if ball(failing) / ball(delta) > worst[0] / worst[1]:
            worst = (ball(failing), ball(delta))
    return worst


def peeling(case: int, factor: Fraction = Fraction(1)) -> Sides:
    return ball(sum((Fraction(1, (j + 1) * (j + 2)) for j in range(case)), Fraction(0))), ball(factor)


ONE_EVENT = {"p": [H, H], "f": [[ONE, Fraction(0)], [Fraction(0), Fraction(0)]], "m": 1}
ONE_MODEL = {"p": [Fraction(2, 5), Fraction(3, 5)], "f": [[ONE, Fraction(0)]], "m": 1}


PROPERTIES: dict[str, Property] = {
    "lemma-1": Property(
        "lemma-1",
        finite_classes(),
        symmetrization,
        tuple(subsets(k) for k in (2, 8)),
        False,
        {"factor": Fraction(2)},
        wrong={"factor": Fraction(3, 2)},
    ),
    "lemma-2": Property(
        "lemma-2",
        st.tuples(st.integers(2, 40), st.sampled_from([Fraction(1, 8), Fraction(1, 4), H])),
        coins,
        ((10, H), (10**6, Fraction(3, 100))),
        False,
        {"exponent": Fraction(2)},
        larger_is_false=True,
        wrong={"exponent": Fraction(3)},
    ),
    "lemma-3a": Property(
        "lemma-3a",
        finite_classes(),
        deviation_expected,
        (ONE_EVENT, ONE_MODEL),
        False,
        {"factor": ONE},
        floor=0.02,
        wrong={"factor": Fraction(3, 5)},
    ),
    "lemma-3b": Property(
        "lemma-3b",
        finite_classes(),
        deviation_textbook,
        (ONE_MODEL,),
        False,
        {"factor": Fraction(3)},
        floor=-1,
        wrong={"factor": Fraction(9, 20)},
    ),
    "lemma-3c": Property(
        "lemma-3c",
        finite_classes(),
        deviation,
        (ONE_EVENT, ONE_MODEL),
        False,
        {"factor": Fraction(2)},
        floor=-1,
        wrong={"factor": Fraction(3, 5)},
    ),
    "lemma-3c difference": Property(
        "lemma-3c", finite_classes(), complexity_difference, (ONE_EVENT,), True, {"factor": H}
    ),
    "theorem-p weights": Property("theorem-p", st.integers(1, 200), peeling, (2000,), True, {"factor": ONE}),
    "theorem-p union": Property(
        "theorem-p",
        finite_classes(),
        peeled_deviation,
        (ONE_MODEL,),
        False,
        {"factor": Fraction(2)},
        floor=-1,
        wrong={"factor": Fraction(2, 5)},
    ),
}
