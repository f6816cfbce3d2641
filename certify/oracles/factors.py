"""Float factorisations: SVD, symmetric eigenvectors, QR, Cholesky. Untrusted (see the package)."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import torch
from numpy.typing import NDArray

Array = NDArray[np.float64]


def svd(X: Array, device: str = "cpu") -> tuple[Array, Array, Array]:
    """U (m, q), s (q,), V (n, q) with X ~ U diag(s) V^T, q = min(m, n)."""
    try:
        U, s, Vh = torch.linalg.svd(torch.from_numpy(X).to(device), full_matrices=False)
    except torch.linalg.LinAlgError:  # divide and conquer failed to converge: the slower routine
        left, values, right = scipy.linalg.svd(X, full_matrices=False, lapack_driver="gesvd")
        return left, values, right.T
    return U.cpu().numpy(), s.cpu().numpy(), Vh.mT.cpu().numpy()


def eigenpairs(C: Array, device: str = "cpu") -> tuple[Array, Array]:
    """Eigenvalues of a symmetric matrix, descending, and eigenvectors as columns; 0 without convergence."""
    try:
        if device == "cpu":  # numpy's LAPACK is a fifth faster here
            values, V = np.linalg.eigh(C)
        else:
            on_device = torch.linalg.eigh(torch.from_numpy(C).to(device))
            values, V = (part.cpu().numpy() for part in on_device)
    except (np.linalg.LinAlgError, torch.linalg.LinAlgError):
        return np.zeros(len(C)), np.zeros_like(C)  # the kernel refuses these
    return values[::-1], np.ascontiguousarray(V[:, ::-1])


def qr(X: Array, device: str = "cpu") -> tuple[Array, Array]:
    """Q (m, d) with nearly orthonormal columns and R (d, d) with X ~ Q R, for m >= d."""
    Q, R = torch.linalg.qr(torch.from_numpy(X).to(device))
    return Q.cpu().numpy(), R.cpu().numpy()


def cholesky_block(S: Array) -> tuple[Array, Array] | None:
    """L and its inverse with S ~ L L^T (only the lower triangle is read), or None if S is not positive."""
    L, failed = scipy.linalg.lapack.dpotrf(S, lower=1, clean=1)
    if failed:
        return None
    inverse, failed = scipy.linalg.lapack.dtrtri(L, lower=1)
    return None if failed else (np.ascontiguousarray(L), inverse)
