"""``certify verify``: re-check a report by the second checker, which shares no code with the first."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from certify.verify import report as verify

DESCRIPTION = """\
Re-check a report.json: its structure and digests, the order of all enclosures, and every derived
number (norms, effective ranks, order statistics, capacities, bounds) recomputed from the recorded
spectra and measurements by code that imports nothing of the code that wrote the report.

With --model the tensors are read again and a random sample of the spectra (--all: each) is enclosed
a second time, from another SVD and another way to evaluate the residual.

A risk certificate (.cert, docs/reference/model-cert.md) is derived again from the file and the sample given
by --data: bits or nats, errors, bound. If it is relative to a public base, --model BASE (a folder, or
module:object) also runs base + decoded update on every unit; without it the recorded inputs of the
head are taken as they are, and the answer says so.
"""

EPILOG = """\
examples:
  certify verify out/minilm/report.json
  certify verify out/minilm/report.json --model minilm --all
  certify verify out/words/model.cert --data out/words/train.npz
  certify verify out/risk/model.cert --data out/risk/train.npz --model ./public-base

exit codes: 0 accepted; 1 refused, with the place of each problem; 2 not a report
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of ``certify verify``."""
    parser = subparsers.add_parser(
        "verify",
        help="re-check a report with an independent checker",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verify.add_arguments(parser)
    parser.add_argument(
        "--data", type=Path, metavar="FILE.npz", help="the sample that a risk certificate speaks of"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Hand the file to the checker of its kind."""
    if arguments.report.suffix != ".cert":
        if arguments.data is not None:
            print("certify verify: --data belongs to a risk certificate (.cert)", file=sys.stderr)
            return 2
        return verify.run(arguments)
    if arguments.data is None:
        print(f"certify verify: {arguments.report} needs its sample: --data FILE.npz", file=sys.stderr)
        return 2
    if arguments.model is not None:
        from certify.verify import update as verify_update

        return verify_update.main(arguments.report, arguments.data, arguments.model)
    from certify.verify import risk as verify_risk

    return verify_risk.main([str(arguments.report), str(arguments.data)])
