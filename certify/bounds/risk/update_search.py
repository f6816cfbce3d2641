"""Which updates of a base are worth their bits: suggestions from certified spectra, then training with
rounding. Untrusted: whatever comes out is decoded again and its errors counted (:mod:`.updates`).

1. The certified singular values of each difference model - base say which matrices moved and how many
   singular directions hold 50, 90 or 99 per cent of the change (the energy rank).
2. Each such plan is cut from the differences by SVD and scored in floats on part of the sample.
3. The factors of the best plan are trained on with ternary rounding at several prices of an entry, and the
   head's entries moved one at a time. No update at all (rank 0) always competes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from certify.bounds.risk.fitting import LinearFit, compress, exponent_near, surrogate
from certify.bounds.risk.heads import LinearHead
from certify.bounds.risk.run import Plan
from certify.bounds.risk.samples import Sample
from certify.bounds.risk.tail import Tail
from certify.bounds.risk.updated_base import UpdatedBase
from certify.codec.arithmetic import Codeword
from certify.codec.matrices import QuantisedMatrix, decode, decode_update, encode, encode_update, unchanged
from certify.engine.journal import Journal, array_digest, digest_of
from certify.kernel.counting import energy_ranks_of
from certify.kernel.spectrum import singular_values
from certify.oracles.linear_training import polish
from certify.oracles.update_training import Rounded, Start, train_update

ENERGIES = (Fraction(1, 2), Fraction(9, 10), Fraction(99, 100))
PRICES = (5.0, 12.0)  # of a nonzero entry, in units of the loss of one unit of the sample
EPOCHS, LEAST_STEPS, BATCH = 5, 500, 32
SCORED_UNITS, BITS_PER_ENTRY = 1000, 0.6  # of the scoring in floats; what a ternary, sparse entry costs
POLISH_PRICE, POLISH_ROUNDS = 1.5, 200
HEAD_SCALE = 16.0  # moves no decision and costs few bits, but large margins lose nothing in the ramp loss
NOTHING = "no matrix"
WORK_VERSION = "1"  # of what the journal holds: another number when the same inputs give other results
ENTRIES_PER_UNIT = 2  # of the factors: beyond, not even sparse ternary ones can pay
Ranks = Mapping[str, int]
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Tuned:
    """A fine-tuned model next to its base. ``units``: float32 (n, d) with labels, what the base reads;
    ``deltas``: model - base by name; ``head``: the model's own; ``test``: held-out units, or None."""

    base: UpdatedBase
    units: Sample
    deltas: Mapping[str, np.ndarray]
    head: LinearHead
    test: Sample | None = None

    @property
    def outputs(self) -> int:
        """The number of outputs of the head: 1 for two classes."""
        return int(self.head.weight.shape[1])


def dense(matrix: QuantisedMatrix) -> np.ndarray:
    """``step * left @ right.T``, float64."""
    return matrix.integers() * (matrix.step if matrix.rank else 0.0)


def plans(deltas: Mapping[str, np.ndarray], limit: int, progress: Progress) -> list[Ranks]:
    """Matrices and ranks that certified spectra suggest, together fewer than ``limit`` entries of factors.

    For each share of the energy (the squared Frobenius norm of all changes): the fewest matrices that hold
    it, each at its certified energy rank for that share; and the one that moved most alone. What costs too
    much is halved, the largest rank first.
    """
    known: dict[str, tuple[float, list[int]]] = {}
    moved = [name for name, delta in deltas.items() if np.any(delta) and sum(delta.shape) < limit]
    for number, name in enumerate(moved):
        values = singular_values(deltas[name])
        ranks = [rank.upper for rank in energy_ranks_of(values, ENERGIES)]
        known[name] = float((np.asarray(values.upper) ** 2).sum()), ranks
        progress(f"spectra of the difference: {number + 1} of {len(moved)}")
    order = sorted(known, key=lambda name: -known[name][0])
    held = np.cumsum([known[name][0] for name in order])
    found: list[Ranks] = []
    for place, share in enumerate(ENERGIES):
        count = int(np.searchsorted(held, float(share) * held[-1])) + 1 if order else 0
        for names in (order[:count], order[:1]):
            plan = _affordable({n: known[n][1][place] for n in names}, deltas, limit)
            if plan and plan not in found:
                found.append(plan)
    return found


def _affordable(plan: dict[str, int], deltas: Mapping[str, np.ndarray], limit: int) -> dict[str, int]:
    while sum(rank * sum(deltas[n].shape) for n, rank in plan.items()) >= limit:
        largest = max(plan, key=lambda name: plan[name])
        if plan[largest] > 1:
            plan[largest] = (plan[largest] + 1) // 2
        else:
            plan.popitem()  # the one that moved least
    return plan


def factors_of(delta: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """(left, right) of the best approximation of this rank, of equal size."""
    u, s, vt = np.linalg.svd(delta, full_matrices=False)
    root = np.sqrt(s[:rank])
    return u[:, :rank] * root, vt[:rank].T * root


class Search:
    """The candidates for one fine-tuned model; finished ones are kept in ``journal`` until the report is
    saved."""

    def __init__(self, tuned: Tuned, plan: Plan, journal: Journal) -> None:
        self.tuned, self.plan, self.journal = tuned, plan, journal
        parts = [array_digest(np.asarray(d)) for _, d in sorted(tuned.deltas.items()) if np.any(d)]
        parts += [array_digest(tuned.head.weight), array_digest(tuned.head.bias), str(plan.effort)]
        self.suggested = plans(tuned.deltas, ENTRIES_PER_UNIT * len(tuned.units), plan.progress)
        names = {name for suggestion in self.suggested for name in suggestion}
        self._tail = Tail(tuned.base, tuned.units.inputs, names, plan.progress)
        self._key = digest_of(tuned.base.digest(), tuned.units.digest(), *parts)

    def best(self) -> Codeword:
        """The codeword whose bound by theorem D is smallest, judged in float32."""
        found = [(value, word.length, word.number) for value, word in self.candidates()]
        _, length, number = min(found)
        return Codeword(number, length)

    def frozen(self) -> tuple[Codeword, Sample]:
        """(the head of the candidate without an update, in the code of heads; frozen features): rank 0."""
        _, word = self._kept(NOTHING, self._rank_zero)
        shape = (self.tuned.base.width + 1, self.tuned.outputs)
        head = decode_update(word, self.tuned.base.shapes, shape)[1]
        return encode([head]), self._sample(self._tail.features({}))

    def candidates(self) -> Iterator[tuple[float, Codeword]]:
        """(bound by theorem D in floats, codeword) of every candidate; the first is the base as it is."""
        suggested = self.suggested
        self.plan.progress(f"certified spectra suggest: {'; '.join(map(shown, suggested)) or 'no update'}")
        yield self._kept(NOTHING, self._rank_zero)
        if suggested:
            chosen = min(suggested, key=self._score)
            for price in PRICES:
                label = f"{shown(chosen, len(chosen))} at {price:g} for an entry"
                yield self._kept(label, partial(self._trained, chosen, price))

    def _kept(self, label: str, make: Callable[[], tuple[float, Codeword]]) -> tuple[float, Codeword]:
        """The candidate from the journal, or made now."""
        key = digest_of(WORK_VERSION, "update", self._key, label)
        stored = self.journal.get(key)
        if stored is None:
            value, word = make()
            stored = {"value": value, "number": hex(word.number), "length": word.length}
            self.journal.put(key, stored)
        word = Codeword(int(stored["number"], 16), stored["length"])
        self.plan.progress(f"update, {label}: {word.length} bits, bound about {stored['value']:.4f}")
        return stored["value"], word

    def _score(self, plan: Ranks) -> float:
        """The bound that the plan would have if rounding cost no errors."""
        deltas = {n: _product(factors_of(self.tuned.deltas[n], r)) for n, r in plan.items()}
        part = slice(0, SCORED_UNITS)
        sample = self._sample(self._tail.features(deltas, part), part)
        m = len(self.tuned.units)
        errors = round(self.tuned.head.margins(sample).errors() / len(sample) * m)
        bits = BITS_PER_ENTRY * sum(r * sum(self.tuned.deltas[n].shape) for n, r in plan.items())
        return surrogate(errors, m, bits * math.log(2))

    def _sample(self, features: np.ndarray, part: slice = slice(None)) -> Sample:
        return Sample(features, self.tuned.units.labels[part], self.tuned.base.width)

    def _rank_zero(self) -> tuple[float, Codeword]:
        """The base as it is, with the best head on it."""
        sample = self._sample(self._tail.features({}))
        fit = LinearFit(sample, self.plan.effort, self.plan.seed, self.tuned.outputs)
        head = decode(compress(fit, fit.plain(), self.plan.levels, lambda text: None).word, fit.family.shapes)
        return self._judged({}, head[0], sample)

    def _trained(self, plan: Ranks, price: float) -> tuple[float, Codeword]:
        """Updates of this plan trained with rounding, and the head that fits them."""
        tuned, m = self.tuned, len(self.tuned.units)
        start = Start(
            {n: factors_of(tuned.deltas[n], r) for n, r in plan.items()},
            np.vstack([tuned.head.weight, tuned.head.bias]),
        )
        epochs = max(1, round(self.plan.effort * max(EPOCHS, LEAST_STEPS * BATCH / m)))
        rounded = train_update(
            self._tail.enter,
            self._tail.groups,
            tuned.units.labels,
            start,
            price / m,
            epochs,
            self.plan.seed,
            self.plan.progress,
        )
        update = quantised(rounded)
        sample = self._sample(self._tail.features({n: dense(q) for n, q in update.items()}))
        bit = POLISH_PRICE * math.log(2) / m
        head = polish(sample.inputs, sample.labels, rounded.head, 1, bit, POLISH_ROUNDS)
        exponent = exponent_near(HEAD_SCALE * rounded.head_step)
        return self._judged(
            update, QuantisedMatrix(head, np.eye(tuned.outputs, dtype=np.int64), 1, exponent), sample
        )

    def _judged(
        self, update: Mapping[str, QuantisedMatrix], head: QuantisedMatrix, sample: Sample
    ) -> tuple[float, Codeword]:
        word = encode_update(in_order(self.tuned.base, update), head)
        matrix = dense(head)
        errors = LinearHead(matrix[:-1], matrix[-1]).margins(sample).errors()
        return surrogate(errors, len(sample), word.length * math.log(2)), word


def quantised(rounded: Rounded) -> dict[str, QuantisedMatrix]:
    """The updates as the code writes them, without columns that are 0."""
    found = {}
    for name, (left, right, size) in rounded.factors.items():
        alive = left.any(axis=0) & right.any(axis=0)
        if alive.any():
            found[name] = QuantisedMatrix(left[:, alive], right[:, alive], 1, exponent_near(size))
    return found


def in_order(base: UpdatedBase, update: Mapping[str, QuantisedMatrix]) -> list[QuantisedMatrix]:
    """One matrix for each tensor of the base, rank 0 where nothing changes."""
    shapes = dict(zip(base.anchors, base.shapes, strict=True))
    return [update.get(name) or unchanged(shape) for name, shape in shapes.items()]


def shown(ranks: Ranks, most: int = 4) -> str:
    """``query.weight rank 1, value.weight rank 1``; more than ``most`` are cut."""
    parts = [f"{name} rank {rank}" for name, rank in ranks.items()]
    return ", ".join(parts[:most] + ([f"and {len(parts) - most} more"] if len(parts) > most else []))


def _product(pair: Sequence[np.ndarray]) -> np.ndarray:
    return np.asarray(pair[0] @ pair[1].T)
