"""Effective ranks: one Renyi family, its named members, and the counting ranks.

With p_i = sigma_i^beta / sum_j sigma_j^beta, N(alpha, beta) = exp(Renyi entropy of order alpha of p):

=================== ======= ====== ============================================
kind                order   power  formula
=================== ======= ====== ============================================
stable              inf     2      ||A||_F^2 / ||A||_2^2
nuclear             inf     1      ||A||_* / ||A||_2
nuclear-frobenius   2       1      ||A||_*^2 / ||A||_F^2
participation       2       2      ||A||_F^4 / ||A^T A||_F^2
entropy             1       1      exp(-sum p log p) (Roy & Vetterli 2007)
gram-entropy        1       2      exp(-sum p log p) for A^T A
=================== ======= ====== ============================================

N falls as the order grows, and 1 <= N <= rank(A). The zero matrix has none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from certify.errors import InputError, NotCertified, UndefinedRank
from certify.kernel.directed import exact_ball, float_above, float_below
from certify.kernel.enclosure import Enclosure, Exact, exact_fraction
from certify.kernel.entropy import down, entropy, up
from certify.kernel.norms import each_matrix, frobenius_of, schatten4_of, spectral_of_each, sum_of
from certify.kernel.reading import Array
from certify.kernel.scaling import Scaled
from certify.kernel.singular_values import SingularValues
from certify.kernel.spectrum import Mode, singular_values_of

arb = flint.arb

ORDER_POWER: dict[str, tuple[Fraction | None, Fraction]] = {  # order None is infinity
    "stable": (None, Fraction(2)),
    "nuclear": (None, Fraction(1)),
    "nuclear-frobenius": (Fraction(2), Fraction(1)),
    "participation": (Fraction(2), Fraction(2)),
    "entropy": (Fraction(1), Fraction(1)),
    "gram-entropy": (Fraction(1), Fraction(2)),
}
KINDS = tuple(ORDER_POWER)
MAX_POWER = 64


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Enclosures of all singular values of one matrix in one scale, and of its Frobenius norm.

    lower, upper: float64 (q,), descending; ``frobenius`` is in the same scale; ``rank_bound`` >= rank.
    """

    lower: Array
    upper: Array
    frobenius: Enclosure
    spectral: Enclosure
    rank_bound: int
    assumptions: frozenset[str]

    @classmethod
    def of(cls, values: SingularValues, frobenius: Enclosure | None = None) -> Spectrum:
        """From certified singular values; ``frobenius`` (true scale) is intersected when given."""
        lower, upper = values.scaled_lower, values.scaled_upper
        if lower.ndim != 1:
            raise InputError(f"one matrix at a time: index the batch of shape {lower.shape[:-1]} first")
        if lower.size == 0 or not upper[0] > 0:
            raise UndefinedRank("the zero matrix (or an empty one) has no effective rank")
        if not lower[0] > 0:
            raise NotCertified("sigma_1 is not certified to be positive, so no effective rank is certified")
        assumptions = values.assumptions
        norm = sum_of(*squares(lower, upper), assumptions).sqrt()
        if values.scaled_frobenius is not None:
            norm = norm.intersection(values.scaled_frobenius)
        if frobenius is not None:
            unit = arb(2) ** -int(values.exponent)
            low, high = frobenius.endpoints
            norm = norm.intersection(Enclosure(low * unit, high * unit, frobenius.assumptions))
        spectral = Enclosure(exact_ball(lower[0]), exact_ball(upper[0]), assumptions)
        bound = lower.size if values.rank_bound is None else min(values.rank_bound, lower.size)
        return cls(lower, upper, norm, spectral, bound, assumptions)

    def clipped(self, value: Enclosure) -> Enclosure:
        """``value`` intersected with 1 <= N <= rank bound."""
        return value.intersection(Enclosure.between(1, max(self.rank_bound, 1)))

    def powers(self, power: Fraction) -> tuple[Array, Array]:
        """Doubles below lower^power and above upper^power."""
        if power == 1:
            return self.lower, self.upper
        if power == 2:
            return squares(self.lower, self.upper)
        if power == 4:
            return squares(*squares(self.lower, self.upper))
        low = [float_below(_power(exact_ball(x), power)) for x in self.lower]
        high = [float_above(_power(exact_ball(x), power)) for x in self.upper]
        return np.maximum(np.array(low), 0.0), np.array(high)

    def power_sum(self, power: Fraction) -> Enclosure:
        """sum sigma_i^power."""
        if power == 2:
            return self.frobenius**2
        return sum_of(*self.powers(power), self.assumptions)


def _power(x: arb, power: Fraction) -> arb:
    if not x > 0:
        return arb(0)
    return (x.log() * power.numerator / power.denominator).exp()


def squares(lower: Array, upper: Array) -> tuple[Array, Array]:
    """Doubles below lower^2 and above upper^2; squares under 2^-900 become 0 and 2^-900 (no underflow)."""
    low = down(lower * lower)
    return np.where(low < 2.0**-900, 0.0, low), np.maximum(up(upper * upper), 2.0**-900)


def renyi_rank(spectrum: Spectrum, order: Fraction | None, power: Fraction) -> Enclosure:
    """N(order, power) of a spectrum; order None means infinity.

    order 1: exp of the entropy. order inf: sum sigma^power / sigma_1^power. Otherwise
    (S_power^order / S_(order power))^(1/(order - 1)), from separate enclosures of the two sums.
    """
    if order is None:
        return spectrum.clipped(spectrum.power_sum(power) / spectrum.spectral**power)
    if order == 1:
        low, high = entropy(*spectrum.powers(power))
        return spectrum.clipped(Enclosure(low, high, spectrum.assumptions).exp())
    ratio = spectrum.power_sum(power) ** order / spectrum.power_sum(order * power)
    return spectrum.clipped(ratio ** (1 / (order - 1)))


def _order_power(
    kind: str | None, order: Exact | None, power: Exact | None
) -> tuple[Fraction | None, Fraction]:
    if order is None and power is None:
        if kind not in ORDER_POWER:
            raise InputError(f"unknown kind {kind!r} of effective rank; choose one of {', '.join(KINDS)}")
        return ORDER_POWER[kind]
    if order is None or power is None:
        raise InputError("give both order= and power= (or a kind)")
    alpha = None if order in ("inf", float("inf")) else exact_fraction(order)
    beta = exact_fraction(power)
    if not (beta > 0 and beta <= MAX_POWER and (alpha is None or 0 < alpha <= MAX_POWER)):
        raise InputError(f"order={order} and power={power} must be positive and at most {MAX_POWER}")
    return alpha, beta


def _require_nonzero(A: Scaled) -> Enclosure:
    """||A||_F in A's scale, certified to be positive."""
    if A.is_zero or A.X.size == 0:
        raise UndefinedRank("the zero matrix (or an empty one) has no effective rank")
    frobenius = frobenius_of(A)
    if not frobenius.lower > 0:
        raise NotCertified("the matrix is not certified to be nonzero within its radius: no effective rank")
    return frobenius


def _clip(value: Enclosure, A: Scaled) -> Enclosure:
    return value.intersection(Enclosure.between(1, min(A.X.shape)))


def stable_ranks_of(matrices: list[Scaled]) -> list[Enclosure]:
    """||A||_F^2 / ||A||_2^2 of matrices of one shape; nonnegative ones (attention heads) all at once."""
    frobenius = [_require_nonzero(A) for A in matrices]
    spectral = spectral_of_each(matrices)
    parts = zip(matrices, frobenius, spectral, strict=True)
    return [_clip((total / largest) ** 2, A) for A, total, largest in parts]


def effective_ranks_of(
    matrices: list[Scaled], order: Fraction | None, power: Fraction, mode: str | Mode
) -> list[Enclosure]:
    """N(order, power) of scaled matrices of one shape. (inf, 2) and (2, 2) need no spectrum."""
    if (order, power) == ORDER_POWER["stable"]:
        return stable_ranks_of(matrices)
    results = []
    for A in matrices:
        frobenius = _require_nonzero(A)
        if (order, power) == ORDER_POWER["participation"]:
            results.append(_clip((frobenius**2 / schatten4_of(A)) ** 2, A))
        else:
            results.append(renyi_rank(Spectrum.of(singular_values_of(A, mode)), order, power))
    return results


def effective_rank(
    matrix: Any,
    kind: str | None = "stable",
    *,
    order: Exact | None = None,
    power: Exact | None = None,
    mode: str | Mode = "default",
    radius: Any = None,
    device: str = "cpu",
) -> Any:
    """An effective rank of a matrix (m, n) as an :class:`Enclosure`; dimensionless, between 1 and min(m, n).

    Args:
        kind: "stable", "nuclear", "nuclear-frobenius", "participation", "entropy", "gram-entropy".
        order, power: a member N(order, power) of the Renyi family instead of a kind; positive exact numbers
            (order may be infinity).
        mode: how the spectrum is certified where one is needed ("stable" and "participation" need none).
        matrix, radius, device: as in :func:`certify.singular_values`; a batch gives an EnclosureArray.

    Raises:
        UndefinedRank: the zero matrix. NotCertified: not certified to be nonzero. InputError: bad arguments.

    Source: docs/explanation/effective-ranks.md; Renyi 1961; "entropy": Roy and Vetterli 2007.
    """
    alpha, beta = _order_power(kind, order, power)

    def compute(items: list[Scaled]) -> list[Enclosure]:
        return effective_ranks_of(items, alpha, beta, mode)

    return each_matrix(matrix, radius, device, compute)


def effective_ranks(
    singular_values: SingularValues, frobenius: Enclosure | None = None
) -> dict[str, Enclosure]:
    """All named effective ranks of one matrix from its certified singular values.

    ``frobenius``: an enclosure of ||A||_F (true scale) from elsewhere, intersected with what the spectrum
    gives; :func:`certify.singular_values` brings its own. Raises
    :class:`~certify.errors.UndefinedRank` for the zero matrix.
    """
    spectrum = Spectrum.of(singular_values, frobenius)
    return {kind: renyi_rank(spectrum, *member) for kind, member in ORDER_POWER.items()}
