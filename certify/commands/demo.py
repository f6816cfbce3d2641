"""``certify demo``: risk certificates on real data, next to the truth."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

DESCRIPTION = """\
Train a small classifier on real data, certify its risk from the training sample alone, and print the
bounds beside what is known about the true risk.

  words   the language of a word (two lists of the wordfreq package). The population is finite, so the true
          risk is computed over all of it. One softmax head on fixed tokens: every theorem applies.
  spam    the SpamAssassin mails: a linear head on frozen MiniLM features, near-duplicates removed first.
"""

EPILOG = """\
examples:
  certify demo words --out out/words
  certify demo spam --out out/spam
  certify verify out/words/model.cert --data out/words/train.npz

what is written to DIR: risk.html, risk.json, train.npz and the certificates that `certify verify` re-derives
exit codes: 0 theorem D gave a valid bound; 1 it is vacuous; 2 bad usage or input
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of ``certify demo``."""
    parser = subparsers.add_parser(
        "demo",
        help="certified risk on real data, next to the truth",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=("words", "spam"), help="which demonstration")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to write")
    parser.add_argument(
        "--samples", type=int, default=200_000, metavar="m", help="words: sample size (default: 200000)"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample (default: 1)")
    parser.add_argument(
        "--cache", type=Path, metavar="DIR", help="spam: folder of the mails and features (see --help)"
    )
    parser.add_argument("--json", action="store_true", help="print risk.json on stdout, nothing else")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run one demonstration; 0 if theorem D is better than guessing."""
    import json

    from certify.report import risk

    def progress(text: str) -> None:
        if not arguments.quiet:
            print(f"certify demo {arguments.name}: {text}", file=sys.stderr, flush=True)

    if arguments.name == "words":
        from certify.demos import words

        table = words.run(arguments.out, arguments.samples, arguments.seed, progress)
    else:
        from certify.demos import spam

        table = spam.run(arguments.out, arguments.cache, arguments.seed, progress)
    record = table.record()
    risk.write(record, arguments.out)
    print(json.dumps(record, indent=1) if arguments.json else risk.terminal(record, arguments.out))
    return 0 if any(b.theorem == "D" and b.status == "valid" for b in table.bounds) else 1
