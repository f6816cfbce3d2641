"""The second checker of a risk certificate: its claim derived again from its payload and the sample alone.

What is checked: the digest of the sample (units, labels and their order); that the payload has the claimed
number of bits and that these alone determine its model; that no error is missing from the claimed count; the
complexity; the bound, by one evaluation at the claimed value. What nobody can check from files: that the
sample is independent, that decoder, features and shapes were fixed before it, and for a prior learned on a
first part that it was learned there only.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from .certificate import Refused, rational, read_certificate, whole
from .codeword import decode, update_of
from .counting import linear_errors, softmax_errors, updated_errors
from .formula import evaluate, kl_inverse
from .interval import Interval
from .noise import (
    ROWS_PER_DRAW,
    linear_draw_errors,
    linear_errors_of,
    linear_noise_risk,
    log_density_ratio,
    read_gaussian,
    read_prior,
    relative_entropy,
    seed_of,
    softmax_draw_errors,
    softmax_errors_of,
)
from .sample import digest, read_anchor, read_entered, read_sample
from .sixty_digits import around
from .strict_json import shown
from .tails import at_least_kl_inverse, at_least_tail_inverse

DECODERS = {"tokens": ("softmax-head",), "features": ("linear-head", "pooler-update", "base-update")}

MAX_DRAWS = 10**9
NOT_RUN = (
    " (counted on the recorded inputs of the head; that base and update compute them is NOT checked "
    "here: give --model BASE)"
)


def verify(path: Path, data: Path) -> str:
    """Derive the certificate's claim again; a sentence that says what was shown. Raises :class:`Refused`."""
    certificate = read_certificate(path)
    try:
        return _verify(certificate, data)
    except (ArithmeticError, ValueError, TypeError, LookupError, MemoryError, RecursionError) as error:
        # A certificate that is written to confuse this checker is refused like any other.
        raise Refused(f"certificate: cannot be checked ({type(error).__name__}: {error})") from error


def _verify(certificate: dict[str, Any], data: Path) -> str:
    claim, family = certificate["claim"], certificate["family"]
    kind, inputs, labels, dimension = read_sample(data)
    first = whole(claim, "first_unit", "claim")
    if digest(kind, inputs, labels, dimension) != claim.get("data_sha256"):
        raise Refused(
            "claim.data_sha256: this is not the sample of the certificate (other units, labels or order)"
        )
    inputs, labels = inputs[first:], labels[first:]
    if whole(claim, "m", "claim", 1) != len(labels):
        raise Refused(
            f"claim.m: {claim['m']} units claimed, the sample has {len(labels)} from unit {first} on"
        )
    outputs = whole(family, "outputs", "family", 1)
    if family.get("kind") not in DECODERS[kind] or whole(family, "dimension", "family") != dimension:
        raise Refused(f"family: {shown(family)} does not read {kind} of dimension {dimension}")
    if labels.max() >= max(2, outputs):
        raise Refused("family.outputs: a label has no class")
    _check_words(certificate, first)
    if certificate["theorem"] == "D":
        return _check_bits(certificate, inputs, labels, dimension, outputs, data)
    return _check_noise(certificate, kind, inputs, labels, dimension, outputs)


def _check_words(certificate: dict[str, Any], first: int) -> None:
    """What theorem, family, units and prior say must go together, whatever the numbers are."""
    theorem, kind, model = certificate["theorem"], certificate["family"]["kind"], certificate["model"]
    if certificate["claim"].get("risk") != "0-1":
        raise Refused(f"claim.risk: {shown(certificate['claim'].get('risk'))} is not a risk known here")
    if theorem != "D" and kind in ("pooler-update", "base-update"):
        raise Refused("family.kind: an updated model is certified by theorem D")
    if kind == "pooler-update" and certificate["family"]["outputs"] != 1:
        raise Refused("family.outputs: an updated layer is for two classes and one output")
    if first and theorem == "D":
        raise Refused("claim.first_unit: theorem D counts the errors on every unit")
    if "prior" not in model and first:
        raise Refused("claim.first_unit: only a prior learned on the first units allows to leave them out")
    if "prior" in model and not first:
        raise Refused("model.prior: a learned prior needs units that it was learned on, none are left out")


def _check_bits(
    certificate: dict[str, Any], inputs: Any, labels: Any, dimension: int, outputs: int, data: Path
) -> str:
    """Theorem D: the payload is decoded and its errors are counted."""
    model, claim, family = certificate["model"], certificate["claim"], certificate["family"]
    bits, payload, kind = whole(model, "bits", "model"), str(model.get("payload")), family["kind"]
    if kind == "softmax-head":
        matrices = decode(payload, bits, [(1, dimension), (dimension, outputs)])
        errors = softmax_errors(matrices[0], matrices[1], inputs, labels)
    elif kind == "linear-head":
        errors = linear_errors(decode(payload, bits, [(dimension + 1, outputs)])[0], inputs, labels)
    elif kind == "base-update":
        errors = linear_errors(update_of(certificate)[1], read_entered(data, certificate, labels), labels)
    else:
        anchor = read_anchor(data, family, dimension)
        matrices = decode(payload, bits, [anchor[0].shape, (anchor[0].shape[0] + 1, 1)])
        errors = updated_errors(matrices, anchor, inputs, labels)
    claimed = whole(claim, "errors", "claim")
    if not errors <= claimed <= len(labels):
        raise Refused(f"claim.errors: {claimed} claimed, the decoded model makes {errors} of {len(labels)}")
    delta, bound = rational(claim, "delta"), rational(claim, "bound")
    if not at_least_tail_inverse(bound, claimed, len(labels), delta, bits):
        raise Refused(
            f"claim.bound: {float(bound)} does not follow from {claimed} errors, {bits} bits and delta "
            f"{delta}"
        )
    return (
        f"risk <= {float(bound):.6g} with probability {float(1 - delta):g}: theorem D, {bits} bits, "
        f"{claimed} errors in {len(labels)} units"
    ) + (NOT_RUN if kind == "base-update" else "")


def _check_noise(
    certificate: dict[str, Any], kind: str, inputs: Any, labels: Any, dimension: int, outputs: int
) -> str:
    model, claim, theorem = certificate["model"], certificate["claim"], certificate["theorem"]
    if kind == "tokens" and outputs != 1:
        raise Refused(
            "family.outputs: noise certificates of softmax heads are for two classes and one output"
        )
    m, delta, bound = len(labels), rational(claim, "delta"), rational(claim, "bound")
    sizes = [dimension, dimension] if kind == "tokens" else [(dimension + 1) * outputs]
    q = read_gaussian(model.get("posterior"), sizes, "model.posterior")
    prior = read_prior(model, sizes)
    part = digest(kind, inputs, labels, dimension)
    confidence = delta
    if theorem == "E-single":
        risk, nats = _drawn(q, prior, kind, inputs, labels, outputs, part, claim)
    else:
        risk, confidence = _averaged(q, kind, inputs, labels, outputs, part, claim, delta)
        nats = relative_entropy(q, prior)
    root = evaluate(("sqrt", ("div", ("mul", ("pi",), str(m)), "2")), {})
    constant = ((Interval.of(2) + root) / Interval.of(confidence)).log()
    budget = (around(nats + prior[2]) + constant) / Interval.of(m)
    if not at_least_kl_inverse(bound, risk, budget):
        raise Refused(
            f"claim.bound: {float(bound)} does not follow from risk {float(risk):.6g} and "
            f"{float(nats):.6g} nats"
        )
    return (
        f"risk <= {float(bound):.6g} with probability {float(1 - delta):g}: theorem {theorem}, "
        f"{float(nats):.1f} nats, {m} units"
    )


def _drawn(
    q: Any, prior: Any, kind: str, inputs: Any, labels: Any, outputs: int, part: str, claim: dict[str, Any]
) -> tuple[Fraction, Any]:
    """(risk, nats) of the one head that the seed draws."""
    generator = np.random.Generator(np.random.Philox(key=seed_of("draw", part, q)))
    drawn = [m + s * generator.standard_normal(len(m)) for m, s in zip(q[0], q[1], strict=True)]
    errors = 0
    for start in range(0, len(labels), ROWS_PER_DRAW):
        x, y = inputs[start : start + ROWS_PER_DRAW], labels[start : start + ROWS_PER_DRAW]
        if kind == "tokens":
            w, v = (np.broadcast_to(d, (len(y), len(d))) for d in drawn)
            errors += softmax_errors_of(w, v, x, y)
        else:
            errors += linear_errors_of(drawn[0].reshape(-1, outputs), x, y)
    claimed = whole(claim, "errors", "claim")
    if not errors <= claimed <= len(labels):
        raise Refused(f"claim.errors: {claimed} claimed, the drawn model makes {errors} of {len(labels)}")
    return Fraction(claimed, len(labels)), log_density_ratio(q, prior, drawn)


def _averaged(
    q: Any,
    kind: str,
    inputs: Any,
    labels: Any,
    outputs: int,
    part: str,
    claim: dict[str, Any],
    delta: Fraction,
) -> tuple[Fraction, Fraction]:
    """(an upper end of the risk under the noise, what is left of delta)."""
    if kind == "features" and outputs == 1:
        return min(around(linear_noise_risk(q, inputs, labels)).high(), Fraction(1)), delta
    passes, claimed = whole(claim, "passes", "claim", 1), whole(claim, "errors", "claim")
    draws = passes * len(labels)
    if draws > MAX_DRAWS:
        raise Refused(f"claim.passes: {draws} draws are more than the {MAX_DRAWS} that are repeated here")
    seed = seed_of("monte-carlo", part, q)
    if kind == "tokens":
        errors = softmax_draw_errors(q, inputs, labels, passes, seed)
    else:
        errors = linear_draw_errors(q, inputs, labels, outputs, passes, seed)
    if not errors <= claimed <= draws:
        raise Refused(f"claim.errors: {claimed} claimed, the prescribed draws make {errors} of {draws}")
    budget = Interval.of(5 / delta).log() / Interval.of(draws)
    return kl_inverse(Interval.of(Fraction(claimed, draws)), budget).high(), delta * 4 / 5


def assumed(certificate: dict[str, Any]) -> str:
    """What nobody can check from the files."""
    fixed = "decoder, shapes and the map to inputs were fixed before the sample, whose units are independent"
    if "prior" in certificate["model"]:
        fixed += f"; the prior was learned on the first {certificate['claim']['first_unit']} units only"
    if certificate["family"].get("kind") == "base-update":
        fixed += f"; the certified model is {shown(certificate['claim'].get('arithmetic'))}"
    if certificate["theorem"] != "D":
        fixed += "; the prescribed pseudo-random numbers are as good as random"
    return fixed
