"""Lemma 15: Occam's bound in relative-entropy form."""

from __future__ import annotations

from proofs.build import Derivation

VARIABLES = {
    "risk": "fraction before: risk(n), the risk of model n",
    "emp": "fraction after: emp(n), its empirical risk on the sample",
    "w": "positive before: w(n), the prior weight of model n",
    "m": "count before: number of independent units",
    "delta": "positive before: failure probability",
    "n": "index grid: number of the model, chosen after training",
}
HYPOTHESES = {
    "kraft": ("sum(n, w(n)) <= 1", "the weights add up to at most 1 (for a prefix code: Kraft's inequality)"),
    "weight": ("0 <= log(1/w(n))", "a weight is at most 1"),
    "level": ("0 <= log(1/delta)", "delta is at most 1"),
    "iid": (
        "average_of_independent_units(emp, risk, m)",
        "emp(n) is the average of m independent losses in [0, 1] of mean risk(n)",
    ),
}
_SOURCES = ("W. Hoeffding 1963", "J. Langford, Tutorial on practical prediction theory, JMLR 2005")


def derive() -> Derivation:
    """Relative-entropy form."""
    c = "(log(1/w(n)) + log(1/delta))/m"
    d = Derivation(
        "lemma-15",
        "Occam's bound, relative-entropy form",
        "For all models of a countable family at once: risk <= kl_inverse(empirical risk, "
        "(log(1/weight) + log(1/delta))/m).",
        "Chernoff's bound for each model, with a share of delta in proportion to its prior weight.",
        VARIABLES,
        f"risk(n) <= kl_inverse(emp(n), {c})",
        "delta",
        HYPOTHESES,
        _SOURCES,
        "exact binomial sums",
    )
    weight, level, iid, kraft = (d.assume(h) for h in ("weight", "level", "iid", "kraft"))
    cost = d.combine(f"0 <= {c}", "Both logarithms are nonnegative.", weight, level, times=["1/m", "1/m"])
    each = d.cite(
        "chernoff-kl",
        {"emp": "emp", "risk": "risk", "n": "n", "m": "m", "c": c},
        d.conclude,
        "Chernoff's bound for one model, which fails with probability exp(-m c) = delta w(n).",
        iid,
        cost,
    )
    d.weighted_grid(
        "n", "delta", "w(n)", d.conclude, "The failure probabilities add up to at most delta.", each, kraft
    )
    return d


def derive_pinsker() -> Derivation:
    """Hoeffding form."""
    c = "(log(1/w(n)) + log(1/delta))/m"
    d = Derivation(
        "lemma-15-hoeffding",
        "Occam's bound, square-root form",
        "The same with a square root, never smaller.",
        "Pinsker's inequality.",
        VARIABLES | {"n": "index after: number of the model, chosen after training"},
        "risk(n) <= emp(n) + sqrt((log(1/w(n)) + log(1/delta))/(2*m))",
        "delta",
        HYPOTHESES,
        _SOURCES,
        "exact binomial sums",
    )
    weight, level, iid, kraft = (d.assume(h) for h in ("weight", "level", "iid", "kraft"))
    cost = d.combine(f"0 <= {c}", "Both logarithms are nonnegative.", weight, level, times=["1/m", "1/m"])
    occam = d.lemma(
        "lemma-15",
        {k: k for k in VARIABLES},
        f"risk(n) <= kl_inverse(emp(n), {c})",
        "Lemma 15 in its relative-entropy form.",
        kraft,
        weight,
        level,
        iid,
    )
    pinsker = d.cite(
        "pinsker",
        {"q": "emp(n)", "c": c},
        f"kl_inverse(emp(n), {c}) <= emp(n) + sqrt(({c})/2)",
        "2 (p - q)^2 <= kl(q || p).",
        cost,
    )
    d.combine(
        d.conclude,
        "Put the lines together: what bounds one quantity is bounded by the next.",
        occam,
        pinsker,
        cost,
        times=["1", "1"],
    )
    return d


DERIVATIONS = (derive, derive_pinsker)
