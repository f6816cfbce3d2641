"""The part of ``certify report`` that answers ``--train``: risk of a trained classifier."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from certify.errors import InputError

if TYPE_CHECKING:
    from certify.bounds.risk.table import Table


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
    from certify.report import risk
    from certify.report.progress import Messages

    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{arguments.out}: cannot be made a folder ({error.strerror})") from error
    if arguments.quiet:
        table = _table(arguments, lambda text: None)
    else:
        with Messages("certify report") as progress:
            table = _table(arguments, progress)
    record = table.record()
    risk.write(record, arguments.out)
    if arguments.json:
        print(json.dumps(record, indent=1))
    elif not arguments.quiet:
        print(risk.terminal(record, arguments.out))
    return 0 if record["headline"] else 1


def _table(arguments: argparse.Namespace, progress: Callable[[str], None]) -> Table:
    """Read the task, fit, bound, and write the certificates."""
    from certify.bounds.risk.many_classes import run_many_classes
    from certify.bounds.risk.run import Plan, run_risk
    from certify.bounds.risk.tasks import read_task
    from certify.bounds.risk.updates import table_with_update

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
    return table
