"""The second checker's own arithmetic: intervals contain, formulas agree with the kernel's."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import libmp, mp, mpf

from certify.engine.order_statistics import order_statistic
from certify.kernel.bound import evaluate
from certify.kernel.enclosure import Enclosure
from certify.report import digest
from certify.verify import attention, digests, enclose, formula, spectra, tails, theorems
from certify.verify.interval import Interval
from proofs.theorems import THEOREMS

positive = st.fractions(min_value=Fraction(1, 10**6), max_value=10**6)
boxes = st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 30)), min_size=1, max_size=9)


def contains(found: Interval, value: Any) -> bool:
    """Whether the exact or 60-digit ``value`` lies in ``found``."""
    mp.dps = 60
    low, high = found.low(), found.high()
    if isinstance(value, Fraction):
        return low <= value <= high
    return bool(number(low) <= value <= number(high))


def test_intervals_refuse_nan_and_exchanged_ends() -> None:
    nan, one, two = libmp.fnan, libmp.fone, libmp.ftwo
    for low, high in ((nan, nan), (nan, one), (one, nan), (two, one)):
        with pytest.raises(ArithmeticError):
            Interval(low, high)


def number(x: Fraction) -> Any:
    mp.dps = 60
    return mpf(x.numerator) / x.denominator


@given(positive, positive)
def test_arithmetic_contains_the_exact_value(a: Fraction, b: Fraction) -> None:
    x, y = Interval.of(a), Interval.of(b)
    for found, truth in ((x + y, a + b), (x - y, a - b), (x * y, a * b), (x / y, a / b), (-x, -a)):
        assert contains(found, truth)
    assert contains(x.power(Fraction(3)), a**3)
    assert contains(x.power(Fraction(-2)), 1 / a**2)
    square_root = x.sqrt()
    assert square_root.low() ** 2 <= a <= square_root.high() ** 2


@given(positive)
def test_transcendental_functions_contain_sixty_digits(a: Fraction) -> None:
    x, value = Interval.of(a), number(a)
    small = Interval.of(a / 10**4)
    assert contains(x.log(), mp.log(value))
    assert contains(small.exp(), mp.exp(value / 10**4))
    assert contains(formula.evaluate(("tanh", "x"), {"x": small}), mp.tanh(value / 10**4))
    assert contains(formula.evaluate(("cosh", "x"), {"x": small}), mp.cosh(value / 10**4))
    assert contains(formula.evaluate(("acosh", "x"), {"x": Interval.of(1 + a)}), mp.acosh(1 + value))
    assert contains(formula.evaluate(("pi",), {}), +mp.pi)


@pytest.mark.parametrize("twice", range(1, 12))
def test_gamma_at_half_integers(twice: int) -> None:
    mp.dps = 60
    assert contains(formula.evaluate(("gamma", f"{twice}/2"), {}), mp.gamma(mpf(twice) / 2))


@pytest.mark.parametrize(("q", "c"), [("0", "1/100"), ("1/10", "1/50"), ("1/2", "2"), ("999/1000", "1/7")])
def test_kl_inverse_solves_its_equation(q: str, c: str) -> None:
    found = formula.evaluate(("kl_inverse", q, c), {})

    def kl(p: Fraction) -> Any:
        a, b = number(Fraction(q)), number(p)
        return (a * mp.log(a / b) if a else 0) + (1 - a) * mp.log((1 - a) / (1 - b))

    assert kl(found.low()) <= number(Fraction(c)) + mpf(10) ** -25
    assert found.high() == 1 or kl(found.high()) >= number(Fraction(c)) - mpf(10) ** -25
    assert found.high() - found.low() < Fraction(1, 10**12)


def test_binomial_tail_inverse_by_exact_sums() -> None:
    k, n, delta = 3, 40, Fraction(1, 20)
    found = formula.evaluate(("binomial_tail_inverse", str(k), str(n), "1/20"), {})

    def at_most(p: Fraction) -> Fraction:
        return sum((math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1)), Fraction(0))

    assert at_most(found.low()) >= delta >= at_most(found.high())


@given(st.integers(0, 30), st.integers(0, 12), st.integers(1, 99), st.integers(1, 99))
def test_a_claimed_end_is_accepted_only_if_exact_sums_allow_it(k: int, bits: int, a: int, b: int) -> None:
    """P(Bin(30, p) <= k) <= delta 2^-bits in fractions; the checker may refuse a hair, never accept one."""
    p, delta = Fraction(a, 100), Fraction(b, 100)
    tail = sum((math.comb(30, i) * p**i * (1 - p) ** (30 - i) for i in range(k + 1)), Fraction(0))
    accepted = tails.at_least_tail_inverse(p, k, 30, delta, bits)
    assert not accepted or tail <= delta / 2**bits
    assert accepted or tail > delta / 2**bits * (1 - Fraction(1, 10**20))


@given(st.integers(0, 100), st.integers(1, 100), st.fractions(min_value=0, max_value=1))
def test_a_claimed_kl_end_needs_the_entropy(a: int, b: int, budget: Fraction) -> None:
    q, p = Fraction(a, 100), Fraction(b, 100)
    accepted = tails.at_least_kl_inverse(p, q, Interval.of(budget))
    if p == 1 or p < q:
        assert accepted == (p == 1)
        return
    with mp.workdps(60):
        x, y = number(q), number(p)
        kl = (x * mp.log(x / y) if x else 0) + (1 - x) * mp.log((1 - x) / (1 - y))
        assert not accepted or kl >= number(budget) - mpf(10) ** -50
        assert accepted or kl <= number(budget) + mpf(10) ** -25


@pytest.mark.parametrize("name", sorted(theorems.KNOWN_BOUNDS))
def test_known_bounds_are_those_of_proofs(name: str) -> None:
    """A constant changed in proofs/ must be looked at here before a report with it is accepted."""
    import hashlib

    theorem = THEOREMS[name]
    known = theorems.KNOWN_BOUNDS[name]
    assert hashlib.sha256(theorem.prefix.encode()).hexdigest() == known.formula_sha256
    assert {h.id for h in theorem.hypotheses} <= known.hypotheses
    assert theorem.level == known.level
    assert known.measured in {symbol.name for symbol in theorem.inputs}


CHOSEN = {
    "m": "1000", "n_test": "50", "n_draws": "40", "rho": "11/10", "emp_risk": "1/10", "eta_scores": "1/10",
    "eta_values": "1/10", "k_errors": "2",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(THEOREMS))
def test_both_evaluators_agree_on_every_theorem(name: str) -> None:
    """Two evaluators written apart: their enclosures of the same bound must meet, and be narrow."""
    theorem = THEOREMS[name]
    values = {
        s.name: Fraction(1, 20) if s.sort in ("fraction",) or "delta" in s.name else Fraction(3)
        for s in theorem.inputs
    }
    values |= {name: Fraction(value) for name, value in CHOSEN.items() if name in values}
    first = evaluate(theorem.prefix, {k: Enclosure.exact(v) for k, v in values.items()})
    second = formula.evaluate(formula.parse(theorem.prefix), {k: Interval.of(v) for k, v in values.items()})
    assert Fraction(first.lower) <= second.high()
    assert second.low() <= Fraction(first.upper)
    assert second.high() - second.low() <= Fraction(1, 10**9) * (1 + abs(second.high()))


@pytest.mark.parametrize(
    "text",
    [
        "(add 1",
        "add 1)",
        "(frobnicate 1)",
        "(log 0)",
        "(div 1 0)",
        "x",
        "(pow 2 x)",
        "()",
        "(sqrt -1)",
        "1 2",
        "(log)",
    ],
)
def test_bad_formulas_are_errors(text: str) -> None:
    with pytest.raises(ArithmeticError):
        formula.evaluate(formula.parse(text), {})


def truth(values: list[Fraction]) -> dict[str, Any]:
    """All effective ranks of an exact spectrum, to 60 digits."""
    s = [number(v) for v in values]

    def entropy(x: list[Any]) -> Any:
        whole = mp.fsum(x)
        return mp.exp(-mp.fsum(v / whole * mp.log(v / whole) for v in x if v))

    one, two, four = (mp.fsum(v**k for v in s) for k in (1, 2, 4))
    return {
        "stable": two / s[0] ** 2, "nuclear": one / s[0], "nuclear-frobenius": one**2 / two,
        "participation": two**2 / four, "entropy": entropy(s), "gram-entropy": entropy([v * v for v in s]),
    }  # fmt: skip


@given(boxes, st.data())
def test_ranks_of_a_box_contain_those_of_every_point(
    items: list[tuple[int, int]], data: st.DataObject
) -> None:
    box = sorted(((Fraction(a), Fraction(a + w)) for a, w in items), reverse=True)
    box[0] = (box[0][0] + 1, box[0][1] + 1)
    points = sorted(
        (data.draw(st.sampled_from([a, b, (a + b) / 2, (2 * a + b) / 3])) for a, b in box), reverse=True
    )
    lows = sorted((a for a, _ in box), reverse=True)
    highs = sorted((b for _, b in box), reverse=True)
    spectrum = [Interval.of(a, b) for a, b in zip(lows, highs, strict=True)]
    found, exact = spectra.effective_ranks(spectrum, len(spectrum)), truth(points)
    plain = spectra.plain_quotients(spectrum)
    for kind in spectra.KINDS:
        # The truth is known to 60 digits only, and a box may be a single point.
        hair = Fraction(1, 10**45)
        assert contains(Interval.of(found[kind].low() - hair, found[kind].high() + hair), exact[kind]), kind
        if kind in plain:
            assert plain[kind].low() <= found[kind].high()
            assert found[kind].low() <= plain[kind].high()


@given(boxes, st.data())
def test_integer_ranks_contain_those_of_every_point(
    items: list[tuple[int, int]], data: st.DataObject
) -> None:
    box = sorted(((Fraction(a + 1), Fraction(a + w + 1)) for a, w in items), reverse=True)
    lows, highs = sorted((a for a, _ in box), reverse=True), sorted((b for _, b in box), reverse=True)
    points = sorted(
        (data.draw(st.fractions(min_value=a, max_value=b)) for a, b in zip(lows, highs, strict=True)),
        reverse=True,
    )
    pairs = list(zip(lows, highs, strict=True))
    for epsilon in (Fraction(1, 2), Fraction(1, 10)):
        low, high = spectra.numerical_rank(pairs, epsilon)
        assert low <= sum(p > epsilon * points[0] for p in points) <= high
    for level in (Fraction(1, 2), Fraction(9, 10), Fraction(1)):
        low, high = spectra.energy_rank(pairs, level)
        whole = sum(p * p for p in points)
        need = next(k for k in range(1, len(points) + 1) if sum(p * p for p in points[:k]) >= level * whole)
        assert low <= need <= high


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 9)), min_size=1, max_size=9))
def test_both_order_statistics_agree(items: list[tuple[int, int]]) -> None:
    pairs = [{"lower": str(a), "upper": str(a + w)} for a, w in items]
    for level in (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(1)):
        assert attention.order_statistic(pairs, level) == order_statistic(pairs, level)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
)


@given(st.dictionaries(st.text(max_size=4), json_values, min_size=1, max_size=4))
def test_both_digests_agree(value: dict[str, Any]) -> None:
    assert list(digest.parts(value)) == list(digests.parts(value))
    assert digest.sha256(value) == digests.sha256(value)


@pytest.mark.parametrize("kind", ["dense", "graded", "low rank", "product", "tiny", "huge", "one row"])
def test_the_second_enclosure_contains_exact_spectra(kind: str) -> None:
    """Hadamard factors with dyadic spectra: the truth is exact."""
    from scipy.linalg import hadamard

    n = 16
    h = hadamard(n).astype(np.float64) / 4.0
    exact = np.sort(2.0 ** -np.arange(n))[::-1] * 3.0
    if kind == "graded":
        exact = 2.0 ** (-2.0 * np.arange(n))
    if kind == "low rank":
        exact = np.concatenate([exact[:3], np.zeros(n - 3)])
    factors = [(h * exact) @ h.T]
    if kind == "product":
        exact = np.concatenate([exact[:4], np.zeros(n - 4)])
        factors = [h[:, :4] * exact[:4], h[:, :4].copy()]
    scale = {"tiny": 2.0**-500, "huge": 2.0**500}.get(kind, 1.0)
    factors[0] = factors[0] * scale
    if kind == "one row":
        factors, exact = [np.array([[3.0, 4.0, 12.0]])], np.array([13.0])
    lower, upper = enclose.second_enclosure(factors)
    for low, high, value in zip(lower, upper, exact, strict=True):
        assert Fraction(float(low)) <= Fraction(float(value)) * Fraction(scale) <= Fraction(float(high))
    assert float(upper[0] - lower[0]) < 1e-12 * float(upper[0])


def test_slices_are_exact_and_bounded() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((7, 5)) * 10.0 ** rng.integers(-9, 9, (7, 5))
    pieces, rest = enclose.slices(x, 20)
    left = [
        [Fraction(float(x[i, j])) - sum(Fraction(float(p[i, j])) for p in pieces) for j in range(5)]
        for i in range(7)
    ]
    assert sum(v * v for row in left for v in row) <= Fraction(rest) ** 2 * (
        1 + Fraction(1, 10**6)
    ) + Fraction(1, 10**40)
    for piece in pieces:
        unit = np.abs(piece[piece != 0]).min()
        assert np.all(piece / 2.0 ** math.floor(math.log2(unit) - 25) % 1 == 0)


def test_a_wrong_residual_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a wrong oracle the enclosure widens and still contains the truth."""
    matrix = np.diag([3.0, 2.0, 1.0])

    def lying(linalg: Any, a: Any) -> tuple[Any, Any, Any]:
        return np.eye(3), np.array([3.5, 2.0, 1.0]), np.eye(3)

    monkeypatch.setattr(enclose, "_gesvd", lying)
    lower, upper = enclose.second_enclosure([matrix])
    assert lower[0] <= 3.0 <= upper[0]
    assert upper[0] - lower[0] >= 0.5
