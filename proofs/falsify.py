"""Search for an exact counterexample inside a statement's domain.

An *instance* is a concrete object (a vector, a class, a distribution, scores) described by exact numbers.
Its left side and the quantities that a claimed right side may mention are enclosed in intervals computed
from those numbers with outward rounding. A claim is refuted only if the lower end of the left side exceeds
the upper end of the right side; nothing is ever accepted because no counterexample was found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from mpmath import iv

from proofs.counterexamples.rank_one_head import half_tanh
from proofs.interval import PRECISION, NotProved, enclose
from proofs.normal_form import Term

Interval = Any
Values = Mapping[str, Interval]


@dataclass(frozen=True)
class Counterexample:
    """Exact numbers that refute a claim, and the two sides that they give."""

    data: Mapping[str, object]
    left: str
    right: str
    says: str


@dataclass(frozen=True)
class Instance:
    """A concrete object: exact data, the enclosed left side and the enclosed quantities of the right side."""

    data: Mapping[str, object]
    left: Interval
    values: Values
    says: str = "left side > right side"


def exact(value: Fraction | int) -> Interval:
    """An interval that contains a rational."""
    value = Fraction(value)
    return iv.mpf(value.numerator) / iv.mpf(value.denominator)


def evaluate(term: Term, values: Values) -> Interval:
    """An enclosure of a right side; ``kl_inverse`` by bisection, everything else by ``proofs.interval``."""
    if isinstance(term, tuple) and term[0] == "kl_inverse":
        q, c = (evaluate(part, values) for part in term[1:])
        return iv.mpf([_kl_inverse(q.a, c.a)[0], _kl_inverse(q.b, c.b)[1]])
    if isinstance(term, tuple) and any(isinstance(part, tuple) and _mentions_kl(part) for part in term[1:]):
        names = {f"%{n}": evaluate(part, values) for n, part in enumerate(term[1:])}
        return enclose((term[0], *names), {**values, **names})
    return enclose(term, values)


def _mentions_kl(term: Term) -> bool:
    return isinstance(term, tuple) and (
        term[0] == "kl_inverse" or any(_mentions_kl(part) for part in term[1:])
    )


def _kl(q: Interval, p: Interval) -> Interval:
    total = iv.mpf(0)
    for a, b in ((q, p), (1 - q, 1 - p)):
        if a.b > 0:
            total += a * iv.log(a / b) if a.a > 0 else a * iv.log(iv.mpf(1) / b)
    return total


def _kl_inverse(q: Any, c: Any) -> tuple[Any, Any]:
    """Lower and upper ends for ``max{p >= q : kl(q || p) <= c}``."""
    low, high = iv.mpf(q), iv.mpf(1)
    for _ in range(60):
        middle = iv.mpf(((low + high) / 2).mid)
        if q == 0:
            value = -iv.log(1 - middle)
        else:
            value = _kl(iv.mpf(q), middle)
        if value.b <= c:
            low = middle
        elif value.a > c:
            high = middle
        else:
            break
    return low.a, high.b


def holds(assumptions: Sequence[Term], values: Values) -> bool:
    """Whether every assumed inequality certainly holds at these values."""
    for relation, left, right in assumptions:
        try:
            gap = evaluate(right, values) - evaluate(left, values)
        except NotProved:
            return False
        if not (gap.a > 0 or (relation == "le" and gap.a >= 0)):
            return False
    return True


def refute(
    instances: Iterator[Instance], claimed: Term, assumptions: Sequence[Term] = ()
) -> Counterexample | None:
    """The first instance that meets the assumptions and certainly violates the claim."""
    saved, iv.prec = iv.prec, PRECISION
    try:
        for instance in instances:
            if not holds(assumptions, instance.values):
                continue
            try:
                right = evaluate(claimed, instance.values)
            except NotProved:
                continue
            if instance.left.a > right.b:
                return Counterexample(instance.data, _show(instance.left), _show(right), instance.says)
    finally:
        iv.prec = saved
    return None


def _show(value: Interval) -> str:
    """Two decimals that enclose the interval (mpmath prints each end as a pair that encloses it)."""
    low, high = str(value.a)[1:-1].split(", ")[0], str(value.b)[1:-1].split(", ")[1]
    return f"[{low}, {high}]"


# Signs
def _averages(n: int) -> list[tuple[int, ...]]:
    return list(product((1, -1), repeat=n))


def khintchine() -> Iterator[Instance]:
    """Integer vectors; the mean modulus is enumerated over all signs."""
    for n in range(1, 5):
        for vector in product(range(1, 4), repeat=n):
            if list(vector) != sorted(vector, reverse=True):
                continue
            mean = Fraction(
                sum(abs(sum(a * s for a, s in zip(vector, signs, strict=True))) for signs in _averages(n)),
                2**n,
            )
            yield Instance(
                {"vector": list(vector), "mean modulus": str(mean)},
                iv.sqrt(exact(sum(a * a for a in vector))),
                {"mean_modulus": exact(mean)},
            )


def vector_contraction() -> Iterator[Instance]:
    """One unit, two parameters: h differs by the length of the vectors' difference."""
    for difference in product(range(1, 4), repeat=2):
        mean = Fraction(
            sum(abs(sum(a * s for a, s in zip(difference, signs, strict=True))) for signs in _averages(2)), 8
        )
        left = iv.sqrt(exact(sum(a * a for a in difference))) / 2
        yield Instance(
            {
                "units": 1,
                "vectors": [list(difference), [0, 0]],
                "losses": ["their lengths"],
                "vector complexity": str(mean),
            },
            left,
            {"vector_complexity": exact(mean), "L": iv.mpf(1)},
        )


def scalar_contraction() -> Iterator[Instance]:
    """The identity map."""
    yield Instance(
        {"units": 1, "outputs": [1, 0], "loss": "the output itself"},
        exact(Fraction(1, 2)),
        {"complexity": exact(Fraction(1, 2)), "L": iv.mpf(1)},
    )


def massart() -> Iterator[Instance]:
    """All sign vectors of length n: the best one always agrees with the signs."""
    for n in range(2, 11):
        yield Instance(
            {"vectors": f"all of {{-1, 1}}^{n}", "n": n, "N": 2**n},
            iv.mpf(n),
            {"r": iv.sqrt(iv.mpf(n)), "N": iv.mpf(2**n)},
        )


def symmetrization() -> Iterator[Instance]:
    """One unit, k equally likely points, all subsets: the gap is 1 - 1/k, the complexity 1/2."""
    for k in (2, 3, 5, 10, 100, 1000):
        yield Instance(
            {"m": 1, "points": k, "class": "all subsets"},
            exact(1 - Fraction(1, k)),
            {"expected_complexity": exact(Fraction(1, 2))},
        )


# Softmax
def _softmax(scores: list[Fraction]) -> list[Interval]:
    powers = [iv.exp(exact(s)) for s in scores]
    total = powers[0]
    for power in powers[1:]:
        total = total + power
    return [power / total for power in powers]


def _score_pairs() -> Iterator[tuple[list[Fraction], list[Fraction]]]:
    for size in (Fraction(1), Fraction(1, 4), Fraction(1, 16), Fraction(1, 64), Fraction(1, 256)):
        yield [size, -size], [Fraction(0), Fraction(0)]
        yield [size, -size], [-size, size]
        yield [size, Fraction(0), -size], [Fraction(0)] * 3
    yield [Fraction(40), Fraction(0)], [Fraction(0), Fraction(40)]


def _softmax_instance(
    s: list[Fraction], t: list[Fraction]
) -> tuple[dict[str, object], list[Interval], Values]:
    p, q = _softmax(s), _softmax(t)
    change = [a - b for a, b in zip(s, t, strict=True)]
    values = {
        "largest_change": exact(max(abs(c) for c in change)),
        "oscillation": exact(max(change) - min(change)),
        "length": iv.sqrt(exact(sum((c * c for c in change), Fraction(0)))),
    }
    data: dict[str, object] = {"scores": [str(x) for x in s], "other scores": [str(x) for x in t]}
    return data, [a - b for a, b in zip(p, q, strict=True)], values


def softmax_l1() -> Iterator[Instance]:
    """Small and large score changes."""
    for s, t in _score_pairs():
        data, moved, values = _softmax_instance(s, t)
        yield Instance(data, sum((abs(x) for x in moved[1:]), abs(moved[0])), values)


def softmax_l2() -> Iterator[Instance]:
    """Small and large score changes."""
    for s, t in _score_pairs():
        data, moved, values = _softmax_instance(s, t)
        yield Instance(data, iv.sqrt(sum((x**2 for x in moved[1:]), moved[0] ** 2)), values)


def readout() -> Iterator[Instance]:
    """Values 1 on the first token, -1 on the last, 0 elsewhere."""
    for s, t in _score_pairs():
        data, moved, values = _softmax_instance(s, t)
        a = [1, *[0] * (len(s) - 2), -1]
        left = abs(sum((x * v for x, v in zip(moved[1:], a[1:], strict=True)), moved[0] * a[0]))
        yield Instance({**data, "values": a}, left, {**values, "osc_values": iv.mpf(2)})


# Spectra
def _spectra() -> Iterator[list[Fraction]]:
    for n in (1, 2, 3, 4):
        for spectrum in product((1, 2, 5, 20), repeat=n):
            if list(spectrum) == sorted(spectrum, reverse=True):
                yield [Fraction(s) for s in spectrum]


def effective_ranks(which: str) -> Callable[[], Iterator[Instance]]:
    """Integer spectra; ``which`` is the rank on the left."""

    def instances() -> Iterator[Instance]:
        for s in _spectra():
            top, one, two = max(s), sum(s, Fraction(0)), sum((x * x for x in s), Fraction(0))
            entropy = iv.mpf(0)
            for x in s:
                entropy -= exact(x / one) * iv.log(exact(x / one))
            ranks = {
                "stable_rank": exact(two / top**2),
                "nuclear_rank": exact(one / top),
                "participation_ratio": exact(one * one / two),
                "entropy_rank": iv.exp(entropy),
                "rank": iv.mpf(len(s)),
            }
            yield Instance({"singular values": [str(x) for x in s]}, ranks[which], ranks)

    return instances


# The naive claim
def naive_rank(claimed: Term, assumptions: Sequence[Term] = ()) -> Counterexample | None:
    """Proposition N2: attention rank 1, d = 2m inputs, gap at least 1/2 for every sample; m large enough."""
    for power in range(1, 200):
        m = 2**power
        values = {"R": iv.mpf(1), "m": iv.mpf(m), "delta": exact(Fraction(1, 20)), "layers": iv.mpf(1)}
        if not holds(assumptions, values):
            continue
        try:
            right = evaluate(claimed, values)
        except NotProved:
            continue
        if right.b < 0.5:
            margin = half_tanh(Fraction(6))
            data = {
                "m": m,
                "inputs": 2 * m,
                "attention rank": 1,
                "R": 1,
                "delta": "1/20",
                "beta": 6,
                "margin": f"tanh(3) >= {margin.a}",
                "W": "query block r to content block j: beta Omega_rj, Omega_j = label "
                "where the input was seen, -label elsewhere",
            }
            return Counterexample(
                data,
                "[0.5, 1.0]",
                _show(right),
                "for every sample the gap is at least 1 - m/(2m) = 1/2 with every "
                "attention matrix of rank one (Propositions N1, N2), more than the claimed bound",
            )
    return None


# Uniform deviation
def _finite_classes() -> Iterator[tuple[str, list[Fraction], list[list[int]]]]:
    """(name, distribution, class of functions with values 0 and 1)."""
    for p in (Fraction(1, 2), Fraction(3, 10), Fraction(1, 10)):
        yield f"one function, probability {p} of loss 1", [p, 1 - p], [[1, 0]]
        yield f"two functions, probability {p}", [p, 1 - p], [[1, 0], [0, 1]]
    for k in (3, 4):
        yield f"all subsets of {k} points", [Fraction(1, k)] * k, [list(f) for f in product((0, 1), repeat=k)]


def uniform_deviation(claimed: Term, assumptions: Sequence[Term] = ()) -> Counterexample | None:
    """Exact failure probability over all samples of up to 6 units, for several delta."""
    for name, weights, functions in _finite_classes():
        risks = [sum((w for w, v in zip(weights, f, strict=True) if v), Fraction(0)) for f in functions]
        for m in range(1, 7 if len(weights) == 2 else 4):
            rows = [
                _sample_row(sample, weights, functions, risks)
                for sample in product(range(len(weights)), repeat=m)
            ]
            for delta in (
                Fraction(1, 2),
                Fraction(3, 10),
                Fraction(1, 10),
                Fraction(1, 20),
                Fraction(1, 100),
            ):
                found = _failure(claimed, assumptions, name, m, delta, rows)
                if found:
                    return found
    return None


Row = tuple[Fraction, Fraction, Fraction]
"""Probability of a sample, its largest gap, its empirical Rademacher complexity."""


def _sample_row(
    sample: tuple[int, ...], weights: list[Fraction], functions: list[list[int]], risks: list[Fraction]
) -> Row:
    m = len(sample)
    probability = Fraction(1)
    for point in sample:
        probability *= weights[point]
    gap = max(risk - Fraction(sum(f[z] for z in sample), m) for f, risk in zip(functions, risks, strict=True))
    total = sum(
        max(sum(s * f[z] for s, z in zip(signs, sample, strict=True)) for f in functions)
        for signs in _averages(m)
    )
    return probability, gap, Fraction(total, m * 2**m)


def _failure(
    claimed: Term, assumptions: Sequence[Term], name: str, m: int, delta: Fraction, rows: list[Row]
) -> Counterexample | None:
    failing = Fraction(0)
    bounds: dict[Fraction, Interval] = {}
    for probability, gap, complexity in rows:
        if complexity not in bounds:
            values = {
                "empirical_complexity": exact(complexity),
                "M": iv.mpf(1),
                "m": iv.mpf(m),
                "delta": exact(delta),
            }
            try:
                bounds[complexity] = evaluate(claimed, values) if holds(assumptions, values) else iv.inf
            except NotProved:
                return None
        if exact(gap).a > bounds[complexity].b:
            failing += probability
    if failing <= delta:
        return None
    return Counterexample(
        {"class": name, "m": m, "delta": str(delta)},
        str(failing),
        str(delta),
        "the probability that the bound fails exceeds delta (all samples and signs enumerated)",
    )


# Codes
def occam(claimed: Term, assumptions: Sequence[Term] = ()) -> Counterexample | None:
    """One model: exact binomial probability that the bound fails, for several risks and sample sizes."""
    from math import comb

    for bits, models in ((0, 1), (1, 2), (3, 8)):
        for m in (1, 2, 5, 10, 30):
            for risk in (Fraction(1, 10), Fraction(3, 10), Fraction(1, 2), Fraction(9, 10)):
                for delta in (Fraction(1, 2), Fraction(1, 10), Fraction(1, 20)):
                    good = Fraction(0)
                    for k in range(m + 1):
                        values = {
                            "emp_risk": exact(Fraction(k, m)),
                            "code_bits": iv.mpf(bits),
                            "m": iv.mpf(m),
                            "delta": exact(delta),
                        }
                        try:
                            right = evaluate(claimed, values)
                        except NotProved:
                            return None
                        if not (exact(risk).a > right.b and holds(assumptions, values)):
                            good += comb(m, k) * risk**k * (1 - risk) ** (m - k)
                    if 1 - good**models > delta:
                        return Counterexample(
                            {
                                "models": models,
                                "bits": bits,
                                "m": m,
                                "risk of each": str(risk),
                                "delta": str(delta),
                                "losses of the models": "independent",
                            },
                            str(1 - good**models),
                            str(delta),
                            "the probability that some model's bound fails exceeds delta (exact binomial "
                            "sums)",
                        )
    return None
