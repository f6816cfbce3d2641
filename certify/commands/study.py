"""``certify study scaling``: how gap and bounds move with the sample size."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from certify.commands import folder

DESCRIPTION = """\
Train the word demonstration at several sample sizes and fit exponents: the true gap, the test risk, the
bounds of theorems D and E above the true risk, and sqrt(R/m), which is not a bound. Says plainly what a
fitted exponent does and does not show.
"""
EPILOG = """\
examples:
  certify study scaling --out out/scaling
  certify study scaling --sizes 1000 5000 20000 --seeds 2 --out out/scaling

what is written to DIR: scaling.html (to read) and scaling.json (every number)
exit codes: 0 done; 2 bad usage or input
"""


COLUMNS = {
    "m": "m",
    "seed": "seed",
    "train_risk": "training risk",
    "test_risk": "true risk",
    "gap": "gap",
    "D": "bound D",
    "bits": "bits",
    "E_single": "bound E-single",
    "C2": "bound C2",
    "nominal": "√(R/m), no bound",
}


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
    parser.add_argument(
        "--seeds", type=int, default=2, metavar="N", help="samples for each size (default: 2)"
    )
    parser.add_argument(
        "--effort", type=float, default=0.5, metavar="X", help="share of the full training (default: 0.5)"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to write")
    parser.add_argument("--json", action="store_true", help="print the JSON on stdout, nothing else")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the study, write, summarise."""
    from certify.demos.words import population
    from certify.errors import InputError
    from certify.report.progress import Bars
    from certify.study import scaling

    sizes = arguments.sizes or scaling.SIZES
    if min(sizes) < 200 or arguments.seeds < 1 or not arguments.effort > 0:
        raise InputError("sizes must be at least 200, --seeds at least 1 and --effort positive")

    folder.make(arguments.out)
    with Bars("certify study") as progress:
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
    from certify.report.figure import lines
    from certify.study import pages, scaling

    def line(name: str) -> list[tuple[float, float]]:
        sizes = sorted({r["m"] for r in record["runs"]})
        means = ([r[name] for r in record["runs"] if r["m"] == m] for m in sizes)
        return [(m, sum(v) / len(v)) for m, v in zip(sizes, means, strict=True)]

    series = {what: line(name) for name, what in scaling.QUANTITIES.items()}
    series["bound D"], series["bound E-single"] = line("D"), line("E_single")
    rows = [[str(r[c]) if isinstance(r[c], int) else f"{r[c]:.4g}" for c in COLUMNS] for r in record["runs"]]
    fits = [[fit["what"], _fitted(fit)] for fit in record["fits"].values()]
    sections = [
        ("What this shows", f"<p>{pages.markupsafe.escape(record['says'])}</p>"),
        (
            "Gap and bounds against m (both axes logarithmic)",
            lines(
                series,
                ("sample size m", "risk or gap"),
                logarithmic=True,
                invalid=[scaling.QUANTITIES["nominal"]],
            ),
        ),
        ("Fitted exponents", pages.table(["quantity", "fit"], fits)),
        ("Runs", pages.table(list(COLUMNS.values()), rows)),
    ]
    pages.write(record, out, "scaling", "The word demonstration at several sample sizes", sections)
