"""Every result as the lesson shows it, read from the checked derivations and the theorem records.

The only file of the lesson that knows how ``proofs`` stores its objects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sympy

from proofs import library
from proofs.export import from_prefix, read_nested, to_prefix
from proofs.lessons.notation import Written, numeric_factors, read, sides, spell
from proofs.records import Constant
from proofs.theorems import THEOREMS

LEVEL_WORDS = {
    "coq": "machine-checked",
    "kernel": "checked by our kernel",
    "interval": "checked by intervals",
    "cited": "cited",
    "paper": "proved on paper",
    "failed": "does not check",
}
LEVEL_MEANING = {
    "coq": "The proof assistant Coq has checked this, down to its axioms. To doubt it is to doubt Coq's "
    "small kernel or the way the statement is written down. Coq has a proof of its own: steps that are shown "
    "here may stand at another level, and the result is machine-checked all the same.",
    "kernel": "Our own small symbolic kernel has re-checked this step by exact rules. It shares no code "
    "with what wrote the "
    "step.",
    "interval": "A numeric inequality, proved over a whole box of values by arithmetic that rounds outward.",
    "cited": "Proved in the literature, at the place that is named. Not proved again here.",
    "paper": "Proved in words, in full, in this project. People have read it; no machine has.",
    "failed": "The last check of the derivation refused it. Do not rely on it.",
}
_RESULT_KINDS = (("lemma", "lemma"), ("complexity", "lemma"), ("proposition", "counterexample"))
_COQ = Path(__file__).parent.parent / "coq"


@dataclass(frozen=True)
class Step:
    """One checked step, ready to be shown."""

    id: str
    claim: Written
    rule: str
    why: str
    level: str
    premises: tuple[str, ...]
    uses: str
    coq: tuple[str, ...] = ()
    prefix: str = ""
    """The claim as prefix text."""
    times: tuple[str, ...] = ()
    """What each premise is multiplied by, as prefix text."""
    at: str = ""
    """The value that a free parameter takes, as prefix text."""
    variable: str = ""


@dataclass(frozen=True)
class Entry:
    """A lemma, theorem or counterexample, ready to be shown."""

    name: str
    kind: str
    title: str
    statement: str
    formulas: tuple[tuple[str, Written], ...]
    hypotheses: tuple[str, ...]
    level: str
    conditions: tuple[Written, ...] = ()
    """The hypotheses as formulas, in the same order, where they have one."""
    idea: str = ""
    symbols: tuple[tuple[Written, str], ...] = ()
    constants: tuple[Constant, ...] = ()
    steps: tuple[Step, ...] = ()
    needs: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    coq: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()
    """The explicit constants of a lemma's conclusion, summand by summand, as prefix text."""
    prefixes: Mapping[str, str] = field(default_factory=dict)

    @property
    def anchor(self) -> str:
        """An id for pages."""
        return "result-" + re.sub(r"[^a-z0-9]+", "-", self.name.lower().replace("'", " prime")).strip("-")

    @property
    def heading(self) -> str:
        """Name and title."""
        kind = {"lemma": "", "counterexample": "Proposition ", "theorem": "Theorem "}[self.kind]
        if not self.name[0].isupper():
            return f"{self.name.replace('-', ' ').capitalize()}: {self.title}"
        return f"{kind}{self.name}: {self.title}"

    @property
    def last_term(self) -> str:
        """The last summand of a conclusion's right side, as prefix text: the confidence part of a
        deviation bound."""
        tree = read_nested(self.prefixes["right"])
        return spell(tree[-1] if isinstance(tree, tuple) and tree[0] == "add" else tree)

    def step(self, identifier: str) -> Step:
        """The step with that id; a ``KeyError`` lists those there are."""
        for step in self.steps:
            if step.id == identifier:
                return step
        raise KeyError(f"{self.name} has no step {identifier!r}; it has {[s.id for s in self.steps]}")

    def constant(self, name: str) -> Constant:
        """The constant called ``name``, or the lemma's factor number ``name``; a ``KeyError`` lists
        those there are."""
        if name.isdigit() and 1 <= int(name) <= len(self.factors):
            return self.paid()[int(name) - 1]
        for constant in self.constants:
            if constant.name == name:
                return constant
        raise KeyError(f"{self.name} has no constant {name!r}; it has {[c.name for c in self.constants]}")

    def paid(self) -> tuple[Constant, ...]:
        """What the ledger lists: a theorem's constants, or the explicit factors of a lemma."""
        if self.constants or self.kind == "counterexample":
            return self.constants
        why = self.statement.split(". ")[0].rstrip(".") + "."
        return tuple(Constant(self.title, from_prefix(factor), self.name, why) for factor in self.factors)


RULE_WORDS = {
    "hypothesis": "a hypothesis of the result",
    "lemma": "an earlier result",
    "cite": "a result from the literature",
    "axiom": "a rule of averages and suprema",
    "paper": "an argument in words",
    "algebra": "both sides are the same expression",
    "sign": "the difference is visibly not negative",
    "combine": "the lines are added up",
    "monotone": "something larger is put in an increasing place",
    "optimise": "the free parameter is set to its best value",
    "specialise": "a general statement is used at one value",
    "grid": "the failure events are united over a grid",
    "interval": "a numeric inequality over a whole range",
}


def reason_words(step: Step) -> str:
    """The rule of a step in words, as it acts in this step."""
    if step.rule == "combine" and len(step.premises) == 1:
        return "both sides of one line are treated alike"
    if step.rule == "monotone" and step.prefix.startswith("(eq"):
        return "equal things are put in each other's place"
    return RULE_WORDS[step.rule]


def display_name(derivation: str) -> str:
    """``lemma-3c`` is Lemma 3(c), ``proposition-n1`` is N1, ``theorem-c1-i`` the theorem that names it."""
    for theorem in THEOREMS.values():
        if theorem.derivation == derivation:
            return theorem.name
    if derivation.startswith("complexity-"):
        return "Complexity of " + display_name(derivation.replace("complexity", "theorem", 1))
    match = re.fullmatch(r"lemma-(\d+)-?([a-z]?)(?:-(.+))?", derivation)
    if match:
        part = f"({match[2]})" if match[2] else ""
        return f"Lemma {match[1]}{part}" + (f" ({match[3].replace('-', ' ')})" if match[3] else "")
    helper = re.fullmatch(r"lemma-([a-z].*)", derivation)
    if helper:
        return f"Lemma ({helper[1].replace('-', ' ')})"
    match = re.fullmatch(r"(?:proposition-|counterexample-)?(n\d)(-?prime|')?(?:-(.+))?", derivation)
    if match:
        return (
            match[1].upper()
            + ("'" if match[2] else "")
            + (f" ({match[3].replace('-', ' ')})" if match[3] else "")
        )
    return derivation


def _kind(derivation: str) -> str:
    for start, kind in _RESULT_KINDS:
        if derivation.startswith(start):
            return kind
    return "theorem"


def _step(record: Mapping[str, Any], level: str) -> Step:
    data = record["data"]
    uses = str(data.get("name", ""))
    coq = (str(data["coq"]),) if data.get("coq") else ()
    return Step(
        str(record["id"]),
        read(str(record["claim"])),
        str(record["rule"]),
        str(record["why"]),
        level,
        tuple(str(premise) for premise in record["premises"]),
        display_name(uses) if record["rule"] == "lemma" else uses.replace("-", " "),
        coq,
        str(record["claim"]),
        tuple(str(factor) for factor in data.get("times", ())),
        str(data.get("at", "")),
        str(data.get("variable", "")),
    )


def sentence(text: str, end: str = ".") -> str:
    """``text`` with a capital letter, unless it begins with the letter of a formula, and with an end."""
    first = text.split(" ")[0]
    text = text[:1].upper() + text[1:] if len(first) > 1 and first.isalpha() else text
    return text.rstrip(".") + end


def _sides(record: Mapping[str, Any]) -> dict[str, str]:
    try:
        left, right = sides(str(record["conclusion"]["claim"]))
    except ValueError:
        return {}
    return {"left": left, "right": right}


def _factors(claim: str) -> tuple[str, ...]:
    try:
        return numeric_factors(sides(claim)[1])
    except ValueError:
        return ()


def _needs(record: Mapping[str, Any]) -> tuple[str, ...]:
    names = [display_name(str(s["data"]["name"])) for s in record["steps"] if s["rule"] == "lemma"]
    return tuple(dict.fromkeys(names))


def _from_derivation(
    record: Mapping[str, Any], levels: Mapping[str, Any], machine: Mapping[str, str]
) -> Entry:
    recorded = levels.get(record["name"], {"level": "failed", "steps": {}})
    steps = tuple(_step(step, recorded["steps"].get(step["id"], "failed")) for step in record["steps"])
    claim_text = str(record["conclusion"]["claim"])
    words = set(re.findall(r"[^\s()]+", claim_text))
    meanings = tuple((read(v["name"]), str(v["meaning"])) for v in record["variables"] if v["name"] in words)
    claim = read(claim_text)
    delta = str(record["conclusion"]["delta"])
    label = "" if delta == "0" else f"with probability at least 1 - {read(delta).plain}"
    machine_name = machine.get(str(record["name"]))
    return Entry(
        name=display_name(str(record["name"])),
        kind=_kind(str(record["name"])),
        title=sentence(re.sub(r"^N\d'?: ", "", str(record["title"])), ""),
        statement=str(record["goal"]),
        formulas=((label, claim),),
        hypotheses=tuple(sentence(h["meaning"]) for h in record["hypotheses"]),
        conditions=tuple(read(str(h["claim"])) for h in record["hypotheses"]),
        idea=str(record["known"]),
        level="coq" if machine_name else str(recorded["level"]),
        symbols=meanings,
        steps=steps,
        needs=_needs(record),
        sources=tuple(source for source in record["sources"] if source != "Here"),
        coq=(machine_name,) if machine_name else (),
        factors=_factors(str(record["conclusion"]["claim"])),
        prefixes={"claim": str(record["conclusion"]["claim"]), "delta": delta, **_sides(record)},
    )


def _from_theorem(name: str, derived: Entry | None) -> Entry:
    theorem = THEOREMS[name]
    quantity = Written(rf"\text{{{theorem.quantity}}}", theorem.quantity, 4)
    bound = read(theorem.prefix)
    formula = Written(f"{quantity.latex} \\le {bound.latex}", f"{quantity.plain} <= {bound.plain}", 0)
    origins = [
        c.origin.removeprefix("Theorem ").replace(" for vectors", " (vector)") for c in theorem.constants
    ]
    needs = (*(derived.needs if derived else ()), *origins)
    return Entry(
        name=name,
        kind="theorem",
        title=theorem.title,
        statement=theorem.statement,
        formulas=(("", formula),),
        hypotheses=tuple(h.text for h in theorem.hypotheses),
        level=derived.level if derived else theorem.level,
        symbols=tuple((read(symbol.name), symbol.meaning) for symbol in theorem.inputs),
        constants=theorem.constants,
        steps=derived.steps if derived else (),
        idea=derived.idea if derived else "",
        needs=tuple(n for n in dict.fromkeys(needs) if n != name),
        sources=theorem.sources,
        caveats=theorem.caveats,
        coq=derived.coq if derived else (),
        prefixes={"bound": theorem.prefix, **{part: to_prefix(value) for part, value in theorem.parts}},
    )


def catalogue() -> dict[str, Entry]:
    """All results by the name the lesson uses, prerequisites first."""
    records = library.load()
    levels = library.stored("levels")
    machine = library.machine_table()
    derived = {entry.name: entry for entry in (_from_derivation(r, levels, machine) for r in records)}
    theorems = {name: _from_theorem(name, derived.get(name)) for name in THEOREMS}
    return {**{name: entry for name, entry in derived.items() if name not in theorems}, **theorems}


def coq_theorems() -> dict[str, dict[str, Any]]:
    """The recorded Coq theorems by name: statement, file, axioms, goals after each sentence; empty if
    none are recorded."""
    path = _COQ / "theorems.json"
    if not path.exists():
        return {}
    found = {}
    for record in json.loads(path.read_text(encoding="utf-8"))["theorems"]:
        goals_file = _COQ / str(record.get("goals_file") or "-")
        goals = json.loads(goals_file.read_text(encoding="utf-8"))["steps"] if goals_file.is_file() else []
        found[str(record["name"])] = {
            "file": f"proofs/coq/{record['file']}",
            "words": record["words"],
            "statement": record["statement"],
            "axioms": [axiom.rsplit(".", 1)[-1] for axiom in record["axioms"]],
            "assumes": record["assumes"],
            "goals": [(step["sentence"], step["goal"]) for step in goals],
        }
    return found


def value_of(expression: sympy.Expr) -> Written:
    """An exact constant in both notations."""
    return read(to_prefix(expression))
