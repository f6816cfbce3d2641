"""Gaussian noise on the weights of a head: posterior, prior, and what lies between them in nats.

Q has independent Gaussian entries with free means and deviations; the prior is centred with one variance
for each group of entries from a countable grid (paid), or any Gaussian learned on an earlier part of the
sample. A group holds the entries of one matrix of the head, row by row. Relative entropies are evaluated
in balls from the float parameters.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from certify.bounds.risk.entries import exact
from certify.bounds.risk.samples import Sample
from certify.codec.matrices import step, zigzag
from certify.errors import MatrixError
from certify.kernel.enclosure import Enclosure


@dataclass(frozen=True)
class Gaussian:
    """Independent Gaussian entries in groups: for each a mean and a deviation > 0, float64 vectors."""

    means: tuple[np.ndarray, ...]
    deviations: tuple[np.ndarray, ...]

    def __post_init__(self) -> None:
        for mean, deviation in zip(self.means, self.deviations, strict=True):
            fine = np.isfinite(mean).all() and np.isfinite(deviation).all() and (deviation > 0).all()
            if not fine or mean.shape != deviation.shape or mean.ndim != 1:
                raise MatrixError("a Gaussian needs finite means and finite deviations > 0 of the same shape")

    def bytes(self) -> bytes:
        """The parameters as little-endian float64."""
        return b"".join(
            x.astype("<f8").tobytes() for pair in zip(self.means, self.deviations, strict=True) for x in pair
        )

    def draw(self, seed: int) -> tuple[np.ndarray, ...]:
        """One draw; the float result is the drawn head, exactly."""
        generator = np.random.Generator(np.random.Philox(key=seed))
        return tuple(
            m + s * generator.standard_normal(len(m))
            for m, s in zip(self.means, self.deviations, strict=True)
        )


@dataclass(frozen=True)
class Prior:
    """Either ``exponents``: one grid index for each group, variance ``step(e)``, mean 0; or ``learned``."""

    exponents: tuple[int, ...] = ()
    learned: Gaussian | None = None

    def cost(self) -> Enclosure:
        """sum of log((i+1)(i+2)), i the zig-zag index of the exponent: the inverse weight of the prior."""
        total = exact(0)
        for e in self.exponents:
            total = total + exact((zigzag(e) + 1) * (zigzag(e) + 2)).log()
        return total

    def groups(self, q: Gaussian) -> list[tuple[np.ndarray, list[Fraction]]]:
        """Means and exact variances of each group."""
        if self.learned is not None:
            pairs = zip(self.learned.means, self.learned.deviations, strict=True)
            return [(mean, [Fraction(float(s)) ** 2 for s in deviation]) for mean, deviation in pairs]
        return [
            (np.zeros_like(mean), [Fraction(step(e))] * len(mean))
            for mean, e in zip(q.means, self.exponents, strict=True)
        ]


def best_exponents(q: Gaussian) -> tuple[int, ...]:
    """For each group the grid variance nearest to the mean square, which minimises the relative entropy.

    Heuristic: any exponent is sound; it is paid.
    """
    found = []
    for mean, deviation in zip(q.means, q.deviations, strict=True):
        best = float(np.mean(mean**2 + deviation**2))
        guess = round(4 * math.log2(best))
        found.append(min(range(guess - 3, guess + 4), key=lambda e: abs(math.log(step(e) / best))))
    return tuple(found)


def relative_entropy(q: Gaussian, prior: Prior) -> Enclosure:
    """KL(Q || P) = 1/2 sum (s^2/l^2 - 1 - log(s^2/l^2) + (m - m0)^2/l^2), in balls (Lemma 17)."""
    total = exact(0)
    for mean, deviation, (centre, variances) in zip(q.means, q.deviations, prior.groups(q), strict=True):
        rational, product = Fraction(0), exact(1)
        for m, s, m0, variance in zip(mean, deviation, centre, variances, strict=True):
            ratio = Fraction(float(s)) ** 2 / variance
            shift = Fraction(float(m)) - Fraction(float(m0))
            rational += _short(ratio - 1 + shift**2 / variance)
            product = product * exact(ratio)
        total = total + (_sum_of(rational, len(mean)) - product.log()) / 2
    return total


def _short(value: Fraction) -> Fraction:
    """A rational >= value with a short denominator: sums of long ones grow without need."""
    return Fraction(math.ceil(value * (1 << 120)), 1 << 120)


def _sum_of(rational: Fraction, terms: int) -> Enclosure:
    """What ``terms`` values that were rounded up by at most 2^-120 each add up to."""
    return Enclosure.between(rational - Fraction(terms, 1 << 120), rational)


def log_ratio(q: Gaussian, prior: Prior, drawn: tuple[np.ndarray, ...]) -> Enclosure:
    """log (dQ/dP)(h) of the drawn entries, an enclosure whose upper end is what the bound uses."""
    total = exact(0)
    for h, mean, deviation, (centre, variances) in zip(
        drawn, q.means, q.deviations, prior.groups(q), strict=True
    ):
        rational, product = Fraction(0), exact(1)
        for x, m, s, m0, variance in zip(h, mean, deviation, centre, variances, strict=True):
            own = Fraction(float(s)) ** 2
            point = Fraction(float(x))
            far = (point - Fraction(float(m0))) ** 2 / variance - (point - Fraction(float(m))) ** 2 / own
            rational += _short(far)
            product = product * exact(own / variance)
        total = total + (_sum_of(rational, len(mean)) - product.log()) / 2
    return total


def seed_of(sample: Sample, q: Gaussian, purpose: str) -> int:
    """The 128-bit key of the generator: a digest, so that nobody chooses it."""
    state = hashlib.sha256(f"{purpose} {sample.digest()} ".encode() + q.bytes()).digest()
    return int.from_bytes(state[:16], "little")
