"""Theorem E's ingredients against a second evaluation, and the Monte-Carlo step against exact coins."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certify.bounds.risk import noise, pac_bayes
from certify.bounds.risk.families import Family
from certify.bounds.risk.noise import Gaussian, Prior
from certify.bounds.risk.samples import Sample
from certify.codec.matrices import step
from certify.errors import MatrixError
from certify.kernel.bound import evaluate
from certify.kernel.enclosure import Enclosure

mp = mpmath.mp.clone()
mp.dps = 50


def some_gaussian(seed: int, size: int = 5) -> Gaussian:
    generator = np.random.default_rng(seed)
    means = (generator.standard_normal(size), 5 * generator.standard_normal(size))
    return Gaussian(means, tuple(np.exp(generator.standard_normal(size)) for _ in means))


def second_entropy(q: Gaussian, centre: list[np.ndarray], variances: list[list[object]]) -> object:
    total = mp.mpf(0)
    for m, s, m0, v in zip(q.means, q.deviations, centre, variances, strict=True):
        for a, b, c, d in zip(m, s, m0, v, strict=True):
            ratio = mp.mpf(float(b)) ** 2 / d
            total += (ratio - 1 - mp.log(ratio) + (mp.mpf(float(a)) - mp.mpf(float(c))) ** 2 / d) / 2
    return total


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(-20, 20), st.integers(-20, 20))
def test_relative_entropy_on_the_grid_is_contained(seed: int, first: int, second: int) -> None:
    q, prior = some_gaussian(seed), Prior((first, second))
    truth = second_entropy(q, [np.zeros(5)] * 2, [[mp.mpf(step(e))] * 5 for e in (first, second)])
    found = noise.relative_entropy(q, prior)
    assert found.lower <= truth <= found.upper  # type: ignore[operator]


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_relative_entropy_to_a_learned_prior_is_contained(seed: int) -> None:
    q, p = some_gaussian(seed), some_gaussian(seed + 1)
    truth = second_entropy(q, list(p.means), [[mp.mpf(float(s)) ** 2 for s in v] for v in p.deviations])
    found = noise.relative_entropy(q, Prior(learned=p))
    assert found.lower <= truth <= found.upper  # type: ignore[operator]


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_log_ratio_is_contained(seed: int) -> None:
    q, p = some_gaussian(seed), some_gaussian(seed + 1)
    h = q.draw(seed)
    truth = mp.mpf(0)
    for x, m, s, m0, s0 in zip(h, q.means, q.deviations, p.means, p.deviations, strict=True):
        for a, b, c, d, e in zip(x, m, s, m0, s0, strict=True):
            own = mp.log(mp.npdf(mp.mpf(float(a)), mp.mpf(float(b)), mp.mpf(float(c))))
            truth += own - mp.log(mp.npdf(mp.mpf(float(a)), mp.mpf(float(d)), mp.mpf(float(e))))
    found = noise.log_ratio(q, Prior(learned=p), h)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= 1e-12 * (1 + abs(found.upper))


def test_the_price_of_the_grid_is_a_law() -> None:
    total = sum((Fraction(math.exp(-Prior((e,)).cost().upper)) for e in range(-400, 400)), Fraction(0))
    assert total < 1
    assert Prior((0,)).cost().contains(Enclosure.exact(2).log())


@pytest.mark.parametrize("deviation", [0.0, -1.0, float("nan"), float("inf")])
def test_a_gaussian_needs_deviations(deviation: float) -> None:
    with pytest.raises(MatrixError):
        Gaussian((np.zeros(1),), (np.array([deviation]),))


def test_linear_noise_risk_is_contained_in_the_enclosure() -> None:
    generator = np.random.default_rng(3)
    features = generator.standard_normal((40, 6)).astype(np.float32)
    sample = Sample(features, generator.integers(0, 2, 40), 6)
    q = Gaussian((generator.standard_normal(7),), (np.exp(generator.standard_normal(7)),))
    total = mp.mpf(0)
    for x, y in zip(features, sample.labels, strict=True):
        entries = [*(mp.mpf(float(t)) for t in x), mp.mpf(1)]
        centre = mp.fdot([mp.mpf(float(m)) for m in q.means[0]], entries)
        spread = mp.sqrt(
            mp.fsum((mp.mpf(float(s)) * t) ** 2 for s, t in zip(q.deviations[0], entries, strict=True))
        )
        total += mp.erfc((centre if y == 1 else -centre) / spread / mp.sqrt(2)) / 2
    found = pac_bayes.linear_gibbs_risk(q, sample)
    assert found.lower <= total / 40 <= found.upper
    assert found.upper - found.lower < 1e-10


def some_classes(seed: int, n: int = 40) -> tuple[Sample, Family, Gaussian]:
    generator = np.random.default_rng(seed)
    features = generator.standard_normal((n, 5)).astype(np.float32)
    family = Family("linear-head", 5, 3)
    q = Gaussian((generator.standard_normal(18),), (np.exp(generator.standard_normal(18) - 1),))
    mean = q.means[0].reshape(6, 3)
    return Sample(features, (features @ mean[:-1] + mean[-1]).argmax(axis=1), 5), family, q


@pytest.mark.parametrize("seed", range(3))
def test_no_error_of_a_noisy_linear_head_is_left_out(seed: int) -> None:
    """The same normal numbers with 50 digits: logit k of unit x is m_k x + |s_k x| z_k."""
    sample, family, q = some_classes(seed)
    means, deviations = (x[0].reshape(6, 3) for x in (q.means, q.deviations))
    generator, errors = np.random.Generator(np.random.Philox(key=seed)), 0
    for _ in range(2):
        for row, label in zip(sample.inputs, sample.labels, strict=True):
            entries = [*(mp.mpf(float(t)) for t in row), mp.mpf(1)]
            logits = []
            for k, z in enumerate(generator.standard_normal(3)):
                centre = mp.fdot([mp.mpf(float(m)) for m in means[:, k]], entries)
                square = mp.fsum((float(s) * t) ** 2 for s, t in zip(deviations[:, k], entries, strict=True))
                logits.append(centre + mp.sqrt(square) * float(z))
            errors += int(logits[label] <= max(x for k, x in enumerate(logits) if k != label))
    found = pac_bayes.draw_errors(q, family, sample, 2, seed)
    assert errors <= found <= errors + 1


def test_noise_on_logits_is_noise_on_weights() -> None:
    """Whole heads drawn one by one err as often as logits drawn one by one, within 1e-9 limits."""
    sample, family, q = some_classes(7, 50)
    whole, n = 0, 200 * len(sample)
    for seed in range(200):  # each head is used once for each unit: its errors are dependent, not their mean
        for i in range(len(sample)):
            head = family.drawn(q.draw(seed * 1000 + i))
            whole += head.margins(sample.part(slice(i, i + 1))).errors()
    shortcut = pac_bayes.draw_errors(q, family, sample, 200, 5)
    slack = math.sqrt(math.log(4e9) / (2 * n))  # Hoeffding, two sides, two counts
    assert abs(whole - shortcut) / n <= 2 * slack
    wrong = Gaussian(q.means, (q.deviations[0] * 3,))
    assert abs(pac_bayes.draw_errors(wrong, family, sample, 200, 5) - whole) / n > 2 * slack


def tails(probabilities: list[float]) -> np.ndarray:
    """Exact law of a sum of independent coins."""
    law = np.array([1.0])
    for p in probabilities:
        law = np.convolve(law, [1 - p, p])
    return law


@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(0.01, 0.99), min_size=5, max_size=40), st.sampled_from([0.01, 0.1]))
def test_the_monte_carlo_step_holds_for_coins_that_differ(probabilities: list[float], delta: float) -> None:
    """One draw for each unit: the mean of independent coins of different risks obeys the kl bound."""
    n, mean = len(probabilities), sum(probabilities) / len(probabilities)
    prefix, failing = "(kl_inverse q (div (log (div 1 delta)) n))", 0.0
    for k, weight in enumerate(tails(probabilities)):
        values = {
            "q": Enclosure.exact(Fraction(k, n)),
            "delta": Enclosure.exact(delta),
            "n": Enclosure.exact(n),
        }
        if evaluate(prefix, values).upper < mean:
            failing += float(weight)
    assert failing <= delta


def test_the_monte_carlo_check_can_fail() -> None:
    law = tails([0.3] * 30)
    assert sum(float(w) for k, w in enumerate(law) if k / 30 < 0.3) > 0.1  # the bare mean is no bound


def test_draws_depend_on_sample_and_posterior_only() -> None:
    sample = Sample(np.zeros((2, 3), dtype=np.float32), np.array([0, 1]), 3)
    q = some_gaussian(0)
    assert noise.seed_of(sample, q, "draw") == noise.seed_of(sample, q, "draw")
    assert noise.seed_of(sample, q, "draw") != noise.seed_of(sample.part(np.array([1, 0])), q, "draw")
    assert noise.seed_of(sample, q, "draw") != noise.seed_of(sample, some_gaussian(1), "draw")
