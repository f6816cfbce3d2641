"""A small pool of spawned worker processes that survives the death of a worker.

``concurrent.futures`` breaks the whole pool when one worker is killed. Here a lost item is
submitted again to a fresh worker, and an item that keeps killing its worker fails alone.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

MAX_ATTEMPTS = 3
STOP_SECONDS = 5.0
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Task:
    """One work item: ``function`` is ``"module:name"``, called as ``name(*arguments)``."""

    label: str
    function: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Outcome:
    """What became of a task: ``value`` when ``error`` is None, else the reason in words."""

    task: Task
    value: Any
    error: str | None


class _Worker:
    """A spawned process, the pipe to it and the task it holds."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.task: Task | None = None

    def stop(self) -> None:
        """End an idle worker by closing its pipe, and a busy one by a signal."""
        self.pipe.close()
        if self.task is None:
            self.process.join(STOP_SECONDS)
        if self.process.is_alive():
            self.process.terminate()
        self.process.join()


def one_thread_per_process() -> None:
    """Limit BLAS to one thread here and in the processes spawned from here."""
    for name in THREAD_VARIABLES:
        os.environ[name] = "1"
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def call(task: Task) -> Any:
    """Call the function that ``task`` names."""
    module, _, name = task.function.partition(":")
    return getattr(importlib.import_module(module), name)(*task.arguments)


def _serve(pipe: Connection) -> None:
    one_thread_per_process()
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError, KeyboardInterrupt):
            return
        answer: tuple[Any, str | None]
        try:
            answer = (call(task), None)
        except Exception as error:
            answer = (None, explain(error))
        try:
            pipe.send(answer)
        except (BrokenPipeError, KeyboardInterrupt):
            return


def explain(error: BaseException) -> str:
    """The last line of an error, with the place it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" (at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


def run_tasks(tasks: Iterable[Task], jobs: int) -> Iterator[Outcome]:
    """Yield the outcome of every task, in the order in which they finish.

    ``jobs == 1`` works in this process. Otherwise ``jobs`` spawned workers work, and at most one
    task per worker is in flight, so a lazy iterable of tasks is consumed lazily.
    """
    if jobs == 1:
        for task in tasks:
            try:
                yield Outcome(task, call(task), None)
            except Exception as error:
                yield Outcome(task, None, explain(error))
        return
    yield from _run_in_workers(iter(tasks), jobs)


def _run_in_workers(tasks: Iterator[Task], jobs: int) -> Iterator[Outcome]:
    workers: list[_Worker] = []
    retries: list[Task] = []
    attempts: dict[int, int] = {}
    exhausted = False
    try:
        while True:
            while not exhausted or retries:
                idle = next((w for w in workers if w.task is None), None)
                if idle is None and len(workers) >= jobs:
                    break
                task = retries.pop() if retries else next(tasks, None)
                if task is None:
                    exhausted = True
                    break
                if idle is None:
                    idle = _Worker()
                    workers.append(idle)
                attempts[id(task)] = attempts.get(id(task), 0) + 1
                idle.task = task
                _send(idle, task)
            busy = [w for w in workers if w.task is not None]
            if not busy:
                return
            yield from _collect(busy, workers, retries, attempts)
    finally:
        for worker in workers:
            worker.stop()


def _send(worker: _Worker, task: Task) -> None:
    try:
        worker.pipe.send(task)
    except (BrokenPipeError, OSError):
        pass  # the worker is gone; _collect sees its pipe close and submits the task again


def _collect(
    busy: list[_Worker], workers: list[_Worker], retries: list[Task], attempts: dict[int, int]
) -> Iterator[Outcome]:
    ready = set(wait([w.pipe for w in busy]))
    for worker in busy:
        if worker.pipe not in ready:
            continue
        task = worker.task
        if task is None:
            continue
        try:
            value, error = worker.pipe.recv()
        except (EOFError, OSError):
            workers.remove(worker)
            worker.stop()
            code = worker.process.exitcode
            if attempts[id(task)] < MAX_ATTEMPTS:
                retries.append(task)
            else:
                del attempts[id(task)]
                yield Outcome(
                    task, None, f"its worker process died {MAX_ATTEMPTS} times (last exit code {code})"
                )
            continue
        worker.task = None
        attempts.pop(id(task), None)
        yield Outcome(task, value, error)
