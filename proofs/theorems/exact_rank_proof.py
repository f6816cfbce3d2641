"""Derivations of Theorem C2: exact rank, a net of low-rank matrices."""

from __future__ import annotations

from proofs.build import Derivation
from proofs.theorems.counting_steps import LEVEL, SETTING


def derive_c2_cover() -> Derivation:
    """How far the loss is from that of the nearest net point."""
    d = Derivation(
        "lemma-c2-cover",
        "Distance from the net, in loss",
        "With the resolutions eps/(2 L B) for V and eps/(2 L S_V B^2 B_q) for W, no loss differs by "
        "more than eps from that of the "
        "nearest net point.",
        "Lemma 13(a), half of eps for each matrix.",
        {
            "change": "real after: change of the loss",
            "move": "real after: change of the outputs",
            "L": "positive after: Lipschitz constant",
            "B": "positive after: bound on tokens",
            "B_query": "positive after: bound on queries",
            "SV": "positive after: 2^j_values",
            "dV": "nonnegative after: distance of V from the net",
            "dW": "nonnegative after: distance of W from the net",
            "nV": "nonnegative after: norm of the net point's V",
            "eps": "positive after: resolution",
        },
        "change <= eps",
        hypotheses={
            "loss": ("change <= L*move", "the loss is L-Lipschitz"),
            "map": ("move <= B*dV + nV*B**2*B_query*dW", "Lemma 13(a)"),
            "size": ("nV <= SV", "net points lie in the class"),
            "V": ("dV <= eps/(2*L*B)", "net of the value matrices"),
            "W": ("dW <= eps/(2*L*SV*B**2*B_query)", "net of the query-key matrices"),
        },
        sources=("Here",),
        domain="random heads",
    )
    loss, moved, size, v, w = (d.assume(h) for h in ("loss", "map", "size", "V", "W"))
    product = d.monotone("nV*dW <= SV*(eps/(2*L*SV*B**2*B_query))", "Both factors.", size, w)
    d.combine(
        d.conclude,
        "Each part is at most eps/2, so both together are at most eps.",
        loss,
        moved,
        v,
        product,
        times=["1", "L", "L*B", "L*B**2*B_query"],
    )
    return d


_C2 = {
    **SETTING,
    "risk": "fraction before: risk(n), the risk of net point n",
    "emp": "fraction after: emp(n), its empirical risk",
    "w": "positive before: w(n), the weight of net point n",
    "n": "index after: number of the nearest net point",
    "R": "real after: risk of the trained head",
    "emp_risk": "fraction after: its empirical risk",
    "logNW": "real after: log-size of the net of query-key matrices",
    "logNV": "real after: log-size of the net of value matrices",
    "d": "count after: token dimension",
    "K": "count after: outputs",
    "rank_scores": "count after: r",
    "rank_values": "count after: r'",
    "j_scores": "index after: dyadic index of ||W||_2",
    "j_values": "index after: dyadic index of ||V||_2",
    "resolution": "count after: eps = 2^-resolution",
    "L": "positive before: Lipschitz constant",
    "B": "positive before: bound on tokens",
    "B_query": "positive before: bound on queries",
}
_EPS = "2**(-resolution)"
_GRIDS = (
    "log(rank_scores*(rank_scores + 1)) + log(rank_values*(rank_values + 1)) + log((j_scores + "
    "1)*(j_scores + 2)) "
    "+ log((j_values + 1)*(j_values + 2)) + log(resolution*(resolution + 1))"
)
_ENTROPY = (
    "(2*d*rank_scores*log(1 + 2**(resolution + 3 + j_scores + j_values)*L*B**2*B_query) "
    "+ (d + K)*rank_values*log(1 + 2**(resolution + 3 + j_values)*L*B) "
    f"+ {_GRIDS} + log(1/delta))"
)
_C2_FACTS = {
    "kraft": (
        "sum(n, w(n)) <= 1",
        "The weight of a net point is the product of five grid weights 1/(k(k+1)), each family of which "
        "adds up to 1, "
        "divided by the number of net points of its cell.",
    ),
    "weight": ("0 <= log(1/w(n))", "A weight is a product of numbers that are at most 1."),
    "size": (f"log(1/w(n)) == {_GRIDS} + logNW + logNV", "The logarithm of the weight of a net point."),
    "netW": (
        f"low_rank_net(logNW, rank_scores, d, d, 2**j_scores, {_EPS}/(2*L*2**j_values*B**2*B_query))",
        "The net of the query-key matrices of the cell is chosen at this resolution.",
    ),
    "netV": (
        f"low_rank_net(logNV, rank_values, d, K, 2**j_values, {_EPS}/(2*L*B))",
        "The net of the value matrices of the cell is chosen at this resolution.",
    ),
    "near": (
        f"R <= risk(n) + {_EPS}",
        "lemma-c2-cover bounds the change of the loss on every input, so of its average.",
    ),
    "near_emp": (
        f"emp(n) <= min(1, emp_risk + {_EPS})",
        "The same for the average over the sample; an average of losses in [0, 1] is at most 1.",
    ),
}
_C2_HYPOTHESES = {
    **LEVEL,
    "iid": (
        "average_of_independent_units(emp, risk, m)",
        "the losses of a net point are independent, in [0, 1]",
    ),
}


def _c2_entropy(d: Derivation) -> str:
    """log(1/w) + log(1/delta) is at most the entropy bracket."""
    size, net_w, net_v = d.assume("size"), d.assume("netW"), d.assume("netV")
    first = d.lemma(
        "lemma-11b",
        {
            "logN": "logNW",
            "r": "rank_scores",
            "d1": "d",
            "d2": "d",
            "s": "2**j_scores",
            "eps": f"{_EPS}/(2*L*2**j_values*B**2*B_query)",
        },
        f"logNW <= rank_scores*(d + d)*log(1 + 4*2**j_scores/({_EPS}/(2*L*2**j_values*B**2*B_query)))",
        "Lemma 11(b): the size of a net of matrices of low rank.",
        net_w,
    )
    second = d.lemma(
        "lemma-11b",
        {
            "logN": "logNV",
            "r": "rank_values",
            "d1": "d",
            "d2": "K",
            "s": "2**j_values",
            "eps": f"{_EPS}/(2*L*B)",
        },
        f"logNV <= rank_values*(d + K)*log(1 + 4*2**j_values/({_EPS}/(2*L*B)))",
        "Lemma 11(b): the size of a net of matrices of low rank.",
        net_v,
    )
    return d.combine(
        f"(log(1/w(n)) + log(1/delta))/m <= {_ENTROPY}/m",
        "Add up.",
        size,
        first,
        second,
        times=["1/m", "1/m", "1/m"],
    )


def derive_c2() -> Derivation:
    """Theorem C2, relative-entropy form."""
    d = Derivation(
        "theorem-c2",
        "Theorem C2: exact rank, relative-entropy form",
        "For all ranks, norms and resolutions at once the risk is bounded by the entropy of a net of "
        "low-rank matrices.",
        "Occam's bound for the nearest net point; the loss moves by at most eps.",
        _C2,
        f"R <= {_EPS} + kl_inverse(min(1, emp_risk + {_EPS}), {_ENTROPY}/m)",
        "delta",
        _C2_HYPOTHESES,
        ("Here",),
        "small heads",
        _C2_FACTS,
    )
    kraft, weight, level, iid = (d.assume(h) for h in ("kraft", "weight", "level", "iid"))
    occam = d.lemma(
        "lemma-15",
        {k: k for k in ("risk", "emp", "w", "m", "delta", "n")},
        "risk(n) <= kl_inverse(emp(n), (log(1/w(n)) + log(1/delta))/m)",
        "Lemma 15 for every net point.",
        kraft,
        weight,
        level,
        iid,
    )
    entropy, near, near_emp = _c2_entropy(d), d.assume("near"), d.assume("near_emp")
    larger = d.monotone(
        "kl_inverse(emp(n), (log(1/w(n)) + log(1/delta))/m) <= "
        f"kl_inverse(min(1, emp_risk + {_EPS}), {_ENTROPY}/m)",
        "kl_inverse increases in both arguments.",
        entropy,
        near_emp,
    )
    d.combine(
        d.conclude,
        "Put the lines together: what bounds one quantity is bounded by the next.",
        near,
        occam,
        larger,
    )
    return d


def _state_c2_hoeffding() -> Derivation:
    """What is to be proved."""
    return Derivation(
        "theorem-c2-hoeffding",
        "Theorem C2: exact rank, Hoeffding form",
        "As C2 with a square root.",
        "Occam's bound in square-root form for the nearest net point.",
        _C2,
        f"R - emp_risk <= 2*{_EPS} + sqrt({_ENTROPY}/(2*m))",
        "delta",
        _C2_HYPOTHESES,
        ("Here",),
        "small heads",
        {
            **_C2_FACTS,
            "near_emp": (
                f"emp(n) <= emp_risk + {_EPS}",
                "lemma-c2-cover bounds the change of the loss on every input of the sample.",
            ),
        },
    )


def derive_c2_hoeffding() -> Derivation:
    """Theorem C2, Hoeffding form."""
    d = _state_c2_hoeffding()
    kraft, weight, level, iid = (d.assume(h) for h in ("kraft", "weight", "level", "iid"))
    occam = d.lemma(
        "lemma-15-hoeffding",
        {k: k for k in ("risk", "emp", "w", "m", "delta", "n")},
        "risk(n) <= emp(n) + sqrt((log(1/w(n)) + log(1/delta))/(2*m))",
        "Lemma 15 for every net point.",
        kraft,
        weight,
        level,
        iid,
    )
    entropy, near, near_emp = _c2_entropy(d), d.assume("near"), d.assume("near_emp")
    half = d.combine(
        f"(log(1/w(n)) + log(1/delta))/(2*m) <= {_ENTROPY}/(2*m)",
        "Divide both sides by 2.",
        entropy,
        times=["1/2"],
    )
    cost = d.combine(
        "0 <= (log(1/w(n)) + log(1/delta))/(2*m)",
        "Both logarithms are nonnegative.",
        weight,
        level,
        times=["1/(2*m)", "1/(2*m)"],
    )
    rooted = d.monotone(
        f"sqrt((log(1/w(n)) + log(1/delta))/(2*m)) <= sqrt({_ENTROPY}/(2*m))",
        "Take roots on both sides: the root is an increasing function.",
        half,
        cost,
    )
    d.combine(
        d.conclude,
        "Put the lines together: what bounds one quantity is bounded by the next.",
        near,
        occam,
        near_emp,
        rooted,
        cost,
        times=["1", "1", "1", "1"],
    )
    return d


DERIVATIONS = (derive_c2_cover, derive_c2, derive_c2_hoeffding)
