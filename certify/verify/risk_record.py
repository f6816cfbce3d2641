"""The member ``risk`` of a report: every bound on the risk recomputed from its recorded inputs, the headline
and the words held against the numbers.

Counted errors, norms and relative entropies are leaves here; `risk_files` checks what the certificates that
lie beside the report say about them.
"""

from __future__ import annotations

import hashlib
import math
import re
from fractions import Fraction
from typing import Any

from .formula import evaluate, parse
from .interval import Interval
from .risk_theorems import RISK_BOUNDS, RISK_NEVER_MET
from .structure import Problem, check_shape, decimal, interval, pair, sample_size
from .tails import at_least_tail_inverse

SCHEMA = "certify-attention/risk/1"
CURVES = ("D-binomial", "E", "E-split", "E-monte-carlo", "E-single")
TAILS = ("D-binomial", "test-set")  # binomial tails: checked at the claimed value, not inverted
CLOSE = Fraction(1, 10**12)
DRAWN = Fraction(1, 10**4)  # points of curves are rounded up to a few digits
Record = dict[str, Any]


def check_risk(risk: Record) -> None:
    """All that can be checked of the record without a file."""
    check_shape("risk", risk, "risk")
    if risk["schema"] != SCHEMA:
        raise Problem("risk.schema", f"{risk['schema']!r} is not {SCHEMA!r}")
    delta, chance = _probability(risk["delta"], "risk.delta"), _probability(risk["chance"], "risk.chance")
    for name, text in risk["formulas"].items():
        known = RISK_BOUNDS.get(name)
        if known is None or hashlib.sha256(text.encode()).hexdigest() != known.formula_sha256:
            raise Problem(f"risk.formulas.{name}", "is not the formula of this theorem")
    for i, bound in enumerate(risk["bounds"]):
        path = f"risk.bounds[{i}]"
        check_shape("risk bound", bound, path)
        if _probability(bound["delta"], f"{path}.delta") != delta:
            raise Problem(f"{path}.delta", "is not the delta of the record")
        _check_status(bound, chance, path)
        _check_value(bound, risk["formulas"], path)
    _check_headline(risk, delta, chance)
    _check_minima(risk, delta)
    _check_curves(risk)
    if risk["nominal"].get("status") != "not a bound":
        raise Problem("risk.nominal.status", "sqrt(R/m) is not a bound")


def _probability(text: Any, path: str) -> Fraction:
    try:
        value = Fraction(text)
    except (TypeError, ValueError, ZeroDivisionError):
        value = Fraction(0)
    if not 0 < value < 1:
        raise Problem(path, f"{text!r} is not a probability between 0 and 1")
    return value


def _check_status(bound: Record, chance: Fraction, path: str) -> None:
    """The verdict against hypotheses and value."""
    statuses = {h.get("id"): h.get("status") for h in bound["hypotheses"]}
    for name, status in statuses.items():
        if status not in ("met", "assumed", "violated") or (status == "met" and name in RISK_NEVER_MET):
            raise Problem(f"{path}.hypotheses", f"{name} cannot be {status}")
    known = RISK_BOUNDS.get(bound["theorem"])
    if known is None or not known.hypotheses <= set(statuses):
        raise Problem(f"{path}.hypotheses", "does not list the hypotheses of the theorem")
    if statuses.get("fixed-before-sample") == "met" and "fixed-before-second-part" not in statuses:
        raise Problem(f"{path}.hypotheses", "no computation shows what was fixed before the sample")
    violated = "violated" in statuses.values()
    if violated != (bound["value"] is None) or violated != (bound["status"] == "not a bound"):
        raise Problem(
            path, "a bound with a violated hypothesis has no value and is not a bound, others have one"
        )
    if not violated:
        valid = pair(bound["value"], f"{path}.value")[1] < chance
        if bound["status"] != ("valid" if valid else "vacuous"):
            raise Problem(f"{path}.status", f"{bound['status']!r} does not fit the value and chance {chance}")


def _value(bound: Record, formulas: Record, share: Fraction, path: str) -> Interval:
    """The theorem's bound at ``share`` times delta, from the recorded inputs."""
    inputs = {name: interval(value, f"{path}.inputs.{name}") for name, value in bound["inputs"].items()}
    for name in ("delta", "delta_draws"):
        if name in inputs:
            inputs[name] = inputs[name] * Interval.of(share)
    if bound["theorem"] not in formulas:
        raise Problem(f"{path}.theorem", f"no formula of {bound['theorem']!r} is recorded")
    value = evaluate(parse(formulas[bound["theorem"]]), inputs)
    return value + inputs["emp_risk"] if RISK_BOUNDS[bound["theorem"]].gap else value


def _check_value(bound: Record, formulas: Record, path: str) -> None:
    """The value follows from the inputs, and the inputs from m, delta and the counted errors."""
    if bound["value"] is None:
        return
    m = sample_size(bound["m"], f"{path}.m")
    recorded = bound["inputs"]
    size = recorded.get("m", recorded.get("n_test"))
    if pair(size, f"{path}.inputs.m") != (m, m):
        raise Problem(f"{path}.inputs", f"the number of units is not m = {m}")
    spent = sum((pair(recorded[n], path)[1] for n in ("delta", "delta_draws") if n in recorded), Fraction(0))
    if spent > _probability(bound["delta"], f"{path}.delta") * (1 + CLOSE):
        raise Problem(f"{path}.inputs.delta", "more than delta is spent")
    _check_errors(bound, m, path)
    top = pair(bound["value"], f"{path}.value")[1]
    if bound["theorem"] in TAILS:
        if not _tail_allows(bound, top, m, bound["errors"], Fraction(bound["delta"])):
            raise Problem(f"{path}.value", "does not follow from errors, bits and delta")
        return
    value = _value(bound, formulas, Fraction(1), path)
    if not min(value.low(), Fraction(1)) - CLOSE <= top <= min(value.high(), Fraction(1)) + CLOSE:
        raise Problem(f"{path}.value", f"{float(top):.17g} is not what the recorded inputs give")


def _tail_allows(bound: Record, top: Fraction, m: int, errors: int, delta: Fraction) -> bool:
    """Whether a binomial tail at delta 2^-bits (no bits for a test set) proves that the risk is at most
    ``top``."""
    bits = bound["bits"] if bound["theorem"] == "D-binomial" else 0
    return at_least_tail_inverse(top, errors, m, delta, bits)


def _check_errors(bound: Record, m: int, path: str) -> None:
    """Counted errors against the share that enters the formula."""
    if "errors" not in bound or ("bits" not in bound and bound["theorem"] == "D-binomial"):
        if bound["theorem"] in TAILS:
            raise Problem(path, "the counts of this bound are missing")
        return
    errors, units = bound["errors"], m * bound.get("passes", 1)
    if not isinstance(errors, int) or not 0 <= errors <= units:
        raise Problem(f"{path}.errors", f"{errors!r} errors in {units} counts")
    for name in ("emp_risk", "emp_risk_draws"):
        if name in bound["inputs"]:
            low, high = pair(bound["inputs"][name], f"{path}.inputs.{name}")
            if not low <= Fraction(errors, units) <= high:
                raise Problem(f"{path}.inputs.{name}", f"is not {errors} of {units}")
    if "code_bits" in bound["inputs"] and pair(bound["inputs"]["code_bits"], path) != (bound["bits"],) * 2:
        raise Problem(f"{path}.inputs.code_bits", f"is not {bound['bits']}")
    if "k_errors" in bound["inputs"] and pair(bound["inputs"]["k_errors"], path) != (errors, errors):
        raise Problem(f"{path}.inputs.k_errors", f"is not {errors}")


def _candidates(risk: Record) -> list[Record]:
    """The bounds on a 0-1 risk from the training sample alone, which the headline chooses from."""
    return [
        b
        for b in risk["bounds"]
        if b["loss"] == "0-1" and b["value"] is not None and not b["theorem"].startswith("test-set")
    ]


def _check_headline(risk: Record, delta: Fraction, chance: Fraction) -> None:
    """The chosen bound is one of the candidates at delta / their number; the sentence says no less."""
    found = _candidates(risk)
    if risk["headline"] is None:
        if "at most" in risk["sentence"]:
            raise Problem("risk.sentence", "claims a bound, and there is no headline")
        return
    path = "risk.headline"
    check_shape("risk headline", risk["headline"], path)
    bound = risk["headline"]["bound"]
    check_shape("risk bound", bound, f"{path}.bound")
    if risk["headline"]["candidates"] != len(found) or Fraction(bound["delta"]) != delta / len(found):
        raise Problem(path, f"{len(found)} candidates must share delta")
    same = [b for b in found if (b["theorem"], b["subject"]) == (bound["theorem"], bound["subject"])]
    if len(same) != 1 or any(same[0][n] != bound[n] for n in ("m", "hypotheses")):
        raise Problem(f"{path}.bound", "is not one of the bounds of the table")
    paid = ("delta", "delta_draws")
    for name, value in same[0]["inputs"].items():
        if name not in paid and bound["inputs"].get(name) != value:
            raise Problem(f"{path}.bound.inputs.{name}", "is not that of the table")
    if any(bound.get(n) != same[0].get(n) for n in ("errors", "bits", "passes")):
        raise Problem(f"{path}.bound", "its counts are not those of the table")
    _check_value(bound, risk["formulas"], f"{path}.bound")
    top = pair(bound["value"], f"{path}.bound.value")[1]
    if not top < chance:
        raise Problem(f"{path}.bound.value", "is no better than guessing")
    said = re.search(r"at most (\d+(?:\.\d+)?) of 100", risk["sentence"])
    sure = re.match(r"With (\d+(?:\.\d+)?) % confidence", risk["sentence"])
    if said is None or Fraction(said[1]) < 100 * top or sure is None or Fraction(sure[1]) > 100 * (1 - delta):
        raise Problem("risk.sentence", "says more than the headline's bound and confidence")


def _check_minima(risk: Record, delta: Fraction) -> None:
    """Each minimum is over bounds on one number, each at delta / number."""
    for i, row in enumerate(risk["minima"]):
        path = f"risk.minima[{i}]"
        group = [
            b
            for b in risk["bounds"]
            if b["value"] is not None and (b["subject"], b["loss"]) == (row["subject"], row["loss"])
        ]
        if sorted(b["theorem"] for b in group) != sorted(row["of"]) or not group:
            raise Problem(f"{path}.of", "does not list the bounds on this number")
        share = Fraction(1, len(group))
        if Fraction(row["delta_each"]) != delta * share:
            raise Problem(f"{path}.delta_each", "is not delta / number")
        best = next((b for b in group if b["theorem"] == row["best"]), None)
        if best is None:
            raise Problem(f"{path}.best", "is not among the bounds")
        top = pair(row["value"], f"{path}.value")[1]
        if best["theorem"] in TAILS:
            follows = _tail_allows(best, top, best["m"], best["errors"], delta * share)
        else:
            follows = top >= min(_value(best, risk["formulas"], share, path).low(), Fraction(1)) - CLOSE
        if not follows:
            raise Problem(f"{path}.value", "does not follow from the recorded inputs")


def _check_curves(risk: Record) -> None:
    """Each point of each curve is its bound with another m; the last one is the bound itself."""
    drawn = [b for b in _candidates(risk) if b["theorem"] in CURVES]
    if len(drawn) != len(risk["curves"]):
        raise Problem("risk.curves", "is not one curve for each bound of theorems D and E")
    for i, (bound, curve) in enumerate(zip(drawn, risk["curves"], strict=True)):
        path = f"risk.curves[{i}]"
        *before, last = curve["points"]
        top = pair(bound["value"], path)[1]
        if last["m"] != bound["m"] or not top <= decimal(last["value"], path) <= top * (1 + DRAWN):
            raise Problem(path, "does not end in its bound")
        for point in before:
            _check_point(bound, risk["formulas"], point, path)


def _check_point(bound: Record, formulas: Record, point: Record, path: str) -> None:
    """The bound with another m, at the same share of errors, rounded up to a whole number."""
    m, drawn = sample_size(point["m"], path), decimal(point["value"], path)
    if bound["theorem"] in TAILS:
        errors = math.ceil(Fraction(bound["errors"] * m, bound["m"]))
        follows = _tail_allows(bound, drawn, m, errors, Fraction(bound["delta"]))
    else:
        size = {"lower": str(m), "upper": str(m)}
        value = _value({**bound, "inputs": {**bound["inputs"], "m": size}}, formulas, Fraction(1), path)
        low, high = (min(end, Fraction(1)) for end in (value.low(), value.high()))
        follows = low - CLOSE <= drawn <= high * (1 + DRAWN)
    if not follows:
        raise Problem(path, f"the value at m = {m} is not what the theorem gives")
