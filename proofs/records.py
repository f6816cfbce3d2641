"""What a theorem is, for the reader who wants a number: inputs, hypotheses, one bound expression."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import sympy

from proofs.export import from_prefix, to_latex, to_prefix
from proofs.symbols import Symbol, delta, record


@dataclass(frozen=True)
class Hypothesis:
    """One condition of a theorem.

    ``kind`` is ``"standing"`` (fixed before the sample), ``"data"`` (how the sample came about),
    ``"bounded"`` (an almost-sure bound), ``"model"`` (what the model computes) or ``"numeric"``
    (a condition on the inputs, with ``condition`` = prefix texts (left, right) of ``left <= right``).
    """

    id: str
    text: str
    kind: str
    condition: tuple[str, str] | None = None


@dataclass(frozen=True)
class Variant:
    """Another valid bound for the same statement, at its own proof level."""

    name: str
    bound: sympy.Expr
    level: str
    """How its weakest step is known (docs/explanation/trust.md)."""
    note: str

    @cached_property
    def prefix(self) -> str:
        """Prefix text of the variant's bound."""
        return to_prefix(self.bound)


@dataclass(frozen=True)
class Constant:
    """One explicit constant of a bound and the lemma it comes from."""

    name: str
    value: sympy.Expr
    origin: str
    """The lemma."""
    why: str
    """In a sentence."""


@dataclass(frozen=True)
class Theorem:
    """A theorem whose bound can be evaluated.

    ``quantity`` says what the bound bounds: ``"gap"`` (risk minus empirical risk), ``"risk"``,
    ``"zero-one risk"``, ``"gibbs risk"`` or ``"compressed risk"``. Bounds on different quantities are never
    minimised together.
    """

    name: str
    title: str
    statement: str
    """In plain words."""
    quantity: str
    bound: sympy.Expr
    """The right side in the symbols of ``inputs``: a number without unit, logarithms natural."""
    hypotheses: tuple[Hypothesis, ...]
    constants: tuple[Constant, ...]
    complexity: sympy.Expr | None = None
    """The bound on the empirical Rademacher complexity inside the bound, where there is one."""
    failure: sympy.Expr = delta
    """The probability, over the sample, with which the bound may fail."""
    variants: tuple[Variant, ...] = ()
    derivation: str = ""
    """Name of the checked derivation (``proofs/stored``)."""
    sources: tuple[str, ...] = ()
    """The papers whose results the proof uses."""
    caveats: tuple[str, ...] = ()
    """What a reader could take the theorem to say, and it does not."""
    parts: tuple[tuple[str, sympy.Expr], ...] = ()
    """Named additive parts of the bound, for the table of shares."""

    @cached_property
    def level(self) -> str:
        """The proof level that the kernel recorded for the derivation of this bound."""
        recorded = json.loads((Path(__file__).parent / "stored" / "levels.json").read_text(encoding="utf-8"))
        return str(recorded[self.derivation]["level"])

    @cached_property
    def prefix(self) -> str:
        """The bound as prefix text."""
        return to_prefix(self.bound)

    @cached_property
    def latex(self) -> str:
        """The bound as LaTeX."""
        return to_latex(self.bound)

    @cached_property
    def inputs(self) -> tuple[Symbol, ...]:
        """The symbols that the bound and its numeric conditions need, sorted by name."""
        symbols = self.bound.free_symbols | self.failure.free_symbols
        for hypothesis in self.hypotheses:
            for side in hypothesis.condition or ():
                symbols |= from_prefix(side).free_symbols
        return tuple(sorted((record(symbol) for symbol in symbols), key=lambda symbol: symbol.name))

    def variant(self, name: str) -> Variant:
        """The variant called ``name``; a ``KeyError`` lists those there are."""
        for candidate in self.variants:
            if candidate.name == name:
                return candidate
        raise KeyError(f"{self.name} has no variant {name!r}; there are {[v.name for v in self.variants]}")


STANDING = Hypothesis(
    "fixed-before-sample",
    "The map from an input to its tokens, query, values and mask, the loss with its Lipschitz constant, "
    "and everything above the head are fixed before the sample is drawn; only the named matrix depends "
    "on it. "
    "A value table fitted to the sample breaks the theorem even though it does not depend on the matrix.",
    "standing",
)
IID = Hypothesis(
    "iid",
    "The m training units (whole sequences or documents, never tokens) are drawn "
    "independently from one distribution.",
    "data",
)
UNIT_LOSS = Hypothesis(
    "loss-in-unit-interval",
    "The loss lies in [0, 1]. For a loss in [0, M] divide L by M and multiply the bound by M.",
    "bounded",
)
LIPSCHITZ_LOSS = Hypothesis(
    "loss-lipschitz",
    "For every label the loss is L-Lipschitz in the outputs, in the Euclidean norm.",
    "model",
)
CONFIDENCE = Constant(
    "confidence",
    sympy.Integer(2),
    "Lemma 3(c)",
    "the deviation minus twice the empirical complexity moves by at most 2/m when one unit changes, "
    "so one use of McDiarmid's inequality is enough",
)
SYMMETRIZATION = Constant(
    "symmetrization",
    sympy.Integer(2),
    "Lemma 1",
    "a ghost sample and random signs, one for each of the two samples",
)
VECTOR_CONTRACTION = Constant(
    "vector contraction",
    sympy.sqrt(2),
    "Lemma 7",
    "Khintchine's inequality with its best constant (Lemma 6), once per unit",
)
