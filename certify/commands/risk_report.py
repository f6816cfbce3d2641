"""The part of ``certify report`` that answers ``--train``: risk of a trained classifier."""

from __future__ import annotations

import argparse
import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

from certify.errors import InputError


def add_options(group: argparse._ArgumentGroup) -> None:
    """The options of the risk report."""
    group.add_argument(
        "--train",
        type=Path,
        metavar="DATA",
        help="the sample the classifier was trained on: .npz (features or tokens, labels) or .jsonl / "
        ".parquet (text, label); writes risk.html, risk.json and certificates, not the report of spectra",
    )
    group.add_argument("--test", type=Path, metavar="DATA", help="held-out units in the same form")
    group.add_argument(
        "--base",
        metavar="MODEL",
        help="the public model a classifier was made from: only what differs from it is paid for",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the risk report; 0 if some bound from the training sample is better than guessing."""
    from certify.bounds.risk.many_classes import run_many_classes
    from certify.bounds.risk.run import Plan, run_risk
    from certify.bounds.risk.tasks import read_task
    from certify.bounds.risk.updates import table_with_update
    from certify.report import risk

    def progress(text: str) -> None:
        if not arguments.quiet:
            print(f"certify report: {text}", file=sys.stderr, flush=True)

    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{arguments.out}: cannot be made a folder ({error.strerror})") from error
    task = read_task(arguments.model, arguments.train, arguments.test, arguments.base, progress)
    plan = Plan(delta=Fraction(arguments.delta), progress=progress)
    shared: dict[str, Any] = {
        "trained": task.head,
        "test": task.test,
        "data": task.described,
        "violation": task.violation,
    }
    if task.train.labels.max() > 1:
        table = run_many_classes(task.train, arguments.out, plan, **shared)
    else:
        table, _ = run_risk(task.train, arguments.out, plan, **shared)
    if task.tuned is not None:
        table = table_with_update(table, task.tuned, arguments.out, plan)
    record = table.record()
    risk.write(record, arguments.out)
    if arguments.json:
        print(json.dumps(record, indent=1))
    elif not arguments.quiet:
        print(risk.terminal(record, arguments.out))
    return 0 if record["headline"] else 1
