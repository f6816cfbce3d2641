"""A plain mirror of the Coq definitions: small instances of every headline statement are enumerated.

Nothing here reads Coq. If a definition in Coq said nothing (an average that is not one, a gap that is
always zero), the numbers here would not be the ones that the statements speak of; and a constant that is
too small is refuted here by an explicit instance. Rational arithmetic is exact; where roots, logarithms or
exponentials enter, both sides are balls and the comparison must be certain.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from fractions import Fraction as Q

import pytest
from flint import arb, ctx, fmpq

Vector = Sequence[Q]
SIGNS = (1, -1)


@pytest.fixture(autouse=True)
def _precision() -> object:
    before = ctx.prec
    ctx.prec = 160
    yield
    ctx.prec = before


def ball(x: Q | int) -> arb:
    """An exact rational as a ball."""
    exact = Q(x)
    return arb(fmpq(exact.numerator, exact.denominator))


def root(x: Q | int) -> arb:
    return ball(x).sqrt()


def certainly_at_most(left: arb | Q, right: arb | Q) -> bool:
    """left <= right, certain; equality is allowed up to the ball's own radius of 2^-100."""
    a = left if isinstance(left, arb) else ball(left)
    b = right if isinstance(right, arb) else ball(right)
    return bool(a <= b + arb(2) ** -100)


def certainly_above(left: arb | Q, right: arb | Q) -> bool:
    a = left if isinstance(left, arb) else ball(left)
    b = right if isinstance(right, arb) else ball(right)
    return bool(a > b)


def mean_over_signs(n: int, f: Callable[[tuple[int, ...]], Q]) -> Q:
    return sum((f(e) for e in itertools.product(SIGNS, repeat=n)), Q(0)) / 2**n


def dot(a: Vector, b: Sequence[Q | int]) -> Q:
    return sum((x * y for x, y in zip(a, b, strict=True)), Q(0))


def rational(rng: random.Random, low: int = -6, high: int = 6, steps: int = 3) -> Q:
    return Q(rng.randint(low * steps, high * steps), steps)


class World:
    """A finite distribution, a finite class and its losses in [0, M]: what the statements speak of."""

    def __init__(self, rng: random.Random, points: int, members: int, m: int, top: Q = Q(1)) -> None:
        weights = [rng.randint(1, 5) for _ in range(points)]
        self.weights = [Q(w, sum(weights)) for w in weights]
        self.losses = [[top * Q(rng.randint(0, 4), 4) for _ in range(points)] for _ in range(members)]
        self.m, self.top = m, top
        self.risks = [dot(self.weights, loss) for loss in self.losses]

    def samples(self) -> list[tuple[tuple[int, ...], Q]]:
        found = []
        for sample in itertools.product(range(len(self.weights)), repeat=self.m):
            chance = Q(1)
            for z in sample:
                chance *= self.weights[z]
            found.append((sample, chance))
        return found

    def gap(self, t: int, sample: tuple[int, ...]) -> Q:
        return self.risks[t] - sum((self.losses[t][z] for z in sample), Q(0)) / self.m

    def rademacher(self, sample: tuple[int, ...]) -> Q:
        return mean_over_signs(
            self.m,
            lambda e: max(
                sum((e[i] * loss[z] for i, z in enumerate(sample)), Q(0)) / self.m for loss in self.losses
            ),
        )

    def largest_gap(self, sample: tuple[int, ...]) -> Q:
        return max(self.gap(t, sample) for t in range(len(self.losses)))


WORLDS = [(2, 2, 1), (2, 3, 2), (3, 2, 2), (2, 2, 3), (2, 3, 4)]


@pytest.mark.parametrize("seed", range(40))
def test_khintchine(seed: int) -> None:
    rng = random.Random(seed)
    v = [rational(rng) for _ in range(rng.randint(1, 7))]
    mean = mean_over_signs(len(v), lambda e: abs(dot(v, e)))
    assert dot(v, v) <= 2 * mean**2


def test_khintchine_constant_cannot_be_lowered() -> None:
    v = [Q(1), Q(1)]
    mean = mean_over_signs(2, lambda e: abs(dot(v, e)))
    assert dot(v, v) == 2 * mean**2
    assert dot(v, v) > Q(198, 100) * mean**2


@pytest.mark.parametrize("seed", range(25))
def test_maurer_contraction(seed: int) -> None:
    """Losses h_i(y) = max norm distance to a point: 1-Lipschitz in the Euclidean norm and rational."""
    rng = random.Random(seed)
    n, k, members = rng.randint(1, 3), rng.randint(1, 3), rng.randint(2, 3)
    outputs = [[[rational(rng, -2, 2) for _ in range(k)] for _ in range(n)] for _ in range(members)]
    centres = [[rational(rng, -2, 2) for _ in range(k)] for _ in range(n)]
    losses = [
        [max(abs(a - b) for a, b in zip(y, c, strict=True)) for y, c in zip(rows, centres, strict=True)]
        for rows in outputs
    ]
    left = mean_over_signs(n, lambda e: max(dot(loss, e) for loss in losses))
    right = mean_over_signs(
        n * k,
        lambda e: max(
            sum((dot(row, e[i * k : (i + 1) * k]) for i, row in enumerate(rows)), Q(0)) for rows in outputs
        ),
    )
    assert certainly_at_most(ball(left), root(2) * ball(right))


@pytest.mark.parametrize("shape", WORLDS)
@pytest.mark.parametrize("seed", range(4))
def test_symmetrization_and_expected_gap(shape: tuple[int, int, int], seed: int) -> None:
    world = World(random.Random(seed), *shape)
    samples = world.samples()
    mean_gap = sum((p * world.largest_gap(s) for s, p in samples), Q(0))
    mean_rademacher = sum((p * world.rademacher(s) for s, p in samples), Q(0))
    assert sum((p for _, p in samples), Q(0)) == 1
    assert mean_gap <= 2 * mean_rademacher


@pytest.mark.parametrize("shape", WORLDS)
@pytest.mark.parametrize("seed", range(4))
def test_sharp_uniform_deviation(shape: tuple[int, int, int], seed: int) -> None:
    world = World(random.Random(100 + seed), *shape, top=Q(3, 2))
    for delta in (Q(9, 10), Q(1, 2), Q(1, 5), Q(1, 20)):
        confidence = 2 * ball(world.top) * ((1 / ball(delta)).log() / (2 * world.m)).sqrt()
        bad = sum(
            (
                p
                for s, p in world.samples()
                if not certainly_above(2 * ball(world.rademacher(s)) + confidence, world.largest_gap(s))
            ),
            Q(0),
        )
        assert bad <= delta


@pytest.mark.parametrize("seed", range(6))
def test_rademacher_average_moves_by_half_of_the_range(seed: int) -> None:
    """The bounded difference M/(2m) behind the constant 2, and that M/(2m) is attained."""
    world = World(random.Random(seed), 3, 3, 3)
    worst = Q(0)
    for sample, _ in world.samples():
        for z in range(3):
            moved = world.rademacher(sample) - world.rademacher((z, *sample[1:]))
            assert abs(moved) <= world.top / (2 * world.m)
            worst = max(worst, abs(moved))
    extreme = World(random.Random(0), 2, 2, 1)
    extreme.losses = [[Q(0), Q(1)], [Q(0), Q(0)]]
    assert extreme.rademacher((1,)) - extreme.rademacher((0,)) == Q(1, 2)
    assert worst > 0


@pytest.mark.parametrize("seed", range(12))
def test_mcdiarmid(seed: int) -> None:
    rng = random.Random(seed)
    world = World(rng, rng.randint(2, 3), rng.randint(2, 3), rng.randint(1, 4))
    samples = world.samples()
    mean = sum((p * world.largest_gap(s) for s, p in samples), Q(0))
    for t in (Q(1, 10), Q(1, 4), Q(1, 2)):
        tail = sum((p for s, p in samples if world.largest_gap(s) - mean >= t), Q(0))
        assert certainly_at_most(ball(tail), (-2 * ball(t) ** 2 * world.m).exp())


@pytest.mark.parametrize("seed", range(30))
def test_hoeffding_lemma(seed: int) -> None:
    rng = random.Random(seed)
    p, c, lam = Q(rng.randint(0, 10), 10), Q(rng.randint(1, 8), 4), rational(rng, -4, 4)
    low = rational(rng)
    mean = (1 - p) * low + p * (low + c)
    left = (
        ball(1 - p) * (ball(lam) * ball(low - mean)).exp()
        + ball(p) * (ball(lam) * ball(low + c - mean)).exp()
    )
    assert certainly_at_most(left, (ball(lam) ** 2 * ball(c) ** 2 / 8).exp())


def softmax(scores: Vector) -> list[arb]:
    weights = [ball(s).exp() for s in scores]
    total = sum(weights[1:], weights[0])
    return [w / total for w in weights]


@pytest.mark.parametrize("seed", range(40))
def test_softmax_constants(seed: int) -> None:
    rng = random.Random(seed)
    n = rng.randint(1, 5)
    s, t, a = ([rational(rng, -9, 9) for _ in range(n)] for _ in range(3))
    change = [x - y for x, y in zip(softmax(s), softmax(t), strict=True)]
    scores = [x - y for x, y in zip(s, t, strict=True)]
    osc, length = max(scores) - min(scores), root(dot(scores, scores))
    l1 = sum((abs(x) for x in change), arb(0))
    l2 = sum((x * x for x in change), arb(0))
    moved = abs(sum((x * ball(y) for x, y in zip(change, a, strict=True)), arb(0)))
    spread = ball(max(a) - min(a))
    assert certainly_at_most(l1, ball(osc) / 2)
    assert certainly_at_most(l2, length * length / 4)
    assert certainly_at_most(moved, spread * ball(osc) / 4)
    assert certainly_at_most(moved, spread / (2 * root(2)) * length)


def test_softmax_constants_cannot_be_lowered_by_one_per_cent() -> None:
    s, t = [Q(1, 100), Q(-1, 100)], [Q(0), Q(0)]
    change = [x - y for x, y in zip(softmax(s), softmax(t), strict=True)]
    scores = [Q(1, 100), Q(-1, 100)]
    l1 = abs(change[0]) + abs(change[1])
    moved = abs(change[0] - change[1])
    assert certainly_above(l1, ball(Q(99, 100)) * ball(Q(2, 100)) / 2)
    assert certainly_above(moved, ball(Q(99, 100)) * 2 * ball(Q(2, 100)) / 4)
    assert certainly_above(moved, ball(Q(99, 100)) * 2 / (2 * root(2)) * root(dot(scores, scores)))


@pytest.mark.parametrize("seed", range(8))
def test_softmax_head_rademacher_average(seed: int) -> None:
    """Lemma behind C1(i): class of a few matrices in the Frobenius ball, loss |f - y| with L = 1."""
    rng = random.Random(seed)
    d, n, m = 2, 3, 3
    points = []
    for _ in range(m):
        tokens = [[rational(rng, -1, 1) for _ in range(d)] for _ in range(n)]
        points.append(
            ([rational(rng, -1, 1) for _ in range(d)], tokens, [rational(rng, -1, 1) for _ in range(n)])
        )
    matrices = [[[rational(rng, -2, 2) for _ in range(d)] for _ in range(d)] for _ in range(4)]
    omega = root(max(sum((x * x for row in w for x in row), Q(0)) for w in matrices))

    def output(w: list[list[Q]], point: tuple[list[Q], list[list[Q]], list[Q]]) -> arb:
        query, tokens, values = point
        scores = [dot(query, [dot(row, x) for row in w]) for x in tokens]
        return sum((p * ball(v) for p, v in zip(softmax(scores), values, strict=True)), arb(0))

    outputs = [[output(w, point) for point in points] for w in matrices]
    total = arb(0)
    for e in itertools.product(SIGNS, repeat=m):
        sums = [sum((sign * abs(f) for sign, f in zip(e, row, strict=True)), arb(0)) for row in outputs]
        largest = sums[0]
        for value in sums[1:]:
            largest = largest.max(value)
        total += largest
    left = total / 2**m / m
    measured = Q(0)
    for query, tokens, values in points:
        centre = [sum((x[j] for x in tokens), Q(0)) / n for j in range(d)]
        centred = sum(((x[j] - centre[j]) ** 2 for x in tokens for j in range(d)), Q(0))
        measured += (max(values) - min(values)) ** 2 * dot(query, query) * centred
    assert certainly_at_most(left, omega / (2 * m) * root(measured))


@pytest.mark.parametrize(("blocks", "contents"), [(1, 1), (1, 3), (2, 2), (3, 1)])
def test_rank_one_attention_shatters(blocks: int, contents: int) -> None:
    """N1: outputs, equal rows of attention, and the Rademacher average tanh(beta/2)."""
    beta, m = Q(3), blocks * contents
    tanh = (ball(beta) / 2).tanh()
    patterns = list(itertools.product(SIGNS, repeat=m))
    for omega in patterns:
        for r, j in itertools.product(range(blocks), range(contents)):
            unit = [Q(int(i == r)) for i in range(blocks)]
            first = unit + [Q(int(i == j)) for i in range(contents)] + [Q(1)]
            second = unit + [Q(0)] * contents + [Q(-1)]
            size = blocks + contents + 1
            matrix = [[Q(0)] * size for _ in range(size)]
            for b, c in itertools.product(range(blocks), range(contents)):
                matrix[b][blocks + c] = beta * omega[b * contents + c]
            rows = [
                softmax([dot(q, [dot(row, x) for row in matrix]) for x in (first, second)])
                for q in (first, second)
            ]
            assert all(bool(x.overlaps(y)) for x, y in zip(*rows, strict=True))
            value = rows[0][0] - rows[0][1]
            assert bool(value.overlaps(omega[r * contents + j] * tanh))
    average = mean_over_signs(
        m, lambda e: max(Q(sum(a * b for a, b in zip(e, w, strict=True)), m) for w in patterns)
    )
    assert average == 1


@pytest.mark.parametrize("m", [1, 2, 3])
def test_naive_bound_fails_on_every_sample(m: int) -> None:
    """N2: for each sample of m from 2m points the fitted pattern has empirical risk 0, risk >= 1/2."""
    for sample in itertools.product(range(2 * m), repeat=m):
        losses = [0 if j in sample else 1 for j in range(2 * m)]
        assert sum(losses[z] for z in sample) == 0
        assert Q(sum(losses), 2 * m) >= Q(1, 2)


@pytest.mark.parametrize("seed", range(40))
def test_effective_rank_chain(seed: int) -> None:
    rng = random.Random(seed)
    s = [Q(rng.randint(1, 40), rng.randint(1, 5)) for _ in range(rng.randint(1, 6))]
    total, square, top = sum(s, Q(0)), dot(s, s), max(s)
    entropy = sum((-(ball(x / total)) * ball(x / total).log() for x in s), arb(0)).exp()
    assert 1 <= square / top**2 <= total / top <= total**2 / square
    assert certainly_at_most(ball(total**2 / square), entropy)
    assert certainly_at_most(entropy, ball(len(s)))
    assert total**2 / square <= (total / top) ** 2 <= len(s) * square / top**2


def kl(q: Q, p: Q) -> arb:
    value = arb(0)
    if q > 0:
        value += ball(q) * ball(q / p).log()
    if q < 1:
        value += ball(1 - q) * ball((1 - q) / (1 - p)).log()
    return value


@pytest.mark.parametrize("seed", range(12))
def test_chernoff_hoeffding_and_occam(seed: int) -> None:
    rng = random.Random(seed)
    world = World(rng, rng.randint(2, 3), 3, rng.randint(1, 4))
    weights = [Q(1, 2), Q(1, 4), Q(1, 4)]
    for delta in (Q(1, 2), Q(1, 5), Q(1, 20)):
        bad_any = Q(0)
        for sample, chance in world.samples():
            bad = False
            for t, w in enumerate(weights):
                empirical, risk = world.risks[t] - world.gap(t, sample), world.risks[t]
                price = ((1 / ball(w)).log() + (1 / ball(delta)).log()) / world.m
                bad |= empirical < risk and (risk == 1 or not certainly_above(price, kl(empirical, risk)))
            bad_any += chance if bad else Q(0)
        assert bad_any <= delta


@pytest.mark.parametrize("q", [Q(0), Q(1, 10), Q(1, 2), Q(9, 10)])
def test_pinsker(q: Q) -> None:
    for step in range(20):
        p = q + (1 - q) * Q(step, 20)
        assert certainly_at_most(2 * ball(p - q) ** 2, kl(q, p))


def test_kraft_and_its_failure() -> None:
    codes = ["0", "10", "110", "111"]
    assert not any(a != b and b.startswith(a) for a in codes for b in codes)
    assert sum((Q(1, 2 ** len(c)) for c in codes), Q(0)) <= 1
    not_prefix_free = ["0", "1", "10"]
    assert sum((Q(1, 2 ** len(c)) for c in not_prefix_free), Q(0)) > 1


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_binomial_tail_event(n: int) -> None:
    """The distribution function at its own value is below delta with probability at most delta."""
    from math import comb

    for p in (Q(1, 10), Q(1, 3), Q(1, 2), Q(9, 10)):
        mass = [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
        assert sum(mass, Q(0)) == 1
        for delta in (Q(1, 2), Q(1, 10), Q(1, 20)):
            assert sum((mass[k] for k in range(n + 1) if sum(mass[: k + 1], Q(0)) < delta), Q(0)) <= delta


def test_peeling_weights() -> None:
    assert sum((Q(1, (j + 1) * (j + 2)) for j in range(200)), Q(0)) == 1 - Q(1, 201)
    assert sum((Q(1, (j + 1) * (j + 1)) for j in range(2)), Q(0)) > 1


@pytest.mark.parametrize("seed", range(10))
def test_massart(seed: int) -> None:
    rng = random.Random(seed)
    n, count = rng.randint(1, 5), rng.randint(2, 5)
    vectors = [[rational(rng, -2, 2) for _ in range(n)] for _ in range(count)]
    longest = max(dot(v, v) for v in vectors)
    mean = mean_over_signs(n, lambda e: max(dot(v, e) for v in vectors))
    assert certainly_at_most(ball(mean), root(longest) * (2 * ball(count).log()).sqrt())


@pytest.mark.parametrize("seed", range(20))
def test_joint_split_is_optimal(seed: int) -> None:
    """(A^(2/3) + C^(2/3))^(3/2) is a lower bound of A/u + C/w on u^2 + w^2 = 1, and is attained."""
    rng = random.Random(seed)
    a, c = ball(rng.randint(1, 50)), ball(rng.randint(1, 50))
    third = ball(Q(1, 3))
    best = (a ** (2 * third) + c ** (2 * third)) ** ball(Q(3, 2))
    for step in range(1, 20):
        u = ball(Q(step, 20))
        assert certainly_at_most(best, a / u + c / (1 - u * u).sqrt())
    size = (a ** (2 * third) + c ** (2 * third)).sqrt()
    assert bool((a / (a**third / size) + c / (c**third / size)).overlaps(best))
