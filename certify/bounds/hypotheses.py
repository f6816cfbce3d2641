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
    "fixed-before-sample": "by you: only the named matrix may be trained on the sample, so the sample must be "
    "fresh. A model trained as a whole on the same sample does not satisfy this.",
    "iid": "by you: the units are whole texts or arrays, drawn independently from one distribution.",
    "loss-in-unit-interval": "by you, for the loss that you will use.",
    "loss-lipschitz": "by you: the constant given by --loss-lipschitz.",
    "features-frozen": "by you: the model's own weights are not trained on the sample.",
    "values-frozen": "by you: the value map and all layers below are not trained on the sample.",
}
GRID = (
    "met",
    "checked: the grid is fixed in the report's parameters, and the index was computed from the upper end of the norm.",
)
EXTRA = (
    {
        "id": "real-arithmetic",
        "text": "The trained part is read as a function of real numbers; its floating-point rounding is not in the bound.",
        "kind": "model",
        "status": "assumed",
        "why": "the measured inputs are exactly the numbers the model computed; only the trained matrix is idealised.",
    },
    {
        "id": "future-inputs-no-larger",
        "text": "For a sample size other than that of the given inputs: no future input has a larger measured term "
        "than the largest of the given inputs.",
        "kind": "data",
        "status": "assumed",
        "why": "by you. The value on the given inputs does not need it.",
    },
)


def judged(name: str, verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
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
        "hypotheses": [*hypotheses, *({**h} for h in EXTRA)],
    }
