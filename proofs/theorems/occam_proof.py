"""Derivations of Theorem D: bits of a compressed model."""

from __future__ import annotations

from proofs.build import Derivation
from proofs.theorems.counting_steps import LEVEL, SETTING

_D = {
    **SETTING,
    "risk": "fraction before: risk(n), the risk of model n",
    "emp": "fraction after: emp(n), its empirical risk",
    "bits": "nonnegative before: bits(n), length of the code word of model n",
    "n": "index after: the compressed model",
}
_D_HYPOTHESES = {
    **LEVEL,
    "kraft": ("sum(n, 2**(-bits(n))) <= 1", "Kraft's inequality: the code is a prefix code"),
    "iid": ("average_of_independent_units(emp, risk, m)", "independent losses in [0, 1]"),
}


def _occam_for_code(d: Derivation, name: str, claim: str) -> None:
    kraft, level, iid = d.assume("kraft"), d.assume("level"), d.assume("iid")
    weight = d.sign(
        "0 <= log(1/2**(-bits(n)))", "The weight is 2^-bits, so the logarithm of one over it is bits log 2."
    )
    d.lemma(
        name,
        {"risk": "risk", "emp": "emp", "w": "lambda n: 2**(-bits(n))", "m": "m", "delta": "delta", "n": "n"},
        claim,
        "Lemma 15 with the weights 2^-bits, which add up to at most 1.",
        kraft,
        weight,
        level,
        iid,
    )


def derive_d() -> Derivation:
    """Theorem D."""
    d = Derivation(
        "theorem-d",
        "Theorem D: Occam bound for a compressed model",
        "risk <= kl_inverse(empirical risk, (bits log 2 + log(1/delta))/m) for every model of a prefix "
        "code at once.",
        "Lemma 15; Kraft's inequality.",
        _D,
        "risk(n) <= kl_inverse(emp(n), (bits(n)*log(2) + log(1/delta))/m)",
        "delta",
        _D_HYPOTHESES,
        ("W. Hoeffding 1963",),
        "exact binomial sums",
    )
    _occam_for_code(d, "lemma-15", d.conclude)
    return d


def derive_d_hoeffding() -> Derivation:
    """Theorem D, Hoeffding form."""
    d = Derivation(
        "theorem-d-hoeffding",
        "Theorem D, Hoeffding form",
        "risk <= empirical risk + sqrt((bits log 2 + log(1/delta))/(2m)).",
        "Lemma 15 with Pinsker's inequality.",
        _D,
        "risk(n) <= emp(n) + sqrt((bits(n)*log(2) + log(1/delta))/(2*m))",
        "delta",
        _D_HYPOTHESES,
        ("W. Hoeffding 1963",),
        "exact binomial sums",
    )
    _occam_for_code(d, "lemma-15-hoeffding", d.conclude)
    return d


def derive_d_binomial() -> Derivation:
    """Theorem D for 0-1 losses: the binomial tail itself."""
    d = Derivation(
        "theorem-d-binomial",
        "Theorem D for 0-1 loss, binomial tail",
        "risk <= the binomial tail, inverted at the model's share delta 2^-bits of the failure "
        "probability, for "
        "every model of a prefix code at once.",
        "Clopper-Pearson for each model; Kraft's inequality.",
        {
            **SETTING,
            "risk": _D["risk"],
            "errors": "index after: errors(n), number of units that model n gets wrong",
            "bits": _D["bits"],
            "n": "index grid: the compressed model",
        },
        "risk(n) <= binomial_tail_inverse(errors(n), m, delta*2**(-bits(n)))",
        "delta",
        {
            "kraft": _D_HYPOTHESES["kraft"],
            "iid": ("errors_of_independent_units(errors(n), risk(n), m)", "independent units"),
        },
        ("C. Clopper, E. Pearson 1934", "J. Langford, Tutorial on practical prediction theory, JMLR 2005"),
        "exact binomial sums",
    )
    kraft, iid = d.assume("kraft"), d.assume("iid")
    each = d.cite(
        "clopper-pearson",
        {"k": "errors(n)", "n": "m", "delta": "delta*2**(-bits(n))", "risk": "risk(n)"},
        d.conclude,
        "Clopper-Pearson for one model, which fails with probability delta 2^-bits.",
        iid,
    )
    d.weighted_grid(
        "n",
        "delta",
        "2**(-bits(n))",
        d.conclude,
        "The failure probabilities add up to at most delta.",
        each,
        kraft,
    )
    return d


DERIVATIONS = (derive_d, derive_d_hoeffding, derive_d_binomial)
