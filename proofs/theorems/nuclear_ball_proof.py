"""Derivations of Theorem B: nuclear-norm balls against a matrix Rademacher series."""

from __future__ import annotations

from proofs.build import Derivation
from proofs.theorems.gap_steps import (
    COMPLEXITY,
    CONFIDENCE,
    FIXED,
    GAP,
    INTRINSIC,
    LIPSCHITZ_SCALAR,
    LIPSCHITZ_VECTOR,
    ONE_NORM,
    RADEMACHER,
    SAMPLE,
    SERIES_NORM,
    below_nuclear,
    conclude_gap,
    scalar_contraction,
    series_of,
    use_in_cell,
    vector_contraction,
)

_TROPP = "J. A. Tropp, arXiv:1501.01571"
_SOURCES = {"b1": (_TROPP,), "b2": ("A. Maurer, arXiv:1605.00251", _TROPP)}
_DOMAIN = "small classes, all signs enumerated"
_BOUND = {"b1": f"L*{{}}*{SERIES_NORM}/m", "b2": f"sqrt(2)*L*{{}}*{SERIES_NORM}/m"}
_SIGNED = {"b1": "sum(i, e(i)*{})", "b2": "sum(i, sum(k, x(i, k)*{}))"}
_SIGN = {"b1": "e", "b2": "x"}
_LINEAR = {"b1": "bilinear class", "b2": "linear outputs: matrices phi_i e_k^T"}
_TITLE = {
    "b1": "scalar bilinear class in a nuclear ball",
    "b2": "vector outputs in a nuclear ball",
}
_GOAL = {
    "b1": "The gap is at most twice L nu/m times the expected norm of a matrix series.",
    "b2": "As B1 for K outputs, with the vector contraction's sqrt(2).",
}

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
        f"{COMPLEXITY} <= {_BOUND['b1'].format('nu')}",
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
        f"{COMPLEXITY} <= {_BOUND['b2'].format('nu')}",
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
    "g": "real before: g(S, i, W) = <W, G(x_i)>; for K outputs g(S, i, k, W), output k at unit i",
    "a": "real before: a(W), the trained matrix",
    "T1": "real after: the signed sum of the matrices",
    "V": "real after: the block-diagonal variance of the series",
    "nu": "positive before: nuclear budget",
    "series_variance": _CLASS["series_variance"],
    "series_frobenius_sq": _CLASS["series_frobenius_sq"],
}
_OUTPUT = {"b1": "g(Z, i, W)", "b2": "g(Z, i, k, W)"}
_LIPSCHITZ = {"b1": LIPSCHITZ_SCALAR, "b2": LIPSCHITZ_VECTOR}
_PREMISES = ("lipschitz", "linear", "ball", "series", "intrinsic")


def _hypotheses(which: str, matrix: str) -> dict[str, tuple[str, str]]:
    linear = f"{_SIGNED[which].format(_OUTPUT[which])} == inner({matrix}, T1({_SIGN[which]}))"
    return {
        **SAMPLE,
        "lipschitz": _LIPSCHITZ[which],
        "linear": (linear, _LINEAR[which]),
        "series": series_of("T1"),
        "intrinsic": INTRINSIC,
    }


def _terms(which: str) -> dict[str, str]:
    outputs = {"b1": "lambda i, W: g(Z, i, W)", "b2": "lambda i, k, W: g(Z, i, k, W)"}
    return {**{k: k for k in _CLASS}, "h": "lambda i, W: l(W, Z, i)", "g": outputs[which], "T": "T1"}


def _gap(which: str) -> Derivation:
    bound = _BOUND[which].format("nu")
    d = Derivation(
        f"theorem-{which}",
        f"Theorem {which.upper()}: {_TITLE[which]}",
        _GOAL[which],
        "The complexity bound and Lemma 3(c).",
        _GAP,
        f"{GAP} <= 2*({bound}) + {CONFIDENCE}",
        "delta",
        {**_hypotheses(which, "a(W)"), "ball": _BALL},
        _SOURCES[which],
        _DOMAIN,
    )
    premises = [d.assume(h) for h in _PREMISES]
    complexity = d.lemma(
        f"complexity-{which}",
        _terms(which),
        f"{RADEMACHER} <= {bound}",
        "The bound on the complexity of the class, proved before.",
        *premises,
    )
    conclude_gap(d, complexity, bound)
    return d


def _peeled(which: str) -> Derivation:
    bound = _BOUND[which].format("(c0*rho**j)")
    d = Derivation(
        f"theorem-{which}-peeled",
        f"Theorem {which.upper()}, nuclear norm measured after training",
        f"{which.upper()} for every matrix, whatever its nuclear norm.",
        "The complexity in every grid cell; the union of Theorem P.",
        {**_GAP, **ONE_NORM.variables},
        f"{ONE_NORM.gap} <= 2*({bound}) + {ONE_NORM.confidence}",
        "delta",
        {**_hypotheses(which, "W"), "cell": ("nuclear(member(j, v)) <= c0*rho**j", "the grid cell")},
        _SOURCES[which],
        _DOMAIN,
    )
    premises = [ONE_NORM.specialise(d, h) for h in ("lipschitz", "linear")]
    premises += [d.assume(h) for h in ("cell", "series", "intrinsic")]
    terms = {
        **_terms(which),
        "a": "lambda v: member(j, v)",
        "g": {"b1": "lambda i, v: ", "b2": "lambda i, k, v: "}[which] + ONE_NORM.of(_OUTPUT[which]),
        "nu": "c0*rho**j",
    }
    use_in_cell(d, ONE_NORM, f"complexity-{which}", terms, bound, premises)
    return d


def derive_b1() -> Derivation:
    """Theorem B1."""
    return _gap("b1")


def derive_b2() -> Derivation:
    """Theorem B2."""
    return _gap("b2")


def derive_b1_peeled() -> Derivation:
    """B1 with the nuclear norm measured after training."""
    return _peeled("b1")


def derive_b2_peeled() -> Derivation:
    """B2 with the nuclear norm measured after training."""
    return _peeled("b2")


DERIVATIONS = (
    derive_b1_complexity,
    derive_b2_complexity,
    derive_b1,
    derive_b2,
    derive_b1_peeled,
    derive_b2_peeled,
)
