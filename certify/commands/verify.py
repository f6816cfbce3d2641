"""``certify verify``: re-check a report by the second checker, which shares no code with the first."""

from __future__ import annotations

import argparse

from certify.verify import command

EPILOG = """\
examples:
  certify verify out/minilm/report.json
  certify verify out/minilm/report.json --model minilm --all
  certify verify out/words/model.cert --data out/words/train.npz
  certify verify out/risk/model.cert --data out/risk/train.npz --model ./public-model

exit codes: 0 accepted; 1 refused, with the place of each problem; 2 not a report
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of ``certify verify``."""
    parser = subparsers.add_parser(
        "verify",
        help="re-check a report with an independent checker",
        description=command.DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_arguments(parser)
    parser.set_defaults(run=command.run)
