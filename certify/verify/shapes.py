"""The shape of a report: the members of every kind of record, none missing and no other.

A member's specification is a Python type, the name of a kind, ``[specification]`` for a list of them,
``{"*": specification}`` for a record with names of any kind, or a tuple of alternatives. A name that ends in
"?" may be absent. Numbers are integers, or decimals as text.
"""

from __future__ import annotations

from typing import Any

_NONE = type(None)
_PLACE = {"stack": str, "layer": int, "head": int}
_MATRIX = {
    "name": str, "role": str, "stack": str, "layer": (int, _NONE), "head": (int, _NONE), "shape": [int],
    "factors": ["factor"], "note": str,
}  # fmt: skip

SHAPES: dict[str, dict[str, Any]] = {
    "report": {
        "schema": str, "tool": "tool", "created": str, "status": str, "model": "model",
        "parameters": "parameters", "inputs": ("inputs", _NONE), "tensors": ["tensor"],
        "matrices": [("matrix", "failed matrix")], "attention": ("attention", _NONE), "bounds": ["group"],
        "nominal": ["nominal"], "risk?": dict, "skipped": ["skipped"], "uncertified": ["uncertified"],
        "trust": "trust", "environment": dict, "parts": {"*": str}, "digest": str,
    },
    "tool": {"name": str, "version": str},
    "model": {"name": str, "family": str, "origin": str, "provenance": [str]},
    "parameters": {
        "mode": str, "epsilons": [str], "energy_levels": [str], "delta": str, "loss_lipschitz": str,
        "outputs": int, "readout_norm": str, "samples": (int, _NONE), "grid_ratio": str, "grid_start": str,
        "order_statistics": {"*": str},
    },
    "inputs": {"source": str, "sha256": str, "count": int, "truncated": int, "notes": [str]},
    "tensor": {"file": (str, _NONE), "tensor": str, "sha256": str},
    "skipped": {"name": str, "reason": str, "expected": bool},
    "uncertified": {"name": str, "reason": str},
    "trust": {"assumptions": {"*": str}, "trusted": [str], "not_trusted": [str]},
    # Numbers.
    "pair": {"lower": str, "upper": str},
    "spectrum": {"lower": [str], "upper": [str], "exact_zeros": int},
    "ranks": {
        "stable": "pair", "nuclear": "pair", "nuclear-frobenius": "pair", "participation": "pair",
        "entropy": "pair", "gram-entropy": "pair",
    },
    "norms": {"spectral": "pair", "frobenius": "pair", "nuclear": "pair"},
    # Matrices.
    "factor": {
        "file": (str, _NONE), "tensor": str, "dtype": str, "view": [list], "shape": [int], "sha256?": str,
    },
    "matrix": {
        **_MATRIX, "spectrum": "spectrum", "assumptions": [str], "norms": "norms", "ranks": ("ranks", _NONE),
        "undefined?": str, "numerical_rank": ["numerical rank"], "energy_rank": ["energy rank"],
    },
    "failed matrix": {**_MATRIX, "error": str},
    "numerical rank": {"epsilon": str, "lower": int, "upper": int},
    "energy rank": {"level": str, "lower": int, "upper": int},
    # Attention.
    "attention": {
        "arithmetic": [str], "pooled_feature_norms": ["pair"], "calls": ["call"], "heads": ["statistics"],
        "capacity": {"*": "capacity"}, "trained_norms": ["trained norm"], "pooling": str, "notes": [str],
    },
    "call": {
        "input": int, "stack": str, "layer": int, "shape": [int], "heads": [("head", "failed head")],
    },
    "head": {
        "head": int, "sha256": str, "spectrum": "spectrum", "ranks": ("ranks", _NONE), "undefined?": str,
        "assumptions": [str], "measured": ("measured", "not covered", _NONE),
    },
    "failed head": {
        "head": int, "sha256?": str, "error": str, "measured": ("measured", "not covered", _NONE),
    },
    "measured": {"value_radius": "pair", "query_norm": "pair", "key_norm": "pair"},
    "not covered": {"violated": str},
    "statistics": {**_PLACE, "count": int, "ranks": {"*": {"*": "pair"}}},
    "capacity": {"lower": str, "upper": str, "at": "place"},
    "place": {**_PLACE, "input": int},
    "trained norm": {**_PLACE, "norm": "pair"},
    # Bounds.
    "group": {
        "theorem": str, "title": str, "statement": str, "quantity": str, "level": str, "formula": str,
        "inputs": {"*": str}, "constants": ["constant"], "sources": [str], "hypotheses": ["hypothesis"],
        "entries": [("entry", "violated entry")],
    },
    "constant": {"name": str, "value": str, "origin": str, "why": str},
    "hypothesis": {"id": str, "text": str, "kind": str, "status": str, "why": str},
    "entry": {
        "subject": {"*": (str, int)}, "norm_after": "pair", "grid_index": int, "sum": "pair",
        "largest_term": "pair", "on_these_inputs": "value", "at_samples": ("value", _NONE),
        "curve": ["point"], "falls_below": ["threshold"],
    },
    "violated entry": {"subject": {"*": (str, int)}, "violated": "violation"},
    "violation": {"id": str, "why": str},
    "value": {"m": int, "value": "pair", "vacuous": bool},
    "point": {"m": int, "lower": str, "upper": str},
    "threshold": {"level": str, "m": int},
    "nominal": {
        "kind": str, "m": int, "value": "pair", "valid": bool, "why": str, "counterexample": str,
    },
    # Bounds on a risk.
    "risk": {
        "schema": str, "data": dict, "delta": str, "unit": str, "chance": str,
        "headline": (dict, _NONE), "sentence": str, "terms": str, "formulas": dict, "bounds": list,
        "minima": list, "curves": list, "classical": list, "nominal": dict, "truth": dict,
        "certificates": list, "assumptions": dict,
    },
    "risk bound": {
        "theorem": str, "title": str, "subject": str, "loss": str, "value": (dict, _NONE),
        "status": str, "m": int, "delta": str, "complexity": str, "inputs": dict, "hypotheses": list,
        "note": str, "errors?": int, "undecided?": int, "bits?": int, "passes?": int, "forms?": dict,
    },
    "risk headline": {"bound": dict, "candidates": int, "delta": str},
    "risk certificate": {"file": str, "sha256": str, "sample": str, "holds": str},
}  # fmt: skip
