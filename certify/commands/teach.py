"""``certify teach``: the course, from the gap to the theorem and to the failure of the naive claim."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from certify.errors import InputError

DESCRIPTION = """\
Open a course that leads from "what is a generalization gap" to the theorems of this project and to the
failure of the naive claim. Every formula and constant is filled in from the derivations that `certify
check` verifies.

Without options the pages are built in a temporary folder, served on this computer only, and opened in
the browser.
"""
EPILOG = """\
examples:
  certify teach                                  open the course in the browser
  certify teach --out course --no-browser        write the pages and stop; open course/index.html
  certify teach --terminal --chapters 4          walk chapter 4 in the terminal
  certify teach --export latex --chapters 1,4,7 > handout.tex

what is written: nothing, unless --out DIR keeps the pages or --export prints the steps on stdout
exit codes: 0 done; 2 bad usage or input
"""


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"chapters are numbers separated by commas, like 1,4,7; found {text!r}"
        ) from None


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of ``certify teach``."""
    parser = subparsers.add_parser(
        "teach",
        help="the course: the proof step by step, in the browser or the terminal",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="write the pages to DIR and keep them")
    parser.add_argument(
        "--no-browser", action="store_true", help="do not open a browser; with --out, do not serve either"
    )
    parser.add_argument("--terminal", action="store_true", help="walk the course as text in this terminal")
    parser.add_argument("--chapters", type=_numbers, metavar="N,N", help="only these chapters (default: all)")
    parser.add_argument(
        "--export", choices=("markdown", "latex"), help="print the steps as Markdown or LaTeX and stop"
    )
    parser.add_argument("--port", type=int, default=0, help="port to serve on (default: a free one)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Build, serve, walk or export the course; returns the exit code."""
    from proofs import walk

    try:
        course = walk.select(arguments.chapters)
    except ValueError as error:
        raise InputError(f"{error}; give --chapters like 1,4,7") from None
    if arguments.export:
        sys.stdout.write({"markdown": walk.to_markdown, "latex": walk.to_latex}[arguments.export](course))
        return 0
    if arguments.terminal:
        return _terminal(course)
    return _pages(arguments)


def _terminal(course: tuple[object, ...]) -> int:
    from proofs import walk

    try:
        right = walk.walk_terminal(course, input, print)  # type: ignore[arg-type]
    except EOFError:
        print("\nThe input ended; the course stops here.", file=sys.stderr)
        return 0
    print(f"\nYou answered {right} questions right.")
    return 0


def _pages(arguments: argparse.Namespace) -> int:
    import tempfile

    from certify.teach.build import build_lesson

    def say(text: str) -> None:
        print(text, file=sys.stderr)

    if arguments.out is not None and arguments.out.exists() and not arguments.out.is_dir():
        raise InputError(f"--out {arguments.out} is a file; give a folder")
    if arguments.out is not None:
        written = build_lesson(arguments.out, arguments.chapters, say=say)
        say(f"{len(written)} pages in {arguments.out}; open {arguments.out / 'index.html'}")
        return 0 if arguments.no_browser else _serve(arguments.out, arguments.port)
    with tempfile.TemporaryDirectory(prefix="certify-lesson-") as folder:
        build_lesson(Path(folder), arguments.chapters, say=say)
        return _serve(Path(folder), arguments.port, browser=not arguments.no_browser)


def _serve(folder: Path, port: int, browser: bool = True) -> int:
    import webbrowser

    from certify.teach.serve import address, loopback_server

    try:
        server = loopback_server(folder, port)
    except OSError as error:
        raise InputError(
            f"cannot serve on port {port}: {error.strerror}; choose another --port, or leave it out"
        ) from None
    with server:
        print(
            f"The course is at {address(server)} (on this computer only). Press Ctrl-C to stop.",
            file=sys.stderr,
        )
        if browser:
            webbrowser.open(address(server))
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print(file=sys.stderr)
    return 0
