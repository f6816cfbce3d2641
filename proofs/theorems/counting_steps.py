"""What the derivations of Theorems C2, C3, D and E share."""

from __future__ import annotations

from proofs.build import Derivation
from proofs.lemmas.l16_pac_bayes import HYPOTHESES as PAC_HYPOTHESES

SETTING = {
    "m": "count before: number of independent units",
    "delta": "positive before: failure probability",
}
LEVEL = {"level": ("0 <= log(1/delta)", "delta is at most 1")}
MOMENT = "(2 + sqrt(pi()*m/2))"
"""The upper bound of Lemma 16 on Maurer's moment."""
PRIOR_MOMENT = {
    "xi": PAC_HYPOTHESES["xi"],
    "b": PAC_HYPOTHESES["b"],
    "r": ("inverse_roots(r, m)", "r(k) = 1/sqrt(k (m-k))"),
}
"""The hypotheses that make Lemma 16's moment explicit."""


def pac_bayes(d: Derivation, *, moment: str, share: str, divergence: str, emp: str, risk: str) -> str:
    """Lemma 16 for one prior of a family, at its share of delta."""
    bernoulli, xi, b, r, posterior = (d.assume(h) for h in ("bernoulli", "xi", "b", "r", "posterior"))
    terms = {"moment": moment, "delta": share, "KL": divergence, "emp": emp, "risk": risk}
    return d.lemma(
        "lemma-16",
        {**terms, **{name: name for name in ("m", "Z", "S", "k", "xi", "b", "r")}},
        f"{risk} <= kl_inverse({emp}, ({divergence} + log({MOMENT}/({share})))/m)",
        "Lemma 16 for one prior, at its share of delta.",
        bernoulli,
        xi,
        b,
        posterior,
        r,
    )
