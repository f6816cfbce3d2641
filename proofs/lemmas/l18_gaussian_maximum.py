"""Lemma 18: the largest of N centred Gaussians."""

from __future__ import annotations

from proofs.build import Derivation


def derive() -> Derivation:
    """The derivation."""
    d = Derivation(
        "lemma-18",
        "Largest of N centred Gaussians",
        "P(max |g_j| > tau sqrt(2 log(N/eta))) <= eta, whatever the dependence.",
        "A tail for each, and a union.",
        {
            "p": "nonnegative after: p(j) = P(|g_j| > u), u = tau sqrt(2 log(N/eta))",
            "total": "real after: P(max |g_j| > u)",
            "N": "positive after: number of Gaussians",
            "tau": "positive after: bound on the standard deviations",
            "eta": "positive after: failure probability, at most N",
            "j": "point dummy: which Gaussian",
        },
        "total <= eta",
        hypotheses={
            "union": ("total <= sum(j, p(j))", "union of the events"),
            "number": ("sum(j, 1) == N", "there are N"),
            "level": ("0 <= log(N/eta)", "eta is at most N"),
        },
        sources=("Here",),
        domain="independent Gaussians, exact tails in balls",
    )
    union, number, level = d.assume("union"), d.assume("number"), d.assume("level")
    tail = d.paper(
        "p(j) <= exp(-(tau*sqrt(2*log(N/eta)))**2/(2*tau**2))",
        "For a standard Gaussian P(|g| > u) <= exp(-u^2/2): the two sides agree at u = 0, "
        "and their difference first "
        "grows, then falls to 0.",
        level,
    )
    each = d.combine("p(j) <= eta/N", "exp(-log(N/eta)) = eta/N.", tail)
    added = d.monotone(
        "sum(j, p(j)) <= sum(j, eta/N)", "The line holds for every index; add up over all of them.", each
    )
    d.combine(d.conclude, "N times eta/N.", union, added, number, times=["1", "1", "eta/N"])
    return d
