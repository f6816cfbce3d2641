"""Lemma 4: Massart's finite-class lemma."""

from __future__ import annotations

from proofs.build import Derivation

_SUM = "sum(i, e(i)*v(i, t))"


def _state() -> Derivation:
    """What is to be proved."""
    return Derivation(
        "lemma-4",
        "Massart's lemma",
        "Random signs can be followed by the best of N vectors of length at most r only as well as r "
        "sqrt(2 log N).",
        "Each signed sum is a sum of independent bounded terms; exp turns a largest value into a sum.",
        {
            "v": "real after: v(i, t) is coordinate i of vector t",
            "r": "positive after: bound on the vectors' length",
            "N": "positive after: number of vectors",
            "q": "positive free: the parameter of the exponential",
            "e": "signs dummy: independent random signs",
            "t": "point dummy: a vector",
            "i": "point dummy: a coordinate",
        },
        f"E(e, sup(t, {_SUM})) <= r*sqrt(2*log(N))",
        hypotheses={
            "finite": ("finite(t)", "there are finitely many vectors"),
            "number": ("sum(t, 1) == N", "there are N vectors"),
            "several": ("0 < log(N)", "there are at least two vectors"),
            "length": ("sum(i, v(i, t)**2) <= r**2", "every vector has length at most r"),
        },
        sources=(
            "P. Massart, Some applications of concentration inequalities to statistics, 2000, Lemma 5.2",
        ),
        domain="up to 12 signs, up to 64 vectors, all signs enumerated",
    )


def _one_vector(d: Derivation, length: str) -> str:
    """The exponential moment of one signed sum."""
    gauss = d.paper(
        f"E(e, exp(q*{_SUM})) <= exp(q**2*sum(i, v(i, t)**2)/2)",
        "The signs are independent, so the average is the product of cosh(q v_i), and cosh(a) <= "
        "exp(a^2/2): compare the power series term by term.",
    )
    short = d.monotone(
        "exp(q**2*sum(i, v(i, t)**2)/2) <= exp(q**2*r**2/2)",
        "Every vector has length at most r, and exp is increasing.",
        length,
    )
    return d.combine(
        f"E(e, exp(q*{_SUM})) <= exp(q**2*r**2/2)",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        gauss,
        short,
    )


def derive() -> Derivation:
    """The derivation."""
    d = _state()
    finite, number, length = (d.assume(h) for h in ("finite", "number", "length"))
    jensen = d.axiom(
        "jensen-exp",
        {"X": f"lambda e: q*sup(t, {_SUM})", "w": "e"},
        f"exp(E(e, q*sup(t, {_SUM}))) <= E(e, exp(q*sup(t, {_SUM})))",
        "exp is convex: its value at an average is at most its average (Jensen).",
    )
    spread = d.axiom(
        "max-below-sum",
        {"X": f"lambda t: q*{_SUM}", "t": "t"},
        f"exp(sup(t, q*{_SUM})) <= sum(t, exp(q*{_SUM}))",
        "The largest term is at most the sum.",
        finite,
    )
    spread_average = d.monotone(
        f"E(e, exp(sup(t, q*{_SUM}))) <= E(e, sum(t, exp(q*{_SUM})))",
        "It holds for every value, so it holds on average.",
        spread,
    )
    exchange = d.axiom(
        "average-of-sum",
        {"X": f"lambda e, t: exp(q*{_SUM})", "w": "e", "t": "t"},
        f"E(e, sum(t, exp(q*{_SUM}))) == sum(t, E(e, exp(q*{_SUM})))",
        "Averages and finite sums may be exchanged.",
    )
    each = _one_vector(d, length)
    summed = d.monotone(
        f"sum(t, E(e, exp(q*{_SUM}))) <= sum(t, exp(q**2*r**2/2))",
        "The line holds for every vector; add up over all of them.",
        each,
    )
    total = d.combine(
        f"exp(q*E(e, sup(t, {_SUM}))) <= N*exp(q**2*r**2/2)",
        "Put the lines together; there are N equal terms.",
        jensen,
        spread_average,
        exchange,
        summed,
        number,
        times=["1", "1", "1", "1", "exp(q**2*r**2/2)"],
    )
    logs = d.axiom(
        "take-log",
        {"a": f"q*E(e, sup(t, {_SUM}))", "b": "N*exp(q**2*r**2/2)"},
        f"q*E(e, sup(t, {_SUM})) <= log(N) + q**2*r**2/2",
        "Take logarithms: a product becomes a sum, and the inequality keeps its direction.",
        total,
    )
    divided = d.combine(
        f"E(e, sup(t, {_SUM})) <= log(N)/q + q*r**2/2", "Divide by q, which is positive.", logs, times=["1/q"]
    )
    d.optimise("q", "sqrt(2*log(N))/r", d.conclude, "The best q balances the two terms.", divided)
    return d
