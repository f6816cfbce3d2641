"""Lemma 19: all singular values of a matrix from the measured defects of any decomposition (Miyajima).

``A`` is the matrix, ``U diag(s) V^T`` any product of floats with ``s`` in decreasing order, ``t`` the
singular values of that product. Nothing is supposed about where the factors came from.
"""

from __future__ import annotations

from proofs.build import Derivation

_SOURCES = (
    "S. Miyajima, Verified bounds for all the singular values of matrix, 2014, Theorem 7",
    "H. Weyl 1912 (singular values move by at most the spectral norm of the change)",
)
_VARIABLES = {
    "sigma": "nonnegative after: sigma(i), the singular values of A in decreasing order",
    "t": "nonnegative after: t(i), the singular values of U diag(s) V^T in decreasing order",
    "s": "nonnegative after: s(i), the reported values in decreasing order",
    "e": "nonnegative after: spectral norm of U diag(s) V^T - A",
    "f": "nonnegative after: spectral norm of V^T V - I",
    "h": "nonnegative after: spectral norm of U^T U - I",
    "i": "point dummy: place in the order",
}
_WEYL = (
    "sigma_i of a matrix is the largest, over all subspaces of dimension i, of the smallest ||A x|| over the "
    "unit vectors x of the subspace (Courant-Fischer). For each x the two matrices differ by at most e in "
    "||A x||, so the singular values differ by at most e."
)


def derive_upper() -> Derivation:
    """The upper end."""
    d = Derivation(
        "lemma-19-upper",
        "Singular values from measured defects, upper end",
        "The i-th singular value of A is at most s_i sqrt((1 + f)(1 + h)) + e, whatever the factors are.",
        "The product of the factors has singular values at most s_i ||U|| ||V||; A differs from it by e.",
        {
            **_VARIABLES,
            "u": "nonnegative after: largest singular value of U",
            "v": "nonnegative after: largest singular value of V",
        },
        "sigma(i) <= s(i)*(sqrt(1 + f)*sqrt(1 + h)) + e",
        sources=_SOURCES,
        domain="rational matrices",
        facts={
            "weyl": ("sigma(i) <= t(i) + e", _WEYL),
            "product": (
                "t(i) <= s(i)*(u*v)",
                "By the same formula a factor on the left multiplies each singular value by at most its "
                "largest singular value; a factor on the right does too, after transposing.",
            ),
            "left": (
                "u**2 <= 1 + h",
                "For a unit vector y, ||U y||^2 = 1 + y^T (U^T U - I) y, which is at most 1 + h.",
            ),
            "right": (
                "v**2 <= 1 + f",
                "For a unit vector y, ||V y||^2 = 1 + y^T (V^T V - I) y, which is at most 1 + f.",
            ),
        },
    )
    roots = []
    for side, factor, defect in (("right", "v", "f"), ("left", "u", "h")):
        square = d.assume(side)
        claim = f"{factor} <= sqrt(1 + {defect})"
        why = "Take roots: from a square below a number follows a value below its root."
        roots.append(d.axiom("take-root", {"a": factor, "b": f"1 + {defect}"}, claim, why, square))
    root = d.monotone(
        "v*u <= sqrt(1 + f)*sqrt(1 + h)", "Multiply the two lines; all parts are not negative.", *roots
    )
    product, weyl = d.assume("product"), d.assume("weyl")
    d.combine(
        d.conclude,
        "Put the lines together, the first one multiplied by s_i, which is not negative.",
        root,
        product,
        weyl,
        times=["s(i)", "1", "1"],
    )
    return d


def derive_lower() -> Derivation:
    """The lower end."""
    d = Derivation(
        "lemma-19-lower",
        "Singular values from measured defects, lower end",
        "If the defects f and h are at most 1, the i-th singular value of A is at least "
        "s_i sqrt((1 - f)(1 - h)) - e.",
        "Neither factor can shrink a vector by more than its smallest singular value.",
        {
            **_VARIABLES,
            "a": "nonnegative after: smallest singular value of U (as many as it has columns)",
            "b": "nonnegative after: smallest singular value of V",
        },
        "s(i)*(sqrt(1 - f)*sqrt(1 - h)) - e <= sigma(i)",
        hypotheses={
            "f": ("0 <= 1 - f", "the defect of the right directions is at most 1"),
            "h": ("0 <= 1 - h", "the defect of the left directions is at most 1"),
        },
        sources=_SOURCES,
        domain="rational matrices",
        facts={
            "weyl": ("t(i) <= sigma(i) + e", _WEYL),
            "product": (
                "s(i)*(a*b) <= t(i)",
                "If a or b is 0 there is nothing to show. Else U and V have full column rank. "
                "Their pseudo-inverses, of norms 1/a and 1/b, take U diag(s) V^T back to diag(s).",
            ),
            "left": (
                "1 - h <= a**2",
                "For a unit vector y, ||U y||^2 = 1 + y^T (U^T U - I) y, which is at least 1 - h.",
            ),
            "right": (
                "1 - f <= b**2",
                "For a unit vector y, ||V y||^2 = 1 + y^T (V^T V - I) y, which is at least 1 - f.",
            ),
        },
    )
    roots = []
    for side, factor, defect in (("right", "b", "f"), ("left", "a", "h")):
        known, square = d.assume(defect), d.assume(side)
        claim = f"sqrt(1 - {defect}) <= sqrt({factor}**2)"
        why = "Take roots on both sides: the root is an increasing function."
        roots.append(d.monotone(claim, why, square, known))
    root = d.monotone(
        "sqrt(1 - f)*sqrt(1 - h) <= sqrt(b**2)*sqrt(a**2)",
        "Multiply the two lines; all parts are not negative.",
        *roots,
    )
    product, weyl = d.assume("product"), d.assume("weyl")
    d.combine(
        d.conclude,
        "Put the lines together; the roots of the squares are a and b. The first line is multiplied by s_i.",
        root,
        product,
        weyl,
        times=["s(i)", "1", "1"],
    )
    return d


def derive_rest() -> Derivation:
    """The places beyond the reported values."""
    d = Derivation(
        "lemma-19-rest",
        "Singular values from measured defects, beyond the reported ones",
        "Where no value was reported, the singular value of A is at most e.",
        "The product has no more singular values than were reported.",
        {name: text for name, text in _VARIABLES.items() if name in ("sigma", "t", "e", "i")},
        "sigma(i) <= e",
        hypotheses={"beyond": ("t(i) == 0", "the place i is beyond the number of reported values")},
        sources=_SOURCES,
        domain="rational matrices",
        facts={"weyl": ("sigma(i) <= t(i) + e", _WEYL)},
    )
    d.combine(d.conclude, "Put 0 for t_i.", d.assume("weyl"), d.assume("beyond"), times=["1", "1"])
    return d


DERIVATIONS = (derive_upper, derive_lower, derive_rest)
