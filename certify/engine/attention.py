"""Work items about a model on inputs: attention matrices and the measurements the bounds need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from certify.decimals import enclosed
from certify.engine.journal import Journal, array_digest, digest_of
from certify.engine.matrices import RECORD_VERSION, Measures, ranks_of, recorded_spectrum
from certify.engine.pool import Task
from certify.errors import CertifyError

if TYPE_CHECKING:
    from certify.adapters.model import AttentionCall


def attention_task(call: AttentionCall, measures: Measures, folder: Path) -> Task:
    """The task of certifying all heads of one layer on one input; the matrices travel with it."""
    heads, matrices = [], []
    for head, probabilities in call.probabilities():
        heads.append(head)
        matrices.append(np.asarray(probabilities))
    label = f"attention of input {call.input_index}, {call.stack} layer {call.layer}".replace(",  ", ", ")
    place = {"input": call.input_index, "stack": call.stack, "layer": call.layer}
    return Task(
        label,
        "certify.engine.attention:certify_attention",
        (place, heads, np.stack(matrices), measures, str(folder)),
    )


def certify_attention(
    place: dict[str, Any], heads: Sequence[int], matrices: np.ndarray, measures: Measures, folder: str
) -> dict[str, Any]:
    """Spectra and effective ranks of attention matrices (H, T, S) of one layer on one input."""
    digests = [array_digest(matrix) for matrix in matrices]
    journal = Journal(Path(folder))
    key = digest_of(RECORD_VERSION, "attention", measures.key(), *digests)
    record = journal.get(key)
    if record is None:
        record = {"heads": list(_head_records(matrices, measures))}
        journal.put(key, record)
    named = [
        {"head": head, "sha256": digest, **values}
        for head, digest, values in zip(heads, digests, record["heads"], strict=True)
    ]
    return {**place, "shape": list(matrices.shape[1:]), "heads": named}


def _head_records(matrices: np.ndarray, measures: Measures) -> Iterator[dict[str, Any]]:
    from certify.kernel.spectrum import singular_values

    for matrix in matrices:
        try:
            spectrum = singular_values(matrix, mode=measures.mode)
        except CertifyError as error:
            yield {"error": f"{type(error).__name__}: {error}"}
            continue
        recorded, again = recorded_spectrum(spectrum)
        ranks, reason = ranks_of(again)
        record = {"spectrum": recorded, "ranks": ranks, "assumptions": sorted(spectrum.assumptions)}
        yield record if ranks is not None else {**record, "undefined": reason}


def head_measurements(call: AttentionCall) -> list[dict[str, Any]]:
    """What Theorem C1-vector needs of one layer on one input: per head three norms, or why not.

    Only the tokens visible to the pooled query rows count.
    """
    from certify.bounds.softmax_head import key_norm, not_covered, query_norm, value_radius

    positions = list(call.query_positions)
    if not positions:
        unread = "the pooled feature reads no row of this stack"
        return [{"head": head, "violated": unread} for head in range(call.heads)]
    visible = np.zeros(len(call.keys_in), dtype=bool)
    for position in positions:
        visible |= call.visible(position)
    queries, keys = call.queries_in[positions], call.keys_in[visible]
    # A sink is one more token that the measured rows do not show.
    sink = next((note for note in call.notes if "sink" in note), None)
    records: list[dict[str, Any]] = []
    shared: dict[Any, tuple[Any, Any]] = {}
    radii: dict[bytes, Any] = {}
    for head in range(call.heads):
        form = call.score_form(head)
        reason = not_covered(form) or sink
        if reason is not None or form is None:
            records.append({"head": head, "violated": reason})
            continue
        shape = (form.query_augmented, form.key_augmented, form.key_feature_multiplier, form.softcap)
        if shape not in shared:
            shared[shape] = (
                enclosed(query_norm(queries, form.query_augmented)),
                enclosed(key_norm(keys, form)),
            )
        values = call.values(head)[visible]
        raw = values.tobytes()
        if raw not in radii:
            radii[raw] = enclosed(value_radius(values))
        query, key = shared[shape]
        records.append({"head": head, "value_radius": radii[raw], "query_norm": query, "key_norm": key})
    return records


def trained_norm_of(call: AttentionCall, head: int) -> dict[str, str] | None:
    """The norm of one head's trained matrix as decimals, or None where the theorem does not apply."""
    from certify.bounds.softmax_head import not_covered, trained_norm

    form = call.score_form(head)
    if form is None or not_covered(form) is not None:
        return None
    return enclosed(trained_norm(form))
