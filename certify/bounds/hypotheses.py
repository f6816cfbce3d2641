"""The hypotheses of a theorem, each met, assumed or violated, with the reason.

``met`` is said only of what was checked by computation here. What nobody can check from a model and
its inputs (an independent sample, everything else fixed before it) is ``assumed``, by the user.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from certify.errors import NotCertified

Verdict = tuple[str, str]

ASSUMED: dict[str, str] = {
    "fixed-before-sample": "by you: only the named matrix may be trained on the sample, so it must be "
    "fresh. A model trained as a whole on the same sample does not satisfy this.",
    "iid": "by you: the units are whole texts or arrays, drawn independently from one distribution.",
    "loss-in-unit-interval": "by you, for the loss that you will use.",
    "loss-lipschitz": "by you: the constant given by --loss-lipschitz.",
    "features-frozen": "by you: the model's own weights are not trained on the sample.",
    "values-frozen": "by you: the value map and all layers below are not trained on the sample.",
}
GRID = (
    "met",
    "checked: the grid is fixed in the parameters, the index was computed from the upper end of the norm.",
)
EXTRA = (
    {
        "id": "real-arithmetic",
        "text": "The trained part is read as a function of real numbers; its rounding is not in the bound.",
        "kind": "model",
        "status": "assumed",
        "why": "the measured inputs are what the model computed; only the trained matrix is idealised.",
    },
    {
        "id": "future-inputs-no-larger",
        "text": "For a sample size other than that of the given inputs: no future input has a larger term "
        "than the largest of the given inputs.",
        "kind": "data",
        "status": "assumed",
        "why": "by you. The value on the given inputs does not need it.",
    },
)

POOLED_ROWS = {
    "id": "read-at-pooled-rows",
    "text": "The loss sees the trained head through its output at the pooled query rows only, and is "
    "L-Lipschitz in the mean of these outputs (before the output matrix). That is so for a read-out of "
    "this head; what stands between the head and the loss belongs to L. Below the last layer of a whole "
    "model the head's other rows reach the loss too: such a model is outside this bound.",
    "kind": "model",
    "status": "assumed",
    "why": "by you: the subject is one head read out at its pooled rows.",
}


def judged(
    name: str, verdicts: Mapping[str, Verdict], extra: tuple[dict[str, str], ...] = ()
) -> dict[str, Any]:
    """The theorem ``name`` as a record: statement, formula, constants, hypotheses with their status.

    ``verdicts``: hypothesis id -> (status, why) for those that were checked here.
    """
    from proofs.theorems import THEOREMS

    theorem = THEOREMS[name]
    base = THEOREMS[name.removesuffix("-peeled")]
    known = {**{key: ("assumed", why) for key, why in ASSUMED.items()}, "grid": GRID, **verdicts}
    missing = [h.id for h in theorem.hypotheses if h.id not in known]
    if missing:
        raise NotCertified(f"theorem {name} has hypotheses that nobody judged: {', '.join(missing)}")
    hypotheses = [
        {"id": h.id, "text": h.text, "kind": h.kind, "status": known[h.id][0], "why": known[h.id][1]}
        for h in theorem.hypotheses
    ]
    return {
        "theorem": name,
        "title": theorem.title,
        "statement": " ".join(dict.fromkeys((base.statement, theorem.statement))),
        "quantity": theorem.quantity,
        "level": theorem.level,
        "formula": theorem.prefix,
        "inputs": {symbol.name: symbol.meaning for symbol in theorem.inputs},
        "constants": [
            {"name": c.name, "value": str(c.value), "origin": c.origin, "why": c.why}
            for c in theorem.constants
        ],
        "sources": list(theorem.sources),
        "hypotheses": [*hypotheses, *({**h} for h in (*EXTRA, *extra))],
    }
