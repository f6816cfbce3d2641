"""A plain mirror of the PAC-Bayes part: moments, change of measure, Gibbs and drawn risks, binomial tails.

Small worlds are enumerated completely; an event's probability is an exact fraction. Nothing reads Coq.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from fractions import Fraction as Q

import pytest
from flint import arb

from .test_mirror import World, _precision, ball, certainly_above, certainly_at_most, kl

__all__ = ["_precision"]

DELTAS = (Q(1, 2), Q(1, 5), Q(1, 20))
HALF_AND_QUARTERS = (Q(1, 2), Q(1, 4), Q(1, 4))


def moment(m: int) -> Q:
    """xi(m), exactly."""
    return sum((math.comb(m, k) * Q(k, m) ** k * (1 - Q(k, m)) ** (m - k) for k in range(m + 1)), Q(0))


def moment_bound(m: int) -> arb:
    return 2 + (arb.pi() * m / 2).sqrt()


def beyond(share: Q, price: arb, risk: Q) -> bool:
    """Whether ``risk > kl_inverse(share, price)``; in doubt yes."""
    return share < risk and (risk == 1 or not certainly_above(price, kl(share, risk)))


def log(x: Q | arb) -> arb:
    return (x if isinstance(x, arb) else ball(x)).log()


@pytest.mark.parametrize("m", [1, 2, 3, 5, 8, 20, 60])
def test_moment(m: int) -> None:
    assert certainly_at_most(ball(moment(m)), moment_bound(m))


def test_the_moments_root_cannot_be_lowered_by_one_per_cent() -> None:
    m = 12_000
    term, total = arb(1), arb(1)
    logs = [arb(0)] + [ball(k).log() for k in range(1, m + 1)]
    for k in range(1, m + 1):
        term = term * (m - k + 1) / k
        power = k * (logs[k] - logs[m]) + (m - k) * ((logs[m - k] - logs[m]) if k < m else arb(0))
        total += term * power.exp()
    assert certainly_at_most(total, moment_bound(m))
    assert certainly_above(total, 2 + ball(Q(99, 100)) * (moment_bound(m) - 2))


def test_stirling_from_below() -> None:
    limit = (2 * arb.pi()).sqrt()
    values = [arb(math.factorial(n)) * arb(n).exp() / (arb(n) ** n * arb(n).sqrt()) for n in range(1, 41)]
    assert all(certainly_above(a, b) and certainly_above(b, limit) for a, b in itertools.pairwise(values))
    assert certainly_above(limit * ball(Q(101, 100)), values[-1])


@pytest.mark.parametrize("seed", range(6))
def test_exponential_moment_of_losses_between_zero_and_one(seed: int) -> None:
    """Coins are the worst losses: for them the moment is attained."""
    rng = random.Random(seed)
    world = World(rng, 3, 2, rng.randint(1, 4))
    for t, risk in enumerate(world.risks):
        if 0 < risk < 1:
            mean = sum(
                (
                    ball(chance) * (world.m * kl(risk - world.gap(t, sample), risk)).exp()
                    for sample, chance in world.samples()
                ),
                arb(0),
            )
            assert certainly_at_most(mean, ball(moment(world.m)))
    m, p = world.m, Q(1, 3)
    coins = sum(
        (
            ball(math.comb(m, k) * p**k * (1 - p) ** (m - k)) * (m * kl(Q(k, m), p)).exp()
            for k in range(m + 1)
        ),
        arb(0),
    )
    assert coins.overlaps(ball(moment(m)))


@pytest.mark.parametrize("seed", range(6))
def test_change_of_measure(seed: int) -> None:
    """For every posterior; with equality at the posterior proportional to exp(phi)."""
    rng = random.Random(seed)
    prior = [ball(Q(rng.randint(1, 9), 20)) for _ in range(3)]
    total = sum(prior, arb(0))
    prior = [p / total for p in prior]
    phi = [ball(Q(rng.randint(-20, 20), 10)) for _ in range(3)]
    partition = sum((p * f.exp() for p, f in zip(prior, phi, strict=True)), arb(0))
    best = [f.exp() / partition for f in phi]
    for rho in [best, *([r / p for r, p in zip(q, prior, strict=True)] for q in posteriors(3, 5))]:
        gain = sum((p * r * f for p, r, f in zip(prior, rho, phi, strict=True)), arb(0))
        entropy = sum((p * r * r.log() for p, r in zip(prior, rho, strict=True) if not r.contains(0)), arb(0))
        assert certainly_at_most(gain, entropy + partition.log())
    entropy = sum((p * r * r.log() for p, r in zip(prior, best, strict=True)), arb(0))
    assert (sum((p * r * f for p, r, f in zip(prior, best, phi, strict=True)), arb(0)) - entropy).overlaps(
        partition.log()
    )


def posteriors(models: int, steps: int) -> Iterator[list[arb]]:
    """Every distribution with denominators ``steps``."""
    for counts in itertools.product(range(steps + 1), repeat=models):
        if sum(counts) == steps:
            yield [ball(Q(c, steps)) for c in counts]


def gibbs_violations(world: World, constant: arb, delta: Q) -> Q:
    """Probability that some posterior breaks Theorem E's bound, for two priors with weights 1/2."""
    priors = ((Q(1, 2), Q(1, 4), Q(1, 4)), (Q(1, 10), Q(1, 10), Q(4, 5)))
    bad = Q(0)
    for sample, chance in world.samples():
        empirical = [world.risks[t] - world.gap(t, sample) for t in range(3)]
        if any(
            gibbs_broken(world, empirical, counts, prior, constant, delta)
            for prior in priors
            for counts in itertools.product(range(5), repeat=3)
            if sum(counts) == 4
        ):
            bad += chance
    return bad


def gibbs_broken(
    world: World, empirical: list[Q], counts: tuple[int, ...], prior: tuple[Q, ...], constant: arb, delta: Q
) -> bool:
    shares = [Q(c, 4) for c in counts]
    risk = sum((s * r for s, r in zip(shares, world.risks, strict=True)), Q(0))
    share = sum((s * e for s, e in zip(shares, empirical, strict=True)), Q(0))
    entropy = sum((ball(s) * log(s / p) for s, p in zip(shares, prior, strict=True) if s > 0), arb(0))
    return beyond(share, (entropy + log(Q(2)) + log(constant / ball(delta))) / world.m, risk)


@pytest.mark.parametrize("seed", range(8))
def test_gibbs_bound_for_all_posteriors_at_once(seed: int) -> None:
    rng = random.Random(seed)
    world = World(rng, 2, 3, rng.randint(1, 3))
    for delta in DELTAS:
        assert gibbs_violations(world, moment_bound(world.m), delta) <= delta


def test_gibbs_bound_needs_its_constant() -> None:
    """With a constant that is far too small the same enumeration finds violations: it can fail."""
    broken = 0
    for seed in range(8):
        rng = random.Random(seed)
        world = World(rng, 2, 3, rng.randint(1, 3))
        broken += any(gibbs_violations(world, ball(Q(1, 20)), delta) > delta for delta in DELTAS)
    assert broken > 0


@pytest.mark.parametrize("seed", range(8))
def test_drawn_model(seed: int) -> None:
    """The posterior prefers what errs least on the sample; probability over the sample and the draw."""
    rng = random.Random(seed)
    world = World(rng, 3, 3, rng.randint(1, 4))
    for delta in DELTAS:
        bad = Q(0)
        for sample, chance in world.samples():
            empirical = [world.risks[t] - world.gap(t, sample) for t in range(3)]
            raw = [
                p * (Q(9) if e == min(empirical) else Q(1))
                for p, e in zip(HALF_AND_QUARTERS, empirical, strict=True)
            ]
            for t in range(3):
                posterior = raw[t] / sum(raw, Q(0))
                price = log(posterior / HALF_AND_QUARTERS[t]) + log(moment_bound(world.m) / ball(delta))
                bad += (
                    chance * posterior
                    if beyond(empirical[t], price.max(arb(0)) / world.m, world.risks[t])
                    else Q(0)
                )
        assert bad <= delta


def test_a_prior_that_has_seen_the_units_breaks_the_bound() -> None:
    """Why E-split counts only the second part: a prior on the best model of the same sample pays nothing."""
    models, m = 64, 6
    price = log(moment_bound(m) / ball(Q(1, 2))) / m
    # Each model errs on a coin of its own with probability 1/2; the prior is all on a model without an error.
    some_perfect = 1 - (1 - Q(1, 2**m)) ** models
    assert beyond(Q(0), price, Q(1, 2))
    assert certainly_above(kl(Q(0), Q(1, 2)), price)
    assert some_perfect > Q(1, 2)


@pytest.mark.parametrize("means", [(Q(1, 2),) * 4, (Q(1, 10), Q(9, 10), Q(1, 2), Q(0)), (Q(1),) * 3])
def test_monte_carlo_with_unequal_means(means: tuple[Q, ...]) -> None:
    n, truth = len(means), sum(means, Q(0)) / len(means)
    for delta in DELTAS:
        bad = Q(0)
        for errors in itertools.product((0, 1), repeat=n):
            chance = math.prod((p if e else 1 - p for p, e in zip(means, errors, strict=True)), start=Q(1))
            bad += chance if beyond(Q(sum(errors), n), log(1 / delta) / n, truth) else Q(0)
        assert bad <= delta


PRECISION = 100


def tail_upward(n: int, k: int, u: Q) -> Q:
    """The distribution function as ``BinomialBound.v`` evaluates it: integers, rounded upwards."""
    one, a, d = 2**PRECISION, u.numerator, u.denominator
    ratio = one
    for j in range(k):
        ratio = one + (ratio * (j + 1) * (d - a) // ((n - j) * a) + 1)
    mass = math.comb(n, k) * u**k * (1 - u) ** (n - k)
    return mass * Q(ratio, one)


@pytest.mark.parametrize(("n", "k"), [(1, 0), (7, 3), (30, 11), (30, 29)])
def test_binomial_tail_by_horner(n: int, k: int) -> None:
    """From above, and by less than 2^-80 of its value; decreasing in the success probability."""
    previous = Q(1)
    for step in range(1, 20):
        u = Q(step, 20)
        exact = sum((math.comb(n, i) * u**i * (1 - u) ** (n - i) for i in range(k + 1)), Q(0))
        assert exact <= tail_upward(n, k, u) <= exact * (1 + Q(1, 2**80))
        assert exact <= previous
        previous = exact


def test_occam_in_binomial_form() -> None:
    """Three models with weights 1/2, 1/4, 1/4: exact probability that an error rate is above its bound."""
    n = 6
    for rates in itertools.product((Q(1, 10), Q(2, 5), Q(9, 10)), repeat=3):
        for delta in DELTAS:
            total = Q(0)
            for p, w in zip(rates, HALF_AND_QUARTERS, strict=True):
                mass = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
                total += sum((mass[k] for k in range(n + 1) if sum(mass[: k + 1], Q(0)) < delta * w), Q(0))
            assert total <= delta
