"""The second checker of a risk certificate: one file, standard library, mpmath and numpy, nothing of ours.

``certify verify model.cert --data sample.npz`` (or ``python verify_risk.py model.cert sample.npz``)
derives the claim of a certificate again from its payload and the sample alone. Decoder, error counts,
relative entropies and bounds below were written a second time on purpose: do not replace them by imports
from the package.

How a bound is checked: not by inverting anything. A claimed p is a valid upper end if p >= q and
kl(q || p) >= c, or if P(Bin(m, p) <= k) <= delta: one evaluation at p, with 60 digits.

What is checked: the digest of the sample (units, labels and their order); that the payload has the
claimed number of bits and that these alone determine its model; that no error is missing from the
claimed count; the complexity; the bound. What nobody can check from files: that the sample is
independent, that decoder, features and shapes were fixed before it, and for a prior learned on a first
part that it was learned there only.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

FORMAT = "certify-attention/model-certificate/1"
THEOREMS = ("D", "E", "E-single")
MAX_BITS = 1 << 24
SLACK = mpmath.mpf(10) ** -40
TOLERANCE = 2.0**-38  # of the sum of absolute terms: far above every float rounding below
ROWS_PER_DRAW = 4000
DECODERS = {"tokens": ("softmax-head",), "features": ("linear-head", "pooler-update", "base-update")}
NOT_RUN = (
    " (counted on the recorded inputs of the head; that base and update compute them is NOT checked "
    "here: give --model BASE)"
)

mp = mpmath.mp.clone()
mp.dps = 60


class Refused(Exception):
    """The certificate does not prove its claim; the message names the place."""


class Unreadable(Exception):
    """Not a certificate, or not a sample."""


# --- the sample -------------------------------------------------------------------------------------


def read_sample(path: Path) -> tuple[str, Any, Any, int]:
    """(kind, inputs, labels, dimension) of an .npz with labels and tokens + dimension, or features."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        labels = arrays["labels"].astype("<i8")
        if "tokens" in arrays:
            kind, inputs, dimension = "tokens", arrays["tokens"].astype("<i2"), int(arrays["dimension"])
        else:
            kind, inputs = "features", arrays["features"].astype("<f4")
            dimension = inputs.shape[1]
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise Unreadable(f"{path}: not a sample with labels and tokens or features ({error})") from error
    if inputs.ndim != (3 if kind == "tokens" else 2) or labels.shape != (len(inputs),) or not len(labels):
        raise Unreadable(
            f"{path}: {kind} of shape {inputs.shape} and labels of shape {labels.shape} do not fit"
        )
    if kind == "features" and not np.isfinite(inputs).all():
        raise Unreadable(f"{path}: a feature is not finite")
    return kind, inputs, labels, dimension


def digest(kind: str, inputs: Any, labels: Any, dimension: int) -> str:
    """SHA-256 of the units in their order."""
    state = hashlib.sha256(f"{kind} {inputs.shape} {dimension} ".encode())
    state.update(np.ascontiguousarray(inputs).tobytes())
    state.update(np.ascontiguousarray(labels).tobytes())
    return state.hexdigest()


# --- the prefix code --------------------------------------------------------------------------------


class Reader:
    """Choices from the interval [number, number + 1) / 2^bits, as exact fractions."""

    def __init__(self, number: int, bits: int) -> None:
        self.low, self.high, self.unit = number, number + 1, 1 << bits

    def take(self, locate: Callable[[int, int], tuple[int, int, int, int]]) -> int:
        """One choice: ``locate`` gives (value, start, size, total) for the point low / unit."""
        value, start, size, total = locate(self.low, self.unit)
        self.low, self.high = self.low * total - start * self.unit, self.high * total - start * self.unit
        self.unit *= size
        if self.low < 0 or self.high > self.unit:
            raise Refused(
                "model.payload: its bits do not determine a model, some continuations decode to another one"
            )
        return value

    def integer(self, limit: int) -> int:
        """An integer with P(k) = 1 / ((k+1)(k+2))."""

        def locate(low: int, unit: int) -> tuple[int, int, int, int]:
            k = unit // (unit - low) - 1
            if k > limit:
                raise Refused(f"model.payload: holds the integer {k}, more than {limit}")
            return k, k * (k + 2), 1, (k + 1) * (k + 2)

        return self.take(locate)

    def column(self, rows: int, levels: int) -> list[int]:
        """``rows`` symbols in [-levels, levels]."""
        return [value - levels for value in self.symbols(rows, 2 * levels + 1)]

    def symbols(self, count: int, size: int) -> list[int]:
        """``count`` symbols in 0..size-1 with P(s) = (2 seen(s) + 1) / (2 seen + size)."""
        counts = [1] * size

        def locate(low: int, unit: int) -> tuple[int, int, int, int]:
            total, start = sum(counts), 0
            for value, weight in enumerate(counts):
                if low * total < (start + weight) * unit:
                    return value, start, weight, total
                start += weight
            raise Refused("model.payload: a point outside [0, 1)")

        symbols = []
        for _ in range(count):
            value = self.take(locate)
            counts[value] += 2
            symbols.append(value)
        return symbols


def read_matrix(reader: Reader, rows: int, columns: int) -> tuple[Any, Fraction]:
    """(integers (rows, columns) as int64, step): the matrix is their product."""
    rank = reader.integer(min(rows, columns))
    if rank == 0:
        return np.zeros((rows, columns), dtype=np.int64), Fraction(1)
    levels = reader.integer(4095) + 1
    index = reader.integer(480)
    exponent = index // 2 if index % 2 == 0 else -((index + 1) // 2)
    left = np.array([reader.column(rows, levels) for _ in range(rank)], dtype=np.int64)
    right = np.array([reader.column(columns, levels) for _ in range(rank)], dtype=np.int64)
    octave, quarter = divmod(exponent, 4)
    return left.T @ right, Fraction(4 + quarter, 4) * Fraction(2) ** octave


def read_payload(payload: str, bits: int) -> Reader:
    """The choices of a payload. Every continuation of its bits decodes to them, so 2^-bits is a weight
    (Kraft)."""
    try:
        data = bytes.fromhex(payload)
    except ValueError as error:
        raise Refused(f"model.payload: not hexadecimal ({error})") from error
    if not 0 <= bits <= MAX_BITS or len(data) != (bits + 7) // 8:
        raise Refused(f"model.bits: {bits} bits do not fit a payload of {len(data)} bytes")
    padded = int.from_bytes(data, "big")
    spare = 8 * len(data) - bits
    if padded & ((1 << spare) - 1):
        raise Refused(f"model.bits: the payload has more than the {bits} bits claimed")
    return Reader(padded >> spare, bits)


def decode(payload: str, bits: int, shapes: list[tuple[int, int]]) -> list[tuple[Any, Fraction]]:
    """The matrices of the payload."""
    reader = read_payload(payload, bits)
    return [read_matrix(reader, rows, columns) for rows, columns in shapes]


def decode_update(
    payload: str, bits: int, tensors: list[tuple[str, int, int]], head: tuple[int, int]
) -> tuple[dict[str, tuple[Any, Fraction]], tuple[Any, Fraction]]:
    """(changed tensors by name, head): one flag for each tensor, the changed ones, the head."""
    reader = read_payload(payload, bits)
    flags = reader.symbols(len(tensors), 2)
    changed = {
        name: read_matrix(reader, rows, columns)
        for (name, rows, columns), flag in zip(tensors, flags, strict=True)
        if flag
    }
    return changed, read_matrix(reader, *head)


def read_tensors(family: dict[str, Any]) -> list[tuple[str, int, int]]:
    """(name, rows, columns) of the tensors that an update may change, in the order of the code."""
    found = family.get("tensors")
    if not isinstance(found, list) or not all(
        isinstance(t, list) and len(t) == 3 and type(t[0]) is str and type(t[1]) is type(t[2]) is int
        and min(t[1:]) >= 1
        for t in found
    ):  # fmt: skip
        raise Refused("family.tensors: expected a list of [name, rows, columns]")
    if len({t[0] for t in found}) != len(found):
        raise Refused("family.tensors: a name stands twice")
    return [(t[0], t[1], t[2]) for t in found]


def update_of(certificate: dict[str, Any]) -> tuple[dict[str, tuple[Any, Fraction]], tuple[Any, Fraction]]:
    """(changed tensors, head) of a certificate relative to a base."""
    model, family = certificate["model"], certificate["family"]
    head = (whole(family, "hidden", "family", 1) + 1, whole(family, "outputs", "family", 1))
    bits = whole(model, "bits", "model")
    return decode_update(str(model.get("payload")), bits, read_tensors(family), head)


# --- error counts -----------------------------------------------------------------------------------


def softmax_errors(
    scores: tuple[Any, Fraction], values: tuple[Any, Fraction], tokens: Any, labels: Any
) -> int:
    """Units with margin <= 0, exactly: the sign of sum_t exp(step n_t) a_t with integers n_t and a_t.

    Floats decide the clear cases; the others are decided with 60 digits, where only a sum whose coefficients
    cancel for every distinct score is 0 (Lindemann-Weierstrass), which integers decide.
    """
    weights, step = scores[0][0], scores[1]
    n = np.where(tokens[:, :, 0] < 0, np.int64(-(1 << 40)), _sum_entries(weights[:, None], tokens)[:, :, 0])
    a = _sum_entries(values[0], tokens)
    a[tokens[:, :, 0] < 0] = 0
    drop = n - n.max(axis=1, keepdims=True)
    power = np.exp(np.maximum(drop * float(step), -700.0))
    return _count_wrong(a, labels, power, drop, step)


def _sum_entries(table: Any, tokens: Any) -> Any:
    """sum_j table[tokens[., ., j]] (n, T, K), padding adds 0."""
    extended = np.vstack([table, np.zeros((1, table.shape[1]), dtype=table.dtype)])
    total = extended[tokens[:, :, 0]]
    for j in range(1, tokens.shape[2]):
        total = total + extended[tokens[:, :, j]]
    return total


def _opponents(a: Any, labels: Any) -> list[Any]:
    """For each rival class the integers (n, T) whose weighted sum must be > 0."""
    if a.shape[2] == 1:
        return [np.where(labels == 1, 1, -1)[:, None] * a[:, :, 0]]
    own = np.take_along_axis(a, labels[:, None, None], axis=2)[:, :, 0]
    rivals = []
    for shift in range(1, a.shape[2]):
        other = (labels + shift) % a.shape[2]
        rivals.append(own - np.take_along_axis(a, other[:, None, None], axis=2)[:, :, 0])
    return rivals


def _count_wrong(a: Any, labels: Any, power: Any, drop: Any, step: Fraction) -> int:
    wrong = np.zeros(len(labels), dtype=bool)
    for rival in _opponents(a, labels):
        value, size = (power * rival).sum(axis=1), (power * np.abs(rival)).sum(axis=1)
        clear = np.abs(value) > TOLERANCE * size
        wrong |= clear & (value < 0)
        for i in np.flatnonzero(~clear & ~wrong):
            wrong[i] = not _positive(rival[i], drop[i], step)
    return int(wrong.sum())


def _positive(integers: Any, drop: Any, step: Fraction) -> bool:
    coefficients: dict[int, int] = {}
    for value, power in zip(integers.tolist(), drop.tolist(), strict=True):
        coefficients[power] = coefficients.get(power, 0) + value
    if not any(coefficients.values()):
        return False
    exponent = mp.mpf(step.numerator) / step.denominator
    total = mp.fsum(c * mp.exp(p * exponent) for p, c in coefficients.items() if c and p * step > -2000)
    if abs(total) < mp.mpf(10) ** -40:
        return False  # not decided: counted as an error, which can only refuse a true certificate
    return bool(total > 0)


def linear_errors(weight: tuple[Any, Fraction], features: Any, labels: Any) -> int:
    """Units with margin <= 0, exactly: integers times float32 are exact doubles, and math.fsum has the
    exact sign."""
    integers, last = weight[0][:-1], weight[0][-1]
    if np.abs(weight[0]).max(initial=0) >= 1 << 28:
        raise Refused("model.payload: an entry is too large for this checker")
    outputs = integers.shape[1]
    rivals = [None] if outputs == 1 else list(range(1, outputs))
    wrong = np.zeros(len(labels), dtype=bool)
    x = features.astype(np.float64)
    for shift in rivals:
        if shift is None:
            sign = np.where(labels == 1, 1, -1)
            w, b = sign[:, None] * integers[:, 0][None, :], sign * last[0]
        else:
            other = (labels + shift) % outputs
            w, b = (integers[:, labels] - integers[:, other]).T, last[labels] - last[other]
        value, size = (x * w).sum(axis=1) + b, (np.abs(x) * np.abs(w)).sum(axis=1) + np.abs(b)
        clear = np.abs(value) > TOLERANCE * size
        wrong |= clear & (value < 0)
        for i in np.flatnonzero(~clear & ~wrong):
            wrong[i] = not math.fsum([*(x[i] * w[i]).tolist(), float(b[i])]) > 0
    return int(wrong.sum())


def read_anchor(path: Path, family: dict[str, Any], dimension: int) -> tuple[Any, Any]:
    """The public layer (weight (k, d), bias (k,)) that an update is relative to, from the sample's file."""
    with np.load(path, allow_pickle=False) as file:
        if not {"anchor_weight", "anchor_bias"} <= set(file.files):
            raise Refused("family.anchor_sha256: the sample's file holds no anchor_weight and anchor_bias")
        weight, bias = file["anchor_weight"].astype("<f4"), file["anchor_bias"].astype("<f4")
    state = hashlib.sha256(f"{weight.shape} ".encode())
    state.update(np.ascontiguousarray(weight).tobytes() + np.ascontiguousarray(bias).tobytes())
    if state.hexdigest() != family.get("anchor_sha256"):
        raise Refused("family.anchor_sha256: this is not the public layer of the certificate")
    hidden = whole(family, "hidden", "family", 1)
    if weight.shape != (hidden, dimension) or bias.shape != (hidden,):
        raise Refused(f"family: an anchor of shape {weight.shape} does not fit {hidden} x {dimension}")
    return weight, bias


def read_entered(path: Path, certificate: dict[str, Any], labels: Any) -> Any:
    """What entered the head, as the sample's file records it: float32 (n, hidden)."""
    with np.load(path, allow_pickle=False) as file:
        if "entered" not in file.files:
            raise Refused("claim.entered_sha256: the sample's file holds no 'entered' (what enters the head)")
        entered = file["entered"].astype("<f4")
    width = whole(certificate["family"], "hidden", "family", 1)
    if entered.shape != (len(labels), width) or not np.isfinite(entered).all():
        raise Refused(f"family.hidden: 'entered' is not finite of shape {(len(labels), width)}")
    if digest("features", entered, labels, width) != certificate["claim"].get("entered_sha256"):
        raise Refused("claim.entered_sha256: 'entered' is not what the certificate counted its errors on")
    return entered


def updated_errors(
    matrices: list[tuple[Any, Fraction]], anchor: tuple[Any, Any], features: Any, labels: Any
) -> int:
    """Units with margin <= 0 of w^T tanh((W0 + U) x + b0) + b; what floats leave open is redone with 60
    digits."""
    (update, scale), (head, _) = matrices  # the head's own step does not move the sign
    layer = anchor[0].astype(np.float64) + update * float(scale)
    x, sign = features.astype(np.float64), np.where(labels == 1, 1, -1)
    value = np.tanh(x @ layer.T + anchor[1]) @ head[:-1, 0] + head[-1, 0]
    reach = np.abs(x) @ np.abs(layer).T + np.abs(anchor[1]) + 1.0
    size = reach @ np.abs(head[:-1, 0]) + abs(int(head[-1, 0])) + 1e-300
    clear = np.abs(value) > TOLERANCE * size
    wrong = clear & (sign * value < 0)
    for i in np.flatnonzero(~clear):
        wrong[i] = not sign[i] * _updated_logit(update, scale, head, anchor, features[i]) > mp.mpf(10) ** -40
    return int(wrong.sum())


def _updated_logit(update: Any, scale: Fraction, head: Any, anchor: tuple[Any, Any], x: Any) -> Any:
    entries, total = [mp.mpf(float(t)) for t in x], mp.mpf(int(head[-1, 0]))
    for k in np.flatnonzero(head[:-1, 0]):
        row = [
            mp.mpf(float(w)) + int(u) * number(scale) for w, u in zip(anchor[0][k], update[k], strict=True)
        ]
        inside = mp.fdot(zip(row, entries, strict=True)) + mp.mpf(float(anchor[1][k]))
        total += int(head[k, 0]) * mp.tanh(inside)
    return total


# --- Gaussian noise ---------------------------------------------------------------------------------


def read_gaussian(record: Any, sizes: list[int], path: str) -> tuple[list[Any], list[Any]]:
    """Means and deviations, float64 vectors of the given sizes."""
    groups = []
    for name in ("means", "deviations"):
        try:
            vectors = [
                np.frombuffer(base64.b64decode(text, validate=True), dtype="<f8") for text in record[name]
            ]
        except (KeyError, TypeError, ValueError, binascii.Error) as error:
            raise Refused(f"{path}.{name}: not base64 of float64 ({error})") from error
        if [len(v) for v in vectors] != sizes or not all(np.isfinite(v).all() for v in vectors):
            raise Refused(f"{path}.{name}: expected finite vectors of lengths {sizes}")
        groups.append(vectors)
    if not all((v > 0).all() for v in groups[1]):
        raise Refused(f"{path}.deviations: a deviation is not > 0")
    return groups[0], groups[1]


def read_prior(model: Any, sizes: list[int]) -> tuple[list[Any], list[list[Any]], Any]:
    """(means, variances as 60-digit numbers, cost in nats) of the prior."""
    if "prior" in model:
        means, deviations = read_gaussian(model["prior"], sizes, "model.prior")
        return means, [[mp.mpf(float(s)) ** 2 for s in v] for v in deviations], mp.mpf(0)
    exponents = model.get("prior_exponents")
    if not isinstance(exponents, list) or [type(e) for e in exponents] != [int] * len(sizes):
        raise Refused("model.prior_exponents: one whole number for each group of entries is needed")
    variances, cost = [], mp.mpf(0)
    for size, e in zip(sizes, exponents, strict=True):
        if abs(e) > 240:
            raise Refused(f"model.prior_exponents: {e} is out of range")
        variances.append([mp.mpf(4 + e % 4) / 4 * mp.mpf(2) ** (e // 4)] * size)
        index = 2 * e if e >= 0 else -2 * e - 1
        cost += mp.log((index + 1) * (index + 2))
    return [np.zeros(size) for size in sizes], variances, cost


def relative_entropy(q: tuple[list[Any], list[Any]], prior: tuple[list[Any], list[list[Any]], Any]) -> Any:
    """KL of the two Gaussians, in nats."""
    total = mp.mpf(0)
    for mean, deviation, centre, variances in zip(q[0], q[1], prior[0], prior[1], strict=True):
        for m, s, m0, v in zip(mean.tolist(), deviation.tolist(), centre.tolist(), variances, strict=True):
            ratio = mp.mpf(s) ** 2 / v
            total += (ratio - 1 - mp.log(ratio) + (mp.mpf(m) - mp.mpf(m0)) ** 2 / v) / 2
    return total


def log_density_ratio(
    q: tuple[list[Any], list[Any]], prior: tuple[list[Any], list[list[Any]], Any], drawn: list[Any]
) -> Any:
    """log of the densities' quotient at the drawn entries, in nats."""
    total = mp.mpf(0)
    for h, mean, deviation, centre, variances in zip(drawn, q[0], q[1], prior[0], prior[1], strict=True):
        for x, m, s, m0, v in zip(
            h.tolist(), mean.tolist(), deviation.tolist(), centre.tolist(), variances, strict=True
        ):
            own = mp.mpf(s) ** 2
            near, far = (mp.mpf(x) - mp.mpf(m)) ** 2 / own, (mp.mpf(x) - mp.mpf(m0)) ** 2 / v
            total += (mp.log(v / own) + far - near) / 2
    return total


def seed_of(purpose: str, sample_digest: str, q: tuple[list[Any], list[Any]]) -> int:
    """The key of the generator that the certificate had to use."""
    data = b"".join(v.astype("<f8").tobytes() for pair in zip(q[0], q[1], strict=True) for v in pair)
    return int.from_bytes(
        hashlib.sha256(f"{purpose} {sample_digest} ".encode() + data).digest()[:16], "little"
    )


def certain_draw_errors(
    q: tuple[list[Any], list[Any]], tokens: Any, labels: Any, passes: int, seed: int
) -> int:
    """Draws that are certainly errors: no honest count is smaller."""
    generator = np.random.Generator(np.random.Philox(key=seed))
    count = 0
    for _ in range(passes):
        for start in range(0, len(labels), ROWS_PER_DRAW):
            part, y = tokens[start : start + ROWS_PER_DRAW], labels[start : start + ROWS_PER_DRAW]
            w, v = (
                m + s * generator.standard_normal((len(part), len(m)))
                for m, s in zip(q[0], q[1], strict=True)
            )
            value, size = float_softmax(w, v, part)
            count += int(np.count_nonzero(np.where(y == 1, 1, -1) * value < -TOLERANCE * size))
    return count


def float_softmax(w: Any, v: Any, tokens: Any) -> tuple[Any, Any]:
    """(sum_t exp(s_t - max) a_t, a bound on the sizes of its terms) for one head per unit."""
    visible = tokens >= 0
    rows = np.arange(len(tokens))[:, None, None]
    index = np.where(visible, tokens, 0)
    s = np.where(visible, w[rows, index], 0.0).sum(axis=2)
    a = np.where(visible, v[rows, index], 0.0)
    s = np.where(visible[:, :, 0], s, -np.inf)
    power = np.exp(s - s.max(axis=1, keepdims=True))
    growth = 1.0 + tokens.shape[2] * np.abs(w).max(axis=1)
    return (power * a.sum(axis=2)).sum(axis=1), (power * np.abs(a).sum(axis=2)).sum(axis=1) * growth


def linear_noise_risk(q: tuple[list[Any], list[Any]], features: Any, labels: Any) -> Any:
    """Mean over the units of P(margin <= 0) under the noise, with 60 digits (one output)."""
    mean, variance = [mp.mpf(float(m)) for m in q[0][0]], [mp.mpf(float(s)) ** 2 for s in q[1][0]]
    total = mp.mpf(0)
    for x, y in zip(features, labels, strict=True):
        entries = [*(mp.mpf(float(t)) for t in x), mp.mpf(1)]
        centre = mp.fdot(zip(mean, entries, strict=True))
        spread = mp.sqrt(mp.fdot(variance, [t * t for t in entries]))
        total += mp.erfc((centre if y == 1 else -centre) / spread / mp.sqrt(2)) / 2
    return total / len(labels)


def certain_linear_draw_errors(
    q: tuple[list[Any], list[Any]], features: Any, labels: Any, outputs: int, passes: int, seed: int
) -> int:
    """Draws that are certainly errors: the logits of a noisy head on a unit are independent Gaussians."""
    x = np.hstack([features.astype(np.float64), np.ones((len(features), 1))])
    mean, deviation = (v[0].reshape(-1, outputs) for v in q)
    centre, spread = x @ mean, np.sqrt((x * x) @ (deviation * deviation))
    size = np.abs(x) @ np.abs(mean)
    generator = np.random.Generator(np.random.Philox(key=seed))
    count = 0
    for _ in range(passes):
        normal = generator.standard_normal(centre.shape)
        margin = class_margins(centre + spread * normal, labels)
        slack = TOLERANCE * (size + spread * np.abs(normal)).max(axis=1)
        count += int(np.count_nonzero(margin < -slack))
    return count


def class_margins(logits: Any, labels: Any) -> Any:
    """The own logit minus the largest other, for every unit; for one output +-logit."""
    if logits.shape[1] == 1:
        return np.where(labels == 1, 1, -1) * logits[:, 0]
    own = np.zeros(logits.shape, dtype=bool)
    own[np.arange(len(labels)), labels] = True
    return logits[own] - np.where(own, -np.inf, logits).max(axis=1)


# --- bounds -----------------------------------------------------------------------------------------


def kl(q: Any, p: Any) -> Any:
    """Relative entropy of two coins, 0 <= q <= p < 1."""
    first = q * mp.log(q / p) if q > 0 else mp.mpf(0)
    return first + ((1 - q) * mp.log((1 - q) / (1 - p)) if q < 1 else mp.mpf(0))


def at_least_kl_inverse(p: Any, q: Any, budget: Any) -> bool:
    """Whether p is proved to be >= max{p : kl(q || p) <= budget}."""
    if p >= 1:
        return True
    return bool(p >= q and kl(q, p) >= budget * (1 + SLACK))


def binomial_tail(k: int, m: int, p: Any) -> Any:
    """An upper bound on P(Bin(m, p) <= k) for k < m p: terms downward from k, the rest as a geometric
    series."""
    term = mp.exp(
        mp.loggamma(m + 1)
        - mp.loggamma(k + 1)
        - mp.loggamma(m - k + 1)
        + k * mp.log(p)
        + (m - k) * mp.log1p(-p)
    )
    total = term
    for i in range(k, 0, -1):
        ratio = i * (1 - p) / ((m - i + 1) * p)
        term *= ratio
        total += term
        if ratio < 1 and term * ratio / (1 - ratio) < total * SLACK:
            return total + term * ratio / (1 - ratio)
    return total


def at_least_tail_inverse(p: Any, k: int, m: int, log_delta: Any) -> bool:
    """Whether p is proved to be >= sup{p : P(Bin(m, p) <= k) >= delta}."""
    return bool(
        p >= 1 or (p * m > k and mp.log(binomial_tail(k, m, p)) * (1 - SLACK) <= log_delta * (1 + SLACK))
    )


# --- one certificate --------------------------------------------------------------------------------


def read_certificate(path: Path) -> dict[str, Any]:
    """The certificate as a dictionary with the fields that every theorem needs."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path}: not a certificate ({error})") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise Unreadable(f"{path}: not a certificate of format {FORMAT!r}")
    for name in ("family", "model", "claim"):
        if not isinstance(found.get(name), dict):
            raise Refused(f"{name}: missing")
    if found.get("theorem") not in THEOREMS:
        raise Refused(f"theorem: {found.get('theorem')!r} is not one of {', '.join(THEOREMS)}")
    return found


def whole(record: dict[str, Any], name: str, path: str, least: int = 0) -> int:
    """A whole number of the certificate."""
    value = record.get(name)
    if type(value) is not int or value < least:
        raise Refused(f"{path}.{name}: expected a whole number >= {least}, found {value!r}")
    return value


def rational(record: dict[str, Any], name: str) -> Fraction:
    """A number of the claim strictly between 0 and 1, or 1."""
    try:
        value = Fraction(str(record[name]))
    except (KeyError, ValueError, ZeroDivisionError) as error:
        raise Refused(f"claim.{name}: not a number ({error})") from error
    if not 0 < value <= 1:
        raise Refused(f"claim.{name}: {value} does not lie in (0, 1]")
    return value


def number(value: Fraction) -> Any:
    """The fraction with 60 digits."""
    return mp.mpf(value.numerator) / value.denominator


def verify(path: Path, data: Path) -> str:
    """Derive the certificate's claim again; a sentence that says what was shown. Raises :class:`Refused`."""
    certificate = read_certificate(path)
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
    if family.get("kind") not in DECODERS[kind] or family.get("dimension") != dimension:
        raise Refused(f"family: {family} does not read {kind} of dimension {dimension}")
    if family["kind"] == "pooler-update":
        if certificate["theorem"] != "D" or outputs != 1:
            raise Refused(
                "family.kind: an updated layer is certified by theorem D, for two classes and one output"
            )
        return _check_bits(certificate, "update", inputs, labels, dimension, outputs, data)
    if labels.min() < 0 or labels.max() >= max(2, outputs):
        raise Refused("family.outputs: a label has no class")
    if claim.get("risk") != "0-1":
        raise Refused(f"claim.risk: {claim.get('risk')!r} is not a risk this checker knows")
    if first and certificate["theorem"] == "D":
        raise Refused("claim.first_unit: theorem D counts the errors on every unit")
    if "prior" not in certificate["model"] and first:
        raise Refused("claim.first_unit: only a prior learned on the first units allows to leave them out")
    if "prior" in certificate["model"] and not first:
        raise Refused("model.prior: a learned prior needs units that it was learned on, none are left out")
    if family["kind"] == "base-update":
        if certificate["theorem"] != "D":
            raise Refused("family.kind: an updated base is certified by theorem D")
        return _check_bits(certificate, "base", inputs, labels, dimension, outputs, data) + NOT_RUN
    if certificate["theorem"] == "D":
        return _check_bits(certificate, kind, inputs, labels, dimension, outputs, data)
    return _check_noise(certificate, kind, inputs, labels, dimension, outputs)


def _check_bits(
    certificate: dict[str, Any],
    kind: str,
    inputs: Any,
    labels: Any,
    dimension: int,
    outputs: int,
    data: Path,
) -> str:
    model, claim, family = certificate["model"], certificate["claim"], certificate["family"]
    bits, payload = whole(model, "bits", "model"), str(model.get("payload"))
    if kind == "tokens":
        matrices = decode(payload, bits, [(1, dimension), (dimension, outputs)])
        errors = softmax_errors(matrices[0], matrices[1], inputs, labels)
    elif kind == "features":
        errors = linear_errors(decode(payload, bits, [(dimension + 1, outputs)])[0], inputs, labels)
    elif kind == "base":
        errors = linear_errors(update_of(certificate)[1], read_entered(data, certificate, labels), labels)
    else:
        anchor = read_anchor(data, family, dimension)
        matrices = decode(payload, bits, [anchor[0].shape, (anchor[0].shape[0] + 1, 1)])
        errors = updated_errors(matrices, anchor, inputs, labels)
    claimed = whole(claim, "errors", "claim")
    if claimed < errors:
        raise Refused(f"claim.errors: {claimed} claimed, the decoded model makes {errors}")
    delta, bound = rational(claim, "delta"), rational(claim, "bound")
    level = mp.log(number(delta)) - bits * mp.log(2)
    if not at_least_tail_inverse(number(bound), claimed, len(labels), level):
        raise Refused(
            f"claim.bound: {float(bound)} does not follow from {claimed} errors, {bits} bits and delta "
            f"{delta}"
        )
    return (
        f"risk <= {float(bound):.6g} with probability {float(1 - delta):g}: theorem D, {bits} bits, "
        f"{claimed} errors in {len(labels)} units"
    )


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
    confidence = number(delta)
    if theorem == "E-single":
        risk, nats = _drawn(q, prior, kind, inputs, labels, outputs, part, claim)
    else:
        risk, confidence = _averaged(q, kind, inputs, labels, outputs, part, claim, confidence)
        nats = relative_entropy(q, prior)
    constant = mp.log((2 + mp.sqrt(mp.pi * m / 2)) / confidence)
    budget = max(mp.mpf(0), nats + prior[2] + constant) / m
    if not at_least_kl_inverse(number(bound), risk, budget):
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
) -> tuple[Any, Any]:
    """(risk, nats) of the one head that the seed draws."""
    generator = np.random.Generator(np.random.Philox(key=seed_of("draw", part, q)))
    drawn = [m + s * generator.standard_normal(len(m)) for m, s in zip(q[0], q[1], strict=True)]
    errors = 0
    for start in range(0, len(labels), ROWS_PER_DRAW):
        rows = slice(start, start + ROWS_PER_DRAW)
        n, y = len(labels[rows]), labels[rows]
        if kind == "tokens":
            value, size = float_softmax(np.tile(drawn[0], (n, 1)), np.tile(drawn[1], (n, 1)), inputs[rows])
            margin = np.where(y == 1, 1, -1) * value
        else:
            x = np.hstack([inputs[rows].astype(np.float64), np.ones((n, 1))])
            weight = drawn[0].reshape(-1, outputs)
            margin, size = class_margins(x @ weight, y), (np.abs(x) @ np.abs(weight)).max(axis=1)
        errors += int(np.count_nonzero(margin < -TOLERANCE * size))
    claimed = whole(claim, "errors", "claim")
    if claimed < errors:
        raise Refused(f"claim.errors: {claimed} claimed, the drawn model certainly makes {errors}")
    return mp.mpf(claimed) / len(labels), log_density_ratio(q, prior, drawn)


def _averaged(
    q: Any, kind: str, inputs: Any, labels: Any, outputs: int, part: str, claim: dict[str, Any], delta: Any
) -> tuple[Any, Any]:
    """(risk under the noise, what is left of delta)."""
    if kind == "features" and outputs == 1:
        return linear_noise_risk(q, inputs, labels), delta
    passes, claimed = whole(claim, "passes", "claim", 1), whole(claim, "errors", "claim")
    seed = seed_of("monte-carlo", part, q)
    if kind == "tokens":
        certain = certain_draw_errors(q, inputs, labels, passes, seed)
    else:
        certain = certain_linear_draw_errors(q, inputs, labels, outputs, passes, seed)
    if claimed < certain:
        raise Refused(f"claim.errors: {claimed} claimed, the prescribed draws certainly make {certain}")
    draws = passes * len(labels)
    observed = mp.mpf(claimed) / draws
    return _kl_inverse_above(observed, mp.log(5 / delta) / draws), delta * 4 / 5


def _kl_inverse_above(q: Any, budget: Any) -> Any:
    """A number just above max{p : kl(q || p) <= budget}, by bisection."""
    low, high = q, mp.mpf(1)
    for _ in range(160):
        middle = (low + high) / 2
        if middle < 1 and kl(q, middle) < budget * (1 + SLACK):
            low = middle
        else:
            high = middle
    return high


def assumed(certificate: dict[str, Any]) -> str:
    """What nobody can check from the files."""
    fixed = "decoder, shapes and the map to inputs were fixed before the sample, whose units are independent"
    if "prior" in certificate["model"]:
        fixed += f"; the prior was learned on the first {certificate['claim']['first_unit']} units only"
    if certificate["family"].get("kind") == "base-update":
        fixed += f"; the certified model is {certificate['claim'].get('arithmetic')}"
    if certificate["theorem"] != "D":
        fixed += "; the prescribed pseudo-random numbers are as good as random"
    return fixed


def main(arguments: list[str]) -> int:
    """Print what was shown (0), or why the certificate is refused (1) or cannot be read (2)."""
    if len(arguments) != 2:
        print("usage: verify_risk.py model.cert sample.npz", file=sys.stderr)
        return 2
    try:
        print("verified:", verify(Path(arguments[0]), Path(arguments[1])))
        print("assumed: ", assumed(read_certificate(Path(arguments[0]))))
    except Refused as refusal:
        print(f"refused: {refusal}", file=sys.stderr)
        return 1
    except Unreadable as error:
        print(f"{error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
