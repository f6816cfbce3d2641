"""Derivations of Theorems A, B and P: linear heads, and peeling."""

from __future__ import annotations

from proofs.build import Derivation

LOSS = {
    "P": "real before: P(W), the risk of the model with parameter W",
    "l": "real before: l(W, S, i), its loss on unit i of the sample S",
    "m": "count before: number of independent units",
    "delta": "positive before: failure probability",
    "S": "sample dummy: a sample",
    "T": "sample dummy: a ghost sample",
    "N": "sample dummy: a sample with one unit changed",
    "Z": "sample after: the sample that was drawn",
    "i": "point dummy: a unit",
    "e": "signs dummy: independent signs e(i)",
    "W": "point dummy: a parameter of the class",
}
SAMPLE = {
    "unbiased": ("P(W) == E(T, sum(i, l(W, T, i))/m)", "the units are independent and alike"),
    "low": ("0 <= l(W, S, i)", "the loss is at least 0"),
    "high": ("l(W, S, i) <= 1", "the loss is at most 1"),
    "level": ("0 <= log(1/delta)", "delta is at most 1"),
}
RADEMACHER = "E(e, sup(W, sum(i, e(i)*l(W, Z, i))/m))"
GAP = "P(W) - sum(i, l(W, Z, i))/m"
CONFIDENCE = "2*sqrt(log(1/delta)/(2*m))"
_H = "E(e, sup(W, sum(i, e(i)*h(i, W))/m))"


def conclude_gap(d: Derivation, complexity: str, bound: str) -> None:
    """The last steps of every gap theorem: Lemma 3(c), then the bound on the complexity."""
    unbiased, low, high, level = (d.assume(h) for h in ("unbiased", "low", "high", "level"))
    uniform = d.lemma(
        "lemma-3c",
        {
            "P": "P",
            "l": "l",
            "m": "m",
            "M": "1",
            "delta": "delta",
            "S": "S",
            "T": "T",
            "Z": "Z",
            "f": "W",
            "i": "i",
            "e": "e",
        },
        f"sup(W, {GAP}) <= 2*{RADEMACHER} + {CONFIDENCE}",
        "Lemma 3(c): one event.",
        unbiased,
        low,
        high,
        level,
    )
    value = d.axiom(
        "value-below-sup",
        {"X": f"lambda W: {GAP}", "t": "W"},
        f"{GAP} <= sup(W, {GAP})",
        "Each member is at most the largest.",
    )
    d.combine(
        f"{GAP} <= 2*({bound}) + {CONFIDENCE}",
        "Chain.",
        value,
        uniform,
        complexity,
        level,
        times=["1", "1", "2"],
    )


# Rademacher complexities
_A1 = {
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
_A1_HYPOTHESES = {
    "lipschitz": (
        "h(i, W) - h(i, U) <= L*sqrt(sum(k, (g(i, k, W) - g(i, k, U))**2))",
        "the loss is L-Lipschitz in the outputs",
    ),
    "linear": (
        "sum(i, sum(k, x(i, k)*g(i, k, W))) == inner(a(W), T(x))",
        "the outputs are linear in the trained matrix",
    ),
    "size": (
        "E(x, frobenius(T(x))**2) == K*sum_sq_features",
        "independent signs: the columns of E_i have identity covariance",
    ),
    "ball": ("frobenius(a(W)) <= omega", "the Frobenius ball"),
}


def _inner_below(d: Derivation, linear: str, ball: str, signed: str, factor: str = "1") -> str:
    """E sup of the signed sum is at most ``factor`` omega times the root mean square of ||T||."""
    dual = d.lemma(
        "lemma-9-frobenius",
        {"A": "a(W)", "B": "T(x)"},
        "inner(a(W), T(x)) <= frobenius(a(W))*frobenius(T(x))",
        "Cauchy-Schwarz for matrices.",
    )
    small = d.combine(
        f"{signed} <= {factor}*omega*frobenius(T(x))",
        "Use the ball.",
        linear,
        dual,
        ball,
        times=["1", factor, f"{factor}*frobenius(T(x))"],
    )
    average = d.monotone(
        f"E(x, sup(W, {signed})) <= E(x, sup(W, {factor}*omega*frobenius(T(x))))",
        "The right side no longer depends on W: the supremum is gone.",
        small,
    )
    root = d.axiom(
        "average-below-root-mean-square",
        {"X": "lambda x: frobenius(T(x))", "w": "x"},
        "E(x, frobenius(T(x))) <= sqrt(E(x, frobenius(T(x))**2))",
        "Jensen.",
    )
    return d.combine(
        f"E(x, sup(W, {signed})) <= {factor}*omega*sqrt(E(x, frobenius(T(x))**2))",
        "Chain.",
        average,
        root,
        times=["1", f"{factor}*omega"],
    )


def derive_a1_complexity() -> Derivation:
    """Rademacher complexity of Theorem A1."""
    d = Derivation(
        "complexity-a1",
        "Rademacher complexity of a linear read-out",
        "The class of frozen features and a trained matrix in a Frobenius ball has complexity at most "
        "sqrt(2) L omega sqrt(K "
        "sum ||Psi||^2)/m.",
        "Vector contraction, then Cauchy-Schwarz for matrices.",
        _A1,
        f"{_H} <= sqrt(2)*L*omega*sqrt(K*sum_sq_features)/m",
        hypotheses=_A1_HYPOTHESES,
        sources=("A. Maurer, arXiv:1605.00251",),
        domain="small heads, all signs enumerated",
    )
    signed = "sum(i, sum(k, x(i, k)*g(i, k, W)))"
    lipschitz, linear, ball, size = (d.assume(h) for h in ("lipschitz", "linear", "ball", "size"))
    contraction = d.lemma(
        "lemma-7",
        {"h": "h", "p": "g", "L": "L", "e": "e", "x": "x", "t": "W", "u": "U", "i": "i", "j": "k"},
        f"E(e, sup(W, sum(i, e(i)*h(i, W)))) <= sqrt(2)*L*E(x, sup(W, {signed}))",
        "Lemma 7.",
        lipschitz,
    )
    below = _inner_below(d, linear, ball, signed)
    rooted = d.monotone("sqrt(E(x, frobenius(T(x))**2)) == sqrt(K*sum_sq_features)", "Take roots.", size)
    d.combine(
        d.conclude,
        "Chain and divide by m.",
        contraction,
        below,
        rooted,
        times=["1/m", "sqrt(2)*L/m", "sqrt(2)*L*omega/m"],
    )
    return d


_FIXED = {
    **LOSS,
    "L": "positive before: Lipschitz constant of the loss",
    "U": "point dummy: a parameter",
    "x": "signs dummy: signs x(i, k)",
    "k": "point dummy: an output",
}
_LIPSCHITZ_Z = (
    "l(W, Z, i) - l(U, Z, i) <= L*sqrt(sum(k, (g(Z, i, k, W) - g(Z, i, k, U))**2))",
    "the loss is L-Lipschitz in the outputs",
)
_A1_GAP = {
    **_FIXED,
    "g": "real before: g(S, i, k, W), output k at unit i of the sample S; the features are fixed before "
    "the sample",
    "a": "real before: a(W), the trained matrix",
    "T1": "real after: T1(x), the signed sum of the features",
    "omega": "nonnegative before: Frobenius budget",
    "K": "count before: number of outputs",
    "sum_sq_features": "nonnegative after: sum of squared feature norms on the sample",
}
_A1_GAP_HYPOTHESES = {
    **SAMPLE,
    "lipschitz": _LIPSCHITZ_Z,
    "linear": (
        "sum(i, sum(k, x(i, k)*g(Z, i, k, W))) == inner(a(W), T1(x))",
        "the outputs are linear in the trained matrix",
    ),
    "size": ("E(x, frobenius(T1(x))**2) == K*sum_sq_features", _A1_HYPOTHESES["size"][1]),
    "ball": ("frobenius(a(W)) <= omega", "the Frobenius ball"),
}


def derive_a1() -> Derivation:
    """Theorem A1."""
    bound = "sqrt(2)*L*omega*sqrt(K*sum_sq_features)/m"
    d = Derivation(
        "theorem-a1",
        "Theorem A1: frozen features, trained read-out",
        "With probability at least 1 - delta, for every matrix in the Frobenius ball, the gap is at most "
        "twice the complexity plus "
        "the confidence term.",
        "The complexity bound and Lemma 3(c).",
        _A1_GAP,
        f"{GAP} <= 2*({bound}) + {CONFIDENCE}",
        "delta",
        _A1_GAP_HYPOTHESES,
        ("A. Maurer, arXiv:1605.00251",),
        "as complexity-a1",
    )
    premises = [d.assume(h) for h in ("lipschitz", "linear", "size", "ball")]
    complexity = d.lemma(
        "complexity-a1",
        {
            "h": "lambda i, W: l(W, Z, i)",
            "g": "lambda i, k, W: g(Z, i, k, W)",
            "a": "a",
            "T": "T1",
            "L": "L",
            "omega": "omega",
            "K": "K",
            "m": "m",
            "sum_sq_features": "sum_sq_features",
            "e": "e",
            "x": "x",
            "W": "W",
            "U": "U",
            "i": "i",
            "k": "k",
        },
        f"{RADEMACHER} <= {bound}",
        "The complexity of the class.",
        *premises,
    )
    conclude_gap(d, complexity, bound)
    return d


def derive_a2() -> Derivation:
    """Theorem A2."""
    bound = "sqrt(2)*L*omega*attention_spectral*tokens_spectral*sqrt(K*attention_rank/m)"
    d = Derivation(
        "theorem-a2",
        "Theorem A2: frozen attention",
        "With frozen attention of stable rank at most R the gap is of order sqrt(R/m), times the norms.",
        "Theorem A1 with features A(x) X, and ||A X||_F <= ||A||_2 sqrt(stable rank of A) ||X||_2.",
        {
            **_A1_GAP,
            "q": "nonnegative after: q(i) = ||A_i X_i||_F^2",
            "attention_spectral": "positive before: bound on the attention matrices' spectral norm",
            "attention_rank": "positive before: bound on their stable rank",
            "tokens_spectral": "positive before: bound on the token matrices' spectral norm",
        },
        f"{GAP} <= 2*({bound}) + {CONFIDENCE}",
        "delta",
        {
            **_A1_GAP_HYPOTHESES,
            "units": ("sum(i, 1) == m", "there are m units"),
            "total": ("sum_sq_features == sum(i, q(i))", "the squared feature norms add up"),
            "unit": (
                "q(i) <= attention_spectral**2*attention_rank*tokens_spectral**2",
                "||A X||_F <= ||A||_F ||X||_2 and ||A||_F^2 = ||A||_2^2 times the stable rank",
            ),
        },
        ("A. Maurer, arXiv:1605.00251",),
        "as complexity-a1",
    )
    premises = [d.assume(h) for h in ("lipschitz", "linear", "size", "ball")]
    first = "sqrt(2)*L*omega*sqrt(K*sum_sq_features)/m"
    complexity = d.lemma(
        "complexity-a1",
        {
            "h": "lambda i, W: l(W, Z, i)",
            "g": "lambda i, k, W: g(Z, i, k, W)",
            "a": "a",
            "T": "T1",
            "L": "L",
            "omega": "omega",
            "K": "K",
            "m": "m",
            "sum_sq_features": "sum_sq_features",
            "e": "e",
            "x": "x",
            "W": "W",
            "U": "U",
            "i": "i",
            "k": "k",
        },
        f"{RADEMACHER} <= {first}",
        "The complexity of the class.",
        *premises,
    )
    units, total, unit = d.assume("units"), d.assume("total"), d.assume("unit")
    each = "attention_spectral**2*attention_rank*tokens_spectral**2"
    added = d.monotone(f"sum(i, q(i)) <= sum(i, {each})", "Add over the units.", unit)
    size = d.combine(
        f"K*sum_sq_features <= K*m*{each}",
        "Count the units.",
        total,
        added,
        units,
        times=["K", "K", f"K*{each}"],
    )
    rooted = d.monotone(f"sqrt(K*sum_sq_features) <= sqrt(K*m*{each})", "Take roots.", size)
    final = d.combine(
        f"{RADEMACHER} <= {bound}", "Chain.", complexity, rooted, times=["1", "sqrt(2)*L*omega/m"]
    )
    conclude_gap(d, final, bound)
    return d


# Theorem P
_FAMILY = "sum(i, e(i)*l(member(j, v), Z, i))/m"
FAMILY_GAP = "P(member(j, v)) - sum(i, l(member(j, v), Z, i))/m"
PEELED_CONFIDENCE = "2*sqrt((log(1/delta) + log((j + 1)*(j + 2)))/(2*m))"
PEEL = {
    **{k: v for k, v in LOSS.items() if k != "W"},
    "W": "point dummy: a model",
    "member": "real before: member(j, v) runs through the models of complexity at most c0 rho^j",
    "v": "point dummy: numbers the models of one grid cell",
    "c0": "positive before: start of the grid",
    "rho": "positive before: grid ratio",
    "j": "index grid: grid index, chosen after training",
}


def _peel(d: Derivation, slope: str, slope_bound: str) -> None:
    """Lemma 3(c) for every grid cell with its share of delta, and the union."""
    unbiased, low, high, level = (d.assume(h) for h in ("unbiased", "low", "high", "level"))
    special = []
    for premise, claim in (
        (unbiased, "P(member(j, v)) == E(T, sum(i, l(member(j, v), T, i))/m)"),
        (low, "0 <= l(member(j, v), S, i)"),
        (high, "l(member(j, v), S, i) <= 1"),
    ):
        special.append(d.specialise("W", "member(j, v)", claim, "For the members of the cell.", premise))
    one = d.sign("1 <= (j + 1)*(j + 2)", "j is at least 0.")
    logs = d.monotone("log(1) <= log((j + 1)*(j + 2))", "Logarithms.", one)
    share = "delta/((j + 1)*(j + 2))"
    level_j = d.combine(f"0 <= log(1/({share}))", "The share of delta is at most 1.", level, logs)
    complexity = f"E(e, sup(v, {_FAMILY}))"
    uniform = d.lemma(
        "lemma-3c",
        {
            "P": "lambda v: P(member(j, v))",
            "l": "lambda v, S, i: l(member(j, v), S, i)",
            "m": "m",
            "M": "1",
            "delta": share,
            "S": "S",
            "T": "T",
            "Z": "Z",
            "f": "v",
            "i": "i",
            "e": "e",
        },
        f"sup(v, {FAMILY_GAP}) <= 2*{complexity} + 2*sqrt(log(1/({share}))/(2*m))",
        "Lemma 3(c) for one grid cell, at its share of delta.",
        *special,
        level_j,
    )
    value = d.axiom(
        "value-below-sup",
        {"X": f"lambda v: {FAMILY_GAP}", "t": "v"},
        f"{FAMILY_GAP} <= sup(v, {FAMILY_GAP})",
        "Each member is at most the largest.",
    )
    cell = d.combine(
        f"{FAMILY_GAP} <= {slope_bound} + {PEELED_CONFIDENCE}",
        "Chain; log of the share.",
        value,
        uniform,
        slope,
        level_j,
        times=["1", "1", "1"],
    )
    d.grid(
        "j",
        "delta",
        "1/(j + 1)",
        d.conclude,
        "1/((j+1)(j+2)) = 1/(j+1) - 1/(j+2): the shares add up to delta.",
        cell,
    )


def derive_p() -> Derivation:
    """Theorem P."""
    d = Derivation(
        "theorem-p",
        "Theorem P: peeling",
        "A bound for every fixed complexity becomes a bound at the complexity measured after training, "
        "rounded up to a grid.",
        "A union over the grid with weights 1/((j+1)(j+2)).",
        {**PEEL, "kap_S": "nonnegative after: gap bound per unit of complexity; may depend on the sample"},
        f"{FAMILY_GAP} <= kap_S*c0*rho**j + {PEELED_CONFIDENCE}",
        "delta",
        {
            **SAMPLE,
            "slope": (f"2*E(e, sup(v, {_FAMILY})) <= kap_S*c0*rho**j", "twice the complexity of a cell"),
        },
        ("Here",),
        "finite classes, exact probabilities",
    )
    slope = d.assume("slope")
    _peel(d, slope, "kap_S*c0*rho**j")
    return d


def derive_a1_peeled() -> Derivation:
    """A1 with the norm measured after training."""
    bound = "sqrt(2)*L*(c0*rho**j)*sqrt(K*sum_sq_features)/m"
    d = Derivation(
        "theorem-a1-peeled",
        "Theorem A1, norm measured after training",
        "A1 for every matrix, whatever its norm.",
        "Theorem A1's complexity in every grid cell; the union of Theorem P.",
        {
            **PEEL,
            **{k: _A1_GAP[k] for k in ("g", "T1", "K", "sum_sq_features", "L", "U", "x", "k")},
            "T1": "real after: T1(x), the signed sum of the features",
            "u": "point dummy: numbers the models of one cell",
        },
        f"{FAMILY_GAP} <= 2*({bound}) + {PEELED_CONFIDENCE}",
        "delta",
        {
            **SAMPLE,
            "lipschitz": _LIPSCHITZ_Z,
            "linear": (
                "sum(i, sum(k, x(i, k)*g(Z, i, k, W))) == inner(W, T1(x))",
                "the outputs are linear in the trained matrix",
            ),
            "size": _A1_GAP_HYPOTHESES["size"],
            "cell": ("frobenius(member(j, v)) <= c0*rho**j", "the grid cell"),
        },
        ("A. Maurer, arXiv:1605.00251",),
        "as complexity-a1",
    )
    lipschitz, linear, size, cell = (d.assume(h) for h in ("lipschitz", "linear", "size", "cell"))
    half = (
        "l(member(j, v), Z, i) - l(U, Z, i) <= L*sqrt(sum(k, (g(Z, i, k, member(j, v)) - g(Z, i, k, U))**2))"
    )
    first = d.specialise("W", "member(j, v)", half, "For the members of the cell.", lipschitz)
    second = d.specialise(
        "U", "member(j, u)", half.replace("U", "member(j, u)"), "For the members of the cell.", first
    )
    linear_v = d.specialise(
        "W",
        "member(j, v)",
        "sum(i, sum(k, x(i, k)*g(Z, i, k, member(j, v)))) == inner(member(j, v), T1(x))",
        "For the members of the cell.",
        linear,
    )
    complexity = d.lemma(
        "complexity-a1",
        {
            "h": "lambda i, v: l(member(j, v), Z, i)",
            "g": "lambda i, k, v: g(Z, i, k, member(j, v))",
            "a": "lambda v: member(j, v)",
            "T": "T1",
            "L": "L",
            "omega": "c0*rho**j",
            "K": "K",
            "m": "m",
            "sum_sq_features": "sum_sq_features",
            "e": "e",
            "x": "x",
            "W": "v",
            "U": "u",
            "i": "i",
            "k": "k",
        },
        f"E(e, sup(v, {_FAMILY})) <= {bound}",
        "The complexity of a cell.",
        second,
        linear_v,
        size,
        cell,
    )
    slope = d.combine(
        f"2*E(e, sup(v, {_FAMILY})) <= 2*({bound})", "Twice the complexity.", complexity, times=["2"]
    )
    _peel(d, slope, f"2*({bound})")
    return d


# Theorem B
_SERIES_NORM = (
    "min(sqrt(2*series_variance*log(2*series_frobenius_sq/series_variance)), sqrt(series_frobenius_sq))"
)
_B = {
    **_FIXED,
    "g": "real before: g(S, i, W) = <W, G(x_i)>",
    "a": "real before: a(W), the trained matrix",
    "T1": "real after: T1(e), the signed sum of the matrices",
    "V": "real after: the block-diagonal variance",
    "nu": "positive before: nuclear budget",
    "series_variance": "positive after: v, the larger norm of the two variances",
    "series_frobenius_sq": "positive after: F^2, sum of squared Frobenius norms",
}
_INTRINSIC = ("0 <= log(series_frobenius_sq/series_variance)", "the intrinsic dimension F^2/v is at least 1")


def nuclear_below(d: Derivation, sign: str, linear: str, ball: str, intrinsic: str, signed: str) -> str:
    """E sup of the signed sum is at most nu times Lemma 8's bound."""
    dual = d.lemma(
        "lemma-9-nuclear",
        {"A": "a(W)", "B": f"T1({sign})"},
        f"inner(a(W), T1({sign})) <= nuclear(a(W))*spectral(T1({sign}))",
        "Nuclear-spectral duality.",
    )
    small = d.combine(
        f"{signed} <= nu*spectral(T1({sign}))",
        "Use the ball.",
        linear,
        dual,
        ball,
        times=["1", "1", f"spectral(T1({sign}))"],
    )
    average = d.monotone(
        f"E({sign}, sup(W, {signed})) <= E({sign}, sup(W, nu*spectral(T1({sign}))))",
        "The right side no longer depends on W.",
        small,
    )
    series = d.lemma(
        "lemma-8-min",
        {"Z": "T1", "v": "series_variance", "F2": "series_frobenius_sq", "x": sign},
        f"E({sign}, spectral(T1({sign}))) <= {_SERIES_NORM}",
        "Lemma 8.",
        intrinsic,
    )
    return d.combine(
        f"E({sign}, sup(W, {signed})) <= nu*{_SERIES_NORM}", "Chain.", average, series, times=["1", "nu"]
    )


def derive_b1() -> Derivation:
    """Theorem B1."""
    bound = f"L*nu*{_SERIES_NORM}/m"
    d = Derivation(
        "theorem-b1",
        "Theorem B1: scalar bilinear class in a nuclear ball",
        "The gap is at most twice L nu/m times the expected norm of a matrix series.",
        "Scalar contraction, duality, Lemma 8.",
        _B,
        f"{GAP} <= 2*({bound}) + {CONFIDENCE}",
        "delta",
        {
            **SAMPLE,
            "lipschitz": (
                "l(W, Z, i) - l(U, Z, i) <= L*abs(g(Z, i, W) - g(Z, i, U))",
                "the loss is L-Lipschitz",
            ),
            "linear": ("sum(i, e(i)*g(Z, i, W)) == inner(a(W), T1(e))", "bilinear class"),
            "ball": ("nuclear(a(W)) <= nu", "the nuclear ball"),
            "intrinsic": _INTRINSIC,
        },
        ("J. A. Tropp, arXiv:1501.01571",),
        "small classes, all signs enumerated",
    )
    signed = "sum(i, e(i)*g(Z, i, W))"
    lipschitz, linear, ball, intrinsic = (d.assume(h) for h in ("lipschitz", "linear", "ball", "intrinsic"))
    contraction = d.lemma(
        "lemma-5",
        {
            "h": "lambda i, W: l(W, Z, i)",
            "p": "lambda i, W: g(Z, i, W)",
            "L": "L",
            "e": "e",
            "t": "W",
            "u": "U",
            "i": "i",
        },
        f"E(e, sup(W, sum(i, e(i)*l(W, Z, i)))) <= L*E(e, sup(W, {signed}))",
        "Lemma 5.",
        lipschitz,
    )
    below = nuclear_below(d, "e", linear, ball, intrinsic, signed)
    complexity = d.combine(
        f"{RADEMACHER} <= {bound}", "Chain and divide by m.", contraction, below, times=["1/m", "L/m"]
    )
    conclude_gap(d, complexity, bound)
    return d


def derive_b2() -> Derivation:
    """Theorem B2."""
    bound = f"sqrt(2)*L*nu*{_SERIES_NORM}/m"
    d = Derivation(
        "theorem-b2",
        "Theorem B2: vector outputs in a nuclear ball",
        "As B1 for K outputs, with the vector contraction's sqrt(2).",
        "Vector contraction, duality, Lemma 8.",
        {**_B, "g": "real before: g(S, i, k, W), output k at unit i"},
        f"{GAP} <= 2*({bound}) + {CONFIDENCE}",
        "delta",
        {
            **SAMPLE,
            "lipschitz": _LIPSCHITZ_Z,
            "linear": (
                "sum(i, sum(k, x(i, k)*g(Z, i, k, W))) == inner(a(W), T1(x))",
                "linear outputs: matrices phi_i e_k^T",
            ),
            "ball": ("nuclear(a(W)) <= nu", "the nuclear ball"),
            "intrinsic": _INTRINSIC,
        },
        ("A. Maurer, arXiv:1605.00251", "J. A. Tropp, arXiv:1501.01571"),
        "small classes, all signs enumerated",
    )
    signed = "sum(i, sum(k, x(i, k)*g(Z, i, k, W)))"
    lipschitz, linear, ball, intrinsic = (d.assume(h) for h in ("lipschitz", "linear", "ball", "intrinsic"))
    contraction = d.lemma(
        "lemma-7",
        {
            "h": "lambda i, W: l(W, Z, i)",
            "p": "lambda i, k, W: g(Z, i, k, W)",
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
        lipschitz,
    )
    below = nuclear_below(d, "x", linear, ball, intrinsic, signed)
    complexity = d.combine(
        f"{RADEMACHER} <= {bound}", "Chain and divide by m.", contraction, below, times=["1/m", "sqrt(2)*L/m"]
    )
    conclude_gap(d, complexity, bound)
    return d


DERIVATIONS = (derive_a1_complexity, derive_a1, derive_a2, derive_p, derive_a1_peeled, derive_b1, derive_b2)
