"""The second checker of a report: all checks in the order in which they are made.

What is checked without the model
    the structure; the digest of the whole and of every part; lower <= upper everywhere; spectra
    descending; every norm, rank, order statistic, capacity and bound recomputed from the recorded
    spectra and measurements; bounds only by theorems whose formula ``theorems`` knows by its hash;
    the words ("vacuous", "assumed") against the numbers; the same for the bounds on a risk.
What needs ``--model``
    the spectra themselves: ``model`` reads tensors again from the model's files and re-encloses them
    from another SVD (LAPACK gesvd) whose residual is evaluated by splitting into integer slices.
What needs the certificates and samples beside the report
    the errors, bits and relative entropies that enter the bounds on a risk (``risk_files``).
What nobody can check from the report alone
    measurements on the inputs (attention matrices, token norms): they are leaves, protected by
    the digest only, and the summary says so.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .attention import check_attention, check_nominal
from .bounds import check_bounds
from .digests import check_digests
from .matrices import check_matrix, check_tensors
from .risk_record import check_risk
from .structure import Problem, check_shape, rational, sample_size

# What a record can cause that has the right shape and makes no sense.
UNFIT = (
    ArithmeticError, ValueError, TypeError, LookupError, AttributeError, MemoryError, RecursionError
)  # fmt: skip


def check(report: dict[str, Any], progress: Callable[[str], None] = lambda text: None) -> list[Problem]:
    """Every problem found in the report, without its model."""
    try:
        check_shape("report", report, "")
    except Problem as problem:
        return [problem]
    problems = list(check_digests(report))
    tensors: set[Any] = set()

    def attempt(what: str, function: Callable[[], Any]) -> None:
        progress(what)
        try:
            function()
        except Problem as problem:
            problems.append(problem)
        except UNFIT as error:
            problems.append(Problem(what, f"cannot be checked ({type(error).__name__}: {error})"))

    before = len(problems)
    attempt("parameters", lambda: check_parameters(report))
    if len(problems) > before:
        return problems  # nothing can be recomputed from numbers that make no sense
    attempt("tensors", lambda: tensors.update(check_tensors(report)))
    for i, matrix in enumerate(report["matrices"]):
        path = f"matrices[{i}]"
        attempt(path, functools.partial(check_matrix, matrix, report["parameters"], tensors, path))
    attempt("attention", lambda: check_attention(report))
    attempt("bounds", lambda: check_bounds(report))
    attempt("nominal", lambda: check_nominal(report))
    if "risk" in report:
        attempt("risk", lambda: check_risk(report["risk"]))
    attempt("status", lambda: check_status(report))
    return problems


def check_parameters(report: dict[str, Any]) -> None:
    """The user's numbers make sense."""
    parameters = report["parameters"]
    for name in ("delta", "loss_lipschitz", "readout_norm", "grid_start", "grid_ratio"):
        if not rational(parameters[name], f"parameters.{name}") > 0:
            raise Problem(f"parameters.{name}", "a positive number was expected")
    if not Fraction(parameters["delta"]) < 1:
        raise Problem("parameters.delta", "a probability below 1 was expected")
    for i, text in enumerate(parameters["epsilons"]):
        if not 0 <= rational(text, f"parameters.epsilons[{i}]") < 1:
            raise Problem(f"parameters.epsilons[{i}]", "a number from 0 to below 1 was expected")
    for i, text in enumerate(parameters["energy_levels"]):
        if not 0 < rational(text, f"parameters.energy_levels[{i}]") <= 1:
            raise Problem(f"parameters.energy_levels[{i}]", "a share of at most 1 was expected")
    sample_size(parameters["outputs"], "parameters.outputs")
    if parameters["samples"] is not None:
        sample_size(parameters["samples"], "parameters.samples")


def check_status(report: dict[str, Any]) -> None:
    """What failed is listed, and the status says whether anything did."""
    failed = [m["name"] for m in report["matrices"] if "error" in m]
    for call in (report["attention"] or {}).get("calls", ()):
        where = f"attention, input {call['input']}, {call['stack']} layer {call['layer']}".replace(
            ",  ", ", "
        )
        failed += [f"{where}, head {head['head']}" for head in call["heads"] if "error" in head]
    if [item.get("name") for item in report["uncertified"]] != failed:
        raise Problem("uncertified", "does not list exactly what was not certified")
    complete = not failed and all(item.get("expected") is True for item in report["skipped"])
    if report["status"] != ("certified" if complete else "incomplete"):
        raise Problem("status", f"{report['status']!r} does not fit what was skipped and not certified")
    used = {a for m in report["matrices"] for a in m.get("assumptions", ())}
    for call in (report["attention"] or {}).get("calls", ()):
        used |= {a for head in call["heads"] for a in head.get("assumptions", ())}
    used |= set(report["risk"]["assumptions"]) if "risk" in report else set()
    if set(report["trust"]["assumptions"]) != used:
        raise Problem("trust.assumptions", "does not list exactly the assumptions that the numbers rest on")


def summary(report: dict[str, Any]) -> str:
    """What was checked, in one sentence, and what nobody can check from the report alone."""
    heads = sum(len(call["heads"]) for call in (report["attention"] or {}).get("calls", ()))
    entries = sum(len(group["entries"]) for group in report["bounds"])
    counts = f"{len(report['matrices'])} weights, {heads} attention matrices, {entries} bounds"
    text = f"{counts}: every derived number follows"
    if heads:
        text += (
            "; attention spectra, token norms and norms after training are taken as recorded (digest only)"
        )
    return text
