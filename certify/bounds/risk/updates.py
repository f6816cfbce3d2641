"""Theorem D relative to a public base, for any fine-tuned classifier: pay for updates and a head.

Untrusted search: the singular vectors of each difference model - base suggest factors, these are rounded,
and candidates (which matrices, rank, levels) are scored on part of the sample; the best get a compressed
head. Trusted: the codeword is decoded again, the decoded model run, and its errors counted on every unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from certify.bounds.risk.entries import Bound, Verdict
from certify.bounds.risk.families import Family
from certify.bounds.risk.fitting import LinearFit, compress, exponent_near, surrogate
from certify.bounds.risk.heads import LinearHead
from certify.bounds.risk.occam import counted
from certify.bounds.risk.run import Plan
from certify.bounds.risk.samples import Sample
from certify.bounds.risk.table import Table
from certify.bounds.risk.updated_base import UpdatedBase, arithmetic
from certify.codec import certificate_file
from certify.codec.arithmetic import Codeword
from certify.codec.matrices import QuantisedMatrix, decode, decode_update, encode_update, unchanged

KIND = "base-update"
RANKS, LEVELS, COUNTS = (1, 2, 4, 8), (1, 3, 7), (1, 2, 4, 8, 1 << 30)
SCORED_UNITS, FINALISTS, BATCH = 500, 2, 64
Update = Mapping[str, QuantisedMatrix]


@dataclass(frozen=True)
class Tuned:
    """A fine-tuned model next to its base. ``units``: float32 (n, d) with labels, what the base reads;
    ``deltas``: model - base by name; ``head``: the model's own."""

    base: UpdatedBase
    units: Sample
    deltas: Mapping[str, np.ndarray]
    head: LinearHead


@dataclass(frozen=True)
class Decoded:
    """A codeword, the sample as the decoded model's head sees it, and that head."""

    word: Codeword
    entered: Sample
    head: LinearHead
    ranks: Mapping[str, int]


def dense(matrix: QuantisedMatrix) -> np.ndarray:
    """``step * left @ right.T``, float64."""
    return matrix.integers() * (matrix.step if matrix.rank else 0.0)


def quantise(delta: np.ndarray, rank: int, levels: int) -> QuantisedMatrix:
    """Rounded singular factors with the least-squares step; rank 0 if nothing is left."""
    u, s, vt = np.linalg.svd(delta, full_matrices=False)
    rank = min(rank, int((s > 1e-6 * s[0]).sum()))
    width = 1.2 if levels == 1 else 2.5
    factors = []
    for side in (u[:, :rank], vt[:rank].T):
        scaled = side * np.sqrt(s[:rank])
        unit = width * math.sqrt(float(np.mean(scaled**2))) / levels
        factors.append(np.clip(np.rint(scaled / max(unit, 1e-300)), -levels, levels).astype(np.int64))
    product = factors[0] @ factors[1].T
    size, along = float((product * product).sum()), float((product * delta).sum())
    if size == 0 or along <= 0:
        return unchanged((delta.shape[0], delta.shape[1]))
    return QuantisedMatrix(factors[0], factors[1], levels, exponent_near(along / size))


def candidates(tuned: Tuned) -> Iterator[dict[str, QuantisedMatrix]]:
    """Updates of the matrices that moved most, at several ranks and levels; all must be cheaper than a bit
    a unit."""
    moved = {k: d for k, d in tuned.deltas.items() if np.any(d)}
    order = sorted(moved, key=lambda k: -float(np.linalg.norm(moved[k])))
    limit = len(tuned.units)
    yield {}
    tried = set()
    for levels in LEVELS:
        for rank in RANKS:
            for count in COUNTS:
                names = [k for k in order[:count] if rank * sum(moved[k].shape) < limit]
                update = {k: quantise(moved[k], rank, levels) for k in names}
                update = {k: m for k, m in update.items() if m.rank}
                shown = tuple((k, m.rank, levels) for k, m in update.items())
                entries = sum(m.rank * sum(m.shape) for m in update.values())
                if update and shown not in tried and entries < limit:
                    tried.add(shown)
                    yield update


def search(tuned: Tuned, plan: Plan) -> Decoded:
    """The candidate whose bound by Theorem D is smallest; no update is always among the finalists."""
    part = tuned.units.part(slice(0, SCORED_UNITS))
    nothing = unchanged((1, 1))
    scored: list[tuple[float, int, dict[str, QuantisedMatrix]]] = []
    tried = list(candidates(tuned))
    for number, update in enumerate(tried):
        tuned.base.set({k: dense(m) for k, m in update.items()})
        features = tuned.base.entered(part.inputs, BATCH)
        errors = tuned.head.margins(Sample(features, part.labels, tuned.base.width)).errors()
        bits = encode_update(_in_order(tuned.base, update), nothing).length
        value = surrogate(round(errors / len(part) * len(tuned.units)), len(tuned.units), bits * math.log(2))
        scored.append((value, number, update))
        done = f"updates: {number + 1} of {len(tried)}"
        plan.progress(f"{done}: {_ranks(update)}, {bits} bits, {errors} errors in {len(part)}")
    chosen = [u for _, _, u in sorted(scored, key=lambda s: s[:2])[:FINALISTS]]
    best: tuple[float, Decoded] | None = None
    for update in chosen if {} in chosen else [*chosen, {}]:
        found = decoded(_with_head(tuned, update, plan), tuned, plan)
        errors = found.head.margins(found.entered).errors()
        value = surrogate(errors, len(tuned.units), found.word.length * math.log(2))
        plan.progress(f"update: {_ranks(update)}, {found.word.length} bits, {errors} errors, {value:.4f}")
        if best is None or value < best[0]:
            best = (value, found)
    if best is None:
        raise ValueError("no update was tried")
    return best[1]


def _ranks(update: Update) -> str:
    return ", ".join(f"{k} rank {m.rank}" for k, m in list(update.items())[:3]) or "none"


def _in_order(base: UpdatedBase, update: Update) -> list[QuantisedMatrix]:
    shapes = dict(zip(base.anchors, base.shapes, strict=True))
    return [update.get(name) or unchanged(shape) for name, shape in shapes.items()]


def _with_head(tuned: Tuned, update: Update, plan: Plan) -> Codeword:
    """Run the updated base, compress a head on what it computes, and write both as one codeword."""
    tuned.base.set({k: dense(m) for k, m in update.items()})
    sample = Sample(tuned.base.entered(tuned.units.inputs, BATCH), tuned.units.labels, tuned.base.width)
    outputs = _outputs(tuned)
    fit = LinearFit(sample, plan.effort, plan.seed, outputs)
    word = compress(fit, fit.plain(), plan.levels, lambda text: None).word
    head = decode(word, Family("linear-head", sample.dimension, outputs).shapes)[0]
    return encode_update(_in_order(tuned.base, update), head)


def _outputs(tuned: Tuned) -> int:
    return tuned.head.weight.shape[1]


def decoded(word: Codeword, tuned: Tuned, plan: Plan) -> Decoded:
    """The model that the payload describes, run on every unit in the certified arithmetic."""
    family = Family("linear-head", tuned.base.width, _outputs(tuned))
    update, matrix = decode_update(word, tuned.base.shapes, family.shapes[0])
    tuned.base.set({k: dense(m) for k, m in zip(tuned.base.anchors, update, strict=True) if m.rank})
    features = tuned.base.entered(tuned.units.inputs, progress=plan.progress)
    head = family.head([matrix])
    ranks = {k: m.rank for k, m in zip(tuned.base.anchors, update, strict=True) if m.rank}
    if not isinstance(head, LinearHead):
        raise TypeError("the head of an updated base is linear")
    return Decoded(word, Sample(features, tuned.units.labels, tuned.base.width), head, ranks)


def occam_base_update(found: Decoded, plan: Plan) -> Bound:
    """Theorem D for the decoded model."""
    assumed: dict[str, Verdict] = {
        "fixed-before-sample": (
            "assumed",
            "by you: the base, its tensors' shapes and order, the decoder, and the map from inputs to units "
            "(tokenizer) were fixed before the sample was drawn.",
        ),
        "compressed-model": (
            "assumed",
            f"the certified model is {arithmetic()}. Decoded again, and its errors counted on every unit so.",
        ),
    }
    ranks = ", ".join(f"{k} rank {r}" for k, r in found.ranks.items()) or "no update"
    subject = "base with low-rank update and compressed head"
    classes = max(2, found.head.weight.shape[1])
    return counted(
        found.head.margins(found.entered),
        found.word.length,
        plan.delta,
        subject,
        classes,
        f"relative to a public base: {ranks}",
        assumed,
    )


def run_update(tuned: Tuned, out: Path, plan: Plan) -> Bound:
    """Search, bound, and write ``train.npz`` and ``model.cert`` into ``out``."""
    found = search(tuned, plan)
    bound = occam_base_update(found, plan)
    family = {
        "kind": KIND,
        "reads": tuned.base.reads,
        "dimension": tuned.units.dimension,
        "hidden": tuned.base.width,
        "outputs": _outputs(tuned),
        "tensors": [[k, *s] for k, s in zip(tuned.base.anchors, tuned.base.shapes, strict=True)],
        "anchor_sha256": tuned.base.digest(),
    }
    document: dict[str, Any] = certificate_file.update_certificate(found.word, family, bound, tuned.units)
    document["claim"]["arithmetic"] = arithmetic()
    document["claim"]["entered_sha256"] = found.entered.digest()
    tuned.units.save(out / "train.npz", entered=found.entered.inputs)
    certificate_file.write(out / "model.cert", document)
    return bound


def table_with_update(table: Table, tuned: Tuned, out: Path, plan: Plan) -> Table:
    """The table with theorem D for the updated base added, and its files in ``out``."""
    bound = run_update(tuned, out, plan)
    data = {**table.data, "sha256": tuned.units.digest(), "units": f"what the base reads: {tuned.base.reads}"}
    certificates = {"model.cert": f"theorem D, {bound.subject}"}
    return replace(table, data=data, bounds=[bound, *table.bounds], certificates=certificates)
