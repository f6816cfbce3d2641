"""What the HTML page and the terminal show: a selection of the report's strings, nothing computed anew.

The only arithmetic here is for positions of ink (pixels, colours); every printed number is a recorded
decimal, possibly shortened by outward rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from certify.decimals import short

KIND_TITLES = {
    "stable": "Stable rank",
    "nuclear": "Nuclear / spectral",
    "nuclear-frobenius": "Nuclear / Frobenius",
    "participation": "Participation ratio",
    "entropy": "Entropy rank (Roy-Vetterli)",
    "gram-entropy": "Entropy rank of the Gram matrix",
}
KIND_FORMULAS = {
    "stable": "‖A‖_F² / ‖A‖²",
    "nuclear": "‖A‖∗ / ‖A‖",
    "nuclear-frobenius": "‖A‖∗² / ‖A‖_F²",
    "participation": "‖A‖_F⁴ / ‖AᵀA‖_F²",
    "entropy": "exp(−Σ p log p), p = σ/Σσ",
    "gram-entropy": "exp(−Σ p log p), p = σ²/Σσ²",
}
ROLE_TITLES = {
    "query-key": "query-key matrices",
    "value-output": "value-output matrices",
    "weight": "linear weights",
}
MAX_POINTS = 160


def shown(pair: Mapping[str, str], digits: int = 6) -> str:
    """A recorded enclosure for reading."""
    return short(pair["lower"], pair["upper"], digits)


def place(record: Mapping[str, Any]) -> str:
    """``layer 3, head 5`` (with the stack in front, where there are several)."""
    stack = f"{record['stack']} " if record.get("stack") else ""
    head = f", head {record['head']}" if record.get("head") is not None else ""
    return f"{stack}layer {record['layer']}{head}"


def count(m: int) -> str:
    """A sample size for reading: digits in groups of three."""
    return f"{m:,}".replace(",", " ")


def thinned(length: int) -> list[int]:
    """Indices of at most MAX_POINTS values, denser at the start, both ends included."""
    if length <= MAX_POINTS:
        return list(range(length))
    step = (length - 1) ** (1 / (MAX_POINTS - 1))
    return sorted({round(step**i) for i in range(MAX_POINTS)} | {0, 1, 2, length - 1})


def matrix_data(matrix: Mapping[str, Any]) -> dict[str, Any]:
    """One matrix for the page's script."""
    data = {key: matrix[key] for key in ("name", "role", "stack", "layer", "head", "shape", "note")}
    if "spectrum" not in matrix:
        return {**data, "error": matrix["error"]}
    lower, upper = matrix["spectrum"]["lower"], matrix["spectrum"]["upper"]
    keep = thinned(len(lower))
    return {
        **data,
        "ranks": matrix["ranks"] and {k: [v["lower"], v["upper"]] for k, v in matrix["ranks"].items()},
        "norms": {k: [v["lower"], v["upper"]] for k, v in matrix["norms"].items()},
        "eps": [[r["epsilon"], r["lower"], r["upper"]] for r in matrix["numerical_rank"]],
        "energy": [[r["level"], r["lower"], r["upper"]] for r in matrix["energy_rank"]],
        "spectrum": [[i + 1, lower[i], upper[i]] for i in keep],
        "count": len(lower),
        "zeros": matrix["spectrum"]["exact_zeros"],
        "width": widest(matrix["spectrum"]),
    }


def widest(spectrum: Mapping[str, Any]) -> str:
    """The largest width of a spectrum's enclosures relative to the largest value, rounded up."""
    lower, upper = spectrum["lower"], spectrum["upper"]
    if not upper or Decimal(upper[0]) == 0:
        return "0"
    width = max(Decimal(b) - Decimal(a) for a, b in zip(lower, upper, strict=True))
    return f"{width / Decimal(upper[0]):.1e}"


def head_data(head: Mapping[str, Any]) -> dict[str, Any]:
    """One head's order statistics over the inputs for the page's script."""
    ranks = {
        kind: {name: [pair["lower"], pair["upper"]] for name, pair in stats.items()}
        for kind, stats in head["ranks"].items()
    }
    return {"stack": head["stack"], "layer": head["layer"], "head": head["head"], "ranks": ranks}


def bound_data(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Curves of the bounds for the page's script."""
    return [
        {
            "theorem": group["theorem"],
            "entries": [
                {
                    "label": "read-out" if "layer" not in e["subject"] else place(e["subject"]),
                    "curve": [[point["m"], point["lower"], point["upper"]] for point in e["curve"]],
                    "m": {item["level"]: item["m"] for item in e["falls_below"]},
                }
                for e in group["entries"]
                if "violated" not in e
            ],
        }
        for group in report["bounds"]
    ]


def page_data(report: Mapping[str, Any]) -> dict[str, Any]:
    """Everything the page's script draws from."""
    attention = report["attention"]
    return {
        "kinds": KIND_TITLES,
        "formulas": KIND_FORMULAS,
        "matrices": [matrix_data(m) for m in report["matrices"]],
        "heads": [head_data(h) for h in attention["heads"]] if attention else [],
        "bounds": bound_data(report),
        "nominal": [[n["kind"], n["m"], n["value"]["upper"]] for n in report["nominal"]],
    }


def bound_words(group: Mapping[str, Any]) -> str:
    """One plain sentence on what a theorem's bound says on the given inputs."""
    entries = [e for e in group["entries"] if "violated" not in e]
    if not entries:
        return "Does not apply: a hypothesis is violated for every head."
    useful = [e for e in entries if not e["on_these_inputs"]["vacuous"]]
    m = entries[0]["on_these_inputs"]["m"]
    best = min(entries, key=lambda e: Decimal(e["on_these_inputs"]["value"]["upper"]))
    value = shown(best["on_these_inputs"]["value"], 4)
    if not useful:
        return (
            f"Vacuous on these {m} inputs: the bound is {value} or more, and a gap between risks in [0, 1] "
            "never exceeds 1, so it promises nothing."
        )
    return (
        f"Not vacuous on these {m} inputs for {len(useful)} of {len(entries)}: the smallest value is {value}."
    )


def needed(group: Mapping[str, Any]) -> list[dict[str, Any]]:
    """For each level, the entry that needs the fewest samples and the one that needs the most."""
    entries = [e for e in group["entries"] if "violated" not in e]
    rows: list[dict[str, Any]] = []
    for i, item in enumerate(entries[0]["falls_below"] if entries else []):
        ordered = sorted(entries, key=lambda e: e["falls_below"][i]["m"])
        rows.append(
            {
                "level": item["level"],
                "fewest": count(ordered[0]["falls_below"][i]["m"]),
                "median": count(ordered[(len(ordered) - 1) // 2]["falls_below"][i]["m"]),
                "most": count(ordered[-1]["falls_below"][i]["m"]),
                "fewest_at": _where(ordered[0]),
                "most_at": _where(ordered[-1]),
            }
        )
    return rows


def _where(entry: Mapping[str, Any]) -> str:
    return place(entry["subject"]) if "layer" in entry["subject"] else str(entry["subject"]["object"])


def roles(matrices: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many matrices of each role there are."""
    found: dict[str, int] = {}
    for matrix in matrices:
        found[matrix["role"]] = found.get(matrix["role"], 0) + 1
    return found


def heads_certified(report: Mapping[str, Any]) -> int:
    """How many attention matrices carry certified numbers."""
    calls = (report["attention"] or {}).get("calls", ())
    return sum("error" not in head for call in calls for head in call["heads"])
