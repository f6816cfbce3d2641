"""Derivations of Theorem C1-joint: the query-key and the value matrix of a softmax head are trained."""

from __future__ import annotations

from proofs.build import Derivation
from proofs.theorems.complexity_steps import COMPLEXITY, below_frobenius, vector_contraction
from proofs.theorems.gap_steps import FIXED, THREE_NORMS
from proofs.theorems.gap_theorem import GapTheorem

_SOURCES = ("A. Maurer, arXiv:1605.00251",)
_DOMAIN = "small heads with rational weights, all signs enumerated in 200-bit balls"


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
        "Take roots on both sides: the root is an increasing function.",
        square,
    )
    return d


# The complexity
_TABLE, _SCORE = "A(i, k, W)", "s(i, k, W)"
_VALUES_SUM = f"sum(i, sum(k, x(i, k)*{_TABLE}))"
_SCORES_SUM = f"sum(i, sum(k, x(i, k)*radius(i)*{_SCORE}))"
_CLASS = {
    "h": "real after: h(i, W), the loss at unit i",
    "L": "positive after: Lipschitz constant of the loss",
    "m": "count after: number of units",
    "e": "signs dummy: signs e(i)",
    "x": "signs dummy: signs x(i, k), k over value entries and tokens",
    "W": "point dummy: a parameter",
    "U": "point dummy: a parameter",
    "Y": "point dummy: a parameter",
    "i": "point dummy: a unit",
    "k": "point dummy: a coordinate",
    "dA": "nonnegative after: dA(i, W, U), Frobenius distance of the value tables X_i V",
    "ds": "nonnegative after: ds(i, W, U), Euclidean distance of the scores",
    "A": "real after: A(i, k, W), the value table's entries, 0 for the coordinates of scores",
    "s": "real after: s(i, k, W), the centred scores, 0 for the coordinates of the value table",
    "radius": "positive after: radius(i), radius of the tokens about the centre",
    "V": "real after: V(W), the value matrix of the parameter",
    "Q": "real after: Q(W), its query-key matrix",
    "TV": "real after: TV(x), the signed sum for the value matrix",
    "TQ": "real after: TQ(x), for the query-key matrix",
    "omega_value": "positive after: Frobenius budget of the value matrix",
    "spectral_value": "positive after: spectral budget of the value matrix",
    "omega": "positive after: Frobenius budget of the query-key matrix",
    "K": "count after: number of outputs",
    "sum_sq_tokens": "positive after: sum of ||X_i||_F^2",
    "sum_sq_joint": "positive after: sum of radius_i^2 ||x_q||^2 ||centred tokens||_F^2",
}
_SHARED_HYPOTHESES = {
    "table": ("dA(i, W, U)**2 == sum(k, (A(i, k, W) - A(i, k, U))**2)", "distance of the value tables"),
    "scores": ("ds(i, W, U)**2 == sum(k, (s(i, k, W) - s(i, k, U))**2)", "distance of the scores"),
    "apart": ("A(i, k, W)*s(i, k, U) == 0", "a coordinate belongs to the value table or to the scores"),
    "linear_values": (f"{_VALUES_SUM} == inner(V(W), TV(x))", "value tables are linear in V"),
    "linear_scores": (
        f"{_SCORES_SUM} == inner(Q(W), TQ(x))",
        "scores are linear in the query-key matrix",
    ),
    "size_values": ("E(x, frobenius(TV(x))**2) == K*sum_sq_tokens", "independent signs"),
    "size_scores": ("E(x, frobenius(TQ(x))**2) == sum_sq_joint", "independent signs"),
}
_MOVE = "L*(dA(i, W, U) + radius(i)*spectral(V(W))/sqrt(2)*ds(i, W, U))"
_LIPSCHITZ = (
    "the loss, then: the value table moves (weights add up to 1), and the scores move (Lemma 12(c) with "
    "oscillation at most twice the radius times ||V||)"
)
_BALLS = {
    "ball_values": ("frobenius(V(W)) <= omega_value", "Frobenius ball of V"),
    "ball_spectral": ("spectral(V(W)) <= spectral_value", "spectral ball of V"),
    "ball_scores": ("frobenius(Q(W)) <= omega", "Frobenius ball of the query-key matrix"),
}


_A0 = "(omega_value*sqrt(K*sum_sq_tokens)/m)"
_C0 = "(spectral_value*omega*sqrt(sum_sq_joint)/(sqrt(2)*m))"
_BOUND = f"sqrt(2)*L*({_A0}**(2/3) + {_C0}**(2/3))**(3/2)"
_UP = "sqrt(1 + q**2)"
_WEIGHT = "radius(i)*spectral_value/sqrt(2)"
_FACTOR = "sqrt(1 + q**2)/q*spectral_value/sqrt(2)"
_VECTOR = f"{_UP}*{_TABLE} + {_UP}/q*{_WEIGHT}*{_SCORE}"


def _different_coordinates(d: Derivation, apart: str) -> str:
    """Value table and scores have no coordinate in common, for any two parameters."""
    why = "It holds for all pairs of parameters."
    both_w = d.specialise("U", "W", "A(i, k, W)*s(i, k, W) == 0", why, apart)
    both_u = d.specialise("W", "U", "A(i, k, U)*s(i, k, U) == 0", why, apart)
    first = d.specialise("W", "Y", "A(i, k, Y)*s(i, k, U) == 0", why, apart)
    second = d.specialise("U", "W", "A(i, k, Y)*s(i, k, W) == 0", why, first)
    swapped = d.specialise("Y", "U", "A(i, k, U)*s(i, k, W) == 0", why, second)
    product = "(A(i, k, W) - A(i, k, U))*(s(i, k, W) - s(i, k, U))"
    each = d.combine(
        f"{product} == 0",
        "Multiply out: every product is 0.",
        both_w,
        apart,
        swapped,
        both_u,
        times=["1", "-1", "-1", "1"],
    )
    return d.monotone(f"sum(k, {product}) == sum(k, 0)", "Add up over the coordinates.", each)


def _one_vector(d: Derivation) -> str:
    """The loss is Lipschitz in one vector: value table and scores, weighted by the split."""
    r = f"{_WEIGHT}*ds(i, W, U)"
    lipschitz, spectral = d.assume("lipschitz"), d.assume("ball_spectral")
    split = d.lemma(
        "lemma-split",
        {"p": "dA(i, W, U)", "r": r, "q": "q"},
        f"dA(i, W, U) + {r} <= sqrt((1 + q**2)*dA(i, W, U)**2 + (1 + q**2)/q**2*({r})**2)",
        "Split.",
    )
    table, scores, apart = d.assume("table"), d.assume("scores"), d.assume("apart")
    cross = _different_coordinates(d, apart)
    other = _VECTOR.replace("W)", "U)")
    joined = d.combine(
        f"(1 + q**2)*dA(i, W, U)**2 + (1 + q**2)/q**2*({r})**2 == sum(k, ({_VECTOR} - ({other}))**2)",
        "Coordinates of the value table and of the scores are different ones.",
        table,
        scores,
        cross,
        times=["1 + q**2", f"(1 + q**2)/q**2*({_WEIGHT})**2", f"-2*(1 + q**2)/q*{_WEIGHT}"],
    )
    length = f"sqrt(sum(k, ({_VECTOR} - ({other}))**2))"
    rooted = d.monotone(
        f"sqrt((1 + q**2)*dA(i, W, U)**2 + (1 + q**2)/q**2*({r})**2) == {length}",
        "Take roots on both sides: the root is an increasing function.",
        joined,
    )
    return d.combine(
        f"h(i, W) - h(i, U) <= L*{length}",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        lipschitz,
        spectral,
        split,
        rooted,
        times=["1", "L*radius(i)/sqrt(2)*ds(i, W, U)", "L", "L"],
    )


def _parts(d: Derivation, signed: str) -> str:
    """Values and scores each choose their own best parameter."""
    values, scores = f"{_UP}*sup(W, {_VALUES_SUM})", f"{_FACTOR}*sup(W, {_SCORES_SUM})"
    parts = d.axiom(
        "sup-of-sum",
        {"X": f"lambda W: {_UP}*{_VALUES_SUM}", "Y": f"lambda W: {_FACTOR}*{_SCORES_SUM}", "t": "W"},
        f"sup(W, {signed}) <= {values} + {scores}",
        "Values and scores may each choose their own best parameter.",
    )
    return d.monotone(
        f"E(x, sup(W, {signed})) <= E(x, {values} + {scores})",
        "It holds for every value, so it holds on average.",
        parts,
    )


def _ball(d: Derivation, which: str, signed: str, matrix: str, series: str, budget: str, size: str) -> str:
    """E sup of one part, over its Frobenius ball."""
    linear, ball, equal = (d.assume(f"{name}_{which}") for name in ("linear", "ball", "size"))
    below = below_frobenius(d, linear, ball, signed, matrix=matrix, series=series, budget=budget)
    rooted = d.monotone(
        f"sqrt(E(x, frobenius({series}(x))**2)) == sqrt({size})",
        "Take roots on both sides: the root is an increasing function.",
        equal,
    )
    return d.combine(
        f"E(x, sup(W, {signed})) <= {budget}*sqrt({size})",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        below,
        rooted,
        times=["1", budget],
    )


def derive_complexity() -> Derivation:
    """Rademacher complexity of Theorem C1-joint."""
    d = Derivation(
        "complexity-c1-joint",
        "Rademacher complexity of a softmax head with both matrices trained",
        "With both matrices trained, the complexity is sqrt(2) L (A0^(2/3) + C0^(2/3))^(3/2).",
        "One contraction for both, split between values and scores in the best way.",
        {**_CLASS, "q": "positive free: how the contraction is split between values and scores"},
        f"{COMPLEXITY} <= {_BOUND}",
        hypotheses={
            "lipschitz": (f"h(i, W) - h(i, U) <= {_MOVE}", _LIPSCHITZ),
            **_SHARED_HYPOTHESES,
            **_BALLS,
        },
        sources=_SOURCES,
        domain=_DOMAIN,
    )
    signed = f"sum(i, sum(k, x(i, k)*({_VECTOR})))"
    contraction = vector_contraction(d, _one_vector(d), _VECTOR, signed)
    parted = _parts(d, signed)
    first = _ball(d, "values", _VALUES_SUM, "V(W)", "TV", "omega_value", "K*sum_sq_tokens")
    second = _ball(d, "scores", _SCORES_SUM, "Q(W)", "TQ", "omega", "sum_sq_joint")
    free = d.combine(
        f"{COMPLEXITY} <= sqrt(2)*L*({_UP}*{_A0} + {_UP}/q*{_C0})",
        "Put the lines together and divide by the number of units m.",
        contraction,
        parted,
        first,
        second,
        times=["1/m", "sqrt(2)*L/m", f"sqrt(2)*L*{_UP}/m", f"sqrt(2)*L*{_FACTOR}/m"],
    )
    d.optimise(
        "q",
        f"({_C0}/{_A0})**(1/3)",
        d.conclude,
        "The best split (Hoelder's inequality with exponents 3 and 3/2).",
        free,
    )
    return d


# The gap theorem: everything but the two trained matrices is fixed before the sample
_GAP = {
    **_CLASS,
    **FIXED,
    "x": _CLASS["x"],
    "k": _CLASS["k"],
    **{
        n: _CLASS[n].replace("after:", "before:")
        for n in ("V", "Q", "omega", "omega_value", "spectral_value", "K")
    },
}
JOINT = GapTheorem(
    key="c1-joint",
    label="C1-joint",
    title="query-key and value matrices trained",
    goal="With probability at least 1 - delta, for all value and query-key matrices in their balls, the "
    "gap is "
    "at most twice the complexity plus the confidence term.",
    variables=_GAP,
    hypotheses={
        "lipschitz": (f"l(W, Z, i) - l(U, Z, i) <= {_MOVE}", _LIPSCHITZ),
        **_SHARED_HYPOTHESES,
        **_BALLS,
    },
    terms={
        **{k: k for k in _CLASS},
        "h": "lambda i, W: l(W, Z, i)",
        "V": "lambda W: V(W)",
        "Q": "lambda W: Q(W)",
        "A": "lambda i, k, W: A(i, k, W)",
        "s": "lambda i, k, W: s(i, k, W)",
        "dA": "lambda i, W, U: dA(i, W, U)",
        "ds": "lambda i, W, U: ds(i, W, U)",
    },
    bound=_BOUND,
    sources=_SOURCES,
    domain=_DOMAIN,
)


def derive_joint_peeled() -> Derivation:
    """C1-joint with the three norms measured after training."""
    return JOINT.derive_peeled(
        THREE_NORMS,
        omega="(c0*rho**j)",
        omega_value="(c0*rho**j_value)",
        spectral_value="(c0*rho**j_spectral)",
    )


DERIVATIONS = (derive_split, derive_complexity, JOINT.derive, derive_joint_peeled)
