"""Work items about weights: one matrix of a model in, one JSON-able record of proved numbers out."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from certify.decimals import enclosed, floats_above, floats_below, outward_arrays
from certify.engine.journal import Journal, array_digest, digest_of
from certify.engine.pool import Task
from certify.errors import CertifyError, UndefinedRank

if TYPE_CHECKING:
    from certify.adapters.model import Model, ModelMatrix
    from certify.kernel.singular_values import SingularValues

# Part of every journal key: raise it whenever a record's content or meaning changes.
RECORD_VERSION = "1"
# Scaled values below this are widened to [0, NEGLIGIBLE]: shifting an exponent is exact above it.
NEGLIGIBLE = 2.0**-900
KINDS = ("stable", "nuclear", "nuclear-frobenius", "participation", "entropy", "gram-entropy")


@dataclass(frozen=True)
class Measures:
    """What is computed of every weight: the kernel's mode, the levels of the two integer ranks."""

    mode: str = "adaptive"
    epsilons: tuple[str, ...] = ("1e-6", "1e-3")
    energy_levels: tuple[str, ...] = ("0.9", "0.99")

    def key(self) -> str:
        """The text that stands for these choices in a journal key."""
        return repr(sorted(asdict(self).items()))


@functools.lru_cache(maxsize=1)
def _opened(spec: str, trust_remote_code: bool) -> Model:
    from certify.adapters import open_model

    return open_model(spec, trust_remote_code=trust_remote_code)


@functools.lru_cache(maxsize=1)
def _by_name(spec: str, trust_remote_code: bool) -> Mapping[str, ModelMatrix]:
    return {matrix.name: matrix for matrix in _opened(spec, trust_remote_code).matrices()}


def weight_tasks(model: Model, spec: str, measures: Measures, folder: Path, *, trust: bool) -> Iterator[Task]:
    """One task per matrix of ``model``, largest first so that workers finish together."""

    def cost(matrix: ModelMatrix) -> int:
        return max(int(np.prod(factor.shape)) * min(factor.shape) for factor in matrix.factors)

    for matrix in sorted(model.matrices(), key=cost, reverse=True):
        yield Task(
            matrix.name,
            "certify.engine.matrices:certify_weight",
            (spec, trust, matrix.name, measures, str(folder)),
        )


def certify_weight(spec: str, trust: bool, name: str, measures: Measures, folder: str) -> dict[str, Any]:
    """The record of matrix ``name`` of the model at ``spec``, from the journal if it is there."""
    matrix = _by_name(spec, trust)[name]
    factors = matrix.load()
    digests = [array_digest(factor) for factor in factors]
    journal = Journal(Path(folder))
    key = digest_of(RECORD_VERSION, name, measures.key(), *digests)
    record = journal.get(key)
    if record is None:
        record = matrix_record(factors, measures)
        journal.put(key, record)
    return {**_provenance(matrix, digests), **record}


def _provenance(matrix: ModelMatrix, digests: Sequence[str]) -> dict[str, Any]:
    factors = [{**f.to_json(), "sha256": d} for f, d in zip(matrix.factors, digests, strict=True)]
    return {
        "name": matrix.name,
        "role": matrix.role,
        "stack": matrix.stack,
        "layer": matrix.layer,
        "head": matrix.head,
        "shape": list(matrix.shape),
        "factors": factors,
        "note": matrix.note,
    }


def matrix_record(factors: Sequence[np.ndarray], measures: Measures) -> dict[str, Any]:
    """Spectrum, norms and all effective ranks of A = F0 (m, n), or of A = F0 F1^T (never formed)."""
    from certify.kernel.product import singular_values_of_product
    from certify.kernel.spectrum import singular_values

    try:
        if len(factors) == 1:
            spectrum = singular_values(factors[0], mode=measures.mode)
        else:
            spectrum = singular_values_of_product(factors[0], factors[1], mode=measures.mode)
    except CertifyError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return spectrum_record(spectrum, measures)


def spectrum_record(spectrum: SingularValues, measures: Measures) -> dict[str, Any]:
    """Everything that follows from the enclosures of a spectrum, computed from its *recorded* decimals.

    Going through the decimals makes every derived number a consequence of what the reader sees.
    """
    from certify.kernel.counting import energy_ranks_of, numerical_rank_of

    recorded, again = recorded_spectrum(spectrum)
    record: dict[str, Any] = {"spectrum": recorded, "assumptions": sorted(spectrum.assumptions)}
    record["norms"] = _norms(again)
    ranks, reason = ranks_of(again)
    record["ranks"] = ranks
    if ranks is None:
        return {**record, "undefined": reason, "numerical_rank": [], "energy_rank": []}
    record["numerical_rank"] = [
        {"epsilon": e, **_integers(numerical_rank_of(again, Fraction(e)))} for e in measures.epsilons
    ]
    levels = [Fraction(level) for level in measures.energy_levels]
    record["energy_rank"] = [
        {"level": t, **_integers(rank)}
        for t, rank in zip(measures.energy_levels, energy_ranks_of(again, levels), strict=True)
    ]
    return record


def recorded_spectrum(spectrum: SingularValues) -> tuple[dict[str, Any], SingularValues]:
    """The decimals of a spectrum (exact zeros counted, not listed) and the spectrum re-read from them."""
    from certify.kernel.singular_values import SingularValues

    nonzero = int(np.count_nonzero(spectrum.upper))
    lows, ups = outward_arrays(spectrum.lower[:nonzero], spectrum.upper[:nonzero])
    low, high = floats_below(lows), floats_above(ups)
    exponent = int(np.frexp(high[0])[1]) if nonzero else 0
    low, high = np.ldexp(low, -exponent), np.ldexp(high, -exponent)
    low[low < NEGLIGIBLE] = 0.0
    high = np.maximum(high, NEGLIGIBLE)
    again = SingularValues(low, high, np.array(exponent), spectrum.assumptions)
    return {"lower": lows, "upper": ups, "exact_zeros": len(spectrum.upper) - nonzero}, again


def ranks_of(spectrum: SingularValues) -> tuple[dict[str, Any] | None, str]:
    """The effective ranks as decimals, or None with the reason (the zero matrix has none)."""
    from certify.kernel.effective_rank import effective_ranks

    if spectrum.upper.size == 0:
        return None, "the zero matrix has no effective rank"
    try:
        ranks = effective_ranks(spectrum)
    except UndefinedRank as error:
        return None, str(error)
    return {kind: enclosed(ranks[kind]) for kind in KINDS}, ""


def _norms(spectrum: SingularValues) -> dict[str, Any]:
    from certify.kernel.effective_rank import squares
    from certify.kernel.enclosure import Enclosure
    from certify.kernel.norms import sum_of

    low, high = spectrum.scaled_lower, spectrum.scaled_upper
    if low.size == 0:
        zero = enclosed(Enclosure.exact(0))
        return {"spectral": zero, "frobenius": zero, "nuclear": zero}
    unit = Fraction(2) ** int(spectrum.exponent)
    frobenius = sum_of(*squares(low, high), spectrum.assumptions).sqrt()
    return {
        "spectral": enclosed(spectrum[0]),
        "frobenius": enclosed(frobenius * unit),
        "nuclear": enclosed(sum_of(low, high, spectrum.assumptions) * unit),
    }


def _integers(interval: Any) -> dict[str, int]:
    return {"lower": int(interval.lower), "upper": int(interval.upper)}
