"""Load the numeric kernel with a planted bug, in this process and without touching the files.

The modules of ``certify.kernel`` and the attacking tests are imported afresh with the source of the
mutated ones replaced; afterwards the genuine modules are put back.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType

FRESH = ("certify.kernel", "tests.soundness", "tests.directed", "tests.strategies", "tests.truth")


@dataclass(frozen=True)
class Edit:
    """Replace ``old`` by ``new`` in a kernel module; ``old`` must be there exactly once."""

    module: str
    old: str
    new: str


@dataclass(frozen=True)
class Bug:
    """A planted soundness bug: a name and the edits that make it."""

    name: str
    edits: tuple[Edit, ...]


def bug(name: str, module: str, old: str, new: str) -> Bug:
    """A bug of one edit."""
    return Bug(name, (Edit(f"certify.kernel.{module}", old, new),))


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Compiles the mutated source of the modules concerned; leaves all others to the normal import."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        self.edits = edits

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not any(edit.module == name for edit in self.edits):
            return None
        genuine = importlib.machinery.PathFinder.find_spec(name, path)  # type: ignore[arg-type]
        if genuine is None or genuine.origin is None:
            raise LookupError(f"no module {name} to plant a bug in")
        return importlib.util.spec_from_file_location(name, genuine.origin, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        name, path = module.__name__, str(module.__file__)
        with open(path, encoding="utf-8") as file:
            source = file.read()
        for edit in self.edits:
            if edit.module == name:
                if source.count(edit.old) != 1:
                    raise LookupError(
                        f"{name}: the text to mutate occurs {source.count(edit.old)} times: {edit.old}"
                    )
                source = source.replace(edit.old, edit.new)
        exec(compile(source, f"{path} (mutated)", "exec"), module.__dict__)


def _fresh(name: str) -> bool:
    return any(name == prefix or name.startswith(prefix + ".") for prefix in FRESH)


def _forget(parents: dict[str, ModuleType]) -> None:
    """Remove the fresh modules, also as attributes of their parents ("from tests import x" looks there)."""
    for name in [name for name in sys.modules if _fresh(name)]:
        del sys.modules[name]
    for name, parent in parents.items():
        for child in [child for child in vars(parent) if _fresh(f"{name}.{child}")]:
            delattr(parent, child)


@contextmanager
def planted(edits: Sequence[Edit]) -> Iterator[tuple[ModuleType, ModuleType]]:
    """Within the block ``tests.directed`` and ``tests.soundness`` (yielded) attack the mutated kernel."""
    genuine = {name: module for name, module in sys.modules.items() if _fresh(name)}
    parents = {name: importlib.import_module(name) for name in ("certify", "tests")}
    attributes = {name: dict(vars(parent)) for name, parent in parents.items()}
    _forget(parents)
    finder = _Finder(edits)
    sys.meta_path.insert(0, finder)
    try:
        yield importlib.import_module("tests.directed"), importlib.import_module("tests.soundness")
    finally:
        sys.meta_path.remove(finder)
        _forget(parents)
        sys.modules.update(genuine)
        for name, parent in parents.items():
            vars(parent).update(attributes[name])


def violations(edits: Sequence[Edit], rounds: int = 6) -> list[str]:
    """What the attacks find against the mutated kernel, stopping at the first round that finds something."""
    with planted(edits) as (directed, soundness):
        for seed in range(rounds):
            try:
                ledger = directed.run_all(seed, stop_early=True)
                if not ledger.violations:
                    ledger = soundness.attack(1000 + seed, 20, soundness.Effort(3, 3, 0.3))
                if not ledger.violations:
                    ledger = soundness.attack(2000 + seed, 10, soundness.Effort(3, 3, 0.3), flush=True)
            except Exception as error:  # a crash is not a certificate, but the suite does fail
                return [f"crash: {type(error).__name__}: {error}"]
            if ledger.violations:
                return list(ledger.violations)
    return []
