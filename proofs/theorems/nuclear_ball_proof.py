"""Derivations of Theorem B: nuclear-norm balls against a matrix Rademacher series."""

from __future__ import annotations

from proofs.build import Derivation
from proofs.theorems.complexity_steps import (
    COMPLEXITY,
    INTRINSIC,
    SERIES_NORM,
    below_nuclear,
    scalar_contraction,
    series_of,
    vector_contraction,
)
from proofs.theorems.gap_steps import FIXED, LIPSCHITZ_SCALAR, LIPSCHITZ_VECTOR
from proofs.theorems.gap_theorem import GapTheorem

_TROPP = "J. A. Tropp, arXiv:1501.01571"
_SOURCES = {"b1": (_TROPP,), "b2": ("A. Maurer, arXiv:1605.00251", _TROPP)}
_DOMAIN = "small classes, all signs enumerated"
_BOUND = {"b1": f"L*nu*{SERIES_NORM}/m", "b2": f"sqrt(2)*L*nu*{SERIES_NORM}/m"}
_SIGNED = {"b1": "sum(i, e(i)*{})", "b2": "sum(i, sum(k, x(i, k)*{}))"}
_LINEAR = {"b1": "bilinear class", "b2": "linear outputs: matrices phi_i e_k^T"}
# Complexities
_CLASS = {
    "h": "real after: h(i, W), the loss at unit i",
    "g": "real after: g(i, W) = <W, G(x_i)>",
    "a": "real after: a(W), the trained matrix",
    "T": "real after: T(e), the signed sum of the matrices",
    "V": "real after: the block-diagonal variance of the series",
    "L": "positive after: Lipschitz constant of the loss",
    "nu": "nonnegative after: nuclear budget",
    "m": "count after: number of units",
    "series_variance": "positive after: v, the larger norm of the two variances",
    "series_frobenius_sq": "positive after: F^2, sum of squared Frobenius norms",
    "e": "signs dummy: signs e(i)",
    "x": "signs dummy: signs x(i, k)",
    "W": "point dummy: a parameter",
    "U": "point dummy: a parameter",
    "i": "point dummy: a unit",
    "k": "point dummy: an output",
}
_BALL = ("nuclear(a(W)) <= nu", "the nuclear ball")


def derive_b1_complexity() -> Derivation:
    """Rademacher complexity of Theorem B1."""
    signed = _SIGNED["b1"].format("g(i, W)")
    d = Derivation(
        "complexity-b1",
        "Rademacher complexity of a scalar bilinear class in a nuclear ball",
        "The complexity is at most L nu/m times the expected norm of a matrix series.",
        "Scalar contraction, duality, Lemma 8.",
        _CLASS,
        f"{COMPLEXITY} <= {_BOUND['b1']}",
        hypotheses={
            "lipschitz": ("h(i, W) - h(i, U) <= L*abs(g(i, W) - g(i, U))", LIPSCHITZ_SCALAR[1]),
            "linear": (f"{signed} == inner(a(W), T(e))", _LINEAR["b1"]),
            "ball": _BALL,
            "series": series_of("T"),
            "intrinsic": INTRINSIC,
        },
        sources=_SOURCES["b1"],
        domain=_DOMAIN,
    )
    contraction = scalar_contraction(d, d.assume("lipschitz"), signed)
    below = below_nuclear(d, d.assume("linear"), signed, sign="e")
    d.combine(
        d.conclude,
        "Put the lines together and divide by the number of units m.",
        contraction,
        below,
        times=["1/m", "L/m"],
    )
    return d


def derive_b2_complexity() -> Derivation:
    """Rademacher complexity of Theorem B2."""
    signed = _SIGNED["b2"].format("g(i, k, W)")
    d = Derivation(
        "complexity-b2",
        "Rademacher complexity of vector outputs in a nuclear ball",
        "The complexity is at most sqrt(2) L nu/m times the expected norm of a matrix series.",
        "Vector contraction, duality, Lemma 8.",
        {
            **_CLASS,
            "g": "real after: g(i, k, W), output k at unit i",
            "T": "real after: T(x), the signed sum of the matrices",
        },
        f"{COMPLEXITY} <= {_BOUND['b2']}",
        hypotheses={
            "lipschitz": (
                "h(i, W) - h(i, U) <= L*sqrt(sum(k, (g(i, k, W) - g(i, k, U))**2))",
                LIPSCHITZ_VECTOR[1],
            ),
            "linear": (f"{signed} == inner(a(W), T(x))", _LINEAR["b2"]),
            "ball": _BALL,
            "series": series_of("T"),
            "intrinsic": INTRINSIC,
        },
        sources=_SOURCES["b2"],
        domain=_DOMAIN,
    )
    contraction = vector_contraction(d, d.assume("lipschitz"), "g(i, k, W)", signed)
    below = below_nuclear(d, d.assume("linear"), signed, sign="x")
    d.combine(
        d.conclude,
        "Put the lines together and divide by the number of units m.",
        contraction,
        below,
        times=["1/m", "sqrt(2)*L/m"],
    )
    return d


# Gap theorems: everything but the trained matrix is fixed before the sample
_GAP = {
    **FIXED,
    "g": "real before: g(S, i, W) = <W, G(x_i)>",
    "a": "real before: a(W), the trained matrix",
    "T1": "real after: T1(e), the signed sum of the matrices",
    "V": _CLASS["V"],
    "nu": "positive before: nuclear budget",
    "series_variance": _CLASS["series_variance"],
    "series_frobenius_sq": _CLASS["series_frobenius_sq"],
}
_SERIES = {"ball": _BALL, "series": series_of("T1"), "intrinsic": INTRINSIC}
_TERMS = {
    **{k: k for k in _CLASS},
    "h": "lambda i, W: l(W, Z, i)",
    "a": "lambda W: a(W)",
    "T": "T1",
}
B1 = GapTheorem(
    key="b1",
    label="B1",
    title="scalar bilinear class in a nuclear ball",
    goal="The gap is at most twice L nu/m times the expected norm of a matrix series.",
    variables=_GAP,
    hypotheses={
        "lipschitz": LIPSCHITZ_SCALAR,
        "linear": (_SIGNED["b1"].format("g(Z, i, W)") + " == inner(a(W), T1(e))", _LINEAR["b1"]),
        **_SERIES,
    },
    terms={**_TERMS, "g": "lambda i, W: g(Z, i, W)"},
    bound=_BOUND["b1"],
    sources=_SOURCES["b1"],
    domain=_DOMAIN,
)
B2 = GapTheorem(
    key="b2",
    label="B2",
    title="vector outputs in a nuclear ball",
    goal="As B1 for K outputs, with the vector contraction's sqrt(2).",
    variables={
        **_GAP,
        "g": "real before: g(S, i, k, W), output k at unit i",
        "T1": "real after: T1(x), the signed sum of the matrices",
    },
    hypotheses={
        "lipschitz": LIPSCHITZ_VECTOR,
        "linear": (_SIGNED["b2"].format("g(Z, i, k, W)") + " == inner(a(W), T1(x))", _LINEAR["b2"]),
        **_SERIES,
    },
    terms={**_TERMS, "g": "lambda i, k, W: g(Z, i, k, W)"},
    bound=_BOUND["b2"],
    sources=_SOURCES["b2"],
    domain=_DOMAIN,
)


def derive_b1_peeled() -> Derivation:
    """B1 with the nuclear norm measured after training."""
    return B1.derive_peeled(nu="(c0*rho**j)")


def derive_b2_peeled() -> Derivation:
    """B2 with the nuclear norm measured after training."""
    return B2.derive_peeled(nu="(c0*rho**j)")


DERIVATIONS = (
    derive_b1_complexity,
    derive_b2_complexity,
    B1.derive,
    B2.derive,
    derive_b1_peeled,
    derive_b2_peeled,
)
