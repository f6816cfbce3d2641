"""``certify demo``: risk certificates on real data, next to the truth."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from certify.commands import folder

if TYPE_CHECKING:
    from certify.report.progress import Bars, Silent

DESCRIPTION = """\
Train a small classifier on real data, certify its risk from the training sample alone, and print the
bounds beside what is known about the true risk.

  words   the language of a word (two lists of the wordfreq package). The population is finite, so the true
          risk is computed over all of it. One softmax head on fixed tokens: every theorem applies.
  spam    the SpamAssassin mails: a linear head on frozen MiniLM features, near-duplicates removed first.
  finetune  which of two words is the more common one: MiniLM, really fine-tuned (LoRA and a head). The public
          encoder alone cannot tell; the certificate pays for what fine-tuning changed, in bits.
"""

EPILOG = """\
examples:
  certify demo words --out out/words
  certify demo spam --out out/spam
  certify demo finetune --out out/finetune
  certify verify out/words/report.json
  certify verify out/words/model.cert --data out/words/train.npz
  certify verify out/finetune/model.cert --data out/finetune/train.npz --model minilm

what is written to DIR: report.html, report.json, the certificates and the sample train.npz that they speak of
exit codes: 0 everything certified and some bound better than guessing; 1 not so; 2 bad usage or input
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
    parser.add_argument("name", choices=("words", "spam", "finetune"), help="which demonstration")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to write")
    parser.add_argument(
        "--samples",
        type=int,
        metavar="m",
        help="sample size (default: words 200000, finetune 4000; the mails are as many as there are)",
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample (default: 1)")
    parser.add_argument(
        "--cache",
        type=Path,
        metavar="DIR",
        help="spam: where mails and features are kept (default: ~/.cache/certify-attention/spam)",
    )
    parser.add_argument("--json", action="store_true", help="print report.json on stdout, nothing else")
    parser.add_argument("--quiet", action="store_true", help="no progress and no summary")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run one demonstration, write its report; 0 if some bound from the training sample beats guessing."""
    from certify.commands.report import QUIET_LIBRARIES, exit_code
    from certify.report import progress, terminal, writing

    for name, value in QUIET_LIBRARIES.items():
        os.environ.setdefault(name, value)

    shown = progress.Silent() if arguments.quiet else progress.Bars(f"certify demo {arguments.name}")
    with shown:
        report = _report(arguments, shown)
    paths = writing.write(report, arguments.out)
    if arguments.json:
        sys.stdout.write(paths.json.read_text(encoding="utf-8"))
    elif not arguments.quiet:
        terminal.show(report, paths)
    return exit_code(report)


def _report(arguments: argparse.Namespace, shown: Bars | Silent) -> dict[str, Any]:
    """The demonstration's table, then the spectra of the model that it is about."""
    from certify.report import build, risk

    folder.make(arguments.out)
    if arguments.name == "words":
        from certify.demos import words

        table = words.run(arguments.out, _samples(arguments, words.SAMPLES), arguments.seed, shown)
        model = str(arguments.out / words.HEAD_FILE)
    elif arguments.name == "finetune":
        from certify.demos import finetune

        table = finetune.run(arguments.out, _samples(arguments, finetune.SAMPLES), arguments.seed, shown)
        model = str(arguments.out / finetune.TUNED)
    else:
        from certify.demos import spam

        table = spam.run(arguments.out, arguments.cache, arguments.seed, shown)
        model = spam.BACKBONE
    request = build.Request(model=model, out=arguments.out)
    found = build.opened(request)
    with build.workers(request) as pool:
        return build.run(request, found, pool, shown, lambda: risk.record(table, arguments.out))


def _samples(arguments: argparse.Namespace, usual: int) -> int:
    return usual if arguments.samples is None else int(arguments.samples)
