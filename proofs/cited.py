"""Results taken from the literature without a checked proof. Nothing else may be assumed.

Each has a statement (variables, hypotheses, conclusion, and the probability with which it may fail), a
sentence in words, and a reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proofs.build import Derivation

_TROPP = "J. A. Tropp, An Introduction to Matrix Concentration Inequalities, arXiv:1501.01571"


def _result(
    name: str,
    reference: str,
    words: str,
    variables: Mapping[str, str],
    conclude: str,
    delta: str = "0",
    hypotheses: Mapping[str, tuple[str, str]] | None = None,
) -> dict[str, Any]:
    record = Derivation(
        name, name, words, "", variables, conclude, delta, hypotheses or {}, (reference,)
    ).data()
    del record["steps"], record["domain"], record["known"]
    return record


CITED: tuple[dict[str, Any], ...] = (
    _result(
        "mcdiarmid",
        "C. McDiarmid, On the method of bounded differences, 1989",
        "A function of m independent units that no single unit moves by more than c exceeds its "
        "mean by t with probability at "
        "most exp(-2 t^2/(m c^2)).",
        {
            "g": "real before: a function of the sample",
            "c": "positive before: bound on the change by one unit",
            "m": "count before: number of units",
            "t": "nonnegative before: deviation",
            "Z": "sample after: the sample",
            "S": "sample dummy: a sample",
            "k": "point dummy: the unit that is changed",
            "y": "point dummy: what stands in its place",
        },
        "g(Z) <= E(S, g(S)) + t",
        "exp(-2*t**2/(m*c**2))",
        {"differences": ("g(S) - g(changed(S, k, y)) <= c", "bounded differences")},
    ),
    _result(
        "markov",
        "A. Markov 1884",
        "A positive random variable exceeds 1/delta times its mean with probability at most delta.",
        {
            "X": "positive before: a positive function of the sample",
            "delta": "positive before: failure probability",
            "Z": "sample after: the sample",
            "S": "sample dummy: a sample",
        },
        "X(Z) <= E(S, X(S))/delta",
        "delta",
    ),
    _result(
        "chernoff-kl",
        "W. Hoeffding, Probability inequalities for sums of bounded random variables, 1963, Theorem 1",
        "The mean of m independent losses in [0, 1] is below its expectation and at relative "
        "entropy more than c with "
        "probability at most exp(-m c).",
        {
            "emp": "fraction after: emp(n), average loss",
            "risk": "fraction before: risk(n), its expectation",
            "n": "index before: which model",
            "m": "count before: number of units",
            "c": "nonnegative before: relative entropy",
        },
        "risk(n) <= kl_inverse(emp(n), c)",
        "exp(-m*c)",
        {"iid": ("average_of_independent_units(emp, risk, m)", "iid losses")},
    ),
    _result(
        "chernoff-kl-draws",
        "W. Hoeffding 1963, Theorem 1, given the sample",
        "The mean of m independent draws from a distribution that was fixed before them, of "
        "expectation risk.",
        {
            "emp": "fraction after: average over the draws",
            "risk": "fraction after: its expectation, given the sample",
            "m": "count before: number of draws",
            "c": "nonnegative before: relative entropy",
        },
        "risk <= kl_inverse(emp, c)",
        "exp(-m*c)",
        {"iid": ("average_of_independent_draws(emp, risk, m)", "independent draws")},
    ),
    _result(
        "clopper-pearson",
        "C. Clopper, E. Pearson, The use of confidence or fiducial limits, 1934",
        "k errors among n independent units: the error probability is at most sup{p : P(Bin(n,p) <= "
        "k) >= delta} except with "
        "probability delta.",
        {
            "k": "index after: errors",
            "n": "count before: units",
            "delta": "positive before: failure probability",
            "risk": "fraction before: error probability",
        },
        "risk <= binomial_tail_inverse(k, n, delta)",
        "delta",
        {"iid": ("errors_of_independent_units(k, risk, n)", "k is Binomial(n, risk)")},
    ),
    _result(
        "pinsker",
        "M. Pinsker 1960",
        "2 (p - q)^2 <= kl(q || p), so kl_inverse(q, c) <= q + sqrt(c/2).",
        {"q": "fraction after: a number in [0, 1]", "c": "nonnegative after: relative entropy"},
        "kl_inverse(q, c) <= q + sqrt(c/2)",
    ),
    _result(
        "matrix-laplace",
        _TROPP + ", Theorem 3.6.1 with Section 4.2 (Lieb's theorem)",
        "For a matrix Rademacher series Z with dilation H: E tr[cosh(q H(Z)) - I] <= tr[exp(q^2 V/2) - I].",
        {
            "Z": "real after: the series",
            "V": "real after: the block-diagonal variance",
            "v": "positive after: the larger norm of the two variances",
            "F2": "positive after: sum of squared Frobenius norms",
            "q": "positive after: the parameter",
            "x": "signs dummy: independent signs",
        },
        "E(x, trace_cosh(q, Z(x))) <= trace_exp(q, V)",
        "0",
        {"series": ("rademacher_series(Z, V, v, F2)", "Z is the series of variance V")},
    ),
    _result(
        "tropp-rademacher",
        _TROPP + ", Theorem 4.1.1",
        "E ||Z|| <= sqrt(2 v log(d1 + d2)).",
        {
            "Z": "real after: the series",
            "v": "positive after: variance",
            "D": "count after: d1 + d2",
            "x": "signs dummy: independent signs",
        },
        "E(x, spectral(Z(x))) <= sqrt(2*v*log(D))",
        "0",
        {"series": ("rademacher_series_of_shape(Z, v, D)", "Z is the series, D rows plus columns")},
    ),
    _result(
        "matrix-bernstein",
        _TROPP + ", Theorem 6.1.1",
        "E ||Z|| <= sqrt(2 v log(d1 + d2)) + b log(d1 + d2)/3.",
        {
            "Z": "real after: a sum of independent centred matrices",
            "v": "positive after: variance",
            "b": "positive after: bound on each",
            "D": "count after: d1 + d2",
            "w": "point dummy: the randomness",
        },
        "E(w, spectral(Z(w))) <= sqrt(2*v*log(D)) + b*log(D)/3",
        "0",
        {"series": ("bounded_series_of_shape(Z, v, b, D)", "Z is that sum")},
    ),
    _result(
        "intrinsic-bernstein",
        _TROPP + ", Theorem 7.3.1",
        "P(||Z|| >= t) <= 4 D exp(-(t^2/2)/(v + b t/3)) for t >= sqrt(v) + b/3.",
        {
            "p": "nonnegative after: tail probability",
            "v": "positive after: variance",
            "b": "positive after: bound on each",
            "D": "positive after: intrinsic dimension",
            "t": "positive after: threshold",
        },
        "p <= 4*D*exp(-(t**2/2)/(v + b*t/3))",
        "0",
        {
            "tail": ("tail_of_bounded_series(p, t, v, b, D)", "p is P(||Z|| >= t)"),
            "far": ("sqrt(v) + b/3 <= t", "far enough"),
        },
    ),
    _result(
        "dudley",
        "R. Dudley 1967; constants as in Mohri, Rostamizadeh, Talwalkar, Foundations of Machine Learning",
        "Rad <= 4a + 12/sqrt(m) integral from a to c/2 of sqrt(log N(u)).",
        {
            "Rad": "real after: complexity",
            "a": "positive after: lower end",
            "J": "nonnegative after: the integral",
            "m": "count after: units",
            "c": "positive after: bound in L2 of the sample",
        },
        "Rad <= 4*a + 12*J/sqrt(m)",
        "0",
        {"entropy": ("entropy_integral(Rad, a, c, J, m)", "the integral")},
    ),
    _result(
        "candes-plan",
        "E. J. Candes, Y. Plan, arXiv:1001.0339, Lemma 3.1",
        "Rank <= r, Frobenius norm 1: an eps-net of at most (9/eps)^((d1+d2+1) r) points.",
        {
            "logN": "real after: log of the number",
            "r": "count after: rank",
            "d1": "count after: rows",
            "d2": "count after: columns",
            "eps": "positive after: resolution",
        },
        "logN <= (d1 + d2 + 1)*r*log(9/eps)",
        "0",
        {"net": ("smallest_frobenius_net(logN, r, d1, d2, eps)", "the net")},
    ),
    _result(
        "robbins",
        "H. Robbins, A remark on Stirling's formula, 1955",
        "C(m,k) (k/m)^k (1-k/m)^(m-k) <= sqrt(m/(2 pi k (m-k))) for 1 <= k <= m-1.",
        {
            "b": "positive after: the middle terms",
            "r": "positive after: 1/sqrt(k (m-k))",
            "m": "count after: units",
            "k": "point dummy: index",
        },
        "b(k) <= sqrt(m/(2*pi()))*r(k)",
        "0",
        {"b": ("middle_terms(b, m)", "b(k)"), "r": ("inverse_roots(r, m)", "r(k) = 1/sqrt(k (m-k))")},
    ),
    _result(
        "gaussian-entropy",
        "S. Kullback, Information Theory and Statistics, 1959",
        "KL(N(a, s^2 I) || N(b, r^2 I)) = (D/2)(s^2/r^2 - 1 - log(s^2/r^2)) + ||a - b||^2/(2 r^2) in "
        "dimension D.",
        {
            "KL": "nonnegative after: relative entropy",
            "D": "count after: dimension",
            "s": "positive after: standard deviation of the first",
            "r": "positive after: standard deviation of the second",
            "dist": "nonnegative after: distance of the means",
        },
        "KL == D/2*(s**2/r**2 - 1 - log(s**2/r**2)) + dist**2/(2*r**2)",
        "0",
        {"gaussians": ("gaussian_entropy(KL, D, s, r, dist)", "KL is that relative entropy")},
    ),
    _result(
        "maurer-moment",
        "A. Maurer, A note on the PAC Bayesian theorem, 2004, arXiv:cs/0411099, Theorem 1",
        "For a prior fixed before the sample, E exp(m kl(empirical risk, risk)) <= xi(m).",
        {
            "moment": "positive before: prior average of exp(m kl)",
            "m": "count before: units",
            "xi": "positive before: xi(m)",
            "S": "sample dummy: a sample",
        },
        "E(S, moment(S)) <= xi",
        "0",
        {"bernoulli": ("prior_moment(moment, m, xi)", "moment is that average")},
    ),
    _result(
        "change-of-measure",
        "M. Donsker, S. Varadhan 1975; convexity of relative entropy",
        "m kl(average empirical risk, average risk) <= KL + log of the prior's exponential moment, "
        "for every posterior.",
        {
            "emp": "fraction after: posterior average of the empirical risk",
            "risk": "fraction after: of the risk",
            "KL": "nonnegative after: relative entropy",
            "moment": "positive after: prior moment",
            "Z": "sample after: the sample",
            "m": "count after: units",
        },
        "m*kl(emp, risk) <= KL + log(moment(Z))",
        "0",
        {"posterior": ("posterior_average(emp, risk, KL, moment, Z)", "averages over one posterior")},
    ),
)
