"""Lemma 9: Hoelder's inequality for Schatten norms, in the two cases that are used."""

from __future__ import annotations

from proofs.build import Derivation

_PAIR = {"A": "real after: a matrix", "B": "real after: a matrix of the same shape"}


def derive_frobenius() -> Derivation:
    """Frobenius against Frobenius."""
    d = Derivation(
        "lemma-9-frobenius",
        "Cauchy-Schwarz for matrices",
        "<A, B> <= ||A||_F ||B||_F.",
        "Matrices are vectors of their entries.",
        _PAIR,
        "inner(A, B) <= frobenius(A)*frobenius(B)",
        sources=("A. Cauchy 1821",),
        domain="rational matrices",
    )
    d.paper(
        d.conclude,
        "If a = ||A||_F and b = ||B||_F are positive, the squared length of A/a - B/b "
        "is 2 - 2 <A,B>/(ab) >= 0. If "
        "one of them is 0, both sides are 0.",
    )
    return d


def derive_nuclear() -> Derivation:
    """Nuclear against spectral."""
    d = Derivation(
        "lemma-9-nuclear",
        "Nuclear-spectral duality",
        "<A, B> <= ||A||_* ||B||_2.",
        "Write A by its singular value decomposition, A = sum s_k u_k v_k^T.",
        {
            **_PAIR,
            "u": "real after: u(k) = u_k^T B v_k for the singular vectors of A",
            "s": "nonnegative after: s(k), the singular values of A",
            "k": "point dummy: index of a singular value",
        },
        "inner(A, B) <= nuclear(A)*spectral(B)",
        sources=("J. von Neumann, Some matrix inequalities, 1937",),
        domain="rational matrices with rational SVD",
    )
    svd = d.paper("inner(A, B) == sum(k, s(k)*u(k))", "Put the decomposition of A into the trace.")
    unit = d.paper(
        "u(k) <= spectral(B)", "The spectral norm is the largest value of u^T B v over unit vectors."
    )
    total = d.paper("sum(k, s(k)) == nuclear(A)", "The nuclear norm is the sum of the singular values.")
    each = d.combine(
        "s(k)*u(k) <= s(k)*spectral(B)", "Multiply by s_k, which is not negative.", unit, times=["s(k)"]
    )
    added = d.monotone(
        "sum(k, s(k)*u(k)) <= sum(k, s(k)*spectral(B))",
        "The line holds for every index; add up over all of them.",
        each,
    )
    d.combine(
        d.conclude,
        "Put the lines together: what bounds one quantity is bounded by the next.",
        svd,
        added,
        total,
        times=["1", "1", "spectral(B)"],
    )
    return d


DERIVATIONS = (derive_frobenius, derive_nuclear)
