"""Deleting or editing any step, hypothesis or constant of a stored derivation makes the checker refuse it."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from proofs.cited import CITED
from proofs.kernel import Refused, Statement, check, check_library, cited_statement
from proofs.library import load, machine_table, recheck, stored

Derivation = dict[str, Any]
Mutation = tuple[str, Callable[[Derivation], None]]


@pytest.fixture(scope="module")
def library() -> dict[str, Statement]:
    return recheck()


def verdict(
    derivation: Derivation, library: dict[str, Statement], goals: dict[str, Any], prose: dict[str, Any]
) -> str:
    """Why the checker refuses the derivation, or an empty string."""
    name = derivation["name"]
    for part in ("variables", "hypotheses", "conclusion"):
        if derivation[part] != goals[name][part]:
            return f"its {part} are not those of the recorded goal"
    try:
        check(derivation, library, prose, machine_table())
    except Refused as error:
        return str(error)
    return ""


def constants(text: str) -> Iterator[str]:
    """The text with one number changed, for each number in it."""
    for match in re.finditer(r"(?<![\w/.])-?\d+(/\d+)?(?![\w.])", text):
        number = match.group()
        changed = "3" if number != "3" else "5"
        yield text[: match.start()] + changed + text[match.end() :]


def symbols(text: str) -> Iterator[str]:
    """The text with one variable replaced, for the first and the last variable in it."""
    found = [m for m in re.finditer(r"(?<=[ (])[A-Za-z_]\w*(?=[ )])", text) if text[m.start() - 1] == " "]
    for match in {m.start(): m for m in found[:1] + found[-1:]}.values():
        yield text[: match.start()] + "another_thing" + text[match.end() :]


def step_mutations(number: int, step: dict[str, Any], thorough: bool) -> Iterator[Mutation]:
    """Deletion and edits of step ``number``."""

    def change(field: str, value: Any) -> Callable[[Derivation], None]:
        return lambda d: d["steps"][number].__setitem__(field, value)

    def change_data(key: str, value: Any) -> Callable[[Derivation], None]:
        return lambda d: d["steps"][number]["data"].__setitem__(key, value)

    yield "delete", lambda d: d["steps"].pop(number)
    numbers = list(constants(step["claim"]))
    for text in numbers if thorough else numbers[:1] + numbers[-1:]:
        yield "claim constant", change("claim", text)
    for text in symbols(step["claim"]):
        yield "claim symbol", change("claim", text)
    yield "rule", change("rule", "algebra" if step["rule"] != "algebra" else "hypothesis")
    yield "level", change("level", "coq" if step["level"] != "coq" else "paper")
    for place in range(len(step["premises"])):
        yield "premise left out", change("premises", step["premises"][:place] + step["premises"][place + 1 :])
    for key, value in step["data"].items():
        if isinstance(value, str):
            yield f"data {key}", change_data(key, "another_thing")
        elif isinstance(value, list):
            for place, item in enumerate(value):
                old = item if isinstance(item, str) else item[1]
                for text in list(constants(old))[: None if thorough else 1]:
                    changed = text if isinstance(item, str) else [item[0], text]
                    new = [*value[:place], changed, *value[place + 1 :]]
                    yield f"data {key}", change_data(key, new)
        else:
            for name in list(value) if thorough else list(value)[:2]:
                rest = {k: v for k, v in value.items() if k != name}
                yield f"data {key}", change_data(key, rest)


def mutations(derivation: Derivation, thorough: bool) -> Iterator[Mutation]:
    """All mutations of a derivation."""
    for number, step in enumerate(derivation["steps"]):
        yield from step_mutations(number, step, thorough)
    for number, hypothesis in enumerate(derivation["hypotheses"]):
        yield "hypothesis deleted", lambda d, n=number: d["hypotheses"].pop(n)
        for text in [*constants(hypothesis["claim"]), *symbols(hypothesis["claim"])]:
            yield "hypothesis edited", lambda d, n=number, t=text: d["hypotheses"][n].__setitem__("claim", t)
    for key in ("claim", "delta"):
        for text in [*constants(derivation["conclusion"][key]), *symbols(derivation["conclusion"][key])]:
            yield f"conclusion {key}", lambda d, k=key, t=text: d["conclusion"].__setitem__(k, t)
    for number, variable in enumerate(derivation["variables"]):
        kind = "after" if variable["kind"] == "before" else "before"
        yield "variable kind", lambda d, n=number, k=kind: d["variables"][n].__setitem__("kind", k)


def run(library: dict[str, Statement], thorough: bool, every: int = 1) -> tuple[Counter[str], list[str]]:
    goals, prose = stored("goals"), stored("prose")
    tried: Counter[str] = Counter()
    survivors = []
    for derivation in load():
        for count, (kind, mutate) in enumerate(mutations(derivation, thorough)):
            if count % every:
                continue
            changed = copy.deepcopy(derivation)
            mutate(changed)
            tried[kind] += 1
            if not verdict(changed, library, goals, prose):
                survivors.append(f"{derivation['name']}: {kind} (mutation {count})")
    return tried, survivors


def test_every_step_resists_mutation(library: dict[str, Statement]) -> None:
    tried, survivors = run(library, thorough=False)
    print(dict(tried))
    assert not survivors
    assert tried["delete"] == sum(len(d["steps"]) for d in load())
    assert sum(tried.values()) > 3000


@pytest.mark.long
def test_every_constant_resists_mutation(library: dict[str, Statement]) -> None:
    _, survivors = run(library, thorough=True)
    assert not survivors


def test_the_ledger_of_prose_steps_is_needed_as_it_is(library: dict[str, Statement]) -> None:
    goals, prose = stored("goals"), stored("prose")
    by_name = {d["name"]: d for d in load()}
    for name, entry in prose.items():
        for text in [*list(constants(entry["claim"]))[:1], "(le 1 0)"]:
            changed = {**prose, name: {**entry, "claim": text}}
            assert verdict(by_name[name.split("/")[0]], library, goals, changed), name


def test_nothing_may_be_left_out() -> None:
    derivations, goals, prose = list(load()), stored("goals"), stored("prose")
    with pytest.raises(Refused, match="recorded but not in the derivations"):
        check_library(derivations[:-1], CITED, prose, goals, machine_table())
    fewer = {k: v for k, v in goals.items() if k != "lemma-1"}
    with pytest.raises(Refused, match="has no recorded goal"):
        check_library(derivations, CITED, prose, fewer, machine_table())
    with pytest.raises(Refused, match="not in the list of cited results"):
        check_library(derivations, CITED[1:], prose, goals, machine_table())


def test_a_cited_result_cannot_be_sharpened() -> None:
    """A cited result with a better constant makes the derivations that use it fail."""
    goals, prose = stored("goals"), stored("prose")
    library = {f"cited:{record['name']}": cited_statement(record) for record in CITED}
    record = copy.deepcopy(next(r for r in CITED if r["name"] == "mcdiarmid"))
    record["conclusion"]["delta"] = record["conclusion"]["delta"].replace("-2", "-3")
    library["cited:mcdiarmid"] = cited_statement(record)
    lemma = next(d for d in load() if d["name"] == "lemma-2")
    assert "fail with probability" in verdict(lemma, library, goals, prose)


def test_a_better_constant_with_a_matching_goal_is_still_refused(library: dict[str, Statement]) -> None:
    """Change a number in the last step, the conclusion and the recorded goal alike: it is refused."""
    prose, tried = stored("prose"), 0
    for derivation in load():
        for text in constants(derivation["conclusion"]["claim"]):
            changed = copy.deepcopy(derivation)
            changed["conclusion"]["claim"] = changed["steps"][-1]["claim"] = text
            goals = {derivation["name"]: changed}
            assert verdict(changed, library, goals, prose), f"{derivation['name']}: {text}"
            tried += 1
    assert tried > 200
