"""Held-out test set: the tightest bound there is, when there are units to spare."""

from __future__ import annotations

from fractions import Fraction

from certify.bounds.risk.entries import Bound, exact, judged, value_of
from certify.bounds.risk.heads import HasMargins
from certify.bounds.risk.samples import Sample


def held_out(head: HasMargins, subject: str, sample: Sample, delta: Fraction, note: str = "") -> Bound:
    """0-1 risk of one fixed head from its errors on held-out units (Clopper-Pearson)."""
    errors = head.margins(sample).errors()
    inputs = {"k_errors": exact(errors), "n_test": exact(len(sample)), "delta": exact(delta)}
    value = value_of("test-set", inputs)
    return Bound(
        "test-set",
        subject,
        "0-1",
        value,
        len(sample),
        delta,
        "none",
        inputs,
        judged("test-set", {}),
        note=note,
        details={"errors": errors},
    )


def held_out_ramp(head: HasMargins, subject: str, sample: Sample, delta: Fraction, width: float) -> Bound:
    """Ramp risk from held-out units: relative-entropy form (Clopper-Pearson is only for 0-1 losses)."""
    inputs = {
        "emp_risk": exact(head.margins(sample).ramp_risk(width)),
        "n_test": exact(len(sample)),
        "delta": exact(delta),
    }
    value = value_of("test-set-kl", inputs)
    return Bound(
        "test-set-kl",
        subject,
        f"ramp {width:g}",
        value,
        len(sample),
        delta,
        "none",
        inputs,
        judged("test-set-kl", {}),
    )
