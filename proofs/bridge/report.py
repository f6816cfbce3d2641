"""A report's printed bounds as Coq theorems, closed by the tactic ``interval``.

Every goal says: for all inputs inside the recorded enclosures, the formula of the theorem is at most the
printed decimal. A decimal that is too low, were it by one unit in its last digit, does not compile.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from proofs.bridge.compiler import compile_text, require
from proofs.bridge.coq_text import NotInCoq, number, to_coq
from proofs.bridge.inverse_goals import PRECISION, Printed, binomial_goal, entropy_goal, mentions
from proofs.export import read_nested

CHUNK = 20
INLINE_TERMS = 200

_HEADER = """From Coq Require Import Reals Lra Lia.
From Coquelicot Require Import Rcomplements.
From Interval Require Import Tactic.
From Attention Require Import ChernoffHoeffding BinomialTail BinomialBound PacBayes.
Open Scope R_scope.
"""


@dataclass(frozen=True)
class Goal:
    """One printed bound. ``where`` is its place in the report, ``printed`` the decimal that is claimed."""

    name: str
    where: str
    printed: str
    text: str = ""
    reason: str = ""
    """Why no goal could be stated (then ``text`` is empty)."""


@dataclass
class _Inputs:
    """Enclosures (lower, upper) of the symbols of a formula, and terms whose squares add up to one."""

    known: dict[str, tuple[Fraction, Fraction]]
    sums: dict[str, Sequence[tuple[Fraction, ...]]] = field(default_factory=dict)


def report_goals(report: Mapping[str, Any]) -> str:
    """The Coq file with one theorem for every printed bound of ``report`` that can be stated."""
    return _HEADER + "\n".join(goal.text for goal in goals(report) if goal.text)


def goals(report: Mapping[str, Any]) -> list[Goal]:
    """All printed bounds of a report: those with a goal, and those without, with the reason."""
    found: list[Goal] = []
    for place, groups in (("", report.get("bounds")), ("risk.", report.get("risk", {}).get("bounds"))):
        for g, group in enumerate(groups or ()):
            bounds = _entry_bounds(report, group, g) if "entries" in group else _risk_bound(group, g)
            for where, formula, inputs, printed in bounds:
                found.append(_goal(f"printed_{len(found)}", place + where, formula, inputs, printed))
    return found


def check_report(
    path: str | Path, progress: Callable[[int, int], None] | None = None
) -> list[tuple[str, bool]]:
    """Compile every printed bound of the report at ``path``: pairs (what it says, whether Coq proved it).

    ``progress`` is called with (goals decided, all goals) as the work goes on.

    A bound that cannot be stated in Coq counts as not proved; its text says why. Raises ``CoqMissing``.
    """
    require()
    report = json.loads(Path(path).read_text(encoding="utf-8"))
    listed = goals(report)
    proved = compiled([goal for goal in listed if goal.text], progress)
    return [(_say(goal), proved.get(goal.name, False)) for goal in listed]


def compiled(chosen: Sequence[Goal], progress: Callable[[int, int], None] | None = None) -> dict[str, bool]:
    """Which goals compile. Goals are compiled in chunks; a chunk that fails is halved."""
    result: dict[str, bool] = {}
    pending = [list(chosen[i : i + CHUNK]) for i in range(0, len(chosen), CHUNK)]
    while pending:
        chunk = pending.pop()
        ok = compile_text(_HEADER + "\n".join(goal.text for goal in chunk)).ok
        if ok or len(chunk) == 1:
            result |= {goal.name: ok for goal in chunk}
            if progress:
                progress(len(result), len(chosen))
        else:
            half = len(chunk) // 2
            pending += [chunk[:half], chunk[half:]]
    return result


def _say(goal: Goal) -> str:
    return f"{goal.where} <= {goal.printed}" + (f" (no goal: {goal.reason})" if goal.reason else "")


# What a report contains

_Bound = tuple[str, str, _Inputs, str]


def _entry_bounds(report: Mapping[str, Any], group: Mapping[str, Any], g: int) -> Iterator[_Bound]:
    """The bounds of a ``certify report``: on the inputs, and for a sample of the size that was asked for."""
    parameters = report["parameters"]
    exact = {
        "delta": parameters["delta"],
        "L": parameters["loss_lipschitz"],
        "K": parameters["outputs"],
        "rho": parameters["grid_ratio"],
        "c0": parameters["grid_start"],
    }
    measured = "sum_sq_features" if group["theorem"] == "A1-peeled" else "sum_sq_scores"
    for e, entry in enumerate(group["entries"]):
        if "violated" in entry:
            continue
        fixed = {name: _same(value) for name, value in exact.items()} | {"j": _same(entry["grid_index"])}
        terms = _terms(report, group["theorem"], entry)
        top = max((_product(t) for t in terms), default=Fraction(0))
        for place in ("on_these_inputs", "at_samples"):
            record = entry.get(place)
            if record is None:
                continue
            count = int(record["m"])
            inputs = _Inputs({**fixed, "m": _same(count)})
            if place == "on_these_inputs":
                inputs.sums[measured] = terms
            else:
                inputs.known[measured] = (Fraction(0), top * count)
            yield f"bounds[{g}].entries[{e}].{place}", group["formula"], inputs, record["value"]["upper"]


def _terms(report: Mapping[str, Any], theorem: str, entry: Mapping[str, Any]) -> list[tuple[Fraction, ...]]:
    """The recorded upper factors whose squared products add up to the measured sum."""
    attention = report["attention"]
    if theorem == "A1-peeled":
        return [(Fraction(pair["upper"]),) for pair in attention["pooled_feature_norms"]]
    subject, found = entry["subject"], []
    for call in attention["calls"]:
        if (call["stack"], call["layer"]) != (subject["stack"], subject["layer"]):
            continue
        for head in call["heads"]:
            values = head.get("measured")
            if head["head"] == subject["head"] and values and "violated" not in values:
                found.append(
                    tuple(Fraction(values[k]["upper"]) for k in ("value_radius", "query_norm", "key_norm"))
                )
    return found


FORMS = {"binomial": "D-binomial", "kl": "D", "hoeffding": "D-hoeffding"}
"""Theorems behind the forms of one record."""


def _risk_bound(record: Mapping[str, Any], g: int) -> Iterator[_Bound]:
    """One line of a risk report, or each of its forms: the theorem's own formula at the recorded inputs.

    A printed 1 is left out: it claims nothing about a loss in [0, 1].
    """
    from proofs.theorems import THEOREMS

    forms = record.get("forms") or {}
    printed = [(f".forms.{form}", FORMS[form], forms[form]) for form in forms if form in FORMS]
    for place, name, value in printed or [("", record["theorem"], record["value"])]:
        if value is None or name not in THEOREMS or Fraction(value["upper"]) >= 1:
            continue
        formula, theorem = THEOREMS[name].prefix, THEOREMS[name]
        if theorem.quantity == "gap":
            formula = f"(add {formula} emp_risk)"
        yield f"bounds[{g}]{place} ({name})", formula, _Inputs(_risk_inputs(record)), value["upper"]


def _risk_inputs(record: Mapping[str, Any]) -> dict[str, tuple[Fraction, Fraction]]:
    """The recorded enclosures; exact where the record is: delta, error counts and their share."""
    known = {
        name: (Fraction(pair["lower"]), Fraction(pair["upper"])) for name, pair in record["inputs"].items()
    }
    exact = {"delta": Fraction(str(record["delta"]))}
    if "errors" in record and record["loss"] == "0-1":
        known |= {"k_errors": _same(record["errors"]), "m": _same(record["m"])}
        exact["emp_risk"] = Fraction(int(record["errors"]), int(record["m"]))
        known.setdefault("emp_risk", _same(exact["emp_risk"]))
    for name, value in exact.items():
        if name in known and known[name][0] <= value <= known[name][1]:
            known[name] = (value, value)
    return known


def _same(value: Any) -> tuple[Fraction, Fraction]:
    exact = Fraction(str(value))
    return exact, exact


def _product(factors: Sequence[Fraction]) -> Fraction:
    result = Fraction(1)
    for factor in factors:
        result *= factor
    return result**2


# One goal


def _goal(name: str, where: str, formula: str, inputs: _Inputs, printed: str) -> Goal:
    try:
        return Goal(name, where, printed, goal_text(name, formula, inputs.known, printed, inputs.sums))
    except NotInCoq as problem:
        return Goal(name, where, printed, reason=str(problem))


def goal_text(
    name: str,
    formula: str,
    known: Mapping[str, tuple[Fraction, Fraction]],
    printed: str,
    sums: Mapping[str, Sequence[tuple[Fraction, ...]]] | None = None,
) -> str:
    """A theorem: for all inputs in their enclosures the formula is at most the decimal ``printed``.

    Exact inputs are written into the formula; an input with a width becomes a variable with two
    hypotheses; a sum becomes a variable below the sum of the recorded squares. Raises ``NotInCoq``.
    """
    names: dict[str, str] = {}
    binders: list[str] = []
    for symbol, (low, high) in known.items():
        names[symbol] = number(low) if low == high else f"x_{symbol}"
        if low != high:
            binders.append(f"forall x_{symbol}, {number(low)} <= x_{symbol} <= {number(high)} -> ")
    for symbol, terms in (sums or {}).items():
        names[symbol] = f"x_{symbol}"
        binders.append(f"forall x_{symbol}, 0 <= x_{symbol} <= {_sum_text(terms)} -> ")
    tree, limit = read_nested(formula), decimal_text(printed)
    claim = Printed(name, "".join(binders), limit)
    if mentions(tree, "binomial_tail_inverse"):
        return binomial_goal(tree, names, known, claim)
    if mentions(tree, "kl_inverse"):
        return entropy_goal(tree, names, known, claim)
    return (
        f"Theorem {name} : {claim.quantifiers}{to_coq(tree, names, 'interval')} <= {limit}.\n"
        f"Proof. intros; interval with (i_prec {PRECISION}). Qed.\n"
    )


def _sum_text(terms: Sequence[tuple[Fraction, ...]]) -> str:
    """The sum of the squared products; written out if short, else added up exactly here."""
    if len(terms) > INLINE_TERMS:
        return number(sum((_product(t) for t in terms), Fraction(0)))
    return (
        "(" + " + ".join("(" + " * ".join(number(f) for f in t) + ") ^ 2" for t in terms) + ")"
        if terms
        else "0"
    )


def decimal_text(printed: str) -> str:
    """A printed decimal as a Coq literal, the same digits."""
    Fraction(printed)
    return (
        printed.lower().replace("+", "")
        if not printed.startswith("-")
        else f"(- {printed[1:].lower().replace('+', '')})"
    )
