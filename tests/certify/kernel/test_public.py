"""The public functions: shapes, dtypes, devices, batches, radii, zero and extreme matrices."""

from __future__ import annotations

import itertools
import pickle
import subprocess
import sys
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
import torch

import certify
from certify.errors import InputError, MatrixError, NotCertified, Undecided, UndefinedRank
from certify.kernel import multiply, spectrum
from certify.kernel.effective_rank import KINDS
from certify.kernel.enclosure import Enclosure
from certify.kernel.product import frobenius_norm_of_product, product_of
from certify.kernel.scaling import scale
from certify.kernel.selftest import run_probes
from certify.kernel.spectrum import Mode, singular_values_of
from tests import strategies, truth

FLOAT8 = [name for name in dir(torch) if name.startswith("float8_")]
EXACT = np.array([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]])  # sigma = 4, 3


def exact(value: Enclosure, number: Fraction | int) -> bool:
    return value.contains(number)


def test_names_are_public_and_lazy() -> None:
    code = "import sys, certify; print('torch' in sys.modules or 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    for name in certify.__all__:
        assert callable(getattr(certify, name))
        assert name in dir(certify)
    with pytest.raises(AttributeError, match="no_such_name"):
        certify.no_such_name  # noqa: B018


@pytest.mark.parametrize(
    "mode", ["default", "tight", "cheap", "adaptive", certify.Tight(), certify.Adaptive()]
)
def test_modes_enclose_known_values(mode: str | Mode) -> None:
    values = certify.singular_values(EXACT, mode)
    assert values.lower.dtype == values.upper.dtype == np.float64
    assert exact(values[0], 4)
    assert exact(values[1], 3)
    assert values[0].upper - values[0].lower < 1e-12
    assert values.assumptions == {"binary64", "matrix-product"}


def test_the_adaptive_mode_climbs_until_it_is_narrow_enough() -> None:
    graded = strategies.hadamard(5) * 2.0 ** -np.arange(32.0)  # the cheap mode is wide at the small end
    cheap, adaptive = certify.singular_values(graded, "cheap"), certify.singular_values(graded, "adaptive")
    strict = certify.singular_values(graded, certify.Adaptive(width=0))
    for i in range(32):
        true = Fraction(2) ** -i
        for values in (cheap, adaptive, strict):
            assert (values[i] ** 2).contains(32 * true**2)
    assert (adaptive.upper - adaptive.lower).sum() <= 1e-7 * adaptive.lower.sum()
    assert (strict.upper - strict.lower).max() < (cheap.upper - cheap.lower).max()
    with patch.object(spectrum.oracle, "eigenpairs", lambda *_: (np.ones(2), np.full((2, 2), np.nan))):
        assert exact(certify.singular_values(EXACT, "adaptive")[0], 4)


def test_oracles_that_do_not_converge_are_survived() -> None:
    failure = np.linalg.LinAlgError("no convergence")
    with (
        patch.object(np.linalg, "eigh", side_effect=failure),
        pytest.raises(NotCertified, match="orthonormal"),
    ):
        certify.singular_values(EXACT, "cheap")
    with patch.object(torch.linalg, "svd", side_effect=torch.linalg.LinAlgError("no convergence")):
        assert exact(certify.singular_values(EXACT)[0], 4)


def test_norms_of_a_known_matrix() -> None:
    assert exact(certify.frobenius_norm(EXACT), 5)
    assert exact(certify.spectral_norm(EXACT), 4)
    assert exact(certify.spectral_norm(-EXACT), 4)
    assert exact(certify.nuclear_norm(EXACT), 7)


def test_ranks_of_a_known_matrix() -> None:
    known = {
        "stable": Fraction(25, 16),
        "nuclear": Fraction(7, 4),
        "nuclear-frobenius": Fraction(49, 25),
        "participation": Fraction(625, 337),
    }
    for kind, value in known.items():
        assert exact(certify.effective_rank(EXACT, kind), value)
    ranks = certify.effective_ranks(certify.singular_values(EXACT), certify.frobenius_norm(EXACT))
    assert set(ranks) == set(KINDS)
    for kind, value in known.items():
        assert exact(ranks[kind], value)
    assert exact(certify.effective_rank(EXACT, order="inf", power=1), Fraction(7, 4))
    assert certify.effective_rank(EXACT, order=1, power=2).upper < 2


@pytest.mark.parametrize(("order", "power"), [("1/2", 1), (3, 2), (Fraction(3, 2), 1), (2, 4)])
def test_any_member_of_the_renyi_family(order: str | int | Fraction, power: int) -> None:
    A = np.random.default_rng(0).integers(-5, 6, (5, 4)).astype(float)
    value = certify.effective_rank(A, order=order, power=power)
    low, high = value.endpoints
    assert truth.meets(truth.renyi(truth.exact_singular_values(A), Fraction(order), power), low, high)
    assert value.upper - value.lower < 1e-9


def test_ranks_fall_with_the_order() -> None:
    A = np.random.default_rng(1).standard_normal((30, 20))
    at = [certify.effective_rank(A, order=order, power=2) for order in ("1/2", 1, 2, 4, "inf")]
    assert all(bool(a > b) for a, b in itertools.pairwise(at))


def test_counting_ranks() -> None:
    A = np.diag([8.0, 4.0, 2.0, 1.0])
    rank = certify.numerical_rank(A, eps=Fraction(1, 5))
    assert (rank.lower, rank.upper, str(rank)) == (3, 3, "3")
    assert certify.numerical_rank(A, eps=0.25).lower <= 2 <= certify.numerical_rank(A, eps=0.25).upper
    assert str(certify.numerical_rank(A, eps=0.25)) in ("2", "2..3")
    energy = certify.energy_rank(A, level=Fraction(64, 85))
    assert energy.lower <= 1 <= energy.upper
    assert certify.energy_rank(A, level="0.94").lower == 2
    assert certify.energy_rank(A, level=1).upper == 4


@pytest.mark.parametrize(
    "dtype", [np.float64, np.float32, np.float16, ">f8", ">f4", np.int8, np.uint16, np.int64, bool]
)
def test_numpy_dtypes_are_read_exactly(dtype: object) -> None:
    A = np.array([[1, 0], [0, 1], [1, 0]]).astype(dtype)  # type: ignore[call-overload]
    assert exact(certify.frobenius_norm(A) ** 2, 3)
    assert exact(certify.singular_values(A)[1], 1)


@pytest.mark.parametrize(
    "name", ["float64", "float32", "float16", "bfloat16", *FLOAT8, "int32", "uint8", "bool"]
)
def test_torch_dtypes_are_read_exactly(name: str) -> None:
    rng = np.random.default_rng(3)
    values = torch.from_numpy(rng.integers(0, 2, (4, 3)).astype(np.float32)) + (name == "float8_e8m0fnu")
    A = values.to(getattr(torch, name))
    expected = A.to(torch.float32).double().numpy()
    assert exact(certify.frobenius_norm(A) ** 2, int((expected**2).sum()))


@pytest.mark.parametrize("layout", ["transposed", "strided", "reversed", "read-only", "expanded", "fortran"])
def test_any_strides(layout: str) -> None:
    A = np.random.default_rng(4).integers(-9, 10, (6, 4)).astype(float)
    view = {
        "transposed": lambda: A.T,
        "strided": lambda: A[::2, 1::2],
        "reversed": lambda: A[::-1, ::-1],
        "read-only": lambda: np.broadcast_to(A, (6, 4)),
        "expanded": lambda: torch.from_numpy(A[:, :1].copy()).expand(6, 4),
        "fortran": lambda: np.asfortranarray(A),
    }[layout]()
    plain = np.array(view)
    assert exact(certify.frobenius_norm(view) ** 2, int((plain**2).sum()))
    sigma = truth.exact_singular_values(plain)
    values = certify.singular_values(view)
    for i, x in enumerate(sigma):
        assert truth.meets(x, float(values.lower[i]), float(values.upper[i]))


def test_torch_views_and_gradients() -> None:
    A = torch.arange(12.0).reshape(3, 4).requires_grad_()
    assert exact(certify.frobenius_norm(A.mT) ** 2, sum(i * i for i in range(12)))


def test_batches_keep_their_shape() -> None:
    A = np.random.default_rng(5).standard_normal((2, 3, 5, 4)) * 10.0 ** np.arange(6).reshape(2, 3, 1, 1)
    values = certify.singular_values(A)
    assert values.lower.shape == (2, 3, 4)
    one = certify.singular_values(A[1, 2])
    assert (values[1][2].lower == one.lower).all()
    stable = certify.effective_rank(np.abs(A))
    assert stable.lower.shape == (2, 3)
    assert stable[1, 2].hull(certify.effective_rank(np.abs(A[1, 2]))).upper < 4
    assert certify.nuclear_norm(A).upper.shape == (2, 3)
    with pytest.raises(InputError, match="index the batch"):
        certify.effective_ranks(values)


def test_empty_batches_and_empty_matrices() -> None:
    assert certify.singular_values(np.zeros((0, 3))).lower.shape == (0,)
    assert certify.singular_values(np.zeros((4, 0, 3))).lower.shape == (4, 0)
    assert certify.singular_values(np.zeros((0, 4, 3))).lower.shape == (0, 3)
    assert certify.frobenius_norm(np.zeros((0, 3))).upper == 0
    assert certify.spectral_norm(np.zeros((3, 0))).upper == 0
    with pytest.raises(UndefinedRank):
        certify.effective_rank(np.zeros((0, 3)))


@pytest.mark.parametrize("kind", KINDS)
def test_the_zero_matrix_has_norms_but_no_effective_rank(kind: str) -> None:
    Z = np.zeros((3, 2))
    assert (
        certify.frobenius_norm(Z).upper
        == certify.spectral_norm(Z).upper
        == certify.nuclear_norm(Z).upper
        == 0
    )
    assert (certify.singular_values(Z).upper == 0).all()
    assert (certify.numerical_rank(Z).upper, certify.energy_rank(Z).upper) == (0, 0)
    with pytest.raises(UndefinedRank, match="zero matrix"):
        certify.effective_rank(Z, kind)


@pytest.mark.parametrize("exponent", [-1074, -1073, -1060, -1000, -600, 600, 1020])
def test_extreme_scales(exponent: int) -> None:
    A = np.ldexp(EXACT / 4, exponent + 2)
    values = certify.singular_values(A)
    for i, x in enumerate((4, 3)):
        true = Fraction(x) * Fraction(2) ** exponent
        assert Fraction(float(values.lower[i])) <= true
        assert np.isinf(values.upper[i]) or true <= Fraction(float(values.upper[i]))
        assert exact(values[i], true)
    assert exact(certify.effective_rank(A), Fraction(25, 16))
    assert exact(certify.frobenius_norm(A), 5 * Fraction(2) ** exponent)


def test_an_upper_bound_beyond_the_largest_double_is_infinity() -> None:
    values = certify.singular_values(np.full((4, 4), 1.7e308))
    assert np.isinf(values.upper[0])
    assert values.lower[0] == np.finfo(float).max
    assert exact(certify.effective_rank(np.full((4, 4), 1.7e308)), 1)


def test_radius_covers_every_matrix_within_it() -> None:
    A = np.array([[1.0, 0.0], [0.0, 0.5]])
    values = certify.singular_values(A, radius=0.125)
    assert "input-radius" in values.assumptions
    for moved in (A + 0.125, A - 0.125, A + 0.125 * strategies.H2):
        for i, x in enumerate(truth.exact_singular_values(moved)):
            assert truth.meets(x, float(values.lower[i]), float(values.upper[i]))
    norm = certify.frobenius_norm(A, radius=np.array([[0.0, 0.5], [0.0, 0.0]]))
    assert norm.contains(certify.frobenius_norm(A))
    assert norm.contains(certify.frobenius_norm([[1.0, 0.5], [0.0, 0.5]]))
    with pytest.raises(NotCertified, match="not certified to be nonzero"):
        certify.effective_rank(A, radius=10)
    batch = certify.singular_values(np.stack([A, A]), radius=np.array([[[0.0]], [[0.25]]]))
    assert batch.upper[1, 0] > batch.upper[0, 0] + 0.2


def test_a_zero_centre_with_a_radius() -> None:
    Z = np.zeros((2, 2))
    assert certify.singular_values(Z, radius=1).upper[0] >= 2
    assert certify.spectral_norm(Z, radius=1).upper >= 2


@pytest.mark.parametrize("shape", [(6, 5, 2), (5, 6, 2), (3, 4, 6), (5, 5, 5), (1, 7, 1)])
def test_products_of_factors(shape: tuple[int, int, int]) -> None:
    m, n, d = shape
    rng = np.random.default_rng(6)
    Q, K = rng.integers(-4, 5, (m, d)), rng.integers(-4, 5, (n, d))
    values = certify.singular_values_of_product(Q, K)
    sigma = truth.exact_singular_values((Q @ K.T).astype(float))
    assert len(values) == min(m, n)
    for i, x in enumerate(sigma):
        assert truth.meets(x, float(values.lower[i]), float(values.upper[i]))
    assert (values.upper[d:] == 0).all()
    assert values.rank_bound == min(shape)
    assert exact(frobenius_norm_of_product(Q, K) ** 2, int(((Q @ K.T) ** 2).sum()))
    if values.lower[0] > 0:
        assert certify.effective_ranks(values)["entropy"].upper <= d


def test_zero_products() -> None:
    values = certify.singular_values_of_product(np.zeros((4, 2)), np.ones((3, 2)))
    assert (values.upper == 0).all()


def test_results_survive_pickling_and_print() -> None:
    value = certify.effective_rank(EXACT, "entropy")
    again = pickle.loads(pickle.dumps(value))
    assert (again.lower, again.upper, again.assumptions) == (value.lower, value.upper, value.assumptions)
    values = pickle.loads(pickle.dumps(certify.singular_values(EXACT)))
    assert exact(values[0], 4)
    assert "Enclosure(" in repr(value)
    assert "<code>" in value._repr_html_()
    assert "SingularValues(shape=(2,)" in repr(values)
    assert "EnclosureArray" in repr(certify.frobenius_norm(EXACT[None]))


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[1.0, np.nan]], "index \\(0, 1\\) is nan"),
        ([[1.0], [-np.inf]], "index \\(1, 0\\) is -inf"),
        ([1.0, 2.0], "1 dimension"),
        (3.0, "0 dimension"),
        ([[1j]], "complex"),
        (torch.ones(2, 2, dtype=torch.complex64), "complex"),
        ([[2**53 + 1]], "beyond 2\\^53"),
        (np.array([[-(2**63)]]), "beyond 2\\^53"),
        ([[2**70]], "not read exactly"),
        ([["a"]], "not read exactly"),
        (np.ones((2, 2), dtype=np.longdouble), "not read exactly"),
        ([[1.0], [1.0, 2.0]], "rectangular"),
        (torch.eye(2).to_sparse(), "plain entries"),
        (np.ma.masked_array(np.ones((2, 2))), "masked"),
        (torch.tensor([[float("nan")]], dtype=torch.bfloat16), "is nan"),
    ],
)
def test_each_bad_input_has_its_own_error(matrix: object, words: str) -> None:
    for function in (certify.singular_values, certify.effective_rank, certify.spectral_norm):
        with pytest.raises(MatrixError, match=words):
            function(matrix)


@pytest.mark.parametrize("radius", [-1.0, np.nan, [[1.0, 2.0, 3.0]]])
def test_bad_radii(radius: object) -> None:
    with pytest.raises(MatrixError, match="radius"):
        certify.singular_values(np.eye(2), radius=radius)


def test_comparisons_decide_or_raise() -> None:
    a, b = certify.spectral_norm(EXACT), certify.frobenius_norm(EXACT)
    assert a < b
    assert certify.certainly_less(a, b)
    with pytest.raises(Undecided, match="overlap"):
        bool(a < certify.spectral_norm(EXACT))


def test_widths_are_as_promised() -> None:
    rng = np.random.default_rng(8)
    A = rng.standard_normal((256, 256))
    default, tight = certify.singular_values(A), certify.singular_values(A, "tight")
    assert (default.upper - default.lower).max() / 2 <= 1e-9 * default.upper[0]
    assert (tight.upper - tight.lower).max() * 20 <= (default.upper - default.lower).max()
    Z = rng.standard_normal((256, 256)) * 3
    attention = np.exp(Z - Z.max(axis=1, keepdims=True))
    attention /= attention.sum(axis=1, keepdims=True)
    stable = certify.effective_rank(attention)
    assert stable.upper - stable.lower <= 1e-11 * stable.upper
    general = certify.effective_rank(A)
    assert general.upper - general.lower <= 1e-9 * general.upper


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")
def test_the_same_code_certifies_on_cuda() -> None:
    A = strategies.hadamard(6) * np.arange(1, 65)
    for mode in ("default", "tight", "cheap"):
        values = certify.singular_values(torch.from_numpy(A).cuda(), mode, device="cuda")
        assert all(exact(values[i], 8 * (64 - i)) for i in range(64))
    assert exact(certify.spectral_norm(A, device="cuda"), 512)


@pytest.mark.parametrize("mode", ["default", "tight", "cheap"])
def test_the_code_path_of_devices_with_torch_on_the_cpu(mode: str) -> None:
    """ "cpu:0" takes the branch written for CUDA: torch products and factorisations, tensors moved there."""
    assert all(run_probes(multiply.product_on("cpu:0")).values())
    token = multiply._DEVICE.set("cpu:0")
    try:
        with patch.object(multiply, "_product_on_cpu", None):  # would raise if it were still used
            values = singular_values_of(scale(strategies.hadamard(4) * np.arange(1.0, 17)), mode)
            assert exact(product_of(scale(EXACT), scale(np.eye(2)))[0], 4)
    finally:
        multiply._DEVICE.reset(token)
    assert all(exact(values[i], 4 * (16 - i)) for i in range(16))


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA device")
def test_asking_for_a_missing_device_says_so() -> None:
    with pytest.raises(InputError, match="no CUDA device"):
        certify.singular_values(EXACT, device="cuda")
