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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from types import TracebackType
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

    def preload(self, modules: Sequence[str]) -> None:
        """Have the worker import modules before its first task; it does not answer."""
        _send(self, tuple(modules))

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
        if isinstance(task, tuple):
            for name in task:
                importlib.import_module(name)
            continue
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
    """Yield the outcome of every task, in the order in which they finish, from a pool of its own."""
    with Pool(jobs) as pool:
        yield from pool.run(tasks)


class Pool:
    """Workers that stay between one `run` and the next: each takes seconds of processor time to start.

    ``jobs == 1`` works in this process. Otherwise ``jobs`` spawned workers work, and at most one
    task per worker is in flight, so a lazy iterable of tasks is consumed lazily. ``preload`` names modules
    that the workers import while the caller is still reading its input.
    """

    def __init__(self, jobs: int, preload: Sequence[str] = ()) -> None:
        self.jobs = jobs
        self._workers: list[_Worker] = []
        if jobs > 1 and preload:
            for _ in range(jobs):
                self._workers.append(_Worker())
                self._workers[-1].preload(preload)

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.stop()

    def run(self, tasks: Iterable[Task]) -> Iterator[Outcome]:
        """Yield the outcome of every task, in the order in which they finish."""
        if self.jobs == 1:
            for task in tasks:
                try:
                    yield Outcome(task, call(task), None)
                except Exception as error:
                    yield Outcome(task, None, explain(error))
            return
        yield from self._run(iter(tasks))

    def _run(self, tasks: Iterator[Task]) -> Iterator[Outcome]:
        retries: list[Task] = []
        attempts: dict[int, int] = {}
        exhausted = False
        while True:
            while not exhausted or retries:
                idle = next((w for w in self._workers if w.task is None), None)
                if idle is None and len(self._workers) >= self.jobs:
                    break
                task = retries.pop() if retries else next(tasks, None)
                if task is None:
                    exhausted = True
                    break
                if idle is None:
                    idle = _Worker()
                    self._workers.append(idle)
                attempts[id(task)] = attempts.get(id(task), 0) + 1
                idle.task = task
                _send(idle, task)
            busy = [w for w in self._workers if w.task is not None]
            if not busy:
                return
            yield from _collect(busy, self._workers, retries, attempts)


def _send(worker: _Worker, message: Task | tuple[str, ...]) -> None:
    try:
        worker.pipe.send(message)
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
