"""Certified numbers and honest bounds for attention models.

The public functions are loaded on first use, so ``import certify`` is fast and loads no array library::

    import certify
    certify.effective_rank(A, kind="stable")      # Enclosure with .lower, .upper, .assumptions
    certify.singular_values(A).upper              # float64 array
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from certify.kernel.counting import RankInterval as RankInterval
    from certify.kernel.counting import energy_rank as energy_rank
    from certify.kernel.counting import numerical_rank as numerical_rank
    from certify.kernel.effective_rank import effective_rank as effective_rank
    from certify.kernel.effective_rank import effective_ranks as effective_ranks
    from certify.kernel.enclosure import Enclosure as Enclosure
    from certify.kernel.enclosure import certainly_less as certainly_less
    from certify.kernel.norms import EnclosureArray as EnclosureArray
    from certify.kernel.norms import frobenius_norm as frobenius_norm
    from certify.kernel.norms import nuclear_norm as nuclear_norm
    from certify.kernel.norms import spectral_norm as spectral_norm
    from certify.kernel.product import singular_values_of_product as singular_values_of_product
    from certify.kernel.singular_values import SingularValues as SingularValues
    from certify.kernel.spectrum import Adaptive as Adaptive
    from certify.kernel.spectrum import Cheap as Cheap
    from certify.kernel.spectrum import Default as Default
    from certify.kernel.spectrum import Tight as Tight
    from certify.kernel.spectrum import singular_values as singular_values

_HOME = {
    "Adaptive": "spectrum",
    "Cheap": "spectrum",
    "Default": "spectrum",
    "Enclosure": "enclosure",
    "EnclosureArray": "norms",
    "RankInterval": "counting",
    "SingularValues": "singular_values",
    "Tight": "spectrum",
    "certainly_less": "enclosure",
    "effective_rank": "effective_rank",
    "effective_ranks": "effective_rank",
    "energy_rank": "counting",
    "frobenius_norm": "norms",
    "nuclear_norm": "norms",
    "numerical_rank": "counting",
    "singular_values": "spectrum",
    "singular_values_of_product": "product",
    "spectral_norm": "norms",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'certify' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"certify.kernel.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
