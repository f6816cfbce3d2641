"""What the kernel is attacked with: matrices, untrusted factors, and legal but hostile matrix products."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from hypothesis import strategies as st

from certify.kernel import multiply

Array = np.ndarray
Product = Callable[[Array, Array], Array]
H2 = np.array([[1.0, 1.0], [1.0, -1.0]])


def hadamard(k: int) -> Array:
    """The 2^k x 2^k Hadamard matrix of +-1."""
    H = np.ones((1, 1))
    for _ in range(k):
        H = np.kron(H, H2)
    return H


# -- matrices -------------------------------------------------------------------------------------------

MATRICES: dict[str, Callable[[np.random.Generator, int, int], Array]] = {
    "gaussian": lambda r, m, n: r.standard_normal((m, n)),
    "small integers": lambda r, m, n: r.integers(-3, 4, (m, n)).astype(float),
    "graded rows": lambda r, m, n: r.standard_normal((m, n)) * 10.0 ** r.uniform(-12, 0, (m, 1)),
    "graded columns": lambda r, m, n: r.standard_normal((m, n)) * 10.0 ** r.uniform(-12, 0, (1, n)),
    "hilbert": lambda r, m, n: 1.0 / (np.arange(m)[:, None] + np.arange(n)[None] + 1),
    "ones": lambda r, m, n: np.ones((m, n)) * r.choice([1.0, 0.1, 3.0]),
    "identity": lambda r, m, n: np.eye(m, n) * r.choice([1.0, 0.3]),
    "hadamard": lambda r, m, n: hadamard(3)[:m, :n] * r.choice([1.0, 0.1, 1e-3]),
    "rank k": lambda r, m, n: (lambda k: r.integers(-4, 5, (m, k)).astype(float) @ r.integers(-4, 5, (k, n)))(
        int(r.integers(1, min(m, n) + 1))
    ),
    "scale 1e-300": lambda r, m, n: r.standard_normal((m, n)) * 1e-300,
    "scale 1e300": lambda r, m, n: r.standard_normal((m, n)) * 1e300,
    "near subnormal": lambda r, m, n: r.standard_normal((m, n)) * 2.0 ** int(r.integers(-1060, -1000)),
    "subnormal": lambda r, m, n: r.integers(-3, 4, (m, n)) * 5e-324,
    "largest": lambda r, m, n: np.clip(r.standard_normal((m, n)), -1.7, 1.7) * 1e308,
    "every scale": lambda r, m, n: r.standard_normal((m, n)) * 10.0 ** r.uniform(-300, 290, (m, n)),
    "any scale": lambda r, m, n: r.standard_normal((m, n)) * 10.0 ** float(r.uniform(-300, 300)),
    "causal attention": lambda r, m, n: _normalised(np.tril(r.random((m, n)) + 1e-3)),
    "softmax": lambda r, m, n: _softmax(r.standard_normal((m, n)) * r.choice([1, 8, 40])),
    "zero rows and columns": lambda r, m, n: (
        r.integers(-3, 4, (m, n)) * (r.random((m, 1)) < 0.6) * (r.random((1, n)) < 0.6)
    ).astype(float),
    "graded diagonal": lambda r, m, n: np.diag(10.0 ** r.uniform(-16, 0, min(m, n))),
    "rotations": lambda r, m, n: np.kron(np.eye(2), [[3.0, -4.0], [4.0, 3.0]]) * r.choice([1.0, 0.1]),
    "bidiagonal": lambda r, m, n: np.eye(m, n) + np.eye(m, n, 1) * 10.0 ** r.uniform(-9, 3),
    "ones plus noise": lambda r, m, n: np.ones((m, n)) + 1e-9 * r.standard_normal((m, n)),
    "sparse nonnegative": lambda r, m, n: r.random((m, n)) * (r.random((m, n)) < 0.5),
    "identity plus ulps": lambda r, m, n: np.eye(m, n) + 2.0**-52 * r.integers(-2, 3, (m, n)),
    "repeated column": lambda r, m, n: (
        np.repeat(r.standard_normal((m, 1)), n, 1) * (1 + 1e-15 * r.integers(0, 5, (1, n)))
    ),
    "skewed": lambda r, m, n: (
        np.outer(10.0 ** r.uniform(-8, 8, m), 10.0 ** r.uniform(-8, 8, n)) * r.standard_normal((m, n))
    ),
    "zero": lambda r, m, n: np.zeros((m, n)),
    "float32": lambda r, m, n: np.abs(r.standard_normal((m, n))).astype(np.float32).astype(float),
    "float16": lambda r, m, n: r.standard_normal((m, n)).astype(np.float16).astype(float),
    "rank one": lambda r, m, n: np.outer(r.standard_normal(m), r.standard_normal(n)) * r.random(),
    "exactly factored": lambda r, m, n: (hadamard(2) * np.sort(r.random(4))[::-1] / 4) @ hadamard(2),
}


def _normalised(A: Array) -> Array:
    return A / A.sum(axis=1, keepdims=True)


def _softmax(Z: Array) -> Array:
    with np.errstate(under="ignore"):
        return _normalised(np.exp(Z - Z.max(axis=1, keepdims=True)))


def matrix(rng: np.random.Generator, kind: str | None = None) -> tuple[str, Array]:
    """A small matrix of a kind (random if not given): its kind and the entries."""
    m, n = (int(x) for x in rng.integers(1, 7, 2))
    chosen = kind if kind is not None else str(rng.choice(list(MATRICES)))
    with np.errstate(under="ignore"):
        return chosen, np.ascontiguousarray(MATRICES[chosen](rng, m, n), dtype=np.float64)


@st.composite
def small_matrices(draw: st.DrawFn) -> Array:
    """Hypothesis: a small matrix of any kind."""
    kind = draw(st.sampled_from(list(MATRICES)))
    return matrix(np.random.default_rng(draw(st.integers(0, 2**32 - 1))), kind)[1]


# -- untrusted factors -------------------------------------------------------------------------------------


def factors(X: Array, rng: np.random.Generator) -> Iterator[tuple[str, Array, Array, Array]]:
    """(name, U, s, V) for X ~ U diag(s) V^T: from good to absurd. Each is a legal answer of an oracle."""
    m, n = X.shape
    q = min(m, n)
    U, s, Vh = np.linalg.svd(X, full_matrices=False)
    V = Vh.T
    noise = rng.standard_normal
    yield "svd", U, s, V
    for e in (2e-16, 1e-15, 1e-12, 1e-6, 1e-2):
        yield f"noise {e}", U + e * noise((m, q)), s * (1 + e * noise(q)), V + e * noise((n, q))
    d = 1 + rng.uniform(-0.3, 0.3, q)
    yield "U scaled", U * d, s / d, V
    yield "U and V scaled", U * d, s, V / d
    yield "inflated", U * 1.2, s / 1.44, V * 1.2
    yield "deflated", U * 0.7, s / 0.49, V * 0.7
    skew = 0.1 * noise((q, q))
    yield "skewed", U @ (np.eye(q) + skew), s, V @ np.linalg.inv(np.eye(q) + skew).T
    p = rng.permutation(q)
    yield "permuted", U[:, p], s[p], V[:, p]
    yield "values permuted", U, s[p], V
    sign = rng.choice([-1.0, 1.0], q)
    yield "signs moved", U * sign, s * sign, V
    yield "signs wrong", U, s * sign, V
    r = int(rng.integers(0, q + 1))
    yield "truncated", U[:, :r], s[:r], V[:, :r]
    if q > 1:
        U2, V2 = U.copy(), V.copy()
        U2[:, 1] = U2[:, 0]
        V2[:, -1] = 0
        yield "column duplicated", U2, s, V
        yield "column zero", U, s, V2
        t = s.copy()
        t[:] = s[::-1]
        yield "values reversed", U, t, V
    yield "values zero", U, 0 * s, V
    yield "values doubled", U, 2 * s, V
    yield "orthonormal junk", np.linalg.qr(noise((m, q)))[0], s, np.linalg.qr(noise((n, q)))[0]
    yield "junk", noise((m, q)), s, noise((n, q))
    yield "float32", U.astype(np.float32), s.astype(np.float32), V.astype(np.float32)
    bad = U.copy()
    bad.flat[rng.integers(bad.size)] = rng.choice([np.nan, np.inf, 1e200, -1e308, 5e-324])
    yield "bad entry", bad, s, V
    t = s.copy()
    t[rng.integers(q)] = rng.choice([np.nan, np.inf, -1.0, 1e300, 5e-324])
    yield "bad value", U, t, V
    yield "identity", np.eye(m, q), s, np.eye(n, q)
    yield "few bits", np.round(U * 64) / 64, np.round(s * 64) / 64, np.round(V * 64) / 64


def eigenvector_matrices(X: Array, rng: np.random.Generator) -> Iterator[tuple[str, Array]]:
    """(name, V) for the cheap mode on a tall X."""
    n = X.shape[1]
    _, V = np.linalg.eigh(X.T @ X)
    yield "eigh", V[:, ::-1]
    yield "noise", V + 1e-7 * rng.standard_normal((n, n))
    yield "rotated", np.linalg.qr(rng.standard_normal((n, n)))[0]
    yield "identity", np.eye(n)
    yield "scaled", V * (1 + 0.2 * rng.random(n))
    yield "nan", V * np.nan
    yield "too few", V[:, :-1]
    yield "junk", rng.standard_normal((n, n))


# -- hostile products -------------------------------------------------------------------------------------


def _by_columns(product: Product) -> Product:
    """A product of matrices also used for matrix times vector."""

    def both(X: Array, Y: Array) -> Array:
        return product(X, Y[:, None])[:, 0] if Y.ndim == 1 else product(X, Y)

    return both


def plain_order_product() -> Product:
    """Left to right, one rounding per operation, no FMA: rounding errors of equal terms point one way."""

    def product(X: Array, Y: Array) -> Array:
        total = np.zeros((X.shape[0], Y.shape[1]))
        for j in range(X.shape[1]):
            total = total + X[:, j : j + 1] * Y[j : j + 1]
        return total

    return _by_columns(product)


def random_order_product(rng: np.random.Generator) -> Product:
    """Terms in a random order, or summed by random blocks."""

    def product(X: Array, Y: Array) -> Array:
        total, order = np.zeros((X.shape[0], Y.shape[1])), rng.permutation(X.shape[1])
        for part in np.array_split(order, max(1, int(rng.integers(0, X.shape[1] + 1)))):
            total = total + X[:, part] @ Y[part]
        return total

    return _by_columns(product)


def legal_liar(rng: np.random.Generator, flatter: Array | None = None) -> Product:
    """Any matrix within gamma_k |X||Y| is a legal product; this one uses nearly all of it.

    Half of the time it flatters the certificate: of all legal results it takes the one nearest to
    ``flatter`` (the matrix being certified, so the residual vanishes), to the identity or to a diagonal.
    """
    wide = np.longdouble

    def product(X: Array, Y: Array) -> Array:
        if X.shape[1] < 2:
            return np.matmul(X, Y)
        P = np.matmul(X.astype(wide), Y.astype(wide))
        slack = (X.shape[1] - 1) * wide(2.0**-53) * wide(0.999)
        slack = slack * np.matmul(np.abs(X).astype(wide), np.abs(Y).astype(wide))
        choice = int(rng.integers(0, 8))
        if choice > 4:
            target = None
            if flatter is not None and flatter.shape == P.shape and np.abs(flatter - P).max() < 0.1:
                target = flatter
            elif P.shape[0] == P.shape[1]:
                near_identity = bool(np.abs(P - np.eye(len(P))).max() < 0.1)
                target = np.eye(len(P)) if near_identity else np.diag(np.diag(P).astype(float))
            if target is not None:
                return np.clip(target.astype(wide), P - slack, P + slack).astype(np.float64)
        sign: Array | float = (
            1.0,
            -1.0,
            rng.choice([-1.0, 1.0], P.shape),
            np.where(P > 0, 1.0, -1.0),
            np.where(P > 0, -1.0, 1.0),
        )[choice % 5]
        return (P + sign * slack).astype(np.float64)

    return _by_columns(product)


def pushing_product(direction: int) -> Product:
    """A legal liar: every entry is pushed away from zero (+1) or towards it (-1) by nearly gamma_k |X||Y|."""

    def product(X: Array, Y: Array) -> Array:
        P = np.matmul(X, Y)
        slack = max(X.shape[1] - 2, 0) * 2.0**-53 * np.matmul(np.abs(X), np.abs(Y))
        return P + direction * np.sign(P) * slack

    return _by_columns(product)


@contextmanager
def product_replaced(product: Product | None) -> Iterator[None]:
    """Within the block the kernel multiplies with ``product``."""
    if product is None:
        yield
        return
    genuine = multiply.product
    multiply.product = product
    try:
        yield
    finally:
        multiply.product = genuine
