"""The engine: results on disk, a killed worker, a killed run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certify.engine.journal import Journal, array_digest, digest_of
from certify.engine.order_statistics import order_statistic, summary
from certify.engine.pool import MAX_ATTEMPTS, Pool, Task, run_tasks
from tests.certify.report.tiny import Tiny

ROOT = Path(__file__).resolve().parents[3]
HERE = "tests.certify.report.workers"


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_task_has_an_outcome(jobs: int) -> None:
    tasks = [Task(str(i), f"{HERE}:double", (i,)) for i in range(5)] + [Task("bad", f"{HERE}:fail", (7,))]
    outcomes = {o.task.label: o for o in run_tasks(tasks, jobs)}
    assert {label: o.value for label, o in outcomes.items() if o.error is None} == {
        str(i): 2 * i for i in range(5)
    }
    assert "7 is a bad number" in str(outcomes["bad"].error)


def test_a_killed_worker_loses_nothing(tmp_path: Path) -> None:
    tasks = [Task(str(i), f"{HERE}:die_once", (str(tmp_path / "marker"), i)) for i in range(4)]
    outcomes = list(run_tasks(tasks, 2))
    assert sorted(o.value for o in outcomes) == [0, 1, 2, 3]
    assert (tmp_path / "marker").exists()


def test_a_task_that_always_kills_its_worker_fails_alone() -> None:
    tasks = [
        Task("killer", f"{HERE}:die_always", ()),
        *(Task(str(i), f"{HERE}:double", (i,)) for i in range(3)),
    ]
    outcomes = {o.task.label: o for o in run_tasks(tasks, 2)}
    assert f"died {MAX_ATTEMPTS} times" in str(outcomes["killer"].error)
    assert [outcomes[str(i)].value for i in range(3)] == [0, 2, 4]


def test_workers_stay_between_runs() -> None:
    with Pool(2, ("json",)) as pool:
        pids = [
            {o.value for o in pool.run(Task(str(i), "os:getpid", ()) for i in range(8))} for _ in range(2)
        ]
        error = [o.error for o in pool.run([Task("bad", f"{HERE}:fail", (7,))])]
    assert len(pids[0] | pids[1]) == 2
    assert os.getpid() not in pids[0]
    assert "7 is a bad number" in str(error[0])


def test_tasks_are_taken_lazily() -> None:
    taken = []

    def tasks():  # type: ignore[no-untyped-def]
        for i in range(6):
            taken.append(i)
            yield Task(str(i), f"{HERE}:double", (i,))

    outcomes = run_tasks(tasks(), 2)
    next(outcomes)
    assert len(taken) <= 3
    outcomes.close()  # type: ignore[attr-defined]


def test_the_journal_returns_only_whole_and_right_records(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.put("k", {"a": 1})
    assert journal.get("k") == {"a": 1}
    assert journal.get("other") is None
    path = tmp_path / "k.json"
    stored = json.loads(path.read_text())
    path.write_text(json.dumps({**stored, "result": {"a": 2}}))
    assert journal.get("k") is None, "a changed result is not picked up"
    path.write_text(path.read_text()[:-5])
    assert journal.get("k") is None, "a torn file is not picked up"


def test_digests_separate_what_differs() -> None:
    assert digest_of("ab", "c") != digest_of("a", "bc")
    a = np.arange(6.0)
    assert array_digest(a.reshape(2, 3)) != array_digest(a.reshape(3, 2))
    assert array_digest(a) != array_digest(a.astype(np.float32))
    assert array_digest(a.reshape(2, 3).T) == array_digest(np.ascontiguousarray(a.reshape(2, 3).T))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9)), min_size=1, max_size=12), st.data())
def test_order_statistics_contain_those_of_every_choice(
    boxes: list[tuple[int, int]], data: st.DataObject
) -> None:
    pairs = [{"lower": str(a), "upper": str(a + w)} for a, w in boxes]
    points = [data.draw(st.fractions(min_value=a, max_value=a + w)) for a, w in boxes]
    for level in (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(1)):
        k = max(1, -(-level * len(points) // 1))
        truth = sorted(points)[int(k) - 1]
        found = order_statistic(pairs, level)
        assert Fraction(found["lower"]) <= truth <= Fraction(found["upper"])
    assert set(summary(pairs)) == {"minimum", "lower_quartile", "median", "upper_quartile", "maximum"}


MARK = ["input-radius"]


def mark(result: dict[str, Any]) -> dict[str, Any]:
    """A finished result that can be recognised: it rests on an assumption that no weight here has."""
    heads = result.get("heads")
    return (
        {**result, "assumptions": MARK}
        if heads is None
        else {"heads": [{**heads[0], "assumptions": MARK}, *heads[1:]]}
    )


def overlap(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two records of enclosures (single ones or lists) have a common point everywhere."""

    def ends(record: dict[str, Any], side: str) -> list[Fraction]:
        value = record[side]
        return [Fraction(text) for text in (value if isinstance(value, list) else [value])]

    pairs = [(ends(one, "lower"), ends(other, "upper")), (ends(other, "lower"), ends(one, "upper"))]
    return all(low <= high for lows, highs in pairs for low, high in zip(lows, highs, strict=True))


def test_overlap_can_fail() -> None:
    assert overlap({"lower": "1", "upper": "2"}, {"lower": "2", "upper": "3"})
    assert not overlap({"lower": ["1", "0"], "upper": ["2", "1"]}, {"lower": ["1", "2"], "upper": ["2", "3"]})


def test_a_killed_run_resumes_and_gives_the_same_report(tiny: Tiny, tmp_path: Path) -> None:
    """Kill the whole process group in the middle; the second run reuses finished work and ends equal."""
    out = tmp_path / "out"
    command = [sys.executable, "-m", "certify.cli", "report", str(tiny.model), "--inputs", str(tiny.inputs),
               "--out", str(out), "--quiet", "--samples", "1000"]  # fmt: skip
    first = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    deadline = time.monotonic() + 120
    while len(list(out.glob(".work/*.json"))) < 5:
        assert first.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    assert not (out / "report.json").exists()
    stamps = {p.name: p.stat().st_mtime_ns for p in out.glob(".work/*.json")}
    assert len(stamps) >= 5
    name = next(iter(stamps))
    planted = json.loads((out / ".work" / name).read_text())
    planted["result"] = mark(planted["result"])
    planted["check"] = digest_of(planted["key"], json.dumps(planted["result"], sort_keys=True))
    (out / ".work" / name).write_text(json.dumps(planted))
    second = subprocess.run(command, cwd=ROOT, check=False)
    report = json.loads((out / "report.json").read_text())
    records = [*report["matrices"], *(h for call in report["attention"]["calls"] for h in call["heads"])]
    reused = [r for r in records if r["assumptions"] == MARK]
    assert len(reused) == 1, "the planted result shows that the journal was read"
    numbers = ("assumptions", "spectrum", "norms", "ranks")
    for mine, whole in zip(report["matrices"], tiny.report["matrices"], strict=True):
        assert {**mine, **dict.fromkeys(numbers)} == {**whole, **dict.fromkeys(numbers)}
        # The SVD is an oracle whose last digits may change from process to process: the truth is in both.
        assert overlap(mine["spectrum"], whole["spectrum"])
        assert all(overlap(mine["ranks"][kind], whole["ranks"][kind]) for kind in whole["ranks"])
    assert second.returncode in (0, 1)
