"""``certify track``: effective ranks over a set of checkpoints."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from certify.commands import folder

DESCRIPTION = """\
Certified effective ranks of all weights in a set of checkpoints, by role (query-key, value-output, other
weights), beside the last line of each checkpoint's log.csv: a table and a figure.
"""
EPILOG = """\
examples:
  certify track checkpoints/step-* --out out/track
  certify track models/ --out out/track          (a folder of checkpoint folders)

what is written to DIR: track.html (to read) and track.json (every number)
exit codes: 0 all certified; 1 some matrix was not; 2 bad usage or input
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of ``certify track``."""
    parser = subparsers.add_parser(
        "track",
        help="effective ranks over checkpoints",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "folders", nargs="+", type=Path, metavar="DIR", help="checkpoints, in order, or a folder of them"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to write")
    parser.add_argument("--json", action="store_true", help="print the JSON on stdout, nothing else")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Track, write, summarise."""
    from certify.report.progress import Bars
    from certify.study import track

    folder.make(arguments.out)
    with Bars("certify track") as progress:
        record = track.track(arguments.folders, progress)
    rows = _write(record, arguments.out)
    if arguments.json:
        print(json.dumps(record, indent=1))
    else:
        for row in rows:
            print("  ".join(row))
        print(f"\n  page {arguments.out}/track.html")
    return 1 if any(c["errors"] for c in record["checkpoints"]) else 0


def _write(record: Mapping[str, Any], out: Path) -> list[list[str]]:
    from certify.report import view
    from certify.report.figure import lines
    from certify.study import pages

    rows: list[list[str]] = []
    series: dict[str, list[tuple[float, float]]] = {}
    for index, point in enumerate(record["checkpoints"]):
        log = ", ".join(f"{k} {v[:8]}" for k, v in list(point["log"].items())[:4])
        for role, row in point["roles"].items():
            cells = [
                f"{pages.number(row[k]['median'])} (to {pages.number(row[k]['largest'])})"
                for k in ("stable", "nuclear", "entropy")
            ]
            rows.append([point["name"], view.ROLE_TITLES[role], str(row["matrices"]), *cells, log])
            series.setdefault(view.ROLE_TITLES[role], []).append(
                (index + 1, float(row["stable"]["median"]["upper"]))
            )
    heads = ["checkpoint", "role", "matrices", "stable: median (to largest)", "nuclear", "entropy", "log"]
    sections = [
        (
            "Median stable rank by checkpoint",
            lines(series, ("checkpoint, in order", "median stable rank"), logarithmic=False),
        ),
        ("Effective ranks", pages.table(heads, rows)),
    ]
    pages.write(record, out, "track", "Effective ranks over checkpoints", sections)
    return rows
