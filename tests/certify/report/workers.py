"""Functions for the pool's tests, in a module that is quick to import in a spawned worker."""

from __future__ import annotations

import os
import signal
from pathlib import Path


def double(x: int) -> int:
    """Twice x."""
    return 2 * x


def fail(x: int) -> int:
    """An ordinary error."""
    raise ValueError(f"{x} is a bad number")


def die_once(marker: str, x: int) -> int:
    """Kill the own process at the first call."""
    path = Path(marker)
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def die_always() -> None:
    """Kill the own process."""
    os.kill(os.getpid(), signal.SIGKILL)
