"""Every ``raise`` of the numeric kernel is reached by a provocation below, and each gives its own message.

A guard that no input can trip protects nothing, and one that is tripped by no test may be broken for years.
"""

from __future__ import annotations

import ast
import math
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import flint
import numpy as np
import pytest
import torch

import certify
import certify.kernel as kernel_package
from certify.errors import ClaimError, InputError, MatrixError, NotCertified, Undecided, UndefinedRank
from certify.kernel import inverses, multiply, nonnegative, rounding, upper
from certify.kernel.bound import evaluate
from certify.kernel.cheap import from_eigenvectors
from certify.kernel.counting import energy_rank_of, numerical_rank_of
from certify.kernel.directed import decimal_above, exact_ball, finite, rational, require_exact_negation
from certify.kernel.effective_rank import Spectrum, effective_rank
from certify.kernel.enclosure import Enclosure, largest
from certify.kernel.entropy import entropy
from certify.kernel.gram import from_gram, gram_of
from certify.kernel.product import singular_values_of_product
from certify.kernel.scaling import scale
from certify.kernel.singular_values import SingularValues, from_factors
from certify.oracles import factors as oracle

KERNEL = Path(kernel_package.__file__).parent
arb = flint.arb
exact, between = Enclosure.exact, Enclosure.between
SQUARE = scale(np.array([[2.0, 1.0], [1.0, 2.0]]))
WIDE = scale(np.ones((2, 3)))
I2 = np.eye(2)


def with_oracle(name: str, answer: object, action: Callable[[], object]) -> Callable[[], object]:
    """``action`` while the oracle ``name`` answers ``answer``."""

    def run() -> object:
        with patch.object(oracle, name, lambda *arguments: answer):
            return action()

    return run


def with_environment(name: str, value: str, action: Callable[[], object]) -> Callable[[], object]:
    def run() -> object:
        with patch.dict("os.environ", {name: value}):
            return action()

    return run


def broken_product() -> object:
    """The probes on a product computed in single precision."""

    def single(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return (X.astype(np.float32) @ Y.astype(np.float32)).astype(np.float64)

    with patch.object(rounding, "product_on", lambda device: single):
        return rounding.require_model.__wrapped__("cpu")


def fake_cuda(action: Callable[[], object]) -> Callable[[], object]:
    def run() -> object:
        with ExitStack() as stack:
            stack.enter_context(patch.object(torch.cuda, "is_available", lambda: False))
            return action()

    return run


PRODUCT = lambda: singular_values_of_product(np.ones((3, 2)), np.ones((3, 2)))  # noqa: E731
NO_PRODUCT_OF_Q = (np.ones((3, 2)) / 2, np.full((2, 2), np.nan))
DEPENDENT_COLUMNS = (np.ones((3, 2)), np.ones((2, 2)))

PROVOCATIONS: list[tuple[type[Exception], str, Callable[[], object]]] = [
    # bound.py
    (ClaimError, "nested", lambda: evaluate("(" * 300, {})),
    (ClaimError, "misplaced", lambda: evaluate("()", {})),
    (ClaimError, "not one complete", lambda: evaluate("1 2", {})),
    (ClaimError, "denominator 0", lambda: evaluate("1/0", {})),
    (ClaimError, "pow takes 2", lambda: evaluate("(pow 2)", {})),
    (ClaimError, "exponent of pow", lambda: evaluate("(pow 2 x)", {"x": exact(2)})),
    (ClaimError, "out of range", lambda: evaluate("(pow 2 99999)", {})),
    (ClaimError, "neither a number", lambda: evaluate("1.5", {})),
    (ClaimError, "no value", lambda: evaluate("m", {})),
    (ClaimError, "misplaced", lambda: evaluate("((add) 1)", {})),
    (ClaimError, "at least 1", lambda: evaluate("(add)", {})),
    (ClaimError, "takes 1 argument", lambda: evaluate("(sqrt 1 2)", {})),
    (ClaimError, "unknown node", lambda: evaluate("(arctan 1)", {})),
    (TypeError, "must be an Enclosure", lambda: evaluate("m", {"m": 3})),  # type: ignore[dict-item]
    (NotCertified, "no certified value", lambda: evaluate("(log 0)", {})),
    # cheap.py
    (NotCertified, "as many rows", lambda: from_eigenvectors(WIDE, np.eye(3))),
    (NotCertified, "square V", lambda: from_eigenvectors(SQUARE, I2[:, :1])),
    (NotCertified, "eigenvectors are too far", lambda: from_eigenvectors(SQUARE, np.ones((2, 2)))),
    # counting.py
    (InputError, "eps", lambda: certify.numerical_rank(I2, eps=1)),
    (InputError, "level", lambda: certify.energy_rank(I2, level=0)),
    # directed.py
    (NotCertified, "does not negate exactly", lambda: require_exact_negation(arb(1))),
    (NotCertified, "not finite", lambda: finite(arb("nan"))),
    (NotCertified, "not finite", lambda: exact_ball(math.inf)),
    (NotCertified, "has a radius", lambda: rational(arb(1) / 3)),
    (ValueError, "digits", lambda: decimal_above(Fraction(1), 0)),
    # effective_rank.py
    (InputError, "index the batch", lambda: certify.effective_ranks(certify.singular_values(I2[None]))),
    (UndefinedRank, "zero matrix", lambda: certify.effective_ranks(certify.singular_values(0 * I2))),
    (NotCertified, "sigma_1", lambda: Spectrum.of(certify.singular_values(I2, radius=9))),
    (InputError, "unknown kind", lambda: effective_rank(I2, "rank")),
    (InputError, "both order", lambda: effective_rank(I2, order=2)),
    (InputError, "must be positive", lambda: effective_rank(I2, order=2, power=-1)),
    (UndefinedRank, "zero matrix", lambda: effective_rank(0 * I2)),
    (NotCertified, "nonzero within its radius", lambda: effective_rank(I2, radius=9)),
    # enclosure.py
    (TypeError, "not an exact number", lambda: exact(True)),
    (NotCertified, "not a real number", lambda: exact(math.nan)),
    (NotCertified, "above the upper", lambda: Enclosure(arb(2), arb(1))),
    (AttributeError, "frozen", lambda: setattr(exact(1), "ball", 2)),
    (NotCertified, "wrong order", lambda: between(2, 1)),
    (NotCertified, "division", lambda: 1 / between(-1, 1)),
    (TypeError, "exponent", lambda: exact(2) ** 0.5),  # type: ignore[operator]
    (NotCertified, "power 1/3", lambda: between(-1, 1) ** Fraction(1, 3)),
    (NotCertified, "square root", lambda: between(-1, 1).sqrt()),
    (NotCertified, "logarithm", lambda: between(0, 1).log()),
    (NotCertified, "acosh", lambda: between(0, 2).acosh()),
    (NotCertified, "gamma", lambda: between(-1, 2).gamma()),
    (Undecided, "<", lambda: between(0, 2) < 1),
    (Undecided, "<=", lambda: between(0, 2) <= 1),
    (TypeError, "==", lambda: exact(1) == 1),
    (TypeError, "!=", lambda: exact(1) != 1),
    (TypeError, "truth value", lambda: bool(exact(1))),
    (ValueError, "maximum of no", lambda: largest([])),
    # entropy.py
    (NotCertified, "no singular value", lambda: entropy(np.zeros(2), np.ones(2))),
    (NotCertified, "sum of the singular values", lambda: entropy(np.array([2.0**-1000]), np.array([1.0]))),
    # gram.py
    (NotCertified, "does not belong", lambda: from_gram(WIDE, gram_of(WIDE.X), np.ones(3), np.eye(3))),
    # inverses.py
    (NotCertified, "not a probability", lambda: inverses.kl_inverse(exact(2), exact(1))),
    (NotCertified, "negative", lambda: inverses.kl_inverse(exact(0), exact(-1))),
    (NotCertified, "must be an integer", lambda: evaluate_inverse("1/2", 5, "1/20")),
    (NotCertified, "needs k >= 0", lambda: evaluate_inverse(-1, 5, "1/20")),
    (NotCertified, "not in", lambda: evaluate_inverse(1, 5, 2)),
    # multiply.py
    (InputError, "not supported", lambda: certify.singular_values(I2, device="mps")),
    (InputError, "no CUDA", fake_cuda(lambda: certify.singular_values(I2, device="cuda"))),
    (
        NotCertified,
        "spot check",
        lambda: multiply.spot_checked(np.ones((64, 64)), np.eye(64), one_wrong_entry()),
    ),
    # nonnegative.py
    (NotCertified, "negative entries", lambda: nonnegative.norm_bounds(-I2, np.ones(2))),
    # product.py
    (NotCertified, "triangular factor", with_oracle("qr", NO_PRODUCT_OF_Q, PRODUCT)),
    (NotCertified, "orthogonal factor", with_oracle("qr", DEPENDENT_COLUMNS, PRODUCT)),
    (MatrixError, "as many columns", lambda: singular_values_of_product(I2, np.ones((2, 3)))),
    # reading.py
    (MatrixError, "beyond 2", lambda: certify.frobenius_norm([[2**60]])),
    (MatrixError, "plain entries", lambda: certify.frobenius_norm(torch.eye(2).to_sparse())),
    (MatrixError, "complex", lambda: certify.frobenius_norm(torch.ones(2, 2, dtype=torch.complex64))),
    (MatrixError, "masked", lambda: certify.frobenius_norm(np.ma.masked_array(I2))),
    (MatrixError, "rectangular", lambda: certify.frobenius_norm([[1.0], [1.0, 2.0]])),
    (MatrixError, "complex", lambda: certify.frobenius_norm(1j * I2)),
    (MatrixError, "not read exactly", lambda: certify.frobenius_norm([["a"]])),
    (MatrixError, "dimension", lambda: certify.frobenius_norm([1.0])),
    (MatrixError, "must be finite", lambda: certify.frobenius_norm([[math.nan]])),
    (MatrixError, "a batch", lambda: certify.numerical_rank(I2[None])),
    # rounding.py
    (NotCertified, "roundings in one sum", lambda: rounding.growth(2**40)),
    (NotCertified, "roundings in one sum", lambda: rounding.growth_float(-1)),
    (
        NotCertified,
        "environment sets",
        with_environment(
            "CUBLAS_EMULATE_DOUBLE_PRECISION", "1", lambda: rounding.require_model.__wrapped__("cuda")
        ),
    ),
    (NotCertified, "break the rounding model", broken_product),
    # scaling.py
    (MatrixError, ">= 0", lambda: certify.frobenius_norm(I2, radius=-1)),
    (MatrixError, "does not fit", lambda: certify.frobenius_norm(I2, radius=np.ones(3))),
    (NotCertified, "rows are needed", lambda: from_factors(SQUARE, np.eye(3), np.ones(2), I2)),
    (NotCertified, "far from orthonormal", lambda: from_factors(SQUARE, I2 * np.nan, np.ones(2), I2)),
    # singular_values.py
    (NotCertified, "0 <= lower", lambda: SingularValues(np.ones(1), np.zeros(1), np.asarray(0))),
    (NotCertified, "do not fit|they do", lambda: from_factors(SQUARE, I2, np.ones(1), I2)),
    (NotCertified, "far too large", lambda: from_factors(SQUARE, I2, np.array([1e300, 1]), I2)),
    (NotCertified, "too far from orthonormal", lambda: from_factors(SQUARE, np.ones((2, 2)), np.ones(2), I2)),
    # spectrum.py
    (InputError, "unknown mode", lambda: certify.singular_values(I2, "fast")),
    (NotCertified, "no mode certifies", lambda: no_oracle_answers()),
    # upper.py
    (NotCertified, "no finite upper bound", lambda: upper.least(arb("inf"))),
]


def evaluate_inverse(k: object, n: object, delta: object) -> Enclosure:
    return inverses.binomial_tail_inverse(exact(k), exact(n), exact(delta))  # type: ignore[arg-type]


def one_wrong_entry() -> np.ndarray:
    P = np.ones((64, 64))
    P[5, 7] += 1e-9
    return P


def no_oracle_answers() -> object:
    nothing = np.full((2, 2), np.nan)
    with (
        patch.object(oracle, "svd", lambda *_: (nothing, np.ones(2), nothing)),
        patch.object(oracle, "eigenpairs", lambda *_: (np.ones(2), nothing)),
    ):
        return certify.singular_values(I2, "adaptive")


def raise_lines() -> set[tuple[str, int]]:
    """(file, first line) of every ``raise`` statement of the kernel."""
    found = set()
    for path in KERNEL.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise):
                found.add((path.name, node.lineno))
    return found


def reached(action: Callable[[], object], kind: type[Exception], words: str) -> set[tuple[str, int]]:
    """The kernel's raise lines through which the error of ``action`` came."""
    with pytest.raises(kind, match=words) as caught:
        action()
    places = set()
    error: BaseException | None = caught.value
    while error is not None:
        for frame in traceback.extract_tb(error.__traceback__):
            if Path(frame.filename).parent == KERNEL and frame.lineno is not None:
                places.add((Path(frame.filename).name, frame.lineno))
        error = error.__cause__
    return places


def test_every_raise_is_reached() -> None:
    covered: set[tuple[str, int]] = set()
    for kind, words, action in PROVOCATIONS:
        covered |= reached(action, kind, words)
    missing = sorted(raise_lines() - covered)
    assert not missing, f"no provocation reaches {missing}"


def test_the_check_can_fail() -> None:
    kind, words, action = PROVOCATIONS[0]
    assert raise_lines() - reached(action, kind, words)
    assert len(raise_lines()) > 70


def test_numerical_ranks_take_enclosed_spectra() -> None:
    values = certify.singular_values(I2)
    assert numerical_rank_of(values).upper == 2
    assert energy_rank_of(values, 1).upper == 2
