"""Every bound of a report: a known formula, its hypotheses, its values from the recorded measurements."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .formula import evaluate, parse
from .interval import Interval, greatest, square, total
from .strict_json import shown
from .structure import Problem, decimal, follows, interval, rational, sample_size
from .theorems import FALLS_BELOW, KNOWN_BOUNDS, LEVELS, NEVER_MET, KnownBound


def is_grid_index(j: int, norm_upper: Fraction, start: Fraction, ratio: Fraction) -> bool:
    """Whether j is the least j >= 0 with norm_upper <= start * ratio**j, by exact arithmetic."""
    if not 0 <= j <= 100_000:
        return False
    power = start * ratio**j
    return norm_upper <= power and (j == 0 or power / ratio < norm_upper)


def check_bounds(report: dict[str, Any]) -> None:
    """Every bound: a known formula, its hypotheses, and its values from the recorded measurements."""
    attention = report["attention"]
    names = [group.get("theorem") for group in report["bounds"]]
    if len(set(names)) != len(names) or (attention is not None) != ("A1-peeled" in names):
        raise Problem("bounds", "each theorem once, and A1-peeled whenever there are inputs, was expected")
    for g, group in enumerate(report["bounds"]):
        path = f"bounds[{g}]"
        known = KNOWN_BOUNDS.get(group["theorem"])
        if known is None:
            raise Problem(f"{path}.theorem", f"{group['theorem']!r} is not a theorem this checker knows")
        if hashlib.sha256(group["formula"].encode()).hexdigest() != known.formula_sha256:
            raise Problem(f"{path}.formula", f"not the formula of theorem {group['theorem']}")
        if group["quantity"] != "gap":
            raise Problem(f"{path}.quantity", "these theorems bound the gap")
        if group["level"] not in LEVELS[LEVELS.index(known.level) :]:
            raise Problem(f"{path}.level", f"{shown(group['level'])} is more than {known.level!r}")
        _check_hypotheses(group, known, path)
        subjects = _subjects(group["theorem"], attention)
        found = [tuple(sorted(entry["subject"].items())) for entry in group["entries"]]
        if len(set(found)) != len(found) or set(found) != set(subjects):
            raise Problem(f"{path}.entries", "one entry for each subject of the inputs was expected")
        for e, entry in enumerate(group["entries"]):
            where = f"{path}.entries[{e}]"
            norm, terms = subjects[tuple(sorted(entry["subject"].items()))]
            if ("violated" in entry) != (terms is None):
                raise Problem(
                    where, "a bound was given where its hypothesis is violated, or the other way round"
                )
            if terms is not None:
                check_entry(entry, parse(group["formula"]), known.measured, norm, terms, report, where)


def _check_hypotheses(group: dict[str, Any], known: KnownBound, path: str) -> None:
    status = {}
    for i, hypothesis in enumerate(group["hypotheses"]):
        where = f"{path}.hypotheses[{i}]"
        name, verdict = hypothesis.get("id"), hypothesis.get("status")
        if verdict not in ("met", "assumed", "violated"):
            raise Problem(f"{where}.status", f"{verdict!r} is not met, assumed or violated")
        if name in NEVER_MET and verdict == "met":
            raise Problem(f"{where}.status", f"no computation can establish the hypothesis {name!r}")
        status[name] = verdict
    if set(status) != known.hypotheses or len(status) != len(group["hypotheses"]):
        missing = sorted(known.hypotheses - set(status)) or sorted(set(status) - known.hypotheses)
        raise Problem(f"{path}.hypotheses", f"not the hypotheses of the theorem: {missing}")
    broken = any("violated" in entry for entry in group["entries"])
    if broken != ("violated" in status.values()):
        raise Problem(f"{path}.hypotheses", "violated entries and violated hypotheses do not agree")


def norm(value: Any, path: str) -> Interval:
    """A recorded norm: its lower end is not negative."""
    found = interval(value, path)
    if found.low() < 0:
        raise Problem(path, f"a norm cannot have the lower end {value['lower']}")
    return found


Subject = tuple[tuple[str, Any], ...]


def _subjects(theorem: str, attention: dict[str, Any]) -> dict[Subject, tuple[Any, list[Interval] | None]]:
    """What the theorem must speak of: subject -> (norm or None, terms of the sum or None if violated)."""
    if theorem == "A1-peeled":
        norms = attention["pooled_feature_norms"]
        terms = [square(norm(p, f"attention.pooled_feature_norms[{i}]")) for i, p in enumerate(norms)]
        return {(("object", "linear read-out of the pooled features"),): (None, terms)}
    trained = {(t["stack"], t["layer"], t["head"]): t["norm"] for t in attention["trained_norms"]}
    collected: dict[tuple[str, int, int], list[Interval] | None] = {}
    for c, call in enumerate(attention["calls"]):
        for h, head in enumerate(call["heads"]):
            measured = head.get("measured")
            if measured is None:
                continue
            path = f"attention.calls[{c}].heads[{h}].measured"
            place = call["stack"], call["layer"], head["head"]
            if "violated" in measured:
                collected[place] = None
                continue
            factors = [norm(measured[k], f"{path}.{k}") for k in ("value_radius", "query_norm", "key_norm")]
            terms_so_far = collected.setdefault(place, [])
            if terms_so_far is not None:
                terms_so_far.append(square(factors[0] * factors[1] * factors[2]))
    lost = [place for place, found in collected.items() if found is not None and place not in trained]
    if lost:
        raise Problem("attention.trained_norms", f"head {lost[0]} has a bound and no norm here")
    return {
        (("head", head), ("layer", layer), ("object", "query-key matrix"), ("stack", stack)): (
            trained.get((stack, layer, head)), terms,
        )
        for (stack, layer, head), terms in collected.items()
    }  # fmt: skip


def check_entry(
    entry: dict[str, Any],
    tree: Any,
    measured: str,
    norm: Any,
    terms: list[Interval],
    report: dict[str, Any],
    path: str,
) -> None:
    """One bound: norm, grid index, sums, values, words, and the m at which it falls below 1, 1/2, 1/10."""
    parameters, count = report["parameters"], report["inputs"]["count"]
    if len(terms) != count:
        raise Problem(path, f"{len(terms)} measured inputs instead of {count}")
    expected = norm if norm is not None else {k: parameters["readout_norm"] for k in ("lower", "upper")}
    if entry["norm_after"] != expected:
        raise Problem(f"{path}.norm_after", "not the norm recorded elsewhere in the report")
    start, ratio = (rational(parameters[name], f"parameters.{name}") for name in ("grid_start", "grid_ratio"))
    if not (start > 0 and ratio > 1):
        raise Problem("parameters.grid_ratio", "the grid needs a start > 0 and a ratio > 1")
    index = entry["grid_index"]
    if not is_grid_index(index, decimal(expected["upper"], f"{path}.norm_after"), start, ratio):
        raise Problem(f"{path}.grid_index", f"{index} is not the grid index that the norm gives")
    whole, top = total(terms), Interval(greatest([t.lo for t in terms]), greatest([t.hi for t in terms]))
    follows(entry["sum"], whole, f"{path}.sum")
    follows(entry["largest_term"], top, f"{path}.largest_term")
    fixed = {
        "delta": Interval.of(parameters["delta"]), "L": Interval.of(parameters["loss_lipschitz"]),
        "K": Interval.of(parameters["outputs"]), "rho": Interval.of(ratio), "c0": Interval.of(start),
        "j": Interval.of(index), "norm_after": interval(expected, f"{path}.norm_after"),
    }  # fmt: skip

    def value(m: int, measured_sum: Interval) -> Interval:
        return evaluate(tree, {**fixed, "m": Interval.of(m), measured: measured_sum})

    _check_value(entry["on_these_inputs"], count, value(count, whole), f"{path}.on_these_inputs")
    samples = parameters["samples"]
    if (samples is None) != (entry["at_samples"] is None):
        raise Problem(f"{path}.at_samples", "there when a sample size was given, else null, was expected")
    if samples is not None:
        _check_value(
            entry["at_samples"], samples, value(samples, top * Interval.of(samples)), f"{path}.at_samples"
        )
    for i, point in enumerate(entry["curve"]):
        m = sample_size(point.get("m"), f"{path}.curve[{i}].m")
        follows(point, value(m, top * Interval.of(m)), f"{path}.curve[{i}]")
    _check_falls_below(entry["falls_below"], lambda m: value(m, top * Interval.of(m)), f"{path}.falls_below")


def _check_value(record: dict[str, Any], m: int, value: Interval, path: str) -> None:
    if record.get("m") != m:
        raise Problem(f"{path}.m", f"{record.get('m')} is not {m}")
    follows(record.get("value"), value, f"{path}.value")
    if record.get("vacuous") is not (not value.high() < 1):
        raise Problem(
            f"{path}.vacuous", f"{record.get('vacuous')} does not fit the value, {float(value.high()):.6g}"
        )


def _check_falls_below(records: list[Any], bound: Callable[[int], Interval], path: str) -> None:
    if tuple(record.get("level") for record in records) != FALLS_BELOW:
        raise Problem(path, f"the levels {', '.join(FALLS_BELOW)} were expected")
    for i, record in enumerate(records):
        level, m = Fraction(record["level"]), sample_size(record.get("m"), f"{path}[{i}].m")
        if not bound(m).high() < level:
            raise Problem(f"{path}[{i}].m", f"at m = {m} the bound is not below {level}")
        # The neighbour may be undecided by a hair; it must not be clearly below.
        if m > 1 and bound(m - 1).high() < level * (1 - Fraction(1, 10**25)):
            raise Problem(f"{path}[{i}].m", f"the bound is below {level} already at m = {m - 1}")
