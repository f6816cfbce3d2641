"""A whole report: weights, then attention on inputs, then bounds; resumed where it was killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from certify.bounds.peeling import Settings
from certify.decimals import enclosed
from certify.engine.attention import attention_task, head_measurements, trained_norm_of
from certify.engine.matrices import Measures, weight_tasks
from certify.engine.pool import Pool, Task, one_thread_per_process
from certify.errors import NotCertified
from certify.report import assemble
from certify.report.digest import sealed

if TYPE_CHECKING:
    from certify.adapters.model import Inputs, Model

WORK_FOLDER = ".work"
PRELOADED = ("certify.engine.matrices", "certify.kernel.spectrum", "certify.kernel.product")


class Progress(Protocol):
    """Shows how far the run is; see ``certify.report.progress``."""

    def start(self, title: str, total: int) -> None: ...

    def advance(self, label: str) -> None: ...


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    model: str
    out: Path
    text: Path | None = None
    arrays: Path | None = None
    jobs: int = 1
    trust_remote_code: bool = False
    measures: Measures = field(default_factory=Measures)
    settings: Settings = field(default_factory=lambda: Settings("0.05", "1", 2, "1", None))


@dataclass(frozen=True)
class Opened:
    """The model and its inputs, read before any work so that bad input is refused at once."""

    model: Model
    inputs: Inputs | None


def opened(request: Request) -> Opened:
    """Open what the request names; raises `InputError`."""
    from certify.adapters import open_model

    one_thread_per_process()
    model = open_model(request.model, trust_remote_code=request.trust_remote_code)
    return Opened(model, _read_inputs(request, model))


def workers(request: Request) -> Pool:
    """The processes that certify; they load the kernel while `opened` reads the model."""
    one_thread_per_process()
    return Pool(request.jobs, PRELOADED)


def run(
    request: Request,
    found: Opened,
    pool: Pool,
    progress: Progress,
    risk: Callable[[], dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """The sealed report. Finished results lie in ``OUT/.work`` until the caller has saved the report.

    ``risk`` makes the record of the risk of a trained classifier (`certify.report.risk.record`); it runs
    last, when the spectra are in the journal.
    """
    one_thread_per_process()
    folder = request.out / WORK_FOLDER
    model, inputs = found.model, found.inputs
    matrices = _weights(request, model, folder, pool, progress)
    attention = None if inputs is None else _attention(request, model, inputs, folder, pool, progress)
    bounds = _bounds(attention, request.settings, pool, progress) if attention else []
    return sealed(_report(request, found, matrices, attention, bounds, risk() if risk else None))


def _weights(
    request: Request, model: Model, folder: Path, pool: Pool, progress: Progress
) -> list[dict[str, Any]]:
    order = {matrix.name: i for i, matrix in enumerate(model.matrices())}
    progress.start("weights", len(order))
    records = []
    tasks = weight_tasks(model, request.model, request.measures, folder, trust=request.trust_remote_code)
    for outcome in pool.run(tasks):
        record = outcome.value if outcome.error is None else _failed(model, outcome.task.label, outcome.error)
        records.append(record)
        progress.advance(outcome.task.label)
    return sorted(records, key=lambda record: order[record["name"]])


def _failed(model: Model, name: str, error: str) -> dict[str, Any]:
    matrix = next(m for m in model.matrices() if m.name == name)
    return {
        "name": name,
        "role": matrix.role,
        "stack": matrix.stack,
        "layer": matrix.layer,
        "head": matrix.head,
        "shape": list(matrix.shape),
        "factors": [f.to_json() for f in matrix.factors],
        "note": matrix.note,
        "error": error,
    }


def _read_inputs(request: Request, model: Model) -> Inputs | None:
    from certify.adapters import read_array_inputs, read_text_inputs

    if request.text is not None:
        return read_text_inputs(model, request.text)
    if request.arrays is not None:
        return read_array_inputs(request.arrays)
    return None


def _attention(
    request: Request, model: Model, inputs: Inputs, folder: Path, pool: Pool, progress: Progress
) -> dict[str, Any]:
    from certify.kernel.norms import frobenius_norm

    measurements: dict[tuple[int, str, int], list[dict[str, Any]]] = {}
    norms_after: dict[tuple[str, int, int], dict[str, str] | None] = {}
    arithmetic: set[str] = set()
    notes: set[str] = set()

    def tasks() -> Iterator[Task]:
        for call in model.attention(inputs):
            measurements[call.input_index, call.stack, call.layer] = head_measurements(call)
            for head in range(call.heads):
                if (call.stack, call.layer, head) not in norms_after:
                    norms_after[call.stack, call.layer, head] = trained_norm_of(call, head)
            arithmetic.add(call.arithmetic)
            notes.update(call.notes)
            yield attention_task(call, request.measures, folder)

    layers = len({(m.stack, m.layer) for m in model.matrices() if m.role == "query-key"})
    progress.start("attention", len(inputs) * max(1, layers))
    calls = []
    for outcome in pool.run(tasks()):
        if outcome.error is None:
            calls.append(outcome.value)
        else:
            calls.append(_failed_call(outcome.task, outcome.error))
        progress.advance(outcome.task.label)
    features = [enclosed(frobenius_norm(feature[None, :])) for _, feature in model.pooled_features(inputs)]
    section = assemble.attention_section(calls, measurements, features, arithmetic)
    trained = [
        {"stack": stack, "layer": layer, "head": head, "norm": norm}
        for (stack, layer, head), norm in sorted(norms_after.items())
        if norm is not None
    ]
    return {**section, "trained_norms": trained, "pooling": model.pooling, "notes": sorted(notes)}


def _failed_call(task: Task, error: str) -> dict[str, Any]:
    place, heads, matrices, *_ = task.arguments
    return {**place, "shape": list(matrices.shape[1:]), "heads": [{"head": h, "error": error} for h in heads]}


def _bounds(
    attention: dict[str, Any], settings: Settings, pool: Pool, progress: Progress
) -> list[dict[str, Any]]:
    from certify.bounds import linear_readout, softmax_head

    groups = [linear_readout.group(attention["pooled_feature_norms"], settings)]
    terms = _terms_per_head(attention["calls"])
    norms = {(t["stack"], t["layer"], t["head"]): t["norm"] for t in attention["trained_norms"]}
    progress.start("bounds", len(terms))
    entries: dict[str, dict[str, Any]] = {}
    tasks = []
    for (stack, layer, head), measured in terms.items():
        name = f"{stack} layer {layer} head {head}".strip()
        subject = {"object": "query-key matrix", "stack": stack, "layer": layer, "head": head}
        broken = next((m for m in measured if "violated" in m), None)
        if broken is not None:
            entries[name] = softmax_head.violated_entry(subject, broken["violated"])
            progress.advance(name)
        else:
            arguments = subject, norms[stack, layer, head], measured, settings
            tasks.append(Task(name, "certify.bounds.softmax_head:head_entry", arguments))
            entries[name] = {}  # keeps its place
    for outcome in pool.run(tasks):
        if outcome.error is not None:
            raise NotCertified(f"the bound of {outcome.task.label}: {outcome.error}")
        entries[outcome.task.label] = outcome.value
        progress.advance(outcome.task.label)
    if entries:
        groups.append(softmax_head.group(list(entries.values())))
    return groups


def _terms_per_head(calls: list[dict[str, Any]]) -> dict[tuple[str, int, int], list[dict[str, Any]]]:
    terms: dict[tuple[str, int, int], list[dict[str, Any]]] = {}
    for call in calls:
        for head in call["heads"]:
            if head["measured"] is not None:
                terms.setdefault((call["stack"], call["layer"], head["head"]), []).append(head["measured"])
    return dict(sorted(terms.items()))


def _nominal(attention: dict[str, Any], settings: Settings, count: int) -> list[dict[str, Any]]:
    from certify.bounds.nominal import nominal
    from certify.bounds.peeling import enclosure_of

    m = settings.samples or count
    return [nominal(kind, enclosure_of(pair), m) for kind, pair in attention["capacity"].items()]


def _report(
    request: Request,
    found: Opened,
    matrices: list[dict[str, Any]],
    attention: dict[str, Any] | None,
    bounds: list[dict[str, Any]],
    risk: dict[str, Any] | None,
) -> dict[str, Any]:
    from certify.kernel.rounding import environment

    model, inputs = found.model, found.inputs
    skipped = [{"name": s.name, "reason": s.reason, "expected": s.expected} for s in model.skipped]
    problems = assemble.problems(matrices, attention)
    complete = not problems and all(s["expected"] for s in skipped)
    return {
        "schema": assemble.SCHEMA,
        "tool": {"name": "certify-attention", "version": metadata.version("certify-attention")},
        "created": assemble.now(),
        "status": "certified" if complete else "incomplete",
        "model": {
            "name": model.name,
            "family": model.family,
            "origin": model.origin,
            "provenance": list(model.provenance),
        },
        "parameters": _parameters(request),
        "inputs": inputs
        and {
            "source": inputs.source,
            "sha256": inputs.sha256,
            "count": len(inputs),
            "truncated": inputs.truncated,
            "notes": list(inputs.notes),
        },
        "tensors": [{"file": f, "tensor": t, "sha256": d} for f, t, d in model.tensor_digests()],
        "matrices": matrices,
        "attention": attention,
        "bounds": bounds,
        "nominal": _nominal(attention, request.settings, len(inputs)) if attention and inputs else [],
        **({} if risk is None else {"risk": risk}),
        "skipped": skipped,
        "uncertified": problems,
        "trust": {
            "assumptions": assemble.assumptions(matrices, attention, bounds, risk),
            "trusted": list(assemble.TRUSTED),
            "not_trusted": list(assemble.NOT_TRUSTED),
        },
        "environment": environment(),
    }


def _parameters(request: Request) -> dict[str, Any]:
    settings, measures = request.settings, request.measures
    return {
        "mode": measures.mode,
        "epsilons": list(measures.epsilons),
        "energy_levels": list(measures.energy_levels),
        "delta": settings.delta,
        "loss_lipschitz": settings.loss_lipschitz,
        "outputs": settings.outputs,
        "readout_norm": settings.readout_norm,
        "samples": settings.samples,
        "grid_ratio": settings.grid_ratio,
        "grid_start": settings.grid_start,
        "order_statistics": assemble.quantile_levels(),
    }
