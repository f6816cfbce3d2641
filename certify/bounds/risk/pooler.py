"""Theorem D relative to a public base: a low-rank update of the base's last dense-tanh layer and a head.

f(x) = w^T tanh((W0 + U) x + b0) + b. W0 and b0 belong to the public model and are free; what the sample
decided, the update U (rank, factors, step) and the head, is what the code pays for. Rank 0 costs one
bit, so the search may find that the base needs no update.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from certify.bounds.risk.entries import Bound
from certify.bounds.risk.fitting import ONE, exponent_near, surrogate
from certify.bounds.risk.heads import EXP_ASSUMPTION, MARGIN_ERROR, Margins, chunks
from certify.bounds.risk.occam import counted
from certify.bounds.risk.samples import Sample
from certify.codec.arithmetic import Codeword
from certify.codec.matrices import QuantisedMatrix, Shape, decode, encode, step
from certify.errors import DataError, NotCertified
from certify.oracles import linear_training
from certify.oracles.pooler_training import train_update

UPDATED = "base with updated last layer, compressed"
KIND = "pooler-update"
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Anchor:
    """The public layer: ``weight`` float32 (k, d), ``bias`` float32 (k,)."""

    weight: np.ndarray
    bias: np.ndarray

    @property
    def shapes(self) -> list[Shape]:
        """Shapes of the coded matrices: update (k x d), head with its bias as last row (k + 1 x 1)."""
        k, d = self.weight.shape
        return [(k, d), (k + 1, 1)]

    def digest(self) -> str:
        """SHA-256 of shape and numbers."""
        state = hashlib.sha256(f"{self.weight.shape} ".encode())
        state.update(self.weight.astype("<f4").tobytes() + self.bias.astype("<f4").tobytes())
        return state.hexdigest()


@dataclass(frozen=True)
class UpdatedHead:
    """The decoded classifier; margin (2y - 1) f(x) in real arithmetic."""

    anchor: Anchor
    update: np.ndarray
    weight: np.ndarray
    bias: float

    def margins(self, sample: Sample) -> Margins:
        """Enclosures of the margins; tanh may err by 2^-45, every rounding is below MARGIN_ERROR of its
        term."""
        k, d = self.anchor.weight.shape
        if sample.kind != "features" or sample.dimension != d:
            raise DataError(
                f"the layer reads features of dimension {d}, not {sample.kind} {sample.dimension}"
            )
        if d >= 1 << 10 or k >= 1 << 10:
            raise NotCertified(f"a layer of {k} x {d} exceeds the error analysis")
        layer = self.anchor.weight.astype(np.float64) + self.update
        middle, radius = [], []
        for rows in chunks(len(sample)):
            x, sign = sample.inputs[rows].astype(np.float64), np.where(sample.labels[rows] == 1, 1.0, -1.0)
            hidden = np.tanh(x @ layer.T + self.anchor.bias)
            size = np.abs(x) @ np.abs(layer).T + np.abs(self.anchor.bias) + 1.0
            middle.append(sign * (hidden @ self.weight + self.bias))
            radius.append((size @ np.abs(self.weight) + abs(self.bias) + np.finfo(float).tiny) * MARGIN_ERROR)
        return Margins(np.concatenate(middle), np.concatenate(radius))


def decoded(word: Codeword, anchor: Anchor) -> UpdatedHead:
    """The classifier that the payload describes, relative to the anchor."""
    update, head = decode(word, anchor.shapes)
    column = (head.integers() * head.step)[:, 0]
    return UpdatedHead(anchor, update.integers() * update.step, column[:-1], float(column[-1]))


def compress(
    anchor: Anchor, sample: Sample, ranks: tuple[int, ...], progress: Progress, effort: float = 1.0
) -> dict[int, Codeword]:
    """The best codeword found for each rank of the update."""
    found: dict[int, tuple[float, Codeword]] = {}
    for rank in ranks:
        for penalty in (3e-4, 1e-3, 3e-3):
            word = _one(anchor, sample, rank, penalty, effort)
            errors = decoded(word, anchor).margins(sample).errors()
            value = surrogate(errors, len(sample), word.length * math.log(2))
            progress(f"update of rank {rank}: {word.length} bits, {errors} errors, bound about {value:.4f}")
            if rank not in found or value < found[rank][0]:
                found[rank] = (value, word)
    return {rank: word for rank, (_, word) in found.items()}


def _one(anchor: Anchor, sample: Sample, rank: int, penalty: float, effort: float) -> Codeword:
    hidden = np.tanh(sample.inputs @ anchor.weight.T + anchor.bias).astype(np.float32)
    start = linear_training.train_linear(hidden, sample.labels)
    exponent, steps = exponent_near(0.8 * float(np.std(start))), max(10, round(300 * effort))
    update_exponent = exponent_near(0.5 * float(np.std(anchor.weight)))
    empty = QuantisedMatrix(*(np.zeros((n, 0), dtype=np.int64) for n in anchor.weight.shape))  # type: ignore[arg-type]
    if rank == 0:
        update = empty
        head = linear_training.train_linear_quantised(
            hidden, sample.labels, start, 1, step(exponent), penalty, steps
        )
    else:
        left, right, flat = train_update(
            sample.inputs,
            sample.labels,
            (anchor.weight, anchor.bias),
            start[:, 0],
            step(exponent),
            step(update_exponent),
            rank,
            penalty,
            steps,
            0,
        )
        update, head = QuantisedMatrix(left, right, 1, update_exponent), flat[:, None]
        layer = anchor.weight + (update.integers() * update.step).astype(np.float32)
        hidden = np.tanh(sample.inputs @ layer.T + anchor.bias).astype(np.float32)
    head = linear_training.polish(hidden, sample.labels, head, 1, 2e-4, max(1, round(200 * effort)))
    return encode([update, QuantisedMatrix(head, ONE, 1, exponent)])


def occam_update(word: Codeword, anchor: Anchor, sample: Sample, delta: Fraction, rank: int) -> Bound:
    """Theorem D, binomial-tail form, for the updated base."""
    margins, subject = decoded(word, anchor).margins(sample), f"{UPDATED} (rank {rank})"
    bound = counted(margins, word.length, delta, subject, note="relative to a public base")
    return replace(bound, value=bound.value.with_assumptions(EXP_ASSUMPTION))


def family_record(anchor: Anchor) -> dict[str, Any]:
    """What the certificate says of its decoder."""
    k, d = anchor.weight.shape
    return {"kind": KIND, "dimension": d, "hidden": k, "outputs": 1, "anchor_sha256": anchor.digest()}
