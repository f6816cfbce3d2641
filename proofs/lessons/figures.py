"""The formulas and constants behind the live figures and the numeric questions, taken from the proof
objects."""

from __future__ import annotations

import random
from functools import lru_cache

import sympy

from proofs import library
from proofs.counterexamples.n3_gradient_descent import expected_error
from proofs.export import read_nested, to_prefix
from proofs.lemmas.l14_effective_ranks import RANKS
from proofs.lessons.catalogue import Entry, catalogue
from proofs.lessons.notation import sides, spell
from proofs.lessons.numbers import evaluate
from proofs.records import Constant
from proofs.symbols import SYMBOLS
from proofs.theorems import THEOREMS

TOKENS = 8
QUERIES, CONTENTS = 2, 4
SAMPLE_SIZE, NOISE, SEED = 3000, sympy.Rational(1, 20), 2025
UNSEEN = "(exp (mul m (log (sub 1 (div 1 d)))))"
"""The probability that a content does not occur in the sample, as Proposition N3 defines it."""
TEACHER = (8, 7, 6, 5, 4, 3, 2, 2, 1, 1)


@lru_cache(maxsize=1)
def _entries() -> dict[str, Entry]:
    return catalogue()


def factor(lemma: str, number: int = 1) -> Constant:
    """An explicit constant of a lemma's conclusion."""
    return _entries()[lemma].constant(str(number))


def right_side(name: str) -> str:
    """The right side of the conclusion of a derivation, as prefix text."""
    return _entries()[name].prefixes["right"]


def bound_of(theorem: str, **values: object) -> sympy.Expr:
    """The bound of a theorem at given inputs."""
    return evaluate(THEOREMS[theorem].prefix, values)


def confidence_constant(m: int, delta: sympy.Expr) -> sympy.Expr:
    """The confidence part of Theorem C1(i): the price of one event of Lemma 3(c)."""
    return evaluate(to_prefix(dict(THEOREMS["C1(i)"].parts)["confidence"]), {"m": m, "delta": delta})


def khintchine_constant() -> sympy.Expr:
    """The constant of Khintchine's inequality."""
    return factor("Lemma 6 (vector)").value


def read_out_times_contraction() -> sympy.Expr:
    """The product of the two constants that meet in Theorem C1(i)."""
    value = {c.name: c.value for c in THEOREMS["C1(i)"].constants}
    return value["softmax read-out"] * value["vector contraction"]


def left_side_factor(name: str, step: str, **values: object) -> sympy.Expr:
    """The first factor on the left side of a step, at given values."""
    left = read_nested(sides(_entries()[name].step(step).prefix)[0])
    return evaluate(spell(left[1]), values)


def square_gap(**values: object) -> sympy.Expr:
    """By how much the right side of the first inequality of Lemma 12(c) exceeds its left side."""
    entry = _entries()["Lemma 12(c)"]
    left, right = sides(next(step for step in entry.steps if step.rule == "sign").prefix)
    return evaluate(right, values) - evaluate(left, values)


def confidence_levels() -> sympy.Expr:
    """How many times delta the deviation bound of Lemma 3(c) may fail with."""
    return evaluate(_entries()["Lemma 3(c)"].prefixes["delta"], {"delta": 1})


def gap_over_complexity_shape() -> sympy.Expr:
    """The constant in front of L omega sqrt(sum)/m in Theorem C1(i)."""
    theorem = THEOREMS["C1(i)"]
    return bound_part(theorem.name, "complexity", **{symbol.name: 1 for symbol in theorem.inputs})


def bound_part(theorem: str, part: str, **values: object) -> sympy.Expr:
    """A named part of the bound of a theorem at given inputs."""
    return evaluate(_entries()[theorem].prefixes[part], values)


def nats_of(bits: int) -> sympy.Expr:
    """The price of a code of that many bits in natural units, by Theorem D."""
    return bits * _entries()["D"].constant("nats per bit").value


def share_of_cell(index: int) -> sympy.Expr:
    """The share of the failure probability that budget number ``index`` gets in Theorem P."""
    return _entries()["P"].constant("grid weight").value.subs(SYMBOLS["j"].expression, index)


def rank_of_the_class() -> sympy.Expr:
    """The effective rank of the attention matrices in Proposition N2, by its hypothesis on R."""
    claims = [sides(s.prefix) for s in _entries()["N2"].steps if s.rule == "hypothesis"]
    return evaluate(next(right for left, right in claims if left == "R"), {})


def stretch(defect: str) -> sympy.Expr:
    """By what directions of that defect can stretch a vector, at most: step s2 of Lemma 19."""
    return evaluate(sides(_entries()["Lemma 19 (upper)"].step("s2").prefix)[1], {"f": defect})


def enclosure_end(end: str, **values: object) -> sympy.Expr:
    """The upper or lower end of Lemma 19 for a reported value s and the defects f, h, e."""
    side = "right" if end == "upper" else "left"
    return evaluate(_entries()[f"Lemma 19 ({end})"].prefixes[side].replace("(s i)", "s"), values)


def khintchine_figure() -> dict[str, object]:
    """Data of the Khintchine figure."""
    return {"constant": to_prefix(khintchine_constant())}


def contraction_figure() -> dict[str, object]:
    """Data of the vector-contraction figure: the constant of Lemma 7."""
    return {"constant": to_prefix(factor("Lemma 7").value)}


def softmax_figure() -> dict[str, object]:
    """Data of the softmax figure: the factor of the oscillation in Lemma 12(a)."""
    return {"constant": to_prefix(factor("Lemma 12(a) (osc)").value)}


def shattering_complexity(scale: int) -> sympy.Expr:
    """The Rademacher complexity of the class of Proposition N1 at a scale of the weights."""
    return evaluate(right_side("N1"), {"beta": scale})


def shattering_figure() -> dict[str, object]:
    """Data of the shattering figure."""
    return {"queries": QUERIES, "contents": CONTENTS, "complexity": right_side("N1"), "scale": "beta"}


def expected_gap(contents: int, examples: int) -> sympy.Expr:
    """The expected gap after gradient descent in Proposition N3, by enumeration of all samples and labels."""
    gap = expected_error(contents, examples)
    return sympy.Rational(gap.numerator, gap.denominator)


def descent_figure() -> dict[str, object]:
    """Data of the gradient-descent figure: step s2 of Proposition N3, with the meaning of ``unseen`` put in.

    The tests hold it against ``expected_error``.
    """
    claim = next(step for step in library_step("proposition-n3") if step["id"] == "s2")["claim"]
    return {"gap": sides(claim)[1].replace("unseen", UNSEEN), "names": {"contents": "d", "examples": "m"}}


def library_step(derivation: str) -> list[dict[str, str]]:
    """The stored steps of a derivation."""
    record = next(record for record in library.load() if record["name"] == derivation)
    steps: list[dict[str, str]] = record["steps"]
    return steps


RANK_LABELS = {
    "stable": "stable rank",
    "nuclear": "nuclear ÷ spectral",
    "participation": "participation ratio",
    "nuclear-frobenius": "nuclear² ÷ Frobenius²",
    "gram-entropy": "entropy rank of AᵀA",
    "entropy": "entropy rank",
}


def ranks_figure() -> dict[str, object]:
    """Data of the effective-ranks figure: each rank as order and power of its Renyi entropy."""
    ranks = [
        {
            "kind": rank.kind,
            "label": RANK_LABELS[rank.kind],
            "order": rank.order if rank.order == "inf" else int(rank.order),
            "power": rank.power,
        }
        for rank in RANKS
    ]
    return {"tokens": TOKENS, "ranks": ranks}


def bound_figure() -> dict[str, object]:
    """Data of the bound figure: the parts of Theorem C1(i), and where each of its constants acts."""
    theorem = THEOREMS["C1(i)"]
    parts = dict(theorem.parts)
    constants = [
        {
            "name": c.name,
            "origin": c.origin,
            "prefix": to_prefix(c.value),
            "acts": "luck" if c.name.startswith("confidence") else "spread",
        }
        for c in theorem.constants
    ]
    return {
        "spread": to_prefix(parts["complexity"]),
        "luck": to_prefix(parts["confidence"]),
        "constants": constants,
        "inputs": [
            {
                "name": "omega",
                "label": "Frobenius norm of the trained matrix",
                "low": -1,
                "high": 3,
                "start": 1,
            },
            {"name": "L", "label": "Lipschitz constant of the loss", "low": -1, "high": 2, "start": 0},
            {
                "name": "per_example",
                "label": "measured sum for each example",
                "low": -1,
                "high": 4,
                "start": 1,
            },
        ],
        "sums": [{"name": "sum_sq_readout", "prefix": "(mul m per_example)"}],
    }


def quantise_figure() -> dict[str, object]:
    """Data of the quantise-and-certify figure: a noisy linear rule on ten signs, a sample of it, and
    weights fitted to it.

    The fitted weights are the averages of label times sign over the sample, which is what one step of
    gradient descent on the linear loss gives.
    """
    chance = random.Random(SEED)
    signs = len(TEACHER)
    sample = []
    for _ in range(SAMPLE_SIZE):
        code = chance.randrange(2**signs)
        label = _rule(TEACHER, code)
        if chance.randrange(NOISE.q) < NOISE.p:
            label = -label
        sample.append(2 * code + (label > 0))
    weights = [
        sum((1 if s & 1 else -1) * _sign(s >> 1, i) for s in sample) / SAMPLE_SIZE for i in range(signs)
    ]
    return {
        "weights": weights,
        "teacher": TEACHER,
        "sample": sample,
        "noise": float(NOISE),
        "delta": 0.05,
        "bound": THEOREMS["D"].prefix,
    }


def _sign(code: int, position: int) -> int:
    return 1 if (code >> position) & 1 else -1


def _rule(weights: tuple[int, ...], code: int) -> int:
    return 1 if sum(w * _sign(code, i) for i, w in enumerate(weights)) >= 0 else -1
