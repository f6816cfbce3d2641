"""Theorem E: the risk of a head with Gaussian noise on its weights, and of one head drawn from it.

Q has independent Gaussian entries with free means and deviations; the prior is centred with one variance
for each group of entries from a countable grid (paid), or any Gaussian learned on an earlier part of the
sample (E-split). The relative entropy is evaluated in balls from the float parameters.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from certify.bounds.risk.entries import Bound, Verdict, exact, judged, value_of
from certify.bounds.risk.heads import EXP_ASSUMPTION, LinearHead, SoftmaxHead, softmax_margins
from certify.bounds.risk.samples import Sample
from certify.codec.matrices import step
from certify.errors import MatrixError, NotCertified
from certify.kernel.enclosure import Enclosure

GIBBS = "noisy head (Gibbs)"
DRAWN = "one drawn head"
ROWS_PER_DRAW = 4000


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
            index = 2 * e if e >= 0 else -2 * e - 1
            total = total + exact((index + 1) * (index + 2)).log()
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


def softmax_draw_errors(q: Gaussian, sample: Sample, passes: int, seed: int) -> int:
    """Errors of ``passes`` fresh, independent heads for each unit: ``passes * len(sample)`` draws from Q.

    An upper bound on the number of errors of the drawn real heads: undecided margins are counted.
    Heads are drawn in blocks of ROWS_PER_DRAW units: first all scores of the block, then all values.
    """
    generator = np.random.Generator(np.random.Philox(key=seed))
    d, total = len(q.means[0]), 0
    for _ in range(passes):
        for start in range(0, len(sample), ROWS_PER_DRAW):
            part = sample.part(slice(start, start + ROWS_PER_DRAW))
            tables = [
                np.hstack([m + s * generator.standard_normal((len(part), d)), np.zeros((len(part), 1))])
                for m, s in zip(q.means, q.deviations, strict=True)
            ]
            margin, radius = softmax_margins(part.inputs, part.labels, tables[0], tables[1][:, :, None])
            total += int(np.count_nonzero(~(margin - radius > 0)))
    return total


def linear_gibbs_risk(q: Gaussian, sample: Sample) -> Enclosure:
    """E_Q of the empirical 0-1 risk of a linear head (K = 1), exactly: mean of Phi(-margin / deviation).

    The margin of unit x is Gaussian with mean y (m^T x + m_b) and variance sum s_j^2 x_j^2 + s_b^2.
    """
    import flint

    x = sample.inputs.astype(np.float64)
    sign = np.where(sample.labels == 1, 1.0, -1.0)
    mean, size = (
        sign * (x @ q.means[0][:-1] + q.means[0][-1]),
        np.abs(x) @ np.abs(q.means[0][:-1]) + abs(q.means[0][-1]),
    )
    spread = np.sqrt(x**2 @ q.deviations[0][:-1] ** 2 + q.deviations[0][-1] ** 2)
    slack = (len(q.means[0]) + 16) * 2.0**-52
    low = flint.arb(0)
    for m, a, s in zip(mean, size, spread, strict=True):
        ball = flint.arb(float(m), float(a) * slack) / (
            flint.arb(float(s), float(s) * slack) * flint.arb(2).sqrt()
        )
        low = low + ball.erfc() / 2
    value = low / len(sample)
    return Enclosure(value, value)


def _split(prior: Prior) -> dict[str, Verdict]:
    if prior.learned is None:
        return {}
    return {
        "fixed-before-sample": ("met", "not needed: the prior is fixed before the second part, see E-split.")
    }


def _noise_inputs(q: Gaussian, prior: Prior, m: int, delta: Fraction) -> dict[str, Enclosure]:
    return {
        "kl_divergence": relative_entropy(q, prior),
        "grid_cost": prior.cost(),
        "m": exact(m),
        "delta": exact(delta),
    }


def _named(prior: Prior, name: str) -> str:
    return f"E-split ({name})" if prior.learned is not None else name


def gibbs_softmax(q: Gaussian, prior: Prior, sample: Sample, delta: Fraction, passes: int) -> Bound:
    """0-1 risk of the softmax head with noise; a fifth of ``delta`` pays for the Monte-Carlo draws."""
    share = delta / 5
    errors = softmax_draw_errors(q, sample, passes, seed_of(sample, q, "monte-carlo"))
    draws = passes * len(sample)
    inputs = {
        **_noise_inputs(q, prior, len(sample), delta - share),
        "emp_risk_draws": exact(Fraction(errors, draws)),
        "n_draws": exact(draws),
        "delta_draws": exact(share),
    }
    value = value_of("E-monte-carlo", inputs).with_assumptions(EXP_ASSUMPTION)
    return _bound(
        "E-monte-carlo",
        _named(prior, "E"),
        GIBBS,
        value,
        inputs,
        prior,
        sample,
        delta,
        {"errors": errors, "passes": passes},
    )


def gibbs_linear(q: Gaussian, prior: Prior, sample: Sample, delta: Fraction) -> Bound:
    """0-1 risk of the linear head with noise; its empirical part is exact, no draws are needed."""
    inputs = {**_noise_inputs(q, prior, len(sample), delta), "emp_risk_gibbs": linear_gibbs_risk(q, sample)}
    name = "E-split" if prior.learned is not None else "E"
    return _bound(name, name, GIBBS, value_of(name, inputs), inputs, prior, sample, delta, {})


def single(
    head: SoftmaxHead | LinearHead,
    drawn: tuple[np.ndarray, ...],
    q: Gaussian,
    prior: Prior,
    sample: Sample,
    delta: Fraction,
) -> Bound:
    """0-1 risk of the one head drawn from Q (E-single): a deterministic classifier, no Monte Carlo."""
    errors = head.margins(sample).errors()
    inputs = {
        "log_ratio": log_ratio(q, prior, drawn),
        "grid_cost": prior.cost(),
        "emp_risk": exact(Fraction(errors, len(sample))),
        "m": exact(len(sample)),
        "delta": exact(delta),
    }
    value = value_of("E-single", inputs)
    if isinstance(head, SoftmaxHead):
        value = value.with_assumptions(EXP_ASSUMPTION)
    return _bound(
        "E-single", _named(prior, "E-single"), DRAWN, value, inputs, prior, sample, delta, {"errors": errors}
    )


def _bound(
    theorem: str,
    title: str,
    subject: str,
    value: Enclosure,
    inputs: dict[str, Enclosure],
    prior: Prior,
    sample: Sample,
    delta: Fraction,
    details: dict[str, object],
) -> Bound:
    nats = inputs.get("kl_divergence", inputs.get("log_ratio"))
    if nats is None:
        raise NotCertified("a PAC-Bayes bound needs its complexity")
    if prior.learned is not None:
        subject = f"{subject}, prior from part 1"
    return Bound(
        theorem,
        subject,
        "0-1",
        value,
        len(sample),
        delta,
        f"{round((nats + inputs['grid_cost']).upper, 1) + 0.0:.1f} nats",
        inputs,
        (*judged(theorem, _split(prior)), *(() if theorem == "E-split" else _second_part(prior))),
        note=title,
        details=details,
    )


def _second_part(prior: Prior) -> tuple[dict[str, str], ...]:
    if prior.learned is None:
        return ()
    from certify.bounds.risk.entries import BY_THE_USER

    status, why = BY_THE_USER["fixed-before-second-part"]
    text = "The prior and the share are fixed before the second part of the sample."
    return ({"id": "fixed-before-second-part", "text": text, "status": status, "why": why},)
