"""Theorem E: Gaussian noise on the weights; the stable rank of the weight updates; any depth."""

from __future__ import annotations

import sympy

from proofs.export import kl_inverse
from proofs.records import IID, UNIT_LOSS, Constant, Hypothesis, Theorem
from proofs.symbols import (
    delta,
    delta_draws,
    emp_risk,
    emp_risk_draws,
    emp_risk_gibbs,
    grid_cost,
    kl_divergence,
    layers,
    log_ratio,
    m,
    n_draws,
    noise_relative,
    update_rank,
)
from proofs.theorems.shapes import PRIOR_MOMENT

_STANDING = Hypothesis(
    "fixed-before-sample",
    "The anchors W_a^0, the grid of prior variances with its weights, the "
    "architecture and the loss "
    "are fixed before the sample. Everything that was trained is noisy or was fixed before the sample.",
    "standing",
)
_MOMENT = Constant("prior moment", PRIOR_MOMENT, "Lemma 16", "Maurer's moment, at most 2 + sqrt(pi m/2)")
_SOURCES = ("A. Maurer, A note on the PAC Bayesian theorem, 2004, arXiv:cs/0411099",)
_GAUSSIAN = Hypothesis(
    "gaussian-noise",
    "Q and the prior are Gaussian with independent entries; "
    "kl_divergence is their "
    "relative entropy: per matrix (D/2)(s^2/l^2 - 1 - log(s^2/l^2)) + ||W - "
    "W0||_F^2/(2 l^2), s the "
    "noise level, l the prior's grid level.",
    "model",
)
_DIVERGENCE = kl_divergence + grid_cost + sympy.log(PRIOR_MOMENT / delta)

E = Theorem(
    name="E",
    title="Gibbs bound under Gaussian noise",
    statement="With probability at least 1 - delta, for all weights and noise levels at once, the risk "
    "averaged over the "
    "noise is at most this bound.",
    quantity="gibbs risk",
    bound=kl_inverse(emp_risk_gibbs, _DIVERGENCE / m),
    hypotheses=(_STANDING, IID, UNIT_LOSS, _GAUSSIAN),
    constants=(_MOMENT,),
    derivation="theorem-e",
    sources=_SOURCES,
    parts=(
        ("relative entropy", kl_divergence / m),
        ("grid", grid_cost / m),
        ("confidence", sympy.log(PRIOR_MOMENT / delta) / m),
    ),
)

_BY_RANK = layers * update_rank / (2 * noise_relative**2) + grid_cost + sympy.log(PRIOR_MOMENT / delta)

E_RANK = Theorem(
    name="E-rank",
    title="Gibbs bound in the stable rank of the weight updates",
    statement="As E with noise of relative level noise_relative on every update and posterior and prior "
    "of equal variance: "
    "R is the largest stable rank of an update W_a - W_a^0. This is the repair of 'the largest "
    "effective rank over "
    "the layers, rate sqrt(R/m)'.",
    quantity="gibbs risk",
    bound=emp_risk_gibbs + sympy.sqrt(_BY_RANK / (2 * m)),
    hypotheses=(_STANDING, IID, UNIT_LOSS, _GAUSSIAN),
    constants=(
        _MOMENT,
        Constant(
            "relative entropy of the noise",
            sympy.Rational(1, 2),
            "Lemma 17",
            "||D||_F^2/(2 sigma^2) = stable rank/(2 tau^2)",
        ),
    ),
    derivation="theorem-e-rank",
    sources=_SOURCES,
    parts=(("empirical risk", emp_risk_gibbs), ("rank", sympy.sqrt(_BY_RANK / (2 * m)))),
)

E_MONTE_CARLO = Theorem(
    name="E-monte-carlo",
    title="Gibbs bound with a Monte-Carlo estimate of the noisy empirical risk",
    statement="As E with the noisy empirical risk estimated from n_draws independent draws. The total "
    "failure probability is "
    "delta + delta_draws; delta_draws is shared among all noise levels tried.",
    quantity="gibbs risk",
    bound=kl_inverse(kl_inverse(emp_risk_draws, sympy.log(1 / delta_draws) / n_draws), _DIVERGENCE / m),
    failure=delta + delta_draws,
    hypotheses=(
        _STANDING,
        IID,
        UNIT_LOSS,
        _GAUSSIAN,
        Hypothesis("independent-draws", "The n_draws draws are independent, made after Q was final.", "data"),
    ),
    constants=(_MOMENT,),
    derivation="theorem-e-monte-carlo",
    sources=_SOURCES,
)

E_SINGLE = Theorem(
    name="E-single",
    title="One model drawn from the noise",
    statement="With probability at least 1 - delta over the sample and one draw h from Q, the risk of "
    "that one deterministic "
    "model h is at most this bound. Several draws tried are paid for: delta / number of draws.",
    quantity="risk",
    bound=kl_inverse(emp_risk, sympy.Max(0, log_ratio + grid_cost + sympy.log(PRIOR_MOMENT / delta)) / m),
    hypotheses=(
        _STANDING,
        IID,
        UNIT_LOSS,
        _GAUSSIAN,
        Hypothesis("single-draw", "h is drawn once from Q.", "data"),
    ),
    constants=(_MOMENT,),
    derivation="theorem-e-single",
    sources=_SOURCES,
)

E_SPLIT = Theorem(
    name="E-split",
    title="Gibbs bound with a prior learned on the first part of the data",
    statement="As E with anchors and prior learned from a first part of the sample only; m counts, and "
    "the empirical risk "
    "averages, the units of the second part only.",
    quantity="gibbs risk",
    bound=kl_inverse(emp_risk_gibbs, _DIVERGENCE / m),
    hypotheses=(
        Hypothesis(
            "fixed-before-second-part",
            "The anchors, the prior and the fraction are fixed "
            "before the second part "
            "of the sample; the posterior may use all of it.",
            "standing",
        ),
        IID,
        UNIT_LOSS,
        _GAUSSIAN,
    ),
    constants=(_MOMENT,),
    derivation="theorem-e-split",
    sources=_SOURCES,
)

THEOREMS = (E, E_RANK, E_MONTE_CARLO, E_SINGLE, E_SPLIT)
