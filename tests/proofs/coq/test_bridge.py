"""The bridge without Coq: text of bounds, patterns of conclusions, goals of a report."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from proofs.bridge import claims
from proofs.bridge.axioms import full_name, parse, parse_coqchk
from proofs.bridge.coq_text import NotInCoq, number, to_coq
from proofs.bridge.lemma_statements import LEMMAS, Drifted, holes
from proofs.bridge.report import goals, report_goals
from proofs.bridge.statements import STATEMENTS
from proofs.theorems import THEOREMS


def test_numbers_are_exact() -> None:
    assert number(Fraction(3, 2)) == "(3 / 2)"
    assert number(-1) == "(-1)"
    assert number(Fraction(-1, 20)) == "((-1) / 20)"


def test_text_of_a_bound() -> None:
    assert (
        to_coq("(add (mul 2 L) (sqrt (div 1 m)))", {"L": "L", "m": "(INR m)"})
        == "((2 * L) + (sqrt (1 / (INR m))))"
    )
    assert to_coq("(pow x 2/3)", {"x": "x"}) == "(power (2 / 3) x)"
    assert to_coq("(pow x 2/3)", {"x": "x"}, "interval") == "(exp ((2 / 3) * ln x))"
    assert to_coq("(pow x 3)", {"x": "x"}) == "(x ^ 3)"
    assert to_coq("(max a b c)", dict.fromkeys("abc", "y")) == "(Rmax y (Rmax y y))"


@pytest.mark.parametrize("text", ["(gamma 2)", "(frob 1)", "unknown_symbol", "(ceil 3/2)"])
def test_what_has_no_counterpart_is_refused(text: str) -> None:
    with pytest.raises(NotInCoq):
        to_coq(text, {})


def test_every_theorem_at_level_coq_has_a_statement() -> None:
    stated = {s.theorem for s in STATEMENTS}
    assert {name for name, theorem in THEOREMS.items() if theorem.level == "coq"} <= stated


def test_every_machine_checked_derivation_is_bridged() -> None:
    machine = json.loads((claims.STORED / "machine.json").read_text(encoding="utf-8"))
    assert claims.unbridged(machine) == []
    assert claims.unbridged({**machine, "lemma-99": "khintchine"}) == ["lemma-99"]


def test_the_bound_in_a_statement_is_the_objects_own() -> None:
    for statement in STATEMENTS:
        text = claims.claim_text(statement, THEOREMS[statement.theorem].prefix)
        assert "{bound}" not in text
        assert to_coq(THEOREMS[statement.theorem].prefix, statement.names) in text


def test_a_conclusion_of_another_form_is_a_drift() -> None:
    lemma = next(x for x in LEMMAS if x.derivation == "lemma-6-vector")
    stored = claims.stored_goals()["lemma-6-vector"]["conclusion"]["claim"]
    assert holes(lemma, stored) == {"c": ("sqrt", "2")}
    with pytest.raises(Drifted):
        holes(lemma, stored.replace("(abs ", "(sqrt "))
    with pytest.raises(Drifted):
        holes(lemma, stored.replace("(pow (a j) 2)", "(pow (a j) 4)"))


def test_assumptions_are_read_completely() -> None:
    output = (
        "@@A.one\nClosed under the global context\n@@A.two\nAxioms:\nClassicalDedekindReals.sig_not_dec\n"
        "  : forall P : Prop, {~ ~ P} + {~ P}\nclassic : forall P : Prop, P \\/ ~ P\nMy.cheat : False\n"
    )
    found = parse(output)
    assert found["A.one"] == []
    assert found["A.two"] == [
        "Coq.Logic.Classical_Prop.classic",
        "Coq.Reals.ClassicalDedekindReals.sig_not_dec",
        "My.cheat",
    ]
    assert full_name("cheat") == "cheat"
    with pytest.raises(RuntimeError):
        parse("@@A.three\nsomething else\n")


def test_coqchk_summary_is_read() -> None:
    clean = (
        "* Theory: Set is predicative\n\n* Axioms:\n    Coq.Logic.Classical_Prop.classic\n\n"
        "* Constants/Inductives relying on type-in-type: <none>\n"
    )
    assert parse_coqchk(clean) == ["Coq.Logic.Classical_Prop.classic"]
    assert parse_coqchk(clean.replace("\n    Coq.Logic.Classical_Prop.classic", " <none>")) == []
    with pytest.raises(RuntimeError):
        parse_coqchk(clean.replace("type-in-type: <none>", "type-in-type: Bad.thing"))
    with pytest.raises(RuntimeError):
        parse_coqchk("no summary")


def example_report(printed: str = "0.24") -> dict[str, Any]:
    """The parts of a report that the goals are made of: one bound on 100 inputs."""
    return {
        "parameters": {
            "delta": "0.05",
            "loss_lipschitz": "1",
            "outputs": 2,
            "grid_ratio": "11/10",
            "grid_start": "1",
            "samples": 1000,
        },
        "attention": {"pooled_feature_norms": [{"lower": "0.9999", "upper": "1.0001"}] * 100},
        "bounds": [
            {
                "theorem": "A1-peeled",
                "formula": THEOREMS["A1-peeled"].prefix,
                "entries": [
                    {
                        "grid_index": 0,
                        "on_these_inputs": {"m": 100, "value": {"lower": "0", "upper": "0.9"}},
                        "at_samples": {"m": 1000, "value": {"lower": "0", "upper": printed}},
                    }
                ],
            }
        ],
    }


def test_goals_of_a_report() -> None:
    found = goals(example_report())
    assert [g.where for g in found] == [
        "bounds[0].entries[0].on_these_inputs",
        "bounds[0].entries[0].at_samples",
    ]
    assert found[1].text.count("<= 0.24.") == 1
    assert "1000" in found[1].text
    assert report_goals(example_report()).count("Theorem") == 2


def test_a_bound_without_a_goal_says_why() -> None:
    report = example_report()
    report["bounds"][0]["formula"] = "(gamma m)"
    assert all("gamma" in g.reason and not g.text for g in goals(report))


def test_violated_entries_are_no_bounds() -> None:
    report = example_report()
    report["bounds"][0]["entries"][0]["violated"] = ["query-key normalisation"]
    assert goals(report) == []


def risk_record(printed: str = "0.04438678311813341") -> dict[str, Any]:
    """One line of a risk report: Theorem D with 64 errors on 3000 units and 29 bits."""
    exact = {"lower": "29", "upper": "29"}
    return {
        "theorem": "D",
        "loss": "0-1",
        "m": 3000,
        "delta": "1/20",
        "errors": 64,
        "value": {"lower": "0.0429", "upper": "0.043"},
        "forms": {"kl": {"lower": "0.044", "upper": printed}},
        "inputs": {
            "emp_risk": {"lower": "0.021333333333333333", "upper": "0.021333333333333334"},
            "code_bits": exact,
            "m": {"lower": "3E+3", "upper": "3E+3"},
            "delta": {"lower": "0.049999999999999999", "upper": "0.050000000000000001"},
        },
    }


def test_a_risk_record_is_stated_with_its_exact_inputs_and_its_own_form() -> None:
    (goal,) = goals({"bounds": [risk_record()]})
    assert goal.where == "bounds[0].forms.kl (D)"
    assert "kl_inverse (8 / 375) (((29 * (ln 2)) + (ln (1 / (1 / 20)))) / 3000)" in goal.text
    assert "<= 0.04438678311813341." in goal.text
    (same,) = goals({"bounds": [], "risk": {"bounds": [risk_record()]}})
    assert same.where == "risk.bounds[0].forms.kl (D)"
    assert same.text == goal.text


def tail_records(compressed: str, held_out: str) -> list[dict[str, Any]]:
    """Theorem D in binomial form: 64 errors of 3000, 29 bits; a test set with 19 errors of 1000."""
    numbers = {"code_bits": 29, "m": 3000, "k_errors": 64}
    delta = {"lower": "0.0499999999999999999999999999999", "upper": "0.0500000000000000000000000000001"}
    common = {"loss": "0-1", "delta": "1/20", "note": ""}
    return [
        {
            **common,
            "theorem": "D-binomial",
            "m": 3000,
            "errors": 64,
            "value": {"lower": "0", "upper": compressed},
            "forms": {"binomial": {"lower": "0", "upper": compressed}},
            "inputs": {n: {"lower": str(v), "upper": str(v)} for n, v in numbers.items()} | {"delta": delta},
        },
        {
            **common,
            "theorem": "test-set",
            "m": 1000,
            "errors": 19,
            "value": {"lower": "0", "upper": held_out},
            "inputs": {
                "k_errors": {"lower": "19", "upper": "19"},
                "n_test": {"lower": "1E+3", "upper": "1E+3"},
                "delta": delta,
            },
        },
    ]


def test_binomial_tails_are_stated_with_whole_numbers() -> None:
    compressed, held_out = goals({"bounds": tail_records("0.05", "0.0281")})
    assert "binomial_tail_inverse (Z.to_nat 64) (Z.to_nat 3000)" in compressed.text
    assert "(20 * 2 ^ 29) 5 100" in compressed.text
    assert "tail_below_correct 19 1000 1 20 281 10000" in held_out.text


def test_a_tail_with_an_error_count_that_is_not_known_exactly_has_no_goal() -> None:
    record = tail_records("0.05", "0.0281")[1]
    del record["errors"]
    record["inputs"]["k_errors"]["upper"] = "20"
    (goal,) = goals({"bounds": [record]})
    assert not goal.text
    assert "k_errors as an exact number" in goal.reason


def test_a_printed_one_claims_nothing() -> None:
    record = risk_record()
    record["forms"]["kl"]["upper"] = "1"
    assert goals({"bounds": [record]}) == []


def gibbs_record(printed: str) -> dict[str, Any]:
    """Theorem E with a Monte-Carlo estimate: an inverse inside an inverse; inputs with 30 digits."""
    inputs = {
        "kl_divergence": ("333.123952072993170000000000000", "333.123952072993170000000000001"),
        "grid_cost": ("12.3428736870223190000000000000", "12.3428736870223190000000000001"),
        "m": ("200000", "200000"),
        "delta": ("0.0399999999999999999999999999999", "0.0400000000000000000000000000001"),
        "emp_risk_draws": ("0.0325212499999999999999999999999", "0.0325212500000000000000000000001"),
        "n_draws": ("800000", "800000"),
        "delta_draws": ("0.00999999999999999999999999999999", "0.0100000000000000000000000000001"),
    }
    return {
        "theorem": "E-monte-carlo",
        "loss": "0-1",
        "m": 200000,
        "delta": "1/20",
        "value": {"lower": "0", "upper": printed},
        "inputs": {name: {"lower": low, "upper": high} for name, (low, high) in inputs.items()},
    }


def test_an_inverse_inside_an_inverse_gets_a_bound_of_its_own() -> None:
    (goal,) = goals({"bounds": [gibbs_record("0.045")]})
    assert "assert (H_inner_0 :" in goal.text
    assert goal.text.count("kl_inverse_mono") == 2
