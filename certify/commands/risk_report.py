"""The part of ``certify report`` that answers ``--train``: the risk of a trained classifier."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from certify.bounds.risk.table import Table
    from certify.bounds.risk.tasks import Task


def add_options(group: argparse._ArgumentGroup) -> None:
    """The options of the risk section."""
    group.add_argument(
        "--train",
        type=Path,
        metavar="DATA",
        help="the sample the classifier was trained on: .npz (features or tokens, labels) or .jsonl / "
        ".parquet (text, label)",
    )
    group.add_argument("--test", type=Path, metavar="DATA", help="held-out units in the same form")
    group.add_argument(
        "--base",
        metavar="MODEL",
        help="the public model a classifier was made from: only what differs from it is paid for",
    )


def prepared(arguments: argparse.Namespace, progress: Callable[[str], None]) -> Callable[[], dict[str, Any]]:
    """Read model and data (bad input is refused here) and return what makes the risk record and its files."""
    from certify.bounds.risk.tasks import read_task
    from certify.report import risk

    task = read_task(
        arguments.model,
        arguments.train,
        arguments.test,
        arguments.base,
        progress,
        arguments.out / ".work",
    )
    return lambda: risk.record(_table(task, arguments, progress), arguments.out)


def _table(task: Task, arguments: argparse.Namespace, progress: Callable[[str], None]) -> Table:
    """Fit, bound, and write the certificates."""
    from certify.bounds.risk.run import Plan, run_risk
    from certify.bounds.risk.updates import table_with_update

    plan = Plan(delta=Fraction(arguments.delta), progress=progress)
    shared: dict[str, Any] = {
        "trained": task.head,
        "test": task.test,
        "data": task.described,
        "violation": task.violation,
    }
    table, _ = run_risk(task.train, arguments.out, plan, **shared)
    if task.tuned is not None:
        table = table_with_update(table, task.tuned, arguments.out, plan)
    return table
