"""Derivations of Theorem A: a trained read-out over frozen features or frozen attention."""

from __future__ import annotations

from proofs.build import Derivation
from proofs.theorems.complexity_steps import (
    COMPLEXITY,
    below_frobenius,
    scalar_contraction,
    vector_contraction,
)
from proofs.theorems.gap_steps import (
    CONFIDENCE,
    FIXED,
    GAP,
    LIPSCHITZ_SCALAR,
    LIPSCHITZ_VECTOR,
    RADEMACHER,
    SAMPLE,
    conclude_gap,
)
from proofs.theorems.gap_theorem import GapTheorem

_SOURCES = ("A. Maurer, arXiv:1605.00251",)
_SCALAR_SOURCES = ("M. Ledoux, M. Talagrand, Probability in Banach Spaces, 1991",)
_DOMAIN = "small heads, all signs enumerated"
_SIGNED, _SCALAR_SIGNED = "sum(i, sum(k, x(i, k)*{}))", "sum(i, e(i)*{})"
_BOUND = "sqrt(2)*L*omega*sqrt(K*sum_sq_features)/m"
_SCALAR_BOUND = "L*omega*sqrt(sum_sq_features)/m"
_LINEAR = "the outputs are linear in the trained matrix"
_SIZE = "independent signs: the columns of E_i have identity covariance"
_BALL = "the Frobenius ball"

# Complexities
_CLASS = {
    "h": "real after: h(i, W), the loss at unit i",
    "g": "real after: g(i, k, W), output k at unit i",
    "a": "real after: a(W), the trained matrix",
    "T": "real after: T(x) = sum of Psi_i^T E_i, E_i the signs of unit i",
    "L": "positive after: Lipschitz constant of the loss",
    "omega": "nonnegative after: Frobenius budget",
    "K": "count after: number of outputs",
    "m": "count after: number of units",
    "sum_sq_features": "nonnegative after: sum of squared feature norms",
    "e": "signs dummy: signs e(i)",
    "x": "signs dummy: signs x(i, k)",
    "W": "point dummy: a parameter",
    "U": "point dummy: a parameter",
    "i": "point dummy: a unit",
    "k": "point dummy: an output",
}
_CLASS_HYPOTHESES = {
    "lipschitz": (
        "h(i, W) - h(i, U) <= L*sqrt(sum(k, (g(i, k, W) - g(i, k, U))**2))",
        "the loss is L-Lipschitz in the outputs",
    ),
    "linear": (_SIGNED.format("g(i, k, W)") + " == inner(a(W), T(x))", _LINEAR),
    "size": ("E(x, frobenius(T(x))**2) == K*sum_sq_features", _SIZE),
    "ball": ("frobenius(a(W)) <= omega", _BALL),
}


def derive_complexity() -> Derivation:
    """Rademacher complexity of Theorem A1."""
    d = Derivation(
        "complexity-a1",
        "Rademacher complexity of a linear read-out",
        "The class of frozen features and a trained matrix in a Frobenius ball has complexity at most "
        "sqrt(2) L omega sqrt(K sum ||Psi||^2)/m.",
        "Vector contraction, then Cauchy-Schwarz for matrices.",
        _CLASS,
        f"{COMPLEXITY} <= {_BOUND}",
        hypotheses=_CLASS_HYPOTHESES,
        sources=_SOURCES,
        domain=_DOMAIN,
    )
    signed = _SIGNED.format("g(i, k, W)")
    lipschitz, linear, ball, size = (d.assume(h) for h in ("lipschitz", "linear", "ball", "size"))
    contraction = vector_contraction(d, lipschitz, "g(i, k, W)", signed)
    below = below_frobenius(d, linear, ball, signed)
    rooted = d.monotone(
        "sqrt(E(x, frobenius(T(x))**2)) == sqrt(K*sum_sq_features)",
        "Take roots on both sides: the root is an increasing function.",
        size,
    )
    d.combine(
        d.conclude,
        "Put the lines together and divide by the number of units m.",
        contraction,
        below,
        rooted,
        times=["1/m", "sqrt(2)*L/m", "sqrt(2)*L*omega/m"],
    )
    return d


def derive_scalar_complexity() -> Derivation:
    """Rademacher complexity of Theorem A1 with one row and one output."""
    d = Derivation(
        "complexity-a1-scalar",
        "Rademacher complexity of a linear read-out with one output",
        "A scalar read-out of frozen features in a Frobenius ball has complexity at most "
        "L omega sqrt(sum ||Psi||^2)/m.",
        "Scalar contraction, then Cauchy-Schwarz.",
        {
            **_CLASS,
            "g": "real after: g(i, W), the output at unit i",
            "T": "real after: T(e), the signed sum of the feature vectors",
        },
        f"{COMPLEXITY} <= {_SCALAR_BOUND}",
        hypotheses={
            "lipschitz": ("h(i, W) - h(i, U) <= L*abs(g(i, W) - g(i, U))", LIPSCHITZ_SCALAR[1]),
            "linear": (_SCALAR_SIGNED.format("g(i, W)") + " == inner(a(W), T(e))", _LINEAR),
            "size": ("E(e, frobenius(T(e))**2) == sum_sq_features", "independent signs"),
            "ball": _CLASS_HYPOTHESES["ball"],
        },
        sources=_SCALAR_SOURCES,
        domain=_DOMAIN,
    )
    signed = _SCALAR_SIGNED.format("g(i, W)")
    lipschitz, linear, ball, size = (d.assume(h) for h in ("lipschitz", "linear", "ball", "size"))
    contraction = scalar_contraction(d, lipschitz, signed)
    below = below_frobenius(d, linear, ball, signed, sign="e")
    rooted = d.monotone(
        "sqrt(E(e, frobenius(T(e))**2)) == sqrt(sum_sq_features)",
        "Take roots on both sides: the root is an increasing function.",
        size,
    )
    d.combine(
        d.conclude,
        "Put the lines together and divide by the number of units m.",
        contraction,
        below,
        rooted,
        times=["1/m", "L/m", "L*omega/m"],
    )
    return d


# Gap theorems: everything but the trained matrix is fixed before the sample
_GAP = {
    **FIXED,
    "g": "real before: g(S, i, k, W), output k at unit i of the sample S; the features are fixed before "
    "the sample",
    "a": "real before: a(W), the trained matrix",
    "T1": "real after: T1(x), the signed sum of the features",
    "omega": "nonnegative before: Frobenius budget",
    "K": "count before: number of outputs",
    "sum_sq_features": "nonnegative after: sum of squared feature norms on the sample",
}
_TERMS = {
    **{k: k for k in _CLASS},
    "h": "lambda i, W: l(W, Z, i)",
    "a": "lambda W: a(W)",
    "T": "T1",
}
A1 = GapTheorem(
    key="a1",
    label="A1",
    title="frozen features, trained read-out",
    goal="With probability at least 1 - delta, for every matrix in the Frobenius ball, the gap is at most "
    "twice the complexity plus the confidence term.",
    variables=_GAP,
    hypotheses={
        "lipschitz": LIPSCHITZ_VECTOR,
        "linear": (_SIGNED.format("g(Z, i, k, W)") + " == inner(a(W), T1(x))", _LINEAR),
        "size": ("E(x, frobenius(T1(x))**2) == K*sum_sq_features", _SIZE),
        "ball": ("frobenius(a(W)) <= omega", _BALL),
    },
    terms={**_TERMS, "g": "lambda i, k, W: g(Z, i, k, W)"},
    bound=_BOUND,
    sources=_SOURCES,
    domain="as complexity-a1",
)
A1_SCALAR = GapTheorem(
    key="a1-scalar",
    label="A1-scalar",
    title="frozen features, trained read-out with one output",
    goal="As A1 for f_W(x) = <W, Psi(x)>: the scalar contraction has constant 1 instead of sqrt(2).",
    variables={
        **_GAP,
        "g": "real before: g(S, i, W), the output at unit i of the sample S; the features are fixed before "
        "the sample",
        "T1": "real after: T1(e), the signed sum of the feature vectors",
    },
    hypotheses={
        "lipschitz": LIPSCHITZ_SCALAR,
        "linear": (_SCALAR_SIGNED.format("g(Z, i, W)") + " == inner(a(W), T1(e))", _LINEAR),
        "size": ("E(e, frobenius(T1(e))**2) == sum_sq_features", "independent signs"),
        "ball": ("frobenius(a(W)) <= omega", _BALL),
    },
    terms={**_TERMS, "g": "lambda i, W: g(Z, i, W)"},
    bound=_SCALAR_BOUND,
    sources=_SCALAR_SOURCES,
    domain="as complexity-a1-scalar",
)


def derive_a2() -> Derivation:
    """Theorem A2."""
    bound = "sqrt(2)*L*omega*attention_spectral*tokens_spectral*sqrt(K*attention_rank/m)"
    d = Derivation(
        "theorem-a2",
        "Theorem A2: frozen attention",
        "With frozen attention of stable rank at most R the gap is of order sqrt(R/m), times the norms.",
        "Theorem A1 with features A(x) X, and ||A X||_F <= ||A||_2 sqrt(stable rank of A) ||X||_2.",
        {
            **A1.variables,
            "q": "nonnegative after: q(i) = ||A_i X_i||_F^2",
            "attention_spectral": "positive before: bound on the attention matrices' spectral norm",
            "attention_rank": "positive before: bound on their stable rank",
            "tokens_spectral": "positive before: bound on the token matrices' spectral norm",
        },
        f"{GAP} <= 2*({bound}) + {CONFIDENCE}",
        "delta",
        {
            **SAMPLE,
            **A1.hypotheses,
            "units": ("sum(i, 1) == m", "there are m units"),
            "total": ("sum_sq_features == sum(i, q(i))", "the squared feature norms add up"),
            "unit": (
                "q(i) <= attention_spectral**2*attention_rank*tokens_spectral**2",
                "||A X||_F <= ||A||_F ||X||_2 and ||A||_F^2 = ||A||_2^2 times the stable rank",
            ),
        },
        _SOURCES,
        "as complexity-a1",
    )
    complexity = A1.complexity(d)
    rooted = _feature_norms(d)
    final = d.combine(
        f"{RADEMACHER} <= {bound}",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        complexity,
        rooted,
        times=["1", "sqrt(2)*L*omega/m"],
    )
    conclude_gap(d, final, bound)
    return d


def _feature_norms(d: Derivation) -> str:
    """The sum of the squared norms of A_i X_i, by the bounds on each."""
    units, total, unit = d.assume("units"), d.assume("total"), d.assume("unit")
    each = "attention_spectral**2*attention_rank*tokens_spectral**2"
    added = d.monotone(f"sum(i, q(i)) <= sum(i, {each})", "Add over the units.", unit)
    size = d.combine(
        f"K*sum_sq_features <= K*m*{each}",
        "There are m units, each with the same bound.",
        total,
        added,
        units,
        times=["K", "K", f"K*{each}"],
    )
    return d.monotone(
        f"sqrt(K*sum_sq_features) <= sqrt(K*m*{each})",
        "Take roots on both sides: the root is an increasing function.",
        size,
    )


def derive_a1_peeled() -> Derivation:
    """A1 with the norm measured after training."""
    return A1.derive_peeled(omega="(c0*rho**j)")


def derive_scalar_peeled() -> Derivation:
    """A1-scalar with the norm measured after training."""
    return A1_SCALAR.derive_peeled(omega="(c0*rho**j)")


DERIVATIONS = (
    derive_complexity,
    derive_scalar_complexity,
    A1.derive,
    A1_SCALAR.derive,
    derive_a2,
    derive_a1_peeled,
    derive_scalar_peeled,
)
