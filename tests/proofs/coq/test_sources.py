"""The Coq sources and what is recorded about them agree, and no proof is left open."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from proofs.bridge import record, recorded, sources
from proofs.bridge.axioms import allowed
from proofs.bridge.compiler import ROOT, THEORIES
from proofs.bridge.mutants import Mutant, mutants, mutated
from proofs.bridge.sentences import sentences, without_comments
from proofs.bridge.statements import STATEMENTS

FILES = sorted(THEORIES.glob("*.v"))
RECORDED = json.loads(record.TABLE.read_text(encoding="utf-8"))
OPEN_PROOF = re.compile(
    r"\b(Admitted|admit|Axioms?|Parameters?|Conjecture|give_up|Unset Guard Checking|bypass_check)\b"
)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_no_open_proof_and_no_axiom(path: Path) -> None:
    assert not OPEN_PROOF.search(without_comments(path.read_text(encoding="utf-8")))


def test_the_search_for_open_proofs_finds_them() -> None:
    for text in (
        "Lemma x : False. Admitted.",
        "Axiom cheat : False.",
        "Proof. admit. Qed.",
        "Parameter p : False.",
    ):
        assert OPEN_PROOF.search(without_comments(text))
    assert not OPEN_PROOF.search(
        without_comments("(* no Axiom and no Admitted *) Lemma x : True. Proof. exact I. Qed.")
    )


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_hypotheses_and_variables_only_inside_sections(path: Path) -> None:
    """Outside a section, Variable and Hypothesis would be axioms."""
    depth = 0
    for sentence in sentences(path.read_text(encoding="utf-8")):
        word = sentence.split()[0]
        depth += word == "Section"
        depth -= word == "End"
        if word in ("Variable", "Variables", "Hypothesis", "Hypotheses", "Context"):
            assert depth > 0, sentence
    assert depth == 0


def test_every_theorem_says_in_words_what_it_says() -> None:
    silent = [f"{n.file}.{n.name}" for n in sources.theorems() if len(n.words) < 15]
    assert silent == []


def test_names_are_unique() -> None:
    names = [n.name for n in sources.theorems()]
    assert len(names) == len(set(names))


def test_reading_order_respects_what_is_needed() -> None:
    ordered = sources.modules()
    for name in ordered:
        for needed in sources.requires(THEORIES / f"{name}.v"):
            assert ordered.index(needed) < ordered.index(name)
    assert "Khintchine" in ordered[: ordered.index("VectorContraction")]
    assert "Main" in sources.dependents("Khintchine")
    assert "Khintchine" not in sources.dependents("Main")


def test_the_recorded_table_is_of_these_sources() -> None:
    """Run `make -C proofs/coq record` after a change of a theory."""
    stale = sorted(
        {
            e["file"]
            for e in RECORDED["theorems"]
            if e["source_sha256"] != sources.digests()[Path(e["file"]).stem]
        }
    )
    assert stale == []
    assert [e["name"] for e in RECORDED["theorems"]] == [n.name for n in sources.theorems()]
    assert [e["words"] for e in RECORDED["theorems"]] == [n.words for n in sources.theorems()]


def test_recorded_axioms_are_allowed() -> None:
    assert len(allowed()) == 4
    for entry in RECORDED["theorems"]:
        assert set(entry["axioms"]) <= allowed(), entry["name"]
        assert entry["statement"]
        assert entry["conclusion"]


def test_the_reference_page_is_the_generated_one() -> None:
    assert record.PAGE.read_text(encoding="utf-8") == record.page(RECORDED)


def test_recorded_goals_are_of_these_sources() -> None:
    found = sorted(p.stem for p in record.GOALS.glob("*.json"))
    assert found == sorted(record.HEADLINE_PROOFS)
    size = 0
    for name in found:
        path = record.GOALS / f"{name}.json"
        size += path.stat().st_size
        data = json.loads(path.read_text(encoding="utf-8"))
        assert data["source_sha256"] == sources.digests()[Path(data["file"]).stem], name
        steps = data["steps"]
        assert steps[0]["sentence"].split()[1] == name
        assert steps[0]["goal"], name
        assert steps[-1] == {"sentence": "Qed.", "goal": ""}
    assert size < 3_000_000


def test_named_theorems_exist() -> None:
    names = {n.name for n in sources.theorems()}
    machine = json.loads((ROOT.parent / "stored" / "machine.json").read_text(encoding="utf-8"))
    assert set(machine.values()) <= names
    assert {s.coq for s in STATEMENTS} <= names
    assert RECORDED["claims"] == record.claims()


def test_every_mutant_changes_one_place() -> None:
    chosen = mutants()
    assert len(chosen) >= 60
    for mutant in chosen:
        assert mutated(mutant) != (THEORIES / f"{mutant.file}.v").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="occurs 0 times"):
        mutated(Mutant("Khintchine", "nothing", "no such text", "x"))


@pytest.mark.parametrize("needed", ["Khintchine", "Maurer", "McDiarmid", "C1(i)", "Occam"])
def test_the_constants_that_matter_are_mutated(needed: str) -> None:
    assert any(mutant.what.startswith(needed) for mutant in mutants())


def test_premises_are_split_at_the_outermost_arrows() -> None:
    hypotheses, conclusion = record.premises(
        "forall (a : R) (f : R -> R), 0 < a -> (forall x : R, x > 0 -> f x > 0) -> f a > 0"
    )
    assert hypotheses == ["0 < a", "(forall x : R, x > 0 -> f x > 0)"]
    assert conclusion == "f a > 0"


def test_sentences_are_split_as_coq_splits_them() -> None:
    text = (
        'Lemma x : 1.5 <= 2. (* not. here *)\nProof.\n  split.\n  - idtac "a. b". { auto. }\n  ++ lra.\nQed.'
    )
    assert sentences("2:{ auto. }") == ["2:{", "auto.", "}"]
    assert sentences(text) == [
        "Lemma x : 1.5 <= 2.",
        "Proof.",
        "split.",
        "-",
        'idtac "a. b".',
        "{",
        "auto.",
        "}",
        "++",
        "lra.",
        "Qed.",
    ]


def test_standing_says_what_was_run_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = recorded.standing()
    assert found.recorded == len(RECORDED["theorems"])
    assert found.stale == ()
    monkeypatch.setattr(recorded, "digests", lambda: {**sources.digests(), "Khintchine": "0" * 64})
    assert recorded.standing().stale == ("Khintchine",)
    assert "Khintchine" in recorded.standing().sentence
    source = tmp_path / "A.v"
    source.write_text("")
    monkeypatch.setattr(recorded, "THEORIES", tmp_path)
    monkeypatch.setattr(recorded, "digests", sources.digests)
    assert not recorded.standing().compiled
    assert "not run again here" in recorded.standing().sentence
    (tmp_path / "A.vo").write_text("")
    assert recorded.standing().compiled
    assert "compiled on this machine" in recorded.standing().sentence
