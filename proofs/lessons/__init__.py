"""The lesson: eleven chapters as data. Words live here, formulas and constants come from the proof
objects."""

from __future__ import annotations

from importlib import import_module

from proofs.lessons.model import Chapter

_MODULES = (
    "chapter_01_gap",
    "chapter_02_signs",
    "chapter_03_concentration",
    "chapter_04_contraction",
    "chapter_05_ranks",
    "chapter_06_series",
    "chapter_07_attention",
    "chapter_08_breaks",
    "chapter_09_repairs",
    "chapter_10_numbers",
    "chapter_11_report",
)


def chapters() -> tuple[Chapter, ...]:
    """All chapters in reading order."""
    return tuple(import_module(f"proofs.lessons.{module}").CHAPTER for module in _MODULES)
