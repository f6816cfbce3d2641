"""Lemma 9: Hoelder's inequality for Schatten norms, in the two cases that are used."""

from __future__ import annotations

from proofs.build import Derivation

_PAIR = {"A": "real after: a matrix", "B": "real after: a matrix of the same shape"}


def _by_entries(d: Derivation) -> tuple[list[str], list[str]]:
    """Squared norms and inner product as sums over the entries, under two names for an entry."""
    why = "The squared Frobenius norm adds up the squares of the entries."
    lengths = [
        d.axiom(
            "frobenius-by-entries",
            {"A": m, "k": k},
            f"frobenius({m})**2 == sum({k}, entry({m}, {k})**2)",
            why,
        )
        for m, k in (("A", "k"), ("B", "l"), ("A", "l"), ("B", "k"))
    ]
    products = [
        d.axiom(
            "inner-by-entries",
            {"A": "A", "B": "B", "k": k},
            f"inner(A, B) == sum({k}, entry(A, {k})*entry(B, {k}))",
            "The inner product adds up the products of the entries.",
        )
        for k in ("k", "l")
    ]
    return lengths, products


def derive_frobenius() -> Derivation:
    """Frobenius against Frobenius."""
    d = Derivation(
        "lemma-9-frobenius",
        "Cauchy-Schwarz for matrices",
        "<A, B> <= ||A||_F ||B||_F.",
        "Matrices are vectors of their entries.",
        {
            **_PAIR,
            "k": "entry dummy: an entry",
            "l": "entry dummy: an entry",
        },
        "inner(A, B) <= frobenius(A)*frobenius(B)",
        sources=("A. Cauchy 1821",),
        domain="rational matrices",
    )
    lengths, products = _by_entries(d)
    term = "entry(A, k)*entry(B, l) - entry(A, l)*entry(B, k)"
    row = d.axiom(
        "squares-add-up",
        {"X": f"lambda l: {term}", "k": "l"},
        f"0 <= sum(l, ({term})**2)",
        "Squares are not negative.",
    )
    table = d.monotone(
        f"sum(k, 0) <= sum(k, sum(l, ({term})**2))", "It holds for every k; add up over all of them.", row
    )
    square = d.combine(
        "inner(A, B)**2 <= (frobenius(A)*frobenius(B))**2",
        "Multiply out: the squares give the lengths twice, the mixed products the inner product squared, "
        "twice.",
        table,
        *lengths,
        *products,
        times=[
            "1/2",
            "-sum(l, entry(B, l)**2)/2",
            "-frobenius(A)**2/2",
            "-sum(k, entry(B, k)**2)/2",
            "-frobenius(A)**2/2",
            "sum(l, entry(A, l)*entry(B, l))",
            "inner(A, B)",
        ],
    )
    d.axiom(
        "take-root",
        {"a": "inner(A, B)", "b": "(frobenius(A)*frobenius(B))**2"},
        d.conclude,
        "Take roots; a Frobenius norm is not negative.",
        square,
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
