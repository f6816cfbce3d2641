"""``certify study scaling``: how gap and bounds move with the sample size."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DESCRIPTION = """\
Train the word demonstration at several sample sizes and fit exponents: the true gap, the test risk, the
bounds of theorems D and E above the true risk, and sqrt(R/m), which is not a bound. Says plainly what a
fitted exponent does and does not show.
"""
EPILOG = """\
examples:
  certify study scaling --out out/scaling
  certify study scaling --sizes 1000 5000 20000 --seeds 2 --out out/scaling

writes scaling.html and scaling.json; exit codes: 0 done; 2 bad usage or input
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of ``certify study``."""
    parser = subparsers.add_parser(
        "study",
        help="how gap and bounds move with the sample size",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=("scaling",), help="which study")
    parser.add_argument(
        "--sizes", type=int, nargs="+", metavar="m", help="sample sizes (default: 1000 to 200000)"
    )
    parser.add_argument("--seeds", type=int, default=2, help="samples for each size (default: 2)")
    parser.add_argument("--effort", type=float, default=0.5, help="share of the full training (default: 0.5)")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to write")
    parser.add_argument("--json", action="store_true", help="print the JSON on stdout, nothing else")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the study, write, summarise."""
    from certify.demos.words import population
    from certify.errors import InputError
    from certify.study import scaling

    sizes = arguments.sizes or scaling.SIZES
    if min(sizes) < 200 or arguments.seeds < 1 or not arguments.effort > 0:
        raise InputError("sizes must be at least 200, --seeds at least 1 and --effort positive")

    def progress(text: str) -> None:
        print(f"certify study: {text}", file=sys.stderr, flush=True)

    record = scaling.scaling(population(), sizes, arguments.seeds, arguments.effort, progress)
    _write(record, arguments.out)
    if arguments.json:
        print(json.dumps(record, indent=1))
    else:
        for fit in record["fits"].values():
            print(f"  {fit['what']}: {_fitted(fit)}")
        print(f"\n{record['says']}\n\n  page {arguments.out}/scaling.html")
    return 0


def _fitted(fit: Mapping[str, Any]) -> str:
    if fit["exponent"] is None:
        return f"no exponent: {fit['why']}"
    interval = f"95 % interval {fit['low']:.3f} to {fit['high']:.3f}"
    return f"m^-{fit['exponent']:.3f}, {interval}, {fit['points']} points"


def _write(record: Mapping[str, Any], out: Path) -> None:
    from certify.study import pages, scaling

    def line(name: str) -> list[tuple[float, float]]:
        sizes = sorted({r["m"] for r in record["runs"]})
        means = ([r[name] for r in record["runs"] if r["m"] == m] for m in sizes)
        return [(m, sum(v) / len(v)) for m, v in zip(sizes, means, strict=True)]

    series = {what: line(name) for name, what in scaling.QUANTITIES.items()}
    series["bound D"], series["bound E-single"] = line("D"), line("E_single")
    columns = ["m", "seed", "train_risk", "test_risk", "gap", "D", "bits", "E_single", "C2", "nominal"]
    rows = [[f"{r[c]:.5g}" for c in columns] for r in record["runs"]]
    fits = [[fit["what"], _fitted(fit)] for fit in record["fits"].values()]
    sections = [
        ("What this shows", f"<p>{pages.markupsafe.escape(record['says'])}</p>"),
        (
            "Gap and bounds against m (both axes logarithmic)",
            pages.lines(series, "m", "risk or gap", logarithmic=True),
        ),
        ("Fitted exponents", pages.table(["quantity", "fit"], fits)),
        ("Runs", pages.table(columns, rows)),
    ]
    pages.write(record, out, "scaling", "The word demonstration at several sample sizes", sections)
