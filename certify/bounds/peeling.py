"""What Theorems A1-peeled and C1-vector-peeled share: the grid, the evaluation, the m that is needed.

Every constant comes from the symbolic expression of the theorem (``proofs.theorems``), as prefix
text; nothing here knows a formula.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from certify.decimals import enclosed
from certify.errors import NotCertified
from certify.kernel.bound import evaluate
from certify.kernel.enclosure import Enclosure, certainly_less

Pair = dict[str, str]

THRESHOLDS = ("1", "1/2", "1/10")
CURVE = tuple(10**k for k in range(2, 17))


@dataclass(frozen=True)
class Settings:
    """What the user fixes before the sample: exact numbers as decimal or rational texts."""

    delta: str
    loss_lipschitz: str
    outputs: int
    readout_norm: str
    samples: int | None
    grid_ratio: str = "11/10"
    grid_start: str = "1"

    def exact(self) -> dict[str, Enclosure]:
        """The inputs of the peeled theorems that do not depend on the sample."""
        return {
            "delta": Enclosure.exact(self.delta),
            "L": Enclosure.exact(self.loss_lipschitz),
            "K": Enclosure.exact(self.outputs),
            "rho": Enclosure.exact(Fraction(self.grid_ratio)),
            "c0": Enclosure.exact(Fraction(self.grid_start)),
        }


def enclosure_of(pair: Mapping[str, str]) -> Enclosure:
    """A recorded pair of decimals as an enclosure, read exactly."""
    return Enclosure.between(pair["lower"], pair["upper"])


def grid_index(norm_upper: Fraction, start: Fraction, ratio: Fraction) -> int:
    """The least j >= 0 with ``norm_upper <= start * ratio**j``, by exact arithmetic."""
    if not ratio > 1 or not start > 0 or norm_upper < 0:
        raise NotCertified("the grid needs a start > 0, a ratio > 1 and a norm >= 0")
    j = 0
    if norm_upper > start:
        guess = (math.log(norm_upper) - math.log(start)) / math.log(ratio)
        j = max(0, math.floor(guess) - 1)
    while start * ratio**j < norm_upper:
        j += 1
    return j


@dataclass(frozen=True)
class PeeledBound:
    """A peeled bound with everything filled in but the sample size.

    ``measured``: name of the sum over the sample in the formula. ``total``: its enclosure on the
    given inputs. ``largest``: the largest term of that sum, which bounds the terms of a future sample
    of inputs that are no larger.
    """

    prefix: str
    fixed: Mapping[str, Enclosure]
    measured: str
    total: Enclosure
    largest: Enclosure

    def on_the_inputs(self, count: int) -> Enclosure:
        """The bound with the given ``count`` inputs as the sample."""
        return self._value(count, self.total)

    def at(self, m: int) -> Enclosure:
        """The bound for a future sample of size ``m`` whose terms are at most ``largest``."""
        return self._value(m, self.largest * m)

    def _value(self, m: int, measured: Enclosure) -> Enclosure:
        return evaluate(self.prefix, {**self.fixed, "m": Enclosure.exact(m), self.measured: measured})

    def least_samples(self, threshold: Fraction) -> int:
        """The least m whose certified upper bound lies below ``threshold``.

        Heuristic: the bound scales like 1/sqrt(m), which gives the first guess; the answer is then
        decided by evaluating at integers.
        """

        def below(m: int) -> bool:
            return certainly_less(self.at(m), threshold)

        guess = 1
        for _ in range(3):
            guess = max(1, math.ceil(guess * (Fraction(self.at(guess).upper) / threshold) ** 2))
        low, high, step = max(0, guess - 2), guess + 2, 2
        while not below(high):
            high, step = high + step, 2 * step
        step = 2
        while low > 0 and below(low):
            low, step = max(0, low - step), 2 * step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if below(middle) else (middle, high)
        return high


def recorded(bound: PeeledBound, settings: Settings, count: int) -> dict[str, Any]:
    """The bound's values for the report: on the inputs, at ``--samples``, as a curve, and the m needed."""
    return {
        "on_these_inputs": _judged(count, bound.on_the_inputs(count)),
        "at_samples": _judged(settings.samples, bound.at(settings.samples)) if settings.samples else None,
        "curve": [{"m": m, **enclosed(bound.at(m))} for m in CURVE],
        "falls_below": [{"level": level, "m": bound.least_samples(Fraction(level))} for level in THRESHOLDS],
    }


def _judged(m: int, value: Enclosure) -> dict[str, Any]:
    return {"m": m, "value": enclosed(value), "vacuous": vacuous(value)}


def vacuous(value: Enclosure) -> bool:
    """Whether the bound fails to promise anything: a gap of losses in [0, 1] never exceeds 1."""
    return not certainly_less(value, 1)
