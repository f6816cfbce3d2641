"""The only birthplace of sympy symbols: one letter, one meaning.

The literature overloads its letters (L is a Lipschitz constant, a risk and a number of layers; K a
number of outputs and a code length). Here every symbol has one name, used in bounds, exported
prefix text, reports and lessons alike. ``Symbol('n') != Symbol('n', positive=True)``, so no other
module creates symbols.

``fixed_before_sample`` is the standing hypothesis as a flag: ``True`` means that the theorems that
use the symbol as an input demand that its value was chosen before the sample was drawn. ``False``
means that it may be measured on the sample or chosen after training.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy


@dataclass(frozen=True)
class Symbol:
    """An input of a bound: its name, what it means, the numbers it may be, and when it must be known."""

    name: str
    latex: str
    meaning: str
    sort: str
    """``positive``, ``nonnegative``, ``count`` (an integer >= 1), ``index`` (an integer >= 0),
    ``real`` or ``fraction`` (a number in [0, 1])."""
    fixed_before_sample: bool
    expression: sympy.Symbol


SORTS: dict[str, dict[str, bool]] = {
    "positive": {"positive": True},
    "nonnegative": {"nonnegative": True},
    "count": {"integer": True, "positive": True},
    "index": {"integer": True, "nonnegative": True},
    "real": {"real": True},
    "fraction": {"nonnegative": True},
}

SYMBOLS: dict[str, Symbol] = {}


def _symbol(name: str, latex: str, sort: str, fixed: bool, meaning: str) -> sympy.Symbol:
    if name in SYMBOLS:
        raise ValueError(f"symbol {name!r} is born twice: give the second meaning its own name")
    expression = sympy.Symbol(name, **SORTS[sort])
    SYMBOLS[name] = Symbol(name, latex, meaning, sort, fixed, expression)
    return expression


def record(expression: sympy.Symbol) -> Symbol:
    """The record of a symbol; a KeyError names a symbol born outside this module."""
    return SYMBOLS[expression.name]


# The sample and the failure probability
m = _symbol("m", "m", "count", True, "number of independent training sequences (the iid units)")
delta = _symbol("delta", r"\delta", "positive", True, "probability with which the bound may fail")
n_test = _symbol("n_test", r"n_{\mathrm{test}}", "count", True, "number of held-out test units")
k_errors = _symbol(
    "k_errors", "k", "index", False, "number of errors on the units that the empirical risk is measured on"
)
emp_risk = _symbol(
    "emp_risk", r"\hat{L}", "fraction", False, "empirical risk of the certified model, loss in [0, 1]"
)
emp_risk_gibbs = _symbol(
    "emp_risk_gibbs",
    r"\hat{L}(Q)",
    "fraction",
    False,
    "empirical risk averaged over the noise distribution Q",
)
emp_margin_risk = _symbol(
    "emp_margin_risk",
    r"\hat{L}_\gamma",
    "fraction",
    False,
    "share of training units with margin at most gamma",
)
emp_risk_draws = _symbol(
    "emp_risk_draws",
    r"\hat{L}_{N}",
    "fraction",
    False,
    "empirical risk averaged over the Monte-Carlo draws from Q",
)
delta_draws = _symbol(
    "delta_draws", r"\delta'", "positive", True, "probability with which the Monte-Carlo estimate may fail"
)
n_draws = _symbol("n_draws", "N", "count", True, "number of Monte-Carlo draws from Q")

# Loss and read-out
L = _symbol(
    "L",
    "L",
    "positive",
    True,
    "Lipschitz constant of the loss in the outputs (Euclidean norm), loss in [0, 1]",
)
K = _symbol("K", "K", "count", True, "number of outputs")
N_rows = _symbol("N_rows", r"N_{\mathrm{rows}}", "count", True, "number of rows of the feature matrix")
margin = _symbol("margin", r"\gamma", "positive", True, "margin width")

# Norm budgets of weights
omega = _symbol(
    "omega",
    r"\omega",
    "nonnegative",
    True,
    "Frobenius budget of the trained matrix: ||W||_F <= omega = s sqrt(stable rank)",
)
nu = _symbol(
    "nu",
    r"\nu",
    "nonnegative",
    True,
    "nuclear budget of the trained matrix: ||W||_* <= nu = s * nuclear rank",
)
omega_value = _symbol(
    "omega_value", r"\omega_V", "nonnegative", True, "Frobenius budget of the trained value matrix"
)
spectral_value = _symbol(
    "spectral_value", "s_V", "nonnegative", True, "spectral budget of the trained value matrix"
)
norm_after = _symbol(
    "norm_after",
    r"\|W\|_F",
    "nonnegative",
    False,
    "Frobenius norm of the trained matrix, measured after training (upper enclosure)",
)
nuclear_after = _symbol(
    "nuclear_after",
    r"\|W\|_*",
    "nonnegative",
    False,
    "nuclear norm of the trained matrix, measured after training (upper enclosure)",
)
norm_value_after = _symbol(
    "norm_value_after",
    r"\|V\|_F",
    "nonnegative",
    False,
    "Frobenius norm of the trained value matrix, measured after training (upper enclosure)",
)
spectral_value_after = _symbol(
    "spectral_value_after",
    r"\|V\|_2",
    "nonnegative",
    False,
    "spectral norm of the trained value matrix, measured after training (upper enclosure)",
)

# Sample sums (measured on the sample; no hypothesis on their timing)
sum_sq_features = _symbol(
    "sum_sq_features",
    r"\Sigma_\Psi",
    "nonnegative",
    False,
    "sum over the sample of ||Psi(x_i)||_F^2, Psi the frozen features",
)
sum_sq_scores = _symbol(
    "sum_sq_scores",
    r"\Sigma_\rho",
    "nonnegative",
    False,
    "sum over the sample of radius(values_i)^2 ||query_i||^2 ||centred tokens_i||_F^2",
)
sum_sq_readout = _symbol(
    "sum_sq_readout",
    r"\Sigma_{\mathrm{osc}}",
    "nonnegative",
    False,
    "sum over the sample of osc(values_i)^2 ||query_i||^2 ||centred tokens_i||_F^2",
)
sum_sq_tokens = _symbol(
    "sum_sq_tokens", r"\Sigma_X", "nonnegative", False, "sum over the sample of ||tokens_i||_F^2"
)
sum_sq_joint = _symbol(
    "sum_sq_joint",
    r"\Sigma_{\mathrm{rad}}",
    "nonnegative",
    False,
    "sum over the sample of radius(tokens_i)^2 ||query_i||^2 ||centred tokens_i||_F^2",
)
series_variance = _symbol(
    "series_variance",
    "v",
    "positive",
    False,
    "larger spectral norm of the two matrix variances of the Rademacher series",
)
series_frobenius_sq = _symbol(
    "series_frobenius_sq",
    r"\Sigma_F",
    "positive",
    False,
    "sum of the squared Frobenius norms of the series' matrices (= v kappa)",
)
span_dimension = _symbol(
    "span_dimension",
    "k",
    "count",
    False,
    "largest dimension of the span that one sample's contraction map moves in",
)
kap_S = _symbol(
    "kap_S",
    r"\kappa_S",
    "nonnegative",
    False,
    "slope: gap bound per unit of complexity (contains Lemma 3's factor 2)",
)

# Frozen attention (A2)
attention_spectral = _symbol(
    "attention_spectral",
    "a",
    "nonnegative",
    True,
    "bound on the spectral norm of every frozen attention matrix",
)
attention_rank = _symbol(
    "attention_rank",
    r"R_{\mathrm{att}}",
    "positive",
    True,
    "bound on the stable rank of every frozen attention matrix",
)
tokens_spectral = _symbol(
    "tokens_spectral", r"\chi", "nonnegative", True, "bound on the spectral norm of every token matrix"
)

# Peeling (Theorem P)
c0 = _symbol("c0", "c_0", "positive", True, "smallest complexity of the grid")
rho = _symbol("rho", r"\rho", "positive", True, "grid ratio of the peeling, larger than 1")
j = _symbol("j", "j", "index", False, "grid index, chosen after training: complexity <= c0 rho^j")
j_spectral = _symbol("j_spectral", "j_s", "index", False, "grid index of ||V||_2, chosen after training")
j_value = _symbol("j_value", "j_V", "index", False, "grid index of ||V||_F, chosen after training")

# Exact rank (C2)
d = _symbol("d", "d", "count", True, "token dimension")
rank_scores = _symbol("rank_scores", "r", "count", False, "max(1, rank of the query-key matrix)")
rank_values = _symbol("rank_values", "r'", "count", False, "max(1, rank of the value matrix)")
j_scores = _symbol("j_scores", "j_W", "index", False, "max(0, ceil(log2 ||W||_2)) of the query-key matrix")
j_values = _symbol("j_values", "j_V'", "index", False, "max(0, ceil(log2 ||V||_2)) of the value matrix")
resolution = _symbol(
    "resolution", "q", "count", False, "net resolution is 2^-resolution, chosen after training"
)
B = _symbol("B", "B", "positive", True, "almost-sure bound on the Euclidean norm of every token")
B_query = _symbol("B_query", "B_q", "positive", True, "almost-sure bound on the norm of every query token")

# Margin bound (C3)
eta = _symbol(
    "eta", r"\eta", "fraction", True, "probability with which the noise may move a margin by gamma/2"
)
eta_scores = _symbol("eta_scores", r"\eta_1", "positive", True, "share of eta for the scores")
eta_values = _symbol("eta_values", r"\eta_2", "positive", True, "share of eta for the values")
n_tokens = _symbol("n_tokens", "n", "count", True, "almost-sure bound on the number of visible tokens")
value_diameter = _symbol(
    "value_diameter", r"\Gamma_V", "nonnegative", False, "largest distance of two columns of the value matrix"
)
noise_scores = _symbol(
    "noise_scores", r"\sigma_W", "positive", False, "noise level of W, on the grid 2^(-i/4)"
)
noise_values = _symbol(
    "noise_values", r"\sigma_V", "positive", False, "noise level of V, on the grid 2^(-i/4)"
)
norm_scores = _symbol("norm_scores", r"\|W\|_F", "nonnegative", False, "||W - anchor||_F after training")
norm_values = _symbol("norm_values", r"\|V\|_F", "nonnegative", False, "||V - anchor||_F after training")
index_scores = _symbol("index_scores", "i_W", "index", False, "zig-zag index of the noise level of W")
index_values = _symbol("index_values", "i_V", "index", False, "zig-zag index of the noise level of V")

# Codes and noise (D, E)
code_bits = _symbol(
    "code_bits",
    r"|h|",
    "nonnegative",
    False,
    "length in bits of the compressed model in a prefix code fixed before the sample",
)
kl_divergence = _symbol(
    "kl_divergence",
    r"\mathrm{KL}",
    "nonnegative",
    False,
    "relative entropy of the noise distribution Q and the prior, in nats",
)
grid_cost = _symbol(
    "grid_cost",
    r"\Lambda",
    "nonnegative",
    False,
    "log of the inverse weight of the chosen prior, sum of log((j+1)(j+2)), in nats",
)
log_ratio = _symbol(
    "log_ratio",
    r"\log\frac{dQ}{dP}(h)",
    "real",
    False,
    "log density ratio of posterior and prior at the drawn model, in nats",
)
layers = _symbol("layers", "A", "count", True, "number of noisy matrices")
update_rank = _symbol(
    "update_rank", "R", "nonnegative", False, "largest stable rank of a weight update W_a - anchor_a"
)
noise_relative = _symbol(
    "noise_relative",
    r"\tau",
    "positive",
    False,
    "smallest noise level relative to the spectral norm of the update",
)
