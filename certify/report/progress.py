"""Progress on stderr: bars with the time left for a reader, a line now and then for a log, or silence."""

from __future__ import annotations

import re
import sys
import time
from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

CALM_SECONDS = 20.0  # a log gets at most one line of a stage in this time
COUNTED = re.compile(r"(?P<stage>[^:]+): (?P<done>\d+) of (?P<total>\d+)(?P<label>.*)")


class Silent:
    """Shows nothing."""

    def start(self, title: str, total: int) -> None:
        """A stage of ``total`` steps begins."""

    def advance(self, label: str) -> None:
        """One step is done."""

    def __call__(self, text: str) -> None:
        """A message."""

    def __enter__(self) -> Silent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class _Stage:
    """How far a stage is, and when a log last heard of it."""

    def __init__(self, title: str, total: int, bar: TaskID | None) -> None:
        self.title, self.total, self.bar = title, total, bar
        self.done = 0
        self.begun = self.told = time.monotonic()

    def line(self, now: float, label: str) -> str:
        """``weights: 40 of 184, about 70 s left (layer 3)``."""
        if self.done >= self.total:
            return f"{self.title}: {self.done} of {self.total} in {now - self.begun:.0f} s"
        left = (now - self.begun) / max(1, self.done) * (self.total - self.done)
        where = f" ({label})" if label else ""
        return f"{self.title}: {self.done} of {self.total}, about {left:.0f} s left{where}"


class Bars:
    """Stages and messages. A message ``"stage: 3 of 10 label"`` moves the bar of its stage, any other is a
    line. Where nobody watches (stderr is no terminal) a stage is a line every CALM_SECONDS and at its end."""

    def __init__(self, prefix: str, console: Console | None = None) -> None:
        self.prefix = prefix
        self._console = console or Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description:>14}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("[dim]left"),
            TimeRemainingColumn(),
            TextColumn("[dim]{task.fields[label]}"),
            console=self._console,
        )
        self._stages: dict[tuple[str, int], _Stage] = {}
        self._stage = _Stage("", 1, None)

    def start(self, title: str, total: int) -> None:
        """A stage of ``total`` steps begins."""
        bar = (
            self._progress.add_task(escape(title), total=total, label="")
            if self._console.is_terminal
            else None
        )
        self._stage = _Stage(title, total, bar)

    def advance(self, label: str) -> None:
        """One step is done; ``label`` names it."""
        self._move(self._stage, self._stage.done + 1, label)

    def __call__(self, text: str) -> None:
        """Show one message."""
        counted = COUNTED.fullmatch(text)
        if counted is None:
            if self._console.is_terminal:
                self._progress.console.print(text, markup=False, highlight=False)
            else:
                self._tell(text)
            return
        key = counted["stage"], int(counted["total"])
        if key not in self._stages or int(counted["done"]) < self._stages[key].done:  # or it starts again
            self.start(*key)
            self._stages[key] = self._stage
        self._move(self._stages[key], int(counted["done"]), counted["label"].lstrip(":, "))

    def _move(self, stage: _Stage, done: int, label: str) -> None:
        stage.done = done
        if stage.bar is not None:
            self._progress.update(stage.bar, completed=done, label=escape(label[-60:]))
            return
        now = time.monotonic()
        if done >= stage.total or now - stage.told >= CALM_SECONDS:
            stage.told = now
            self._tell(stage.line(now, label[-60:]))

    def _tell(self, text: str) -> None:
        print(f"{self.prefix}: {text}", file=sys.stderr, flush=True)

    def __enter__(self) -> Bars:
        if self._console.is_terminal:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._progress.stop()
