"""What the bounds measure, against exact rational arithmetic; the grid; the sample size that is needed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certify.adapters.scores import ScoreForm
from certify.bounds.hypotheses import judged
from certify.bounds.linear_readout import linear_readout_bound
from certify.bounds.peeling import PeeledBound, Settings, grid_index, vacuous
from certify.bounds.softmax_head import key_norm, not_covered, query_norm, trained_norm, value_radius
from certify.errors import NotCertified
from certify.kernel.bound import evaluate
from certify.kernel.enclosure import Enclosure
from proofs.theorems import THEOREMS

SETTINGS = Settings("0.05", "1", 2, "1", None)


def exact(array: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(float(x)) for x in row] for row in np.atleast_2d(array)]


def square_sum(rows: list[list[Fraction]]) -> Fraction:
    return sum((x * x for row in rows for x in row), Fraction(0))


def encloses_root(found: Enclosure, square: Fraction) -> bool:
    """Whether sqrt(square) lies in ``found``, decided by squaring the ends."""
    return Fraction(found.lower) ** 2 <= square <= Fraction(found.upper) ** 2


def form(rng: np.random.Generator, *, rotary: bool, bias: bool, **options: object) -> ScoreForm:
    pairs = ((0, 2), (1, 3)) if rotary else ()
    query, key = (
        rng.standard_normal((5, 6)).astype(np.float32),
        rng.standard_normal((4, 6)).astype(np.float32),
    )
    biases = [rng.standard_normal(6).astype(np.float32) if bias else None for _ in range(2)]
    return ScoreForm(query, key, *biases, scale=0.40824829, rotary_pairs=pairs, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_trained_norm_is_that_of_the_augmented_blocks(rotary: bool, bias: bool) -> None:
    """The identity for rotary pairs against the blocks M_f, N_f formed exactly."""
    head = form(np.random.default_rng(5), rotary=rotary, bias=bias)
    whole = Fraction(0)
    for query, key in head.blocks():
        q, k = exact(query), exact(key)
        product = [[sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0)) for y in k] for x in q]
        whole += square_sum(product)
    assert encloses_root(trained_norm(head), whole * Fraction(head.scale) ** 2)


@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e20])
def test_value_radius_contains_the_radius_around_the_same_centre(scale: float) -> None:
    values = (np.random.default_rng(1).standard_normal((7, 4)) * scale).astype(np.float32)
    centre = exact(values.astype(np.float64).mean(axis=0))[0]
    radii = [square_sum([[x - c for x, c in zip(row, centre, strict=True)]]) for row in exact(values)]
    assert encloses_root(value_radius(values), max(radii))


def test_key_norm_with_and_without_centre() -> None:
    rng = np.random.default_rng(2)
    keys = rng.standard_normal((6, 4)).astype(np.float32)
    plain, turned = form(rng, rotary=False, bias=True), form(rng, rotary=True, bias=True)
    centre = exact(keys.astype(np.float64).mean(axis=0))[0]
    around = square_sum([[x - c for x, c in zip(row, centre, strict=True)] for row in exact(keys)])
    assert encloses_root(key_norm(keys, plain), around)
    copies = turned.key_feature_multiplier
    assert copies == 3
    assert encloses_root(key_norm(keys, turned), copies * (square_sum(exact(keys)) + len(keys)))
    capped = form(rng, rotary=False, bias=False, softcap=30.0)
    assert encloses_root(key_norm(keys, capped), square_sum(exact(keys)))


def test_query_norm_is_the_root_mean_square() -> None:
    queries = np.random.default_rng(3).standard_normal((5, 4)).astype(np.float32)
    mean = square_sum(exact(queries)) / 5
    assert encloses_root(query_norm(queries, False), mean)
    assert encloses_root(query_norm(queries, True), mean + 1)


def test_heads_outside_the_theorem_are_named() -> None:
    rng = np.random.default_rng(4)
    assert not_covered(form(rng, rotary=True, bias=True)) is None
    assert "not known" in str(not_covered(None))
    normed = form(rng, rotary=True, bias=False, covered=False, reason="query/key normalisation")
    assert not_covered(normed) == "query/key normalisation"
    assert "soft cap" in str(not_covered(form(rng, rotary=False, bias=True, softcap=30.0)))


@given(st.fractions(min_value=0, max_value=10**6), st.fractions(min_value=Fraction(1, 100), max_value=10))
def test_grid_index_is_the_least(norm: Fraction, start: Fraction) -> None:
    ratio = Fraction(11, 10)
    j = grid_index(norm, start, ratio)
    assert start * ratio**j >= norm
    assert j == 0 or start * ratio ** (j - 1) < norm


@pytest.mark.parametrize(("start", "ratio"), [("0", "2"), ("1", "1"), ("1", "1/2"), ("-1", "2")])
def test_a_grid_that_is_none_is_refused(start: str, ratio: str) -> None:
    with pytest.raises(NotCertified, match="grid"):
        grid_index(Fraction(1), Fraction(start), Fraction(ratio))


def bound(largest: str) -> PeeledBound:
    fixed = {**SETTINGS.exact(), "norm_after": Enclosure.exact(1), "j": Enclosure.exact(0)}
    term = Enclosure.exact(largest)
    return PeeledBound(THEOREMS["A1-peeled"].prefix, fixed, "sum_sq_features", term, term)


@pytest.mark.parametrize("largest", ["0.0001", "0.25", "1", "123456.789"])
@pytest.mark.parametrize("level", ["1", "1/2", "1/10"])
def test_the_sample_size_is_the_least_integer(largest: str, level: str) -> None:
    peeled, threshold = bound(largest), Fraction(level)
    m = peeled.least_samples(threshold)
    assert Fraction(peeled.at(m).upper) < threshold
    assert m == 1 or Fraction(peeled.at(m - 1).upper) >= threshold


def test_the_value_uses_the_theorems_own_expression() -> None:
    """A readout of norm 1 on features of norm 1: the recorded value is that of the formula."""
    one = {"lower": "1", "upper": "1"}
    entry = linear_readout_bound([one, one, one], SETTINGS)
    values = {
        "m": 3,
        "sum_sq_features": 3,
        "delta": "0.05",
        "L": 1,
        "K": 2,
        "rho": "11/10",
        "c0": 1,
        "j": 0,
        "norm_after": 1,
    }
    direct = evaluate(THEOREMS["A1-peeled"].prefix, {k: Enclosure.exact(v) for k, v in values.items()})
    recorded = entry["on_these_inputs"]["value"]
    assert Fraction(recorded["lower"]) <= Fraction(direct.upper)
    assert Fraction(direct.lower) <= Fraction(recorded["upper"])
    assert entry["on_these_inputs"]["vacuous"] is True


def test_vacuous_when_in_doubt() -> None:
    assert vacuous(Enclosure.between("0.9", "1.1"))
    assert vacuous(Enclosure.exact(1))
    assert not vacuous(Enclosure.between("0.9", "0.99"))


def test_a_hypothesis_that_nobody_judged_is_refused() -> None:
    with pytest.raises(NotCertified, match="nobody judged"):
        judged("C1-vector-peeled", {})
