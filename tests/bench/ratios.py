"""Interleaved measurements of CPU time: the ratio of medians, ours to a peer's, in one process."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Ratio:
    """Median CPU seconds of our call and of the peer's, and the promise about their ratio."""

    claim: str
    ours: float
    peer: float
    promised: float | None
    note: str = ""

    @property
    def value(self) -> float:
        return self.ours / self.peer

    @property
    def kept(self) -> bool:
        return self.promised is None or self.value <= self.promised

    def __str__(self) -> str:
        promise = "" if self.promised is None else f" (promised <= {self.promised})"
        times = f"{self.ours * 1e3:9.2f} ms / {self.peer * 1e3:9.2f} ms"
        return f"{self.claim:58s} {times} = {self.value:6.3f}{promise} {self.note}"


def measure(
    claim: str,
    ours: Callable[[], object],
    peer: Callable[[], object],
    promised: float | None = None,
    *,
    repeats: int = 5,
    note: str = "",
) -> Ratio:
    """Run both ``repeats`` times, turn by turn, after one warm-up each; CPU time of this process."""
    torch.set_num_threads(1)
    ours()
    peer()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for call, record in zip((ours, peer), times, strict=True):
            start = time.process_time()
            call()
            record.append(time.process_time() - start)
    return Ratio(claim, statistics.median(times[0]), statistics.median(times[1]), promised, note)


def heading() -> str:
    load = os.getloadavg()[0]
    machine = platform.processor() or platform.machine()
    return f"\nCPU time, one BLAS thread, median of 5, {machine}, load {load:.1f}"
