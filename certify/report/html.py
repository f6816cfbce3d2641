"""``report.html``: one self-contained file, no network, readable without JavaScript, printable."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

import jinja2
import markupsafe

from certify.report import risk, view


def _asset(name: str) -> str:
    return (resources.files("certify.report") / "templates" / name).read_text(encoding="utf-8")


def _script_json(value: Any) -> markupsafe.Markup:
    """JSON that is safe inside a script element: no ``<``, ``>``, ``&`` or line separators."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return markupsafe.Markup(text)


def render(report: Mapping[str, Any]) -> str:
    """The page of a sealed report."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters.update(shown=view.shown, place=view.place, count=view.count)
    template = environment.from_string(_asset("report.html.j2"))
    return template.render(
        report=report,
        title=report["risk"]["data"]["name"] if "risk" in report else report["model"]["name"],
        view=view,
        risk_section=risk.section(report["risk"]) if "risk" in report else "",
        data=_script_json(view.page_data(report)),
        style=markupsafe.Markup(_asset("report.css")),
        script=markupsafe.Markup(_asset("report.js")),
    )
