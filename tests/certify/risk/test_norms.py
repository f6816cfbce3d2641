"""Bounds by norms: what they measure on the sample contains the truth, and classical numbers follow their
formulas."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from certify.bounds.risk import classical, norm_bounds, readout_bounds
from certify.bounds.risk.fitting import LinearFit, SoftmaxFit
from certify.bounds.risk.heads import LinearHead, SoftmaxHead
from certify.bounds.risk.norm_bounds import scores_alone
from certify.bounds.risk.ramp import RATIO, START, share, weight
from certify.bounds.risk.samples import Sample
from certify.demos.words import Population
from certify.kernel.enclosure import Enclosure

DELTA = Fraction(1, 20)
mp = mpmath.mp.clone()
mp.dps = 40


def features(seed: int, n: int, d: int, classes: int) -> Sample:
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, classes, n)
    x = 0.3 * generator.standard_normal((n, d)) + np.eye(max(d, classes))[labels][:, :d]
    return Sample(x.astype(np.float32), labels, d)


@pytest.mark.parametrize("seed", range(3))
def test_the_largest_moment_is_contained(seed: int) -> None:
    sample = features(seed, 50, 3, 2)
    rows = [[*(mp.mpf(float(t)) for t in x), mp.mpf(1)] for x in sample.inputs]
    moments = mp.matrix(4, 4)
    for row in rows:
        for i in range(4):
            for j in range(4):
                moments[i, j] += row[i] * row[j]
    truth = max(mp.eigsy(moments, eigvals_only=True))
    found = readout_bounds.largest_moment(sample)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 1e-6 * found.upper


def some_tokens(seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    tokens = np.full((8, 5, 2), -1, dtype=np.int16)
    for i in range(8):
        for t in range(generator.integers(1, 6)):
            tokens[i, t] = generator.choice(6, size=2, replace=False)
    return tokens


def centred_square(rows: list[list[int]]) -> Fraction:
    dense = [[Fraction(int(c in row)) for c in range(6)] for row in rows]
    mean = [sum(column) / len(rows) for column in zip(*dense, strict=True)]
    return sum(((x - m) ** 2 for row in dense for x, m in zip(row, mean, strict=True)), Fraction(0))


@pytest.mark.parametrize("seed", range(3))
def test_the_sum_of_scores_is_contained(seed: int) -> None:
    tokens = some_tokens(seed)
    values = 3 * np.random.default_rng(seed).standard_normal((6, 1))
    total = Fraction(0)
    for unit, square in zip(tokens, norm_bounds._centred_squares(tokens, 6), strict=True):
        rows = [row for row in unit.tolist() if row[0] >= 0]
        exact = centred_square(rows)
        assert abs(Fraction(square) - exact) <= exact / 2**40 + Fraction(1, 2**60)
        read = [sum((Fraction(values[c, 0]) for c in row), Fraction(0)) for row in rows]
        total += ((max(read) - min(read)) / 2) ** 2 * exact
    found = norm_bounds._sum_of_scores(values, Sample(tokens, np.zeros(8, dtype=np.int64), 6))
    assert found.contains(total)
    assert found.upper - found.lower <= 1e-6 * found.upper + 1e-12


def test_one_output_has_one_norm_and_k_outputs_have_two() -> None:
    sample = features(0, 400, 5, 2)
    a, b = readout_bounds.readout_bounds(LinearFit(sample).plain(), sample, DELTA)  # type: ignore[arg-type]
    assert (a.theorem, b.theorem) == ("A1-scalar-peeled", "B1-peeled")
    assert a.value.lower <= b.value.upper
    assert b.value.lower <= a.value.upper
    sample = features(0, 400, 6, 4)
    a, b = readout_bounds.readout_bounds(LinearFit(sample, outputs=4).plain(), sample, DELTA)  # type: ignore[arg-type]
    assert (a.theorem, b.theorem) == ("A1-peeled", "B2-peeled")
    assert a.loss == b.loss, "one width, so that the minimum may be taken"
    assert b.inputs["series_variance"].upper <= b.inputs["series_frobenius_sq"].upper
    assert b.inputs["nuclear_after"].upper >= a.inputs["norm_after"].lower


def test_readout_bounds_hold_on_fresh_samples_and_forgetting_the_gap_does_not() -> None:
    """True ramp risks from a large second sample; the empirical risk of a head that overfits is lower."""
    fresh, bare = features(99, 100_000, 12, 2), 0
    for seed in range(10):
        sample = features(seed, 40, 12, 2)
        head = LinearFit(sample).plain()
        assert isinstance(head, LinearHead)
        for bound in readout_bounds.readout_bounds(head, sample, DELTA):
            width = float(bound.loss.removeprefix("ramp "))
            truth = head.margins(fresh).ramp_risk(width) - Fraction(1, 100)
            assert truth <= Fraction(bound.value.upper)
            bare += Fraction(bound.inputs["emp_risk"].upper) < truth
    assert bare >= 8


def test_scores_that_stay_cost_nothing_but_the_grid(words: Population) -> None:
    first, second = words.draw(500, 0), words.draw(500, 1)
    before = SoftmaxFit(first, 0.1).plain()
    onward = SoftmaxFit(second, 0.1).scores_alone(before)
    assert np.array_equal(onward.values, before.values)
    assert not np.array_equal(onward.scores, before.scores)
    stay = scores_alone(before, before.scores, second, DELTA)
    moved = scores_alone(onward, before.scores, second, DELTA)
    far = scores_alone(SoftmaxHead(before.scores + 1.0, before.values), before.scores, second, DELTA)
    assert stay.inputs["j"].upper == 0 <= moved.inputs["j"].upper < far.inputs["j"].upper
    assert stay.value.upper < far.value.upper
    status = {h["id"]: h["status"] for h in moved.hypotheses}
    assert status["values-frozen"] == "met"
    assert status["fixed-before-sample"] == "assumed"


def by_hand(sample: Sample, head: LinearHead, name: str) -> float:
    """The classical numbers again, in floats."""
    m, d = len(sample), sample.dimension + 1
    x = np.hstack([sample.inputs.astype(np.float64), np.ones((m, 1))])
    w = np.vstack([head.weight, head.bias])
    margins, found = head.margins(sample), []
    columns = float(np.linalg.norm(w, axis=0).sum())
    for i in range(-2, 6):
        g, mine = 2.0**i, float(DELTA * share(i))
        ramp = float(margins.ramp_risk(g))
        if name == classical.PAC_BAYES:
            level = math.log(2 * w.shape[1])
            reach = d + 2 * math.sqrt(d * level) + 2 * level
            s2 = g**2 / (16 * float((x**2).sum(axis=1).max()) * reach)
            total = float((w**2).sum()) / (2 * s2) + math.log(6 * m / mine)
            found.append(margins.at_most(g) / m + 4 * math.sqrt(total / (m - 1)))
            continue
        norm = columns if name == classical.SPECTRAL else float(np.linalg.norm(w))
        j = max(0, math.ceil(math.log(norm / float(START)) / math.log(float(RATIO))))
        budget, mine = float(START * RATIO**j), mine * float(weight(j))
        size = float(np.linalg.norm(x))
        if name == classical.SPECTRAL:
            shape = math.sqrt(math.log(2 * max(d, w.shape[1]) ** 2))
            gap = 8 / m**1.5 + 72 * size * shape * math.log(m) * budget / (g * m)
            found.append(ramp + gap + 3 * math.sqrt(math.log(2 / mine) / (2 * m)))
        else:
            gap = 2 * (math.sqrt(2 * math.log(2)) + 1) * budget * size / (m * g)
            found.append(ramp + gap + 2 * math.sqrt(math.log(1 / mine) / (2 * m)))
    return min(found)


@pytest.mark.parametrize("name", [classical.SPECTRAL, classical.PAC_BAYES, classical.DEPTH])
def test_classical_numbers_follow_their_formulas(name: str) -> None:
    sample = features(1, 300, 4, 2)
    head = LinearHead(np.array([[1.0], [-1.0], [0.0], [0.5]]), np.array([0.25]))
    row = next(r for r in classical.comparison(head, sample, DELTA) if r["name"] == name)
    pair = row["value"]
    hand = by_hand(sample, head, name)
    assert Enclosure.between(pair["lower"], pair["upper"]).contains(Fraction(hand)) or (
        abs(float(pair["upper"]) - hand) < 1e-9 * hand
    )
    assert "cited, not proved here" in row["why"]


def test_a_softmax_head_gets_reasons_instead_of_classical_numbers() -> None:
    head = SoftmaxHead(np.zeros(3), np.ones((3, 1)))
    sample = Sample(np.zeros((4, 1, 1), dtype=np.int16), np.array([0, 1, 0, 1]), 3)
    rows = classical.comparison(head, sample, DELTA)
    assert len(rows) == 5
    assert all(row["value"] is None and row["why"] for row in rows)
