"""Steps that the complexities of several classes share: contraction, duality over a ball, matrix series."""

from __future__ import annotations

from proofs.build import Derivation

COMPLEXITY = "E(e, sup(W, sum(i, e(i)*h(i, W))/m))"
"""The complexity of a class of losses h(i, W)."""


def below_frobenius(
    d: Derivation,
    linear: str,
    ball: str,
    signed: str,
    *,
    sign: str = "x",
    matrix: str = "a(W)",
    series: str = "T",
    budget: str = "omega",
) -> str:
    """E sup of the signed sum is at most the budget times the root mean square of ||series||_F."""
    size = f"frobenius({series}({sign}))"
    dual = d.lemma(
        "lemma-9-frobenius",
        {"A": matrix, "B": f"{series}({sign})"},
        f"inner({matrix}, {series}({sign})) <= frobenius({matrix})*{size}",
        "Lemma 9: an inner product of matrices is at most the product of their Frobenius norms.",
    )
    small = d.combine(
        f"{signed} <= {budget}*{size}",
        "The norm of the trained matrix is at most the radius of its ball.",
        linear,
        dual,
        ball,
        times=["1", "1", size],
    )
    average = d.monotone(
        f"E({sign}, sup(W, {signed})) <= E({sign}, sup(W, {budget}*{size}))",
        "The right side no longer depends on W: the supremum is gone.",
        small,
    )
    root = d.axiom(
        "average-below-root-mean-square",
        {"X": f"lambda {sign}: {size}", "w": sign},
        f"E({sign}, {size}) <= sqrt(E({sign}, {size}**2))",
        "An average is at most the root of the average square (Jensen).",
    )
    return d.combine(
        f"E({sign}, sup(W, {signed})) <= {budget}*sqrt(E({sign}, {size}**2))",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        average,
        root,
        times=["1", budget],
    )


SERIES_NORM = (
    "min(sqrt(2*series_variance*log(2*series_frobenius_sq/series_variance)), sqrt(series_frobenius_sq))"
)
INTRINSIC = ("0 <= log(series_frobenius_sq/series_variance)", "the intrinsic dimension F^2/v is at least 1")


def series_of(name: str) -> tuple[str, str]:
    """The hypothesis that ``name`` is a matrix series with the variance and size of ``SERIES_NORM``."""
    return (
        f"rademacher_series({name}, V, series_variance, series_frobenius_sq)",
        f"{name} is the sum of fixed matrices with independent signs; V holds their two variances, of "
        "largest norm v; F^2 is the sum of their squared Frobenius norms",
    )


def below_nuclear(d: Derivation, linear: str, signed: str, *, sign: str) -> str:
    """E sup of the signed sum over a nuclear ball is at most nu times Lemma 8's bound."""
    dual = d.lemma(
        "lemma-9-nuclear",
        {"A": "a(W)", "B": f"T({sign})"},
        f"inner(a(W), T({sign})) <= nuclear(a(W))*spectral(T({sign}))",
        "Lemma 9: an inner product is at most nuclear norm times spectral norm.",
    )
    small = d.combine(
        f"{signed} <= nu*spectral(T({sign}))",
        "The norm of the trained matrix is at most the radius of its ball.",
        linear,
        dual,
        d.assume("ball"),
        times=["1", "1", f"spectral(T({sign}))"],
    )
    average = d.monotone(
        f"E({sign}, sup(W, {signed})) <= E({sign}, sup(W, nu*spectral(T({sign}))))",
        "The right side no longer depends on W.",
        small,
    )
    series = d.lemma(
        "lemma-8-min",
        {"Z": "T", "V": "V", "v": "series_variance", "F2": "series_frobenius_sq", "x": sign},
        f"E({sign}, spectral(T({sign}))) <= {SERIES_NORM}",
        "Lemma 8: the expected spectral norm of fixed matrices with random signs.",
        d.assume("series"),
        d.assume("intrinsic"),
    )
    return d.combine(
        f"E({sign}, sup(W, {signed})) <= nu*{SERIES_NORM}",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        average,
        series,
        times=["1", "nu"],
    )


def vector_contraction(
    d: Derivation,
    lipschitz: str,
    vector: str,
    signed: str,
    *extra: str,
    why: str = "Lemma 7 (vector contraction) removes the loss and gives each output a sign of its own.",
) -> str:
    """Lemma 7 for h(i, W) as a function of the vector with entries ``vector`` (in i, k, W)."""
    return d.lemma(
        "lemma-7",
        {
            "h": "h",
            "p": f"lambda i, k, W: {vector}",
            "L": "L",
            "e": "e",
            "x": "x",
            "t": "W",
            "u": "U",
            "i": "i",
            "j": "k",
        },
        f"E(e, sup(W, sum(i, e(i)*h(i, W)))) <= sqrt(2)*L*E(x, sup(W, {signed}))",
        why,
        lipschitz,
        *extra,
    )


def scalar_contraction(d: Derivation, lipschitz: str, signed: str) -> str:
    """Lemma 5 for h(i, W) as a function of g(i, W)."""
    return d.lemma(
        "lemma-5",
        {"h": "h", "p": "g", "L": "L", "e": "e", "t": "W", "u": "U", "i": "i"},
        f"E(e, sup(W, sum(i, e(i)*h(i, W)))) <= L*E(e, sup(W, {signed}))",
        "Lemma 5 (scalar contraction) removes the loss at the price of its Lipschitz constant.",
        lipschitz,
    )
