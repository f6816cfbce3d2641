"""Hold everything the kernel certifies about a matrix against exact truth; collect violations and counts.

Used by the default tests, by the planted bugs of ``tests/quality`` and by ``python -m tests.sweep``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction

import flint
import numpy as np
import torch

from certify.errors import NotCertified, UndefinedRank
from certify.kernel import cholesky, nonnegative
from certify.kernel.cheap import from_eigenvectors
from certify.kernel.counting import energy_rank_of, numerical_rank_of
from certify.kernel.effective_rank import ORDER_POWER, Spectrum, effective_ranks_of, renyi_rank
from certify.kernel.enclosure import Enclosure
from certify.kernel.gram import from_gram, gram_of
from certify.kernel.norms import frobenius_of, nuclear_of, schatten4_of, spectral_of, unscaled
from certify.kernel.scaling import Scaled, scale
from certify.kernel.selftest import gradual_underflow
from certify.kernel.singular_values import SingularValues, from_factors
from certify.kernel.tight import from_factors_tightly
from tests import strategies, truth

arb = flint.arb
EPS = tuple(Fraction(text) for text in ("1/1000000", "1/2", "1/1000000000000", "1/3"))
LEVELS = tuple(Fraction(text) for text in ("9/10", "1/2", "1", "999999/1000000"))


@contextmanager
def flushing(on: bool) -> Iterator[None]:
    """Within the block this thread reads and writes subnormals as zero (numpy included)."""
    before = not gradual_underflow()
    torch.set_flush_denormal(on)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)


@dataclass
class Ledger:
    """How often each claim was checked or refused, and every violation found."""

    counts: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)

    def record(self, claim: str, holds: bool, detail: Callable[[], str]) -> None:
        self.counts[claim] += 1
        if not holds:
            self.violations.append(f"{claim}: {detail()}")

    def refused(self, claim: str) -> None:
        self.counts[f"{claim} (refused)"] += 1

    def attempt(self, claim: str, make: Callable[[], object], check: Callable[[object], None]) -> None:
        """Check what ``make`` certifies; a refusal is legal and counted."""
        try:
            value = make()
        except NotCertified:
            self.refused(claim)
            return
        check(value)


@dataclass(frozen=True)
class Effort:
    """How many hostile factors and eigenvector matrices to try besides the good ones, how often to check
    all ranks of a spectrum, and with what probability each group of claims is checked on a matrix."""

    factors: int = 8
    eigenvectors: int = 8
    rank_chance: float = 0.3
    group_chance: float = 1.0


@dataclass
class Subject:
    """One matrix: entries, scaled form, exact singular values (true scale) and a label for messages."""

    A: np.ndarray
    scaled: Scaled
    sigma: list[arb]
    label: str
    ranks: dict[str, arb] = field(default_factory=dict)

    def rank(self, kind: str) -> arb:
        """The exact effective rank of a kind."""
        if kind not in self.ranks:
            order, power = ORDER_POWER[kind]
            self.ranks[kind] = truth.renyi(self.sigma, order, int(power))
        return self.ranks[kind]

    @classmethod
    def of(cls, A: np.ndarray, label: str, sigma: list[arb] | None = None) -> Subject:
        return cls(A, scale(A), truth.exact_singular_values(A) if sigma is None else sigma, label)

    @property
    def nonzero(self) -> bool:
        return bool(self.sigma) and bool(self.sigma[0] > 0)


def check_values(ledger: Ledger, claim: str, subject: Subject, values: SingularValues) -> None:
    """Scaled and unscaled enclosures of a spectrum against the truth."""
    with flushing(False), flint.ctx.workprec(truth.BITS):
        unit = arb(2) ** int(values.exponent)
        holds = len(values) == len(subject.sigma)
        for i, sigma in enumerate(subject.sigma if holds else []):
            low, high = arb(float(values.scaled_lower[i])) * unit, arb(float(values.scaled_upper[i])) * unit
            holds = holds and truth.meets(sigma, low, high)
            upper = float(values.upper[i])
            holds = holds and not (sigma < arb(float(values.lower[i])))
            holds = holds and (upper == np.inf or not sigma > arb(upper))
    ledger.record(
        claim, holds, lambda: f"{subject.label} {subject.A.tolist()} -> {values.lower}, {values.upper}"
    )


def check_enclosure(ledger: Ledger, claim: str, subject: Subject, value: Enclosure, exact: arb) -> None:
    low, high = value.endpoints
    lower, upper = value.lower, value.upper
    with flushing(False), flint.ctx.workprec(truth.BITS):
        holds = truth.meets(exact, low, high) and not exact < arb(lower)
        holds = holds and (upper == np.inf or not exact > arb(upper))
    ledger.record(claim, holds, lambda: f"{subject.label} {subject.A.tolist()}: {exact} not in {value!r}")


def _as_values(subject: Subject, pair: tuple[np.ndarray, np.ndarray]) -> SingularValues:
    return SingularValues(pair[0], pair[1], np.asarray(subject.scaled.exponent))


def check_spectra(ledger: Ledger, subject: Subject, rng: np.random.Generator, effort: Effort) -> None:
    """Default and tight mode on the true SVD and on random hostile factors."""
    every = list(strategies.factors(subject.scaled.X, rng))
    chosen = [every[0], *(every[i] for i in rng.permutation(len(every) - 1)[: effort.factors] + 1)]
    for name, U, s, V in chosen:
        for claim, certify in (("default", from_factors), ("tight", from_factors_tightly)):
            if rng.random() > effort.group_chance:
                continue

            def check(pair: object, claim: str = claim, name: str = name) -> None:
                values = _as_values(subject, pair)
                check_values(ledger, f"{claim} spectrum", subject, values)
                if rng.random() < effort.rank_chance:
                    check_ranks(ledger, f"{claim}", subject, values, rng)

            ledger.attempt(
                f"{claim} spectrum", lambda c=certify, u=U, t=s, v=V: c(subject.scaled, u, t, v), check
            )


def check_cheap_spectra(ledger: Ledger, subject: Subject, rng: np.random.Generator, effort: Effort) -> None:
    """Cheap mode on the true eigenvectors and on random hostile matrices."""
    tall = subject.scaled.tall
    hostile = list(strategies.eigenvector_matrices(tall.X, rng))
    for i in [0, *(rng.permutation(len(hostile) - 1)[: effort.eigenvectors] + 1)]:
        V = hostile[i][1]

        def check_cheap(pair: object) -> None:
            values = _as_values(subject, pair)
            check_values(ledger, "cheap spectrum", subject, values)
            if rng.random() < effort.rank_chance:
                check_ranks(ledger, "cheap", subject, values, rng)

        ledger.attempt("cheap spectrum", lambda v=V: from_eigenvectors(tall, v), check_cheap)


def check_gram_spectra(ledger: Ledger, subject: Subject, rng: np.random.Generator, effort: Effort) -> None:
    """Values from the Gram matrix, with its true eigenpairs and with hostile ones."""
    tall = subject.scaled.tall
    C = gram_of(tall.X)
    every = [(s, V) for _, _, s, V in strategies.factors(C.X, rng)]
    for i in [0, *(rng.permutation(len(every) - 1)[: effort.eigenvectors] + 1)]:
        s, V = every[i]
        ledger.attempt(
            "gram spectrum",
            lambda s=s, V=V: from_gram(tall, C, s, V),
            lambda pair: check_values(ledger, "gram spectrum", subject, _as_values(subject, pair)),
        )


def check_ranks(
    ledger: Ledger, source: str, subject: Subject, values: SingularValues, rng: np.random.Generator
) -> None:
    """All effective, numerical and energy ranks that follow from an enclosed spectrum."""
    eps, level = EPS[rng.integers(len(EPS))], LEVELS[rng.integers(len(LEVELS))]
    counted = numerical_rank_of(values, eps)
    low, high = truth.exact_counts(subject.sigma, eps) if subject.nonzero else (0, 0)
    ledger.record(
        "numerical rank", counted.lower <= high and counted.upper >= low, lambda: f"{subject.label} {counted}"
    )
    energy = energy_rank_of(values, level)
    low, high = truth.exact_energy_rank(subject.sigma, level) if subject.nonzero else (0, 0)
    holds = energy.lower <= high and energy.upper >= low
    ledger.record("energy rank", holds, lambda: f"{subject.label} {energy}")
    frobenius = unscaled(frobenius_of(subject.scaled), subject.scaled) if rng.random() < 0.5 else None

    def check(spectrum: object) -> None:
        for kind, member in ORDER_POWER.items():
            claim = f"{kind} from {source}"
            ledger.attempt(
                claim,
                lambda m=member: renyi_rank(spectrum, *m),
                lambda value, k=kind, c=claim: check_enclosure(ledger, c, subject, value, subject.rank(k)),
            )

    if subject.nonzero:
        ledger.attempt(f"ranks from {source}", lambda: Spectrum.of(values, frobenius), check)


def check_norms(ledger: Ledger, subject: Subject, rng: np.random.Generator) -> None:
    """Every norm, by every method, from good and from bad vectors."""
    A = subject.scaled
    with flint.ctx.workprec(truth.BITS):
        unit = arb(2) ** -A.exponent
        sigma = [x * unit for x in subject.sigma]
        square = sum((x * x for x in sigma), arb(0))
        spectral = sigma[0] if sigma else arb(0)
        fourth = sum((x**4 for x in sigma), arb(0)).sqrt()
        frobenius, nuclear = square.sqrt(), sum(sigma, arb(0))
    for claim, make, exact in (
        ("frobenius norm", frobenius_of, frobenius),
        ("spectral norm", spectral_of, spectral),
        ("schatten-4 norm squared", schatten4_of, fourth),
        ("nuclear norm", nuclear_of, nuclear),
    ):
        ledger.attempt(
            claim, lambda f=make: f(A), lambda v, c=claim, e=exact: check_enclosure(ledger, c, subject, v, e)
        )
    if not subject.nonzero:
        return
    _check_bounds_from_vectors(ledger, subject, spectral, rng)


def _check_bounds_from_vectors(
    ledger: Ledger, subject: Subject, spectral: arb, rng: np.random.Generator
) -> None:
    """Collatz-Wielandt and Gram bounds with bad vectors, bad shifts and small blocks."""
    A = subject.scaled
    X, n = A.X, A.X.shape[1]
    radius = A.radius_2

    def check(claim: str) -> Callable[[object], None]:
        def inner(pair: object) -> None:
            low, high = pair
            holds = truth.meets(spectral, (low - radius).lower(), (high + radius).upper())
            ledger.record(
                claim, holds, lambda: f"{subject.label} {subject.A.tolist()}: {spectral} not in {low}, {high}"
            )

        return inner

    for x in (np.ones(n), rng.random(n) + 0.01, rng.standard_normal(n), 10.0 ** rng.uniform(-200, 0, n)):
        claim = "collatz-wielandt"
        ledger.attempt(claim, lambda v=x: nonnegative.norm_bounds(X, v), check(claim))
    tall = A.tall.X
    ledger.attempt("gram norm", lambda: cholesky.norm_bounds_of_tall(tall), check("gram norm"))
    C, rounding = cholesky.multiply(tall.T, tall), cholesky.gram_rounding(tall)
    beta = float(spectral * spectral) * float(rng.uniform(0.5, 2)) + 1e-3
    bound = cholesky.upper_norm_squared(C, rounding, beta, 100)
    if bound is not None:
        check("gram norm, any shift")((arb(0), bound.sqrt()))
    for v in (rng.standard_normal(tall.shape[1]), np.full(tall.shape[1], np.nan), np.zeros(tall.shape[1])):
        low = cholesky.lower_norm(tall, v)
        holds = truth.meets(spectral, (low - radius).lower(), arb(10) ** 400)
        ledger.record("lower norm", holds, lambda: subject.label)


def check_matrix_level_ranks(ledger: Ledger, subject: Subject) -> None:
    """The ranks that the public function computes without a spectrum; the zero matrix must raise."""
    for kind in ("stable", "participation"):
        order, power = ORDER_POWER[kind]
        if not subject.nonzero:
            try:
                effective_ranks_of([subject.scaled], order, power, "default")
                ledger.record(f"{kind} of zero", False, lambda: "the zero matrix got an effective rank")
            except UndefinedRank:
                ledger.record(f"{kind} of zero", True, str)
            continue

        def check(value: object, kind: str = kind) -> None:
            check_enclosure(ledger, kind, subject, value, subject.rank(kind))

        ledger.attempt(
            kind, lambda o=order, p=power: effective_ranks_of([subject.scaled], o, p, "default")[0], check
        )


def check_matrix(ledger: Ledger, subject: Subject, rng: np.random.Generator, effort: Effort) -> None:
    """Everything about one matrix, each group of claims with the probability of ``effort``."""

    def chosen() -> bool:
        return bool(rng.random() < effort.group_chance)

    check_spectra(ledger, subject, rng, effort)
    if chosen():
        check_cheap_spectra(ledger, subject, rng, effort)
        check_gram_spectra(ledger, subject, rng, effort)
    if chosen():
        check_norms(ledger, subject, rng)
    if chosen():
        check_matrix_level_ranks(ledger, subject)


def products_for(rng: np.random.Generator, X: np.ndarray) -> Sequence[strategies.Product | None]:
    """The genuine BLAS and hostile products, the liar knowing the matrix under test."""
    return (
        None,
        strategies.legal_liar(rng, X),
        strategies.random_order_product(rng),
        strategies.plain_order_product(),
        strategies.legal_liar(rng, X),
    )


def attack(
    seed: int, count: int, effort: Effort = Effort(), ledger: Ledger | None = None, *, flush: bool = False
) -> Ledger:
    """``count`` random matrices of all kinds, each under one of the products; ``flush``: to zero."""
    book = Ledger() if ledger is None else ledger
    rng = np.random.default_rng(seed)
    for i in range(count):
        kind, A = strategies.matrix(rng)
        sigma = truth.exact_singular_values(A)
        with flushing(flush):
            subject = Subject(A, scale(A), sigma, f"seed {seed} matrix {i} ({kind})")
            product = products_for(rng, subject.scaled.X)[i % 5]
            with strategies.product_replaced(product):
                check_matrix(book, subject, rng, effort)
    return book
