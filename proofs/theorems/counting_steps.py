"""What the derivations of Theorems C2, C3, D and E share."""

from __future__ import annotations

SETTING = {
    "m": "count before: number of independent units",
    "delta": "positive before: failure probability",
}
LEVEL = {"level": ("0 <= log(1/delta)", "delta is at most 1")}
MOMENT = "(2 + sqrt(pi()*m/2))"
"""The upper bound of Lemma 16 on Maurer's moment."""
