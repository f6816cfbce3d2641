"""Theorem D: the bits of a compressed head and its errors on the sample, two forms of one bound."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from certify.bounds.risk.entries import Bound, Verdict, exact, judged, value_of
from certify.bounds.risk.families import Family
from certify.bounds.risk.heads import Head, Margins
from certify.bounds.risk.samples import Sample
from certify.codec.arithmetic import Codeword
from certify.codec.matrices import decode
from certify.decimals import enclosed

COMPRESSED = "compressed head"


def decoded(word: Codeword, family: Family) -> Head:
    """The head that the payload describes."""
    return family.head(decode(word, family.shapes))


def occam(word: Codeword, family: Family, sample: Sample, delta: Fraction) -> Bound:
    """0-1 risk of the decoded head, theorem D-binomial."""
    return counted(decoded(word, family).margins(sample), word.length, delta, COMPRESSED)


def counted(
    margins: Margins,
    bits: int,
    delta: Fraction,
    subject: str,
    classes: int = 2,
    note: str = "",
    verdicts: Mapping[str, Verdict] | None = None,
) -> Bound:
    """Theorem D-binomial from the margins of a decoded model on every unit and the bits that it was decoded
    from: Clopper-Pearson at level ``delta * 2^-bits`` (Kraft and a union bound).

    Never above the relative-entropy form D, whose value is in ``details``: both hold on the same event,
    so the smaller one is free.
    """
    errors, m = margins.errors(), len(margins.middle)
    common = {"code_bits": exact(bits), "m": exact(m), "delta": exact(delta)}
    inputs = {**common, "k_errors": exact(errors)}
    share = {**common, "emp_risk": exact(Fraction(errors, m))}
    value = value_of("D-binomial", inputs)
    forms = {"binomial": value, "kl": value_of("D", share), "hoeffding": value_of("D-hoeffding", share)}
    return Bound(
        "D-binomial",
        subject,
        "0-1",
        value,
        m,
        delta,
        f"{bits} bits",
        inputs,
        judged("D-binomial", verdicts or {}),
        1 - Fraction(1, classes),
        note,
        {
            "errors": errors,
            "undecided": margins.undecided(),
            "bits": bits,
            "forms": {name: enclosed(form) for name, form in forms.items()},
        },
    )


def occam_ramp(word: Codeword, family: Family, sample: Sample, delta: Fraction, width: float) -> Bound:
    """Ramp risk of the decoded head at a width fixed before the sample, relative-entropy form."""
    return counted_ramp(decoded(word, family).margins(sample), word.length, delta, COMPRESSED, width)


def counted_ramp(
    margins: Margins,
    bits: int,
    delta: Fraction,
    subject: str,
    width: float,
    note: str = "",
    verdicts: Mapping[str, Verdict] | None = None,
) -> Bound:
    """Theorem D for the ramp risk, from margins and bits as in :func:`counted`."""
    m = len(margins.middle)
    inputs = {
        "emp_risk": exact(margins.ramp_risk(width)),
        "code_bits": exact(bits),
        "m": exact(m),
        "delta": exact(delta),
    }
    return Bound(
        "D",
        subject,
        f"ramp {width:g}",
        value_of("D", inputs),
        m,
        delta,
        f"{bits} bits",
        inputs,
        judged("D", verdicts or {}),
        note=note,
        details={"bits": bits},
    )
