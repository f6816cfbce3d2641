"""``certify report``: everything certified about a model, as JSON, HTML and a terminal summary."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from certify.commands import folder, risk_report
from certify.errors import DataError, InputError

DESCRIPTION = """\
Certify a model: enclosures that provably contain the singular values and effective ranks of every
weight and of every attention matrix on your inputs, and the generalization bounds that follow, with
every hypothesis met, assumed or violated. A bound that promises nothing is called vacuous.

MODEL is a folder (Hugging Face or safetensors), a file (.safetensors, .npz, .pt, .gguf),
module:object, or the short name of an installed model package (minilm, smollm2).
"""

EPILOG = """\
examples:
  certify report minilm --text examples/text.txt --out out/minilm
  certify report ./my-model --out out/mine --jobs 2
  certify report ./my-model --text mails.txt --out out/mails --samples 50000 --delta 0.01
  certify report head.npz --train sample.npz --test held-out.npz --out out/risk
  certify report minilm --train mails.jsonl --test new-mails.jsonl --out out/mails
  certify report ./my-classifier --base ./public-model --train mails.jsonl --out out/risk

what is written to DIR:
  report.html   one file to read and share; works offline, prints well
  report.json   every number, rounded outward (docs/reference/report.md); `certify verify` re-checks it
  *.cert        with --train: certificates of the risk, and train.npz, the sample they speak of;
                `certify verify report.json` checks those that lie beside it
  .work/        finished pieces of a run that was interrupted: the same command picks them up

exit codes: 0 everything certified; 1 something was not certified or was skipped unexpectedly (it is
listed), or with --train no bound is better than guessing; 2 bad usage or input
"""


# Libraries that read models must not write into our progress, nor look for a network.
QUIET_LIBRARIES = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error", "TQDM_DISABLE": "1"}


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of ``certify report``."""
    parser = subparsers.add_parser(
        "report",
        help="certify a model: spectra, effective ranks, bounds",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", metavar="MODEL", help="the model to certify (see above)")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to write the report")
    inputs = parser.add_mutually_exclusive_group()
    inputs.add_argument("--text", type=Path, metavar="FILE", help="UTF-8 text, one input per line")
    inputs.add_argument(
        "--inputs", type=Path, metavar="FILE.npz", help="arrays named like the model's forward arguments"
    )
    _bound_options(parser.add_argument_group("the bound (fixed before the sample is drawn)"))
    risk_report.add_options(parser.add_argument_group("the risk of a trained classifier"))
    run_options = parser.add_argument_group("how to run")
    run_options.add_argument(
        "--mode",
        choices=("adaptive", "cheap", "default", "tight"),
        default="adaptive",
        help="width of the enclosures against time: cheap (values below 1e-8 of the largest stay wide), "
        "default (radius about 1e-11 of the largest), tight (1e-13), or adaptive (per matrix the first of "
        "these that is narrow enough; used unless you choose)",
    )
    run_options.add_argument(
        "--jobs", type=_count, default=1, metavar="N", help="worker processes (default: 1)"
    )
    run_options.add_argument(
        "--json", action="store_true", help="print the report as JSON on stdout, nothing else"
    )
    run_options.add_argument("--quiet", action="store_true", help="no progress and no summary")
    run_options.add_argument(
        "--trust-remote-code",
        action="store_true",
        help="run Python code that came with the model (never done without this flag)",
    )
    parser.set_defaults(run=run)


def _bound_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--delta", type=_probability, default="0.05", help="failure probability (default: 0.05)"
    )
    group.add_argument(
        "--loss-lipschitz",
        type=_positive,
        default="1",
        metavar="L",
        help="Lipschitz constant of the loss in [0, 1] in the outputs (default: 1; ramp of width g: 1/g)",
    )
    group.add_argument(
        "--samples",
        type=_count,
        default=None,
        metavar="m",
        help="size of the training sample (default: a curve)",
    )
    group.add_argument(
        "--readout-norm",
        type=_positive,
        default="1",
        metavar="OMEGA",
        help="Frobenius norm of the trained read-out (default: 1)",
    )
    group.add_argument(
        "--outputs", type=_count, default=2, metavar="K", help="outputs of the read-out (default: 2)"
    )


_DECIMAL = re.compile(r"\d+(\.\d+)?([eE][-+]?\d{1,3})?")


def _positive(text: str) -> str:
    """A positive decimal number, kept as text so that it stays exact."""
    if not _DECIMAL.fullmatch(text) or not Fraction(text) > 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive decimal number such as 0.5 or 1e-3")
    return text


def _probability(text: str) -> str:
    if not Fraction(_positive(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a probability between 0 and 1")
    return text


def _count(text: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,17}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number >= 1")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Build and write the report; the exit code says whether everything was certified."""
    for name in ("test", "base"):
        if arguments.train is None and getattr(arguments, name) is not None:
            raise InputError(f"--{name} belongs to the risk of a trained classifier: give --train too")
    for name, value in QUIET_LIBRARIES.items():
        os.environ.setdefault(name, value)
    _check_files(arguments)

    from certify.bounds.peeling import Settings
    from certify.engine.matrices import Measures
    from certify.report import build, progress, terminal, writing

    settings = Settings(
        arguments.delta,
        arguments.loss_lipschitz,
        arguments.outputs,
        arguments.readout_norm,
        arguments.samples,
    )
    request = build.Request(
        model=arguments.model,
        out=arguments.out,
        text=arguments.text,
        arrays=arguments.inputs,
        jobs=arguments.jobs,
        trust_remote_code=arguments.trust_remote_code,
        measures=Measures(mode=arguments.mode),
        settings=settings,
    )
    shown = progress.Silent() if arguments.quiet else progress.Bars("certify report")
    with shown, build.workers(request) as pool:
        found = build.opened(request)
        risk = None if arguments.train is None else risk_report.prepared(arguments, shown)
        report = build.run(request, found, pool, shown, risk)
    paths = writing.write(report, arguments.out)
    if arguments.json:
        sys.stdout.write(paths.json.read_text(encoding="utf-8"))
    elif not arguments.quiet:
        terminal.show(report, paths)
    return exit_code(report)


def exit_code(report: Mapping[str, Any]) -> int:
    """0 if every matrix was certified and, where a risk was asked for, some bound beats guessing; else 1."""
    risk_shown = "risk" not in report or report["risk"]["headline"] is not None
    return 0 if report["status"] == "certified" and risk_shown else 1


def _check_files(arguments: argparse.Namespace) -> None:
    for path in (arguments.text, arguments.inputs):
        if path is not None and not path.is_file():
            raise DataError(f"{path}: no such file")
    folder.make(arguments.out)
