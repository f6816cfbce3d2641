"""Theorem C1-vector-peeled: one head's query-key matrix, trained on a fresh sample, all else fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from certify.adapters.scores import ScoreForm
from certify.bounds.hypotheses import POOLED_ROWS, judged
from certify.bounds.peeling import Pair, PeeledBound, Settings, enclosure_of, grid_index, recorded
from certify.decimals import enclosed
from certify.errors import NotCertified
from certify.kernel.enclosure import Enclosure, largest
from certify.kernel.norms import frobenius_norm
from certify.kernel.product import frobenius_norm_of_product
from certify.kernel.rounding import growth_float

THEOREM = "C1-vector-peeled"


def trained_norm(form: ScoreForm) -> Enclosure:
    """||W~||_F of the augmented query-key matrix of one head, the score scale included.

    Without rotary positions W~ = scale * [W_Q; b_Q^T] W_K^T: a query bias is one more row, and a key bias
    adds the same number to all scores of a query, so it drops out. With rotary positions W~ has, for each
    frequency f, the blocks M_f = Q_f K_f^T and N_f = Q_f J K_f^T of width 2 (J the quarter turn), and
    ||M_f||_F^2 + ||N_f||_F^2 = tr(G_Q (G_K + J G_K J^T)) = tr(G_Q) tr(G_K) = ||Q_f||_F^2 ||K_f||_F^2,
    because G + J G J^T = tr(G) I for a symmetric 2 x 2 matrix.
    """
    query = _with_row(form.query_weight, form.query_bias)
    key = _with_row(form.key_weight, form.key_bias if form.key_augmented else None)
    square = Enclosure.exact(0)
    for pair in form.rotary_pairs:
        square = square + (frobenius_norm(query[:, pair]) * frobenius_norm(key[:, pair])) ** 2
    rotated = {column for pair in form.rotary_pairs for column in pair}
    rest = [column for column in range(query.shape[1]) if column not in rotated]
    if rest:
        square = square + frobenius_norm_of_product(query[:, rest], key[:, rest]) ** 2
    return square.sqrt() * Enclosure.exact(form.scale)


def _with_row(weight: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    return weight if bias is None else np.concatenate([weight, bias[None, :].astype(weight.dtype)], axis=0)


def centred(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows (T, k) minus a fixed centre (their float mean), as (array, radius) around the exact difference.

    Any centre is allowed by the theorem, so the rounding of the mean does not matter; the subtraction
    rounds each entry by at most one part in 2^53.
    """
    exact = rows.astype(np.float64)
    centre = exact.mean(axis=0)
    difference = exact - centre
    return difference, np.abs(difference) * 2.0**-52


def value_radius(values: np.ndarray) -> Enclosure:
    """max_t ||a_t - c||_2 of the visible value rows (S, k) around their mean.

    The k squares of a row and their sum round by at most a factor 1 + g(k) in any order, and underflow
    costs at most k 2^-1022; subtracting the centre moves a norm by at most a factor 1 +- 2^-52.
    """
    difference, _ = centred(values)
    k = difference.shape[1]
    greatest = float(np.einsum("tk,tk->t", difference, difference).max())
    if not greatest < np.inf:
        raise NotCertified("the values of this head are too large to be squared")
    factor, tiny = 1 + Fraction(growth_float(k + 1)), Fraction(k, 2**1022)
    low, high = Fraction(greatest) / factor - tiny, Fraction(greatest) * factor + tiny
    norm = Enclosure.between(max(low, Fraction(0)), high, {"binary64"}).sqrt()
    return norm * Enclosure.between(1 - Fraction(1, 2**52), 1 + Fraction(1, 2**52))


def query_norm(queries: np.ndarray, augmented: bool) -> Enclosure:
    """The root mean square over the pooled query rows (n_q, d) of ||x_q||_2, with the 1 of a query bias.

    The pooled feature is the mean of n_q rows, so the loss is L/sqrt(n_q)-Lipschitz in the joint norm.
    """
    square = frobenius_norm(queries) ** 2 / Fraction(len(queries))
    return (square + 1 if augmented else square).sqrt()


def key_norm(keys: np.ndarray, form: ScoreForm) -> Enclosure:
    """||X_c||_F of the visible key rows (S, d) of the score's features.

    Centred at the mean, where adding a number to all scores changes nothing. Around 0 with a soft cap
    (which breaks that), and with rotary positions, where the features of a key are F rotated copies
    (squared norm F ||x_t||^2, plus F if the key row carries a 1).
    """
    if not form.rotary_pairs and form.softcap is None:
        difference, radius = centred(keys)
        return frobenius_norm(difference, radius=radius)
    square = frobenius_norm(keys) ** 2
    if form.key_augmented:
        square = square + len(keys)
    return (square * form.key_feature_multiplier).sqrt()


def term(parts: Mapping[str, Pair]) -> Enclosure:
    """radius^2 query^2 keys^2 of one input, from the recorded decimals."""
    product = enclosure_of(parts["value_radius"]) * enclosure_of(parts["query_norm"])
    return (product * enclosure_of(parts["key_norm"])) ** 2


def head_entry(
    subject: Mapping[str, Any], norm: Pair, terms: Sequence[Mapping[str, Pair]], settings: Settings
) -> dict[str, Any]:
    """The record of the theorem for one head, from recorded decimals only."""
    from proofs.theorems import THEOREMS

    values = [term(parts) for parts in terms]
    total, top = sum(values[1:], values[0]), largest(values)
    index = grid_index(Fraction(norm["upper"]), Fraction(settings.grid_start), Fraction(settings.grid_ratio))
    fixed = {**settings.exact(), "norm_after": enclosure_of(norm), "j": Enclosure.exact(index)}
    bound = PeeledBound(THEOREMS[THEOREM].prefix, fixed, "sum_sq_scores", total, top)
    return {
        "subject": dict(subject),
        "norm_after": dict(norm),
        "grid_index": index,
        "sum": enclosed(total),
        "largest_term": enclosed(top),
        **recorded(bound, settings, len(values)),
    }


def not_covered(form: ScoreForm | None) -> str | None:
    """Why Theorem C1-vector does not speak of a head with this score form; None if it does."""
    if form is None:
        return "the form of its scores is not known to the model adapter"
    if not form.covered:
        return form.reason
    if form.softcap is not None and form.key_bias is not None:
        return "a soft cap together with a key bias: the bias no longer drops out of the softmax"
    return None


def violated_entry(subject: Mapping[str, Any], reason: str) -> dict[str, Any]:
    """A head whose scores are not of the theorem's form: no number, and the reason."""
    return {"subject": dict(subject), "violated": {"id": "bilinear-scores", "why": reason}}


def group(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The theorem with its hypotheses and one entry per head."""
    broken = [entry for entry in entries if "violated" in entry]
    if broken:
        verdict = ("violated", f"by {len(broken)} of {len(entries)} heads: {broken[0]['violated']['why']}")
    else:
        verdict = (
            "met",
            "checked: the queries and keys that the model computed agree with this form for every head and "
            "input, up to float rounding.",
        )
    return {**judged(THEOREM, {"bilinear-scores": verdict}, (POOLED_ROWS,)), "entries": list(entries)}
