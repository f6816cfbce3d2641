"""The console command ``certify``. Each subcommand lives in ``certify/commands/<name>.py``.

A command module has ``register(subparsers)``, which adds its parser and sets
``parser.set_defaults(run=run)``, and ``run(arguments) -> int``, the exit code.
Command modules import heavy libraries only inside ``run``, so that ``--help`` is fast.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from importlib import metadata

from certify.errors import InputError

COMMANDS: tuple[str, ...] = ("report", "verify", "check", "demo", "compare", "track", "study", "teach")

READER_GONE = 141  # what a shell reports of a process that SIGPIPE ended: 128 + 13

EXIT_CODES = """\
exit codes:
  0  everything asked for was certified or verified
  1  something could not be certified, was refuted or failed a re-check (it is listed)
  2  bad usage or input
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command line, with every subcommand registered."""
    parser = argparse.ArgumentParser(
        prog="certify",
        description="Proved bounds and certified numbers for attention models.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = metadata.version("certify-attention")
    parser.add_argument("--version", action="version", version=f"certify {version}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        importlib.import_module(f"certify.commands.{name}").register(subparsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv`` (default: the process's) and return its exit code."""
    try:
        try:
            return _run(argv)
        finally:
            sys.stdout.flush()  # a reader that went away is noticed here, not in a traceback at exit
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE


def _run(argv: Sequence[str] | None) -> int:
    arguments = build_parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except InputError as error:
        print(f"certify {arguments.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"certify {arguments.command}: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
