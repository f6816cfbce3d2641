"""Lemma 3: uniform deviation, in three forms. The third is new here and is the one that everything uses."""

from __future__ import annotations

from proofs.build import Derivation
from proofs.lemmas.l01_symmetrization import DEVIATION, RADEMACHER, VARIABLES

_SOURCE = "Mohri, Rostamizadeh, Talwalkar, Foundations of Machine Learning, Theorem 3.3"
_VARIABLES = {
    **VARIABLES,
    "M": "positive before: the loss lies in [0, M]",
    "delta": "positive before: failure probability",
    "Z": "sample after: the sample that was drawn",
    "k": "point dummy: the unit that is changed",
    "y": "point dummy: what stands in its place",
}
_HYPOTHESES = {
    "unbiased": ("P(f) == E(T, sum(i, l(f, T, i))/m)", "the risk is the average loss on a fresh sample"),
    "low": ("0 <= l(f, S, i)", "the loss is at least 0"),
    "high": ("l(f, S, i) <= M", "the loss is at most M"),
    "level": ("0 <= log(1/delta)", "delta is at most 1"),
}


CHANGED = "changed(S, k, y)"


def at(formula: str, sample: str) -> str:
    """The formula for another sample."""
    return formula.replace("f, S, i", f"f, {sample}, i")


def _deviation_differences(d: Derivation, low: str, high: str) -> str:
    return d.paper(
        f"{DEVIATION} - {at(DEVIATION, CHANGED)} <= M/m",
        "One unit contributes to the empirical risk a number between 0 and M/m; so each term "
        "of the "
        "supremum, and with it the supremum, changes by at most M/m.",
        low,
        high,
    )


def _mcdiarmid(d: Derivation, g: str, c: str, delta: str, sample_claim: str, why: str, *premises: str) -> str:
    return d.lemma(
        "lemma-2",
        {"g": f"lambda S: {g}", "c": c, **{name: name for name in ("m", "Z", "S", "k", "y")}, "delta": delta},
        sample_claim,
        why,
        *premises,
    )


def derive_expected() -> Derivation:
    """Form (a): the expected complexity."""
    d = Derivation(
        "lemma-3a",
        "Uniform deviation, expected complexity",
        "With probability at least 1 - delta, no member of the class has a gap larger than twice the "
        "expected "
        "Rademacher complexity plus M sqrt(log(1/delta)/(2m)).",
        "Lemma 1 bounds the average of the largest gap; Lemma 2 says that it stays near its average.",
        _VARIABLES,
        f"{at(DEVIATION, 'Z')} <= 2*E(S, {RADEMACHER}) + M*sqrt(log(1/delta)/(2*m))",
        "delta",
        _HYPOTHESES,
        (_SOURCE,),
        "finite distributions, all samples enumerated",
    )
    low, high, level = d.assume("low"), d.assume("high"), d.assume("level")
    differences = _deviation_differences(d, low, high)
    near = _mcdiarmid(
        d,
        DEVIATION,
        "M/m",
        "delta",
        f"{at(DEVIATION, 'Z')} <= E(S, {DEVIATION}) + M/m*sqrt(m*log(1/delta)/2)",
        "The largest gap stays near its average.",
        differences,
        level,
    )
    unbiased = d.assume("unbiased")
    average = d.lemma(
        "lemma-1",
        {k: k for k in VARIABLES},
        f"E(S, {DEVIATION}) <= 2*E(S, {RADEMACHER})",
        "Symmetrization.",
        unbiased,
    )
    d.combine(d.conclude, "Add, and simplify M/m sqrt(m log(1/delta)/2).", near, average, times=["1", "1"])
    return d


def derive_textbook() -> Derivation:
    """Form (b): the textbook's empirical form, with 3 and log(2/delta)."""
    d = Derivation(
        "lemma-3b",
        "Uniform deviation, empirical complexity, textbook constants",
        "The textbook's way from the expected to the empirical complexity spends delta in two halves "
        "and gets the "
        "constant 3.",
        "Form (a) at delta/2, and Lemma 2 for the empirical complexity at delta/2.",
        _VARIABLES,
        f"{at(DEVIATION, 'Z')} <= 2*{at(RADEMACHER, 'Z')} + 3*M*sqrt(log(2/delta)/(2*m))",
        "delta",
        _HYPOTHESES,
        (_SOURCE,),
        "finite distributions, all samples enumerated",
    )
    low, high = d.assume("low"), d.assume("high")
    half = d.sign("0 <= log(1/(delta/2))", "delta/2 is below 1, too.")
    unbiased = d.assume("unbiased")
    first = d.lemma(
        "lemma-3a",
        {**{k: k for k in _VARIABLES}, "delta": "delta/2"},
        f"{at(DEVIATION, 'Z')} <= 2*E(S, {RADEMACHER}) + M*sqrt(log(1/(delta/2))/(2*m))",
        "Form (a), first half of delta.",
        unbiased,
        low,
        high,
        half,
    )
    differences = d.paper(
        f"-{RADEMACHER} - -{at(RADEMACHER, CHANGED)} <= M/m",
        "One unit contributes to the signed sum a number between -M/m and M/m; seen "
        "from the "
        "middle, the supremum moves by at most M/m.",
        low,
        high,
    )
    second = _mcdiarmid(
        d,
        f"-{RADEMACHER}",
        "M/m",
        "delta/2",
        f"-{at(RADEMACHER, 'Z')} <= E(S, -{RADEMACHER}) + M/m*sqrt(m*log(1/(delta/2))/2)",
        "The empirical complexity stays near its average: second half of delta.",
        differences,
        half,
    )
    d.combine(d.conclude, "1 + 2 = 3, and the two halves add up to delta.", first, second, times=["1", "2"])
    return d


def _state() -> Derivation:
    """What is to be proved."""
    return Derivation(
        "lemma-3c",
        "Uniform deviation, empirical complexity, one event",
        "With probability at least 1 - delta, no member of the class has a gap larger than twice the "
        "empirical "
        "Rademacher complexity plus 2M sqrt(log(1/delta)/(2m)).",
        "Instead of two events, look at the difference of the two quantities: it moves by at most 2M/m "
        "when one unit "
        "changes, and its average is at most 0.",
        _VARIABLES,
        f"{at(DEVIATION, 'Z')} <= 2*{at(RADEMACHER, 'Z')} + 2*M*sqrt(log(1/delta)/(2*m))",
        "delta",
        _HYPOTHESES,
        (_SOURCE + " (for the form with 3 and log(2/delta))",),
        "finite distributions, all samples enumerated; the two changes are attained",
    )


def derive() -> Derivation:
    """Form (c): one event, constant 2, log(1/delta)."""
    d = _state()
    low, high, level = d.assume("low"), d.assume("high"), d.assume("level")
    deviation = _deviation_differences(d, low, high)
    complexity = d.paper(
        f"{at(RADEMACHER, CHANGED)} - {RADEMACHER} <= M/(2*m)",
        "Fix all signs but that of the changed unit and write A_f for the rest of the sum. The average "
        "over the last "
        "sign of sup(A_f + sign l) is at least sup A_f (Jensen) and at most ((sup A_f + M/m) + sup "
        "A_f)/2 = sup A_f + "
        "M/(2m), because 0 <= l <= M/m. So two values of one unit cannot differ by more than M/(2m): "
        "half of what "
        "the textbook uses.",
        low,
        high,
    )
    g = f"{DEVIATION} - 2*{RADEMACHER}"
    differences = d.combine(
        f"({g}) - ({at(g, CHANGED)}) <= 2*M/m",
        "The gap moves by M/m, twice the complexity by 2 M/(2m): together 2M/m.",
        deviation,
        complexity,
        times=["1", "2"],
    )
    near = _mcdiarmid(
        d,
        g,
        "2*M/m",
        "delta",
        f"{at(g, 'Z')} <= E(S, {g}) + 2*M/m*sqrt(m*log(1/delta)/2)",
        "McDiarmid's inequality, once, for the gap minus twice the complexity.",
        differences,
        level,
    )
    unbiased = d.assume("unbiased")
    average = d.lemma(
        "lemma-1",
        {k: k for k in VARIABLES},
        f"E(S, {DEVIATION}) <= 2*E(S, {RADEMACHER})",
        "The average of the difference is at most 0.",
        unbiased,
    )
    d.combine(
        d.conclude,
        "Add the two lines: the average is at most 0, and a root of m moves under the root.",
        near,
        average,
        times=["1", "1"],
    )
    return d


DERIVATIONS = (derive_expected, derive_textbook, derive)
