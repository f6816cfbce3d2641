"""Theorem E: the risk of a head with Gaussian noise on its weights, and of one head drawn from it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from certify.bounds.risk.entries import BY_THE_USER, Bound, Verdict, exact, judged, value_of
from certify.bounds.risk.families import Family
from certify.bounds.risk.heads import EXP_ASSUMPTION, Margins, margin_of, softmax_margins
from certify.bounds.risk.noise import Gaussian, Prior, log_ratio, relative_entropy, seed_of
from certify.bounds.risk.samples import Sample
from certify.kernel.enclosure import Enclosure

GIBBS = "noisy head (Gibbs)"
DRAWN = "one drawn head"
FROM_PART_1 = ", prior from part 1"
ROWS_PER_DRAW = 4000
SQUARES_UNDERFLOW = 1e-150  # more than the root of what is lost where squares underflow
LINEAR_DRAWS = 1 << 18  # at least; each costs one number for each class


def draw_errors(q: Gaussian, family: Family, sample: Sample, passes: int, seed: int) -> int:
    """Errors of ``passes`` fresh, independent heads for each unit: ``passes * len(sample)`` draws from Q.

    An upper bound on the number of errors of the drawn real heads: undecided margins are counted.
    """
    generator = np.random.Generator(np.random.Philox(key=seed))
    if family.kind == "softmax-head":
        return sum(_softmax_pass(q, sample, generator) for _ in range(passes))
    noise = _LinearNoise(q, family, sample)
    return sum(noise.one_pass(sample.labels, generator) for _ in range(passes))


def _softmax_pass(q: Gaussian, sample: Sample, generator: np.random.Generator) -> int:
    """Heads are drawn in blocks of ROWS_PER_DRAW units: first all scores of the block, then all values."""
    d, total = len(q.means[0]), 0
    for start in range(0, len(sample), ROWS_PER_DRAW):
        part = sample.part(slice(start, start + ROWS_PER_DRAW))
        tables = [
            np.hstack([m + s * generator.standard_normal((len(part), d)), np.zeros((len(part), 1))])
            for m, s in zip(q.means, q.deviations, strict=True)
        ]
        margins = Margins(*softmax_margins(part.inputs, part.labels, tables[0], tables[1][:, :, None]))
        total += margins.errors()
    return total


class _LinearNoise:
    """The logits of a linear head with noise: on unit x independent Gaussians, one for each class.

    Their means are those of the mean head, their variances sum_j s_jk^2 x_j^2 + s_bk^2: entries of the
    weight are independent. So a fresh head for a unit needs one normal number for each class.
    """

    def __init__(self, q: Gaussian, family: Family, sample: Sample) -> None:
        mean, deviation = (x[0].reshape(family.shapes[0]) for x in (q.means, q.deviations))
        x = sample.inputs.astype(np.float64)
        slack = 4 * (len(mean) + 16) * 2.0**-53
        self.mean = x @ mean[:-1] + mean[-1]
        self.deviation = np.sqrt(x**2 @ deviation[:-1] ** 2 + deviation[-1] ** 2)
        self.mean_error = (np.abs(x) @ np.abs(mean[:-1]) + np.abs(mean[-1])) * slack + np.finfo(float).tiny
        self.deviation_error = self.deviation * slack + SQUARES_UNDERFLOW

    def one_pass(self, labels: np.ndarray, generator: np.random.Generator) -> int:
        """Errors of one fresh head for each unit: normal numbers unit by unit, one for each class."""
        normal = generator.standard_normal(self.mean.shape)
        shift = self.deviation * normal
        error = self.mean_error + self.deviation_error * np.abs(normal)
        error += 2.0**-50 * (np.abs(self.mean) + np.abs(shift))
        margins = Margins(margin_of(self.mean + shift, labels), 2 * error.max(axis=1))
        return margins.errors()


def linear_gibbs_risk(q: Gaussian, sample: Sample) -> Enclosure:
    """E_Q of the empirical 0-1 risk of a linear head (K = 1), exactly: mean of Phi(-margin / deviation).

    The margin of unit x is Gaussian with mean y (m^T x + m_b) and variance sum s_j^2 x_j^2 + s_b^2.
    """
    import flint

    noise = _LinearNoise(q, Family("linear-head", sample.dimension, 1), sample)
    sign = np.where(sample.labels == 1, 1.0, -1.0)
    total = flint.arb(0)
    for margin, error, spread, spread_error in zip(
        sign * noise.mean[:, 0],
        noise.mean_error[:, 0],
        noise.deviation[:, 0],
        noise.deviation_error[:, 0],
        strict=True,
    ):
        deviation = flint.arb(float(spread), float(spread_error)) * flint.arb(2).sqrt()
        total = total + (flint.arb(float(margin), float(error)) / deviation).erfc() / 2
    value = total / len(sample)
    return Enclosure(value, value)


def gibbs(q: Gaussian, prior: Prior, family: Family, sample: Sample, delta: Fraction, passes: int) -> Bound:
    """0-1 risk of the head with noise.

    One linear output: the empirical part is exact. Otherwise it is estimated from ``passes`` draws for each
    unit (for linear heads at least LINEAR_DRAWS in all), and a fifth of ``delta`` pays for them.
    """
    if family.kind == "linear-head" and family.outputs == 1:
        inputs = {
            **_noise_inputs(q, prior, len(sample), delta),
            "emp_risk_gibbs": linear_gibbs_risk(q, sample),
        }
        name = "E" if prior.learned is None else "E-split"
        return _bound(name, "E", GIBBS, value_of(name, inputs), inputs, prior, sample, delta, {})
    share = delta / 5
    if family.kind == "linear-head":
        passes = max(passes, -(-LINEAR_DRAWS // len(sample)))
    errors = draw_errors(q, family, sample, passes, seed_of(sample, q, "monte-carlo"))
    draws = passes * len(sample)
    inputs = {
        **_noise_inputs(q, prior, len(sample), delta - share),
        "emp_risk_draws": exact(Fraction(errors, draws)),
        "n_draws": exact(draws),
        "delta_draws": exact(share),
    }
    value = _rounded(value_of("E-monte-carlo", inputs), family)
    details = {"errors": errors, "passes": passes}
    return _bound("E-monte-carlo", "E", GIBBS, value, inputs, prior, sample, delta, details)


def single(
    drawn: tuple[np.ndarray, ...],
    q: Gaussian,
    prior: Prior,
    family: Family,
    sample: Sample,
    delta: Fraction,
) -> Bound:
    """0-1 risk of the one head drawn from Q (E-single): a deterministic classifier, no Monte Carlo."""
    errors = family.drawn(drawn).margins(sample).errors()
    inputs = {
        "log_ratio": log_ratio(q, prior, drawn),
        "grid_cost": prior.cost(),
        "emp_risk": exact(Fraction(errors, len(sample))),
        "m": exact(len(sample)),
        "delta": exact(delta),
    }
    value = _rounded(value_of("E-single", inputs), family)
    return _bound("E-single", "E-single", DRAWN, value, inputs, prior, sample, delta, {"errors": errors})


def _rounded(value: Enclosure, family: Family) -> Enclosure:
    """The value with what its error counts assume about float arithmetic."""
    return value.with_assumptions(EXP_ASSUMPTION) if family.kind == "softmax-head" else value


def _noise_inputs(q: Gaussian, prior: Prior, m: int, delta: Fraction) -> dict[str, Enclosure]:
    return {
        "kl_divergence": relative_entropy(q, prior),
        "grid_cost": prior.cost(),
        "m": exact(m),
        "delta": exact(delta),
    }


_NOT_NEEDED: dict[str, Verdict] = {
    "fixed-before-sample": ("met", "not needed: the prior is fixed before the second part, see E-split.")
}


def _bound(
    theorem: str,
    title: str,
    subject: str,
    value: Enclosure,
    inputs: Mapping[str, Enclosure],
    prior: Prior,
    sample: Sample,
    delta: Fraction,
    details: Mapping[str, object],
) -> Bound:
    nats = inputs["log_ratio"] if theorem == "E-single" else inputs["kl_divergence"]
    hypotheses = judged(theorem, {} if prior.learned is None else _NOT_NEEDED)
    if prior.learned is not None:
        subject += FROM_PART_1
        title = "E-split" if theorem == "E-split" else f"E-split ({title})"
        hypotheses += () if theorem == "E-split" else (_SECOND_PART,)
    return Bound(
        theorem,
        subject,
        "0-1",
        value,
        len(sample),
        delta,
        f"{round((nats + inputs['grid_cost']).upper, 1) + 0.0:.1f} nats",
        inputs,
        hypotheses,
        note=title,
        details=details,
    )


_SECOND_PART = {
    "id": "fixed-before-second-part",
    "text": "The prior and the share are fixed before the second part of the sample.",
    "status": BY_THE_USER["fixed-before-second-part"][0],
    "why": BY_THE_USER["fixed-before-second-part"][1],
}
