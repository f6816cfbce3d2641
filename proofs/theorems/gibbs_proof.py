"""Derivations of Theorem E: Gaussian noise on the weights."""

from __future__ import annotations

from proofs.build import Derivation
from proofs.lemmas.l16_pac_bayes import HYPOTHESES as PAC_HYPOTHESES
from proofs.lemmas.l16_pac_bayes import VARIABLES as PAC_VARIABLES
from proofs.theorems.counting_steps import MOMENT, PRIOR_MOMENT, pac_bayes

GIBBS = {
    **{k: v for k, v in PAC_VARIABLES.items() if k not in ("moment", "KL", "emp", "risk", "S")},
    "S": "sample dummy: a sample",
    "r": "positive after: r(k) = 1/sqrt(k (m-k))",
    "n": "index grid: number of the prior in the grid, chosen after training",
    "prior": "positive before: prior(n, S), the n-th prior's average of exp(m kl(empirical risk, risk))",
    "w": "positive before: w(n), the weight of the n-th prior",
    "kl_divergence": "nonnegative after: relative entropy of Q and the prior",
    "emp_risk_gibbs": "fraction after: empirical risk averaged over Q",
    "risk_gibbs": "fraction after: risk averaged over Q",
    "grid_cost": "real after: log(1/w(n))",
}
_HYPOTHESES = {
    "bernoulli": ("prior_moment(lambda S: prior(n, S), m, xi)", PAC_HYPOTHESES["bernoulli"][1]),
    **PRIOR_MOMENT,
    "posterior": (
        "posterior_average(emp_risk_gibbs, risk_gibbs, kl_divergence, lambda S: prior(n, S), Z)",
        "averages over Q, with the n-th prior",
    ),
    "weights": ("sum(n, w(n)) <= 1", "the weights of the prior grid"),
    "cost": ("grid_cost == log(1/w(n))", "what the grid costs"),
}
_BOUND = f"(kl_divergence + grid_cost + log({MOMENT}/delta))/m"
SOURCES = ("A. Maurer, A note on the PAC Bayesian theorem, 2004, arXiv:cs/0411099",)


def _state_e() -> Derivation:
    """What is to be proved."""
    return Derivation(
        "theorem-e",
        "Theorem E: Gibbs bound under Gaussian noise",
        "For all weights and noise levels at once the noisy risk is bounded through the relative "
        "entropy of the noise and a prior.",
        "The PAC-Bayes bound for every prior of a countable grid, with its share of delta.",
        GIBBS,
        f"risk_gibbs <= kl_inverse(emp_risk_gibbs, {_BOUND})",
        "delta",
        _HYPOTHESES,
        SOURCES,
        "finite families",
    )


def derive_e() -> Derivation:
    """Theorem E, for this posterior."""
    d = _state_e()
    each = pac_bayes(
        d,
        moment="lambda S: prior(n, S)",
        share="delta*w(n)",
        divergence="kl_divergence",
        emp="emp_risk_gibbs",
        risk="risk_gibbs",
    )
    weights, cost = d.assume("weights"), d.assume("cost")
    union = d.weighted_grid(
        "n",
        "delta",
        "w(n)",
        f"risk_gibbs <= kl_inverse(emp_risk_gibbs, (kl_divergence + log({MOMENT}/(delta*w(n))))/m)",
        "The shares add up to at most delta.",
        each,
        weights,
    )
    price = d.combine(
        f"(kl_divergence + log({MOMENT}/(delta*w(n))))/m == {_BOUND}",
        "The logarithm of the share.",
        cost,
        times=["-1/m"],
    )
    renamed = d.monotone(
        f"kl_inverse(emp_risk_gibbs, (kl_divergence + log({MOMENT}/(delta*w(n))))/m) == "
        f"kl_inverse(emp_risk_gibbs, {_BOUND})",
        "Write the price as a term of its own.",
        price,
    )
    d.combine(
        d.conclude, "Put the lines together: what bounds one quantity is bounded by the next.", union, renamed
    )
    return d


_AFTER = {**GIBBS, "n": "index after: number of the prior in the grid"}
_USE = {
    k: k
    for k in (
        "m",
        "delta",
        "Z",
        "S",
        "k",
        "xi",
        "b",
        "r",
        "n",
        "prior",
        "w",
        "kl_divergence",
        "emp_risk_gibbs",
        "risk_gibbs",
        "grid_cost",
    )
}


def _use_e(d: Derivation) -> str:
    premises = [d.assume(h) for h in _HYPOTHESES]
    return d.lemma(
        "theorem-e",
        _USE,
        f"risk_gibbs <= kl_inverse(emp_risk_gibbs, {_BOUND})",
        "Theorem E, for this posterior.",
        *premises,
    )


_BY_RANK = f"(layers*update_rank/(2*noise_relative**2) + grid_cost + log({MOMENT}/delta))"


def _state_e_rank() -> Derivation:
    """What is to be proved."""
    return Derivation(
        "theorem-e-rank",
        "Theorem E in the stable rank of the weight updates",
        "The relative entropy of the noise is at most (number of layers) R/(2 tau^2), R the largest "
        "stable rank of an update.",
        "Lemma 17: ||D||_F^2/(2 sigma^2) = stable rank/(2 tau^2); Pinsker.",
        {
            **_AFTER,
            "layers": "count after: number of noisy matrices",
            "update_rank": "nonnegative after: largest stable rank of an update",
            "noise_relative": "positive after: smallest relative noise level",
            "q": "nonnegative after: q(a), relative entropy of matrix a",
            "srank": "nonnegative after: srank(a), stable rank of update a",
            "tau": "positive after: tau(a), relative noise level",
            "norm2": "positive after: norm2(a), spectral norm of the update",
            "dist": "nonnegative after: dist(a), Frobenius norm of the update",
            "D": "count after: D(a), number of entries",
            "a": "point dummy: a matrix",
        },
        f"risk_gibbs <= emp_risk_gibbs + sqrt({_BY_RANK}/(2*m))",
        "delta",
        {
            **_HYPOTHESES,
            "rank": ("srank(a) <= update_rank", "largest stable rank"),
            "noise": ("noise_relative <= tau(a)", "smallest level"),
            "count": ("sum(a, 1) == layers", "number of matrices"),
            "gaussians": (
                "gaussian_entropy(q(a), D(a), tau(a)*norm2(a), tau(a)*norm2(a), dist(a))",
                "the noise of a matrix and its prior are Gaussian of the same level tau ||update||_2",
            ),
            "stable": ("dist(a)**2 == srank(a)*norm2(a)**2", "the definition of the stable rank"),
            "weight": ("0 <= log(1/w(n))", "a weight is at most 1"),
            "level": ("0 <= log(1/delta)", "delta is at most 1"),
        },
        SOURCES,
        "finite families",
        {
            "total": (
                "kl_divergence == sum(a, q(a))",
                "The noise is independent: relative entropies add up.",
            ),
        },
    )


def _price_by_rank(d: Derivation) -> str:
    """The relative entropy of the noise is at most (number of matrices) R/(2 tau^2)."""
    total, rank, noise, count = (d.assume(h) for h in ("total", "rank", "noise", "count"))
    gauss = d.lemma(
        "lemma-17",
        {"KL": "q(a)", "D": "D(a)", "s": "tau(a)*norm2(a)", "dist": "dist(a)"},
        "q(a) == dist(a)**2/(2*(tau(a)*norm2(a))**2)",
        "Lemma 17: the relative entropy of two Gaussians of equal variance.",
        d.assume("gaussians"),
    )
    stable = d.assume("stable")
    each = d.monotone(
        "srank(a)/(2*tau(a)**2) <= update_rank/(2*noise_relative**2)",
        "Larger rank, smaller noise.",
        rank,
        noise,
    )
    simple = d.combine(
        "q(a) <= update_rank/(2*noise_relative**2)",
        "The spectral norm cancels.",
        gauss,
        stable,
        each,
        times=["1", "1/(2*(tau(a)*norm2(a))**2)", "1"],
    )
    added = d.monotone(
        "sum(a, q(a)) <= sum(a, update_rank/(2*noise_relative**2))", "Add over the matrices.", simple
    )
    return d.combine(
        f"{_BOUND}/2 <= {_BY_RANK}/(2*m)",
        "Count the matrices.",
        total,
        added,
        count,
        times=["1/(2*m)", "1/(2*m)", "update_rank/(2*noise_relative**2)/(2*m)"],
    )


def derive_e_rank() -> Derivation:
    """Theorem E in the stable rank of the updates."""
    d = _state_e_rank()
    main = _use_e(d)
    cost, weight, level = d.assume("cost"), d.assume("weight"), d.assume("level")
    price_of_grid = d.combine("0 <= grid_cost", "A weight is at most 1.", cost, weight, times=["-1", "1"])
    above_one = d.sign(f"1 <= {MOMENT}", "It is 2 and something that is not negative.")
    moment = d.monotone(
        f"log(1) <= log({MOMENT})",
        "Take logarithms on both sides: the logarithm is an increasing function.",
        above_one,
    )
    entropy = d.sign("0 <= kl_divergence/m", "A relative entropy is not negative.")
    cheap = d.combine(
        f"0 <= {_BOUND}",
        "Every part is at least 0.",
        entropy,
        price_of_grid,
        moment,
        level,
        times=["1", "1/m", "1/m", "1/m"],
    )
    pinsker = d.cite(
        "pinsker",
        {"q": "emp_risk_gibbs", "c": _BOUND},
        f"kl_inverse(emp_risk_gibbs, {_BOUND}) <= emp_risk_gibbs + sqrt({_BOUND}/2)",
        "Pinsker.",
        cheap,
    )
    price = _price_by_rank(d)
    rooted = d.monotone(
        f"sqrt({_BOUND}/2) <= sqrt({_BY_RANK}/(2*m))",
        "Take roots on both sides: the root is an increasing function.",
        price,
        cheap,
    )
    d.combine(
        d.conclude,
        "Put the lines together: what bounds one quantity is bounded by the next.",
        main,
        pinsker,
        rooted,
        cheap,
        times=["1", "1", "1"],
    )
    return d


def derive_e_monte_carlo() -> Derivation:
    """Theorem E with Monte-Carlo draws."""
    estimate = "kl_inverse(emp_risk_draws, log(1/delta_draws)/n_draws)"
    d = Derivation(
        "theorem-e-monte-carlo",
        "Theorem E with a Monte-Carlo estimate",
        "The noisy empirical risk is itself bounded from independent draws; the two failure "
        "probabilities add up.",
        "Chernoff's bound for the draws, whose distribution is fixed before they are made.",
        {
            **_AFTER,
            "emp_risk_draws": "fraction after: average over the draws",
            "n_draws": "count before: number of draws",
            "delta_draws": "positive before: failure probability of the estimate",
        },
        f"risk_gibbs <= kl_inverse({estimate}, {_BOUND})",
        "delta + delta_draws",
        {
            **_HYPOTHESES,
            "draws": (
                "average_of_independent_draws(emp_risk_draws, emp_risk_gibbs, n_draws)",
                "independent draws from Q",
            ),
            "level": ("0 <= log(1/delta_draws)", "delta_draws is at most 1"),
        },
        SOURCES,
        "finite families",
    )
    main = _use_e(d)
    draws, level = d.assume("draws"), d.assume("level")
    cost = d.combine(
        "0 <= log(1/delta_draws)/n_draws", "delta_draws is at most 1.", level, times=["1/n_draws"]
    )
    near = d.cite(
        "chernoff-kl-draws",
        {
            "emp": "emp_risk_draws",
            "risk": "emp_risk_gibbs",
            "m": "n_draws",
            "c": "log(1/delta_draws)/n_draws",
        },
        f"emp_risk_gibbs <= {estimate}",
        "Chernoff's bound, given the sample.",
        draws,
        cost,
    )
    larger = d.monotone(
        f"kl_inverse(emp_risk_gibbs, {_BOUND}) <= kl_inverse({estimate}, {_BOUND})",
        "kl_inverse increases in its first argument.",
        near,
    )
    d.combine(d.conclude, "Chain; the two events' failure probabilities add up.", main, larger)
    return d


def derive_e_split() -> Derivation:
    """E-split: a prior learned on the first part."""
    d = Derivation(
        "theorem-e-split",
        "Theorem E-split: a prior learned on the first part of the data",
        "Theorem E for the second part of the sample: the prior is fixed before it.",
        "Everything learned on the first part is fixed before the second; m counts the second part.",
        _AFTER,
        f"risk_gibbs <= kl_inverse(emp_risk_gibbs, {_BOUND})",
        "delta",
        {k: (f, t + " (second part of the sample)") for k, (f, t) in _HYPOTHESES.items()},
        SOURCES,
        "finite families",
    )
    _use_e(d)
    return d


DERIVATIONS = (derive_e, derive_e_rank, derive_e_monte_carlo, derive_e_split)
