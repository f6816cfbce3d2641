"""The part of a base above the first updated block, in float32 and differentiable: for searching only.

Blocks below the first update compute the same for every candidate, so what leaves them is recorded once for
each unit and played back. Nothing here is trusted: the certified model is run whole, in float64, by
:class:`certify.bounds.risk.updated_base.UpdatedBase`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from certify.bounds.risk.updated_base import ROWS, UpdatedBase, equal_lengths

Progress = Callable[[str], None]
BATCH = 128


class Tail:
    """``enter(group, rows, deltas)``: what enters the head for rows of one group, with updates in place.

    ``groups``: rows of equal length. ``names``: the tensors that updates will change.
    """

    def __init__(self, base: UpdatedBase, units: np.ndarray, names: set[str], progress: Progress) -> None:
        torch.set_num_threads(1)
        base.set({})
        self._module, self._reads, self._units = copy.deepcopy(base.module).float(), base.reads, units
        for parameter in self._module.parameters():
            parameter.requires_grad_(False)
        self._state = {k: v for k, v in self._module.state_dict().items() if k in base.anchors}
        self.width = base.width
        self._seen: list[Any] = []
        layer = dict(self._module.named_modules())[base.head]
        layer.register_forward_pre_hook(lambda _, arguments: self._seen.append(arguments[0]))
        self.groups = list(equal_lengths(units, base.reads))
        self._played: torch.Tensor | None = None
        self._states: list[torch.Tensor] = []
        self._record(blocks_below(self._module, names, self._one_unit), progress)

    def _one_unit(self) -> None:
        self._call(self.groups[0][:1])

    def _call(self, rows: np.ndarray, state: Mapping[str, torch.Tensor] | None = None) -> None:
        units = self._units[rows]
        if self._reads == ROWS:
            torch.func.functional_call(self._module, dict(state or {}), (torch.from_numpy(units),))
        else:
            numbers = torch.from_numpy(units[:, units[0] != -1]).long()
            torch.func.functional_call(self._module, dict(state or {}), (), {"input_ids": numbers})

    def _record(self, blocks: list[torch.nn.Module], progress: Progress) -> None:
        """Record what leaves the last of the blocks, then let it play that back and the others do nothing."""
        if not blocks:
            return
        caught: list[Any] = []
        hook = blocks[-1].register_forward_hook(lambda _, arguments, output: caught.append(output))
        done = 0
        with torch.no_grad():
            for rows in self.groups:
                caught.clear()
                for start in range(0, len(rows), BATCH):
                    self._call(rows[start : start + BATCH])
                    done += len(rows[start : start + BATCH])
                    progress(f"lower blocks: {done} of {len(self._units)} units")
                if not all(
                    isinstance(c, torch.Tensor) and c.shape[1:] == caught[0].shape[1:] for c in caught
                ):
                    self._states = []
                    break
                self._states.append(torch.cat(caught))
        hook.remove()
        self._seen.clear()
        if len(self._states) == len(self.groups):
            for block in blocks[:-1]:
                block.forward = lambda hidden, *_, **__: hidden
            blocks[-1].forward = lambda *_, **__: self._played
            self._places = np.zeros(len(self._units), dtype=np.int64)
            for rows in self.groups:
                self._places[rows] = np.arange(len(rows))

    def enter(self, group: int, rows: np.ndarray, deltas: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """(n, width), differentiable in the updates ``deltas`` (d1, d2) by name."""
        if self._states:
            self._played = self._states[group][self._places[rows]]
        state = {k: self._state[k] + d.reshape(self._state[k].shape) for k, d in deltas.items()}
        self._seen.clear()
        self._call(rows, state)
        return torch.as_tensor(self._seen[-1]).reshape(len(rows), self.width)

    def features(self, deltas: Mapping[str, np.ndarray], part: slice = slice(None)) -> np.ndarray:
        """What enters the head for every unit of the part, float32 (n, width)."""
        tensors = {k: torch.from_numpy(np.asarray(d, dtype=np.float32)) for k, d in deltas.items()}
        found = np.zeros((len(self._units), self.width), dtype=np.float32)
        wanted = np.zeros(len(self._units), dtype=bool)
        wanted[part] = True
        with torch.no_grad():
            for group, rows in enumerate(self.groups):
                own = rows[wanted[rows]]
                for start in range(0, len(own), BATCH):
                    few = own[start : start + BATCH]
                    found[few] = self.enter(group, few, tensors).numpy()
        return found[part]


def blocks_below(module: torch.nn.Module, names: set[str], run: Callable[[], None]) -> list[torch.nn.Module]:
    """The first blocks of the longest list of blocks that are done before a tensor in ``names`` is used."""
    lists = [(n, m) for n, m in module.named_modules() if isinstance(m, torch.nn.ModuleList)]
    if not lists or not names:
        return []
    place, blocks = max(lists, key=lambda item: len(item[1]))
    inside = [i for i in range(len(blocks)) if any(n.startswith(f"{place}.{i}.") for n in names)]
    count = min(inside, default=len(blocks))
    owners = {module.get_submodule(n.rpartition(".")[0]) for n in names if not n.startswith(f"{place}.")}
    watched: list[torch.nn.Module] = [*blocks, *owners]
    order: list[torch.nn.Module] = []
    hooks = [m.register_forward_pre_hook(lambda own, _: order.append(own)) for m in watched]
    try:
        with torch.no_grad():
            run()
    finally:
        for hook in hooks:
            hook.remove()
    ran = [m for m in order if m in set(blocks)]
    if ran != list(blocks) or not owners <= set(order):
        return []  # blocks that run twice or not in order, or tensors that no module of their own uses
    first = min((order.index(owner) for owner in owners), default=len(order))
    before = [m for m in order[:first] if m in set(blocks)]
    return list(blocks[: min(count, len(before))])
