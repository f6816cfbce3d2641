"""Quantised low-rank matrices as choices of the coder: what the bits of Theorem D are spent on.

One matrix (d1 x d2) is ``step * left @ right.T`` with integer factors ``left`` (d1, r), ``right`` (d2, r)
of entries in [-levels, levels] and ``step = (4 + e mod 4) / 4 * 2^(e div 4)``, four steps an octave. Spent:

* the rank r, by P(r) = 1/((r+1)(r+2)); rank 0 (the matrix stays at its anchor) costs one bit;
* if r > 0: ``levels - 1`` and the zig-zag index of e, by the same law;
* every column of every factor by the adaptive law on 2 levels + 1 symbols, started afresh.

All of it may be chosen after training. Fixed before the sample: this code, the shapes and their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from certify.codec.arithmetic import AdaptiveLaw, Codeword, Decoder, Encoder, IntegerLaw
from certify.errors import MatrixError, VerificationError

Shape = tuple[int, int]

MAX_LEVELS = 1 << 12
MAX_EXPONENT = 4 * 60


@dataclass(frozen=True)
class QuantisedMatrix:
    """``step(exponent) * left @ right.T``; ``left`` (d1, r), ``right`` (d2, r), int64, |entry| <= levels."""

    left: np.ndarray
    right: np.ndarray
    levels: int = 1
    exponent: int = 0

    def __post_init__(self) -> None:
        if self.left.ndim != 2 or self.right.ndim != 2 or self.left.shape[1] != self.right.shape[1]:
            raise MatrixError(f"factors of shapes {self.left.shape} and {self.right.shape} make no matrix")
        if self.rank > min(self.shape):
            raise MatrixError(f"rank {self.rank} is more than a {self.shape} matrix can have")
        largest = max((int(np.abs(f).max()) for f in (self.left, self.right) if f.size), default=0)
        if largest > self.levels or not 1 <= self.levels <= MAX_LEVELS:
            raise MatrixError(
                f"entries up to {largest} do not fit {self.levels} levels (at most {MAX_LEVELS})"
            )
        if abs(self.exponent) > MAX_EXPONENT:
            raise MatrixError(f"the exponent {self.exponent} is beyond {MAX_EXPONENT}")

    @property
    def shape(self) -> Shape:
        """(d1, d2)."""
        return self.left.shape[0], self.right.shape[0]

    @property
    def rank(self) -> int:
        """The number of columns of the factors."""
        return self.left.shape[1]

    @property
    def step(self) -> float:
        """The scale, a dyadic number that float64 holds exactly."""
        return step(self.exponent)

    def integers(self) -> np.ndarray:
        """``left @ right.T`` (d1, d2), int64, exact."""
        return self.left @ self.right.T


def step(exponent: int) -> float:
    """``(4 + e mod 4) / 4 * 2^(e div 4)``, exactly."""
    return (4 + exponent % 4) / 4 * 2.0 ** (exponent // 4)


def zigzag(value: int) -> int:
    """The place of an integer in 0, -1, 1, -2, 2, ..."""
    return 2 * value if value >= 0 else -2 * value - 1


def _unzigzag(index: int) -> int:
    return index // 2 if index % 2 == 0 else -(index + 1) // 2


def _factor(
    coder: Encoder | Decoder, rows: int, rank: int, levels: int, given: np.ndarray | None
) -> np.ndarray:
    columns = np.zeros((rows, rank), dtype=np.int64)
    for j in range(rank):
        law = AdaptiveLaw(2 * levels + 1)
        for i in range(rows):
            known = 0 if given is None else int(given[i, j]) + levels
            columns[i, j] = coder.choose(law, known) - levels
    return columns


def _matrix(coder: Encoder | Decoder, shape: Shape, given: QuantisedMatrix | None) -> QuantisedMatrix:
    """One description of the code for both directions: ``given`` is what an encoder writes."""
    law = IntegerLaw()
    rank = coder.choose(law, given.rank if given else 0)
    if rank > min(shape):
        raise VerificationError(f"the payload holds rank {rank} for a {shape[0]} x {shape[1]} matrix")
    if rank == 0:
        left, right = (np.zeros((n, 0), dtype=np.int64) for n in shape)
        return QuantisedMatrix(left, right)
    levels = coder.choose(law, given.levels - 1 if given else 0) + 1
    exponent = _unzigzag(coder.choose(law, zigzag(given.exponent) if given else 0))
    if levels > MAX_LEVELS or abs(exponent) > MAX_EXPONENT:
        raise VerificationError(
            f"the payload holds {levels} levels and exponent {exponent}, beyond the limits"
        )
    left = _factor(coder, shape[0], rank, levels, given.left if given else None)
    right = _factor(coder, shape[1], rank, levels, given.right if given else None)
    return QuantisedMatrix(left, right, levels, exponent)


def encode(matrices: Sequence[QuantisedMatrix]) -> Codeword:
    """The codeword of the matrices; its length in bits is the complexity of Theorem D."""
    encoder = Encoder()
    for matrix in matrices:
        _matrix(encoder, matrix.shape, matrix)
    return encoder.codeword()


def decode(word: Codeword, shapes: Sequence[Shape]) -> list[QuantisedMatrix]:
    """The matrices of the given shapes; refused unless the bits, all of them and no more, determine them."""
    decoder = Decoder(word)
    matrices = [_matrix(decoder, shape, None) for shape in shapes]
    again = encode(matrices)
    if again != word:
        raise VerificationError(
            f"the payload has {word.length} bits, but the shortest codeword of its model has {again.length}"
        )
    return matrices


def _update(
    coder: Encoder | Decoder,
    shapes: Sequence[Shape],
    head: Shape,
    given: tuple[Sequence[QuantisedMatrix], QuantisedMatrix] | None,
) -> tuple[list[QuantisedMatrix], QuantisedMatrix]:
    law = AdaptiveLaw(2)
    changed = [coder.choose(law, int(given[0][i].rank > 0) if given else 0) for i in range(len(shapes))]
    update = [
        _matrix(coder, shape, given[0][i] if given else None) if changed[i] else unchanged(shape)
        for i, shape in enumerate(shapes)
    ]
    return update, _matrix(coder, head, given[1] if given else None)


def unchanged(shape: Shape) -> QuantisedMatrix:
    """Rank 0: the matrix stays at its anchor."""
    return QuantisedMatrix(*(np.zeros((n, 0), dtype=np.int64) for n in shape))  # type: ignore[arg-type]


def encode_update(update: Sequence[QuantisedMatrix], head: QuantisedMatrix) -> Codeword:
    """The codeword of an update of many matrices and of a head.

    First one adaptive flag for each matrix says whether it changes: much less than a bit each if few do.
    Then the changed matrices and the head, as in :func:`encode`.
    """
    encoder = Encoder()
    _update(encoder, [m.shape for m in update], head.shape, (update, head))
    return encoder.codeword()


def decode_update(
    word: Codeword, shapes: Sequence[Shape], head: Shape
) -> tuple[list[QuantisedMatrix], QuantisedMatrix]:
    """(update, head) of the given shapes; refused unless exactly these bits determine them."""
    found = _update(Decoder(word), shapes, head, None)
    again = encode_update(*found)
    if again != word:
        raise VerificationError(
            f"the payload has {word.length} bits, but the shortest codeword of its model has {again.length}"
        )
    return found
