"""A small word sample with its certificates, made once for each worker."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from certify.bounds.risk.run import Heads, Plan, run_risk
from certify.bounds.risk.samples import Sample
from certify.bounds.risk.table import Table
from certify.demos.words import Population, population

SMALL = 20_000  # words of each language


@dataclass(frozen=True)
class Run:
    """The files and objects of one small run."""

    folder: Path
    sample: Sample
    table: Table
    heads: Heads


@pytest.fixture(scope="session")
def words() -> Population:
    return population(size=SMALL)


@pytest.fixture(scope="session")
def small_run(words: Population, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("risk")
    sample, test = words.draw(5000, 11), words.draw(1000, 12)
    plan = Plan(passes=1, effort=0.3, levels=(2,))
    table, heads = run_risk(sample, folder, plan, test=test, unit="word")
    return Run(folder, sample, table, heads)
