"""Every matrix of a report: its spectrum is one, and norms and ranks follow from it."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .interval import ZERO, Interval
from .spectra import (
    CHAIN,
    as_integers,
    effective_ranks,
    energy_rank,
    norms,
    numerical_rank,
    plain_quotients,
)
from .structure import Problem, follows, pair, rational

_HEX = re.compile(r"[0-9a-f]{64}")
NUMERIC = {"binary64", "matrix-product"}  # what every spectrum of floats rests on


def check_tensors(report: dict[str, Any]) -> set[Any]:
    """The input tensors, each with a digest, each once."""
    seen = set()
    for i, tensor in enumerate(report["tensors"]):
        if not _HEX.fullmatch(tensor["sha256"]):
            raise Problem(f"tensors[{i}].sha256", "is not a sha256")
        key = tensor["file"], tensor["tensor"]
        if key in seen:
            raise Problem(f"tensors[{i}]", f"{key} is listed twice")
        seen.add(key)
    return seen


def spectrum_of(record: dict[str, Any], shape: list[int], path: str) -> list[tuple[Fraction, Fraction]]:
    """The recorded spectrum: as many values as the shape has, enclosures in order, descending."""
    lower, upper, zeros = (record["spectrum"][name] for name in ("lower", "upper", "exact_zeros"))
    if len(lower) != len(upper):
        raise Problem(f"{path}.spectrum", "two lists of the same length were expected")
    if len(shape) != 2 or min(shape) < 0 or zeros < 0 or len(lower) + zeros != min(shape):
        raise Problem(
            f"{path}.spectrum", f"{len(lower)} values and {zeros} zeros for a matrix of shape {shape}"
        )
    if len(lower) > 1 and not NUMERIC <= set(record["assumptions"]):
        raise Problem(f"{path}.assumptions", f"every spectrum rests on {', '.join(sorted(NUMERIC))}")
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
    if record["ranks"] is None or "undefined" in record:
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
    for i, factor in enumerate(record["factors"]):
        if (factor["file"], factor["tensor"]) not in tensors:
            raise Problem(
                f"{path}.factors[{i}]", f"tensor {factor['tensor']!r} is not among the input tensors"
            )
    shapes = [factor["shape"] for factor in record["factors"]]
    if len(shapes) not in (1, 2) or any(len(shape) != 2 for shape in shapes):
        raise Problem(f"{path}.factors", "one matrix or two factors were expected")
    product = shapes[0] if len(shapes) == 1 else [shapes[0][0], shapes[1][0]]
    if record["shape"] != product or shapes[0][1] != shapes[-1][1]:
        raise Problem(f"{path}.shape", f"{record['shape']} is not the shape that the factors {shapes} give")
    if "error" in record:
        return
    values = spectrum_of(record, record["shape"], path)
    intervals = [Interval.of(low, high) for low, high in values]
    for name, value in norms(intervals or [ZERO]).items():
        follows(record["norms"][name], value, f"{path}.norms.{name}")
    check_ranks(record, values, path)
    _check_integer_ranks(record, values, parameters, path)


def _check_integer_ranks(
    record: dict[str, Any], values: list[tuple[Fraction, Fraction]], parameters: dict[str, Any], path: str
) -> None:
    kinds: tuple[tuple[str, str, str, Callable[..., tuple[int, int]]], ...] = (
        ("numerical_rank", "epsilon", "epsilons", numerical_rank),
        ("energy_rank", "level", "energy_levels", energy_rank),
    )
    defined = record["ranks"] is not None
    scaled = as_integers(values) if defined else []
    for name, key, levels, function in kinds:
        expected = parameters[levels] if defined else []
        if [item[key] for item in record[name]] != expected:
            raise Problem(f"{path}.{name}", f"one entry for each of {expected} was expected")
        for i, item in enumerate(record[name]):
            low, high = function(scaled, rational(item[key], f"{path}.{name}[{i}].{key}"))
            if (item["lower"], item["upper"]) != (low, high):
                raise Problem(f"{path}.{name}", f"at {item[key]}: the spectrum gives {low} to {high}")
