"""Left and right sides of every lemma at a concrete case, in 200-bit balls or exact rationals.

A lemma's right side takes its constants as arguments, so that tests can change them. Sign averages are
enumerated.
"""

from __future__ import annotations

from tests.proofs.sides import (
    attention,
    concentration,
    contraction,
    counting,
    gaussian,
    heads,
    nets,
    ranks,
    series,
    spectra,
)
from tests.proofs.sides.common import Property

_FILES = (concentration, contraction, series, nets, attention, ranks, counting, gaussian, heads, spectra)
PROPERTIES: dict[str, Property] = {name: prop for file in _FILES for name, prop in file.PROPERTIES.items()}

__all__ = ["PROPERTIES", "Property"]
