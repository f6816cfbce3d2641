"""The command line of the second checkers: which checker reads which file, what is printed, exit codes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .certificate import Refused, Unreadable, read_certificate
from .report import check, summary
from .risk_files import check_certificates
from .structure import Problem, read

DESCRIPTION = """\
Re-check a report.json: its structure and digests, the order of all enclosures, and every derived
number (norms, effective ranks, order statistics, capacities, bounds) recomputed from the recorded
spectra and measurements by code that imports nothing of the code that wrote the report.

With --model the tensors are read again and a random sample of the spectra (--all: each) is enclosed
a second time, from another SVD and another way to evaluate the residual.

A risk certificate (.cert, docs/reference/model-cert.md) is derived again from the file and the sample given
by --data: bits or nats, errors, bound. If it is relative to a public base, --model BASE (a folder, minilm, or
module:object) also runs base + decoded update on every unit; without it the recorded inputs of the
head are taken as they are, and the answer says so.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The file to check and the options of both checkers."""
    parser.add_argument("report", type=Path, metavar="report.json", help="the report to check")
    parser.add_argument(
        "--model", metavar="MODEL", help="read tensors again: folder, .safetensors or .npz file, minilm"
    )
    parser.add_argument(
        "--sample", type=int, default=8, metavar="N", help="spectra to enclose again (default: 8)"
    )
    parser.add_argument("--all", action="store_true", help="enclose every weight's spectrum again")
    parser.add_argument("--quiet", action="store_true", help="print problems only")
    parser.add_argument(
        "--data", type=Path, metavar="FILE.npz", help="the sample that a risk certificate speaks of"
    )


def main(argv: list[str] | None = None) -> int:
    """Check a file; 0 accepted, 1 refused (each problem with its place), 2 not a report or certificate."""
    parser = argparse.ArgumentParser(
        prog="verify", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_arguments(parser)
    return run(parser.parse_args(argv))


def run(arguments: argparse.Namespace) -> int:
    """Hand the file that the parsed ``arguments`` name to the checker of its kind."""
    if arguments.report.suffix != ".cert":
        if arguments.data is not None:
            print("verify: --data belongs to a risk certificate (.cert)", file=sys.stderr)
            return 2
        return check_report(arguments)
    if arguments.data is None:
        print(f"verify: {arguments.report} needs its sample: --data FILE.npz", file=sys.stderr)
        return 2
    return check_certificate(arguments.report, arguments.data, arguments.model, _progress(arguments.quiet))


def check_report(arguments: argparse.Namespace) -> int:
    """Check a report, with ``--model`` also against its model."""
    progress = _progress(arguments.quiet)
    words: list[str] = []
    try:
        report = read(arguments.report)
        problems = check(report, progress)
        if not problems:
            words.append(summary(report))
            if "risk" in report:
                problems, sentence = check_certificates(report["risk"], arguments.report.parent, progress)
                words.append(sentence)
            if arguments.model is not None:
                found, sentence = _with_model(report, arguments, progress)
                problems += found
                words.append(sentence)
    except Problem as problem:
        print(f"verify: {problem}", file=sys.stderr)
        return 2
    finally:
        progress("")
    for each in problems:
        print(f"refused: {each}")
    if not problems and not arguments.quiet:
        print("\n  ".join([f"accepted: {arguments.report}", *words]))
    return 1 if problems else 0


def _with_model(
    report: dict[str, Any], arguments: argparse.Namespace, progress: Callable[[str], None]
) -> tuple[list[Problem], str]:
    from .model import check_with_model  # numpy and scipy are loaded only where a model is read

    if arguments.sample < 1:
        raise Problem("--sample", f"{arguments.sample} is not a number of spectra")
    how_many = None if arguments.all else arguments.sample
    return check_with_model(report, arguments.model, how_many, progress)


def _progress(quiet: bool) -> Callable[[str], None]:
    """One line on a terminal that says what is being checked; an empty text clears it."""

    def show(text: str) -> None:
        if sys.stderr.isatty() and not quiet:
            line = f"checking {text}"[:100] if text else ""
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

    return show


def check_certificate(
    path: Path, data: Path, base: str | None, progress: Callable[[str], None] = lambda text: None
) -> int:
    """Derive a certificate's claim again and print what was shown and what stays assumed."""
    from . import risk  # numpy is loaded only where a sample is read

    try:
        if base is None:
            shown = risk.verify(path, data)
        else:
            from . import update  # torch is loaded only where a base is run

            shown = update.verify(path, data, base, progress)
            progress("")
        print("verified:", shown)
        print("assumed: ", risk.assumed(read_certificate(path)))
    except Refused as refusal:
        print(f"refused: {refusal}", file=sys.stderr)
        return 1
    except Unreadable as error:
        print(f"{error}", file=sys.stderr)
        return 2
    return 0
