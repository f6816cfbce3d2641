"""Progress bars on stderr, or silence."""

from __future__ import annotations

import re
import sys
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


class Silent:
    """Shows nothing."""

    def start(self, title: str, total: int) -> None:
        """A stage of ``total`` steps begins."""

    def advance(self, label: str) -> None:
        """One step is done."""

    def __enter__(self) -> Silent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class Bars:
    """One bar per stage on stderr, with the object that was finished last."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description:>10}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.fields[label]}"),
            console=Console(stderr=True),
        )
        self._task = self._progress.add_task("", total=1, label="", visible=False)

    def start(self, title: str, total: int) -> None:
        """A stage of ``total`` steps begins."""
        self._task = self._progress.add_task(title, total=total, label="")

    def advance(self, label: str) -> None:
        """One step is done; ``label`` names it."""
        self._progress.update(self._task, advance=1, label=label[-60:])

    def __enter__(self) -> Bars:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()


class Messages:
    """Shows messages on stderr: ``"stage: 3 of 10 ..."`` moves the bar of its stage, others come as a line.

    Where nobody watches (stderr is no terminal) every message is a line.
    """

    COUNTED = re.compile(r"(?P<stage>[^:]+): (?P<done>\d+) of (?P<total>\d+)(?P<label>.*)")

    def __init__(self, prefix: str, console: Console | None = None) -> None:
        self.prefix = prefix
        self._console = console or Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description:>14}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.fields[label]}"),
            console=self._console,
        )
        self._bars: dict[tuple[str, int], TaskID] = {}

    def __call__(self, text: str) -> None:
        """Show one message."""
        counted = self.COUNTED.fullmatch(text)
        if not self._console.is_terminal:
            print(f"{self.prefix}: {text}", file=sys.stderr, flush=True)
        elif counted is None:
            self._progress.console.print(text, markup=False, highlight=False)
        else:
            key = counted["stage"], int(counted["total"])
            if key not in self._bars:
                self._bars[key] = self._progress.add_task(key[0], total=key[1], label="")
            label = counted["label"].lstrip(": ")[-60:]
            self._progress.update(self._bars[key], completed=int(counted["done"]), label=label)

    def __enter__(self) -> Messages:
        if self._console.is_terminal:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._progress.stop()
