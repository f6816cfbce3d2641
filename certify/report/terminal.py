"""The summary in the terminal: what was certified, the capacity, what the bounds say, where to read on."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from certify.report import risk, view
from certify.report.writing import Paths


def show(report: Mapping[str, Any], paths: Paths, console: Console | None = None) -> None:
    """Print the summary of a report on stdout."""
    out = console or Console(width=None if sys.stdout.isatty() else 120)
    good = report["status"] == "certified"
    verdict = "[green]everything certified[/]" if good else "[yellow]incomplete[/]"
    out.print(f"\n[bold]{report['model']['name']}[/] ({report['model']['family']}): {verdict}")
    out.print(_counts(report))
    _problems(out, report)
    if report["attention"]:
        out.print(_capacity_table(report))
        _bounds(out, report)
    if "risk" in report:
        _risk(out, report["risk"], paths)
    out.print(f"\n  page    {paths.html}\n  numbers {paths.json}")
    out.print(f"  check   certify verify {paths.json} --model {report['model']['origin']}\n", highlight=False)


def _counts(report: Mapping[str, Any]) -> str:
    parts = [f"{n} {view.ROLE_TITLES[role]}" for role, n in view.roles(report["matrices"]).items()]
    if report["attention"]:
        parts.append(
            f"{view.heads_certified(report)} attention matrices on {report['inputs']['count']} inputs"
        )
    return "  " + ", ".join(parts)


def _problems(out: Console, report: Mapping[str, Any]) -> None:
    listed = [(item["name"], item["reason"]) for item in report["uncertified"]]
    listed += [(f"{s['name']} (skipped)", s["reason"]) for s in report["skipped"] if not s["expected"]]
    for name, reason in listed[:20]:
        out.print(f"  [yellow]not certified[/] {name}: {reason}", highlight=False)
    if len(listed) > 20:
        out.print(f"  [yellow]... and {len(listed) - 20} more, in the report[/]")


def _capacity_table(report: Mapping[str, Any]) -> Table:
    table = Table(title="Largest effective rank of the attention matrices (R)", title_justify="left")
    table.add_column("definition")
    table.add_column("R", justify="right")
    table.add_column("where")
    table.add_column("sqrt(R/m): not a valid bound", justify="right", style="red")
    for item in report["nominal"]:
        capacity = report["attention"]["capacity"][item["kind"]]
        where = f"{view.place(capacity['at'])}, input {capacity['at']['input']}"
        table.add_row(item["kind"], view.shown(capacity), where, view.shown(item["value"], 4))
    return table


def _bounds(out: Console, report: Mapping[str, Any]) -> None:
    if report["nominal"]:
        first = report["nominal"][0]
        out.print(f"  [dim]{first['why']} (Counterexample {first['counterexample']}.)[/]")
    for group in report["bounds"]:
        out.print(f"\n  [bold]{group['title']}[/] (Theorem {group['theorem']})")
        out.print(f"  {view.bound_words(group)}", highlight=False)
        for row in view.needed(group):
            most = "" if row["most"] == row["fewest"] else f" (best head) to {row['most']} (last head)"
            out.print(f"    below {row['level']:>4} from m = {row['fewest']}{most}", highlight=False)
        statuses = {
            s: [h["id"] for h in group["hypotheses"] if h["status"] == s]
            for s in ("met", "assumed", "violated")
        }
        out.print(
            "    " + "; ".join(f"{s}: {', '.join(ids)}" for s, ids in statuses.items() if ids),
            highlight=False,
        )


def _risk(out: Console, record: Mapping[str, Any], paths: Paths) -> None:
    table = Table(
        title=f"Risk on new data: {record['data']['name']}, m = {view.count(record['data']['m'])}",
        title_justify="left",
    )
    for name in ("theorem", "about", "loss"):
        table.add_column(name)
    table.add_column("bound", justify="right", no_wrap=True)
    if record["truth"]:
        table.add_column("truth")
    table.add_column("bits, nats or norm")
    table.add_column("verdict")
    colours = {"valid": "green", "vacuous": "yellow", "not a bound": "red"}
    for b in risk.rows(record):
        cells = [b["name"], b["subject"], b["loss"], b["shown"]]
        cells += [b["truth_shown"]] if record["truth"] else []
        verdict = Text(b["status"], style=colours[b["status"]])
        table.add_row(*map(escape, cells), escape(b["complexity"].replace("none", "")), verdict)
    out.print()
    out.print(table)
    for c in record["classical"]:
        value = view.shown(c["value"], 4) if c["value"] else "no number"
        out.print(f"  [dim]{escape(c['name'])}: {value} ({c['status']})[/]", highlight=False)
    nominal = record["nominal"]
    if nominal["value"]:
        value = view.shown(nominal["value"], 4)
        out.print(f"  [red]{escape(nominal['formula'])} = {value}: not a valid bound[/]", highlight=False)
    out.print()
    out.print(Padding(Text(record["sentence"], style="bold"), (0, 2)))
    out.print(Padding(Text(record["terms"]), (0, 2)))
    files = ", ".join(str(c["file"]) for c in record["certificates"])
    if files:
        out.print(Padding(Text(f"certificates beside the report: {files}", style="dim"), (0, 2)))
    if "base" in record["data"]:
        place = paths.json.parent
        command = f"certify verify {place / 'model.cert'} --data {place / 'train.npz'}"
        out.print(
            Padding(Text(f"runs the base: {command} --model {record['data']['base']}"), (0, 2)),
            soft_wrap=True,
        )
