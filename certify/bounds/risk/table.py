"""All bounds side by side, the minimum that may be taken, and the sentence that it allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from certify.bounds.risk.entries import Bound, exact, value_of
from certify.bounds.risk.heads import ASSUMPTIONS, EXP_ASSUMPTION
from certify.decimals import enclosed
from certify.kernel.enclosure import Enclosure, certainly_less

SCHEMA = "certify-attention/risk/1"
CURVE = tuple(round(10 ** (k / 4)) for k in range(8, 29))
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

    def paragraph(self) -> str:
        """What a practitioner may say."""
        best = self.headline()
        if best is None:
            why = {h["why"] for b in self.bounds for h in b.hypotheses if h["status"] == "violated"}
            return " ".join(
                ["No bound from the training sample alone is better than guessing.", *sorted(why)]
            )
        bound, count = best
        confidence = float(1 - self.delta) * 100
        share = bound.value.upper * 100
        assumed = "; ".join(
            h["why"].removeprefix("by you: ").rstrip(".")
            for h in bound.hypotheses
            if h["status"] == "assumed"
        )
        noisy = " (each prediction drawn with fresh noise)" if "Gibbs" in bound.subject else ""
        theorem = bound.note.split(" (")[0] if bound.theorem.startswith("E") else bound.theorem
        shared = f" at delta {bound.delta} because {count} candidates share {self.delta}" if count > 1 else ""
        return (
            f"With {confidence:g} % confidence the {bound.subject}{noisy} errs on at most {_ceil(share)} of "
            f"100 new {self.unit}s drawn like the training {self.unit}s (theorem {theorem}, bound "
            f"{_up(bound.value.upper)}{shared}). The statement is about that head, on the same distribution, "
            f"and rests on: {assumed}."
        )

    def record(self) -> dict[str, Any]:
        """JSON-able form of the whole table."""
        best = self.headline()
        used = sorted({a for b in self.bounds for a in b.value.assumptions})
        m = int(self.data["m"])
        return {
            "schema": SCHEMA,
            "data": dict(self.data),
            "delta": str(self.delta),
            "headline": None
            if best is None
            else {"bound": best[0].record(), "candidates": best[1], "delta": str(best[0].delta)},
            "paragraph": self.paragraph(),
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
            "assumptions": {name: ASSUMPTIONS.get(name, name) for name in used if name == EXP_ASSUMPTION},
        }

    def curves(self) -> list[dict[str, Any]]:
        """The bounds of D and E at other sample sizes, if bits, nats and the share of errors stayed the
        same."""
        found = []
        for bound in self.bounds:
            if (
                bound.loss == "0-1"
                and not bound.violated
                and bound.theorem in ("D", "E", "E-monte-carlo", "E-single")
            ):
                points = [
                    {"m": m, "value": value_of(bound.theorem, {**bound.inputs, "m": exact(m)}).upper}
                    for m in CURVE
                ]
                found.append(
                    {
                        "name": f"{bound.note if bound.theorem != 'D' else 'D'}, {bound.subject}",
                        "points": points,
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
    if bound.theorem == "D" and bound.loss == "0-1":
        level = inputs["delta"] * Fraction(1, 1 << int(bound.details["bits"]))
        k = exact(int(bound.details["errors"]))
        value = value_of("test-set", {"k_errors": k, "n_test": inputs["m"], "delta": level})
    else:
        value = value_of(bound.theorem, inputs)
        if "emp_risk" in inputs and bound.theorem in ("A1-peeled", "C1-joint"):
            value = _capped(value + inputs["emp_risk"])
    return replace(bound, inputs=inputs, delta=bound.delta * share, value=value)


def _capped(value: Enclosure) -> Enclosure:
    return exact(1) if certainly_less(1, value) else value


def _ceil(percent: float) -> str:
    from certify.decimals import round_up

    return round_up(percent, 2 if percent >= 1 else 1)


def _up(value: float) -> str:
    from certify.decimals import round_up

    return round_up(value, 3)
