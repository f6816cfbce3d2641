"""The attention matrices of a report: ranks from spectra, order statistics and capacity from ranks."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .interval import Interval
from .matrices import check_ranks, spectrum_of
from .spectra import KINDS
from .structure import Pair, Problem, follows, interval


def check_attention(report: dict[str, Any]) -> None:
    """Attention matrices: ranks from spectra, order statistics and capacity from ranks."""
    attention, inputs = report["attention"], report["inputs"]
    if (attention is None) != (inputs is None):
        raise Problem("attention", "attention and inputs must be both there or both absent")
    if attention is None:
        return
    _check_calls(report)
    seen: dict[tuple[str, int, int], list[dict[str, Any]]] = {}
    capacity: dict[str, list[Pair]] = {kind: [] for kind in KINDS}
    if sorted({call["input"] for call in attention["calls"]}) != list(range(inputs["count"])):
        raise Problem("attention.calls", f"calls for each of the {inputs['count']} inputs were expected")
    for c, call in enumerate(attention["calls"]):
        for h, head in enumerate(call["heads"]):
            path = f"attention.calls[{c}].heads[{h}]"
            if "error" in head:
                continue
            check_ranks(head, spectrum_of(head, call["shape"], path), path)
            if head["ranks"] is not None:
                seen.setdefault((call["stack"], call["layer"], head["head"]), []).append(head["ranks"])
                for kind in KINDS:
                    capacity[kind].append(head["ranks"][kind])
    _check_order_statistics(attention["heads"], seen, report["parameters"]["order_statistics"])
    _check_capacity(attention, capacity)


def _check_calls(report: dict[str, Any]) -> None:
    """One call for each input and layer, with the same heads for every input, none of the weights missing."""
    weights: dict[tuple[str, int], set[int]] = {}
    for matrix in report["matrices"]:
        if matrix["role"] == "query-key":
            weights.setdefault((matrix["stack"], matrix["layer"]), set()).add(matrix["head"])
    seen: dict[tuple[str, int], list[int]] = {}
    once = set()
    for c, call in enumerate(report["attention"]["calls"]):
        path, layer = f"attention.calls[{c}]", (call["stack"], call["layer"])
        if (call["input"], *layer) in once:
            raise Problem(path, f"layer {layer} of input {call['input']} is recorded twice")
        once.add((call["input"], *layer))
        heads = [head["head"] for head in call["heads"]]
        if len(set(heads)) != len(heads) or heads != seen.setdefault(layer, heads):
            raise Problem(f"{path}.heads", f"heads {heads} are not those of the layer, {seen[layer]}")
        if not weights.get(layer, set()) <= set(heads):
            raise Problem(f"{path}.heads", f"heads {sorted(weights[layer] - set(heads))} are missing")
    if len(once) != len(seen) * report["inputs"]["count"]:
        raise Problem("attention.calls", f"{len(seen)} layers for each of the inputs were expected")


def order_statistic(pairs: list[Pair], level: Fraction) -> Pair:
    """The enclosure of the ceil(level * n)-th smallest number (at least the first)."""
    k = max(1, -((-level * len(pairs)) // 1)) - 1
    return {
        end: sorted((p[end] for p in pairs), key=lambda text: Fraction(text))[int(k)]
        for end in ("lower", "upper")
    }


def _check_order_statistics(
    recorded: list[Any], seen: dict[Any, list[dict[str, Any]]], levels: dict[str, str]
) -> None:
    if levels != {
        "minimum": "0",
        "lower_quartile": "1/4",
        "median": "1/2",
        "upper_quartile": "3/4",
        "maximum": "1",
    }:
        raise Problem("parameters.order_statistics", "minimum, quartiles, median and maximum were expected")
    if [(h["stack"], h["layer"], h["head"]) for h in recorded] != sorted(seen):
        raise Problem("attention.heads", "one record for every head of the calls was expected")
    for i, record in enumerate(recorded):
        ranks = seen[record["stack"], record["layer"], record["head"]]
        if record["count"] != len(ranks) or set(record["ranks"]) != set(KINDS):
            raise Problem(f"attention.heads[{i}]", f"all kinds over {len(ranks)} inputs were expected")
        for kind in KINDS:
            pairs = [r[kind] for r in ranks]
            if set(record["ranks"][kind]) != set(levels):
                raise Problem(f"attention.heads[{i}].ranks.{kind}", f"{', '.join(levels)} were expected")
            for name, level in levels.items():
                if record["ranks"][kind].get(name) != order_statistic(pairs, Fraction(level)):
                    raise Problem(
                        f"attention.heads[{i}].ranks.{kind}.{name}", "not that of the recorded inputs"
                    )


def _check_capacity(attention: dict[str, Any], capacity: dict[str, list[Pair]]) -> None:
    if set(attention["capacity"]) != {kind for kind, pairs in capacity.items() if pairs}:
        raise Problem("attention.capacity", "one maximum for each kind was expected")
    for kind, value in attention["capacity"].items():
        path = f"attention.capacity.{kind}"
        if {k: value.get(k) for k in ("lower", "upper")} != order_statistic(capacity[kind], Fraction(1)):
            raise Problem(path, "not the largest of the recorded effective ranks")
        at = value.get("at", {})
        here = [
            head["ranks"][kind]["upper"]
            for call in attention["calls"]
            for head in call["heads"]
            if head.get("ranks")
            and {**{k: call[k] for k in ("stack", "layer", "input")}, "head": head["head"]} == at
        ]
        if here != [value["upper"]]:
            raise Problem(f"{path}.at", "the largest effective rank is not at this place")


def check_nominal(report: dict[str, Any]) -> None:
    """sqrt(R/m) is recomputed and stands there only as what it is not."""
    capacity = report["attention"]["capacity"] if report["attention"] else {}
    if [n.get("kind") for n in report["nominal"]] != list(capacity):
        raise Problem("nominal", "one number for each definition of the capacity was expected")
    for i, record in enumerate(report["nominal"]):
        path = f"nominal[{i}]"
        if record.get("valid") is not False or record.get("counterexample") != "N1" or not record.get("why"):
            raise Problem(
                f"{path}.valid", "sqrt(R/m) is not a valid bound and must be marked so, with the reason"
            )
        if record.get("m") != (report["parameters"]["samples"] or report["inputs"]["count"]):
            raise Problem(f"{path}.m", "not the sample size of this report")
        rank = interval(capacity[record["kind"]], f"attention.capacity.{record['kind']}")
        follows(record["value"], (rank / Interval.of(record["m"])).sqrt(), f"{path}.value")
