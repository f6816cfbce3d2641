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
import tempfile
import traceback
from collections.abc import Sequence
from importlib import metadata

from certify.errors import CertifyError, InputError

COMMANDS: tuple[str, ...] = ("report", "verify", "check", "demo", "compare", "track", "study", "teach")

OWN_ERROR = 3
READER_GONE = 141  # what a shell reports of a process that SIGPIPE ended: 128 + 13

EXIT_CODES = """\
exit codes:
  0    everything asked for was certified or verified
  1    something could not be certified, was refuted or failed a re-check (it is listed)
  2    bad usage or input; the message says what was found and what to try
  3    an error in certify itself; nothing was claimed, and the message names the file with the details
  130  interrupted by Ctrl-C
  141  the reader of the output went away (as in `certify ... | head`)

`certify COMMAND --help` shows examples and what is written.
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

    def say(text: object) -> None:
        print(f"certify {arguments.command}: {text}", file=sys.stderr)

    try:
        return int(arguments.run(arguments))
    except InputError as error:
        say(error)
        return 2
    except CertifyError as error:
        say(error)
        return 1
    except BrokenPipeError:
        raise
    except OSError as error:
        say(f"{error.filename}: {error.strerror}" if error.filename else error)
        return 2
    except MemoryError:
        say("out of memory; try fewer --jobs or a smaller model, or a machine with more memory")
        return 2
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    except Exception as error:
        say(_own_error(error))
        return OWN_ERROR


def _own_error(error: Exception) -> str:
    """A line about an error that nobody foresaw; the traceback goes to a file of its own."""
    handle, name = tempfile.mkstemp(prefix="certify-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write("".join(traceback.format_exception(error)))
    return (
        f"an error in certify itself ({type(error).__name__}: {error}). Nothing was claimed. "
        f"Please report it with {name}, which holds the details"
    )


if __name__ == "__main__":
    sys.exit(main())
