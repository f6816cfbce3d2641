"""Left and right sides of every lemma at a concrete case, in 200-bit balls or exact rationals.

A lemma's right side takes its constants as arguments, so that tests can change them. Sign averages are
enumerated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import comb
from typing import Any

from flint import arb, ctx, fmpq
from hypothesis import strategies as st

ctx.prec = 200
Sides = tuple[arb, arb]


def ball(value: Fraction | int) -> arb:
    """A ball around a rational."""
    value = Fraction(value)
    return arb(fmpq(value.numerator, value.denominator))


@lru_cache(maxsize=16)
def signs(n: int) -> tuple[tuple[int, ...], ...]:
    """All sign vectors."""
    return tuple(product((1, -1), repeat=n))


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """Inner product."""
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def root(value: arb) -> arb:
    """Square root of a nonnegative number whose ball may touch 0."""
    return value.sqrt() if value > 0 else arb(0, float(arb(value.abs_upper()).sqrt().upper()) * 1.01)


@dataclass(frozen=True)
class Property:
    """How to test a lemma: cases, sides with constants, nearly tight cases, whether it must be sharp."""

    derivation: str
    cases: st.SearchStrategy[Any]
    sides: Callable[..., Sides]
    tight: tuple[Any, ...]
    sharp: bool
    constants: dict[str, Fraction] = field(default_factory=dict)
    """constant -> value; the false direction is the one that makes the right side smaller"""
    larger_is_false: bool = False
    floor: float = 0.3
    """A ratio that some case must exceed, so that the test tests something."""


small = st.integers(-4, 4)
positive = st.integers(1, 6)


# Lemma 1 and 3
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


# Lemma 2
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


# Lemmas 4 to 7
vectors = st.lists(st.lists(small, min_size=3, max_size=3), min_size=2, max_size=4)


def massart(case: list[list[int]], inside: Fraction = Fraction(2)) -> Sides:
    n = len(case[0])
    best = Fraction(sum(max(dot(s, v) for v in case) for s in signs(n)), 2**n)
    length = ball(max(dot(v, v) for v in case)).sqrt()
    return ball(best), length * (ball(inside) * arb(len(case)).log()).sqrt()


def khintchine(case: list[int], factor: Fraction = Fraction(1)) -> Sides:
    """``factor`` multiplies sqrt(2)."""
    mean = Fraction(sum(abs(dot(s, case)) for s in signs(len(case))), 2 ** len(case))
    return ball(dot(case, case)).sqrt(), ball(factor) * arb(2).sqrt() * ball(mean)


def contraction(case: list[list[int]], factor: Fraction = Fraction(1)) -> Sides:
    """Absolute values and positive parts are 1-Lipschitz; the identity is the tight case."""
    n = len(case[0])
    maps = [abs, lambda x: max(x, 0), lambda x: x]
    left = sum(max(sum(e * maps[i % 3](v[i]) for i, e in enumerate(s)) for v in case) for s in signs(n))
    right = sum(max(dot(s, v) for v in case) for s in signs(n))
    return ball(Fraction(left, 2**n)), ball(factor * Fraction(right, 2**n))


def vector_contraction(case: list[list[int]], factor: Fraction = Fraction(1)) -> Sides:
    """Vectors (a, b | c, d) at two units; the losses are their lengths. ``factor`` multiplies sqrt(2)."""
    units = len(case[0]) // 2
    left = arb(0)
    for s in signs(units):
        values = [
            sum((e * ball(v[2 * i] ** 2 + v[2 * i + 1] ** 2).sqrt() for i, e in enumerate(s)), arb(0))
            for v in case
        ]
        best = values[0]
        for value in values[1:]:
            best = best.max(value)
        left += best
    right = Fraction(sum(max(dot(s, v) for v in case) for s in signs(2 * units)), 2 ** (2 * units))
    return left / 2**units, ball(factor) * arb(2).sqrt() * ball(right)


# Lemma 8
Matrices = list[list[list[int]]]
matrices = st.lists(
    st.lists(st.lists(small, min_size=2, max_size=2), min_size=2, max_size=2), min_size=1, max_size=5
)


def _norm2(a: Fraction, b: Fraction, c: Fraction, d: Fraction) -> arb:
    """Spectral norm of [[a, b], [c, d]] from the exact quadratic for the squared singular values."""
    trace, determinant = a * a + b * b + c * c + d * d, a * d - b * c
    inner = ball(trace * trace - 4 * determinant * determinant)
    root = arb(0) if inner.is_zero() else inner.max(arb(0)).sqrt()
    return ((ball(trace) + root) / 2).sqrt()


def _series(case: Matrices) -> tuple[list[arb], arb, Fraction]:
    """Norms of the signed sums for all signs, the variance v, and F^2."""
    norms = []
    for s in signs(len(case)):
        a, b, c, d = (
            sum((e * Fraction(m[i][j]) for e, m in zip(s, case, strict=True)), Fraction(0))
            for i, j in ((0, 0), (0, 1), (1, 0), (1, 1))
        )
        norms.append(_norm2(a, b, c, d))
    left, right = [[Fraction(0)] * 2 for _ in range(2)], [[Fraction(0)] * 2 for _ in range(2)]
    for m in case:
        for i, j in product(range(2), repeat=2):
            left[i][j] += sum(m[i][k] * m[j][k] for k in range(2))
            right[i][j] += sum(m[k][i] * m[k][j] for k in range(2))
    v = _norm2(*left[0], *left[1]).max(_norm2(*right[0], *right[1]))
    return norms, v, Fraction(sum(x * x for m in case for row in m for x in row))


def matrix_series(case: Matrices, factor: Fraction = Fraction(1)) -> Sides:
    norms, v, f2 = _series(case)
    if f2 == 0:
        return arb(0), arb(1)
    bound = (2 * v * (2 * ball(f2) / v).log()).sqrt().min(ball(f2).sqrt())
    return sum(norms, arb(0)) / len(norms), ball(factor) * bound


def matrix_laplace(case: tuple[Matrices, Fraction], factor: Fraction = Fraction(1)) -> Sides:
    series, q = case
    norms, v, f2 = _series(series)
    if f2 == 0:
        return arb(0), arb(1)
    left = sum(((ball(q) * n).cosh() - 1 for n in norms), arb(0)) / len(norms)
    return left, ball(factor) * ball(f2) / v * ((ball(q) ** 2 * v / 2).exp() - 1)


def matrix_tail(case: tuple[Matrices, Fraction], factor: Fraction = Fraction(2)) -> Sides:
    series, ratio = case
    norms, v, f2 = _series(series)
    if f2 == 0:
        return arb(0), arb(1)
    t = (1 + ball(ratio)) * v.sqrt()
    share = Fraction(sum(not n < t for n in norms), len(norms))
    return ball(share), ball(factor) * ball(f2) / v * (-(t**2) / (2 * v)).exp()


def duality(case: tuple[list[list[int]], list[list[int]]], factor: Fraction = Fraction(1)) -> Sides:
    """<A, B> against the nuclear norm of A and the spectral norm of B, 2 x 2."""
    (a, b), (c, d) = case[0]
    determinant, square = abs(a * d - b * c), a * a + b * b + c * c + d * d
    nuclear = ball(square + 2 * determinant).sqrt()
    inner = sum(x * y for r, s in zip(*case, strict=True) for x, y in zip(r, s, strict=True))
    spectral = _norm2(*(Fraction(x) for row in case[1] for x in row))
    return ball(inner), ball(factor) * nuclear * spectral


# Lemmas 10 and 11
def dudley_integral(case: tuple[int, int], factor: Fraction = Fraction(1)) -> Sides:
    """Integral of sqrt(log(1 + C/u)) over (0, c/2], by a lower sum, against (c/2) sqrt(log(e (1 + 2C/c)))."""
    big, c = case
    half, steps = ball(Fraction(c, 2)), 400
    left = arb(0)
    for n in range(1, steps + 1):  # the integrand decreases, so right ends give a lower sum
        left += (1 + arb(big) * steps / (half * n)).log().sqrt() * half / steps
    return left, ball(factor) * half * (1 + (1 + arb(big) / half).log()).sqrt()


def product_rule(case: tuple[int, ...], factor: Fraction = Fraction(2)) -> Sides:
    """Scalars: |p q - p' q'| for |p|, |q'| <= sqrt(s) = 10 moved by eta sqrt(s)."""
    p, q, dp, dq = case
    eta = max(abs(dp), abs(dq)) / Fraction(10)
    return ball(abs(p * q - (p - dp) * (q - dq))), ball(factor * 100 * eta)


# Lemmas 12 and 13
scores = st.lists(
    st.sampled_from([Fraction(n, d) for n in (-800, -30, -3, -1, 0, 1, 2, 30, 800) for d in (1, 7)]),
    min_size=6,
    max_size=6,
)


def _softmax(s: Sequence[Fraction]) -> list[arb]:
    top = max(s)
    powers = [ball(x - top).exp() for x in s]
    total = sum(powers, arb(0))
    return [p / total for p in powers]


def _softmax_change(case: list[Fraction]) -> tuple[list[arb], list[Fraction]]:
    n = len(case) // 2
    s, t = case[:n], case[n:]
    moved = [a - b for a, b in zip(_softmax(s), _softmax(t), strict=True)]
    return moved, [a - b for a, b in zip(s, t, strict=True)]


def softmax_l1(case: list[Fraction], factor: Fraction = Fraction(1, 2)) -> Sides:
    moved, change = _softmax_change(case)
    return sum((abs(x) for x in moved), arb(0)), ball(factor * (max(change) - min(change)))


def softmax_sup(case: list[Fraction], factor: Fraction = Fraction(1)) -> Sides:
    moved, change = _softmax_change(case)
    return sum((abs(x) for x in moved), arb(0)), ball(factor * max(abs(c) for c in change))


def softmax_l2(case: list[Fraction], factor: Fraction = Fraction(1, 2)) -> Sides:
    moved, change = _softmax_change(case)
    return root(sum((x * x for x in moved), arb(0))), ball(factor) * ball(dot(change, change)).sqrt()


def readout(case: list[Fraction], factor: Fraction = Fraction(1)) -> Sides:
    """Values 1, 0, ..., -1. ``factor`` multiplies 1/(2 sqrt 2)."""
    moved, change = _softmax_change(case)
    a = [1, *[0] * (len(moved) - 2), -1]
    left = abs(sum((x * v for x, v in zip(moved, a, strict=True)), arb(0)))
    return left, ball(factor) * 2 / (2 * arb(2).sqrt()) * ball(dot(change, change)).sqrt()


def attention_map(case: list[int], factor: Fraction = Fraction(1)) -> Sides:
    """Lemma 13(a), tokens +-1 and query 1 in one dimension: W, W', V, V' are numbers."""
    w, w1, v, v1 = (Fraction(x, 2) for x in case)
    p, q = _softmax([w, -w]), _softmax([w1, -w1])
    left = abs(ball(v) * (p[0] - p[1]) - ball(v1) * (q[0] - q[1]))
    return left, ball(factor) * ball(abs(v - v1) + abs(v1) * abs(w - w1))


# Lemma 14
spectra = st.lists(st.integers(0, 30), min_size=1, max_size=5).filter(any)


def _ranks(s: list[int]) -> dict[str, arb]:
    s = [x for x in s if x]
    top, one, two = max(s), sum(s), sum(x * x for x in s)
    entropy = -sum((ball(Fraction(x, one)) * ball(Fraction(x, one)).log() for x in s), arb(0))
    return {
        "stable": ball(Fraction(two, top**2)),
        "nuclear": ball(Fraction(one, top)),
        "participation": ball(Fraction(one**2, two)),
        "entropy": entropy.exp(),
        "rank": arb(len(s)),
    }


def rank_pair(low: str, high: str) -> Callable[..., Sides]:
    """Two neighbours of the chain."""

    def sides(case: list[int], factor: Fraction = Fraction(1)) -> Sides:
        ranks = _ranks(case)
        return ranks[low], ball(factor) * ranks[high]

    return sides


def nuclear_squared(case: list[int], factor: Fraction = Fraction(1)) -> Sides:
    ranks = _ranks(case)
    return ranks["nuclear"] ** 2, ball(factor) * ranks["rank"] * ranks["stable"]


# Lemmas 15 to 18
def _kl(q: Fraction, p: Fraction) -> arb:
    total = arb(0)
    for a, b in ((q, p), (1 - q, 1 - p)):
        if a:
            total += ball(a) * (ball(a) / ball(b)).log()
    return total


def occam(case: tuple[int, Fraction, Fraction], factor: Fraction = Fraction(1)) -> Sides:
    """One model of risk p: exact probability that kl(L-hat || p) > factor log(1/delta)/m."""
    m, p, delta = case
    c = ball(factor) * (1 / ball(delta)).log() / m
    fails = [k for k in range(m + 1) if Fraction(k, m) < p and _kl(Fraction(k, m), p) > c]
    return ball(sum((comb(m, k) * p**k * (1 - p) ** (m - k) for k in fails), Fraction(0))), ball(delta)


def prior_moment(m: int, factor: Fraction = Fraction(1)) -> Sides:
    if m <= 300:
        total = sum(
            (ball(Fraction(comb(m, k) * k**k * (m - k) ** (m - k), m**m)) for k in range(m + 1)), arb(0)
        )
    else:
        total = arb(2)
        for k in range(1, m):
            log = arb(m + 1).lgamma() - arb(k + 1).lgamma() - arb(m - k + 1).lgamma()
            total += (log + k * ball(Fraction(k, m)).log() + (m - k) * ball(1 - Fraction(k, m)).log()).exp()
    return total, 2 + ball(factor) * (arb.pi() * m / 2).sqrt()


def gaussian_entropy(case: tuple[int, int, int], factor: Fraction = Fraction(1, 2)) -> Sides:
    """Lemma 17, free variance: the entropy at the best prior variance against dist^2/(2 s^2)."""
    dimension, s, dist = case
    left = ball(Fraction(dimension, 2)) * (1 + ball(Fraction(dist**2, dimension * s**2))).log()
    return left, ball(factor * Fraction(dist**2, s**2))


def gaussian_maximum(case: tuple[int, Fraction], factor: Fraction = Fraction(1)) -> Sides:
    """N independent standard Gaussians: exact P(max |g| > u) at u = factor sqrt(2 log(N/eta))."""
    n, eta = case
    u = ball(factor) * (2 * (arb(n) / ball(eta)).log()).sqrt()
    tail = (u / arb(2).sqrt()).erfc()
    return tail if n == 1 else 1 - (1 - tail) ** n, ball(eta)


def split(case: tuple[int, int, int], factor: Fraction = Fraction(1)) -> Sides:
    """The split of C1-joint: p + r against sqrt((1 + q^2) p^2 + (1 + q^2)/q^2 r^2)."""
    p, r, q = case
    inside = (1 + q * q) * (p * p + Fraction(r * r, q * q))
    return ball(p + r), ball(factor) * root(ball(inside))


def attention_input(case: list[int], factor: Fraction = Fraction(1)) -> Sides:
    """Lemma 13(b), two tokens +-1/2 in one dimension, W = w/2, V = 1, tokens moved by h = 1/100."""
    w, a, b = Fraction(case[0], 2), Fraction(case[1], 400), Fraction(case[2], 400)
    x, y = [Fraction(1, 2), Fraction(-1, 2)], [Fraction(1, 2) + a, Fraction(-1, 2) + b]
    moves = []
    for query, other in zip(x, y, strict=True):
        p, q = _softmax([query * w * t for t in x]), _softmax([other * w * t for t in y])
        moves.append(
            abs(
                sum((u * ball(t) for u, t in zip(p, x, strict=True)), arb(0))
                - sum((u * ball(t) for u, t in zip(q, y, strict=True)), arb(0))
            )
        )
    h = max(abs(a), abs(b))
    return moves[0].max(moves[1]), ball(factor * (1 + 2 * abs(w)) * h)


def pac_bayes(case: tuple[int, Fraction, Fraction, Fraction], factor: Fraction = Fraction(1)) -> Sides:
    """Two models with independent losses, uniform prior, eleven posteriors: exact failure probability."""
    m, p1, p2, delta = case
    cost = (2 + (arb.pi() * m / 2).sqrt()).log() - ball(delta).log()
    failing = Fraction(0)
    for k1, k2 in product(range(m + 1), repeat=2):
        for n in range(11):
            q = Fraction(n, 10)
            emp, risk = (q * k1 + (1 - q) * k2) / m, q * p1 + (1 - q) * p2
            entropy = _kl(q, Fraction(1, 2))
            if _kl(emp, risk) > ball(factor) * (entropy + cost) / m:
                failing += (
                    comb(m, k1) * p1**k1 * (1 - p1) ** (m - k1) * comb(m, k2) * p2**k2 * (1 - p2) ** (m - k2)
                )
                break
    return ball(failing), ball(delta)


def occam_many(case: tuple[int, Fraction, Fraction], factor: Fraction = Fraction(1)) -> Sides:
    """Eight models of three bits with independent losses: exact probability that one fails."""
    m, p, delta = case
    c = ball(factor) * ((8 / ball(delta)).log()) / m
    fails = sum(
        (
            comb(m, k) * p**k * (1 - p) ** (m - k)
            for k in range(m + 1)
            if Fraction(k, m) < p and _kl(Fraction(k, m), p) > c
        ),
        Fraction(0),
    )
    return ball(1 - (1 - fails) ** 8), ball(delta)


# Theorems
def bilinear(case: Matrices, factor: Fraction = Fraction(1)) -> Sides:
    """Theorem B1, loss = output: the supremum over the ball is the spectral norm of the signed sum."""
    left, right = matrix_series(case, factor)
    return left / len(case), right / len(case)


def joint_head(case: list[list[int]], factor: Fraction = Fraction(1)) -> Sides:
    """Theorem C1-joint: scalar tokens, query 1, |V| <= 1 and |W| <= 2 on a grid, loss = output."""
    m, left = len(case), arb(0)
    outputs = []
    for v, w in product((-1, Fraction(1, 2), 1), (-2, -1, 0, 1, 2)):
        row = []
        for x in case:
            p = _softmax([Fraction(w * t) for t in x])
            row.append(ball(v) * sum((u * t for u, t in zip(p, x, strict=True)), arb(0)))
        outputs.append(row)
    for s in signs(m):
        values = [sum((e * o for e, o in zip(s, row, strict=True)), arb(0)) for row in outputs]
        best = values[0]
        for value in values[1:]:
            best = best.max(value)
        left += best
    squares = [Fraction(sum(t * t for t in x)) for x in case]
    a0 = root(ball(sum(squares))) / m
    c0 = (
        2
        * root(ball(sum(max(abs(t) for t in x) ** 2 * q for x, q in zip(case, squares, strict=True))))
        / (arb(2).sqrt() * m)
    )
    if not a0 > 0:
        return arb(0), arb(1)
    third = arb(1) / 3
    total = (a0**third) ** 2 + (c0**third) ** 2
    return left / (m * 2**m), ball(factor) * arb(2).sqrt() * total * total.sqrt()


def peeling(case: int, factor: Fraction = Fraction(1)) -> Sides:
    return ball(sum((Fraction(1, (j + 1) * (j + 2)) for j in range(case)), Fraction(0))), ball(factor)


def linear_head(case: list[list[int]], factor: Fraction = Fraction(1)) -> Sides:
    """complexity-a1: losses are lengths of two outputs; W on a grid of the Frobenius unit ball."""
    grid = [w for w in product((Fraction(-1, 2), 0, Fraction(1, 2)), repeat=4)] + [
        (1, 0, 0, 0),
        (0, 1, 0, 0),
        (0, 0, 1, 0),
    ]
    outputs = []
    for w in grid:
        outputs.append(
            [ball((x[0] * w[0] + x[1] * w[1]) ** 2 + (x[0] * w[2] + x[1] * w[3]) ** 2).sqrt() for x in case]
        )
    m, left = len(case), arb(0)
    for s in signs(m):
        values = [sum((e * y for e, y in zip(s, row, strict=True)), arb(0)) for row in outputs]
        best = values[0]
        for value in values[1:]:
            best = best.max(value)
        left += best
    total = sum(x[0] ** 2 + x[1] ** 2 for x in case)
    return left / (m * 2**m), ball(factor) * arb(2).sqrt() * (2 * ball(total)).sqrt() / m


def softmax_head(case: list[list[int]], factor: Fraction = Fraction(1)) -> Sides:
    """complexity-c1-i: one-dimensional tokens, values 1 and -1, query 1; W on a grid of [-2, 2]."""
    m, left = len(case), arb(0)
    grid = [Fraction(n, 2) for n in range(-4, 5)]
    outputs = []
    for w in grid:
        row = []
        for x, y in case:
            p = _softmax([w * x, w * y])
            row.append(p[0] - p[1])
        outputs.append(row)
    for s in signs(m):
        values = [sum((e * o for e, o in zip(s, row, strict=True)), arb(0)) for row in outputs]
        best = values[0]
        for value in values[1:]:
            best = best.max(value)
        left += best
    total = sum((4 * Fraction((x - y) ** 2, 2) for x, y in case), Fraction(0))
    return left / (m * 2**m), ball(factor) * 2 * ball(total).sqrt() / (2 * m)


TIGHT_SOFTMAX = ([Fraction(1, 1000), Fraction(-1, 1000), Fraction(0), Fraction(0)], [Fraction(0)] * 6)
SCALAR = [[[1, 0], [0, 0]]]
H = Fraction(1, 2)
ONE = Fraction(1)
ONE_EVENT = {"p": [H, H], "f": [[ONE, Fraction(0)], [Fraction(0), Fraction(0)]], "m": 1}

PROPERTIES: dict[str, Property] = {
    "lemma-1": Property(
        "lemma-1",
        finite_classes(),
        symmetrization,
        tuple(subsets(k) for k in (2, 8)),
        False,
        {"factor": Fraction(2)},
    ),
    "lemma-2": Property(
        "lemma-2",
        st.tuples(st.integers(2, 40), st.sampled_from([Fraction(1, 8), Fraction(1, 4), H])),
        coins,
        ((10, H), (10**6, Fraction(3, 100))),
        False,
        {"exponent": Fraction(2)},
        larger_is_false=True,
    ),
    "lemma-3a": Property(
        "lemma-3a", finite_classes(), deviation_expected, (ONE_EVENT,), False, {"factor": ONE}, floor=0.02
    ),
    "lemma-3b": Property(
        "lemma-3b", finite_classes(), deviation_textbook, (), False, {"factor": Fraction(3)}, floor=-1
    ),
    "lemma-3c": Property(
        "lemma-3c", finite_classes(), deviation, (ONE_EVENT,), False, {"factor": Fraction(2)}, floor=-1
    ),
    "lemma-3c difference": Property(
        "lemma-3c", finite_classes(), complexity_difference, (ONE_EVENT,), True, {"factor": H}
    ),
    "lemma-4": Property(
        "lemma-4", vectors, massart, ([list(s) for s in signs(6)],), False, {"inside": Fraction(2)}
    ),
    "lemma-5": Property("lemma-5", vectors, contraction, ([[0, 0, 1], [0, 0, -1]],), True, {"factor": ONE}),
    "lemma-6": Property(
        "lemma-6-vector",
        st.lists(small, min_size=1, max_size=7),
        khintchine,
        ([1, 1],),
        True,
        {"factor": ONE},
    ),
    "lemma-7": Property(
        "lemma-7",
        st.lists(st.lists(small, min_size=4, max_size=4), min_size=2, max_size=3),
        vector_contraction,
        ([[1, 1], [0, 0]],),
        True,
        {"factor": ONE},
    ),
    "lemma-8 laplace": Property(
        "lemma-8-laplace",
        st.tuples(matrices, st.sampled_from([Fraction(1, 10), ONE])),
        matrix_laplace,
        ((SCALAR, Fraction(1, 100)),),
        True,
        {"factor": ONE},
    ),
    "lemma-8b/min": Property("lemma-8-min", matrices, matrix_series, (SCALAR,), True, {"factor": ONE}),
    "lemma-8b tail": Property(
        "lemma-8b-tail",
        st.tuples(matrices, st.sampled_from([Fraction(0), Fraction(1, 4), ONE])),
        matrix_tail,
        ((SCALAR, Fraction(0)),),
        False,
        {"factor": Fraction(2)},
    ),
    "lemma-9": Property(
        "lemma-9-nuclear",
        st.tuples(*[st.lists(st.lists(small, min_size=2, max_size=2), min_size=2, max_size=2)] * 2),
        duality,
        (([[1, 0], [0, 0]], [[1, 0], [0, 0]]),),
        True,
        {"factor": ONE},
    ),
    "lemma-10 closed": Property(
        "lemma-10-closed",
        st.tuples(positive, positive),
        dudley_integral,
        ((10**6, 1), (10**60, 1)),
        True,
        {"factor": ONE},
    ),
    "lemma-11b product": Property(
        "lemma-11b-product",
        st.tuples(*[st.integers(-10, 10)] * 2, *[st.integers(-3, 3)] * 2).filter(
            lambda c: abs(c[0] - c[2]) <= 10
        ),
        product_rule,
        ((10, 10, Fraction(1, 1000), Fraction(1, 1000)),),
        True,
        {"factor": Fraction(2)},
    ),
    "lemma-12a": Property("lemma-12a-osc", scores, softmax_l1, TIGHT_SOFTMAX, True, {"factor": H}),
    "lemma-12a largest": Property("lemma-12a", scores, softmax_sup, TIGHT_SOFTMAX, True, {"factor": ONE}),
    "lemma-12b": Property("lemma-12b", scores, softmax_l2, TIGHT_SOFTMAX, True, {"factor": H}),
    "lemma-12c": Property("lemma-12c", scores, readout, TIGHT_SOFTMAX, True, {"factor": ONE}),
    "lemma-13a": Property(
        "lemma-13a",
        st.lists(small, min_size=4, max_size=4),
        attention_map,
        ([60, 60, 2, 1],),
        True,
        {"factor": ONE},
    ),
    "lemma-14a": Property(
        "lemma-14a", spectra, rank_pair("stable", "nuclear"), ([1, 1, 1],), True, {"factor": ONE}
    ),
    "lemma-14b": Property(
        "lemma-14b", spectra, rank_pair("nuclear", "participation"), ([1, 1],), True, {"factor": ONE}
    ),
    "lemma-14c": Property(
        "lemma-14c", spectra, rank_pair("participation", "entropy"), ([2, 2],), True, {"factor": ONE}
    ),
    "lemma-14d": Property(
        "lemma-14d", spectra, rank_pair("entropy", "rank"), ([3, 3, 0],), True, {"factor": ONE}
    ),
    "lemma-14e": Property("lemma-14e", spectra, nuclear_squared, ([3, 3, 0],), True, {"factor": ONE}),
    "lemma-15": Property(
        "lemma-15",
        st.tuples(
            st.integers(1, 30),
            st.sampled_from([Fraction(1, 10), Fraction(3, 10), H, Fraction(9, 10)]),
            st.sampled_from([Fraction(1, 2), Fraction(1, 20)]),
        ),
        occam,
        (
            (10, Fraction(26, 100), Fraction(1, 20)),
            (1, Fraction(9501, 10000), Fraction(1, 20)),
            (1, Fraction(949, 1000), Fraction(1, 20)),
        ),
        True,
        {"factor": ONE},
    ),
    "lemma-16 moment": Property(
        "lemma-16-moment", st.integers(1, 120), prior_moment, (1, 8000), False, {"factor": ONE}
    ),
    "lemma-17 free": Property(
        "lemma-17-free",
        st.tuples(positive, positive, st.integers(0, 9)),
        gaussian_entropy,
        ((10**6, 10, 1),),
        True,
        {"factor": H},
    ),
    "lemma-18": Property(
        "lemma-18",
        st.tuples(st.integers(1, 20), st.sampled_from([Fraction(1, 2), Fraction(1, 20), ONE])),
        gaussian_maximum,
        ((1, Fraction(999999, 1000000)), (1, Fraction(1, 10**140))),
        True,
        {"factor": ONE},
    ),
    "lemma-split": Property(
        "lemma-split", st.tuples(positive, positive, positive), split, ((3, 12, 2),), True, {"factor": ONE}
    ),
    "lemma-13b": Property(
        "lemma-13b",
        st.lists(small, min_size=3, max_size=3),
        attention_input,
        ([0, 1, 1],),
        True,
        {"factor": ONE},
    ),
    "lemma-16": Property(
        "lemma-16",
        st.tuples(
            st.integers(1, 8),
            st.sampled_from([Fraction(1, 10), H]),
            st.sampled_from([Fraction(1, 5), H]),
            st.sampled_from([H, Fraction(1, 20)]),
        ),
        pac_bayes,
        (),
        False,
        {"factor": ONE},
        floor=-1,
    ),
    "theorem-d": Property(
        "theorem-d",
        st.tuples(
            st.integers(1, 20),
            st.sampled_from([Fraction(1, 10), H, Fraction(9, 10)]),
            st.sampled_from([H, Fraction(1, 20)]),
        ),
        occam_many,
        ((1, Fraction(9938, 10000), Fraction(1, 20)),),
        False,
        {"factor": ONE},
        floor=0.9,
    ),
    "theorem-b1": Property("theorem-b1", matrices, bilinear, (SCALAR,), True, {"factor": ONE}),
    "theorem-c1-joint": Property(
        "theorem-c1-joint",
        st.lists(st.lists(small, min_size=2, max_size=2), min_size=1, max_size=3),
        joint_head,
        ([[1, -1]],),
        False,
        {"factor": ONE},
        floor=0.1,
    ),
    "theorem-p weights": Property("theorem-p", st.integers(1, 200), peeling, (2000,), True, {"factor": ONE}),
    "complexity-a1": Property(
        "complexity-a1",
        st.lists(st.lists(small, min_size=2, max_size=2), min_size=2, max_size=3),
        linear_head,
        ([[1, 0]],),
        False,
        {"factor": ONE},
    ),
    "complexity-c1-i": Property(
        "complexity-c1-i",
        st.lists(st.lists(small, min_size=2, max_size=2), min_size=1, max_size=3),
        softmax_head,
        ([[1, -1]],),
        False,
        {"factor": ONE},
    ),
}
