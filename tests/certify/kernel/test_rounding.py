"""The rounding model: its constants, the self-test against broken products, exact reading of formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import torch

from certify.errors import NotCertified
from certify.kernel import rounding
from certify.kernel.directed import rational
from certify.kernel.logarithm import log_with_error
from certify.kernel.multiply import product_on, spot_checked
from certify.kernel.reading import FORMATS, decoding_table
from certify.kernel.scaling import scale
from certify.kernel.selftest import PROBES, run_probes
from tests import strategies, truth
from tests.soundness import flushing

Array = np.ndarray


def strassen(X: Array, Y: Array) -> Array:
    """One level of Strassen, padded; the bound |X||Y| does not hold entrywise."""
    if Y.ndim == 1:
        return strassen(X, Y[:, None])[:, 0]
    m, k, n = X.shape[0], X.shape[1], Y.shape[1]
    A = np.pad(X, ((0, m % 2), (0, k % 2)))
    B = np.pad(Y, ((0, k % 2), (0, n % 2)))
    h, j, w = A.shape[0] // 2, A.shape[1] // 2, B.shape[1] // 2
    a, b, c, d = A[:h, :j], A[:h, j:], A[h:, :j], A[h:, j:]
    e, f, g, i = B[:j, :w], B[:j, w:], B[j:, :w], B[j:, w:]
    p1, p2, p3, p4 = a @ (f - i), (a + b) @ i, (c + d) @ e, d @ (g - e)
    p5, p6, p7 = (a + d) @ (e + i), (b - d) @ (g + i), (a - c) @ (e + f)
    return np.block([[p5 + p4 - p2 + p6, p1 + p2], [p3 + p4, p1 + p5 - p3 - p7]])[:m, :n]


def single(X: Array, Y: Array) -> Array:
    return (X.astype(np.float32) @ Y.astype(np.float32)).astype(np.float64)


def truncated(X: Array, Y: Array) -> Array:
    """Operands cut to 40 bits."""

    def cut(Z: Array) -> Array:
        mantissa, exponent = np.frexp(Z)
        return np.ldexp(np.rint(mantissa * 2.0**40), exponent - 40)

    return cut(X) @ cut(Y)


def fixed_point(X: Array, Y: Array) -> Array:
    """Each row of X and column of Y cut to 53 bits below its largest entry, as emulated FP64 does."""

    def cut(Z: Array, axis: int) -> Array:
        unit = np.ldexp(1.0, np.frexp(np.abs(Z).max(axis=axis, keepdims=True))[1] - 53)
        return np.rint(Z / unit) * unit

    return cut(X, 1) @ cut(Y, 0)


def upward(X: Array, Y: Array) -> Array:
    """Rounded towards +infinity."""
    P = X @ Y
    exact = np.matmul(X.astype(np.longdouble), Y.astype(np.longdouble))
    return np.where(P < exact, np.nextafter(P, np.inf), P)


def blind_to_nan(X: Array, Y: Array) -> Array:
    return np.nan_to_num(X) @ Y


BROKEN: dict[Callable[[Array, Array], Array], set[str]] = {
    strassen: {"positive-integers", "graded-single-term"},
    single: {"positive-integers"},
    truncated: {"round-to-nearest"},
    fixed_point: {"graded-single-term"},
    upward: {"round-to-nearest"},
    blind_to_nan: {"nan-propagates"},
}


def test_the_genuine_product_passes_all_probes() -> None:
    assert run_probes(product_on("cpu")) == dict.fromkeys(PROBES, True)
    assert run_probes(strategies.plain_order_product()) == dict.fromkeys(PROBES, True)
    assert run_probes(strategies.random_order_product(np.random.default_rng(0))) == dict.fromkeys(
        PROBES, True
    )


@pytest.mark.parametrize("product", BROKEN, ids=lambda p: p.__name__)
def test_a_broken_product_is_caught(product: Callable[[Array, Array], Array]) -> None:
    with np.errstate(all="ignore"):
        outcome = run_probes(product)
    failed = {name for name, passed in outcome.items() if not passed}
    assert failed & BROKEN[product], outcome


def test_legal_products_pass_the_spot_check() -> None:
    rng = np.random.default_rng(3)
    graded = 10.0 ** rng.uniform(-100, 0, (1, 90))
    gaussian = rng.standard_normal((80, 90)), rng.standard_normal((90, 70))
    liars = strategies.plain_order_product(), strategies.legal_liar(rng), strategies.pushing_product(1)
    for X, Y in (gaussian, (graded * np.ones((80, 1)), graded.T * np.ones((1, 70)))):
        for product in (np.matmul, *liars):
            P = product(X, Y)
            assert spot_checked(X, Y, P) is P
        with pytest.raises(NotCertified, match="spot check"):
            spot_checked(X, Y, single(X, Y))


def test_probes_pass_with_flush_to_zero() -> None:
    with flushing(True):
        assert all(run_probes(product_on("cpu")).values())
        assert rounding.environment()["gradual_underflow"] is False
    assert rounding.environment()["gradual_underflow"] is True


def test_environment_is_json_and_names_what_matters() -> None:
    record = json.loads(json.dumps(rounding.environment()))
    assert all(record["probes"].values())
    assert {"numpy", "torch", "python_flint", "blas", "thread_variables", "emulation_variables"} <= set(
        record
    )
    assert set(rounding.MODEL) <= set(rounding.ASSUMPTIONS)
    assert all(text.endswith(".") for text in rounding.ASSUMPTIONS.values())


@pytest.mark.parametrize("k", [0, 1, 2, 1000, 2**20, 2**31])
def test_growth_covers_both_directions(k: int) -> None:
    u = Fraction(1, 2**53)
    gamma = k * u / (1 - k * u)
    exact = k * u / (1 - 2 * k * u)
    with_floats = Fraction(rounding.growth_float(k))
    upper = rational(rounding.growth(k).upper())
    assert 1 + gamma <= 1 + exact
    assert 1 / (1 - gamma) <= 1 + exact
    assert exact <= upper
    assert exact <= with_floats


@pytest.mark.parametrize("name", [name for name in FORMATS if hasattr(torch, name)])
def test_decoding_tables_agree_with_torch_on_every_code(name: str) -> None:
    bits = FORMATS[name].bits
    codes = torch.arange(2**bits, dtype=torch.int32)
    kind = torch.uint8 if bits == 8 else torch.int16
    theirs = codes.to(kind).view(getattr(torch, name)).to(torch.float64).numpy()
    ours = decoding_table(name)
    if name == "float8_e8m0fnu":  # torch's own cast of 2^-127 to float64 is checked by the formula instead
        assert ours[0] == 2.0**-127
        theirs[0] = ours[0]
    assert np.array_equal(ours, theirs, equal_nan=True)


def test_scaling_is_exact_up_to_its_radius() -> None:
    rng = np.random.default_rng(0)
    for kind in strategies.MATRICES:
        _, A = strategies.matrix(rng, kind)
        for flush in (False, True):
            with flushing(flush):
                scaled = scale(A)
            unit = Fraction(2) ** scaled.exponent
            left = sum(
                (
                    (Fraction(*truth_ratio(x)) - Fraction(float(y)) * unit) ** 2
                    for x, y in zip(A.ravel(), scaled.X.ravel(), strict=True)
                ),
                Fraction(0),
            )
            radius = rational(scaled.radius_F.upper()) * unit
            assert left <= radius**2, kind
            assert not scaled.X.any() or 1 <= np.abs(scaled.X).max() < 2
            small = np.abs(scaled.X[scaled.X != 0])
            assert small.size == 0 or small.min() >= rounding.TINY


def truth_ratio(x: float) -> tuple[int, int]:
    return float(x).as_integer_ratio()


def test_logarithm_is_within_its_error() -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate(
        [
            rng.random(400),
            1 + rng.uniform(-1e-9, 1e-9, 50),
            10.0 ** rng.uniform(-300, 300, 300),
            [1, 0.7071, 2],
        ]
    )
    value, error = log_with_error(x)
    for i, number in enumerate(x):
        with truth.flint.ctx.workprec(200):
            exact = truth.arb(float(number)).log()
        assert truth.meets(exact, float(value[i] - error[i]), float(value[i] + error[i]))
    assert (error < 1e-11).all()
