"""Fresh samples again and again: no bound lies below the true risk more often than its delta allows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import comb

import pytest

from certify.bounds.risk.entries import Bound
from certify.bounds.risk.fitting import surrogate
from certify.bounds.risk.heads import Margins
from certify.bounds.risk.noise import Gaussian
from certify.bounds.risk.norm_bounds import TRAINED
from certify.bounds.risk.pac_bayes import GIBBS, draw_errors
from certify.bounds.risk.run import Heads, Noisy, Plan, bounds_of, fit_heads
from certify.bounds.risk.test_set import held_out_ramp
from certify.demos.words import Population

DELTA = Fraction(1, 20)
SURE = 1e-9  # the chance that a lower limit on the risk of a noisy head is wrong
PLAN = Plan(delta=DELTA, effort=0.15, levels=(2,), passes=1)
NAMES = {
    ("D-binomial", "0-1"),
    ("D", "ramp"),
    ("E", "0-1"),
    ("E-single", "0-1"),
    ("E-split (E)", "0-1"),
    ("E-split (E-single)", "0-1"),
    ("C1-joint-peeled", "ramp"),
    ("C1-vector-peeled", "ramp"),
    ("C2", "ramp"),
    ("C3", "0-1"),
    ("test-set", "0-1"),
    ("test-set-kl", "ramp"),
}
Case = tuple[tuple[str, str], float, Fraction, Fraction]


def lower_risk(margins: Margins, loss: str) -> Fraction:
    """A lower bound on the risk over the units of ``margins``: exact but for undecided ones."""
    if loss == "0-1":
        return Fraction(margins.errors() - margins.undecided(), len(margins.middle))
    return margins.ramp_risk(float(loss.removeprefix("ramp "))) - Fraction(1, 10**6)


def lower_limit(errors: int, draws: int) -> Fraction:
    """A lower confidence limit at SURE on the mean of independent coins (Chernoff, Hoeffding)."""
    right = surrogate(draws - errors, draws, math.log(1 / SURE), delta=1.0)  # for the share that is right
    return Fraction(1 - right) - Fraction(1, 10**6)


def noisy_truth(noisy: Noisy, heads: Heads, words: Population, draws: int) -> Fraction:
    """What the risk of the noisy head is at least: fresh heads on fresh words, but for probability SURE.

    An undecided draw counts as an error; margins within 2^-40 of 0 are too rare to matter beside 1e-6.
    """
    return lower_limit(draw_errors(noisy.posterior, heads.family, words.draw(draws, 5), 1, seed=6), draws)


def empirical(bound: Bound) -> Fraction:
    """The bare empirical risk that the bound starts from."""
    for name in ("emp_risk", "emp_risk_draws", "emp_margin_risk"):
        if name in bound.inputs:
            return Fraction(bound.inputs[name].lower)
    return Fraction(bound.details["errors"], bound.m)


def repetition(words: Population, m: int, seed: int, draws: int) -> Iterator[Case]:
    """(theorem and loss, bound, lower end of the true risk, empirical risk) on one fresh sample."""
    sample, test = words.draw(m, seed), words.draw(500, 10**6 + seed)
    plan = replace(PLAN, seed=seed)
    heads = fit_heads(sample, plan)
    fixed = {name: head.margins(words.sample) for name, head in heads.fixed().items()}
    noise = {n.subject(GIBBS): noisy_truth(n, heads, words, draws) for n in heads.noisy}
    bounds = bounds_of(heads, sample, test, plan)
    bounds.append(held_out_ramp(heads.trained, TRAINED, test, DELTA, 1.0))
    for bound in bounds:
        if bound.violated:
            continue
        name = bound.note if bound.theorem.startswith("E") else bound.theorem
        truth = noise.get(bound.subject)
        if truth is None:
            truth = lower_risk(fixed[bound.subject], bound.loss)
        yield (name, bound.loss.split()[0]), bound.value.upper, truth, empirical(bound)


def chance(violations: int, n: int) -> Fraction:
    """P(Bin(n, DELTA) >= violations): how surprising that many violations are if each has probability <=
    DELTA."""
    return sum(
        (comb(n, k) * DELTA**k * (1 - DELTA) ** (n - k) for k in range(violations, n + 1)), Fraction(0)
    )


def covered(violations: int, n: int) -> bool:
    return chance(violations, n) > Fraction(1, 1000)


def run_coverage(words: Population, n: int, m: int, draws: int) -> dict[tuple[str, str], tuple[int, int]]:
    """Per theorem and loss: (repetitions that violate a bound, those that violate the bare empirical
    risk)."""
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for seed in range(n):
        cases = list(repetition(words, m, 100 + seed, draws))
        for key in {key for key, *_ in cases}:
            _, bound, truth, found = next(case for case in cases if case[0] == key)  # one head for each
            bad, bare = counts.get(key, (0, 0))
            counts[key] = bad + (Fraction(bound) < truth), bare + (found < truth)
    return counts


def check(counts: dict[tuple[str, str], tuple[int, int]], n: int, power: set[tuple[str, str]]) -> None:
    assert set(counts) == NAMES
    for name, (bad, _) in counts.items():
        assert covered(bad, n), f"{name}: {bad} of {n} bounds lie below the true risk"
    for name in power:
        assert not covered(counts[name][1], n), (
            f"{name}: the bare empirical risk passes for a bound: the check has no power"
        )


def test_coverage(words: Population) -> None:
    quarter = Population(words.words[::4], words.sample.part(slice(None, None, 4)))
    check(run_coverage(quarter, 20, 1000, 10_000), 20, {("D-binomial", "0-1"), ("E-single", "0-1")})


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_coverage_over_200_samples(words: Population) -> None:
    counts = run_coverage(words, 200, 5000, 200_000)
    print(counts)
    check(counts, 200, {("D-binomial", "0-1"), ("E-single", "0-1"), ("E", "0-1")})


def test_the_lower_limit_sees_a_noisy_head_that_was_fitted_too_closely(words: Population) -> None:
    """So a Gibbs bound that forgot its complexity would be found out: here is the power on noisy heads."""
    sample = words.draw(200, 3)
    heads = fit_heads(sample, replace(PLAN, effort=0.5))
    noisy = heads.noisy[0]
    sharp = replace(
        noisy, posterior=Gaussian(noisy.posterior.means, tuple(s / 20 for s in noisy.posterior.deviations))
    )
    bare = draw_errors(sharp.posterior, heads.family, sample, 20, seed=1) / (20 * len(sample))
    assert noisy_truth(sharp, heads, words, 20_000) > bare


def test_the_coverage_rule_can_fail() -> None:
    assert covered(1, 20)
    assert covered(14, 200)
    assert not covered(6, 20)
    assert not covered(25, 200)


def test_the_lower_limit_is_one() -> None:
    assert lower_limit(100, 1000) < Fraction(1, 10)
    assert lower_limit(0, 1000) <= 0
    fair = sum(comb(60, k) for k in range(61) if lower_limit(k, 60) > Fraction(1, 2))
    assert Fraction(fair, 2**60) <= Fraction(SURE)
    assert lower_limit(60, 60) > Fraction(1, 2)
