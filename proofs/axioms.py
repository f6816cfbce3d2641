"""What the kernel knows of expectation, sum and supremum: one table of named schemas.

TRUSTED. ``E`` is the expectation over a probability measure named by its variable, ``sup`` the supremum over
a nonempty set, taken where it is finite. Linearity of ``E`` and ``sum``, and positive factors and added
constants of ``sup`` are in the normal forms; monotonicity is the rule ``monotone``. Each schema: variables
(name, sort, kind), hypotheses, conclusion; what is put for a variable of kind ``arbitrary`` must be a free
parameter, of which nothing is supposed. ``X``, ``Y`` stand for functions of the bound variables.
"""

from __future__ import annotations

Schema = tuple[tuple[tuple[str, str, str], ...], tuple[str, ...], str]

_F = ("X", "real", "after")
_G = ("Y", "real", "after")
_E = ("w", "any", "dummy")
_T = ("t", "any", "dummy")

AXIOMS: dict[str, Schema] = {
    # a supremum of an average is at most the average of the supremum
    "sup-of-average": ((_F, _E, _T), (), "(le (sup t (E w (X w t))) (E w (sup t (X w t))))"),
    # a supremum of a sum is at most the sum of the suprema
    "sup-of-sum": ((_F, _G, _T), (), "(le (sup t (add (X t) (Y t))) (add (sup t (X t)) (sup t (Y t))))"),
    # every value is at most the supremum
    "value-below-sup": ((_F, _T), (), "(le (X t) (sup t (X t)))"),
    # the average is at most the root of the average square
    "average-below-root-mean-square": ((_F, _E), (), "(le (E w (X w)) (sqrt (E w (pow (X w) 2))))"),
    # Jensen for the convex functions that are used
    "jensen-exp": ((_F, _E), (), "(le (exp (E w (X w))) (E w (exp (X w))))"),
    "jensen-cosh": ((_F, _E), (), "(le (cosh (E w (X w))) (E w (cosh (X w))))"),
    # exp of the supremum is the supremum of exp, at most the sum over a finite set
    "max-below-sum": ((_F, _T), ("(finite t)",), "(le (exp (sup t (X t))) (sum t (exp (X t))))"),
    # averages and finite sums may be exchanged; squares are not negative
    "average-of-sum": ((_F, _E, _T), (), "(eq (E w (sum t (X w t))) (sum t (E w (X w t))))"),
    "squares-add-up": ((("X", "real", "after"), ("k", "any", "dummy")), (), "(le 0 (sum k (pow (X k) 2)))"),
    # one fair sign; and independent signs, one unit at a time: what holds for one unit, whatever the rest G
    # may be, holds for all units, by conditioning on the signs of the others
    "average-over-one-sign": (
        (_F, ("c", "sign", "dummy")),
        (),
        "(eq (E c (X c)) (div (add (X 1) (X -1)) 2))",
    ),
    "one-unit-at-a-time": (
        (
            *(_F, _G, ("G", "real", "arbitrary"), _T),
            *(("e", "signs", "dummy"), ("c", "sign", "dummy"), ("i", "any", "dummy")),
        ),
        ("(le (E c (sup t (add (mul c (X i t)) (G t)))) (E c (sup t (add (mul c (Y i t)) (G t)))))",),
        "(le (E e (sup t (sum i (mul (e i) (X i t))))) (E e (sup t (sum i (mul (e i) (Y i t))))))",
    ),
    "signs-mirrored": (
        (_F, ("x", "signs", "dummy"), ("j", "any", "dummy")),
        (),
        "(eq (E x (X x)) (E x (X (lambda j (neg (x j))))))",
    ),
    "gauss-mirrored": (
        (_F, ("x", "gauss", "dummy"), ("j", "any", "dummy")),
        (),
        "(eq (E x (X x)) (E x (X (lambda j (neg (x j))))))",
    ),
    "antisymmetric": (
        (("a", "real", "after"), ("b", "real", "after")),
        ("(le a b)", "(le b a)"),
        "(eq a b)",
    ),
    "below-modulus": ((("a", "real", "after"),), (), "(le a (abs a))"),
    "abs-below": (
        (("a", "real", "after"), ("c", "real", "after")),
        ("(le a c)", "(le (neg a) c)"),
        "(le (abs a) c)",
    ),
    # matrices by their entries; a dummy of sort entry runs through all of them
    "inner-by-entries": (
        (("A", "real", "after"), ("B", "real", "after"), ("k", "entry", "dummy")),
        (),
        "(eq (inner A B) (sum k (mul (entry A k) (entry B k))))",
    ),
    "frobenius-by-entries": (
        (("A", "real", "after"), ("k", "entry", "dummy")),
        (),
        "(eq (pow (frobenius A) 2) (sum k (pow (entry A k) 2)))",
    ),
    # a tangent
    "log-tangent": ((("a", "positive", "after"),), (), "(le (log a) (sub a 1))"),
    # the inverse of the binary relative entropy: kl_inverse(q, c) = max{p in [q, 1] : kl(q, p) <= c}
    "invert-kl": (
        (("q", "real", "after"), ("p", "real", "after"), ("c", "real", "after")),
        ("(le (kl q p) c)",),
        "(le p (kl_inverse q c))",
    ),
    # max and min
    "min-both": (
        (("a", "real", "after"), ("b", "real", "after"), ("c", "real", "after")),
        ("(le c a)", "(le c b)"),
        "(le c (min a b))",
    ),
    "max-right": ((("a", "real", "after"), ("b", "real", "after")), (), "(le b (max a b))"),
    # monotone logarithm and root, backwards
    "take-log": ((("a", "real", "after"), ("b", "positive", "after")), ("(le (exp a) b)",), "(le a (log b))"),
    "take-acosh": (
        (("a", "real", "after"), ("b", "real", "after")),
        ("(le (cosh a) b)",),
        "(le a (acosh b))",
    ),
    "take-root": (
        (("a", "real", "after"), ("b", "nonnegative", "after")),
        ("(le (pow a 2) b)",),
        "(le a (sqrt b))",
    ),
}

VOCABULARY: dict[str, str] = {
    "norm": "a norm",
    "abs": "modulus",
    "osc": "largest minus smallest entry",
    "frobenius": "Frobenius norm of a matrix",
    "nuclear": "nuclear norm of a matrix",
    "spectral": "spectral norm of a matrix",
    "inner": "inner product of two matrices",
    "entry": "entry(A, k) is entry k of the matrix A, all entries in a fixed order",
    "kl": "binary relative entropy",
    "kl_inverse": "max{p in [q, 1] : kl(q, p) <= c}",
    "binomial_tail_inverse": "sup{p : P(Binomial(n, p) <= k) >= delta}",
    "log_power": "log_power(m, a) = (log m)^a",
    "trace_cosh": "trace_cosh(q, Z) = tr[cosh(q H(Z)) - I], H the Hermitian dilation",
    "trace_exp": "trace_exp(q, V) = tr[exp(q^2 V/2) - I]",
    "finite": "the set that a bound variable runs through is finite",
    "changed": "changed(S, k, y) is the sample S with unit k replaced by y",
    "softmax_average": "f(W) = sum over k of softmax(s(., W))_k a_k",
    "average_of_independent_units": "emp(n) is a mean of m independent losses in [0, 1] of mean risk(n)",
    "average_of_independent_draws": "the same for draws that are independent given the sample",
    "errors_of_independent_units": "k is Binomial(n, risk)",
    "prior_moment": "moment(S) is a prior's average of exp(m kl(empirical risk, risk)); xi = xi(m)",
    "posterior_average": "emp and risk are averages over one posterior, KL its relative entropy to the prior",
    "gaussian_entropy": "KL is the relative entropy of N(a, s^2 I) to N(b, r^2 I) in dimension D, ||a - "
    "b|| = dist",
    "middle_terms": "b(k) = C(m,k) (k/m)^k (1-k/m)^(m-k) for k = 1..m-1",
    "inverse_roots": "r(k) = 1/sqrt(k (m-k))",
    "entropy_integral": "J is the integral of sqrt(log N(u)) from a to c/2",
    "rademacher_series": "Z(x) sums fixed matrices with signs x: variances V of norm v, squared norms F2",
    "rademacher_series_of_shape": "the same, v the norm of its variances and D rows plus columns",
    "bounded_series_of_shape": "Z sums independent centred matrices of norm at most b; v, D as before",
    "norms_of_variances": "V holds two matrices of spectral norms v1 and v2",
    "acosh": "the number from 0 on whose cosh is the argument",
    "norm_tail": "p is P(||Z(x)|| >= t) over the signs x",
    "tail_of_bounded_series": "p is P(||Z|| >= t) for independent centred matrices",
    "smallest_net_of_ball": "logN is the log-size of a smallest eta-net of a unit ball of dimension D",
    "low_rank_net": "logN is the log-size of the net of pairs of factors (Lemma 11b)",
    "smallest_frobenius_net": "logN is the log-size of a smallest Frobenius net of low-rank matrices",
}
"""Heads that mean the same in every derivation. Every other name must be declared as a variable, and no
variable may have one of these names."""
