"""All bounds side by side, the minimum that may be taken, and the sentence that it allows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from certify.bounds.risk.entries import Bound, exact, value_of
from certify.bounds.risk.heads import ASSUMPTIONS, EXP_ASSUMPTION
from certify.decimals import enclosed
from certify.kernel.enclosure import Enclosure
from certify.kernel.rounding import ASSUMPTIONS as KERNEL
from certify.kernel.rounding import MODEL

SCHEMA = "certify-attention/risk/1"
CURVE = tuple(round(10 ** (k / 4)) for k in range(8, 29))
CURVED = ("D-binomial", "E", "E-split", "E-monte-carlo", "E-single")
NOT_A_BOUND = (
    "Not a valid bound: one softmax head whose attention matrices all have effective rank exactly 1 fits "
    "every labelling of Rd points, so no function of the attention matrices' rank alone can bound the gap."
)


@dataclass(frozen=True)
class Truth:
    """What is known beside the bounds: exact errors over a finite population, or an estimate."""

    text: str
    lower: Fraction
    upper: Fraction


@dataclass(frozen=True)
class Table:
    """Everything that the risk section of a report shows."""

    data: Mapping[str, Any]
    bounds: Sequence[Bound]
    delta: Fraction
    classical: Sequence[Mapping[str, Any]] = ()
    truth: Mapping[str, Truth] = field(default_factory=dict)
    certificates: Mapping[str, str] = field(default_factory=dict)
    unit: str = "unit"

    def headline(self) -> tuple[Bound, int] | None:
        """The smallest valid bound on a 0-1 risk after each of the k candidates paid delta / k.

        The heads differ, so this chooses a head to use, with a bound that holds for whichever is chosen.
        """
        candidates = [
            b for b in self.bounds if b.loss == "0-1" and not b.violated and b.theorem != "test-set"
        ]
        paid = [at_share(b, len(candidates)) for b in candidates]
        valid = [b for b in paid if b.status == "valid"]
        return (min(valid, key=lambda b: b.value.upper), len(candidates)) if valid else None

    def sentence(self) -> str:
        """What a practitioner may say."""
        best = self.headline()
        if best is None:
            return "No bound from the training sample alone is better than guessing."
        bound = best[0]
        noisy = ", each prediction drawn with fresh noise" if "Gibbs" in bound.subject else ""
        return (
            f"With {float(1 - self.delta) * 100:g} % confidence this classifier ({bound.subject}{noisy}) "
            f"errs on at most {_ceil(bound.value.upper * 100)} of 100 new {self.unit}s drawn like the "
            f"training {self.unit}s."
        )

    def terms(self) -> str:
        """Where the sentence comes from and what it rests on, or why there is none."""
        best = self.headline()
        if best is None:
            why = {h["why"] for b in self.bounds for h in b.hypotheses if h["status"] == "violated"}
            return " ".join(sorted(why))
        bound, count = best
        assumed = "; ".join(
            h["why"].removeprefix("by you: ").rstrip(".")
            for h in bound.hypotheses
            if h["status"] == "assumed"
        )
        theorem = bound.note.split(" (")[0] if bound.theorem.startswith("E") else bound.theorem
        shared = f" at delta {bound.delta} because {count} candidates share {self.delta}" if count > 1 else ""
        return (
            f"Theorem {theorem}, bound {_up(bound.value.upper)}{shared}. The statement is about that head, "
            f"on the same distribution, and rests on: {assumed}."
        )

    def paragraph(self) -> str:
        """The sentence and its terms."""
        return f"{self.sentence()} {self.terms()}".strip()

    def record(self) -> dict[str, Any]:
        """JSON-able form of the whole table."""
        best = self.headline()
        used = {*MODEL, *(a for b in self.bounds for a in b.value.assumptions)}  # MODEL: the error counts
        if self.data["kind"] == "tokens":
            used.add(EXP_ASSUMPTION)
        m = int(self.data["m"])
        return {
            "schema": SCHEMA,
            "data": dict(self.data),
            "delta": str(self.delta),
            "unit": self.unit,
            "chance": str(max((b.chance for b in self.bounds), default=Fraction(1, 2))),
            "headline": None
            if best is None
            else {"bound": best[0].record(), "candidates": best[1], "delta": str(best[0].delta)},
            "sentence": self.sentence(),
            "terms": self.terms(),
            "bounds": [b.record() for b in self.bounds],
            "minima": self.minima(),
            "curves": self.curves(),
            "classical": [dict(c) for c in self.classical],
            "nominal": {
                "formula": "sqrt(R/m), R = 1 (one query: every attention matrix has one row)"
                if self.data["kind"] == "tokens"
                else None,
                "value": enclosed(exact(Fraction(1, m)).sqrt()) if self.data["kind"] == "tokens" else None,
                "status": "not a bound",
                "why": NOT_A_BOUND,
            },
            "truth": {
                name: {"text": t.text, "lower": str(float(t.lower)), "upper": str(float(t.upper))}
                for name, t in self.truth.items()
            },
            "certificates": dict(self.certificates),
            "assumptions": {name: {**KERNEL, **ASSUMPTIONS}[name] for name in sorted(used)},
        }

    def curves(self) -> list[dict[str, Any]]:
        """The bounds of D and E, and what they would be with fewer units if bits, nats and share of errors
        were the same; the last point is the bound itself."""
        found = []
        for bound in self.bounds:
            if bound.loss == "0-1" and not bound.violated and bound.theorem in CURVED:
                sizes = [m for m in CURVE if m < bound.m]
                points = [{"m": m, "value": _up(at_size(bound, m).upper, 6)} for m in sizes]
                found.append(
                    {
                        "name": f"{bound.note if bound.theorem != 'D-binomial' else 'D'}, {bound.subject}",
                        "points": [*points, {"m": bound.m, "value": _up(bound.value.upper, 6)}],
                    }
                )
        return found

    def minima(self) -> list[dict[str, Any]]:
        """For each head and loss with several valid bounds: their minimum, each paying delta / number."""
        groups: dict[tuple[str, str], list[Bound]] = {}
        for bound in self.bounds:
            if not bound.violated:
                groups.setdefault((bound.subject, bound.loss), []).append(bound)
        rows = []
        for (subject, loss), group in groups.items():
            if len(group) > 1:
                best = min((at_share(b, len(group)) for b in group), key=lambda b: b.value.upper)
                rows.append(
                    {
                        "subject": subject,
                        "loss": loss,
                        "of": [b.theorem for b in group],
                        "best": best.theorem,
                        "value": enclosed(best.value),
                        "delta_each": str(best.delta),
                    }
                )
        return rows


def at_share(bound: Bound, parts: int) -> Bound:
    """The same bound at ``delta / parts``."""
    share = Fraction(1, parts)
    inputs = {k: v * share if k in ("delta", "delta_draws") else v for k, v in bound.inputs.items()}
    value = value_of(bound.theorem, inputs).with_assumptions(*bound.value.assumptions)
    return replace(bound, inputs=inputs, delta=bound.delta * share, value=value)


def at_size(bound: Bound, m: int) -> Enclosure:
    """What the bound would be on ``m`` units with the same bits or nats and the same share of errors, rounded
    up to a whole number where errors are counted."""
    inputs = {**bound.inputs, "m": exact(m)}
    if "k_errors" in inputs:
        inputs["k_errors"] = exact(math.ceil(Fraction(bound.details["errors"] * m, bound.m)))
    return value_of(bound.theorem, inputs)


def _ceil(percent: float) -> str:
    from certify.decimals import round_up

    return round_up(percent, 2 if percent >= 1 else 1)


def _up(value: float, digits: int = 3) -> str:
    from certify.decimals import round_up

    return round_up(value, digits)
