"""The rounding model: the only hypotheses about hardware, their constants, and what was checked.

Unit roundoff u = 2^-53, gamma_k = k u / (1 - k u) (Higham, Accuracy and Stability of Numerical
Algorithms, 2002, ch. 3). Two hypotheses (see ``docs/explanation/rounding-model.md``):

* ``binary64``: + - * / sqrt of float64 arrays round to nearest.
* ``matrix-product``: for inner dimension k, when no partial result under- or overflows,
  ``|fl(X Y) - X Y| <= gamma_k |X| |Y|`` entrywise. It follows from ``binary64`` for every order of
  summation, blocking, threading, with or without FMA; not for Strassen or emulated arithmetic.
"""

from __future__ import annotations

import os
import platform
import sys
from functools import cache
from typing import Any

import flint
import numpy as np

from certify.errors import NotCertified
from certify.kernel.multiply import product_on
from certify.kernel.selftest import PROBES, gradual_underflow, run_probes

arb = flint.arb

UNIT_ROUNDOFF: arb = arb(2) ** -53
TINY = 2.0**-450  # matrices have entries 0 or >= TINY, so nothing in a product underflows (scaling.py)
MAX_TERMS = 2**31  # the largest count for which growth_float is proved

ASSUMPTIONS: dict[str, str] = {
    "binary64": "Additions, multiplications, divisions and square roots of float64 arrays are rounded to "
    "nearest (IEEE 754); checked by probes, not proved.",
    "matrix-product": "Float64 matrix products are computed by conventional sums of products in some order, "
    "so their error is at most gamma_k |X||Y| entrywise; Strassen-like or emulated products would break it. "
    "Checked by four probes on the device used, not proved.",
    "input-radius": "The true matrix lies within the radius that the caller gave around the stored entries.",
}
MODEL = frozenset({"binary64", "matrix-product"})  # what every certified matrix number rests on

EMULATION_VARIABLES = (
    "CUBLAS_EMULATE_SINGLE_PRECISION",
    "CUBLAS_EMULATE_DOUBLE_PRECISION",
    "CUBLAS_EMULATION_STRATEGY",
    "HIPBLASLT_EMULATE_DOUBLE_PRECISION",
    "PYTORCH_TUNABLEOP_ENABLED",
    "TORCH_BLAS_PREFER_CUBLASLT",
    "TORCH_BLAS_PREFER_HIPBLASLT",
)
_REFUSED_ON_CUDA = EMULATION_VARIABLES[:5]


def growth(terms: int) -> arb:
    """g(k) = k u / (1 - 2 k u): both 1 + gamma_k and 1 / (1 - gamma_k) are <= 1 + g(k).

    One symbol serves "computed from exact" and "exact from computed".
    """
    count = int(terms)
    if not 0 <= count <= MAX_TERMS:
        raise NotCertified(f"{count} roundings in one sum; the model is proved up to {MAX_TERMS}")
    return arb(count) / (2**53 - 2 * count)


def growth_float(terms: int) -> float:
    """A double >= g(k): k (1 + 2^-20) 2^-53, an exact product for k < 2^31."""
    count = int(terms)
    if not 0 <= count <= MAX_TERMS:
        raise NotCertified(f"{count} roundings in one sum; the model is proved up to {MAX_TERMS}")
    return count * (1.0 + 2.0**-20) * 2.0**-53


@cache
def require_model(device: str = "cpu") -> None:
    """Run the probes once per process and device; raise :class:`NotCertified` if one fails."""
    if device != "cpu":
        switched_on = [name for name in _REFUSED_ON_CUDA if os.environ.get(name, "0") not in ("", "0")]
        if switched_on:
            raise NotCertified(
                f"the environment sets {', '.join(switched_on)}: float64 products may be emulated or chosen "
                "without a check, so nothing can be certified on this device; unset them"
            )
    failed = [name for name, passed in run_probes(product_on(device)).items() if not passed]
    if failed:
        raise NotCertified(
            f"matrix products on {device} break the rounding model (failed: {', '.join(failed)}); "
            "nothing can be certified here. Another BLAS or device may keep it"
        )


def _torch_flags() -> dict[str, Any]:
    torch = sys.modules.get("torch")
    if torch is None:
        return {}
    return {
        "version": torch.__version__,
        "threads": torch.get_num_threads(),
        "cuda": torch.version.cuda,
        "allow_tf32": torch.backends.cuda.matmul.allow_tf32,
        "deterministic": torch.are_deterministic_algorithms_enabled(),
    }


def environment(device: str = "cpu") -> dict[str, Any]:
    """What the numbers were computed with: probes, libraries, BLAS, threads, switches. JSON-able."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {
        "device": device,
        "probes": run_probes(product_on(device)),
        "probe_meaning": dict(PROBES),
        "gradual_underflow": gradual_underflow(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processor": platform.processor(),
        "numpy": np.__version__,
        "blas": {"name": blas.get("name"), "version": blas.get("version")},
        "python_flint": flint.__version__,
        "torch": _torch_flags(),
        "thread_variables": {name: os.environ.get(name) for name in threads},
        "emulation_variables": {name: os.environ.get(name) for name in EMULATION_VARIABLES},
    }
