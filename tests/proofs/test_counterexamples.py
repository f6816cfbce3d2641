"""Propositions N0 to N7, exactly; and the standing hypothesis broken on purpose."""

from __future__ import annotations

import copy
from fractions import Fraction
from itertools import product

import pytest
from flint import arb, ctx, fmpq

from proofs.counterexamples.n3_gradient_descent import expected_error
from proofs.counterexamples.n7_after_training import failure_without_union
from proofs.counterexamples.rank_one_head import (
    attention,
    half_tanh,
    is_rank_one,
    output,
    rademacher_complexity,
)
from proofs.kernel import check
from proofs.library import load, recheck, stored
from proofs.terms import Refused
from proofs.theorems import THEOREMS


def ball(value: Fraction | int) -> arb:
    ctx.prec = 200
    value = Fraction(value)
    return arb(fmpq(value.numerator, value.denominator))


def head(omega: tuple[tuple[int, ...], ...], r: int, j: int, beta: Fraction) -> tuple[list[list[arb]], arb]:
    """The head of N1 in ball arithmetic, written anew: attention matrix and output at the first position."""
    rows, columns = len(omega), len(omega[0])
    tokens = [
        [int(k == r) for k in range(rows)] + [int(c == j) for c in range(columns)] + [1],
        [int(k == r) for k in range(rows)] + [0] * columns + [-1],
    ]
    matrix = []
    for x in tokens:
        powers = []
        for y in tokens:
            score = sum(x[k] * omega[k][c] * y[rows + c] for k in range(rows) for c in range(columns))
            powers.append((ball(beta) * score).exp())
        matrix.append([p / (powers[0] + powers[1]) for p in powers])
    return matrix, matrix[0][0] * tokens[0][-1] + matrix[0][1] * tokens[1][-1]


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (2, 3), (2, 4)])
def test_n1_complexity_is_tanh_with_attention_of_rank_one(rows: int, columns: int) -> None:
    """m = 4, 6, 8: every Omega and every sign vector enumerated, in 200-bit balls."""
    beta, m = Fraction(6), rows * columns
    inputs = list(product(range(rows), range(columns)))
    outputs: dict[tuple[int, ...], list[arb]] = {}
    for entries in product((1, -1), repeat=m):
        omega = tuple(tuple(entries[k * columns : (k + 1) * columns]) for k in range(rows))
        row = []
        for r, j in inputs:
            matrix, value = head(omega, r, j, beta)
            first, second = matrix
            assert all(
                (a - b).contains(0) and (a - b).rad() < 1e-50 for a, b in zip(first, second, strict=True)
            )
            row.append(value)
        outputs[entries] = row
    plus, minus = (ball(beta) / 2).tanh(), -(ball(beta) / 2).tanh()
    for entries, row in outputs.items():
        assert all(value.overlaps(plus if e == 1 else minus) for e, value in zip(entries, row, strict=True))
    total = ball(0)
    for signs in product((1, -1), repeat=m):
        best = ball(-m)
        for row in outputs.values():
            value = ball(0)
            for sign, term in zip(signs, row, strict=True):
                value = value + term if sign == 1 else value - term
            best = best.max(value)
        total += best
    complexity = total / (m * 2**m)
    assert complexity.overlaps(plus)
    assert complexity.rad() < 1e-50


@pytest.mark.parametrize("columns", [2, 3])
def test_n1_in_the_package_agrees(columns: int) -> None:
    beta = Fraction(6)
    found, truth = rademacher_complexity(2, columns, beta), half_tanh(beta)
    assert found.a <= truth.b
    assert truth.a <= found.b
    for entries in product((1, -1), repeat=2 * columns):
        omega = [list(entries[:columns]), list(entries[columns:])]
        for r, j in product(range(2), range(columns)):
            assert is_rank_one(attention(omega, r, j, beta))
            value = output(omega, r, j, beta)
            assert (value.a > 0) == (omega[r][j] == 1)


def test_n2_every_sample_has_a_fitted_parameter_with_gap_at_least_one_half() -> None:
    m, d = 2, 4
    labels = (1, -1, -1, 1)
    for sample in product(range(d), repeat=m):
        omega = tuple(label if j in sample else -label for j, label in enumerate(labels))
        margins = [labels[j] * head((omega,), 0, j, Fraction(6))[1] for j in range(d)]
        full = (ball(3)).tanh()
        assert all(margins[j].overlaps(full) for j in sample)
        wrong = sum(bool(margin < 0) for margin in margins)
        assert Fraction(wrong, d) >= 1 - Fraction(m, d) >= Fraction(1, 2)


def test_n3_exact_values() -> None:
    assert expected_error(3, 2) == Fraction(2, 9)
    assert expected_error(4, 3) == Fraction(27, 128)
    assert expected_error(5, 2) == Fraction(8, 25)
    for d, m in ((3, 1), (4, 2), (5, 2)):
        assert expected_error(d, m) == Fraction(1, 2) * (1 - Fraction(1, d)) ** m >= (1 - Fraction(m, d)) / 2


def test_n4_ranks_are_unrelated() -> None:
    """Three scalar tokens, weight of rank one: the attention matrix certainly has full rank."""
    tokens = (0, 1, 2)
    rows = []
    for a in tokens:
        powers = [(ball(3) * a * b).exp() for b in tokens]
        total = powers[0] + powers[1] + powers[2]
        rows.append([p / total for p in powers])
    (a, b, c), (d, e, f), (g, h, i) = rows
    determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    assert determinant != 0


def test_n6_hard_and_diagonal_attention_have_one_frobenius_norm() -> None:
    n = 5
    hard = [[int(j == 0) for j in range(n)] for _ in range(n)]
    identity = [[int(i == j) for j in range(n)] for i in range(n)]
    assert sum(x * x for row in hard for x in row) == sum(x * x for row in identity for x in row) == n


def test_n7_choosing_after_the_sample_costs() -> None:
    assert failure_without_union(Fraction(1, 20), 20) > Fraction(1, 2)
    assert sum(Fraction(1, (j + 1) * (j + 2)) for j in range(999)) == 1 - Fraction(1, 1000)


# The standing hypothesis, broken on purpose
@pytest.mark.parametrize("name", ["theorem-c1-i", "theorem-c1-vector", "theorem-c1-ii"])
def test_values_fitted_to_the_sample_are_refused(name: str) -> None:
    """Declare the map of values as chosen after the sample: the kernel refuses the derivation."""
    derivation = copy.deepcopy(next(d for d in load() if d["name"] == name))
    loss = next(v for v in derivation["variables"] if v["name"] == "l")
    loss["kind"] = "after"
    with pytest.raises(Refused, match="must be fixed before the sample, but l is not"):
        check(derivation, recheck(), stored("prose"))


def test_values_fitted_to_the_sample_break_the_bound() -> None:
    """m = 200, d = 4000: one token, a value table that agrees with the labels on the sample only.

    The attention matrix is [1], the values' oscillation is 0, so that C1(i) would promise a gap of at most
    the confidence term. The true gap is at least 1 - m/d.
    """
    from certify.kernel.bound import evaluate
    from certify.kernel.enclosure import Enclosure

    m, d = 200, 4000
    inputs = {"m": m, "delta": Fraction(1, 20), "L": 1, "omega": 1, "sum_sq_readout": 0}
    promised = evaluate(THEOREMS["C1(i)"].prefix, {k: Enclosure.exact(v) for k, v in inputs.items()})
    true_gap = 1 - Fraction(m, d)
    assert promised < Enclosure.exact(Fraction(3, 10))
    assert Enclosure.exact(true_gap) > promised


@pytest.mark.parametrize(("k", "value"), [(1, "1"), (2, "1.1107"), (3, "1.1547")])
def test_sphere_constants(k: int, value: str) -> None:
    """gamma_k = sqrt(pi) Gamma((k+1)/2)/(sqrt(k) Gamma(k/2)); its inverse is a mean modulus."""
    ctx.prec = 200
    gamma_k = arb.pi().sqrt() * (ball(k + 1) / 2).gamma() / (ball(k).sqrt() * (ball(k) / 2).gamma())
    assert (gamma_k - arb(value)) < arb("0.0001")
    assert (arb(value) - gamma_k) < arb("0.0001")
    assert gamma_k < (arb.pi() / 2).sqrt()
    # k = 2: the average of |cos| over the circle is 2/pi, times the radius sqrt(2)
    if k == 2:
        assert (1 / gamma_k).overlaps(2 / arb.pi() * arb(2).sqrt())
