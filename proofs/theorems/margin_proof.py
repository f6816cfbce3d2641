"""Derivations of Theorem C3: margins that survive Gaussian noise on the weights."""

from __future__ import annotations

from proofs.build import Derivation
from proofs.lemmas.l16_pac_bayes import HYPOTHESES as PAC_HYPOTHESES
from proofs.theorems.counting_steps import MOMENT, PRIOR_MOMENT, pac_bayes
from proofs.theorems.gibbs_proof import GIBBS, SOURCES


def _state_c3_noise() -> Derivation:
    """What is to be proved."""
    return Derivation(
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


def derive_c3_noise() -> Derivation:
    """How often the noise moves a margin by more than margin/2."""
    d = _state_c3_noise()
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
        for k, v in GIBBS.items()
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
    f"+ log((index_values + 1)*(index_values + 2)) + log({MOMENT}/delta))/m"
)


_SHARE = "delta/((index_scores + 1)*(index_scores + 2))/((index_values + 1)*(index_values + 2))"
_RAW = f"(KL + log({MOMENT}/({_SHARE})))/m"
_MOMENT_OF_PRIOR = "lambda S: prior(index_scores, index_values, S)"
_ETA = "(eta_scores + eta_values)"


def _state_c3() -> Derivation:
    """What is to be proved."""
    return Derivation(
        "theorem-c3",
        "Theorem C3: margin bound in the stable rank of the weights",
        "P(margin <= 0) is bounded through Gaussian noise that the margins survive; no dimension enters.",
        "Lemma 16 for the loss 1[margin <= margin/2] under noise; Lemma 17 for the relative entropy; "
        "the noise changes that loss rarely.",
        _C3,
        f"risk0 <= kl_inverse(min(1, emp_margin_risk + {_ETA}), {_C3_COST})/(1 - {_ETA})",
        "delta",
        {
            "bernoulli": (f"prior_moment({_MOMENT_OF_PRIOR}, m, xi)", PAC_HYPOTHESES["bernoulli"][1]),
            **PRIOR_MOMENT,
            "posterior": (
                f"posterior_average(emp_q, risk_q, KL, {_MOMENT_OF_PRIOR}, Z)",
                "averages over the noise",
            ),
            "small": (
                "value_diameter*B**2*B_query*noise_scores*sqrt(2*log(n_tokens/eta_scores)) "
                "+ 2*noise_values*B*sqrt(log(K1/eta_values)) <= margin/2",
                "the noise is small against the margin",
            ),
            "below": (f"0 < 1 - {_ETA}", "eta_1 + eta_2 is below 1"),
            "gaussW": (
                "gaussian_entropy(KLW, D, noise_scores, noise_scores, norm_scores)",
                "the noise of W and its prior are Gaussian of the same level, D the number of entries",
            ),
            "gaussV": (
                "gaussian_entropy(KLV, D2, noise_values, noise_values, norm_values)",
                "the noise of V and its prior are Gaussian of the same level, D2 the number of entries",
            ),
        },
        SOURCES,
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
        },
    )


def _noisy_risk(d: Derivation) -> str:
    """Lemma 16 for the loss under noise, for all noise levels of the grid at once."""
    each = pac_bayes(d, moment=_MOMENT_OF_PRIOR, share=_SHARE, divergence="KL", emp="emp_q", risk="risk_q")
    first = d.grid(
        "index_values",
        "delta/((index_scores + 1)*(index_scores + 2))",
        "1/(index_values + 1)",
        f"risk_q <= kl_inverse(emp_q, {_RAW})",
        "Unite over the levels of V.",
        each,
    )
    return d.grid(
        "index_scores",
        "delta",
        "1/(index_scores + 1)",
        f"risk_q <= kl_inverse(emp_q, {_RAW})",
        "Unite over the levels of W.",
        first,
    )


def _relative_entropy(d: Derivation) -> str:
    """Lemma 17 for both matrices, and what the grid costs."""
    kl_w = d.lemma(
        "lemma-17",
        {"KL": "KLW", "D": "D", "s": "noise_scores", "dist": "norm_scores"},
        "KLW == norm_scores**2/(2*noise_scores**2)",
        "Lemma 17: the relative entropy of two Gaussians of equal variance.",
        d.assume("gaussW"),
    )
    kl_v = d.lemma(
        "lemma-17",
        {"KL": "KLV", "D": "D2", "s": "noise_values", "dist": "norm_values"},
        "KLV == norm_values**2/(2*noise_values**2)",
        "Lemma 17: the relative entropy of two Gaussians of equal variance.",
        d.assume("gaussV"),
    )
    return d.combine(
        f"{_RAW} == {_C3_COST}", "Add up.", d.assume("entropy"), kl_w, kl_v, times=["1/m", "1/m", "1/m"]
    )


def _training_margins(d: Derivation, noise: str) -> str:
    """The noisy empirical risk, by the share of units with a small margin."""
    moved = d.monotone(f"emp_margin_risk + p <= emp_margin_risk + {_ETA}", "The noise is small.", noise)
    capped = d.monotone(
        f"min(1, emp_margin_risk + p) <= min(1, emp_margin_risk + {_ETA})", "Cap at 1.", moved
    )
    return d.combine(
        f"emp_q <= min(1, emp_margin_risk + {_ETA})",
        "Put the lines together: what bounds one quantity is bounded by the next.",
        d.assume("train"),
        capped,
    )


def derive_c3() -> Derivation:
    """Theorem C3."""
    d = _state_c3()
    noise = d.paper(
        f"p <= {_ETA}",
        "lemma-c3-noise: noise this small moves a margin by more than margin/2 only if a score or a logit "
        "difference exceeds its quantile.",
        d.assume("small"),
    )
    union, price, start = _noisy_risk(d), _relative_entropy(d), _training_margins(d, noise)
    true, below = d.assume("true"), d.assume("below")
    larger = d.monotone(
        f"kl_inverse(emp_q, {_RAW}) <= kl_inverse(min(1, emp_margin_risk + {_ETA}), {_C3_COST})",
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
        times=[f"1/(1 - {_ETA})", f"risk0/(1 - {_ETA})", f"1/(1 - {_ETA})", f"1/(1 - {_ETA})"],
    )
    return d


DERIVATIONS = (derive_c3_noise, derive_c3)
