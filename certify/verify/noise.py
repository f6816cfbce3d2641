"""Gaussian noise on a model: relative entropies, and errors of the draws that a certificate prescribes."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from .certificate import Refused
from .counting import TOLERANCE, tolerance
from .sixty_digits import HAIR, mp, number

ROWS_PER_DRAW = 4000


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


def softmax_draw_errors(
    q: tuple[list[Any], list[Any]], tokens: Any, labels: Any, passes: int, seed: int
) -> int:
    """Errors of the prescribed draws: a fresh head for every unit and pass."""
    generator = np.random.Generator(np.random.Philox(key=seed))
    count = 0
    for _ in range(passes):
        for start in range(0, len(labels), ROWS_PER_DRAW):
            part, y = tokens[start : start + ROWS_PER_DRAW], labels[start : start + ROWS_PER_DRAW]
            w, v = (
                m + s * generator.standard_normal((len(part), len(m)))
                for m, s in zip(q[0], q[1], strict=True)
            )
            count += softmax_errors_of(w, v, part, y)
    return count


@np.errstate(over="ignore", invalid="ignore")  # what overflows is undecided and asked of 60 digits
def softmax_errors_of(w: Any, v: Any, tokens: Any, labels: Any) -> int:
    """Units whose own head (scores w, values v, one row for each unit) has a margin <= 0.

    Floats decide what they can; for the others the draws are exact numbers, taken with 60 digits.
    """
    sign = np.where(labels == 1, 1, -1)
    value, size = float_softmax(w, v, tokens)
    slack = TOLERANCE * size + 1e-290 * np.abs(v).max(axis=1)
    return _decided(sign * value, slack, lambda i: _softmax_positive(w[i], v[i], tokens[i], int(sign[i])))


def _decided(margin: Any, slack: Any, positive: Callable[[int], bool]) -> int:
    """Margins that are not > 0: what lies within ``slack`` of 0 (or is NaN) is asked of ``positive``."""
    wrong = margin < -slack
    open_ = ~(wrong | (margin > slack))
    return int(np.count_nonzero(wrong)) + sum(not positive(int(i)) for i in np.flatnonzero(open_))


def _softmax_positive(w: Any, v: Any, tokens: Any, sign: int) -> bool:
    visible = [[j for j in token.tolist() if j >= 0] for token in tokens]
    visible = [token for token in visible if token]
    scores = [mp.fsum(mp.mpf(float(w[j])) for j in token) for token in visible]
    top = max(scores)
    terms = [
        mp.exp(s - top) * mp.fsum(mp.mpf(float(v[j])) for j in token)
        for s, token in zip(scores, visible, strict=True)
    ]
    return bool(sign * mp.fsum(terms) > number(HAIR) * mp.fsum(terms, absolute=True))


def float_softmax(w: Any, v: Any, tokens: Any) -> tuple[Any, Any]:
    """(sum_t exp(s_t - max) a_t, a bound on the sizes of its terms) for one head per unit."""
    visible = tokens >= 0
    rows = np.arange(len(tokens))[:, None, None]
    index = np.where(visible, tokens, 0)
    s = np.where(visible, w[rows, index], 0.0).sum(axis=2)
    a = np.where(visible, v[rows, index], 0.0)
    s = np.where(visible[:, :, 0], s, -np.inf)
    power = np.exp(s - s.max(axis=1, keepdims=True))
    growth = 1.0 + tokens.shape[2] ** 2 * np.abs(w).max(axis=1)
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


@np.errstate(over="ignore", invalid="ignore")  # what overflows is undecided and asked of 60 digits
def linear_draw_errors(
    q: tuple[list[Any], list[Any]], features: Any, labels: Any, outputs: int, passes: int, seed: int
) -> int:
    """Errors of the prescribed draws: the logits of a noisy head on a unit are independent Gaussians."""
    x = np.hstack([features.astype(np.float64), np.ones((len(features), 1))])
    mean, deviation = (v[0].reshape(-1, outputs) for v in q)
    centre, spread = x @ mean, np.sqrt((x * x) @ (deviation * deviation))
    size = np.abs(x) @ np.abs(mean)
    generator = np.random.Generator(np.random.Philox(key=seed))
    count = 0
    for _ in range(passes):
        normal = generator.standard_normal(centre.shape)
        logits = centre + spread * normal
        slack = tolerance(x.shape[1]) * (size + spread * np.abs(normal)).max(axis=1) + 1e-100

        def positive(i: int, normal: Any = normal) -> bool:
            exact = [mp.mpf(t) for t in x[i].tolist()]
            middle = [mp.fdot(exact, _numbers(mean[:, k])) for k in range(outputs)]
            width = [
                mp.sqrt(mp.fdot([t * t for t in exact], [s * s for s in _numbers(deviation[:, k])]))
                for k in range(outputs)
            ]
            drawn = [c + s * n for c, s, n in zip(middle, width, _numbers(normal[i]), strict=True)]
            return _margin_positive(drawn, int(labels[i]))

        count += _decided(class_margins(logits, labels), slack, positive)
    return count


@np.errstate(over="ignore", invalid="ignore")  # what overflows is undecided and asked of 60 digits
def linear_errors_of(weight: Any, features: Any, labels: Any) -> int:
    """Units on which the drawn head (d + 1, K), its bias as last row, has a margin <= 0."""
    x = np.hstack([features.astype(np.float64), np.ones((len(features), 1))])
    slack = tolerance(x.shape[1]) * (np.abs(x) @ np.abs(weight)).max(axis=1) + 1e-290

    def positive(i: int) -> bool:
        exact = _numbers(x[i])
        logits = [mp.fdot(exact, _numbers(weight[:, k])) for k in range(weight.shape[1])]
        return _margin_positive(logits, int(labels[i]))

    return _decided(class_margins(x @ weight, labels), slack, positive)


def _numbers(x: Any) -> list[Any]:
    return [mp.mpf(t) for t in x.tolist()]


def _margin_positive(logits: list[Any], label: int) -> bool:
    """Whether the own logit is the largest, by more than 60 digits could be wrong."""
    if len(logits) == 1:
        own, other = (logits[0], mp.mpf(0)) if label == 1 else (mp.mpf(0), logits[0])
    else:
        own, other = logits[label], max(v for k, v in enumerate(logits) if k != label)
    return bool(own - other > number(HAIR) * max(abs(own), abs(other)))


def class_margins(logits: Any, labels: Any) -> Any:
    """The own logit minus the largest other, for every unit; for one output +-logit."""
    if logits.shape[1] == 1:
        return np.where(labels == 1, 1, -1) * logits[:, 0]
    own = np.zeros(logits.shape, dtype=bool)
    own[np.arange(len(labels)), labels] = True
    return logits[own] - np.where(own, -np.inf, logits).max(axis=1)
