"""Derivations of Theorem C1: the query-key matrix of a softmax head is trained, the values are fixed."""

from __future__ import annotations

from proofs.build import Derivation
from proofs.theorems.complexity_steps import (
    COMPLEXITY,
    INTRINSIC,
    SERIES_NORM,
    below_frobenius,
    below_nuclear,
    series_of,
    vector_contraction,
)
from proofs.theorems.gap_steps import FIXED
from proofs.theorems.gap_theorem import GapTheorem

_SOURCES = ("A. Maurer, arXiv:1605.00251",)
_SERIES_SOURCES = (*_SOURCES, "J. A. Tropp, arXiv:1501.01571")
_DOMAIN = "small heads with rational weights, all signs enumerated in 200-bit balls"
_SIGNED = "sum(i, sum(k, x(i, k)*{}s(i, k, W)))"
_LENGTH = "sqrt(sum(k, (s(i, k, W) - s(i, k, U))**2))"
_SCALAR_BOUND = "L*omega*sqrt(sum_sq_readout)/(2*m)"
_SERIES_BOUND = f"L*nu*{SERIES_NORM}/m"
_VECTOR_BOUND = "L*omega*sqrt(sum_sq_scores)/m"
_LINEAR = "scores are linear in the query-key matrix"
_BALL = ("frobenius(a(W)) <= omega", "the Frobenius ball")
_NUCLEAR_BALL = ("nuclear(a(W)) <= nu", "the nuclear ball")
_CONSTANTS_MULTIPLY = "Vector contraction: the constants of Lemmas 7 and 12(c) multiply."

# Complexities
_CLASS = {
    "h": "real after: h(i, W), the loss at unit i",
    "f": "real after: f(i, W), the head's output at unit i",
    "s": "real after: s(i, k, W) = x_q^T W (x_k - c), the centred score of token k at unit i",
    "a": "real after: a(W), the trained query-key matrix; the values do not depend on it",
    "L": "positive after: Lipschitz constant of the loss",
    "omega": "nonnegative after: Frobenius budget",
    "m": "count after: number of units",
    "e": "signs dummy: signs e(i)",
    "x": "signs dummy: signs x(i, k)",
    "W": "point dummy: a parameter",
    "U": "point dummy: a parameter",
    "i": "point dummy: a unit",
    "k": "point dummy: a token",
    "T": "real after: T(x), the signed sum of the outer products of queries and centred keys, each times "
    "its read-out constant",
}
_SCALAR = {
    **_CLASS,
    "b": "real after: b(i), the values at unit i",
    "o": "positive after: o(i), at least the oscillation of the values",
    "sum_sq_readout": "nonnegative after: sum of o_i^2 ||x_q||^2 ||centred tokens||_F^2",
}
_SERIES = {
    "nu": "nonnegative after: nuclear budget",
    "V": "real after: the block-diagonal variance of the series",
    "series_variance": "positive after: v, the larger norm of the two variances",
    "series_frobenius_sq": "positive after: F^2, sum of squared Frobenius norms",
}
_SCALAR_HEAD = {
    "lipschitz": ("h(i, W) - h(i, U) <= L*abs(f(i, W) - f(i, U))", "the loss is L-Lipschitz in the output"),
    "average": (
        "softmax_average(lambda W: f(i, W), b(i), lambda k, W: s(i, k, W))",
        "the head is a softmax average of values",
    ),
    "range": ("osc(b(i)) <= o(i)", "the oscillation of the values"),
}


def _squares(d: Derivation) -> str:
    return d.axiom(
        "squares-add-up",
        {"X": "lambda k: s(i, k, W) - s(i, k, U)", "k": "k"},
        "0 <= sum(k, (s(i, k, W) - s(i, k, U))**2)",
        "A sum of squares is never negative.",
    )


def _contraction(d: Derivation, moved: str, squares: str, factor: str) -> str:
    """Lemma 7 with the scores times ``factor`` as the vector at each unit."""
    signed = _SIGNED.format(f"{factor}*")
    return vector_contraction(d, moved, f"{factor}*s(i, k, W)", signed, squares, why=_CONSTANTS_MULTIPLY)


def _scalar_contraction(d: Derivation) -> str:
    """Lipschitz condition in the scores, then Lemma 7: the factor is o_i/2."""
    lipschitz, average, spread = d.assume("lipschitz"), d.assume("average"), d.assume("range")
    squares = _squares(d)
    readout = d.lemma(
        "lemma-12c-map",
        {
            "f": "lambda W: f(i, W)",
            "a": "b(i)",
            "s": "lambda k, W: s(i, k, W)",
            "o": "o(i)",
            "W": "W",
            "U": "U",
            "k": "k",
        },
        f"abs(f(i, W) - f(i, U)) <= o(i)/(2*sqrt(2))*{_LENGTH}",
        "Lemma 12(c): a softmax average moves little when the scores move little.",
        average,
        spread,
    )
    moved = d.combine(
        f"h(i, W) - h(i, U) <= L*(o(i)/(2*sqrt(2))*{_LENGTH})",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        lipschitz,
        readout,
        times=["1", "L"],
    )
    return _contraction(d, moved, squares, "o(i)/(2*sqrt(2))")


def derive_i_complexity() -> Derivation:
    """Complexity of C1(i)."""
    signed = _SIGNED.format("o(i)*")
    d = Derivation(
        "complexity-c1-i",
        "Rademacher complexity of a softmax head with scalar read-out",
        "A trained query-key matrix in a Frobenius ball: complexity at most L omega sqrt(sum)/(2m).",
        "Softmax read-out (Lemma 12c), vector contraction (Lemma 7), Cauchy-Schwarz.",
        _SCALAR,
        f"{COMPLEXITY} <= {_SCALAR_BOUND}",
        hypotheses={
            **_SCALAR_HEAD,
            "linear": (f"{signed} == inner(a(W), T(x))", _LINEAR),
            "size": ("E(x, frobenius(T(x))**2) == sum_sq_readout", "independent signs"),
            "ball": _BALL,
        },
        sources=_SOURCES,
        domain=_DOMAIN,
    )
    contraction = _scalar_contraction(d)
    linear, size, ball = d.assume("linear"), d.assume("size"), d.assume("ball")
    below = below_frobenius(d, linear, ball, signed)
    rooted = d.monotone(
        "sqrt(E(x, frobenius(T(x))**2)) == sqrt(sum_sq_readout)",
        "Take roots on both sides: the root is an increasing function.",
        size,
    )
    d.combine(
        d.conclude,
        "Put the lines together: sqrt(2) L/(2 sqrt(2)) = L/2. Divide by m.",
        contraction,
        below,
        rooted,
        times=["1/m", "L/(2*m)", "L*omega/(2*m)"],
    )
    return d


def derive_ii_complexity() -> Derivation:
    """Complexity of C1(ii)."""
    signed = _SIGNED.format("o(i)/2*")
    d = Derivation(
        "complexity-c1-ii",
        "Rademacher complexity of a softmax head with scalar read-out, nuclear ball",
        "A trained query-key matrix in a nuclear ball: complexity at most L nu/m times the expected norm of "
        "the matrix series of the query-key outer products.",
        "Softmax read-out (Lemma 12c), vector contraction (Lemma 7), nuclear-spectral duality, Lemma 8.",
        {**_SCALAR, **_SERIES},
        f"{COMPLEXITY} <= {_SERIES_BOUND}",
        hypotheses={
            **_SCALAR_HEAD,
            "linear": (f"{signed} == inner(a(W), T(x))", _LINEAR),
            "ball": _NUCLEAR_BALL,
            "series": series_of("T"),
            "intrinsic": INTRINSIC,
        },
        sources=_SERIES_SOURCES,
        domain=_DOMAIN,
    )
    contraction = _scalar_contraction(d)
    below = below_nuclear(d, d.assume("linear"), signed, sign="x")
    d.combine(
        d.conclude,
        "Put the lines together: sqrt(2) L/(2 sqrt(2)) = L/2. Divide by m.",
        contraction,
        below,
        times=["1/m", "L/m"],
    )
    return d


_VECTOR = {
    **_CLASS,
    "move": "nonnegative after: move(i, W, U), distance of the two outputs",
    "b": "real after: b(i, W, U), the values in the direction of the move",
    "radius": "positive after: radius(i), radius of the values about a centre",
    "sum_sq_scores": "nonnegative after: sum of radius_i^2 ||x_q||^2 ||centred tokens||_F^2",
}
_VECTOR_HYPOTHESES = {
    "lipschitz": (
        "h(i, W) - h(i, U) <= L*move(i, W, U)",
        "the loss is L-Lipschitz in the outputs (Euclidean norm)",
    ),
    "average": (
        "move(i, W, U) <= osc(b(i, W, U))/(2*sqrt(2))*" + _LENGTH,
        "Lemma 12(c) in the direction of the move",
    ),
    "range": ("osc(b(i, W, U)) <= 2*radius(i)", "values lie within the radius of the centre"),
    "linear": (_SIGNED.format("radius(i)*") + " == inner(a(W), T(x))", _LINEAR),
    "size": ("E(x, frobenius(T(x))**2) == sum_sq_scores", "independent signs"),
    "ball": _BALL,
}


def _vector_contraction(d: Derivation) -> str:
    """Lipschitz condition in the scores, then Lemma 7: the factor is radius_i."""
    lipschitz, average, spread = d.assume("lipschitz"), d.assume("average"), d.assume("range")
    squares = _squares(d)
    readout = d.lemma(
        "lemma-12c-vector",
        {"move": "move(i, W, U)", "length": _LENGTH, "a": "b(i, W, U)", "radius": "radius(i)"},
        f"move(i, W, U) <= radius(i)/sqrt(2)*{_LENGTH}",
        "Lemma 12(c) for vectors: a softmax average moves little when the scores move little.",
        average,
        spread,
        squares,
    )
    moved = d.combine(
        f"h(i, W) - h(i, U) <= L*(radius(i)/sqrt(2)*{_LENGTH})",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        lipschitz,
        readout,
        times=["1", "L"],
    )
    return _contraction(d, moved, squares, "radius(i)/sqrt(2)")


def derive_vector_complexity() -> Derivation:
    """Complexity of C1-vector."""
    d = Derivation(
        "complexity-c1-vector",
        "Rademacher complexity of a softmax head with vector values",
        "A trained query-key matrix in a Frobenius ball, fixed vector values: complexity at most L omega "
        "sqrt(sum)/m.",
        "Softmax average (Lemma 12c), vector contraction (Lemma 7), Cauchy-Schwarz.",
        _VECTOR,
        f"{COMPLEXITY} <= {_VECTOR_BOUND}",
        hypotheses=_VECTOR_HYPOTHESES,
        sources=_SOURCES,
        domain=_DOMAIN,
    )
    contraction = _vector_contraction(d)
    linear, size, ball = d.assume("linear"), d.assume("size"), d.assume("ball")
    below = below_frobenius(d, linear, ball, _SIGNED.format("radius(i)*"))
    rooted = d.monotone(
        "sqrt(E(x, frobenius(T(x))**2)) == sqrt(sum_sq_scores)",
        "Take roots on both sides: the root is an increasing function.",
        size,
    )
    d.combine(
        d.conclude,
        "Put the lines together: the factors sqrt(2) and 1/sqrt(2) cancel. Divide by m.",
        contraction,
        below,
        rooted,
        times=["1/m", "L/m", "L*omega/m"],
    )
    return d


# The gap theorems: everything but the trained matrix is fixed before the sample
_HEAD = {
    **FIXED,
    "k": "point dummy: a token",
    "omega": "nonnegative before: Frobenius budget",
    "values": "real before: values(S, i), the values at unit i of the sample S: a map fixed before the "
    "sample",
    "f": "real after: f(i, W), the head's output at unit i of the drawn sample",
    "s": "real after: s(i, k, W), the centred score of token k at unit i of the drawn sample",
    "a": "real before: a(W), the trained query-key matrix",
    "T1": "real after: T1(x), the signed sum of outer products",
}
_SCALAR_GAP = {
    **_HEAD,
    **_SERIES,
    "nu": "positive before: nuclear budget",
    "o": "positive after: o(i), at least the oscillation of the values",
    "sum_sq_readout": _SCALAR["sum_sq_readout"],
}
_SCALAR_GAP_HEAD = {
    "lipschitz": (
        "l(W, Z, i) - l(U, Z, i) <= L*abs(f(i, W) - f(i, U))",
        "the loss is L-Lipschitz in the output",
    ),
    "average": (
        "softmax_average(lambda W: f(i, W), values(Z, i), lambda k, W: s(i, k, W))",
        "the head is a softmax average of the fixed values",
    ),
    "range": ("osc(values(Z, i)) <= o(i)", "the oscillation of the values"),
}
_SCALAR_TERMS = {
    **{k: k for k in (*_SCALAR, *_SERIES)},
    "h": "lambda i, W: l(W, Z, i)",
    "b": "lambda i: values(Z, i)",
    "T": "T1",
}
C1_I = GapTheorem(
    key="c1-i",
    label="C1(i)",
    title="trained query-key matrix, scalar read-out",
    goal="With probability at least 1 - delta, for every query-key matrix in the Frobenius ball, the gap "
    "is at most twice the complexity plus the confidence term.",
    variables=_SCALAR_GAP,
    hypotheses={
        **_SCALAR_GAP_HEAD,
        "linear": (_SIGNED.format("o(i)*") + " == inner(a(W), T1(x))", _LINEAR),
        "size": ("E(x, frobenius(T1(x))**2) == sum_sq_readout", "independent signs"),
        "ball": _BALL,
    },
    terms=_SCALAR_TERMS,
    bound=_SCALAR_BOUND,
    sources=_SOURCES,
    domain=_DOMAIN,
)
C1_II = GapTheorem(
    key="c1-ii",
    label="C1(ii)",
    title="trained query-key matrix, nuclear ball",
    goal="As C1(i) in a nuclear ball: the matrix series of the query-key outer products takes the place "
    "of Cauchy-Schwarz.",
    variables=_SCALAR_GAP,
    hypotheses={
        **_SCALAR_GAP_HEAD,
        "linear": (_SIGNED.format("o(i)/2*") + " == inner(a(W), T1(x))", _LINEAR),
        "ball": _NUCLEAR_BALL,
        "series": series_of("T1"),
        "intrinsic": INTRINSIC,
    },
    terms=_SCALAR_TERMS,
    bound=_SERIES_BOUND,
    sources=_SERIES_SOURCES,
    domain=_DOMAIN,
)
C1_VECTOR = GapTheorem(
    key="c1-vector",
    label="C1-vector",
    title="trained query-key matrix, fixed vector values",
    goal="With probability at least 1 - delta, for every query-key matrix in the Frobenius ball, the gap "
    "is at most twice the complexity plus the confidence term.",
    variables={
        **{k: v for k, v in _HEAD.items() if k != "f"},
        "move": "nonnegative after: move(i, W, U), distance of the two outputs at unit i",
        "direct": "real before: direct(values, W, U), values read in the direction of the move",
        "radius": "positive after: radius(i), radius of the values about a centre",
        "sum_sq_scores": _VECTOR["sum_sq_scores"],
    },
    hypotheses={
        "lipschitz": ("l(W, Z, i) - l(U, Z, i) <= L*move(i, W, U)", _VECTOR_HYPOTHESES["lipschitz"][1]),
        "average": (
            "move(i, W, U) <= osc(direct(values(Z, i), W, U))/(2*sqrt(2))*" + _LENGTH,
            _VECTOR_HYPOTHESES["average"][1],
        ),
        "range": ("osc(direct(values(Z, i), W, U)) <= 2*radius(i)", _VECTOR_HYPOTHESES["range"][1]),
        "linear": (_SIGNED.format("radius(i)*") + " == inner(a(W), T1(x))", _LINEAR),
        "size": ("E(x, frobenius(T1(x))**2) == sum_sq_scores", "independent signs"),
        "ball": _BALL,
    },
    terms={
        **{k: k for k in _VECTOR},
        "h": "lambda i, W: l(W, Z, i)",
        "a": "lambda W: a(W)",
        "b": "lambda i, W, U: direct(values(Z, i), W, U)",
        "move": "lambda i, W, U: move(i, W, U)",
        "s": "lambda i, k, W: s(i, k, W)",
        "T": "T1",
    },
    bound=_VECTOR_BOUND,
    sources=_SOURCES,
    domain=_DOMAIN,
)


def derive_vector_peeled() -> Derivation:
    """C1-vector with the norm measured after training."""
    return C1_VECTOR.derive_peeled(omega="(c0*rho**j)")


DERIVATIONS = (
    derive_i_complexity,
    derive_ii_complexity,
    derive_vector_complexity,
    C1_I.derive,
    C1_II.derive,
    C1_VECTOR.derive,
    derive_vector_peeled,
)
