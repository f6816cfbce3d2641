"""Soundness bugs planted in the numeric kernel: the attacks of the default suite must catch each one."""

from __future__ import annotations

import pytest

from tests.quality.mutants import Bug, Edit, bug, violations

BUGS = (
    bug(
        "residual: the gamma term of the product is dropped",
        "singular_values",
        "(computed + growth(r) * magnitudes + factors.weighting_error(f, h))",
        "(computed + factors.weighting_error(f, h))",
    ),
    bug(
        "residual: only the largest entry instead of a norm",
        "upper",
        "    return least(upper_frobenius(X), (rows * columns).sqrt())",
        "    return exact_ball(magnitude.max())",
    ),
    bug(
        "defect: the gamma term is dropped",
        "singular_values",
        "(upper_spectral(D) * (1 + UNIT_ROUNDOFF) + rounding).upper()",
        "(upper_spectral(D) * (1 + UNIT_ROUNDOFF)).upper()",
    ),
    bug(
        "defect: gamma with the outer instead of the inner dimension",
        "singular_values",
        "rounding = growth(m) * greatest_sum(",
        "rounding = growth(r) * greatest_sum(",
    ),
    bug(
        "lower bound without the orthogonality defects",
        "singular_values",
        "    low, high = ((1 - f) * (1 - h)).sqrt(), ((1 + f) * (1 + h)).sqrt()",
        "    low, high = arb(1), ((1 + f) * (1 + h)).sqrt()",
    ),
    bug(
        "upper bound without the orthogonality defects",
        "singular_values",
        "    low, high = ((1 - f) * (1 - h)).sqrt(), ((1 + f) * (1 + h)).sqrt()",
        "    low, high = ((1 - f) * (1 - h)).sqrt(), arb(1)",
    ),
    bug(
        "values not sorted",
        "singular_values",
        'order = np.argsort(-np.abs(values), kind="stable")',
        "order = np.arange(values.size)",
    ),
    bug(
        "a defect of 1 or more is accepted",
        "singular_values",
        "if not (f < 1 and h < 1):",
        "if not (f < 1e9 and h < 1e9):",
    ),
    bug(
        "values missing from the factors taken as exactly 0",
        "singular_values",
        "    upper = (padded * high + shift) * more",
        "    upper = np.where(padded > 0, (padded * high + shift) * more, 0.0)",
    ),
    bug(
        "the radius of the input is dropped",
        "singular_values",
        "error = residual(A.X, factors, f, h) + A.radius_2",
        "error = residual(A.X, factors, f, h)",
    ),
    bug(
        "wrong rounding direction when a tiny upper bound is scaled back",
        "singular_values",
        "np.ceil(units) if upward else np.floor(units)",
        "np.floor(units) if upward else np.ceil(units)",
    ),
    bug(
        "missing outward step from a ball to a float",
        "directed",
        "return nearest if arb(nearest) >= upper else math.nextafter(nearest, math.inf)",
        "return nearest",
    ),
    bug(
        "wrong rounding direction of decimals",
        "directed",
        "return _decimal(value, digits, ROUND_FLOOR)",
        "return _decimal(value, digits, ROUND_CEILING)",
    ),
    bug(
        "NaN and infinity pass the guard at the entry",
        "reading",
        "        if array.size == 0 or (np.isfinite(array.max()) and np.isfinite(array.min())):\n",
        "        if True:\n",
    ),
    bug(
        "float32 subnormals cast by the processor (read as 0 under flush-to-zero)",
        "reading",
        "    if subnormal.any():\n",
        "    if False:\n",
    ),
    bug(
        "subnormal floats read by FLINT (misread under flush-to-zero)",
        "directed",
        "    if abs(number) < 2.0**-1022:",
        "    if False:",
    ),
    bug(
        "missing underflow term of a sum of squares",
        "upper",
        "lost, factor = X.size * _SQUARE_UNDERFLOW,",
        "lost, factor = arb(0),",
    ),
    bug(
        "sum of squares without its rounding",
        "upper",
        "1 + growth(X.shape[0] + X.shape[1])",
        "arb(1)",
    ),
    bug(
        "cheap mode: rounding of B = A V dropped",
        "cheap",
        "product_error + removed +",
        "removed +",
    ),
    bug(
        "cheap mode: rounding of the Gram product dropped",
        "cheap",
        "(np.abs(C).sum(axis=1) + rounding)",
        "(np.abs(C).sum(axis=1))",
    ),
    bug("cheap mode: no Gershgorin radius", "cheap", "(np.abs(C).sum(axis=1) + rounding)", "rounding"),
    bug(
        "cheap mode: a V with too few columns is accepted",
        "cheap",
        "    if V.shape[1] != n:\n",
        "    if False:\n",
    ),
    bug(
        "cheap mode: defect dropped",
        "cheap",
        "float_above(1 / (1 - f).sqrt()), max(float_below(1 / (1 + f).sqrt()), 0.0)",
        "1.0, 1.0",
    ),
    bug(
        "gram mode: rounding of the Gram product dropped",
        "gram",
        "radius = (C.radius_2 + error).upper()",
        "radius = C.radius_2",
    ),
    bug(
        "gram mode: radius of the input dropped",
        "gram",
        "shift = float_above(A.radius_2 + arb(2) ** -440)",
        "shift = 2.0**-440",
    ),
    bug("tight mode: one bit too many in a slice", "tight", ".bit_length()) // 2", ".bit_length()) // 2 + 1"),
    bug("tight mode: the last slice dropped", "tight", "    T -= multiply(W2, factors.V.T)\n", ""),
    bug(
        "collatz-wielandt: rounding dropped",
        "nonnegative",
        "ratio * (1 + growth(n)) * (1 + growth(m)) * (1 + 2 * UNIT_ROUNDOFF)",
        "ratio",
    ),
    bug(
        "collatz-wielandt: signs not checked",
        "nonnegative",
        "    if not bool((X >= 0).all()):\n",
        "    if False:\n",
    ),
    bug(
        "gram norm: rounding of the Gram product dropped",
        "cholesky",
        "greatest_sum(sums + rounding + shift + TINY, roundings)",
        "greatest_sum(sums + shift + TINY, roundings)",
    ),
    bug(
        "gram norm: the shift is trusted once a factorisation is found",
        "cholesky",
        "return exact_ball(beta) + greatest_sum(sums + rounding + shift + TINY, roundings)",
        "return exact_ball(beta)",
    ),
    Bug(
        "gram norm: no rounding of the block products and updates",
        (
            Edit("certify.kernel.cholesky", "gamma = growth_float(block)", "gamma = 0.0"),
            Edit(
                "certify.kernel.cholesky",
                "sums[rest] += 2.0**-53 * _symmetric_row_sums(S[rest, rest])",
                "pass",
            ),
        ),
    ),
    bug(
        "gram norm: residual of the panels not counted",
        "cholesky",
        "R = np.abs(panel - multiply(P, L.T))",
        "R = np.zeros_like(panel)",
    ),
    bug(
        "schatten-4 norm: rounding of the product dropped",
        "norms",
        "rounding = growth(X.shape[0]) * square_sum(X)[1]",
        "rounding = arb(0)",
    ),
    bug(
        "entropy: false mean-value form (gradient at the midpoint)",
        "entropy",
        "slope = np.maximum(np.abs(up(p_high + H_high)), np.abs(down(p_low + H_low)))",
        "slope = np.abs(m.log_low - float_below(log_S) + (H_low + H_high) / 2); middle[:] = True; "
        "increasing[:] = False; decreasing[:] = False",
    ),
    bug(
        "entropy: the vertices exchanged",
        "entropy",
        "lowest = a.where(increasing, b.where(decreasing, m))",
        "lowest = b.where(increasing, a.where(decreasing, m))",
    ),
    bug(
        "numerical rank: the other end of sigma_1",
        "counting",
        "high, low = e * exact_ball(upper[0]), e * exact_ball(lower[0])",
        "low, high = e * exact_ball(upper[0]), e * exact_ball(lower[0])",
    ),
    bug("energy rank: wrong end", "counting", "head_low[k] >= share_high", "head_high[k] >= share_low"),
    bug(
        "product: rounding of its core dropped",
        "product",
        "radius_2 = (core.radius_2 + rounding * unit).upper()",
        "radius_2 = core.radius_2",
    ),
    bug(
        "product: both factor residuals dropped",
        "product",
        "r = (left.error * right.norm + (left.norm + left.error) * right.error) * unit + exact_ball(TINY)",
        "r = exact_ball(TINY)",
    ),
    bug(
        "enclosure: a product from two corners only",
        "enclosure",
        "[x * y for x in self.endpoints for y in b.endpoints]",
        "[self._low * b._low, self._high * b._high]",
    ),
    bug(
        "kl inverse: a point above the maximum accepted as below",
        "inverses",
        "lambda p: bool(_kl(q, p) <= c), lambda p: bool(_kl(q, p) >= c)",
        "lambda p: bool(_kl(q, p) <= 2 * c), lambda p: bool(_kl(q, p) >= 2 * c)",
    ),
    bug(
        "binomial tail: delta not taken at the end that keeps the claim true",
        "inverses",
        "_, high = _binomial_inverse_at(k_high, n_low, delta_low)",
        "_, high = _binomial_inverse_at(k_high, n_low, delta_high)",
    ),
    Bug(
        "rounding constant of half a unit",
        (
            Edit(
                "certify.kernel.rounding",
                "return arb(count) / (2**53 - 2 * count)",
                "return arb(count) / 2**54",
            ),
            Edit(
                "certify.kernel.rounding",
                "return count * (1.0 + 2.0**-20) * 2.0**-53",
                "return count * 2.0**-54",
            ),
        ),
    ),
)


def test_the_genuine_kernel_passes_the_same_attacks() -> None:
    assert violations((), rounds=2) == []


@pytest.mark.parametrize("planted_bug", BUGS, ids=lambda b: b.name)
def test_planted_bug_is_caught(planted_bug: Bug) -> None:
    assert violations(planted_bug.edits)


def test_a_harmless_edit_is_not_reported() -> None:
    wider = bug(
        "a wider bound is still sound",
        "singular_values",
        "error = residual(A.X, factors, f, h) + A.radius_2",
        "error = 2 * residual(A.X, factors, f, h) + A.radius_2",
    )
    assert violations(wider.edits, rounds=1) == []
