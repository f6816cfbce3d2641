"""Every matrix of a report: its spectrum is one, and norms and ranks follow from it."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .interval import ZERO, Interval
from .spectra import (
    CHAIN,
    KINDS,
    as_integers,
    effective_ranks,
    energy_rank,
    norms,
    numerical_rank,
    plain_quotients,
)
from .structure import Problem, check_shape, follows, pair

_HEX = re.compile(r"[0-9a-f]{64}")


def check_tensors(report: dict[str, Any]) -> set[Any]:
    """The input tensors, each with a digest, each once."""
    seen = set()
    for i, tensor in enumerate(report["tensors"]):
        if not _HEX.fullmatch(str(tensor.get("sha256"))):
            raise Problem(f"tensors[{i}].sha256", "is not a sha256")
        key = tensor.get("file"), tensor.get("tensor")
        if key in seen:
            raise Problem(f"tensors[{i}]", f"{key} is listed twice")
        seen.add(key)
    return seen


def spectrum_of(record: dict[str, Any], shape: list[int], path: str) -> list[tuple[Fraction, Fraction]]:
    """The recorded spectrum: as many values as the shape has, enclosures in order, descending."""
    spectrum = record["spectrum"]
    lower, upper, zeros = spectrum.get("lower"), spectrum.get("upper"), spectrum.get("exact_zeros")
    if not isinstance(lower, list) or not isinstance(upper, list) or len(lower) != len(upper):
        raise Problem(f"{path}.spectrum", "two lists of the same length were expected")
    if not isinstance(zeros, int) or zeros < 0 or len(lower) + zeros != min(shape):
        raise Problem(
            f"{path}.spectrum", f"{len(lower)} values and {zeros} zeros for a matrix of shape {shape}"
        )
    values: list[tuple[Fraction, Fraction]] = []
    for i in range(len(lower)):
        where = f"{path}.spectrum[{i}]"
        low, high = pair({"lower": lower[i], "upper": upper[i]}, where)
        if low < 0:
            raise Problem(where, f"a singular value cannot have the lower end {lower[i]}")
        if values and (low > values[-1][0] or high > values[-1][1]):
            raise Problem(where, "the spectrum is not in descending order")
        values.append((low, high))
    return values


def check_ranks(record: dict[str, Any], values: list[tuple[Fraction, Fraction]], path: str) -> None:
    """The effective ranks follow from the spectrum and stand in the order of Renyi entropies."""
    if not values or values[0][0] <= 0:
        if record["ranks"] is not None or not record.get("undefined"):
            raise Problem(f"{path}.ranks", "a matrix that may be zero has no effective rank, and must say so")
        return
    if not isinstance(record["ranks"], dict) or set(record["ranks"]) != set(KINDS) or "undefined" in record:
        raise Problem(f"{path}.ranks", "all six effective ranks were expected")
    spectrum = [Interval.of(low, high) for low, high in values]
    plain = plain_quotients(spectrum)
    for kind, value in effective_ranks(spectrum, len(values)).items():
        follows(record["ranks"][kind], value, f"{path}.ranks.{kind}", plain.get(kind))
    for small, large in CHAIN:
        if pair(record["ranks"][small], path)[0] > pair(record["ranks"][large], path)[1]:
            raise Problem(f"{path}.ranks", f"the {small} rank is above the {large} rank")


def check_matrix(record: dict[str, Any], parameters: dict[str, Any], tensors: set[Any], path: str) -> None:
    """One weight: its tensors are listed, and norms and ranks follow from its spectrum."""
    check_shape("matrix", record, path)
    if len(record["factors"]) not in (1, 2):
        raise Problem(f"{path}.factors", "one or two factors were expected")
    for i, factor in enumerate(record["factors"]):
        if (factor.get("file"), factor.get("tensor")) not in tensors:
            raise Problem(
                f"{path}.factors[{i}]", f"tensor {factor.get('tensor')!r} is not among the input tensors"
            )
    if "error" in record:
        return
    for name in ("spectrum", "norms", "ranks", "numerical_rank", "energy_rank", "assumptions"):
        if name not in record:
            raise Problem(path, f"the member {name!r} is missing")
    values = spectrum_of(record, record["shape"], path)
    intervals = [Interval.of(low, high) for low, high in values]
    if set(record["norms"]) != {"spectral", "frobenius", "nuclear"}:
        raise Problem(f"{path}.norms", "spectral, frobenius and nuclear norm were expected")
    for name, value in norms(intervals or [ZERO]).items():
        follows(record["norms"][name], value, f"{path}.norms.{name}")
    check_ranks(record, values, path)
    if record["ranks"] is not None:
        _check_integer_ranks(record, values, parameters, path)


def _check_integer_ranks(
    record: dict[str, Any], values: list[tuple[Fraction, Fraction]], parameters: dict[str, Any], path: str
) -> None:
    kinds: tuple[tuple[str, str, str, Callable[..., tuple[int, int]]], ...] = (
        ("numerical_rank", "epsilon", "epsilons", numerical_rank),
        ("energy_rank", "level", "energy_levels", energy_rank),
    )
    scaled = as_integers(values)
    for name, key, levels, function in kinds:
        if [item.get(key) for item in record[name]] != parameters[levels]:
            raise Problem(f"{path}.{name}", f"one entry for each of {parameters[levels]} was expected")
        for item in record[name]:
            low, high = function(scaled, Fraction(item[key]))
            if not (item["lower"] <= low and high <= item["upper"] and 1 <= item["lower"]):
                raise Problem(f"{path}.{name}", f"at {item[key]}: the spectrum gives {low} to {high}")
            if item["lower"] != low or item["upper"] != high:
                raise Problem(
                    f"{path}.{name}", f"at {item[key]}: not what the spectrum gives, {low} to {high}"
                )
