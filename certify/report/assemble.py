"""The report as one JSON-able dictionary, from the records that the work items left behind."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from certify.engine.order_statistics import STATISTICS, largest, summary

SCHEMA = "certify-attention/report/1"

TRUSTED = (
    "certify/kernel: interval arithmetic on FLINT balls, the rounding model, the theorems that turn float "
    "factors into enclosures",
    "the theorems and constants of proofs/ (each with its own level: machine-checked, on paper, or cited)",
    "IEEE 754 double precision and the BLAS of this machine, as far as the assumptions listed here say",
    "the model adapter, for which stored numbers form which matrix (each record names its tensors and views)",
)
NOT_TRUSTED = (
    "the float SVDs and eigenvectors that the enclosures start from: wrong ones only widen or refuse",
    "the model's own arithmetic: attention matrices are certified as the float numbers the model computed",
    "this file: re-check it with `certify verify report.json --model MODEL`",
)


def attention_section(
    calls: Sequence[Mapping[str, Any]],
    measurements: Mapping[tuple[int, str, int], Sequence[Mapping[str, Any]]],
    feature_norms: Sequence[Mapping[str, str]],
    arithmetic: Iterable[str],
) -> dict[str, Any]:
    """Everything about the inputs: calls in order, order statistics per head, R = the maximum over all."""
    ordered = sorted(calls, key=lambda c: (c["input"], c["stack"], c["layer"]))
    for call in ordered:
        found = measurements.get((call["input"], call["stack"], call["layer"]), ())
        by_head = {m["head"]: {k: v for k, v in m.items() if k != "head"} for m in found}
        for head in call["heads"]:
            head["measured"] = by_head.get(head["head"])
    return {
        "arithmetic": sorted(set(arithmetic)),
        "pooled_feature_norms": list(feature_norms),
        "calls": ordered,
        "heads": heads_over_inputs(ordered),
        "capacity": capacity(ordered),
    }


def heads_over_inputs(calls: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Per head and kind: minimum, quartiles, median and maximum over the inputs, as enclosures."""
    places: dict[tuple[str, int, int], list[Mapping[str, Any]]] = {}
    for call in calls:
        for head in call["heads"]:
            if head.get("ranks"):
                places.setdefault((call["stack"], call["layer"], head["head"]), []).append(head["ranks"])
    return [
        {
            "stack": stack,
            "layer": layer,
            "head": head,
            "count": len(ranks),
            "ranks": {kind: summary([r[kind] for r in ranks]) for kind in ranks[0]},
        }
        for (stack, layer, head), ranks in sorted(places.items())
    ]


def capacity(calls: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """R under each definition: the largest effective rank over layers, heads and inputs."""
    found: dict[str, list[tuple[dict[str, Any], dict[str, str]]]] = {}
    for call in calls:
        for head in call["heads"]:
            for kind, pair in (head.get("ranks") or {}).items():
                place = {key: call[key] for key in ("stack", "layer", "input")} | {"head": head["head"]}
                found.setdefault(kind, []).append((place, pair))
    return {kind: largest(places) for kind, places in found.items()}


def problems(
    matrices: Iterable[Mapping[str, Any]], attention: Mapping[str, Any] | None
) -> list[dict[str, str]]:
    """Every object for which something was not certified, with the reason."""
    listed = []
    for matrix in matrices:
        if "error" in matrix:
            listed.append({"name": str(matrix["name"]), "reason": str(matrix["error"])})
    for call in (attention or {}).get("calls", ()):
        for head in call["heads"]:
            if "error" in head:
                where = f"attention, input {call['input']}, {call['stack']} layer {call['layer']}"
                name = f"{where}, head {head['head']}".replace(",  ", ", ")
                listed.append({"name": name, "reason": str(head["error"])})
    return listed


def assumptions(
    matrices: Iterable[Mapping[str, Any]],
    attention: Mapping[str, Any] | None,
    bounds: Sequence[Any],
    risk: Mapping[str, Any] | None,
) -> dict[str, str]:
    """What the numbers of the report rest on: the kernel's assumptions behind every spectrum and behind the
    measured norms that enter the bounds, and those of the risk record, each in a sentence."""
    from certify.kernel.rounding import ASSUMPTIONS, MODEL

    heads = (head for call in (attention or {}).get("calls", ()) for head in call["heads"])
    used = {a for record in (*matrices, *heads) for a in record.get("assumptions", ())}
    if bounds:
        used |= MODEL
    own = {} if risk is None else risk["assumptions"]
    return {name: {**ASSUMPTIONS, **own}[name] for name in sorted(used | set(own))}


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def quantile_levels() -> dict[str, str]:
    """The names of the order statistics and their levels."""
    return {name: str(Fraction(level)) for name, level in STATISTICS}
