"""Derivations of the bounds from held-out test sets."""

from __future__ import annotations

from proofs.build import Derivation
from proofs.theorems.counting_steps import LEVEL, SETTING


def derive_test_set() -> Derivation:
    """Clopper-Pearson."""
    d = Derivation(
        "test-set",
        "Held-out test set, 0-1 loss",
        "The binomial tail, inverted.",
        "The number of errors is binomial.",
        {
            "k_errors": "index after: errors",
            "n_test": "count before: held-out units",
            "delta": SETTING["delta"],
            "risk": "fraction before: risk of the model, final before the units were drawn",
        },
        "risk <= binomial_tail_inverse(k_errors, n_test, delta)",
        "delta",
        {"iid": ("errors_of_independent_units(k_errors, risk, n_test)", "independent units")},
        ("C. Clopper, E. Pearson 1934",),
        "exact binomial sums",
    )
    iid = d.assume("iid")
    d.cite(
        "clopper-pearson",
        {"k": "k_errors", "n": "n_test", "delta": "delta", "risk": "risk"},
        d.conclude,
        "Clopper-Pearson.",
        iid,
    )
    return d


def derive_test_set_kl() -> Derivation:
    """Chernoff."""
    d = Derivation(
        "test-set-kl",
        "Held-out test set, loss in [0, 1]",
        "Chernoff's bound for one model.",
        "One model, no union.",
        {
            "emp": "fraction after: emp(n), average loss of model n",
            "risk": "fraction before: risk(n)",
            "n": "index before: the model",
            "n_test": "count before: held-out units",
            "delta": SETTING["delta"],
        },
        "risk(n) <= kl_inverse(emp(n), log(1/delta)/n_test)",
        "delta",
        {**LEVEL, "iid": ("average_of_independent_units(emp, risk, n_test)", "independent units")},
        ("W. Hoeffding 1963",),
        "exact binomial sums",
    )
    iid, level = d.assume("iid"), d.assume("level")
    cost = d.combine("0 <= log(1/delta)/n_test", "delta is at most 1.", level, times=["1/n_test"])
    d.cite(
        "chernoff-kl",
        {"emp": "emp", "risk": "risk", "n": "n", "m": "n_test", "c": "log(1/delta)/n_test"},
        d.conclude,
        "Chernoff's bound.",
        iid,
        cost,
    )
    return d


DERIVATIONS = (derive_test_set, derive_test_set_kl)
