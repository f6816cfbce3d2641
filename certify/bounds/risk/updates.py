"""Theorem D relative to a public base, for any fine-tuned classifier: pay for updates and a head.

Trusted part: the codeword that the search found (:mod:`.update_search`) is decoded again, the decoded model
run unit by unit in the certified arithmetic, and its errors counted on every unit.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from certify.bounds.risk.entries import Bound, Verdict
from certify.bounds.risk.families import Family
from certify.bounds.risk.heads import LinearHead
from certify.bounds.risk.occam import counted, counted_ramp, occam
from certify.bounds.risk.run import RAMP_WIDTH, Plan
from certify.bounds.risk.samples import Sample
from certify.bounds.risk.table import Table
from certify.bounds.risk.test_set import held_out
from certify.bounds.risk.update_search import WORK_VERSION, Search, Tuned, dense, shown
from certify.bounds.risk.updated_base import UpdatedBase, arithmetic
from certify.codec import certificate_file
from certify.codec.arithmetic import Codeword
from certify.codec.matrices import decode_update
from certify.engine.journal import Journal, array_digest, digest_of

KIND, SUBJECT = "base-update", "base with low-rank update and compressed head"
FROZEN = "base without update, with a compressed head"
CHUNK = 100  # units whose results are stored together


@dataclass(frozen=True)
class Decoded:
    """A codeword, the sample as the decoded model's head sees it, that head, and ranks by tensor."""

    word: Codeword
    entered: Sample
    head: LinearHead
    ranks: Mapping[str, int]


def decoded(word: Codeword, tuned: Tuned, plan: Plan, journal: Journal) -> Decoded:
    """The model that the payload describes, run on every unit in the certified arithmetic."""
    family = Family("linear-head", tuned.base.width, tuned.outputs)
    update, matrix = decode_update(word, tuned.base.shapes, family.shapes[0])
    changed = {k: m for k, m in zip(tuned.base.anchors, update, strict=True) if m.rank}
    tuned.base.set({k: dense(m) for k, m in changed.items()})
    head = family.head([matrix])
    if not isinstance(head, LinearHead):
        raise TypeError("the head of an updated base is linear")
    entered = run_on(tuned.base, tuned.units, word, plan, journal, "decoded model")
    return Decoded(word, entered, head, {k: m.rank for k, m in changed.items()})


def run_on(
    base: UpdatedBase, units: Sample, word: Codeword, plan: Plan, journal: Journal, stage: str
) -> Sample:
    """What enters the head for every unit, with the update of ``word`` already in ``base``; finished chunks
    come from the journal."""
    anchor, rows = base.digest(), []
    for start in range(0, len(units), CHUNK):
        part = units.inputs[start : start + CHUNK]
        model = certificate_file.hexadecimal(word), str(word.length), arithmetic()
        key = digest_of(WORK_VERSION, "entered", anchor, *model, array_digest(part))
        stored = journal.get(key)
        if stored is None:
            found = base.entered(part).astype("<f4")
            journal.put(key, {"float32": base64.b64encode(found.tobytes()).decode()})
        else:
            found = np.frombuffer(base64.b64decode(stored["float32"]), dtype="<f4").reshape(len(part), -1)
        rows.append(found)
        plan.progress(f"{stage}: {start + len(part)} of {len(units)} units")
    return Sample(np.concatenate(rows).astype(np.float32), units.labels, base.width)


def verdicts() -> dict[str, Verdict]:
    """How the hypotheses of theorem D are judged for an updated base."""
    return {
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


def bounds_of(found: Decoded, tuned: Tuned, plan: Plan, journal: Journal) -> list[Bound]:
    """Theorem D for the decoded model, 0-1 and ramp loss, and its test-set bound if there are test units."""
    note = f"relative to a public base: {shown(found.ranks) or 'no update'}"
    margins, bits = found.head.margins(found.entered), found.word.length
    classes = max(2, tuned.outputs)
    bounds = [
        counted(margins, bits, plan.delta, SUBJECT, classes, note, verdicts()),
        counted_ramp(margins, bits, plan.delta, SUBJECT, RAMP_WIDTH, note, verdicts()),
    ]
    if tuned.test is not None:
        test = run_on(tuned.base, tuned.test, found.word, plan, journal, "decoded model, test units")
        bounds.append(held_out(found.head, SUBJECT, test, plan.delta, note))
    return [replace(bound, chance=1 - Fraction(1, classes)) for bound in bounds]


def without_update(word: Codeword, sample: Sample, tuned: Tuned, plan: Plan) -> Bound:
    """Theorem D for a compressed head on the base as it is: what the update is worth."""
    bound = occam(word, Family("linear-head", sample.dimension, tuned.outputs), sample, plan.delta)
    note = "rank 0: the base's features, computed in float32, are part of the data"
    return replace(bound, subject=FROZEN, note=note, chance=1 - Fraction(1, max(2, tuned.outputs)))


def certificate(found: Decoded, tuned: Tuned, bound: Bound) -> dict[str, Any]:
    """The certificate of ``bound``, for `certify verify`."""
    family = {
        "kind": KIND,
        "reads": tuned.base.reads,
        "dimension": tuned.units.dimension,
        "hidden": tuned.base.width,
        "outputs": tuned.outputs,
        "tensors": [[k, *s] for k, s in zip(tuned.base.anchors, tuned.base.shapes, strict=True)],
        "anchor_sha256": tuned.base.digest(),
    }
    document: dict[str, Any] = certificate_file.update_certificate(found.word, family, bound, tuned.units)
    document["claim"]["arithmetic"] = arithmetic()
    document["claim"]["entered_sha256"] = found.entered.digest()
    return document


def table_with_update(table: Table, tuned: Tuned, out: Path, plan: Plan) -> Table:
    """The table with theorem D for the updated base first, and ``train.npz`` and ``model.cert`` in ``out``.

    Finished candidates and units lie in ``OUT/.work`` until the report is saved: a killed run picks them up.
    """
    journal = Journal(out / ".work")
    search = Search(tuned, plan, journal)
    found = decoded(search.best(), tuned, plan, journal)
    bounds = bounds_of(found, tuned, plan, journal)
    if found.ranks:
        bounds.append(without_update(*search.frozen(), tuned, plan))
    tuned.units.save(out / "train.npz", entered=found.entered.inputs)
    certificate_file.write(out / "model.cert", certificate(found, tuned, bounds[0]))
    data = {**table.data, "sha256": tuned.units.digest(), "units": f"what the base reads: {tuned.base.reads}"}
    certificates = {"model.cert": f"theorem D, {SUBJECT}"}
    return replace(table, data=data, bounds=[*bounds, *table.bounds], certificates=certificates)
