"""``certify verify``: re-check a report by the second checker, which shares no code with the first."""

from __future__ import annotations

import argparse

from certify import verify

DESCRIPTION = """\
Re-check a report.json: its structure and digests, the order of all enclosures, and every derived
number (norms, effective ranks, order statistics, capacities, bounds) recomputed from the recorded
spectra and measurements by code that imports nothing of the code that wrote the report.

With --model the tensors are read again and a random sample of the spectra (--all: each) is enclosed
a second time, from another SVD and another way to evaluate the residual.
"""

EPILOG = """\
examples:
  certify verify out/minilm/report.json
  certify verify out/minilm/report.json --model minilm --all

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
    parser.set_defaults(run=verify.run)
