"""Theorem D: the bits of a compressed head and its errors on the sample, two forms of one bound."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from certify.bounds.risk.entries import Bound, exact, judged, value_of
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
    """0-1 risk of the decoded head: Clopper-Pearson at level ``delta * 2^-bits`` (Kraft and a union bound).

    Never above the relative-entropy form D, whose value is in ``details``: both hold on the same event,
    so the smaller one is free.
    """
    margins = decoded(word, family).margins(sample)
    return counted(margins, word.length, delta, COMPRESSED, max(2, family.outputs))


def counted(
    margins: Margins,
    bits: int,
    delta: Fraction,
    subject: str,
    classes: int,
    note: str = "binomial-tail form",
    hypotheses: tuple[Mapping[str, str], ...] | None = None,
) -> Bound:
    """Theorem D from the margins of a decoded model on every unit and the bits that it was decoded from."""
    errors, m = margins.errors(), len(margins.middle)
    inputs = {
        "emp_risk": exact(Fraction(errors, m)),
        "code_bits": exact(bits),
        "m": exact(m),
        "delta": exact(delta),
    }
    level = exact(delta) * exact(Fraction(1, 1 << bits))
    tail = value_of("test-set", {"k_errors": exact(errors), "n_test": exact(m), "delta": level})
    relative, hoeffding = value_of("D", inputs), value_of("D-hoeffding", inputs)
    return Bound(
        "D",
        subject,
        "0-1",
        tail,
        m,
        delta,
        f"{bits} bits",
        inputs,
        judged("D", {}) if hypotheses is None else hypotheses,
        1 - Fraction(1, classes),
        note,
        {
            "errors": errors,
            "undecided": margins.undecided(),
            "bits": bits,
            "forms": {"binomial": enclosed(tail), "kl": enclosed(relative), "hoeffding": enclosed(hoeffding)},
        },
    )


def occam_ramp(word: Codeword, family: Family, sample: Sample, delta: Fraction, width: float) -> Bound:
    """Ramp risk of the decoded head at a width fixed before the sample, relative-entropy form."""
    risk = decoded(word, family).margins(sample).ramp_risk(width)
    inputs = {
        "emp_risk": exact(risk),
        "code_bits": exact(word.length),
        "m": exact(len(sample)),
        "delta": exact(delta),
    }
    return Bound(
        "D",
        COMPRESSED,
        f"ramp {width:g}",
        value_of("D", inputs),
        len(sample),
        delta,
        f"{word.length} bits",
        inputs,
        judged("D", {}),
        _chance(family),
        details={"bits": word.length},
    )


def _chance(family: Family) -> Fraction:
    classes = max(2, family.outputs)
    return 1 - Fraction(1, classes)
