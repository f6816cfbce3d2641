"""Families of heads fixed before the sample: shapes, number of classes, and how numbers become a head.

``kind`` ``"softmax-head"``: query-key matrix (1 x d) and values (d x K) on tokens. ``"linear-head"``: weight
with the bias as its last row (d + 1 x K) on features. One output (K = 1) decides between two classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from certify.bounds.risk.heads import Head, LinearHead, SoftmaxHead
from certify.codec.matrices import QuantisedMatrix, Shape
from certify.errors import NotCertified


@dataclass(frozen=True)
class Family:
    """A decoder fixed before the sample. ``dimension``: d; ``outputs``: K."""

    kind: str
    dimension: int
    outputs: int

    @property
    def shapes(self) -> list[Shape]:
        """Shapes of the matrices, in order."""
        if self.kind == "softmax-head":
            return [(1, self.dimension), (self.dimension, self.outputs)]
        return [(self.dimension + 1, self.outputs)]

    @property
    def chance(self) -> Fraction:
        """The risk of guessing one of the classes at random."""
        return 1 - Fraction(1, max(2, self.outputs))

    def made_of(self, matrices: Sequence[np.ndarray]) -> Head:
        """The head of these float64 matrices."""
        if self.kind == "softmax-head":
            return SoftmaxHead(matrices[0][0], matrices[1])
        return LinearHead(matrices[0][:-1], matrices[0][-1])

    def matrices_of(self, head: Head) -> list[np.ndarray]:
        """The matrices of a head of this family, float64."""
        if isinstance(head, SoftmaxHead):
            return [head.scores[None, :], head.values]
        return [np.vstack([head.weight, head.bias])]

    def head(self, matrices: Sequence[QuantisedMatrix]) -> Head:
        """The head whose matrices are ``step * integers``: every entry must be an exact float64."""
        return self.made_of([_exact_array(m) for m in matrices])

    def drawn(self, entries: Sequence[np.ndarray]) -> Head:
        """The head whose matrices have these entries, row by row: one vector for each matrix."""
        return self.made_of([x.reshape(shape) for x, shape in zip(entries, self.shapes, strict=True)])


def family_of(kind: str, dimension: int, outputs: int) -> Family:
    """The family of heads that read a sample of this kind (``"tokens"`` or ``"features"``)."""
    return Family("softmax-head" if kind == "tokens" else "linear-head", dimension, outputs)


def _exact_array(matrix: QuantisedMatrix) -> np.ndarray:
    integers = matrix.integers()
    if integers.size and np.abs(integers).max() >= 1 << 50:
        raise NotCertified("an entry of the decoded matrix needs more than 53 bits")
    return integers * (matrix.step if matrix.rank else 0.0)
