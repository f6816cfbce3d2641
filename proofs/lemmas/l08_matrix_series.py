"""Lemma 8: the spectral norm of a matrix Rademacher series, with explicit constants."""

from __future__ import annotations

from proofs.build import Derivation

_SOURCE = "J. A. Tropp, An Introduction to Matrix Concentration Inequalities, arXiv:1501.01571"
_SERIES = {
    "Z": "real after: Z(x), the sum of the matrices B_k with signs x(k)",
    "V": "real after: the block-diagonal matrix of the two variances, sum B_k B_k^T and sum B_k^T B_k",
    "v": "positive after: the larger spectral norm of the two variances",
    "kappa": "positive after: intrinsic dimension, sum of ||B_k||_F^2 divided by v",
    "x": "signs dummy: independent signs",
}


def _series(frobenius_sq: str) -> tuple[str, str]:
    return (
        f"rademacher_series(Z, V, v, {frobenius_sq})",
        "Z(x) is the sum of fixed matrices with the signs x(k); V holds their two variances, of largest norm "
        "v, and the squared Frobenius norms add up to " + frobenius_sq.replace("*", " "),
    )


def _moment_of_norm(d: Derivation, series: str, frobenius_sq: str) -> tuple[str, str]:
    """Lieb's theorem, and the norm's exponential moment below the trace."""
    lieb = d.cite(
        "matrix-laplace",
        {"Z": "Z", "V": "V", "v": "v", "F2": frobenius_sq, "q": "q", "x": "x"},
        "E(x, trace_cosh(q, Z(x))) <= trace_exp(q, V)",
        "Lieb's concavity and cosh(A) <= exp(A^2/2), with the identity subtracted on both "
        "sides; the series is "
        "symmetric in law, so exp may be replaced by cosh on the left.",
        series,
    )
    below = d.paper(
        "2*(cosh(q*spectral(Z(x))) - 1) <= trace_cosh(q, Z(x))",
        "Both +s and -s are eigenvalues of the dilation for the largest singular value s, "
        "and the other terms "
        "cosh - 1 are not negative.",
    )
    average = d.monotone(
        "E(x, 2*(cosh(q*spectral(Z(x))) - 1)) <= E(x, trace_cosh(q, Z(x)))",
        "It holds for every value, so it holds on average.",
        below,
    )
    return average, lieb


def _jensen_cosh(d: Derivation) -> str:
    return d.axiom(
        "jensen-cosh",
        {"X": "lambda x: q*spectral(Z(x))", "w": "x"},
        "cosh(E(x, q*spectral(Z(x)))) <= E(x, cosh(q*spectral(Z(x))))",
        "cosh is convex: its value at an average is at most its average (Jensen).",
    )


def derive_laplace() -> Derivation:
    """The inequality (*) from which both forms follow."""
    d = Derivation(
        "lemma-8-laplace",
        "Matrix series, exponential moment",
        "The exponential moment of the norm grows at most like that of one Gaussian, times the "
        "intrinsic dimension.",
        "Lieb's theorem in Tropp's form bounds a trace of exponentials; subtracting the identity "
        "removes the dimension.",
        {**_SERIES, "q": "positive after: the parameter"},
        "E(x, cosh(q*spectral(Z(x)))) - 1 <= kappa*(exp(q**2*v/2) - 1)",
        hypotheses={"series": _series("kappa*v")},
        sources=(_SOURCE,),
        domain="up to 10 matrices up to 4 x 4, all signs enumerated",
    )
    series = d.assume("series")
    lieb_and_below = _moment_of_norm(d, series, "kappa*v")
    intrinsic = d.paper(
        "trace_exp(q, V) <= 2*kappa*(exp(q**2*v/2) - 1)",
        "phi(s) = exp(q^2 s/2) - 1 is convex with phi(0) = 0, so phi(s) <= (s/v) phi(v) "
        "for 0 <= s <= v; "
        "add over the eigenvalues of V, whose sum is 2 kappa v.",
        series,
    )
    d.combine(
        d.conclude,
        "Put the lines together and halve.",
        *lieb_and_below,
        intrinsic,
        times=["1/2", "1/2", "1/2"],
    )
    return d


def _state_expectation() -> Derivation:
    """What is to be proved."""
    return Derivation(
        "lemma-8b",
        "Matrix series, expected norm, intrinsic dimension",
        "E || sum of signed matrices || <= sqrt(2 v log(2 kappa)): the dimension d1 + d2 of the usual "
        "bound is replaced by "
        "twice the intrinsic dimension.",
        "The exponential moment, Jensen's inequality and the best parameter.",
        {**_SERIES, "q": "positive free: the parameter"},
        "E(x, spectral(Z(x))) <= sqrt(2*v*log(2*kappa))",
        hypotheses={
            "series": _series("kappa*v"),
            "intrinsic": ("0 <= log(kappa)", "the intrinsic dimension is at least 1"),
        },
        sources=(_SOURCE,),
        domain="up to 10 matrices up to 4 x 4, all signs enumerated",
    )


def derive_expectation() -> Derivation:
    """Form (b), expectation."""
    d = _state_expectation()
    intrinsic = d.assume("intrinsic")
    tangent = d.axiom(
        "log-tangent",
        {"a": "kappa"},
        "log(kappa) <= kappa - 1",
        "The logarithm lies below its tangent at 1: log x <= x - 1.",
    )
    one = d.combine("0 <= kappa - 1", "So kappa >= 1.", intrinsic, tangent)
    moment = d.lemma(
        "lemma-8-laplace",
        {"Z": "Z", "V": "V", "v": "v", "kappa": "kappa", "x": "x", "q": "q"},
        "E(x, cosh(q*spectral(Z(x)))) - 1 <= kappa*(exp(q**2*v/2) - 1)",
        "Lemma 8 (laplace): the average of the hyperbolic cosine of the norm.",
        d.assume("series"),
    )
    jensen = _jensen_cosh(d)
    half = d.sign(
        "exp(q*E(x, spectral(Z(x)))) <= 2*cosh(q*E(x, spectral(Z(x))))", "2 cosh(a) - exp(a) = exp(-a)."
    )
    total = d.combine(
        "exp(q*E(x, spectral(Z(x)))) <= 2*kappa*exp(q**2*v/2)",
        "Chain; 1 - kappa is not positive.",
        half,
        jensen,
        moment,
        one,
        times=["1", "2", "2", "2"],
    )
    logs = d.axiom(
        "take-log",
        {"a": "q*E(x, spectral(Z(x)))", "b": "2*kappa*exp(q**2*v/2)"},
        "q*E(x, spectral(Z(x))) <= log(2*kappa) + q**2*v/2",
        "Take logarithms: a product becomes a sum, and the inequality keeps its direction.",
        total,
    )
    divided = d.combine(
        "E(x, spectral(Z(x))) <= log(2*kappa)/q + q*v/2",
        "Divide by q, which is positive.",
        logs,
        times=["1/q"],
    )
    d.optimise("q", "sqrt(2*log(2*kappa)/v)", d.conclude, "The best q balances the two terms.", divided)
    return d


def _state_frobenius() -> Derivation:
    """What is to be proved."""
    return Derivation(
        "lemma-8-min",
        "Matrix series, the smaller of two bounds",
        "The expected norm is at most the smaller of sqrt(2 v log(2 kappa)) and the root of the sum of "
        "squared Frobenius norms.",
        "Lemma 8(b), and the fact that the spectral norm is at most the Frobenius norm.",
        {**{k: v for k, v in _SERIES.items() if k != "kappa"}, "F2": "positive after: sum of ||B_k||_F^2"},
        "E(x, spectral(Z(x))) <= min(sqrt(2*v*log(2*F2/v)), sqrt(F2))",
        hypotheses={
            "series": _series("F2"),
            "intrinsic": ("0 <= log(F2/v)", "the intrinsic dimension F2/v is at least 1"),
        },
        sources=(_SOURCE,),
        domain="up to 10 matrices up to 4 x 4, all signs enumerated",
    )


def derive_frobenius() -> Derivation:
    """The elementary bound by the Frobenius norms, and the smaller of the two."""
    d = _state_frobenius()
    series, intrinsic = d.assume("series"), d.assume("intrinsic")
    first = d.lemma(
        "lemma-8b",
        {"Z": "Z", "V": "V", "v": "v", "kappa": "F2/v", "x": "x"},
        "E(x, spectral(Z(x))) <= sqrt(2*v*log(2*F2/v))",
        "Lemma 8(b), with the intrinsic dimension written out.",
        series,
        intrinsic,
    )
    below = d.paper(
        "spectral(Z(x)) <= frobenius(Z(x))",
        "The largest singular value is one of those that are squared and added.",
    )
    mean = d.monotone(
        "E(x, spectral(Z(x))) <= E(x, frobenius(Z(x)))",
        "It holds for every value, so it holds on average.",
        below,
    )
    root = d.axiom(
        "average-below-root-mean-square",
        {"X": "lambda x: frobenius(Z(x))", "w": "x"},
        "E(x, frobenius(Z(x))) <= sqrt(E(x, frobenius(Z(x))**2))",
        "An average is at most the root of the average square (Jensen).",
    )
    square = d.paper(
        "E(x, frobenius(Z(x))**2) == F2",
        "Independent signs: mixed products average to 0, squares to 1.",
        series,
    )
    rooted = d.monotone(
        "sqrt(E(x, frobenius(Z(x))**2)) == sqrt(F2)",
        "Take roots on both sides: the root is an increasing function.",
        square,
    )
    second = d.combine(
        "E(x, spectral(Z(x))) <= sqrt(F2)",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        mean,
        root,
        rooted,
    )
    d.axiom(
        "min-both",
        {"a": "sqrt(2*v*log(2*F2/v))", "b": "sqrt(F2)", "c": "E(x, spectral(Z(x)))"},
        d.conclude,
        "Both bounds hold, so the smaller does.",
        first,
        second,
    )
    return d


_Z = "exp(t**2/(2*v))"


def _beyond_golden(d: Derivation) -> str:
    """z exceeds 41/25, which is above the golden ratio."""
    number = d.interval("41/25 <= exp(1/2)", "A number.", box={})
    far = d.assume("far")
    exponent = d.combine("1/2 <= t**2/(2*v)", "Divide by 2v.", far, times=["1/(2*v)"])
    larger = d.monotone(f"exp(1/2) <= {_Z}", "exp increases.", exponent)
    return d.combine(f"0 <= {_Z} - 41/25", "z exceeds the golden ratio.", number, larger)


def _state_tail() -> Derivation:
    """What is to be proved."""
    return Derivation(
        "lemma-8b-tail",
        "Matrix series, tail, intrinsic dimension",
        "P(|| sum of signed matrices || >= t) <= 2 kappa exp(-t^2/(2v)) for t >= sqrt(v).",
        "Markov's inequality for cosh - 1; with z = exp(t^2/(2v)) what remains is a polynomial "
        "inequality in z.",
        {
            **_SERIES,
            "p": "nonnegative after: the probability that the norm is at least t",
            "t": "positive after: threshold",
        },
        "p <= 2*kappa*exp(-(t**2/(2*v)))",
        hypotheses={
            "series": _series("kappa*v"),
            "tail": ("norm_tail(p, Z, t)", "p is the probability that the norm is at least t"),
            "far": ("v <= t**2", "t is at least sqrt(v)"),
        },
        sources=(_SOURCE,),
        domain="exact probabilities for up to 5 signs",
    )


def derive_tail() -> Derivation:
    """Form (b), tail."""
    d = _state_tail()
    moment = d.lemma(
        "lemma-8-laplace",
        {"Z": "Z", "V": "V", "v": "v", "kappa": "kappa", "x": "x", "q": "t/v"},
        "E(x, cosh(t/v*spectral(Z(x)))) - 1 <= kappa*(exp((t/v)**2*v/2) - 1)",
        "The exponential moment at q = t/v.",
        d.assume("series"),
    )
    markov = d.paper(
        "p*(cosh(t/v*t) - 1) <= E(x, cosh(t/v*spectral(Z(x)))) - 1",
        "Markov's inequality: cosh(q s) - 1 is not negative and increases for s >= 0, so it is at least "
        "cosh(q t) - 1 whenever the norm s is at least t. p is the probability of that.",
        d.assume("tail"),
    )
    start = d.combine(
        f"p*(({_Z}**2 + 1/{_Z}**2)/2 - 1) <= kappa*({_Z} - 1)", "Both, written in z.", markov, moment
    )
    above = _beyond_golden(d)
    divided = d.combine(
        f"p*({_Z} - 1)*({_Z} + 1)**2/(2*{_Z}**2) <= kappa",
        "Divide by z - 1, which is at least 16/25.",
        start,
        above,
        times=[f"1/({_Z} - 1)"],
    )
    factor = d.combine(
        f"0 <= ({_Z} - 41/25)*({_Z} + 16/25)",
        "A product of nonnegative numbers.",
        above,
        times=[f"{_Z} + 16/25"],
    )
    golden = d.combine(f"31/625 <= {_Z}**2 - {_Z} - 1", "The product multiplied out.", factor)
    small = d.sign("0 <= 31/625", "A number.")
    excess = d.combine(
        f"0 <= p*({_Z}**2 - {_Z} - 1)/(2*{_Z}**2)",
        "Weight by p.",
        small,
        golden,
        times=[f"p/(2*{_Z}**2)"] * 2,
    )
    below = d.combine(f"p*{_Z}/2 <= kappa", "(z - 1)(z + 1)^2 = z^3 + (z^2 - z - 1).", divided, excess)
    d.combine(d.conclude, "Solve for p.", below, times=[f"2/{_Z}"])
    return d


def derive_tail_near() -> Derivation:
    """Form (b), tail, for small thresholds: the bound is then above 1."""
    d = Derivation(
        "lemma-8b-tail-near",
        "Matrix series, tail, small thresholds",
        "The bound 2 kappa exp(-t^2/(2v)) holds for t <= sqrt(v) too, because it is above 1 there.",
        "A probability is at most 1.",
        {
            **{k: _SERIES[k] for k in ("v", "kappa")},
            "p": "nonnegative after: the probability that the norm is at least t",
            "t": "nonnegative after: threshold",
        },
        "p <= 2*kappa*exp(-(t**2/(2*v)))",
        hypotheses={
            "near": ("t**2 <= v", "t is at most sqrt(v)"),
            "intrinsic": ("0 <= log(kappa)", "the intrinsic dimension is at least 1"),
            "probability": ("p <= 1", "p is a probability"),
        },
        sources=("Here",),
        domain="exact probabilities for up to 5 signs",
    )
    near, intrinsic, probability = (d.assume(h) for h in ("near", "intrinsic", "probability"))
    tangent = d.axiom("log-tangent", {"a": "kappa"}, "log(kappa) <= kappa - 1", "log lies below its tangent.")
    one = d.combine("0 <= kappa - 1", "So kappa >= 1.", intrinsic, tangent)
    exponent = d.combine("-(1/2) <= -(t**2/(2*v))", "Divide by 2v.", near, times=["1/(2*v)"])
    larger = d.monotone("exp(-(1/2)) <= exp(-(t**2/(2*v)))", "exp increases.", exponent)
    number = d.interval("1/2 <= exp(-(1/2))", "A number.", box={})
    half = d.combine("1/2 <= exp(-(t**2/(2*v)))", "The exponential is at least one half.", number, larger)
    d.combine(
        d.conclude,
        "p is at most 1, 1 is at most kappa, and kappa is at most twice kappa times the exponential.",
        probability,
        one,
        half,
        times=["1", "1", "2*kappa"],
    )
    return d


def derive_acosh() -> Derivation:
    """The sharper form with both variances and any parameter."""
    moment = "1 + (F2/v1*(exp(q**2*v1/2) - 1) + F2/v2*(exp(q**2*v2/2) - 1))/2"
    d = Derivation(
        "lemma-8-acosh",
        "Matrix series, sharper expected norm",
        "E || sum of signed matrices || <= acosh(1 + (1/2) sum_j kappa_j (exp(q^2 v_j/2) - 1))/q for every "
        "q > 0, "
        "kappa_j = F2/v_j for the two variances.",
        "The exponential moment with one term for each variance, Jensen's inequality, and cosh inverted.",
        {
            **{k: _SERIES[k] for k in ("Z", "V", "v", "x")},
            "v1": "positive after: norm of the first variance",
            "v2": "positive after: norm of the second variance",
            "F2": "positive after: sum of ||B_k||_F^2",
            "q": "positive after: the parameter",
        },
        f"E(x, spectral(Z(x))) <= acosh({moment})/q",
        hypotheses={
            "series": _series("F2"),
            "norms": ("norms_of_variances(V, v1, v2)", "the two variances in V have the norms v1 and v2"),
        },
        sources=(_SOURCE,),
        domain="up to 5 matrices 2 x 2, all signs enumerated",
    )
    series, norms = d.assume("series"), d.assume("norms")
    average = _moment_of_norm(d, series, "F2")
    intrinsic = d.paper(
        "trace_exp(q, V) <= F2/v1*(exp(q**2*v1/2) - 1) + F2/v2*(exp(q**2*v2/2) - 1)",
        "phi(s) = exp(q^2 s/2) - 1 is convex with phi(0) = 0, so phi(s) <= (s/v_j) phi(v_j) for 0 <= s <= "
        "v_j; "
        "add over the eigenvalues of each variance, whose sum is F2.",
        series,
        norms,
    )
    jensen = _jensen_cosh(d)
    cosh = d.combine(
        f"cosh(q*E(x, spectral(Z(x)))) <= {moment}",
        "Put the lines together and halve.",
        jensen,
        *average,
        intrinsic,
        times=["1", "1/2", "1/2", "1/2"],
    )
    inverted = d.axiom(
        "take-acosh",
        {"a": "q*E(x, spectral(Z(x)))", "b": moment},
        f"q*E(x, spectral(Z(x))) <= acosh({moment})",
        "cosh increases from 0 on, so it can be inverted.",
        cosh,
    )
    d.combine(d.conclude, "Divide by q, which is positive.", inverted, times=["1/q"])
    return d


def derive_tropp() -> Derivation:
    """Form (a): Tropp's Theorem 4.1.1."""
    d = Derivation(
        "lemma-8a",
        "Matrix series, Tropp's form",
        "E || sum of signed matrices || <= sqrt(2 v log(d1 + d2)), the form in the literature.",
        "A cited theorem.",
        {**{k: _SERIES[k] for k in ("Z", "v", "x")}, "D": "count after: d1 + d2, rows plus columns"},
        "E(x, spectral(Z(x))) <= sqrt(2*v*log(D))",
        hypotheses={
            "series": (
                "rademacher_series_of_shape(Z, v, D)",
                "Z(x) is the sum of fixed matrices with the signs x(k), D the rows plus the columns, v the "
                "larger norm of the two variances",
            )
        },
        sources=(_SOURCE,),
        domain="for comparison",
    )
    d.cite(
        "tropp-rademacher",
        {k: k for k in ("Z", "v", "D", "x")},
        d.conclude,
        "Theorem 4.1.1 there.",
        d.assume("series"),
    )
    return d


def derive_bernstein() -> Derivation:
    """Form (c): matrix Bernstein."""
    d = Derivation(
        "lemma-8c",
        "Matrix Bernstein inequality",
        "For independent centred matrices bounded by b: E ||Z|| <= sqrt(2 v log(d1 + d2)) + b log(d1 + "
        "d2)/3.",
        "A cited theorem.",
        {
            "Z": "real after: the sum",
            "v": "positive after: variance",
            "b": "positive after: bound on each matrix",
            "D": "count after: rows plus columns",
            "w": "point dummy: the randomness",
        },
        "E(w, spectral(Z(w))) <= sqrt(2*v*log(D)) + b*log(D)/3",
        hypotheses={
            "series": (
                "bounded_series_of_shape(Z, v, b, D)",
                "Z(w) is a sum of independent centred matrices of norm at most b, D the rows plus the "
                "columns, "
                "v the larger norm of the two variances",
            )
        },
        sources=(_SOURCE,),
        domain="for comparison",
    )
    d.cite(
        "matrix-bernstein",
        {k: k for k in ("Z", "v", "b", "D", "w")},
        d.conclude,
        "Theorem 6.1.1 there.",
        d.assume("series"),
    )
    return d


def derive_intrinsic_bernstein() -> Derivation:
    """Form (d): intrinsic matrix Bernstein, tail."""
    d = Derivation(
        "lemma-8d",
        "Matrix Bernstein inequality, intrinsic dimension",
        "P(||Z|| >= t) <= 4 D exp(-(t^2/2)/(v + b t/3)) with D the intrinsic dimension.",
        "A cited theorem.",
        {
            "p": "nonnegative after: the probability that the norm is at least t",
            "v": "positive after: variance",
            "b": "positive after: bound on each matrix",
            "D": "positive after: intrinsic dimension",
            "t": "positive after: threshold",
        },
        "p <= 4*D*exp(-(t**2/2)/(v + b*t/3))",
        hypotheses={
            "tail": ("tail_of_bounded_series(p, t, v, b, D)", "p is that probability"),
            "far": ("sqrt(v) + b/3 <= t", "t is not too small"),
        },
        sources=(_SOURCE,),
        domain="for comparison",
    )
    tail, far = d.assume("tail"), d.assume("far")
    d.cite(
        "intrinsic-bernstein",
        {k: k for k in ("p", "v", "b", "D", "t")},
        d.conclude,
        "Theorem 7.3.1 there.",
        tail,
        far,
    )
    return d


DERIVATIONS = (
    derive_laplace,
    derive_expectation,
    derive_frobenius,
    derive_tail,
    derive_tail_near,
    derive_acosh,
    derive_tropp,
    derive_bernstein,
    derive_intrinsic_bernstein,
)
