"""Lemma 16: the PAC-Bayes bound in relative-entropy form, with an explicit prior moment."""

from __future__ import annotations

from proofs.build import Derivation

_SOURCE = "A. Maurer, A note on the PAC Bayesian theorem, 2004, arXiv:cs/0411099"
VARIABLES = {
    "moment": "positive before: moment(S), the prior average of exp(m kl(empirical risk, risk)); the "
    "prior is fixed before",
    "m": "count before: number of independent units",
    "delta": "positive before: failure probability",
    "KL": "nonnegative after: relative entropy of posterior and prior",
    "emp": "fraction after: empirical risk averaged over the posterior",
    "risk": "fraction after: risk averaged over it",
    "Z": "sample after: the sample that was drawn",
    "S": "sample dummy: a sample",
    "k": "point dummy: number of errors",
    "xi": "positive before: xi(m) = sum over k of C(m,k) (k/m)^k (1-k/m)^(m-k)",
    "b": "positive before: b(k) = C(m,k) (k/m)^k (1-k/m)^(m-k) for k = 1..m-1",
}
HYPOTHESES = {
    "bernoulli": (
        "prior_moment(moment, m, xi)",
        "E_S moment(S) <= xi by convexity: the worst losses "
        "are 0 and 1, for which the "
        "average is at most xi(m)",
    ),
    "xi": ("xi == 2 + sum(k, b(k))", "the terms k = 0 and k = m are 1 each"),
    "b": ("middle_terms(b, m)", "b(k) are the middle terms"),
    "posterior": (
        "posterior_average(emp, risk, KL, moment, Z)",
        "emp and risk are averages over one posterior",
    ),
}


def derive_moment() -> Derivation:
    """xi(m) <= 2 + sqrt(pi m/2)."""
    d = Derivation(
        "lemma-16-moment",
        "Maurer's prior moment",
        "sum over k of C(m,k) (k/m)^k (1-k/m)^(m-k) <= 2 + sqrt(pi m/2).",
        "Stirling's formula with Robbins' error bounds.",
        {k: VARIABLES[k] for k in ("xi", "b", "m", "k")} | {"r": "positive after: r(k) = 1/sqrt(k (m-k))"},
        "xi <= 2 + sqrt(pi()*m/2)",
        hypotheses={
            "xi": HYPOTHESES["xi"],
            "b": HYPOTHESES["b"],
            "r": ("inverse_roots(r, m)", "r(k) = 1/sqrt(k (m-k))"),
        },
        sources=(_SOURCE, "H. Robbins, A remark on Stirling's formula, 1955"),
        domain="every m up to 2000, in balls",
    )
    xi, b, r = d.assume("xi"), d.assume("b"), d.assume("r")
    robbins = d.cite(
        "robbins",
        {"b": "b", "r": "r", "m": "m", "k": "k"},
        "b(k) <= sqrt(m/(2*pi()))*r(k)",
        "Stirling with Robbins' bounds: the correction factors multiply to less than 1.",
        b,
        r,
    )
    added = d.monotone(
        "sum(k, b(k)) <= sum(k, sqrt(m/(2*pi()))*r(k))",
        "The line holds for every index; add up over all of them.",
        robbins,
    )
    integral = d.paper(
        "sum(k, r(k)) <= pi()",
        "1/sqrt(x (m-x)) is convex, so its value at k is at most "
        "its integral from k - 1/2 "
        "to k + 1/2; the integral from 0 to m is pi.",
        r,
    )
    d.combine(
        d.conclude,
        "sqrt(m/(2 pi)) pi = sqrt(pi m/2).",
        xi,
        added,
        integral,
        times=["1", "1", "sqrt(m/(2*pi()))"],
    )
    return d


def _state() -> Derivation:
    """What is to be proved."""
    return Derivation(
        "lemma-16",
        "PAC-Bayes bound, relative-entropy form",
        "For all posteriors at once: kl(average empirical risk, average risk) <= (KL + log((2 + sqrt(pi "
        "m/2))/delta))/m.",
        "Change of measure, a prior fixed before the sample, Markov's inequality.",
        VARIABLES | {"r": "positive after: r(k) = 1/sqrt(k (m-k))"},
        "risk <= kl_inverse(emp, (KL + log((2 + sqrt(pi()*m/2))/delta))/m)",
        "delta",
        HYPOTHESES | {"r": ("inverse_roots(r, m)", "r(k) = 1/sqrt(k (m-k))")},
        (_SOURCE,),
        "exact sums on finite families",
    )


def _moment_of_the_sample(d: Derivation, bernoulli: str, *explicit_moment: str) -> str:
    """The prior's exponential moment on the drawn sample, by Markov's inequality."""
    explicit = d.lemma(
        "lemma-16-moment",
        {"xi": "xi", "b": "b", "m": "m", "k": "k", "r": "r"},
        "xi <= 2 + sqrt(pi()*m/2)",
        "The moment, explicitly.",
        *explicit_moment,
    )
    average = d.cite(
        "maurer-moment",
        {"moment": "moment", "m": "m", "xi": "xi", "S": "S"},
        "E(S, moment(S)) <= xi",
        "Convexity reduces to losses 0 and 1; the prior does not see the sample.",
        bernoulli,
    )
    markov = d.cite(
        "markov",
        {"X": "moment", "delta": "delta", "Z": "Z", "S": "S"},
        "moment(Z) <= E(S, moment(S))/delta",
        "Markov's inequality.",
    )
    return d.combine(
        "moment(Z) <= (2 + sqrt(pi()*m/2))/delta",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        markov,
        average,
        explicit,
        times=["1", "1/delta", "1/delta"],
    )


def derive() -> Derivation:
    """The bound."""
    d = _state()
    bernoulli, xi, b, posterior, r = (d.assume(h) for h in ("bernoulli", "xi", "b", "posterior", "r"))
    small = _moment_of_the_sample(d, bernoulli, xi, b, r)
    logs = d.monotone(
        "log(moment(Z)) <= log((2 + sqrt(pi()*m/2))/delta)",
        "Take logarithms on both sides: the logarithm is an increasing function.",
        small,
    )
    change = d.cite(
        "change-of-measure",
        {k: k for k in ("emp", "risk", "KL", "Z", "m")} | {"moment": "moment"},
        "m*kl(emp, risk) <= KL + log(moment(Z))",
        "Donsker-Varadhan, for every posterior at once; kl is convex in both arguments.",
        posterior,
    )
    divided = d.combine(
        "kl(emp, risk) <= (KL + log((2 + sqrt(pi()*m/2))/delta))/m",
        "Put the lines together and divide by the number of units m.",
        change,
        logs,
        times=["1/m", "1/m"],
    )
    d.axiom(
        "invert-kl",
        {"q": "emp", "p": "risk", "c": "(KL + log((2 + sqrt(pi()*m/2))/delta))/m"},
        d.conclude,
        "The risk is at most the largest p that this relative entropy allows.",
        divided,
    )
    return d


DERIVATIONS = (derive_moment, derive)
