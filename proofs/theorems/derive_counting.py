"""Derivations of Theorems C2, C3, D and E: nets, codes and noise; and of held-out test sets."""

from __future__ import annotations

from proofs.build import Derivation
from proofs.lemmas.l16_pac_bayes import HYPOTHESES as PAC_HYPOTHESES
from proofs.lemmas.l16_pac_bayes import VARIABLES as PAC_VARIABLES

_M = {"m": "count before: number of independent units", "delta": "positive before: failure probability"}
_LEVEL = {"level": ("0 <= log(1/delta)", "delta is at most 1")}
_MOMENT = "(2 + sqrt(pi()*m/2))"


# C2
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
        d.conclude, "eps/2 + eps/2.", loss, moved, v, product, times=["1", "L", "L*B", "L*B**2*B_query"]
    )
    return d


_C2 = {
    **_M,
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
    **_LEVEL,
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
        "Lemma 11(b).",
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
        "Lemma 11(b).",
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
    d.combine(d.conclude, "Chain.", near, occam, larger)
    return d


def derive_c2_hoeffding() -> Derivation:
    """Theorem C2, Hoeffding form."""
    d = Derivation(
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
        f"(log(1/w(n)) + log(1/delta))/(2*m) <= {_ENTROPY}/(2*m)", "Halve.", entropy, times=["1/2"]
    )
    cost = d.combine(
        "0 <= (log(1/w(n)) + log(1/delta))/(2*m)",
        "Both logarithms are nonnegative.",
        weight,
        level,
        times=["1/(2*m)", "1/(2*m)"],
    )
    rooted = d.monotone(
        f"sqrt((log(1/w(n)) + log(1/delta))/(2*m)) <= sqrt({_ENTROPY}/(2*m))", "Take roots.", half, cost
    )
    d.combine(d.conclude, "Chain.", near, occam, near_emp, rooted, cost, times=["1", "1", "1", "1"])
    return d


# D and held-out sets
_D = {
    **_M,
    "risk": "fraction before: risk(n), the risk of model n",
    "emp": "fraction after: emp(n), its empirical risk",
    "bits": "nonnegative before: bits(n), length of the code word of model n",
    "n": "index after: the compressed model",
}
_D_HYPOTHESES = {
    **_LEVEL,
    "kraft": ("sum(n, 2**(-bits(n))) <= 1", "Kraft's inequality: the code is a prefix code"),
    "iid": ("average_of_independent_units(emp, risk, m)", "independent losses in [0, 1]"),
}


def _occam_for_code(d: Derivation, name: str, claim: str) -> None:
    kraft, level, iid = d.assume("kraft"), d.assume("level"), d.assume("iid")
    weight = d.sign("0 <= log(1/2**(-bits(n)))", "bits log 2.")
    d.lemma(
        name,
        {"risk": "risk", "emp": "emp", "w": "lambda n: 2**(-bits(n))", "m": "m", "delta": "delta", "n": "n"},
        claim,
        "Lemma 15 with weights 2^-bits.",
        kraft,
        weight,
        level,
        iid,
    )


def derive_d() -> Derivation:
    """Theorem D."""
    d = Derivation(
        "theorem-d",
        "Theorem D: Occam bound for a compressed model",
        "risk <= kl_inverse(empirical risk, (bits log 2 + log(1/delta))/m) for every model of a prefix "
        "code at once.",
        "Lemma 15; Kraft's inequality.",
        _D,
        "risk(n) <= kl_inverse(emp(n), (bits(n)*log(2) + log(1/delta))/m)",
        "delta",
        _D_HYPOTHESES,
        ("W. Hoeffding 1963",),
        "exact binomial sums",
    )
    _occam_for_code(d, "lemma-15", d.conclude)
    return d


def derive_d_hoeffding() -> Derivation:
    """Theorem D, Hoeffding form."""
    d = Derivation(
        "theorem-d-hoeffding",
        "Theorem D, Hoeffding form",
        "risk <= empirical risk + sqrt((bits log 2 + log(1/delta))/(2m)).",
        "Lemma 15 with Pinsker's inequality.",
        _D,
        "risk(n) <= emp(n) + sqrt((bits(n)*log(2) + log(1/delta))/(2*m))",
        "delta",
        _D_HYPOTHESES,
        ("W. Hoeffding 1963",),
        "exact binomial sums",
    )
    _occam_for_code(d, "lemma-15-hoeffding", d.conclude)
    return d


def derive_test_set() -> Derivation:
    """Clopper-Pearson."""
    d = Derivation(
        "test-set",
        "Held-out test set, 0-1 loss",
        "The binomial tail, inverted.",
        "The number of errors is binomial.",
        {
            "k_errors": "index after: errors",
            "n_test": "count before: held-out units",
            "delta": _M["delta"],
            "risk": "fraction before: risk of the model, final before the units were drawn",
        },
        "risk <= binomial_tail_inverse(k_errors, n_test, delta)",
        "delta",
        {"iid": ("errors_of_independent_units(k_errors, risk, n_test)", "independent units")},
        ("C. Clopper, E. Pearson 1934",),
        "exact binomial sums",
    )
    iid = d.assume("iid")
    d.cite(
        "clopper-pearson",
        {"k": "k_errors", "n": "n_test", "delta": "delta", "risk": "risk"},
        d.conclude,
        "Clopper-Pearson.",
        iid,
    )
    return d


def derive_test_set_kl() -> Derivation:
    """Chernoff."""
    d = Derivation(
        "test-set-kl",
        "Held-out test set, loss in [0, 1]",
        "Chernoff's bound for one model.",
        "One model, no union.",
        {
            "emp": "fraction after: emp(n), average loss of model n",
            "risk": "fraction before: risk(n)",
            "n": "index before: the model",
            "n_test": "count before: held-out units",
            "delta": _M["delta"],
        },
        "risk(n) <= kl_inverse(emp(n), log(1/delta)/n_test)",
        "delta",
        {**_LEVEL, "iid": ("average_of_independent_units(emp, risk, n_test)", "independent units")},
        ("W. Hoeffding 1963",),
        "exact binomial sums",
    )
    iid, level = d.assume("iid"), d.assume("level")
    cost = d.combine("0 <= log(1/delta)/n_test", "delta is at most 1.", level, times=["1/n_test"])
    d.cite(
        "chernoff-kl",
        {"emp": "emp", "risk": "risk", "n": "n", "m": "n_test", "c": "log(1/delta)/n_test"},
        d.conclude,
        "Chernoff's bound.",
        iid,
        cost,
    )
    return d


# E
_E = {
    **{k: v for k, v in PAC_VARIABLES.items() if k not in ("moment", "KL", "emp", "risk", "S")},
    "S": "sample dummy: a sample",
    "r": "positive after: r(k) = 1/sqrt(k (m-k))",
    "n": "index grid: number of the prior in the grid, chosen after training",
    "prior": "positive before: prior(n, S), the n-th prior's average of exp(m kl(empirical risk, risk))",
    "w": "positive before: w(n), the weight of the n-th prior",
    "kl_divergence": "nonnegative after: relative entropy of Q and the prior",
    "emp_risk_gibbs": "fraction after: empirical risk averaged over Q",
    "risk_gibbs": "fraction after: risk averaged over Q",
    "grid_cost": "real after: log(1/w(n))",
}
_E_HYPOTHESES = {
    "bernoulli": ("prior_moment(lambda S: prior(n, S), m, xi)", PAC_HYPOTHESES["bernoulli"][1]),
    "xi": PAC_HYPOTHESES["xi"],
    "b": PAC_HYPOTHESES["b"],
    "r": ("inverse_roots(r, m)", "r(k) = 1/sqrt(k (m-k))"),
    "posterior": (
        "posterior_average(emp_risk_gibbs, risk_gibbs, kl_divergence, lambda S: prior(n, S), Z)",
        "averages over Q, with the n-th prior",
    ),
    "weights": ("sum(n, w(n)) <= 1", "the weights of the prior grid"),
    "cost": ("grid_cost == log(1/w(n))", "what the grid costs"),
}
_E_BOUND = f"(kl_divergence + grid_cost + log({_MOMENT}/delta))/m"
_E_SOURCES = ("A. Maurer, A note on the PAC Bayesian theorem, 2004, arXiv:cs/0411099",)


def derive_e() -> Derivation:
    """Theorem E."""
    d = Derivation(
        "theorem-e",
        "Theorem E: Gibbs bound under Gaussian noise",
        "For all weights and noise levels at once the noisy risk is bounded through the relative "
        "entropy of the noise and a prior.",
        "The PAC-Bayes bound for every prior of a countable grid, with its share of delta.",
        _E,
        f"risk_gibbs <= kl_inverse(emp_risk_gibbs, {_E_BOUND})",
        "delta",
        _E_HYPOTHESES,
        _E_SOURCES,
        "finite families",
    )
    bernoulli, xi, b, r, posterior = (d.assume(h) for h in ("bernoulli", "xi", "b", "r", "posterior"))
    each = d.lemma(
        "lemma-16",
        {
            "moment": "lambda S: prior(n, S)",
            "m": "m",
            "delta": "delta*w(n)",
            "KL": "kl_divergence",
            "emp": "emp_risk_gibbs",
            "risk": "risk_gibbs",
            "Z": "Z",
            "S": "S",
            "k": "k",
            "xi": "xi",
            "b": "b",
            "r": "r",
        },
        f"risk_gibbs <= kl_inverse(emp_risk_gibbs, (kl_divergence + log({_MOMENT}/(delta*w(n))))/m)",
        "Lemma 16 for one prior, at its share of delta.",
        bernoulli,
        xi,
        b,
        posterior,
        r,
    )
    weights, cost = d.assume("weights"), d.assume("cost")
    union = d.weighted_grid(
        "n",
        "delta",
        "w(n)",
        f"risk_gibbs <= kl_inverse(emp_risk_gibbs, (kl_divergence + log({_MOMENT}/(delta*w(n))))/m)",
        "The shares add up to at most delta.",
        each,
        weights,
    )
    price = d.combine(
        f"(kl_divergence + log({_MOMENT}/(delta*w(n))))/m == {_E_BOUND}",
        "The logarithm of the share.",
        cost,
        times=["-1/m"],
    )
    renamed = d.monotone(
        f"kl_inverse(emp_risk_gibbs, (kl_divergence + log({_MOMENT}/(delta*w(n))))/m) == "
        f"kl_inverse(emp_risk_gibbs, {_E_BOUND})",
        "Write the price as a term of its own.",
        price,
    )
    d.combine(d.conclude, "Chain.", union, renamed)
    return d


_E_AFTER = {**_E, "n": "index after: number of the prior in the grid"}
_E_USE = {
    k: k
    for k in (
        "m",
        "delta",
        "Z",
        "S",
        "k",
        "xi",
        "b",
        "r",
        "n",
        "prior",
        "w",
        "kl_divergence",
        "emp_risk_gibbs",
        "risk_gibbs",
        "grid_cost",
    )
}


def _use_e(d: Derivation) -> str:
    premises = [d.assume(h) for h in _E_HYPOTHESES]
    return d.lemma(
        "theorem-e", _E_USE, f"risk_gibbs <= kl_inverse(emp_risk_gibbs, {_E_BOUND})", "Theorem E.", *premises
    )


def derive_e_rank() -> Derivation:
    """Theorem E in the stable rank of the updates."""
    bound = f"(layers*update_rank/(2*noise_relative**2) + grid_cost + log({_MOMENT}/delta))"
    d = Derivation(
        "theorem-e-rank",
        "Theorem E in the stable rank of the weight updates",
        "The relative entropy of the noise is at most (number of layers) R/(2 tau^2), R the largest "
        "stable rank of an update.",
        "Lemma 17: ||D||_F^2/(2 sigma^2) = stable rank/(2 tau^2); Pinsker.",
        {
            **_E_AFTER,
            "layers": "count after: number of noisy matrices",
            "update_rank": "nonnegative after: largest stable rank of an update",
            "noise_relative": "positive after: smallest relative noise level",
            "q": "nonnegative after: q(a), relative entropy of matrix a",
            "srank": "nonnegative after: srank(a), stable rank of update a",
            "tau": "positive after: tau(a), relative noise level",
            "norm2": "positive after: norm2(a), spectral norm of the update",
            "a": "point dummy: a matrix",
        },
        f"risk_gibbs <= emp_risk_gibbs + sqrt({bound}/(2*m))",
        "delta",
        {
            **_E_HYPOTHESES,
            "rank": ("srank(a) <= update_rank", "largest stable rank"),
            "noise": ("noise_relative <= tau(a)", "smallest level"),
            "count": ("sum(a, 1) == layers", "number of matrices"),
        },
        _E_SOURCES,
        "finite families",
        {
            "total": (
                "kl_divergence == sum(a, q(a))",
                "The noise is independent: relative entropies add up.",
            ),
            "gauss": (
                "q(a) == (srank(a)*norm2(a)**2)/(2*(tau(a)*norm2(a))**2)",
                "Lemma 17 with ||D||_F^2 = stable rank ||D||_2^2 and sigma = tau ||D||_2.",
            ),
            "cheap": (
                f"0 <= {_E_BOUND}",
                "Relative entropy is not negative, weights and delta are at most 1, and 2 + sqrt(pi m/2) "
                "is above 1.",
            ),
        },
    )
    main = _use_e(d)
    total, gauss, rank, noise, count, cheap = (
        d.assume(h) for h in ("total", "gauss", "rank", "noise", "count", "cheap")
    )
    pinsker = d.cite(
        "pinsker",
        {"q": "emp_risk_gibbs", "c": _E_BOUND},
        f"kl_inverse(emp_risk_gibbs, {_E_BOUND}) <= emp_risk_gibbs + sqrt({_E_BOUND}/2)",
        "Pinsker.",
        cheap,
    )
    each = d.monotone(
        "srank(a)/(2*tau(a)**2) <= update_rank/(2*noise_relative**2)",
        "Larger rank, smaller noise.",
        rank,
        noise,
    )
    simple = d.combine("q(a) <= update_rank/(2*noise_relative**2)", "The spectral norm cancels.", gauss, each)
    added = d.monotone(
        "sum(a, q(a)) <= sum(a, update_rank/(2*noise_relative**2))", "Add over the matrices.", simple
    )
    price = d.combine(
        f"{_E_BOUND}/2 <= {bound}/(2*m)",
        "Count the matrices.",
        total,
        added,
        count,
        times=["1/(2*m)", "1/(2*m)", "update_rank/(2*noise_relative**2)/(2*m)"],
    )
    rooted = d.monotone(f"sqrt({_E_BOUND}/2) <= sqrt({bound}/(2*m))", "Take roots.", price, cheap)
    d.combine(d.conclude, "Chain.", main, pinsker, rooted, cheap, times=["1", "1", "1"])
    return d


def derive_e_monte_carlo() -> Derivation:
    """Theorem E with Monte-Carlo draws."""
    estimate = "kl_inverse(emp_risk_draws, log(1/delta_draws)/n_draws)"
    d = Derivation(
        "theorem-e-monte-carlo",
        "Theorem E with a Monte-Carlo estimate",
        "The noisy empirical risk is itself bounded from independent draws; the two failure "
        "probabilities add up.",
        "Chernoff's bound for the draws, whose distribution is fixed before they are made.",
        {
            **_E_AFTER,
            "emp_risk_draws": "fraction after: average over the draws",
            "n_draws": "count before: number of draws",
            "delta_draws": "positive before: failure probability of the estimate",
        },
        f"risk_gibbs <= kl_inverse({estimate}, {_E_BOUND})",
        "delta + delta_draws",
        {
            **_E_HYPOTHESES,
            "draws": (
                "average_of_independent_draws(emp_risk_draws, emp_risk_gibbs, n_draws)",
                "independent draws from Q",
            ),
            "level": ("0 <= log(1/delta_draws)", "delta_draws is at most 1"),
        },
        _E_SOURCES,
        "finite families",
    )
    main = _use_e(d)
    draws, level = d.assume("draws"), d.assume("level")
    cost = d.combine(
        "0 <= log(1/delta_draws)/n_draws", "delta_draws is at most 1.", level, times=["1/n_draws"]
    )
    near = d.cite(
        "chernoff-kl-draws",
        {
            "emp": "emp_risk_draws",
            "risk": "emp_risk_gibbs",
            "m": "n_draws",
            "c": "log(1/delta_draws)/n_draws",
        },
        f"emp_risk_gibbs <= {estimate}",
        "Chernoff's bound, given the sample.",
        draws,
        cost,
    )
    larger = d.monotone(
        f"kl_inverse(emp_risk_gibbs, {_E_BOUND}) <= kl_inverse({estimate}, {_E_BOUND})",
        "kl_inverse increases in its first argument.",
        near,
    )
    d.combine(d.conclude, "Chain; the two events' failure probabilities add up.", main, larger)
    return d


def derive_e_single() -> Derivation:
    """E-single: one drawn model."""
    cost = f"(log_ratio + grid_cost + log({_MOMENT}/delta))"
    d = Derivation(
        "theorem-e-single",
        "Theorem E-single: one model drawn from the noise",
        "For one model drawn once from Q: m kl(empirical risk, risk) <= log density ratio + log(xi/delta).",
        "Markov's inequality for exp(m kl)/(density ratio): its mean over sample and draw is the "
        "prior's mean.",
        {
            **_M,
            "S": "sample dummy: a sample and a draw",
            "Z": "sample after: the drawn sample and model",
            "excess": "positive before: excess(n, S) = exp(m kl(empirical risk, risk)) divided by the "
            "density ratio of Q and the n-th prior",
            "xi": "positive before: xi(m)",
            "b": PAC_VARIABLES["b"],
            "k": PAC_VARIABLES["k"],
            "r": "positive after: r(k) = 1/sqrt(k (m-k))",
            "n": "index grid: number of the prior",
            "w": "positive before: w(n), weight of the prior",
            "log_ratio": "real after: log density ratio at the drawn model",
            "grid_cost": "real after: log(1/w(n))",
            "emp_risk": "fraction after: empirical risk of the drawn model",
            "risk": "fraction after: its risk",
        },
        f"risk <= kl_inverse(emp_risk, max(0, {cost})/m)",
        "delta",
        {
            "xi": PAC_HYPOTHESES["xi"],
            "b": PAC_HYPOTHESES["b"],
            "r": ("inverse_roots(r, m)", "r(k) = 1/sqrt(k (m-k))"),
            "mean": (
                "E(S, excess(n, S)) <= xi",
                "the density ratio turns the mean over Q into the mean "
                "over the prior, which does not see the "
                "sample; then Maurer's moment",
            ),
            "log": ("m*kl(emp_risk, risk) == log_ratio + log(excess(n, Z))", "the definition of excess"),
            "weights": ("sum(n, w(n)) <= 1", "the weights of the prior grid"),
            "cost": ("grid_cost == log(1/w(n))", "what the grid costs"),
        },
        _E_SOURCES,
        "finite families",
    )
    xi, b, r, mean, logs, weights, price = (
        d.assume(h) for h in ("xi", "b", "r", "mean", "log", "weights", "cost")
    )
    explicit = d.lemma(
        "lemma-16-moment",
        {"xi": "xi", "b": "b", "m": "m", "k": "k", "r": "r"},
        "xi <= 2 + sqrt(pi()*m/2)",
        "The moment.",
        xi,
        b,
        r,
    )
    markov = d.cite(
        "markov",
        {"X": "lambda S: excess(n, S)", "delta": "delta*w(n)", "Z": "Z", "S": "S"},
        "excess(n, Z) <= E(S, excess(n, S))/(delta*w(n))",
        "Markov's inequality, at the prior's share of delta.",
    )
    small = d.combine(
        f"excess(n, Z) <= {_MOMENT}/(delta*w(n))",
        "Chain.",
        markov,
        mean,
        explicit,
        times=["1", "1/(delta*w(n))", "1/(delta*w(n))"],
    )
    united = d.weighted_grid(
        "n",
        "delta",
        "w(n)",
        f"excess(n, Z) <= {_MOMENT}/(delta*w(n))",
        "The shares add up to at most delta.",
        small,
        weights,
    )
    logged = d.monotone(f"log(excess(n, Z)) <= log({_MOMENT}/(delta*w(n)))", "Logarithms.", united)
    below = d.combine(
        f"m*kl(emp_risk, risk) <= {cost}", "Chain.", logs, logged, price, times=["1", "1", "-1"]
    )
    larger = d.axiom(
        "max-right", {"a": "0", "b": cost}, f"{cost} <= max(0, {cost})", "The larger of the two."
    )
    divided = d.combine(
        f"kl(emp_risk, risk) <= max(0, {cost})/m", "Divide by m.", below, larger, times=["1/m", "1/m"]
    )
    d.axiom(
        "invert-kl",
        {"q": "emp_risk", "p": "risk", "c": f"max(0, {cost})/m"},
        d.conclude,
        "Solve for the risk.",
        divided,
    )
    return d


def derive_e_split() -> Derivation:
    """E-split: a prior learned on the first part."""
    d = Derivation(
        "theorem-e-split",
        "Theorem E-split: a prior learned on the first part of the data",
        "Theorem E for the second part of the sample: the prior is fixed before it.",
        "Everything learned on the first part is fixed before the second; m counts the second part.",
        _E_AFTER,
        f"risk_gibbs <= kl_inverse(emp_risk_gibbs, {_E_BOUND})",
        "delta",
        {k: (f, t + " (second part of the sample)") for k, (f, t) in _E_HYPOTHESES.items()},
        _E_SOURCES,
        "finite families",
    )
    _use_e(d)
    return d


# C3
def derive_c3_noise() -> Derivation:
    """How often the noise moves a margin by more than margin/2."""
    d = Derivation(
        "lemma-c3-noise",
        "Margins under Gaussian noise",
        "Gaussian noise of levels sigma_W, sigma_V moves a margin by more than margin/2 with "
        "probability at most eta_1 + eta_2.",
        "Softmax turns the largest score change into the first part (Lemma 12); the second part is "
        "Gaussian given the first. Lemma 18 twice.",
        {
            "p": "real after: probability that a margin moves by more than margin/2",
            "p1": "real after: P(a score moves by more than its quantile)",
            "p2": "real after: P(a logit difference moves by more than its quantile)",
            "eta_scores": "positive after: eta_1",
            "eta_values": "positive after: eta_2",
            "n_tokens": "positive after: tokens",
            "K1": "positive after: K - 1, number of other outputs",
            "q1": "nonnegative after: tails of the score changes",
            "q2": "nonnegative after: tails of the logit differences",
            "c": "point dummy: a token or an output",
            "margin": "positive after: margin width",
            "B": "positive after: bound on tokens",
            "B_query": "positive after: bound on queries",
            "noise_scores": "positive after: sigma_W",
            "noise_values": "positive after: sigma_V",
            "value_diameter": "nonnegative after: largest distance of two value columns",
        },
        "p <= eta_scores + eta_values",
        hypotheses={
            "small": (
                "value_diameter*B**2*B_query*noise_scores*sqrt(2*log(n_tokens/eta_scores)) "
                "+ 2*noise_values*B*sqrt(log(K1/eta_values)) <= margin/2",
                "the noise is small against the margin",
            ),
            "union1": ("p1 <= sum(c, q1(c))", "union over the tokens"),
            "number1": ("sum(c, 1) == n_tokens", "number of tokens"),
            "level1": ("0 <= log(n_tokens/eta_scores)", "eta_1 is at most the number of tokens"),
            "rest": (
                "p2 <= eta_values",
                "Lemma 18 over the K - 1 other outputs, variance at most 2 B^2 sigma_V^2",
            ),
        },
        sources=("Here",),
        domain="random heads",
    )
    union, number, level = d.assume("union1"), d.assume("number1"), d.assume("level1")
    first = d.lemma(
        "lemma-18",
        {
            "p": "q1",
            "total": "p1",
            "N": "n_tokens",
            "tau": "noise_scores*B_query*B",
            "eta": "eta_scores",
            "j": "c",
        },
        "p1 <= eta_scores",
        "Lemma 18 over the tokens: a score change has variance at most (sigma_W B_q B)^2.",
        union,
        number,
        level,
    )
    rest, small = d.assume("rest"), d.assume("small")
    both = d.paper(
        "p <= p1 + p2",
        "|M' - M| <= max_j |(v_y - v_j)^T X^T (p' - p)| + sigma_V max_j "
        "|(g_y - g_j)^T z'|. By Lemma 12 the first "
        "part is at most Gamma_V B max_t |score change|; both quantiles together are at most "
        "margin/2 by the hypothesis.",
        small,
    )
    d.combine(d.conclude, "Add up.", both, first, rest)
    return d


_C3 = {
    **{
        k: v
        for k, v in _E.items()
        if k not in ("n", "w", "prior", "grid_cost", "kl_divergence", "emp_risk_gibbs", "risk_gibbs")
    },
    "prior": "positive before: prior(index_scores, index_values, S), that prior's average of exp(m kl)",
    "index_scores": "index grid: zig-zag index of sigma_W",
    "index_values": "index grid: zig-zag index of sigma_V",
    "risk0": "nonnegative after: P(margin <= 0)",
    "risk_q": "fraction after: noisy risk of the loss 1[margin <= margin/2]",
    "emp_q": "fraction after: its noisy empirical value",
    "emp_margin_risk": "fraction after: share of units with margin at most gamma",
    "eta_scores": "positive after: eta_1",
    "eta_values": "positive after: eta_2",
    "p": "nonnegative after: probability that the noise moves a margin by more than margin/2",
    "KL": "nonnegative after: relative entropy of noise and prior",
    "norm_scores": "nonnegative after: ||W - W0||_F",
    "norm_values": "nonnegative after: ||V - V0||_F",
    "noise_scores": "positive after: sigma_W",
    "noise_values": "positive after: sigma_V",
    "KLW": "nonnegative after: relative entropy for W",
    "margin": "positive before: margin width",
    "B": "positive before: bound on tokens",
    "B_query": "positive before: bound on queries",
    "n_tokens": "positive before: number of tokens",
    "K1": "positive before: K - 1, number of other outputs",
    "value_diameter": "nonnegative after: largest distance of two value columns",
    "KLV": "nonnegative after: for V",
    "D": "count after: entries of W",
    "D2": "count after: entries of V",
}
_C3_COST = (
    "(norm_scores**2/(2*noise_scores**2) + norm_values**2/(2*noise_values**2) + "
    "log((index_scores + 1)*(index_scores + 2)) "
    f"+ log((index_values + 1)*(index_values + 2)) + log({_MOMENT}/delta))/m"
)


def derive_c3() -> Derivation:
    """Theorem C3."""
    share = "delta/((index_scores + 1)*(index_scores + 2))/((index_values + 1)*(index_values + 2))"
    moment = "lambda S: prior(index_scores, index_values, S)"
    eta = "(eta_scores + eta_values)"
    d = Derivation(
        "theorem-c3",
        "Theorem C3: margin bound in the stable rank of the weights",
        "P(margin <= 0) is bounded through Gaussian noise that the margins survive; no dimension enters.",
        "Lemma 16 for the loss 1[margin <= margin/2] under noise; Lemma 17 for the relative entropy; "
        "the noise changes that loss rarely.",
        _C3,
        f"risk0 <= kl_inverse(min(1, emp_margin_risk + {eta}), {_C3_COST})/(1 - {eta})",
        "delta",
        {
            "bernoulli": (f"prior_moment({moment}, m, xi)", PAC_HYPOTHESES["bernoulli"][1]),
            "xi": PAC_HYPOTHESES["xi"],
            "b": PAC_HYPOTHESES["b"],
            "r": ("inverse_roots(r, m)", "r(k) = 1/sqrt(k (m-k))"),
            "posterior": (f"posterior_average(emp_q, risk_q, KL, {moment}, Z)", "averages over the noise"),
            "small": (
                "value_diameter*B**2*B_query*noise_scores*sqrt(2*log(n_tokens/eta_scores)) "
                "+ 2*noise_values*B*sqrt(log(K1/eta_values)) <= margin/2",
                "the noise is small against the margin",
            ),
            "below": (f"0 < 1 - {eta}", "eta_1 + eta_2 is below 1"),
        },
        _E_SOURCES,
        "small heads",
        {
            "true": (
                "(1 - p)*risk0 <= risk_q",
                "A margin that is at most 0 stays at most margin/2 under the noise, except with "
                "probability p.",
            ),
            "train": (
                "emp_q <= min(1, emp_margin_risk + p)",
                "A margin above gamma stays above margin/2 under the noise, except with probability p.",
            ),
            "entropy": ("KL == KLW + KLV", "The noise of W and that of V are independent."),
            "gaussW": (
                "KLW == D/2*(noise_scores**2/noise_scores**2 - 1 - log(noise_scores**2/noise_scores**2)) "
                "+ norm_scores**2/(2*noise_scores**2)",
                "The relative entropy of two Gaussians with independent entries, here of equal variance.",
            ),
            "gaussV": (
                "KLV == D2/2*(noise_values**2/noise_values**2 - 1 - log(noise_values**2/noise_values**2)) "
                "+ norm_values**2/(2*noise_values**2)",
                "The relative entropy of two Gaussians with independent entries, here of equal variance.",
            ),
        },
    )
    names = (
        "bernoulli",
        "xi",
        "b",
        "r",
        "posterior",
        "below",
        "true",
        "train",
        "entropy",
        "gaussW",
        "gaussV",
    )
    bernoulli, xi, b, r, posterior, below, true, train, entropy, gauss_w, gauss_v = (
        d.assume(h) for h in names
    )
    noise = d.paper(
        f"p <= {eta}",
        "lemma-c3-noise: noise this small moves a margin by more than margin/2 only if a score or a logit "
        "difference exceeds its quantile.",
        d.assume("small"),
    )
    raw = f"(KL + log({_MOMENT}/({share})))/m"
    each = d.lemma(
        "lemma-16",
        {
            "moment": moment,
            "m": "m",
            "delta": share,
            "KL": "KL",
            "emp": "emp_q",
            "risk": "risk_q",
            "Z": "Z",
            "S": "S",
            "k": "k",
            "xi": "xi",
            "b": "b",
            "r": "r",
        },
        f"risk_q <= kl_inverse(emp_q, {raw})",
        "Lemma 16 for one prior, at its share of delta.",
        bernoulli,
        xi,
        b,
        posterior,
        r,
    )
    first = d.grid(
        "index_values",
        "delta/((index_scores + 1)*(index_scores + 2))",
        "1/(index_values + 1)",
        f"risk_q <= kl_inverse(emp_q, {raw})",
        "Unite over the levels of V.",
        each,
    )
    union = d.grid(
        "index_scores",
        "delta",
        "1/(index_scores + 1)",
        f"risk_q <= kl_inverse(emp_q, {raw})",
        "Unite over the levels of W.",
        first,
    )
    kl_w = d.lemma(
        "lemma-17",
        {"KL": "KLW", "D": "D", "s": "noise_scores", "dist": "norm_scores"},
        "KLW == norm_scores**2/(2*noise_scores**2)",
        "Lemma 17.",
        gauss_w,
    )
    kl_v = d.lemma(
        "lemma-17",
        {"KL": "KLV", "D": "D2", "s": "noise_values", "dist": "norm_values"},
        "KLV == norm_values**2/(2*noise_values**2)",
        "Lemma 17.",
        gauss_v,
    )
    price = d.combine(f"{raw} == {_C3_COST}", "Add up.", entropy, kl_w, kl_v, times=["1/m", "1/m", "1/m"])
    moved = d.monotone(f"emp_margin_risk + p <= emp_margin_risk + {eta}", "The noise is small.", noise)
    capped = d.monotone(f"min(1, emp_margin_risk + p) <= min(1, emp_margin_risk + {eta})", "Cap at 1.", moved)
    start = d.combine(f"emp_q <= min(1, emp_margin_risk + {eta})", "Chain.", train, capped)
    larger = d.monotone(
        f"kl_inverse(emp_q, {raw}) <= kl_inverse(min(1, emp_margin_risk + {eta}), {_C3_COST})",
        "kl_inverse increases in both arguments.",
        start,
        price,
    )
    d.combine(
        d.conclude,
        "Chain, and divide by 1 - eta.",
        true,
        noise,
        union,
        larger,
        below,
        times=[f"1/(1 - {eta})", f"risk0/(1 - {eta})", f"1/(1 - {eta})", f"1/(1 - {eta})"],
    )
    return d


DERIVATIONS = (
    derive_c2_cover,
    derive_c2,
    derive_c2_hoeffding,
    derive_d,
    derive_d_hoeffding,
    derive_test_set,
    derive_test_set_kl,
    derive_e,
    derive_e_rank,
    derive_e_monte_carlo,
    derive_e_single,
    derive_e_split,
    derive_c3_noise,
    derive_c3,
)
