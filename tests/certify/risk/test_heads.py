"""Margins contain the exact margin, error counts are never too small."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certify.bounds.risk.heads import LinearHead, Margins, SoftmaxHead, softmax_margins
from certify.bounds.risk.samples import Sample, read_npz
from certify.errors import DataError, NotCertified

mp = mpmath.mp.clone()
mp.dps = 80


def tokens_for(generator: np.random.Generator, n: int, longest: int, d: int, k: int) -> np.ndarray:
    tokens = np.full((n, longest, k), -1, dtype=np.int16)
    for i in range(n):
        for t in range(generator.integers(1, longest + 1)):
            tokens[i, t] = generator.choice(d, size=k, replace=False)
    return tokens


def exact_logits(scores: np.ndarray, values: np.ndarray, tokens: np.ndarray) -> list[object]:
    visible = [row for row in tokens.tolist() if row[0] >= 0]
    raw = [mp.fsum(mp.mpf(float(scores[c])) for c in row) for row in visible]
    weight = [mp.exp(s) for s in raw]
    return [
        mp.fsum(
            w * mp.fsum(mp.mpf(float(values[c, j])) for c in row)
            for w, row in zip(weight, visible, strict=True)
        )
        / mp.fsum(weight)
        for j in range(values.shape[1])
    ]


def exact_margin(logits: list[object], label: int) -> object:
    if len(logits) == 1:
        return logits[0] if label == 1 else -logits[0]  # type: ignore[operator]
    return logits[label] - max(x for j, x in enumerate(logits) if j != label)  # type: ignore[operator]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 3]), st.sampled_from([1e-3, 1.0, 30.0]))
def test_softmax_margins_contain_the_exact_margin(seed: int, outputs: int, scale: float) -> None:
    generator = np.random.default_rng(seed)
    d, n = 7, 6
    head = SoftmaxHead(scale * generator.standard_normal(d), scale * generator.standard_normal((d, outputs)))
    tokens = tokens_for(generator, n, 4, d, 2)
    labels = generator.integers(0, max(2, outputs), n)
    found = head.margins(Sample(tokens, labels, d))
    for i in range(n):
        truth = exact_margin(exact_logits(head.scores, head.values, tokens[i]), int(labels[i]))
        assert abs(truth - mp.mpf(found.middle[i])) <= mp.mpf(found.radius[i])  # type: ignore[operator]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_margins_of_one_head_for_each_unit_contain_the_exact_margin(seed: int) -> None:
    generator = np.random.default_rng(seed)
    d, n = 6, 5
    scores, values = 3 * generator.standard_normal((n, d + 1)), generator.standard_normal((n, d + 1, 1))
    scores[:, -1] = values[:, -1] = 0.0
    tokens, labels = tokens_for(generator, n, 5, d, 3), generator.integers(0, 2, n)
    middle, radius = softmax_margins(tokens, labels, scores, values)
    for i in range(n):
        truth = exact_margin(exact_logits(scores[i], values[i], tokens[i]), int(labels[i]))
        assert abs(truth - mp.mpf(middle[i])) <= mp.mpf(radius[i])  # type: ignore[operator]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 3]))
def test_linear_margins_contain_the_exact_margin(seed: int, outputs: int) -> None:
    generator = np.random.default_rng(seed)
    d, n = 30, 5
    features = (generator.standard_normal((n, d)) * 10.0 ** generator.integers(-6, 6, d)).astype(np.float32)
    head = LinearHead(generator.standard_normal((d, outputs)), generator.standard_normal(outputs))
    labels = generator.integers(0, max(2, outputs), n)
    found = head.margins(Sample(features, labels, d))
    for i in range(n):
        logits = [
            sum(
                (Fraction(float(a)) * Fraction(float(b)) for a, b in zip(features[i], w, strict=True)),
                Fraction(float(c)),
            )
            for w, c in zip(head.weight.T, head.bias, strict=True)
        ]
        truth = exact_margin(list(logits), int(labels[i]))
        assert abs(truth - Fraction(float(found.middle[i]))) <= Fraction(float(found.radius[i]))  # type: ignore[operator]


def test_ties_and_undecided_margins_are_errors() -> None:
    margins = Margins(np.array([0.0, 1.0, -1.0, 1e-12]), np.array([0.0, 1e-9, 1e-9, 1e-9]))
    assert margins.errors() == 3
    assert margins.undecided() == 2


def test_a_head_of_zeros_is_always_wrong() -> None:
    head = SoftmaxHead(np.zeros(3), np.zeros((3, 1)))
    sample = Sample(np.array([[[0, 1]], [[1, 2]]], dtype=np.int16), np.array([0, 1]), 3)
    assert head.margins(sample).errors() == 2


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=20), st.sampled_from([0.25, 1.0, 2.0]))
def test_ramp_risk_is_an_upper_bound(middles: list[float], width: float) -> None:
    middle, radius = np.array(middles), np.full(len(middles), 1e-9)
    worst = sum(
        (
            min(Fraction(1), max(Fraction(0), 1 - (Fraction(m) - Fraction(1e-9)) / Fraction(width)))
            for m in middles
        ),
        Fraction(0),
    ) / len(middles)
    found = Margins(middle, radius).ramp_risk(width)
    assert worst <= found <= worst + Fraction(1, 10**9)


def test_unfit_inputs_are_named() -> None:
    head = SoftmaxHead(np.zeros(3), np.zeros((3, 1)))
    tokens = np.array([[[0, 1]]], dtype=np.int16)
    with pytest.raises(DataError, match="dimension 3"):
        head.margins(Sample(tokens, np.array([0]), 4))
    with pytest.raises(DataError, match="label 2"):
        head.margins(Sample(tokens, np.array([2]), 3))
    with pytest.raises(NotCertified, match="error analysis"):
        head.margins(Sample(np.zeros((1, 600, 2), dtype=np.int16), np.array([0]), 3))
    with pytest.raises(DataError, match="no sample"):
        Sample(tokens, np.array([0, 1]), 3)
    with pytest.raises(NotCertified, match="width > 0"):
        Margins(np.zeros(1), np.zeros(1)).ramp_risk(0.0)


GOOD = {"tokens": np.array([[[0, 1], [-1, -1]]], dtype=np.int16), "labels": np.array([1]), "dimension": 3}
NAN = np.array([[1.0, float("nan")]], dtype=np.float32)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": np.array([[1]])}, "one row of integers"),
        ({"labels": np.array([-1])}, "one row of integers"),
        ({"tokens": np.array([[[0, 3]]], dtype=np.int16)}, r"outside -1\.\.2"),
        ({"tokens": np.array([[[0, -1]]], dtype=np.int16)}, "padding in some"),
        ({"tokens": np.array([[[-1, -1]]], dtype=np.int16)}, "unit 0 has no token"),
        ({"tokens": np.array([[[1, 1]]], dtype=np.int16)}, "twice"),
        ({"tokens": np.array([[0.5]])}, "must be integers"),
        ({"tokens": None}, "needs 'labels'"),
        ({"dimension": None}, "dimension"),
        ({"tokens": None, "features": NAN}, "feature 1 of unit 0 is nan"),
        ({"tokens": None, "features": NAN.astype(np.float64)}, "float32"),
    ],
)
def test_bad_samples_are_refused_with_the_place(
    tmp_path: object, change: dict[str, np.ndarray | None], message: str
) -> None:
    path = tmp_path / "data.npz"  # type: ignore[operator]
    np.savez(path, **{k: v for k, v in {**GOOD, **change}.items() if v is not None})
    with pytest.raises(DataError, match=message):
        read_npz(path)


def test_a_sample_survives_saving_and_its_digest_knows_the_order(tmp_path: object) -> None:
    sample = Sample(np.array([[[0, 1]], [[1, 2]]], dtype=np.int16), np.array([0, 1]), 3)
    path = tmp_path / "data.npz"  # type: ignore[operator]
    sample.save(path)
    assert read_npz(path).digest() == sample.digest()
    assert sample.part(np.array([1, 0])).digest() != sample.digest()
    flipped = Sample(sample.inputs, 1 - sample.labels, 3)
    assert flipped.digest() != sample.digest()
