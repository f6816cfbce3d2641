"""Derivation of Theorem E-single: one model drawn from the noise."""

from __future__ import annotations

from proofs.build import Derivation
from proofs.lemmas.l16_pac_bayes import VARIABLES as PAC_VARIABLES
from proofs.theorems.counting_steps import MOMENT, PRIOR_MOMENT, SETTING
from proofs.theorems.gibbs_proof import SOURCES

_COST = f"(log_ratio + grid_cost + log({MOMENT}/delta))"


def _state() -> Derivation:
    """What is to be proved."""
    return Derivation(
        "theorem-e-single",
        "Theorem E-single: one model drawn from the noise",
        "For one model drawn once from Q: m kl(empirical risk, risk) <= log density ratio + log(xi/delta).",
        "Markov's inequality for exp(m kl)/(density ratio): its mean over sample and draw is the "
        "prior's mean.",
        {
            **SETTING,
            "S": "sample dummy: a sample and a draw",
            "Z": "sample after: the drawn sample and model",
            "excess": "positive before: excess(n, S) = exp(m kl(empirical risk, risk)) divided by the "
            "density ratio of Q and the n-th prior",
            "xi": "positive before: xi(m)",
            "b": PAC_VARIABLES["b"],
            "k": PAC_VARIABLES["k"],
            "r": "positive after: r(k) = 1/sqrt(k (m-k))",
            "n": "index grid: number of the prior",
            "w": "positive before: w(n), weight of the prior",
            "log_ratio": "real after: log density ratio at the drawn model",
            "grid_cost": "real after: log(1/w(n))",
            "emp_risk": "fraction after: empirical risk of the drawn model",
            "risk": "fraction after: its risk",
        },
        f"risk <= kl_inverse(emp_risk, max(0, {_COST})/m)",
        "delta",
        {
            **PRIOR_MOMENT,
            "mean": (
                "E(S, excess(n, S)) <= xi",
                "the density ratio turns the mean over Q into the mean "
                "over the prior, which does not see the "
                "sample; then Maurer's moment",
            ),
            "log": ("m*kl(emp_risk, risk) == log_ratio + log(excess(n, Z))", "the definition of excess"),
            "weights": ("sum(n, w(n)) <= 1", "the weights of the prior grid"),
            "cost": ("grid_cost == log(1/w(n))", "what the grid costs"),
        },
        SOURCES,
        "finite families",
    )


def _excess(d: Derivation) -> str:
    """Markov's inequality for every prior of the grid at once."""
    xi, b, r, mean, weights = (d.assume(h) for h in ("xi", "b", "r", "mean", "weights"))
    explicit = d.lemma(
        "lemma-16-moment",
        {"xi": "xi", "b": "b", "m": "m", "k": "k", "r": "r"},
        "xi <= 2 + sqrt(pi()*m/2)",
        "The moment.",
        xi,
        b,
        r,
    )
    markov = d.cite(
        "markov",
        {"X": "lambda S: excess(n, S)", "delta": "delta*w(n)", "Z": "Z", "S": "S"},
        "excess(n, Z) <= E(S, excess(n, S))/(delta*w(n))",
        "Markov's inequality, at the prior's share of delta.",
    )
    small = d.combine(
        f"excess(n, Z) <= {MOMENT}/(delta*w(n))",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        markov,
        mean,
        explicit,
        times=["1", "1/(delta*w(n))", "1/(delta*w(n))"],
    )
    return d.weighted_grid(
        "n",
        "delta",
        "w(n)",
        f"excess(n, Z) <= {MOMENT}/(delta*w(n))",
        "The shares add up to at most delta.",
        small,
        weights,
    )


def derive_e_single() -> Derivation:
    """E-single: one drawn model."""
    d = _state()
    united, logs, price = _excess(d), d.assume("log"), d.assume("cost")
    logged = d.monotone(
        f"log(excess(n, Z)) <= log({MOMENT}/(delta*w(n)))",
        "Take logarithms on both sides: the logarithm is an increasing function.",
        united,
    )
    below = d.combine(
        f"m*kl(emp_risk, risk) <= {_COST}",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        logs,
        logged,
        price,
        times=["1", "1", "-1"],
    )
    larger = d.axiom(
        "max-right", {"a": "0", "b": _COST}, f"{_COST} <= max(0, {_COST})", "The larger of the two."
    )
    divided = d.combine(
        f"kl(emp_risk, risk) <= max(0, {_COST})/m",
        "Divide by the number of units m.",
        below,
        larger,
        times=["1/m", "1/m"],
    )
    d.axiom(
        "invert-kl",
        {"q": "emp_risk", "p": "risk", "c": f"max(0, {_COST})/m"},
        d.conclude,
        "The risk is at most the largest p that this relative entropy allows.",
        divided,
    )
    return d


DERIVATIONS = (derive_e_single,)
