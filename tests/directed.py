"""Directed attacks: matrices and products made so that one missing term of one proof shows.

With an ordinary BLAS most rounding terms are invisible; each case here makes one of them large while the
truth stays exactly known. Every function appends to a :class:`tests.soundness.Ledger`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import flint
import numpy as np

from certify.errors import MatrixError, NotCertified
from certify.kernel import cholesky, effective_rank, nonnegative, norms, product, spectrum
from certify.kernel.cheap import from_eigenvectors
from certify.kernel.directed import float_above, rational
from certify.kernel.enclosure import Enclosure
from certify.kernel.entropy import entropy
from certify.kernel.gram import from_gram, gram_of
from certify.kernel.inverses import binomial_tail_inverse, kl_inverse
from certify.kernel.norms import frobenius_of, schatten4_of
from certify.kernel.product import product_of
from certify.kernel.reading import read_matrix
from certify.kernel.scaling import scale
from certify.kernel.singular_values import SingularValues, defect, from_factors, times_power_of_two
from certify.kernel.tight import from_factors_tightly, slice_bits, split, tight_defect
from certify.kernel.upper import square_sum
from tests import strategies, truth
from tests.soundness import Ledger, Subject, check_enclosure, check_norms, check_values, flushing

arb = flint.arb
PUBLIC = {
    "singular_values": spectrum,
    "frobenius_norm": norms,
    "spectral_norm": norms,
    "effective_rank": effective_rank,
}


def _spectrum(subject: Subject, pair: tuple[np.ndarray, np.ndarray]) -> SingularValues:
    return SingularValues(pair[0], pair[1], np.asarray(subject.scaled.exponent))


def plain_dot(c: float, terms: int) -> float:
    """c^2 added up left to right."""
    total = 0.0
    for _ in range(terms):
        total += c * c
    return total


def biased_constants(rng: np.random.Generator, terms: int) -> dict[int, float]:
    """For each sign, a 26-bit constant whose plain-order sum of squares errs far in that direction."""
    best: dict[int, tuple[float, float]] = {}
    for _ in range(40):
        c = float(np.round(rng.uniform(0.5, 1) * 2**26) / 2**26)
        error = float(Fraction(plain_dot(c, terms)) / (Fraction(c) ** 2 * terms) - 1)
        for sign in (1, -1):
            if sign not in best or error * sign > best[sign][0]:
                best[sign] = (error * sign, c)
    return {sign: c for sign, (_, c) in best.items()}


def biased_sums(ledger: Ledger, rng: np.random.Generator) -> None:
    """Constant vectors: their norm is known, and plain-order summation errs in one direction."""
    n = int(rng.integers(200, 500))
    with strategies.product_replaced(strategies.plain_order_product()):
        for sign, c in biased_constants(rng, n).items():
            with flint.ctx.workprec(truth.BITS):
                norm, square_norm = (arb(c) * arb(c) * n).sqrt(), arb(c) * n
            column = Subject(np.full((n, 1), c), scale(np.full((n, 1), c)), [norm], f"constant column {sign}")
            pair = from_eigenvectors(column.scaled, np.ones((1, 1)))
            check_values(ledger, "biased cheap spectrum", column, _spectrum(column, pair))
            C = gram_of(column.scaled.X)
            pair = from_gram(column.scaled, C, C.X[0], np.ones((1, 1)))
            check_values(ledger, "biased gram spectrum", column, _spectrum(column, pair))
            _check_pair(ledger, "biased gram norm", column, cholesky.norm_bounds_of_tall(column.scaled.X))
            _check_pair(
                ledger, "biased collatz", column, nonnegative.norm_bounds(column.scaled.X, np.ones(1))
            )
            _gram_with_a_small_shift(ledger, column)
            square = np.full((n, n), c)
            whole = Subject(square, scale(square), [square_norm], f"constant matrix {sign}")
            _check_pair(ledger, "biased gram norm", whole, cholesky.norm_bounds_of_tall(whole.scaled.X))
            _check_pair(ledger, "biased collatz", whole, nonnegative.norm_bounds(whole.scaled.X, np.ones(n)))
            doubled = scale(np.kron(column.A, np.eye(2)))
            with flint.ctx.workprec(truth.BITS):
                unit = arb(2) ** -doubled.exponent
                exact = (2 * (norm * unit) ** 4).sqrt()
            check_enclosure(ledger, "biased schatten-4", column, schatten4_of(doubled), exact)


def _gram_with_a_small_shift(ledger: Ledger, column: Subject) -> None:
    """The shift just above the computed Gram entry, so that only the rounding term can save the bound."""
    X = column.scaled.X
    C = cholesky.multiply(X.T, X)
    bound = cholesky.upper_norm_squared(C, cholesky.gram_rounding(X), float(C[0, 0]) * (1 + 2.0**-50), 600)
    if bound is not None:
        _check_pair(ledger, "gram norm, small shift", column, (arb(0), bound.sqrt()))


def _check_pair(ledger: Ledger, claim: str, subject: Subject, pair: tuple[arb, arb]) -> None:
    with flint.ctx.workprec(truth.BITS):
        exact = subject.sigma[0] * arb(2) ** -subject.scaled.exponent
    holds = truth.meets(exact, pair[0], pair[1])
    ledger.record(claim, holds, lambda: f"{subject.label}: {exact} not in {pair}")


def unit_liar(rng: np.random.Generator, n: int, sign: int) -> np.ndarray | None:
    """A 26-bit vector whose plain-order square sum is 1 to an ulp while the exact one is many ulps off."""

    def short(x: float) -> float:
        exponent = math.frexp(x)[1]
        return math.ldexp(round(math.ldexp(x, 26 - exponent)), exponent - 26)

    best: tuple[float, float | None] = (0.0, None)
    for _ in range(30):
        c = short(rng.uniform(0.92, 0.999) / math.sqrt(n))
        error = float(Fraction(plain_dot(c, n - 4)) - Fraction(c) ** 2 * (n - 4)) * 2.0**53
        if -error * sign > best[0]:
            best = (-error * sign, c)
    if best[1] is None:
        return None
    c = best[1]
    total, vector = plain_dot(c, n - 4), [c] * (n - 4)
    for _ in range(4):
        rest = 1.0 - total
        t = short(math.sqrt(max(rest, 2.0**-100))) if rest > 0 else 0.0
        if t and t * t > rest:
            t = short(t * (1 - 2.0**-25))
        vector.append(t)
        total += t * t
    return np.array(vector)


def false_unit_vectors(ledger: Ledger, rng: np.random.Generator) -> None:
    """Factors that look orthonormal to the product although they are not."""
    n = int(rng.integers(200, 500))
    with strategies.product_replaced(strategies.plain_order_product()):
        for sign in (1, -1):
            v = unit_liar(rng, n, sign)
            if v is None:
                continue
            V = v[:, None]
            A = V @ V.T
            square = sum((Fraction(float(x)) ** 2 for x in v), Fraction(0))
            norm = arb(flint.fmpz(square.numerator)) / arb(flint.fmpz(square.denominator))
            # fl(v v^T) is exact for 26-bit entries, so sigma_1 = |v|^2 and the rest is 0.
            subject = Subject(A, scale(A), [norm] + [arb(0)] * (n - 1), f"false unit vector {sign}")
            s = np.array([2.0**-subject.scaled.exponent])
            pair = from_factors(subject.scaled, V, s, V)
            check_values(ledger, "false unit vectors", subject, _spectrum(subject, pair))


def hidden_residual(ledger: Ledger, rng: np.random.Generator) -> None:
    """X = U S V^T + c 11^T with c inside the gamma envelope, and a legal product that returns X itself."""
    H = strategies.hadamard(4) / 4
    places = rng.permutation(15)[:4] + 1
    s = np.zeros(16)
    s[places] = 1 - rng.random(4) * 0.3
    W = H * s
    envelope = 14 * 2.0**-53 * (np.abs(W) @ np.abs(H).T)
    subject = Subject.of(W @ H.T + 0.9 * envelope.min(), "hidden residual")
    X = subject.scaled.X

    def flattering(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
        R = np.matmul(P, Q)
        return X.copy() if R.shape == X.shape and np.abs(R - X).max() < 1e-12 else R

    order = np.argsort(-s)
    U = np.ascontiguousarray(H[:, order])
    with strategies.product_replaced(flattering):
        pair = from_factors(subject.scaled, U, s[order] * 2.0**-subject.scaled.exponent, U)
    check_values(ledger, "hidden residual", subject, _spectrum(subject, pair))


def killing_rotations(ledger: Ledger, rng: np.random.Generator) -> None:
    """A = (row, k row) and the rotation that kills it: without FMA a column of fl(A V) vanishes."""
    with strategies.product_replaced(strategies.plain_order_product()):
        for _ in range(20):
            angle, k = rng.uniform(0, 6.28), rng.uniform(0.1, 1)
            c, s = np.cos(angle), np.sin(angle)
            subject = Subject.of(np.array([[c, s], [k * c, k * s]]), "killing rotation")
            pair = from_eigenvectors(subject.scaled, np.array([[c, -s], [s, c]]))
            check_values(ledger, "killing rotation", subject, _spectrum(subject, pair))


def exact_slices(ledger: Ledger, rng: np.random.Generator) -> None:
    """Worst admissible slices: their products must be exact in plain order; integers are the truth."""
    plain = strategies.plain_order_product()
    for _ in range(3):
        k = int(rng.integers(1, 300))
        Y = np.ldexp(rng.integers(2**52, 2**53, (3, k)).astype(float), -53)
        first, second = split(Y, slice_bits(k), by_row=True)
        rows = [[Fraction(float(x)) for x in row] for row in first]
        computed = plain(first, first.T)
        exact = all(
            Fraction(float(computed[i, j])) == sum(p * q for p, q in zip(rows[i], rows[j], strict=True))
            for i in range(3)
            for j in range(3)
        )
        ledger.record("exact slices", exact and bool((first + second == Y).all()), lambda k=k: f"k = {k}")


def lying_cholesky(ledger: Ledger, rng: np.random.Generator) -> None:
    """The factorisation always "succeeds" with junk: the measured slack must cover the negative part of S."""
    genuine = cholesky.cholesky_block

    def junk(D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = len(D)
        L = np.tril(np.linalg.cholesky(D.T @ D + 0.1 * np.eye(n)) ** 0.5 + 0.1 * rng.standard_normal((n, n)))
        return np.nan_to_num(L), np.linalg.inv(np.nan_to_num(L) + 5 * np.eye(n))

    def lazy(D: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        found = genuine(D)
        return None if found is None else (found[0], np.zeros_like(D))  # every panel becomes 0

    for trial in range(30):
        n = int(rng.integers(1, 9))
        S = rng.standard_normal((n, n))
        S = S + S.T
        if trial % 2:
            S = S @ S / n - 0.05 * np.eye(n)
        elif trial % 3 == 2:
            S[np.diag_indices(n)] = 1.0  # positive diagonal, large off-diagonal
        smallest = float(np.linalg.eigvalsh(S)[0])
        cholesky.cholesky_block = (genuine, junk, lazy)[trial % 3]
        try:
            with np.errstate(invalid="ignore"):
                sums = cholesky.residual_row_sums(S.copy(), int(rng.integers(1, 4)))
        finally:
            cholesky.cholesky_block = genuine
        if sums is not None:
            # Far from rounding level, so the float eigenvalue decides.
            holds = -smallest <= sums.max() * (1 + 1e-9) + 1e-12
            ledger.record(
                "lying cholesky", holds, lambda n=n, s=smallest: f"n = {n}, smallest eigenvalue {s}"
            )


def slightly_indefinite(ledger: Ledger, rng: np.random.Generator) -> None:
    """S = singular integer Gram matrix minus delta I, so lambda_min = -delta; a legal liar hides it."""

    def push(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        P = np.matmul(X, Y)
        if Y.ndim == 1:
            return P
        return P - (X.shape[1] - 1) * 0.99 * 2.0**-53 * np.matmul(np.abs(X), np.abs(Y))

    for trial in range(40):
        n = int(rng.integers(6, 13))
        B = rng.integers(-3, 4, (n, n - 1)).astype(float)
        B[-1] = -B[:-1].sum(0) if trial % 2 else B[0]
        delta = 2.0 ** -int(rng.integers(44, 49))
        S = B @ B.T
        S[np.diag_indices(n)] -= delta
        with strategies.product_replaced(push):
            sums = cholesky.residual_row_sums(S.copy(), int(rng.integers(3, 6)))
        if sums is not None:
            holds = delta <= sums.max() * (1 + 1e-12)
            ledger.record("slightly indefinite", holds, lambda n=n, d=delta: f"n = {n}, delta = {d}")


def hidden_indefiniteness(ledger: Ledger, rng: np.random.Generator) -> None:
    """As above with one block, a factor of the nearest semidefinite matrix, and a legal product that rounds
    L L^T onto S where it may, so that the residual vanishes."""
    for _ in range(20):
        n = int(rng.integers(4, 9))
        B = rng.integers(-1, 2, (n, n - 1)).astype(float)
        B[-1] = B[0]
        delta = 2.0 ** -int(rng.integers(47, 50))
        S = B @ B.T
        S[np.diag_indices(n)] -= delta

        def flatter(X: np.ndarray, Y: np.ndarray, S: np.ndarray = S) -> np.ndarray:
            P = np.matmul(X, Y)
            if P.shape != S.shape:
                return P
            slack = (X.shape[1] - 1) * 0.99 * 2.0**-53 * np.matmul(np.abs(X), np.abs(Y))
            return np.clip(S, P - slack, P + slack)

        values, vectors = np.linalg.eigh(S)
        root = vectors * np.sqrt(np.maximum(values, 0))  # root root^T = S + delta v v^T
        genuine = cholesky.cholesky_block
        cholesky.cholesky_block = lambda D, L=root: (np.ascontiguousarray(L), np.eye(len(L)))
        try:
            with strategies.product_replaced(flatter):
                sums = cholesky.residual_row_sums(S.copy(), n)
        finally:
            cholesky.cholesky_block = genuine
        if sums is not None:
            holds = delta <= sums.max() * (1 + 1e-12)
            ledger.record("hidden indefiniteness", holds, lambda n=n, d=delta: f"n = {n}, delta = {d}")


def pushed_gram(ledger: Ledger, rng: np.random.Generator) -> None:
    """Integer matrices with both Schatten norms exactly known; liars push the Gram matrix one way."""
    m, n = int(rng.integers(40, 90)), int(rng.integers(40, 90))
    A = rng.integers(-(2**20), 2**20, (m, n)).astype(float)
    M = flint.fmpz_mat([[int(x) for x in row] for row in A])
    fourth = sum(int(x) ** 2 for x in (M.transpose() * M).entries())
    second = sum(int(x) ** 2 for x in M.entries())
    scaled = scale(A)
    subject = Subject(A[:1, :1], scaled, [arb(1)], f"integers {m} x {n}")
    with flint.ctx.workprec(truth.BITS):
        unit = arb(2) ** -scaled.exponent
        exact4, exact2 = arb(fourth).sqrt() * unit * unit, arb(second).sqrt() * unit
    check_enclosure(ledger, "exact frobenius", subject, frobenius_of(scaled), exact2)
    for direction in (1, -1):
        with strategies.product_replaced(strategies.pushing_product(direction)):
            check_enclosure(ledger, "pushed schatten-4", subject, schatten4_of(scaled), exact4)


def known_defects(ledger: Ledger, rng: np.random.Generator) -> None:
    """The defect of columns with a known, not small, departure from orthonormality."""
    for _ in range(10):
        V = np.linalg.qr(rng.standard_normal((int(rng.integers(3, 9)), 3)))[0]
        V = V + 10.0 ** rng.uniform(-12, -1) * rng.standard_normal(V.shape)
        exact = float(np.linalg.norm(V.T @ V - np.eye(3), 2))
        for name, bound in (("defect", defect(V)), ("tight defect", tight_defect(V))):
            holds = float_above(bound) >= exact * (1 - 1e-9) - 1e-15
            ledger.record(name, holds, lambda b=bound, e=exact: f"{b} below {e}")


def hadamard_spectra(ledger: Ledger, rng: np.random.Generator, k: int) -> None:
    """A = 2^j H1 diag(d) H2^T / n with integer d: the spectrum is exactly 2^j d. n = 4^k."""
    n = 4**k
    H = strategies.hadamard(2 * k)
    left, right = H[rng.permutation(n)], H[:, rng.permutation(n)] * rng.choice([-1, 1], n)
    kind = int(rng.integers(0, 4))
    d = np.sort(rng.integers(0 if kind else 1, 2**20, n))[::-1].astype(float)
    if kind == 1:
        d[n // 2 :] = 0
    elif kind == 2:
        d[:] = d[0]
    elif kind == 3:
        d = np.sort(np.floor(2**20 * 10.0 ** rng.uniform(-6, 0, n)))[::-1]
    j = int(rng.integers(-300, 300))
    A = np.ldexp((left * d) @ right.T / n, j)
    subject = Subject(A, scale(A), [arb(x) * arb(2) ** j for x in d], f"hadamard {n} kind {kind}")
    X = subject.scaled.X
    U, s, Vh = np.linalg.svd(X, full_matrices=False)
    for claim, certify in (("default", from_factors), ("tight", from_factors_tightly)):
        pair = certify(subject.scaled, U, s, Vh.T)
        check_values(ledger, f"hadamard {claim}", subject, _spectrum(subject, pair))
    exact = from_factors(
        subject.scaled, left / 2.0**k, np.ldexp(d, j - subject.scaled.exponent), right / 2.0**k
    )
    check_values(ledger, "hadamard exact factors", subject, _spectrum(subject, exact))
    _, V = np.linalg.eigh(X.T @ X)
    check_values(ledger, "hadamard cheap", subject, _spectrum(subject, from_eigenvectors(subject.scaled, V)))
    _check_pair(ledger, "hadamard gram norm", subject, cholesky.norm_bounds_of_tall(X))


def entropy_boxes(ledger: Ledger, rng: np.random.Generator, boxes: int = 20) -> None:
    """Random points, corners included, of random boxes: their entropy must lie in the box's bounds."""
    for _ in range(boxes):
        n = int(rng.integers(1, 7))
        centre = 10.0 ** rng.uniform(-8, 0, n) * (rng.random(n) < 0.9)
        width = 10.0 ** rng.uniform(-12, 0.5, n)
        lower, upper = np.maximum(centre - width * centre, 0), centre + width * centre
        lower[rng.random(n) < 0.2] = 0
        upper = np.maximum(upper, 1e-9)
        try:
            low, high = entropy(lower, upper)
        except NotCertified:
            ledger.refused("entropy box")
            continue
        for _ in range(20):
            t = rng.choice([0.0, 1.0, 0.5, rng.random()], n)
            point = np.clip(lower + t * (upper - lower), lower, upper)
            if not point.any():
                continue
            with flint.ctx.workprec(truth.BITS):
                H = truth.renyi([arb(float(x)) for x in point], Fraction(1), 1).log()
            holds = truth.meets(H, low, high)
            ledger.record("entropy box", holds, lambda p=point, h=H, b=(low, high): f"{p}: {h} not in {b}")


def products_of_factors(ledger: Ledger, rng: np.random.Generator) -> None:
    """A = Q K^T from graded, integer, huge, tiny and rank-deficient factors, and noisy QR oracles."""
    m, n = (int(x) for x in rng.integers(2, 8, 2))
    d = int(rng.integers(1, 5))
    Q = rng.standard_normal((m, d)) * 10.0 ** rng.uniform(-6, 6, (1, d))
    K = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-6, 6, (1, d))
    kind = int(rng.integers(0, 5))
    if kind == 0:
        Q, K = np.round(Q * 4), np.round(K * 4)
    elif kind == 1:
        Q, K = Q * 1e-200, K * 1e150
    elif kind == 2:
        Q[:, 0] = Q[:, -1]
    sigma = truth.exact_product_singular_values(Q, K)
    subject = Subject(np.zeros((m, n)), scale(np.zeros((m, n))), sigma, f"product kind {kind}")
    for noise in (0.0, 1e-9, 1e-3):
        with _noisy_qr(rng, noise):
            try:
                values = product_of(scale(Q), scale(K))
            except NotCertified:
                ledger.refused("product")
                continue
        check_values(ledger, "product", subject, values)


@contextmanager
def _noisy_qr(rng: np.random.Generator, noise: float) -> Iterator[None]:
    genuine = product.oracle.qr

    def noisy(X: np.ndarray, device: str = "cpu") -> tuple[np.ndarray, np.ndarray]:
        O, R = genuine(X, device)
        O = O + noise * rng.standard_normal(O.shape)
        return O, R + noise * np.abs(R).max() * rng.standard_normal(R.shape)

    product.oracle.qr = noisy
    try:
        yield
    finally:
        product.oracle.qr = genuine


def core_of_product(ledger: Ledger, rng: np.random.Generator) -> None:
    """The core M = R1 R2^T of one row each is a number; liars push it, and its radius must cover that."""
    for direction in (1, -1):
        left, right = 1 - rng.random((2, 1, 8)) * 2.0**-3
        exact = sum((Fraction(float(x)) * Fraction(float(y)) for x, y in zip(left[0], right[0], strict=True)))
        parts = [product._Orthogonalised(R, arb(0), arb(0), arb(1)) for R in (left, right)]
        with strategies.product_replaced(strategies.pushing_product(direction)):
            core, exponent = product._core(*parts)
        computed = Fraction(float(core.X[0, 0])) * Fraction(2) ** exponent
        radius = rational(core.radius_2.upper()) * Fraction(2) ** exponent
        holds = abs(computed - exact) <= radius
        ledger.record("core of a product", holds, lambda c=computed, e=exact: f"{float(c - e)} off")


def bad_inputs(ledger: Ledger, rng: np.random.Generator) -> None:
    """NaN and infinity anywhere must be refused by the public functions, never given finite bounds."""
    for value in (np.nan, np.inf, -np.inf):
        A = rng.standard_normal((3, 3))
        A[tuple(rng.integers(0, 3, 2))] = value
        for name in ("singular_values", "frobenius_norm", "spectral_norm", "effective_rank"):
            try:
                getattr(PUBLIC[name], name)(A)
                ledger.record("bad input", False, lambda n=name, v=value: f"{n} accepted {v}")
            except (MatrixError, NotCertified):
                ledger.record("bad input", True, str)


def inexact_inputs(ledger: Ledger, rng: np.random.Generator) -> None:
    """``radius=``: the enclosures of the centre must contain the truth of any matrix inside the radius."""
    for _ in range(4):
        _, A = strategies.matrix(rng, "small integers")
        if not A.any():
            continue
        radius = np.abs(rng.standard_normal(A.shape)) * 10.0 ** rng.uniform(-9, -1)
        moved = A + radius * rng.choice([-1.0, 1.0], A.shape)
        entries = zip(moved.ravel(), A.ravel(), radius.ravel(), strict=True)
        inside = [abs(Fraction(x) - Fraction(y)) <= Fraction(r) for x, y, r in entries]
        moved = np.where(np.reshape(inside, A.shape), moved, A)
        truth_of_moved = Subject.of(moved, "inexact input")
        scaled = scale(A, radius)
        subject = Subject(moved, scaled, truth_of_moved.sigma, "inexact input")
        U, s, Vh = np.linalg.svd(scaled.X, full_matrices=False)
        for claim, certify in (("default", from_factors), ("tight", from_factors_tightly)):
            check_values(ledger, f"inexact {claim}", subject, _spectrum(subject, certify(scaled, U, s, Vh.T)))
        _, V = np.linalg.eigh(scaled.tall.X.T @ scaled.tall.X)
        C = gram_of(scaled.tall.X)
        pairs = np.linalg.eigh(C.X)
        check_values(ledger, "inexact gram", subject, _spectrum(subject, from_gram(scaled.tall, C, *pairs)))
        check_values(ledger, "inexact cheap", subject, _spectrum(subject, from_eigenvectors(scaled.tall, V)))
        check_norms(ledger, subject, rng)


def outward_floats(ledger: Ledger, rng: np.random.Generator) -> None:
    """Balls to floats and to decimals, compared as rationals: normal, huge, subnormal, both signs."""
    for _ in range(40):
        exponent = int(rng.choice([-1080, -1070, -1023, -5, 0, 5, 1000]))
        numerator, denominator = int(rng.integers(-(10**9), 10**9)), int(rng.integers(1, 10**9))
        exact = Fraction(numerator, denominator) * Fraction(2) ** exponent
        value = Enclosure.exact(exact)
        with flint.ctx.workprec(int(rng.choice([53, 200]))):  # the ambient precision must not matter
            holds = Fraction(value.lower) <= exact <= Fraction(value.upper)
        digits = int(rng.integers(1, 20))
        holds = holds and Fraction(value.lower_decimal(digits)) <= exact <= Fraction(
            value.upper_decimal(digits)
        )
        ledger.record("outward float", holds, lambda e=exact, v=value: f"{e} as {v.lower}, {v.upper}")
    values = rng.random(20) * 2.0 ** rng.integers(-440, 20, 20)
    exponent = rng.integers(-1100, 900, 20)
    low, high = (times_power_of_two(values, exponent, upward=up) for up in (False, True))
    for i in range(20):
        exact = Fraction(float(values[i])) * Fraction(2) ** int(exponent[i])
        holds = Fraction(float(low[i])) <= exact <= Fraction(float(high[i]))
        ledger.record("power of two", holds, lambda e=exact, i=i: f"{e} as {low[i]}, {high[i]}")


def flushed_formats(ledger: Ledger, rng: np.random.Generator) -> None:
    """Subnormals of every format are read exactly also where the processor reads them as zero."""
    narrow = {np.float32: -149, np.float16: -24, np.float64: -1074}
    for dtype, exponent in narrow.items():
        units = rng.integers(1, 2**9, (2, 3))
        A = np.ldexp(units.astype(np.float64), exponent).astype(dtype)
        with flushing(True):
            scaled = scale(read_matrix(A))
        unit = Fraction(2) ** scaled.exponent
        read = [Fraction(float(x)) * unit for x in scaled.X.ravel()]
        exact = [Fraction(int(x)) * Fraction(2) ** exponent for x in units.ravel()]
        ledger.record("flushed format", read == exact, lambda d=dtype: f"{d}")
    tiny = 5e-324
    with flushing(True):
        value = Enclosure.exact(tiny)
    ledger.record(
        "flushed format", value.contains(Fraction(1, 2**1074)), lambda: "a subnormal float as an enclosure"
    )


def underflowing_squares(ledger: Ledger, rng: np.random.Generator) -> None:
    """Squares that underflow must still be covered by the bounds of a sum of squares."""
    for exponent in (-560, -540, -520, -500):
        X = rng.random((3, 4)) * 2.0**exponent
        exact = sum((Fraction(float(x)) ** 2 for x in X.ravel()), Fraction(0))
        low, high = (rational(end) for end in square_sum(X))
        ledger.record("sum of squares", low <= exact <= high, lambda e=exponent: f"entries near 2^{e}")


def enclosure_arithmetic(ledger: Ledger, rng: np.random.Generator) -> None:
    """Sums, products, quotients and powers of random intervals contain those of random points in them."""

    def draw() -> tuple[Enclosure, Fraction]:
        low, high = sorted(Fraction(int(x), 64) for x in rng.integers(-200, 200, 2))
        return Enclosure.between(low, high), low + (high - low) * Fraction(int(rng.integers(0, 9)), 8)

    for _ in range(40):
        (a, x), (b, y) = draw(), draw()
        results = [
            (a + b, x + y),
            (a - b, x - y),
            (a * b, x * y),
            (abs(a), abs(x)),
            (a**2, x**2),
            (a**3, x**3),
        ]
        if y and (b.lower > 0 or b.upper < 0):
            results.append((a / b, x / y))
        holds = all(value.contains(exact) for value, exact in results)
        ledger.record("enclosure arithmetic", holds, lambda a=a, b=b, x=x, y=y: f"{a!r}, {b!r} at {x}, {y}")


def inverse_tails(ledger: Ledger, rng: np.random.Generator) -> None:
    """Each end of the kl and binomial inverses of intervals, against the function it inverts."""
    exact = Enclosure.exact
    for _ in range(3):
        n = int(rng.integers(2, 40))
        k = int(rng.integers(0, n))
        low_delta, high_delta = sorted(Fraction(int(x), 1000) for x in rng.integers(1, 999, 2))
        p = binomial_tail_inverse(exact(k), exact(n), Enclosure.between(low_delta, high_delta))
        for delta in (low_delta, high_delta):
            tail_low, tail_high = (_exact_tail(k, n, rational(end)) for end in p.endpoints)
            holds = tail_low >= delta and tail_high <= delta
            ledger.record("binomial tail inverse", holds, lambda k=k, n=n, d=delta: f"k={k} n={n} delta={d}")
        q_low, q_high = sorted(Fraction(int(x), 100) for x in rng.integers(0, 99, 2))
        c = Fraction(int(rng.integers(1, 300)), 100)
        bound = kl_inverse(Enclosure.between(q_low, q_high), exact(c))
        for q in (q_low, q_high):
            low, high = (rational(end) for end in bound.endpoints)
            holds = _kl_at_most(q, low, c) and _kl_at_least(q, high, c)
            ledger.record("kl inverse", holds, lambda q=q, c=c: f"q={q} c={c}")


def _exact_tail(k: int, n: int, p: Fraction) -> Fraction:
    return sum((math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1)), Fraction(0))


def _kl(q: Fraction, p: Fraction) -> arb:
    with flint.ctx.workprec(truth.BITS):
        a, b = (arb(flint.fmpz(x.numerator)) / arb(flint.fmpz(x.denominator)) for x in (q, p))
        first = a * (a / b).log() if q > 0 else arb(0)
        return first + ((1 - a) * ((1 - a) / (1 - b)).log() if q < 1 else arb(0))


def _kl_at_most(q: Fraction, p: Fraction, c: Fraction) -> bool:
    return p <= q or (p < 1 and not _kl(q, p) > arb(flint.fmpz(c.numerator)) / arb(flint.fmpz(c.denominator)))


def _kl_at_least(q: Fraction, p: Fraction, c: Fraction) -> bool:
    return p >= 1 or (p > q and not _kl(q, p) < arb(flint.fmpz(c.numerator)) / arb(flint.fmpz(c.denominator)))


CASES = (  # the quick ones first
    bad_inputs,
    outward_floats,
    flushed_formats,
    underflowing_squares,
    enclosure_arithmetic,
    inverse_tails,
    known_defects,
    hidden_residual,
    core_of_product,
    products_of_factors,
    killing_rotations,
    false_unit_vectors,
    entropy_boxes,
    exact_slices,
    inexact_inputs,
    lying_cholesky,
    slightly_indefinite,
    hidden_indefiniteness,
    pushed_gram,
    biased_sums,
)


def run_all(seed: int, *, stop_early: bool = False) -> Ledger:
    """Every directed case once, and Hadamard spectra of sizes 16 and 64; or until the first violation."""
    ledger = Ledger()
    rng = np.random.default_rng(seed)
    for case in CASES:
        case(ledger, rng)
        if stop_early and ledger.violations:
            return ledger
    for k in (2, 3):
        hadamard_spectra(ledger, rng, k)
    return ledger
