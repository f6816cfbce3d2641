"""Progress bars on stderr, or silence."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


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
