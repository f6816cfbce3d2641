"""Derivations of Theorem C1: the query-key matrix of a softmax head is trained."""

from __future__ import annotations

from proofs.build import Derivation
from proofs.theorems.derive_linear import (
    _INTRINSIC,
    _SERIES_NORM,
    CONFIDENCE,
    FAMILY_GAP,
    GAP,
    LOSS,
    PEEL,
    PEELED_CONFIDENCE,
    RADEMACHER,
    SAMPLE,
    _inner_below,
    _peel,
    conclude_gap,
    nuclear_below,
)

_SOURCES = ("A. Maurer, arXiv:1605.00251",)
_DOMAIN = "small heads with rational weights, all signs enumerated in 200-bit balls"
_COMPLEXITY = "E(e, sup(W, sum(i, e(i)*h(i, W))/m))"
_SIGNED = "sum(i, sum(k, x(i, k)*{}s(i, k, W)))"
_LENGTH = "sqrt(sum(k, (s(i, k, W) - s(i, k, U))**2))"
_BASE = {
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
    **_BASE,
    "b": "real after: b(i), the values at unit i",
    "o": "positive after: o(i), at least the oscillation of the values",
    "sum_sq_readout": "nonnegative after: sum of o_i^2 ||x_q||^2 ||centred tokens||_F^2",
}
_SCALAR_HYPOTHESES = {
    "lipschitz": ("h(i, W) - h(i, U) <= L*abs(f(i, W) - f(i, U))", "the loss is L-Lipschitz in the output"),
    "average": (
        "softmax_average(lambda W: f(i, W), b(i), lambda k, W: s(i, k, W))",
        "the head is a softmax average of values",
    ),
    "range": ("osc(b(i)) <= o(i)", "the oscillation of the values"),
    "linear": (
        _SIGNED.format("o(i)*") + " == inner(a(W), T(x))",
        "scores are linear in the query-key matrix",
    ),
    "size": ("E(x, frobenius(T(x))**2) == sum_sq_readout", "independent signs"),
    "ball": ("frobenius(a(W)) <= omega", "the Frobenius ball"),
}


def _contraction(d: Derivation, lipschitz: str, squares: str, factor: str, signed: str) -> str:
    """Lemma 7 with the scores times ``factor`` as the vector at each unit."""
    return d.lemma(
        "lemma-7",
        {
            "h": "h",
            "p": f"lambda i, k, W: {factor}*s(i, k, W)",
            "L": "L",
            "e": "e",
            "x": "x",
            "t": "W",
            "u": "U",
            "i": "i",
            "j": "k",
        },
        f"E(e, sup(W, sum(i, e(i)*h(i, W)))) <= sqrt(2)*L*E(x, sup(W, {signed}))",
        "Vector contraction: the constants of Lemmas 7 and 12(c) multiply.",
        lipschitz,
        squares,
    )


def _squares(d: Derivation) -> str:
    return d.axiom(
        "squares-add-up",
        {"X": "lambda k: s(i, k, W) - s(i, k, U)", "k": "k"},
        "0 <= sum(k, (s(i, k, W) - s(i, k, U))**2)",
        "Squares.",
    )


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
        "Lemma 12(c).",
        average,
        spread,
    )
    moved = d.combine(
        f"h(i, W) - h(i, U) <= L*(o(i)/(2*sqrt(2))*{_LENGTH})", "Chain.", lipschitz, readout, times=["1", "L"]
    )
    return _contraction(d, moved, squares, "o(i)/(2*sqrt(2))", _SIGNED.format("o(i)/(2*sqrt(2))*"))


def derive_i_complexity() -> Derivation:
    """Complexity of C1(i)."""
    d = Derivation(
        "complexity-c1-i",
        "Rademacher complexity of a softmax head with scalar read-out",
        "A trained query-key matrix in a Frobenius ball: complexity at most L omega sqrt(sum)/(2m).",
        "Softmax read-out (Lemma 12c), vector contraction (Lemma 7), Cauchy-Schwarz.",
        _SCALAR,
        f"{_COMPLEXITY} <= L*omega*sqrt(sum_sq_readout)/(2*m)",
        hypotheses=_SCALAR_HYPOTHESES,
        sources=_SOURCES,
        domain=_DOMAIN,
    )
    contraction = _scalar_contraction(d)
    linear, size, ball = d.assume("linear"), d.assume("size"), d.assume("ball")
    below = _inner_below(d, linear, ball, _SIGNED.format("o(i)*"))
    rooted = d.monotone("sqrt(E(x, frobenius(T(x))**2)) == sqrt(sum_sq_readout)", "Take roots.", size)
    d.combine(
        d.conclude,
        "sqrt(2) L/(2 sqrt(2)) = L/2.",
        contraction,
        below,
        rooted,
        times=["1/m", "L/(2*m)", "L*omega/(2*m)"],
    )
    return d


_VECTOR = {
    **_BASE,
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
    "linear": (
        _SIGNED.format("radius(i)*") + " == inner(a(W), T(x))",
        "scores are linear in the query-key matrix",
    ),
    "size": ("E(x, frobenius(T(x))**2) == sum_sq_scores", "independent signs"),
    "ball": ("frobenius(a(W)) <= omega", "the Frobenius ball"),
}


def derive_vector_complexity() -> Derivation:
    """Complexity of C1-vector."""
    d = Derivation(
        "complexity-c1-vector",
        "Rademacher complexity of a softmax head with vector values",
        "A trained query-key matrix in a Frobenius ball, fixed vector values: complexity at most L omega "
        "sqrt(sum)/m.",
        "Softmax average (Lemma 12c), vector contraction (Lemma 7), Cauchy-Schwarz.",
        _VECTOR,
        f"{_COMPLEXITY} <= L*omega*sqrt(sum_sq_scores)/m",
        hypotheses=_VECTOR_HYPOTHESES,
        sources=_SOURCES,
        domain=_DOMAIN,
    )
    lipschitz, average, spread = d.assume("lipschitz"), d.assume("average"), d.assume("range")
    squares = _squares(d)
    readout = d.lemma(
        "lemma-12c-vector",
        {"move": "move(i, W, U)", "length": _LENGTH, "a": "b(i, W, U)", "radius": "radius(i)"},
        f"move(i, W, U) <= radius(i)/sqrt(2)*{_LENGTH}",
        "Lemma 12(c) for vectors.",
        average,
        spread,
        squares,
    )
    moved = d.combine(
        f"h(i, W) - h(i, U) <= L*(radius(i)/sqrt(2)*{_LENGTH})",
        "Chain.",
        lipschitz,
        readout,
        times=["1", "L"],
    )
    contraction = _contraction(d, moved, squares, "radius(i)/sqrt(2)", _SIGNED.format("radius(i)/sqrt(2)*"))
    linear, size, ball = d.assume("linear"), d.assume("size"), d.assume("ball")
    below = _inner_below(d, linear, ball, _SIGNED.format("radius(i)*"))
    rooted = d.monotone("sqrt(E(x, frobenius(T(x))**2)) == sqrt(sum_sq_scores)", "Take roots.", size)
    d.combine(
        d.conclude, "sqrt(2)/sqrt(2) = 1.", contraction, below, rooted, times=["1/m", "L/m", "L*omega/m"]
    )
    return d


# The gap theorems: everything but the trained matrix is fixed before the sample
_HEAD = {
    **LOSS,
    "L": "positive before: Lipschitz constant of the loss",
    "U": "point dummy: a parameter",
    "x": "signs dummy: signs x(i, k)",
    "k": "point dummy: a token",
    "omega": "nonnegative before: Frobenius budget",
    "values": "real before: values(S, i), the values at unit i of the sample S: a map fixed before the "
    "sample",
    "f": "real after: f(i, W), the head's output at unit i of the drawn sample",
    "s": "real after: s(i, k, W), the centred score of token k at unit i of the drawn sample",
    "a": "real before: a(W), the trained query-key matrix",
    "T1": "real after: T1(x), the signed sum of outer products",
}


def derive_i() -> Derivation:
    """Theorem C1(i)."""
    bound = "L*omega*sqrt(sum_sq_readout)/(2*m)"
    d = Derivation(
        "theorem-c1-i",
        "Theorem C1(i): trained query-key matrix, scalar read-out",
        "With probability at least 1 - delta, for every query-key matrix in the Frobenius ball, the gap "
        "is at most twice the "
        "complexity plus the confidence term.",
        "The complexity bound and Lemma 3(c).",
        {
            **_HEAD,
            "o": "positive after: o(i), at least the oscillation of the values",
            "sum_sq_readout": _SCALAR["sum_sq_readout"],
        },
        f"{GAP} <= 2*({bound}) + {CONFIDENCE}",
        "delta",
        {
            **SAMPLE,
            "lipschitz": (
                "l(W, Z, i) - l(U, Z, i) <= L*abs(f(i, W) - f(i, U))",
                "the loss is L-Lipschitz in the output",
            ),
            "average": (
                "softmax_average(lambda W: f(i, W), values(Z, i), lambda k, W: s(i, k, W))",
                "the head is a softmax average of the fixed values",
            ),
            "range": ("osc(values(Z, i)) <= o(i)", "the oscillation of the values"),
            "linear": (_SIGNED.format("o(i)*") + " == inner(a(W), T1(x))", _SCALAR_HYPOTHESES["linear"][1]),
            "size": ("E(x, frobenius(T1(x))**2) == sum_sq_readout", "independent signs"),
            "ball": _SCALAR_HYPOTHESES["ball"],
        },
        _SOURCES,
        _DOMAIN,
    )
    premises = [d.assume(h) for h in ("lipschitz", "average", "range", "linear", "size", "ball")]
    complexity = d.lemma(
        "complexity-c1-i",
        {**{k: k for k in _SCALAR}, "h": "lambda i, W: l(W, Z, i)", "b": "lambda i: values(Z, i)", "T": "T1"},
        f"{RADEMACHER} <= {bound}",
        "The complexity of the class.",
        *premises,
    )
    conclude_gap(d, complexity, bound)
    return d


def derive_ii() -> Derivation:
    """Theorem C1(ii)."""
    bound = f"L*nu*{_SERIES_NORM}/m"
    d = Derivation(
        "theorem-c1-ii",
        "Theorem C1(ii): trained query-key matrix, nuclear ball",
        "As C1(i) in a nuclear ball: the matrix series of the query-key outer products takes the place "
        "of Cauchy-Schwarz.",
        "Softmax read-out, vector contraction, nuclear-spectral duality, Lemma 8.",
        {
            **{k: v for k, v in _HEAD.items() if k != "omega"},
            "nu": "positive before: nuclear budget",
            "o": "positive after: o(i), at least the oscillation of the values",
            "series_variance": "positive after: v",
            "series_frobenius_sq": "positive after: F^2",
            "h": "real after: h(i, W), the loss at unit i",
            "b": "real after: b(i), the values at unit i of the drawn sample",
        },
        f"{GAP} <= 2*({bound}) + {CONFIDENCE}",
        "delta",
        {
            **SAMPLE,
            "loss": ("h(i, W) == l(W, Z, i)", "short for the loss on the drawn sample"),
            "values": ("b(i) == values(Z, i)", "the values are the fixed map at the drawn sample"),
            "lipschitz": _SCALAR_HYPOTHESES["lipschitz"],
            "average": _SCALAR_HYPOTHESES["average"],
            "range": ("osc(values(Z, i)) <= o(i)", "the oscillation of the values"),
            "linear": (_SIGNED.format("o(i)/2*") + " == inner(a(W), T1(x))", _SCALAR_HYPOTHESES["linear"][1]),
            "ball": ("nuclear(a(W)) <= nu", "the nuclear ball"),
            "intrinsic": _INTRINSIC,
        },
        (*_SOURCES, "J. A. Tropp, arXiv:1501.01571"),
        _DOMAIN,
    )
    lipschitz, average, loss, values, spread = (
        d.assume(h) for h in ("lipschitz", "average", "loss", "values", "range")
    )
    same_range = d.monotone("osc(b(i)) == osc(values(Z, i))", "The same values.", values)
    range_b = d.combine("osc(b(i)) <= o(i)", "The oscillation of the values.", same_range, spread)
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
        "Lemma 12(c).",
        average,
        range_b,
    )
    moved = d.combine(
        f"h(i, W) - h(i, U) <= L*(o(i)/(2*sqrt(2))*{_LENGTH})", "Chain.", lipschitz, readout, times=["1", "L"]
    )
    contraction = _contraction(d, moved, squares, "o(i)/(2*sqrt(2))", _SIGNED.format("o(i)/(2*sqrt(2))*"))
    linear, ball, intrinsic = d.assume("linear"), d.assume("ball"), d.assume("intrinsic")
    below = nuclear_below(d, "x", linear, ball, intrinsic, _SIGNED.format("o(i)/2*"))
    short = d.combine(
        f"E(e, sup(W, sum(i, e(i)*h(i, W))/m)) <= {bound}",
        "sqrt(2) L/(2 sqrt(2)) = L/2.",
        contraction,
        below,
        times=["1/m", "L/m"],
    )
    renamed = d.monotone(f"E(e, sup(W, sum(i, e(i)*h(i, W))/m)) == {RADEMACHER}", "The same losses.", loss)
    complexity = d.combine(
        f"{RADEMACHER} <= {bound}", "The complexity of the class.", short, renamed, times=["1", "-1"]
    )
    conclude_gap(d, complexity, bound)
    return d


_VECTOR_GAP = {
    **_HEAD,
    "move": "nonnegative after: move(i, W, U), distance of the two outputs at unit i",
    "direct": "real before: direct(values, W, U), values read in the direction of the move",
    "radius": "positive after: radius(i), radius of the values about a centre",
    "sum_sq_scores": _VECTOR["sum_sq_scores"],
}
_VECTOR_GAP.pop("f")
_VECTOR_GAP_HYPOTHESES = {
    "lipschitz": ("l(W, Z, i) - l(U, Z, i) <= L*move(i, W, U)", _VECTOR_HYPOTHESES["lipschitz"][1]),
    "average": (
        "move(i, W, U) <= osc(direct(values(Z, i), W, U))/(2*sqrt(2))*" + _LENGTH,
        _VECTOR_HYPOTHESES["average"][1],
    ),
    "range": ("osc(direct(values(Z, i), W, U)) <= 2*radius(i)", _VECTOR_HYPOTHESES["range"][1]),
    "linear": (_SIGNED.format("radius(i)*") + " == inner(a(W), T1(x))", _VECTOR_HYPOTHESES["linear"][1]),
    "size": ("E(x, frobenius(T1(x))**2) == sum_sq_scores", "independent signs"),
}


def derive_vector() -> Derivation:
    """Theorem C1-vector."""
    bound = "L*omega*sqrt(sum_sq_scores)/m"
    d = Derivation(
        "theorem-c1-vector",
        "Theorem C1-vector: trained query-key matrix, fixed vector values",
        "With probability at least 1 - delta, for every query-key matrix in the Frobenius ball, the gap "
        "is at most twice the "
        "complexity plus the confidence term.",
        "The complexity bound and Lemma 3(c).",
        _VECTOR_GAP,
        f"{GAP} <= 2*({bound}) + {CONFIDENCE}",
        "delta",
        {**SAMPLE, **_VECTOR_GAP_HYPOTHESES, "ball": _VECTOR_HYPOTHESES["ball"]},
        _SOURCES,
        _DOMAIN,
    )
    premises = [d.assume(h) for h in ("lipschitz", "average", "range", "linear", "size", "ball")]
    complexity = d.lemma(
        "complexity-c1-vector",
        {
            **{k: k for k in _VECTOR},
            "h": "lambda i, W: l(W, Z, i)",
            "b": "lambda i, W, U: direct(values(Z, i), W, U)",
            "T": "T1",
        },
        f"{RADEMACHER} <= {bound}",
        "The complexity of the class.",
        *premises,
    )
    conclude_gap(d, complexity, bound)
    return d


def derive_vector_peeled() -> Derivation:
    """C1-vector with the norm measured after training."""
    bound = "L*(c0*rho**j)*sqrt(sum_sq_scores)/m"
    family = "sum(i, e(i)*l(member(j, v), Z, i))/m"
    d = Derivation(
        "theorem-c1-vector-peeled",
        "Theorem C1-vector, norm measured after training",
        "C1-vector for every query-key matrix, whatever its norm.",
        "C1-vector's complexity in every grid cell; Theorem P's union.",
        {
            **PEEL,
            **{
                k: v
                for k, v in _VECTOR_GAP.items()
                if k in ("L", "U", "x", "k", "values", "s", "T1", "move", "direct", "radius", "sum_sq_scores")
            },
            "u": "point dummy: numbers the models of one cell",
        },
        f"{FAMILY_GAP} <= 2*({bound}) + {PEELED_CONFIDENCE}",
        "delta",
        {
            **SAMPLE,
            **{
                k: (f.replace("inner(a(W), T1(x))", "inner(W, T1(x))"), t)
                for k, (f, t) in _VECTOR_GAP_HYPOTHESES.items()
            },
            "cell": ("frobenius(member(j, v)) <= c0*rho**j", "the grid cell"),
        },
        _SOURCES,
        _DOMAIN,
    )
    premises = []
    for name in ("lipschitz", "average", "range"):
        formula = d.hypotheses[name][0]
        first = (
            formula.replace("l(W, ", "l(member(j, v), ")
            .replace("W, U)", "member(j, v), U)")
            .replace("s(i, k, W)", "s(i, k, member(j, v))")
        )
        second = first.replace("l(U, ", "l(member(j, u), ").replace(", U)", ", member(j, u))")
        step = d.specialise("W", "member(j, v)", first, "For the members of the cell.", d.assume(name))
        premises.append(d.specialise("U", "member(j, u)", second, "For the members of the cell.", step))
    linear = (
        d.hypotheses["linear"][0]
        .replace("k, W)", "k, member(j, v))")
        .replace("inner(W,", "inner(member(j, v),")
    )
    premises.append(
        d.specialise("W", "member(j, v)", linear, "For the members of the cell.", d.assume("linear"))
    )
    premises += [d.assume("size"), d.assume("cell")]
    complexity = d.lemma(
        "complexity-c1-vector",
        {
            **{k: k for k in _VECTOR},
            "h": "lambda i, v: l(member(j, v), Z, i)",
            "T": "T1",
            "W": "v",
            "U": "u",
            "move": "lambda i, v, u: move(i, member(j, v), member(j, u))",
            "b": "lambda i, v, u: direct(values(Z, i), member(j, v), member(j, u))",
            "s": "lambda i, k, v: s(i, k, member(j, v))",
            "a": "lambda v: member(j, v)",
            "omega": "c0*rho**j",
        },
        f"E(e, sup(v, {family})) <= {bound}",
        "The complexity of a cell.",
        *premises,
    )
    slope = d.combine(
        f"2*E(e, sup(v, {family})) <= 2*({bound})", "Twice the complexity.", complexity, times=["2"]
    )
    _peel(d, slope, f"2*({bound})")
    return d


# C1-joint
def derive_split() -> Derivation:
    """The split of one Lipschitz condition between values and scores."""
    d = Derivation(
        "lemma-split",
        "Splitting a sum of two distances",
        "p + r <= sqrt(p^2/u^2 + r^2/w^2) whenever u^2 + w^2 = 1.",
        "Cauchy-Schwarz in the plane.",
        {
            "p": "nonnegative after: first distance",
            "r": "nonnegative after: second distance",
            "q": "positive after: ratio w/u",
        },
        "p + r <= sqrt((1 + q**2)*p**2 + (1 + q**2)/q**2*r**2)",
        sources=("A. Cauchy 1821",),
        domain="rational numbers",
    )
    square = d.sign(
        "(p + r)**2 <= (1 + q**2)*p**2 + (1 + q**2)/q**2*r**2",
        "The difference is (q p - r/q)^2.",
        squares=[("1", "q*p - r/q")],
    )
    d.axiom(
        "take-root",
        {"a": "p + r", "b": "(1 + q**2)*p**2 + (1 + q**2)/q**2*r**2"},
        d.conclude,
        "Take roots.",
        square,
    )
    return d


_A0 = "(omega_value*sqrt(K*sum_sq_tokens)/m)"
_C0 = "(spectral_value*omega*sqrt(sum_sq_joint)/(sqrt(2)*m))"
_JOINT_BOUND = f"sqrt(2)*L*({_A0}**(2/3) + {_C0}**(2/3))**(3/2)"
_JOINT = {
    **{k: v for k, v in LOSS.items()},
    "L": "positive before: Lipschitz constant of the loss",
    "U": "point dummy: a parameter",
    "x": "signs dummy: signs x(i, k), k over value entries and tokens",
    "k": "point dummy: a coordinate",
    "q": "positive free: how the contraction is split between values and scores",
    "dA": "nonnegative after: dA(i, W, U), Frobenius distance of the value tables X_i V",
    "ds": "nonnegative after: ds(i, W, U), Euclidean distance of the scores",
    "A": "real after: A(i, k, W), the value table's entries, 0 for the coordinates of scores",
    "s": "real after: s(i, k, W), the centred scores, 0 for the coordinates of the value table",
    "radius": "positive after: radius(i), radius of the tokens about the centre",
    "v": "real before: v(W), the value matrix of the parameter",
    "w": "real before: w(W), its query-key matrix",
    "TV": "real after: TV(x), the signed sum for the value matrix",
    "TW": "real after: TW(x), for the query-key matrix",
    "omega_value": "positive before: Frobenius budget of the value matrix",
    "spectral_value": "positive before: spectral budget of the value matrix",
    "omega": "positive before: Frobenius budget of the query-key matrix",
    "K": "count before: number of outputs",
    "sum_sq_tokens": "positive after: sum of ||X_i||_F^2",
    "sum_sq_joint": "positive after: sum of radius_i^2 ||x_q||^2 ||centred tokens||_F^2",
}
_JOINT_HYPOTHESES = {
    **SAMPLE,
    "lipschitz": (
        "l(W, Z, i) - l(U, Z, i) <= L*(dA(i, W, U) + radius(i)*spectral_value/sqrt(2)*ds(i, W, U))",
        "the loss, then: the value table moves (weights add up to 1), and the scores move (Lemma 12c "
        "with oscillation at "
        "most twice the radius times ||V||)",
    ),
    "table": ("dA(i, W, U)**2 == sum(k, (A(i, k, W) - A(i, k, U))**2)", "distance of the value tables"),
    "scores": ("ds(i, W, U)**2 == sum(k, (s(i, k, W) - s(i, k, U))**2)", "distance of the scores"),
    "apart": ("A(i, k, W)*s(i, k, U) == 0", "a coordinate belongs to the value table or to the scores"),
    "linear_values": (
        "sum(i, sum(k, x(i, k)*A(i, k, W))) == inner(v(W), TV(x))",
        "value tables are linear in V",
    ),
    "linear_scores": (
        "sum(i, sum(k, x(i, k)*radius(i)*s(i, k, W))) == inner(w(W), TW(x))",
        "scores are linear in the query-key matrix",
    ),
    "size_values": ("E(x, frobenius(TV(x))**2) == K*sum_sq_tokens", "independent signs"),
    "size_scores": ("E(x, frobenius(TW(x))**2) == sum_sq_joint", "independent signs"),
    "ball_values": ("frobenius(v(W)) <= omega_value", "Frobenius ball of V"),
    "ball_scores": ("frobenius(w(W)) <= omega", "Frobenius ball of W"),
}


def _ball_part(
    d: Derivation, signed: str, matrix: str, series: str, budget: str, size: str, which: str
) -> str:
    linear, ball = d.assume(f"linear_{which}"), d.assume(f"ball_{which}")
    equal = d.assume(f"size_{which}")
    dual = d.lemma(
        "lemma-9-frobenius",
        {"A": f"{matrix}(W)", "B": f"{series}(x)"},
        f"inner({matrix}(W), {series}(x)) <= frobenius({matrix}(W))*frobenius({series}(x))",
        "Cauchy-Schwarz.",
    )
    small = d.combine(
        f"{signed} <= {budget}*frobenius({series}(x))",
        "Use the ball.",
        linear,
        dual,
        ball,
        times=["1", "1", f"frobenius({series}(x))"],
    )
    average = d.monotone(
        f"E(x, sup(W, {signed})) <= E(x, sup(W, {budget}*frobenius({series}(x))))", "No W left.", small
    )
    root = d.axiom(
        "average-below-root-mean-square",
        {"X": f"lambda x: frobenius({series}(x))", "w": "x"},
        f"E(x, frobenius({series}(x))) <= sqrt(E(x, frobenius({series}(x))**2))",
        "Jensen.",
    )
    rooted = d.monotone(f"sqrt(E(x, frobenius({series}(x))**2)) == sqrt({size})", "Take roots.", equal)
    return d.combine(
        f"E(x, sup(W, {signed})) <= {budget}*sqrt({size})",
        "Chain.",
        average,
        root,
        rooted,
        times=["1", budget, budget],
    )


def derive_joint() -> Derivation:
    """Theorem C1-joint."""
    d = Derivation(
        "theorem-c1-joint",
        "Theorem C1-joint: query-key and value matrices trained",
        "With both matrices trained, the complexity is sqrt(2) L (A0^(2/3) + C0^(2/3))^(3/2).",
        "One contraction for both, split between values and scores in the best way.",
        _JOINT,
        f"{GAP} <= 2*({_JOINT_BOUND}) + {CONFIDENCE}",
        "delta",
        _JOINT_HYPOTHESES,
        _SOURCES,
        _DOMAIN,
    )
    up, wp = "sqrt(1 + q**2)", "sqrt(1 + q**2)/q*radius(i)*spectral_value/sqrt(2)"
    vector = f"{up}*A(i, k, W) + {wp}*s(i, k, W)"
    vector_u = vector.replace("W)", "U)")
    length = f"sqrt(sum(k, ({vector} - ({vector_u}))**2))"
    r = "radius(i)*spectral_value/sqrt(2)*ds(i, W, U)"
    lipschitz = d.assume("lipschitz")
    split = d.lemma(
        "lemma-split",
        {"p": "dA(i, W, U)", "r": r, "q": "q"},
        f"dA(i, W, U) + {r} <= sqrt((1 + q**2)*dA(i, W, U)**2 + (1 + q**2)/q**2*({r})**2)",
        "Split.",
    )
    table, scores, apart = d.assume("table"), d.assume("scores"), d.assume("apart")
    cross = d.paper(
        "sum(k, (A(i, k, W) - A(i, k, U))*(s(i, k, W) - s(i, k, U))) == 0",
        "A coordinate belongs to the value table or to the scores: every product is 0.",
        apart,
    )
    joined = d.combine(
        f"(1 + q**2)*dA(i, W, U)**2 + (1 + q**2)/q**2*({r})**2 == sum(k, ({vector} - ({vector_u}))**2)",
        "Coordinates of the value table and of the scores are different ones.",
        table,
        scores,
        cross,
        times=[
            "1 + q**2",
            "(1 + q**2)/q**2*(radius(i)*spectral_value/sqrt(2))**2",
            "-2*(1 + q**2)/q*radius(i)*spectral_value/sqrt(2)",
        ],
    )
    rooted = d.monotone(
        f"sqrt((1 + q**2)*dA(i, W, U)**2 + (1 + q**2)/q**2*({r})**2) == {length}", "Take roots.", joined
    )
    moved = d.combine(
        f"l(W, Z, i) - l(U, Z, i) <= L*{length}", "Chain.", lipschitz, split, rooted, times=["1", "L", "L"]
    )
    signed = f"sum(i, sum(k, x(i, k)*({vector})))"
    contraction = d.lemma(
        "lemma-7",
        {
            "h": "lambda i, W: l(W, Z, i)",
            "p": f"lambda i, k, W: {vector}",
            "L": "L",
            "e": "e",
            "x": "x",
            "t": "W",
            "u": "U",
            "i": "i",
            "j": "k",
        },
        f"E(e, sup(W, sum(i, e(i)*l(W, Z, i)))) <= sqrt(2)*L*E(x, sup(W, {signed}))",
        "Lemma 7.",
        moved,
    )
    values_sum, scores_sum = (
        "sum(i, sum(k, x(i, k)*A(i, k, W)))",
        "sum(i, sum(k, x(i, k)*radius(i)*s(i, k, W)))",
    )
    factor = "sqrt(1 + q**2)/q*spectral_value/sqrt(2)"
    parts = d.axiom(
        "sup-of-sum",
        {"X": f"lambda W: {up}*{values_sum}", "Y": f"lambda W: {factor}*{scores_sum}", "t": "W"},
        f"sup(W, {signed}) <= {up}*sup(W, {values_sum}) + {factor}*sup(W, {scores_sum})",
        "Values and scores may each choose their own best parameter.",
    )
    parted = d.monotone(
        f"E(x, sup(W, {signed})) <= E(x, {up}*sup(W, {values_sum}) + {factor}*sup(W, {scores_sum}))",
        "Average.",
        parts,
    )
    first = _ball_part(d, values_sum, "v", "TV", "omega_value", "K*sum_sq_tokens", "values")
    second = _ball_part(d, scores_sum, "w", "TW", "omega", "sum_sq_joint", "scores")
    free = d.combine(
        f"{RADEMACHER} <= sqrt(2)*L*(sqrt(1 + q**2)*{_A0} + sqrt(1 + q**2)/q*{_C0})",
        "Chain and divide by m.",
        contraction,
        parted,
        first,
        second,
        times=["1/m", "sqrt(2)*L/m", f"sqrt(2)*L*{up}/m", f"sqrt(2)*L*{factor}/m"],
    )
    best = d.optimise(
        "q",
        f"({_C0}/{_A0})**(1/3)",
        f"{RADEMACHER} <= {_JOINT_BOUND}",
        "The best split (Hoelder's inequality with exponents 3 and 3/2).",
        free,
    )
    conclude_gap(d, best, _JOINT_BOUND)
    return d


DERIVATIONS = (
    derive_i_complexity,
    derive_vector_complexity,
    derive_i,
    derive_ii,
    derive_vector,
    derive_vector_peeled,
    derive_split,
    derive_joint,
)
