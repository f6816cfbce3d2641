"""Lemma 10: Dudley's entropy integral, and its closed form for parametric classes."""

from __future__ import annotations

from proofs.build import Derivation


def derive_dudley() -> Derivation:
    """Dudley's integral."""
    d = Derivation(
        "lemma-10",
        "Dudley's entropy integral",
        "The complexity is at most 4a plus 12/sqrt(m) times the integral of the root of the metric "
        "entropy from a to c/2.",
        "A cited theorem.",
        {
            "Rad": "real after: Rademacher complexity",
            "a": "positive after: lower end of the integral",
            "J": "nonnegative after: the integral of sqrt(log N(u)) from a to c/2",
            "m": "count after: units",
            "c": "positive after: bound on the class in L2 of the sample",
        },
        "Rad <= 4*a + 12*J/sqrt(m)",
        hypotheses={
            "entropy": (
                "entropy_integral(Rad, a, c, J, m)",
                "J is that integral for the class of complexity Rad",
            )
        },
        sources=("R. Dudley 1967; Mohri, Rostamizadeh, Talwalkar, Foundations of Machine Learning",),
        domain="for comparison",
    )
    entropy = d.assume("entropy")
    d.cite("dudley", {k: k for k in ("Rad", "a", "J", "m", "c")}, d.conclude, "Chaining.", entropy)
    return d


def _state_closed() -> Derivation:
    """What is to be proved."""
    return Derivation(
        "lemma-10-closed",
        "Dudley's integral in closed form",
        "If log N(u) <= D log(1 + C/u) then the complexity is at most 6 c sqrt(D log(e (1 + 2C/c))/m).",
        "Cauchy-Schwarz under the integral, and the integral of log(1 + C/u).",
        {
            "Rad": "real after: Rademacher complexity",
            "J": "nonnegative after: integral of sqrt(log N) from 0 to c/2",
            "I": "nonnegative after: integral of log(1 + C/u) from 0 to c/2",
            "m": "count after: units",
            "c": "positive after: bound on the class in L2 of the sample",
            "C": "positive after: scale of the entropy",
            "D": "positive after: dimension of the entropy",
        },
        "Rad <= 6*c*sqrt(D*log(exp(1)*(1 + 2*C/c))/m)",
        hypotheses={
            "dudley": ("Rad <= 12*J/sqrt(m)", "Lemma 10 with a -> 0"),
            "entropy": ("J**2 <= c/2*D*I", "Cauchy-Schwarz under the integral, and the entropy bound"),
        },
        sources=("R. Dudley 1967",),
        domain="random C, c, by interval quadrature",
    )


def derive_closed() -> Derivation:
    """The closed form."""
    d = _state_closed()
    dudley, entropy = d.assume("dudley"), d.assume("entropy")
    integral = d.paper(
        "I == c/2*log(1 + 2*C/c) + C*log(1 + c/(2*C))",
        "An antiderivative of log(1 + C/u) is u log(1 + C/u) + C log(C + u).",
    )
    tangent = d.axiom(
        "log-tangent",
        {"a": "1 + c/(2*C)"},
        "log(1 + c/(2*C)) <= 1 + c/(2*C) - 1",
        "The logarithm lies below its tangent at 1: log x <= x - 1.",
    )
    bound = d.combine(
        "I <= c/2*log(exp(1)*(1 + 2*C/c))", "C times c/(2C) is c/2.", integral, tangent, times=["1", "C"]
    )
    square = d.combine(
        "J**2 <= (c/2)**2*D*log(exp(1)*(1 + 2*C/c))",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        entropy,
        bound,
        times=["1", "c*D/2"],
    )
    larger = d.sign("1 <= 1 + 2*C/c", "All parts are positive, so this can be read off.")
    logs = d.monotone(
        "log(1) <= log(1 + 2*C/c)",
        "Take logarithms on both sides: the logarithm is an increasing function.",
        larger,
    )
    unit = d.sign("0 <= (c/2)**2*D", "All parts are positive, so this can be read off.")
    nonnegative = d.combine(
        "0 <= (c/2)**2*D*log(exp(1)*(1 + 2*C/c))",
        "log(e y) = 1 + log y.",
        unit,
        logs,
        times=["1", "(c/2)**2*D"],
    )
    root = d.axiom(
        "take-root",
        {"a": "J", "b": "(c/2)**2*D*log(exp(1)*(1 + 2*C/c))"},
        "J <= sqrt((c/2)**2*D*log(exp(1)*(1 + 2*C/c)))",
        "Take roots on both sides: the root is an increasing function.",
        square,
        nonnegative,
    )
    d.combine(d.conclude, "12 c/2 = 6c.", dudley, root, nonnegative, times=["1", "12/sqrt(m)"])
    return d


DERIVATIONS = (derive_dudley, derive_closed)
