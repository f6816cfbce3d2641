"""Fresh samples again and again: no bound lies below the exact risk more often than its delta allows."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import comb

import pytest

from certify.bounds.risk import pac_bayes
from certify.bounds.risk.fitting import SoftmaxFit, compress, learned_prior
from certify.bounds.risk.heads import Head, Margins, SoftmaxHead
from certify.bounds.risk.occam import occam, occam_ramp
from certify.bounds.risk.pac_bayes import Prior
from certify.bounds.risk.samples import Sample
from certify.bounds.risk.test_set import held_out, held_out_ramp
from certify.demos.words import Population

M = 5000
DELTA = Fraction(1, 20)
WIDTH = 1.0


def silent(_: str) -> None:
    return None


def lower_risk(margins: Margins) -> Fraction:
    """A lower bound on the exact 0-1 risk over the population."""
    return Fraction(margins.errors() - margins.undecided(), len(margins.middle))


def lower_ramp(margins: Margins) -> Fraction:
    return margins.ramp_risk(WIDTH) - Fraction(1, 10**6)


def head_of(drawn: tuple[object, ...]) -> SoftmaxHead:
    return SoftmaxHead(drawn[0], drawn[1][:, None])  # type: ignore[index, arg-type]


def repetition(words: Population, seed: int) -> Iterator[tuple[str, float, Fraction, Fraction]]:
    """(name, bound, lower end of the exact risk, empirical risk) for each bound on one fresh sample."""
    sample = words.draw(M, seed)
    fit = SoftmaxFit(sample, 0.15, seed)
    trained = fit.plain()
    small = compress(fit, trained, (2,), silent)
    population = small.head.margins(words.sample)
    empirical = Fraction(small.head.margins(sample).errors(), M)
    yield "D", occam(small.word, fit.family, sample, DELTA).value.upper, lower_risk(population), empirical
    ramp = small.head.margins(sample).ramp_risk(WIDTH)
    yield (
        "D ramp",
        occam_ramp(small.word, fit.family, sample, DELTA, WIDTH).value.upper,
        lower_ramp(population),
        ramp,
    )

    q = fit.gaussian(trained, None)
    drawn = q.draw(pac_bayes.seed_of(sample, q, "draw"))
    single = pac_bayes.single(head_of(drawn), drawn, q, Prior(pac_bayes.best_exponents(q)), sample, DELTA)
    yield "E-single", single.value.upper, lower_risk(head_of(drawn).margins(words.sample)), empirical

    first, rest = sample.part(slice(0, M // 2)), sample.part(slice(M // 2, None))
    prior = learned_prior(SoftmaxFit(first, 0.15, seed).plain())
    drawn = prior.draw(pac_bayes.seed_of(rest, prior, "draw"))
    split = pac_bayes.single(head_of(drawn), drawn, prior, Prior(learned=prior), rest, DELTA)
    yield "E-split", split.value.upper, lower_risk(head_of(drawn).margins(words.sample)), empirical
    yield from held_out_cases(trained, words, words.draw(500, 10**6 + seed))


def held_out_cases(
    head: Head, words: Population, test: Sample
) -> Iterator[tuple[str, float, Fraction, Fraction]]:
    population = head.margins(words.sample)
    found = head.margins(test)
    exact = Fraction(found.errors(), len(test))
    yield "test-set", held_out(head, "trained", test, DELTA).value.upper, lower_risk(population), exact
    ramp = held_out_ramp(head, "trained", test, DELTA, WIDTH).value.upper
    yield "test-set ramp", ramp, lower_ramp(population), found.ramp_risk(WIDTH)


def chance(violations: int, n: int) -> Fraction:
    """P(Bin(n, DELTA) >= violations): how surprising that many violations are if each has probability <=
    DELTA."""
    return sum(
        (comb(n, k) * DELTA**k * (1 - DELTA) ** (n - k) for k in range(violations, n + 1)), Fraction(0)
    )


def covered(violations: int, n: int) -> bool:
    return chance(violations, n) > Fraction(1, 1000)


def run_coverage(words: Population, n: int) -> dict[str, tuple[int, int]]:
    """Per bound: (violations of the bound, violations of the bare empirical risk)."""
    counts: dict[str, tuple[int, int]] = {}
    for seed in range(n):
        for name, bound, truth, empirical in repetition(words, 100 + seed):
            bad, bare = counts.get(name, (0, 0))
            counts[name] = bad + (Fraction(bound) < truth), bare + (empirical < truth)
    return counts


def check(counts: dict[str, tuple[int, int]], n: int) -> None:
    assert set(counts) == {"D", "D ramp", "E-single", "E-split", "test-set", "test-set ramp"}
    for name, (bad, _) in counts.items():
        assert covered(bad, n), f"{name}: {bad} of {n} bounds lie below the exact risk"
    assert not covered(counts["D"][1], n), (
        "the bare empirical risk passes for a bound: the check has no power"
    )


def test_coverage(words: Population) -> None:
    check(run_coverage(words, 20), 20)


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_coverage_over_200_samples(words: Population) -> None:
    counts = run_coverage(words, 200)
    print(counts)
    check(counts, 200)


def test_the_coverage_rule_can_fail() -> None:
    assert covered(1, 20)
    assert covered(14, 200)
    assert not covered(6, 20)
    assert not covered(25, 200)
