"""One bound on one risk of one model, with everything a reader needs to judge it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from certify.decimals import enclosed
from certify.errors import NotCertified
from certify.kernel.bound import evaluate
from certify.kernel.enclosure import Enclosure, certainly_less

INPUT_DIGITS = 30
Verdict = tuple[str, str]  # ("met" | "assumed" | "violated", why)

# What nobody can check from files: said by the user, and printed with the bound.
BY_THE_USER: dict[str, Verdict] = {
    "fixed-before-sample": (
        "assumed",
        "by you: everything but the trained head (features or token map, decoder, shapes, loss) was fixed "
        "before the sample was drawn.",
    ),
    "fixed-before-second-part": (
        "assumed",
        "by you: the prior was learned on the first part of the sample only, and the share was fixed "
        "beforehand.",
    ),
    "iid": (
        "assumed",
        "by you: the units were drawn independently from the distribution that the risk is about.",
    ),
    "features-frozen": ("assumed", "by you: the map to features was not trained on this sample."),
    "held-out": ("assumed", "by you: the model was final before anyone looked at the test units."),
    "independent-draws": (
        "assumed",
        "the pseudo-random numbers (Philox) are taken as independent Gaussian draws; their seed is a "
        "digest of "
        "the sample and of Q, so it cannot be chosen. Each unit gets the same number of draws: the mean of "
        "independent, not identical, 0-1 variables obeys the same Chernoff bound (Hoeffding 1956).",
    ),
    "single-draw": (
        "assumed",
        "the pseudo-random draw, seeded by a digest of the sample and of Q, is taken as one draw.",
    ),
}
BY_CONSTRUCTION: dict[str, Verdict] = {
    "loss-in-unit-interval": ("met", "0-1 loss and ramp loss lie in [0, 1]."),
    "zero-one-loss": ("met", "errors are counted; ties and undecided margins are errors."),
    "compressed-model": ("met", "the payload was decoded again and its errors counted on every unit."),
    "gaussian-noise": ("met", "relative entropy evaluated in balls from the recorded float parameters."),
}


@dataclass(frozen=True)
class Bound:
    """``value``: enclosure of the bound of theorem ``theorem`` on ``quantity``, at confidence 1 - delta.

    Bounds with the same ``subject`` (which model) and ``loss`` bound the same number and may be minimised, if
    the minimum pays; others stand side by side. ``inputs``: the theorem's inputs; ``details``: what to print.
    """

    theorem: str
    subject: str
    loss: str
    value: Enclosure
    m: int
    delta: Fraction
    complexity: str
    inputs: Mapping[str, Enclosure]
    hypotheses: tuple[Mapping[str, str], ...]
    chance: Fraction = Fraction(1, 2)
    note: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def violated(self) -> tuple[str, ...]:
        """The identifiers of violated hypotheses: with one, the number is not a bound."""
        return tuple(h["id"] for h in self.hypotheses if h["status"] == "violated")

    @property
    def status(self) -> str:
        """``"not a bound"``, ``"vacuous"`` (guessing does as well) or ``"valid"``."""
        if self.violated:
            return "not a bound"
        return "valid" if certainly_less(self.value, self.chance) else "vacuous"

    def record(self) -> dict[str, Any]:
        """JSON-able form. A number that is not a bound is not printed."""
        from proofs.theorems import THEOREMS

        theorem = THEOREMS.get(self.theorem)
        return {
            "theorem": self.theorem,
            "title": theorem.title if theorem else self.details.get("title", self.theorem),
            "subject": self.subject,
            "loss": self.loss,
            "value": None if self.violated else enclosed(self.value),
            "status": self.status,
            "m": self.m,
            "delta": str(self.delta),
            "complexity": self.complexity,
            "inputs": {name: _recorded(value) for name, value in self.inputs.items()},
            "hypotheses": [dict(h) for h in self.hypotheses],
            "note": self.note,
            **{k: v for k, v in self.details.items() if k != "title"},
        }


def _recorded(value: Enclosure) -> dict[str, str]:
    """An input, with so many digits that the printed bound follows from the record alone."""
    return {"lower": value.lower_decimal(INPUT_DIGITS), "upper": value.upper_decimal(INPUT_DIGITS)}


def judged(name: str, verdicts: Mapping[str, Verdict]) -> tuple[Mapping[str, str], ...]:
    """The hypotheses of theorem ``name`` with status and reason; each must be judged by someone."""
    from proofs.theorems import THEOREMS

    known = {**BY_THE_USER, **BY_CONSTRUCTION, **verdicts}
    hypotheses = THEOREMS[name].hypotheses
    missing = [h.id for h in hypotheses if h.id not in known]
    if missing:
        raise NotCertified(f"theorem {name} has hypotheses that nobody judged: {', '.join(missing)}")
    return tuple(
        {"id": h.id, "text": h.text, "status": known[h.id][0], "why": known[h.id][1]} for h in hypotheses
    )


def value_of(name: str, inputs: Mapping[str, Enclosure]) -> Enclosure:
    """The bound of theorem ``name`` on a risk, from its own expression, cut at the trivial 1.

    A theorem about the gap needs one more input, ``emp_risk``, which is added.
    """
    from proofs.theorems import THEOREMS

    theorem = THEOREMS[name]
    value = evaluate(theorem.prefix, inputs)
    if theorem.quantity == "gap":
        value = value + inputs["emp_risk"]
    return value if not certainly_less(1, value) else Enclosure.exact(1, value.assumptions)


def exact(value: int | float | Fraction | str) -> Enclosure:
    """The number itself, as an enclosure."""
    return Enclosure.exact(value)


STANDING = ("fixed-before-sample", "features-frozen", "fixed-before-second-part")


def without_standing(bound: Bound, why: str) -> Bound:
    """The same entry with its standing hypothesis violated: no bound, and its number is not printed."""
    hypotheses = tuple(
        {**h, "status": "violated", "why": why} if h["id"] in STANDING else h for h in bound.hypotheses
    )
    return replace(bound, hypotheses=hypotheses)
