"""The number sqrt(R/m) that circulates as a bound. It is none, and it is only ever shown as such."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from certify.decimals import enclosed
from certify.kernel.enclosure import Enclosure

WHY = (
    "Not a valid bound: one softmax head whose attention matrices all have effective rank exactly 1 fits "
    "every labelling of Rd points, so no function of the attention matrices' rank alone can bound the gap."
)
COUNTEREXAMPLE = "N1"


def nominal(kind: str, rank: Enclosure, m: int) -> dict[str, Any]:
    """The record of sqrt(R/m) for R = the largest effective rank ``kind`` over layers and inputs."""
    return {
        "kind": kind,
        "m": m,
        "value": enclosed((rank / Fraction(m)).sqrt()),
        "valid": False,
        "why": WHY,
        "counterexample": COUNTEREXAMPLE,
    }
