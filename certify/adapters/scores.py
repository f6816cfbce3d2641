"""How the attention scores of one head depend on its weights, in the shape that Theorem C1 needs.

For a query row x (position p) and key rows x_t (position p_t) every covered family computes

    score_t = scale * < R(p) (W_Q^T x + b_Q),  R(p_t) (W_K^T x_t + b_K) >  +  terms free of W_Q, W_K

with R the identity, or the rotation of rotary positions. The free terms (mask, ALiBi, relative position
bias) shift the scores by something that does not depend on the trained matrix, which leaves Theorem C1 as
it is. A soft cap c*tanh(s/c) is 1-Lipschitz, so C1 holds with it too, but it ends the invariance under a
common shift: then keys may not be centred and a key bias does not drop out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class ScoreForm:
    """The score of one head as a function of its weights; see the module's formula.

    ``query_weight`` (d_query, d_head) is W_Q, ``key_weight`` (d_key, d_head) is W_K, ``query_bias`` and
    ``key_bias`` (d_head,) or None. ``scale`` is the exact float the model multiplies with (for rotary
    families that rescale cos and sin it includes that factor squared).
    ``rotary_pairs``: pairs (i, j) of head coordinates turned by a common angle; coordinates in no pair are
    not rotated. ``softcap`` and ``additive`` (a name, e.g. "relative position bias") are for the record.
    ``covered``: Theorem C1's form holds. False for query/key normalisation, for weights that serve several
    layers, and wherever the recorded queries and keys disagree with this form; ``reason`` says which.
    ``deviation``: the largest relative disagreement seen in that check.
    """

    query_weight: FloatArray
    key_weight: FloatArray
    query_bias: FloatArray | None
    key_bias: FloatArray | None
    scale: float
    rotary_pairs: tuple[tuple[int, int], ...] = ()
    qk_norm: bool = False
    softcap: float | None = None
    additive: str | None = None
    covered: bool = True
    reason: str = ""
    deviation: float = float("nan")

    @property
    def query_augmented(self) -> bool:
        """The query row is (x, 1): there is a query bias."""
        return self.query_bias is not None

    @property
    def key_augmented(self) -> bool:
        """The key row is (x_t, 1): a key bias with rotary positions or a soft cap. (Without either a key
        bias adds the same number to every score of a query and drops out of the softmax.)"""
        return self.key_bias is not None and (bool(self.rotary_pairs) or self.softcap is not None)

    @property
    def key_feature_multiplier(self) -> int:
        """F such that the key's known features have squared norm at most F * ||key row||^2.

        Exactly F pairs (cos, sin) of copies with rotation, one more for coordinates that are not rotated;
        1 without rotation.
        """
        rotated = len(self.rotary_pairs)
        return rotated + (1 if 2 * rotated < self.query_weight.shape[1] else 0)

    def blocks(self) -> list[tuple[FloatArray, FloatArray]]:
        """Exact factors (Q_b, K_b) of the augmented matrix W~ = scale * [Q_b K_b^T]_b (side by side).

        ``||W~||_F^2 = scale^2 * sum_b ||Q_b K_b^T||_F^2``. Without rotation there is one block (the weights,
        with the query bias as one more row). With rotation, for each frequency f two blocks of width 2,
        M_f = W_Q,f W_K,f^T and N_f = W_Q,f J W_K,f^T with J = [[0, -1], [1, 0]], belonging to the known
        features cos(theta_f D) x_t and sin(theta_f D) x_t (D the relative position), and one block for the
        coordinates that are not rotated. Entries are copies or negated copies of the stored numbers.
        """
        query = _with_row(self.query_weight, self.query_bias)
        key = _with_row(self.key_weight, self.key_bias if self.key_augmented else None)
        blocks = []
        for i, j in self.rotary_pairs:
            q = query[:, [i, j]]
            blocks.append((q, key[:, [i, j]]))
            blocks.append((q, np.stack([-key[:, j], key[:, i]], axis=1)))
        rotated = {i for pair in self.rotary_pairs for i in pair}
        rest = [i for i in range(query.shape[1]) if i not in rotated]
        if rest:
            blocks.append((query[:, rest], key[:, rest]))
        return blocks


def _with_row(weight: FloatArray, bias: FloatArray | None) -> FloatArray:
    return weight if bias is None else np.concatenate([weight, bias[None, :].astype(weight.dtype)], axis=0)
