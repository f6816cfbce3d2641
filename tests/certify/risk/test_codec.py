"""The prefix code: what is decoded is what was coded, and Kraft's sum is at most 1, exactly."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import constriction
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certify.codec.arithmetic import AdaptiveLaw, Codeword, Encoder, IntegerLaw
from certify.codec.matrices import MAX_EXPONENT, QuantisedMatrix, decode, encode, step
from certify.errors import MatrixError, VerificationError
from certify.verify import codeword


@st.composite
def quantised(draw: st.DrawFn) -> QuantisedMatrix:
    rows, columns = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    rank = draw(st.integers(0, min(rows, columns)))
    levels = draw(st.sampled_from([1, 2, 3, 40])) if rank else 1
    entries = st.integers(-levels, levels)
    left = draw(st.lists(entries, min_size=rows * rank, max_size=rows * rank))
    right = draw(st.lists(entries, min_size=columns * rank, max_size=columns * rank))
    exponent = draw(st.integers(-MAX_EXPONENT, MAX_EXPONENT)) if rank else 0
    shape = (rows, rank), (columns, rank)
    arrays = (np.array(x, dtype=np.int64).reshape(s) for x, s in zip((left, right), shape, strict=True))
    return QuantisedMatrix(*arrays, levels, exponent)


@given(st.lists(quantised(), min_size=1, max_size=3))
def test_round_trip(matrices: list[QuantisedMatrix]) -> None:
    found = decode(encode(matrices), [m.shape for m in matrices])
    for a, b in zip(matrices, found, strict=True):
        assert np.array_equal(a.left, b.left)
        assert np.array_equal(a.right, b.right)
        assert (a.levels, a.exponent) == (b.levels, b.exponent)


@given(st.lists(quantised(), min_size=1, max_size=2), st.integers(0, 2**20), st.integers(1, 20))
def test_every_continuation_of_the_bits_decodes_to_the_same_model(
    matrices: list[QuantisedMatrix], tail: int, more: int
) -> None:
    word = encode(matrices)
    reader = codeword.Reader((word.number << more) | (tail & ((1 << more) - 1)), word.length + more)
    for matrix in matrices:
        integers, scale = codeword.read_matrix(reader, *matrix.shape)
        assert np.array_equal(integers, matrix.integers())
        assert scale == Fraction(matrix.step) or not matrix.rank


@given(st.lists(quantised(), min_size=1, max_size=2), st.integers(1, 8))
def test_fewer_bits_are_refused(matrices: list[QuantisedMatrix], cut: int) -> None:
    word = encode(matrices)
    if word.length <= cut:
        return
    with pytest.raises(VerificationError):
        decode(Codeword(word.number >> cut, word.length - cut), [m.shape for m in matrices])


def test_a_longer_word_for_the_same_model_is_refused() -> None:
    matrix = QuantisedMatrix(np.ones((1, 1), dtype=np.int64), np.ones((3, 1), dtype=np.int64))
    word = encode([matrix])
    with pytest.raises(VerificationError, match="shortest"):
        decode(Codeword(word.number << 1, word.length + 1), [matrix.shape])


def all_small_words() -> list[Codeword]:
    words = [encode([QuantisedMatrix(np.zeros((1, 0), dtype=np.int64), np.zeros((2, 0), dtype=np.int64))])]
    for levels, exponent in itertools.product((1, 2), (-1, 0, 1)):
        values = range(-levels, levels + 1)
        for a, b, c in itertools.product(values, repeat=3):
            left, right = np.array([[a]], dtype=np.int64), np.array([[b], [c]], dtype=np.int64)
            words.append(encode([QuantisedMatrix(left, right, levels, exponent)]))
    return words


def test_kraft_and_no_word_begins_another() -> None:
    words = all_small_words()
    assert sum((Fraction(1, 1 << w.length) for w in words), Fraction(0)) <= 1
    ends = sorted((Fraction(w.number, 1 << w.length), Fraction(w.number + 1, 1 << w.length)) for w in words)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(ends))


def test_the_kraft_check_can_fail() -> None:
    stolen = [Codeword(w.number >> 1, w.length - 1) for w in all_small_words()]  # one bit fewer claimed
    ends = sorted((Fraction(w.number, 1 << w.length), Fraction(w.number + 1, 1 << w.length)) for w in stolen)
    assert any(a[1] > b[0] for a, b in itertools.pairwise(ends))


@given(st.integers(0, 10**6))
def test_the_integer_law_locates_both_ends_of_every_share(value: int) -> None:
    start, size, total = IntegerLaw().share(value)
    law = IntegerLaw()
    assert law.locate(start, total) == value
    assert law.locate((start + size) * 1000 - 1, total * 1000) == value


def test_shares_add_up_to_one() -> None:
    total = sum(
        (Fraction(IntegerLaw().share(k)[1], IntegerLaw().share(k)[2]) for k in range(50)), Fraction(0)
    )
    assert total == 1 - Fraction(1, 51)
    law = AdaptiveLaw(3)
    for value in (0, 0, 2, 1, 0):
        assert sum(Fraction(law.share(v)[1], law.share(v)[2]) for v in range(3)) == 1
        law.learn(value)


@settings(max_examples=30)
@given(st.lists(st.integers(-2, 2), min_size=20, max_size=300))
def test_the_length_is_within_two_bits_of_the_ideal(entries: list[int]) -> None:
    column = np.array(entries, dtype=np.int64)[:, None]
    encoder = Encoder()
    law, ideal = AdaptiveLaw(5), 0.0
    for entry in column[:, 0].tolist():
        start_size_total = law.share(entry + 2)
        ideal -= math.log2(start_size_total[1] / start_size_total[2])
        encoder.choose(law, entry + 2)
    assert encoder.codeword().length <= ideal + 2 + 1e-9


def test_not_longer_than_a_well_kept_range_coder() -> None:
    generator = np.random.default_rng(0)
    symbols = generator.choice(5, size=400, p=[0.05, 0.15, 0.6, 0.15, 0.05])
    own, peer, law = Encoder(), constriction.stream.queue.RangeEncoder(), AdaptiveLaw(5)
    for symbol in symbols.tolist():
        counts = np.array(law.counts, dtype=np.float64)
        model = constriction.stream.model.Categorical(counts / counts.sum(), perfect=False)
        peer.encode(symbol, model)
        own.choose(law, symbol)
    words = peer.get_compressed()
    assert own.codeword().length <= 32 * len(words)
    assert own.codeword().length > 32 * len(words) - 64 - 8


def test_steps_are_exact_and_rise() -> None:
    steps = [Fraction(step(e)) for e in range(-20, 20)]
    assert all(a < b for a, b in itertools.pairwise(steps))
    assert Fraction(step(-4)) == Fraction(1, 2)
    assert Fraction(step(5)) == Fraction(5, 2)


@pytest.mark.parametrize(
    ("left", "right", "levels", "exponent"),
    [
        (np.full((2, 1), 2), np.ones((3, 1)), 1, 0),
        (np.ones((2, 3)), np.ones((3, 3)), 1, 0),
        (np.ones((2, 1)), np.ones((3, 2)), 1, 0),
        (np.ones((2, 1)), np.ones((3, 1)), 0, 0),
        (np.ones((2, 1)), np.ones((3, 1)), 1, MAX_EXPONENT + 1),
    ],
)
def test_matrices_outside_the_code_are_refused(
    left: np.ndarray, right: np.ndarray, levels: int, exponent: int
) -> None:
    with pytest.raises(MatrixError):
        QuantisedMatrix(left.astype(np.int64), right.astype(np.int64), levels, exponent)


@pytest.mark.parametrize("word", [Codeword(0, 0), Codeword(4, 2), Codeword((1 << 60) - 1, 60)])
def test_words_that_are_no_codewords_are_refused(word: Codeword) -> None:
    with pytest.raises(VerificationError):
        decode(word, [(3, 3)])
