"""Two models of one architecture: ranks of each matrix, of the update, of attention on the same inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from certify.adapters import open_model
from certify.adapters.inputs import read_array_inputs, read_text_inputs
from certify.adapters.model import Model
from certify.errors import CertifyError, ModelError
from certify.study.ranks import KINDS, change, ranks_of, recorded, update_ranks

Progress = Callable[[str], None]
SCHEMA = "certify-attention/compare/1"


def bare(name: str, model: Model) -> str:
    """The name without the family's own prefix, which task models have and plain encoders have not."""
    return name.removeprefix(f"{model.family}.")


def weights(before: Model, after: Model, progress: Progress) -> Iterator[dict[str, Any]]:
    """One record for each matrix that both models have with the same shape."""
    others = {bare(matrix.name, after): matrix for matrix in after.matrices()}
    total = sum(1 for _ in before.matrices())
    for i, matrix in enumerate(before.matrices(), 1):
        progress(f"matrices: {i} of {total} {matrix.name}")
        other = others.get(bare(matrix.name, before))
        if other is None or other.shape != matrix.shape:
            continue
        old, new = matrix.load(), other.load()
        record = {"name": matrix.name, "role": matrix.role, "layer": matrix.layer, "head": matrix.head}
        if all(np.array_equal(a, b) for a, b in zip(old, new, strict=True)):
            yield {**record, "unchanged": True}
            continue
        try:
            ranks = ranks_of(old), ranks_of(new)
            update = update_ranks(old, new)
        except CertifyError as error:
            yield {**record, "error": f"{type(error).__name__}: {error}"}
            continue
        yield {
            **record,
            "before": recorded(ranks[0]),
            "after": recorded(ranks[1]),
            "update": recorded(update),
            "change": change(*ranks),
        }


def attention(before: Model, after: Model, inputs: Path, progress: Progress) -> Iterator[dict[str, Any]]:
    """One record for each input, layer and head: ranks of both models' attention matrices."""

    def calls(model: Model) -> Iterator[tuple[tuple[int, str, int, int], np.ndarray]]:
        read = read_array_inputs(inputs) if inputs.suffix == ".npz" else read_text_inputs(model, inputs)
        for call in model.attention(read):
            for head, probabilities in call.probabilities():
                yield (call.input_index, call.stack, call.layer, head), probabilities

    for (place, first), (other, second) in zip(calls(before), calls(after), strict=True):
        if place != other or first.shape != second.shape:
            raise ModelError(
                f"the models' attention does not match: {place} {first.shape}, {other} {second.shape}"
            )
        progress(f"attention: input {place[0]}, layer {place[2]}, head {place[3]}")
        ranks = ranks_of([first]), ranks_of([second])
        yield {
            "input": place[0],
            "layer": place[2],
            "head": place[3],
            "before": recorded(ranks[0]),
            "after": recorded(ranks[1]),
            "change": change(*ranks),
        }


def compare(before: str, after: str, inputs: Path | None, progress: Progress) -> dict[str, Any]:
    """The whole comparison as a record."""
    models = open_model(before), open_model(after)
    records = list(weights(*models, progress))
    if not records:
        raise ModelError(f"{before} and {after} have no matrix in common")
    matrices = [{bare(m.name, model) for m in model.matrices()} for model in models]
    return {
        "schema": SCHEMA,
        "before": before,
        "after": after,
        "weights": records,
        "only_before": sorted(matrices[0] - matrices[1]),
        "only_after": sorted(matrices[1] - matrices[0]),
        "attention": [] if inputs is None else list(attention(*models, inputs, progress)),
        "summary": summary(records),
    }


def summary(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Per role and kind: how many matrices rose, fell, are not decided; and how many did not change at
    all."""
    found: dict[str, Any] = {}
    for record in records:
        counts = found.setdefault(record["role"], {"matrices": 0, "unchanged": 0, "errors": 0})
        counts["matrices"] += 1
        counts["unchanged"] += bool(record.get("unchanged"))
        counts["errors"] += "error" in record
        for kind in KINDS:
            said = record.get("change", {}).get(kind)
            if said:
                tally = counts.setdefault(kind, {"rose": 0, "fell": 0, "not decided": 0})
                tally[said] += 1
    return found
