"""What needs Coq: generated claims compile; drifted ones, lowered decimals and mutants do not."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
import sympy

from certify.bounds.risk.entries import Bound, value_of
from certify.kernel.enclosure import Enclosure
from proofs.bridge import check_report, claims
from proofs.bridge.axioms import all_assumptions, allowed, parse
from proofs.bridge.compiler import compile_text
from proofs.bridge.mutants import Mutant, judge, judge_all, mutants
from proofs.bridge.record import GOALS
from proofs.bridge.report import compiled, goals
from proofs.bridge.sentences import record
from proofs.bridge.sources import theorems
from proofs.symbols import kl_divergence, log_ratio
from proofs.theorems import THEOREMS

from .test_bridge import example_report, gibbs_record, risk_record, tail_records

pytestmark = [pytest.mark.coq, pytest.mark.usefixtures("coq")]


def compile_pieces(pieces: list[str]) -> bool:
    return compile_text(claims.HEADER + "\n".join(pieces)).ok


def test_every_generated_claim_compiles() -> None:
    outcome = compile_text(claims.claims_source())
    assert outcome.ok, outcome.first_error


@pytest.mark.parametrize("name", ["C1(i)", "C1-vector-peeled", "A1", "D", "E", "E-single"])
def test_a_drifted_bound_does_not_compile(name: str) -> None:
    """One per cent less in the part that grows with the class, in the object itself."""
    theorem = THEOREMS[name]
    changed = {
        "D": (sympy.log(2), sympy.Rational(99, 100) * sympy.log(2)),
        "E": (kl_divergence, sympy.Rational(99, 100) * kl_divergence),
        "E-single": (log_ratio, sympy.Rational(99, 100) * log_ratio),
    }
    if name in changed:
        drifted = replace(theorem, bound=theorem.bound.subs(*changed[name]))
    else:
        drifted = replace(theorem, bound=theorem.bound - theorem.parts[0][1] / 100)
    assert drifted.prefix != theorem.prefix
    piece = claims.pieces({**THEOREMS, name: drifted})[claims.identifier(name)]
    assert not compile_pieces([piece])


def test_a_drifted_derivation_does_not_compile() -> None:
    goals = json.loads(json.dumps(claims.stored_goals()))
    stored = goals["lemma-6-vector"]["conclusion"]
    good = claims.pieces(goals=goals)["derived_lemma_6_vector"]
    stored["claim"] = stored["claim"].replace("(mul (sqrt 2) (E", "(mul (mul 99/100 (sqrt 2)) (E")
    bad = claims.pieces(goals=goals)["derived_lemma_6_vector"]
    assert bad != good
    assert compile_pieces([good])
    assert not compile_pieces([bad])


def test_theorems_rest_on_the_allowed_axioms_only() -> None:
    assert set(all_assumptions(theorems())) == allowed()


def test_a_planted_axiom_is_seen() -> None:
    outcome = compile_text(
        "Axiom cheat : False.\nTheorem t : 0 = 1. Proof. destruct cheat. Qed.\n"
        'Goal True. idtac "@@t". Abort.\nPrint Assumptions t.\n'
    )
    assert outcome.ok
    assert set(parse(outcome.output)["t"]) - allowed() == {"cheat"}


def exact_value(m: int) -> mpmath.mpf:
    """The A1-peeled bound of the example report, by another road."""
    with mpmath.workdps(50):
        total = m * mpmath.mpf("1.0001") ** 2
        return 2 * mpmath.sqrt(2) * mpmath.sqrt(2 * total) / m + 2 * mpmath.sqrt(
            (mpmath.log(20) + mpmath.log(2)) / (2 * m)
        )


def test_a_printed_bound_compiles_and_lowered_in_its_last_digit_it_does_not(tmp_path: Path) -> None:
    value = exact_value(1000)
    with mpmath.workdps(50):
        printed = Decimal(mpmath.nstr(value, 40)).quantize(Decimal(10) ** -15, rounding="ROUND_CEILING")
    path = tmp_path / "report.json"
    path.write_text(json.dumps(example_report(str(printed))))
    assert [ok for _, ok in check_report(path)] == [True, True]
    path.write_text(json.dumps(example_report(str(printed - Decimal(10) ** -15))))
    answers = check_report(path)
    assert [ok for _, ok in answers] == [True, False]
    assert "at_samples" in answers[1][0]


def lowered(printed: str) -> str:
    """One unit less in the last digit."""
    value = Decimal(printed)
    return format(value - Decimal((0, (1,), int(value.as_tuple().exponent))), "f")


def test_bounds_of_a_real_report_compile_and_lowered_ones_do_not(tmp_path: Path) -> None:
    """The parts of MiniLM's report that two of its bounds are made of, as `certify report` printed them."""
    part = Path(__file__).parent / "minilm_report_part.json"
    assert [ok for _, ok in check_report(part)] == [True, True]
    report = json.loads(part.read_text(encoding="utf-8"))
    for group in report["bounds"]:
        value = group["entries"][0]["on_these_inputs"]["value"]
        value["upper"] = lowered(value["upper"])
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report))
    assert [ok for _, ok in check_report(path)] == [False, False]


def test_a_printed_risk_compiles_and_lowered_it_does_not(tmp_path: Path) -> None:
    """The inverse of the relative entropy, from one comparison."""
    path = tmp_path / "risk.json"
    path.write_text(json.dumps({"bounds": [risk_record(), risk_record(lowered("0.04438678311813341"))]}))
    assert [ok for _, ok in check_report(path)] == [True, False]


def inverse(share: str, price: mpmath.mpf) -> mpmath.mpf:
    """The inverse of the relative entropy, by bisection in 60 digits."""
    q, low, high = mpmath.mpf(share), mpmath.mpf(share), mpmath.mpf(1)
    for _ in range(190):
        p = (low + high) / 2
        small = q * mpmath.log(q / p) + (1 - q) * mpmath.log((1 - q) / (1 - p)) <= price
        low, high = (p, high) if small else (low, p)
    return high


def gibbs_value() -> mpmath.mpf:
    """The Gibbs bound of ``gibbs_record`` at its upper ends, by another road."""
    price = mpmath.mpf("333.12395207299317") + mpmath.mpf("12.342873687022319")
    price += mpmath.log((2 + mpmath.sqrt(mpmath.pi * 100000)) / mpmath.mpf("0.04"))
    return inverse(str(inverse("0.03252125", mpmath.log(100) / 800000)), price / 200000)


def tail_value(k: int, n: int, level: mpmath.mpf) -> mpmath.mpf:
    """Where the binomial distribution function at k comes down to ``level``."""
    low, high = mpmath.mpf(k) / n, mpmath.mpf(1)
    for _ in range(120):
        p = (low + high) / 2
        above = mpmath.fsum(mpmath.binomial(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1)) >= level
        low, high = (p, high) if above else (low, p)
    return high


def printed(value: mpmath.mpf) -> str:
    """18 decimals, rounded up."""
    return str(Decimal(mpmath.nstr(value, 40)).quantize(Decimal(10) ** -18, rounding="ROUND_CEILING"))


def test_gibbs_and_binomial_lines_compile_and_lowered_in_their_last_digit_they_do_not(tmp_path: Path) -> None:
    with mpmath.workdps(60):
        gibbs = printed(gibbs_value())
        tails = [
            printed(tail_value(64, 3000, mpmath.mpf(2) ** -29 / 20)),
            printed(tail_value(19, 1000, mpmath.mpf(1) / 20)),
        ]
    path = tmp_path / "risk.json"
    path.write_text(json.dumps({"bounds": [gibbs_record(gibbs), *tail_records(*tails)]}))
    assert [ok for _, ok in check_report(path)] == [True, True, True]
    low = goals({"bounds": [gibbs_record(lowered(gibbs)), *tail_records(*map(lowered, tails))]})
    assert [compiled([goal])[goal.name] for goal in low] == [False, False, False]


def test_a_bound_from_inputs_with_a_width_follows_from_its_record() -> None:
    """Ends rounded to few digits would not do: the printed bound is rounded as finely as its own width."""
    exact = {"j": 2, "L": 2, "m": 100_000, "rho": Fraction(11, 10), "c0": Fraction(1, 64)}
    inputs = {name: Enclosure.exact(value) for name, value in exact.items()}
    inputs["delta"] = Enclosure.exact(Fraction(1, 120))
    inputs["emp_risk"] = Enclosure.exact(Fraction(3, 77))
    inputs["sum_sq_scores"] = Enclosure.between(129406923.44112, 129406923.68298)
    name = "C1-vector-peeled"
    value = value_of(name, inputs)
    bound = Bound(name, "trained head", "ramp 0.5", value, 100_000, Fraction(1, 120), "norm", inputs, ())
    (goal,) = goals({"bounds": [bound.record()]})
    assert compiled([goal]) == {goal.name: True}


def test_recorded_goals_are_what_coq_shows() -> None:
    steps = record("Khintchine", ["khintchine"])["khintchine"]
    stored = json.loads((GOALS / "khintchine.json").read_text(encoding="utf-8"))["steps"]
    assert [{"sentence": s.sentence, "goal": s.goal} for s in steps] == stored


def test_fast_mutants_are_rejected() -> None:
    chosen = [m for m in mutants() if m.fast]
    assert len(chosen) >= 15
    survivors = [v.mutant.what for v in judge_all(chosen) if not v.rejected]
    assert survivors == []


def test_a_harmless_change_survives() -> None:
    """The judge can also say no: a changed comment is accepted by every file."""
    verdict = judge(
        Mutant("Numbers", "a comment", "The same claim with the last digit lowered is refused.", "As above.")
    )
    assert not verdict.rejected
