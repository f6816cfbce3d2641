"""The risk of a trained classifier in a report: its record, and what page and terminal show of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import markupsafe

from certify.decimals import round_up
from certify.report import risk_figure, view

if TYPE_CHECKING:
    from certify.bounds.risk.table import Table

STATUSES = ("met", "assumed", "violated")


def record(table: Table, out: Path) -> dict[str, Any]:
    """The member ``risk`` of report.json: the table, the formula of each theorem in it, and each certificate
    in ``out`` by name and digest."""
    from proofs.theorems import THEOREMS

    return {
        **table.record(),
        "formulas": {name: THEOREMS[name].prefix for name in sorted({b.theorem for b in table.bounds})},
        "certificates": [
            {
                "file": name,
                "sha256": hashlib.sha256((out / name).read_bytes()).hexdigest(),
                "sample": "update-train.npz" if name.startswith("update-") else "train.npz",
                "holds": holds,
            }
            for name, holds in table.certificates.items()
        ],
    }


def from_training(bound: Mapping[str, Any]) -> bool:
    """Whether a bound uses the training sample alone."""
    return not str(bound["theorem"]).startswith("test-set")


def rows(risk: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The lines of the table: valid bounds first; 0-1 loss first; training sample first; smallest first."""
    order = {"valid": 0, "vacuous": 1, "not a bound": 2}
    found = []
    for bound in risk["bounds"]:
        truth = risk["truth"].get(bound["subject"]) if bound["loss"] == "0-1" else None
        found.append(
            {
                **bound,
                "name": bound["note"] if bound["theorem"].startswith("E") else bound["theorem"],
                "shown": "none" if bound["value"] is None else round_up(Decimal(bound["value"]["upper"]), 4),
                "upper": 1.0 if bound["value"] is None else float(bound["value"]["upper"]),
                "confidence": confidence(bound["delta"]),
                "truth": truth,
                "truth_shown": truth_text(truth),
                "statuses": {
                    s: [h for h in bound["hypotheses"] if h["status"] == s]
                    for s in STATUSES
                    if any(h["status"] == s for h in bound["hypotheses"])
                },
            }
        )
    return sorted(
        found, key=lambda b: (order[b["status"]], b["loss"] != "0-1", not from_training(b), b["upper"])
    )


def confidence(delta: str) -> str:
    """1 - delta in per cent."""
    return f"{float(1 - Fraction(delta)) * 100:.6g} %"


def truth_text(truth: Mapping[str, str] | None) -> str:
    """The known risk: one number where it is exact, a range where it was estimated."""
    if truth is None:
        return ""
    low, high = float(truth["lower"]), float(truth["upper"])
    digits = 5 if high - low < 2e-4 else 4
    return f"{high:.5f}" if high - low < 1e-6 else f"{low:.{digits}f} to {high:.{digits}f}"


def section(risk: Mapping[str, Any]) -> markupsafe.Markup:
    """The section as an HTML fragment, for a page with the report's style."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters.update(up=lambda text: round_up(Decimal(text), 4), count=view.count)
    text = (resources.files("certify.report") / "templates" / "risk.html.j2").read_text(encoding="utf-8")
    return markupsafe.Markup(
        environment.from_string(text).render(
            risk=risk, rows=rows(risk), confidence=confidence(risk["delta"]), figure=risk_figure.draw(risk)
        )
    )
