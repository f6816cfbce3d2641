"""Lemma 17: relative entropy of two isotropic Gaussians."""

from __future__ import annotations

from proofs.build import Derivation


def derive() -> Derivation:
    """Equal variances."""
    d = Derivation(
        "lemma-17",
        "Relative entropy of Gaussians of equal variance",
        "KL(N(a, s^2 I) || N(b, s^2 I)) = ||a - b||^2/(2 s^2).",
        "The formula for general variances.",
        {
            "KL": "nonnegative after: relative entropy",
            "D": "count after: dimension",
            "s": "positive after: standard deviation",
            "dist": "nonnegative after: distance of the means",
        },
        "KL == dist**2/(2*s**2)",
        hypotheses={
            "gaussians": (
                "gaussian_entropy(KL, D, s, s, dist)",
                "KL is the relative entropy of two Gaussians with independent entries of the same variance",
            )
        },
        sources=("S. Kullback, Information Theory and Statistics, 1959",),
        domain="one dimension, by quadrature in balls",
    )
    d.cite(
        "gaussian-entropy",
        {"KL": "KL", "D": "D", "s": "s", "r": "s", "dist": "dist"},
        d.conclude,
        "The formula for general variances; at equal ones its first bracket is 0.",
        d.assume("gaussians"),
    )
    return d


def derive_best_prior() -> Derivation:
    """The best prior variance for a given posterior variance."""
    d = Derivation(
        "lemma-17-free",
        "Free posterior variance",
        "With the prior variance at its optimum, KL = (D/2) log(1 + ||a - b||^2/(D s^2)), never more "
        "than ||a - b||^2/(2 s^2).",
        "The formula, and the prior variance l^2 = s^2 + dist^2/D.",
        {
            "KL": "nonnegative after: KL at the best prior variance",
            "D": "count after: dimension",
            "s": "positive after: noise level",
            "dist": "nonnegative after: distance of the means",
        },
        "KL <= dist**2/(2*s**2)",
        hypotheses={
            "gaussians": (
                "gaussian_entropy(KL, D, s, sqrt(s**2 + dist**2/D), dist)",
                "KL is the relative entropy of two Gaussians, the prior of variance s^2 + dist^2/D",
            )
        },
        sources=("Here",),
        domain="rational values",
    )
    formula = d.cite(
        "gaussian-entropy",
        {"KL": "KL", "D": "D", "s": "s", "r": "sqrt(s**2 + dist**2/D)", "dist": "dist"},
        "KL == D/2*(s**2/(s**2 + dist**2/D) - 1 - log(s**2/(s**2 + dist**2/D))) "
        "+ dist**2/(2*(s**2 + dist**2/D))",
        "The formula for general variances, at this prior variance.",
        d.assume("gaussians"),
    )
    tangent = d.axiom(
        "log-tangent",
        {"a": "(s**2 + dist**2/D)/s**2"},
        "log((s**2 + dist**2/D)/s**2) <= (s**2 + dist**2/D)/s**2 - 1",
        "The logarithm lies below its tangent at 1: log x <= x - 1.",
    )
    d.combine(d.conclude, "The two other terms cancel.", formula, tangent, times=["1", "D/2"])
    return d


DERIVATIONS = (derive, derive_best_prior)
