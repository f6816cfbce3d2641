"""THE SYMBOLIC KERNEL: re-reads stored derivations and refuses what does not follow.

TRUSTED, together with ``rules.py`` (the rules), ``terms.py`` (reading, substitution), ``normal_form.py``
(exact identities and signs), ``axioms.py`` (the rules of expectation and supremum) and ``interval.py``
(enclosures). It shares no code with what builds derivations. A derivation is plain data (JSON): variables,
hypotheses, a conclusion and steps. Each step has a claim, a rule, premises (earlier steps), the rule's data
and a level.

Claims are S-expressions: ``(le a b)``, ``(lt a b)``, ``(eq a b)`` or any other predicate, which is
compared word for word after normalising its arguments.

Variables have a ``kind``:

* ``before``: fixed before the sample (the standing hypothesis);
* ``after``: anything, also functions of the sample;
* ``grid``: chosen after the sample, from a countable grid whose union is paid for in this derivation;
* ``free``: a parameter that may be optimised; it occurs in no hypothesis and not in the conclusion;
* ``dummy``: every claim holds for all its values (the bound variables of sup, sum and E).

Probability: a lemma whose conclusion holds "with probability at least 1 - delta" makes an *event* when it is
used. Every claim carries the events it rests on. At the end the failure probabilities of all events are
added up; they must come to exactly the delta that the conclusion states. An event that depends on a
``grid`` variable must have been united over the grid (rule ``grid``). What is put for a ``before`` variable
may mention ``before`` and ``grid`` variables only: this is the check of the standing hypothesis.

The rules: hypothesis, lemma, cite, axiom, paper, algebra, sign, combine, monotone, optimise,
specialise, grid, interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from proofs.axioms import VOCABULARY
from proofs.normal_form import RESERVED, NotDecided, Term, mentions, rational
from proofs.rules import (
    KINDS,
    LEVELS,
    NAMED,
    PLAIN,
    SORTS,
    Context,
    Json,
    Judgement,
    Outcome,
    Statement,
    arithmetic_of,
    is_sign,
    need,
)
from proofs.terms import Refused, free_names, parse, show

UNREADABLE = (
    Refused,
    NotDecided,
    ArithmeticError,
    AttributeError,
    KeyError,
    IndexError,
    TypeError,
    ValueError,
)
"""Whatever keeps a step from being understood refuses it."""
FIELDS = {
    "name",
    "title",
    "goal",
    "known",
    "variables",
    "hypotheses",
    "conclusion",
    "steps",
    "sources",
    "domain",
}
STEP_FIELDS = {"id", "claim", "rule", "premises", "data", "level", "why"}


def read_statement(derivation: Json, level: str) -> Statement:
    """The statement of a derivation; variables that only the proof mentions are left out."""
    variables = tuple((str(v["name"]), str(v["sort"]), str(v["kind"])) for v in derivation["variables"])
    hypotheses = tuple(parse(h["claim"]) for h in derivation["hypotheses"])
    claim, delta = parse(derivation["conclusion"]["claim"]), parse(derivation["conclusion"]["delta"])
    kept = [v for v in variables if any(mentions(term, v[0]) for term in (*hypotheses, claim, delta))]
    return Statement(
        str(derivation["name"]),
        tuple((n, s, "after" if k == "grid" else k) for n, s, k in kept),
        hypotheses,
        claim,
        delta,
        level,
    )


def check(
    derivation: Json,
    library: Mapping[str, Statement],
    ledger: Mapping[str, Json],
    machine: Mapping[str, str] | None = None,
) -> Statement:
    """Re-check one derivation; the result may be used by later ones. Raises ``Refused``.

    ``machine`` maps names of derivations whose statement a proof assistant has checked to the theorem's name.
    """
    name = derivation.get("name")
    if set(derivation) != FIELDS:
        raise Refused(f"{name}: fields must be {sorted(FIELDS)}, found {sorted(derivation)}")
    context = _context(derivation, library, ledger)
    weakest, step_ids, needed = "coq", [], set()
    for step in derivation["steps"]:
        try:
            level = _check_step(context, step)
        except UNREADABLE as error:
            raise Refused(f"{name}, step {step.get('id')}: {error}") from None
        weakest = max(weakest, level, key=LEVELS.index)
        step_ids.append(step["id"])
        needed |= set(step["premises"])
    statement = read_statement(derivation, "coq" if str(name) in (machine or {}) else weakest)
    try:
        _check_end(context, derivation, statement, step_ids, needed)
    except UNREADABLE as error:
        raise Refused(f"{name}, conclusion: {error}") from None
    return statement


def _context(derivation: Json, library: Mapping[str, Statement], ledger: Mapping[str, Json]) -> Context:
    name = str(derivation["name"])
    sorts: dict[str, str] = {}
    kinds: dict[str, str] = {}
    for variable in derivation["variables"]:
        if set(variable) != {"name", "sort", "kind", "meaning"} or variable["name"] in sorts:
            raise Refused(f"{name}: bad or repeated variable {variable}")
        if variable["name"] in RESERVED or variable["name"] in VOCABULARY:
            raise Refused(f"{name}: {variable['name']} has a fixed meaning and cannot be a variable")
        if variable["sort"] not in SORTS or variable["kind"] not in KINDS or not variable["meaning"]:
            raise Refused(f"{name}: unknown sort or kind of {variable}")
        sorts[variable["name"]], kinds[variable["name"]] = variable["sort"], variable["kind"]
    hypotheses = {str(h["id"]): parse(h["claim"]) for h in derivation["hypotheses"]}
    if len(hypotheses) != len(derivation["hypotheses"]):
        raise Refused(f"{name}: two hypotheses have the same id")
    for claim in hypotheses.values():
        if any(kinds.get(n) == "free" for n in free_names(claim)):
            raise Refused(f"{name}: a hypothesis speaks of a free parameter: {show(claim)}")
    return Context(name, sorts, kinds, hypotheses, library, ledger)


def _check_step(context: Context, step: Json) -> str:
    need(set(step) == STEP_FIELDS, f"fields must be {sorted(STEP_FIELDS)}")
    identifier, rule = str(step["id"]), step["rule"]
    need(identifier not in context.judgements, "two steps have the same id")
    need(bool(str(step["why"]).strip()), "a step must say why")
    for premise in step["premises"]:
        need(premise in context.judgements, f"premise {premise!r} is not an earlier step")
    need(len(set(step["premises"])) == len(step["premises"]), "a premise is listed twice")
    premises = [context.judgements[premise] for premise in step["premises"]]
    claim = parse(step["claim"])
    need(isinstance(claim, tuple), "a claim is not a single symbol")
    events, level = _apply(context, step, claim, premises)
    for number, premise in enumerate(premises):
        rest = premises[:number] + premises[number + 1 :]
        idle = is_sign(premise.claim) and rule != "paper" and _passes(context, step, claim, rest)
        need(not idle, f"premise {step['premises'][number]} is not needed")
    need(step["level"] == level, f"the level is {level}, not {step['level']}")
    context.judgements[identifier] = Judgement(claim, events)
    return level


def _apply(context: Context, step: Json, claim: Term, premises: list[Judgement]) -> Outcome:
    rule = step["rule"]
    if rule in PLAIN:
        return PLAIN[rule](context, claim, premises, step["data"])
    if rule in NAMED:
        return NAMED[rule](context, claim, premises, step["data"], str(step["id"]))
    raise Refused(f"unknown rule {rule!r}")


def _passes(context: Context, step: Json, claim: Term, premises: list[Judgement]) -> bool:
    try:
        _apply(context, step, claim, premises)
    except (Refused, NotDecided):
        return False
    return True


def _check_end(
    context: Context, derivation: Json, statement: Statement, ids: list[str], needed: set[str]
) -> None:
    need(bool(ids), "there are no steps")
    last = context.judgements[ids[-1]]
    need(last.claim == statement.claim, f"the last step proves {show(last.claim)}")
    idle = [i for i in ids[:-1] if i not in needed]
    need(not idle, f"steps that nothing uses: {idle}")
    signs = {name for name, claim in context.hypotheses.items() if is_sign(claim)}
    unused = set(context.hypotheses) - context.used_hypotheses - signs
    need(not unused, f"hypotheses that nothing uses: {sorted(unused)}")
    for event in last.events:
        need(not event.depends, f"the event of step {event.id} was not united over {sorted(event.depends)}")
    spent: Term = ("add", *(event.delta for event in sorted(last.events, key=lambda e: e.id)), "0")
    need(
        arithmetic_of(context).equal(spent, statement.delta),
        f"the events fail with probability {show(spent)}, the conclusion promises {show(statement.delta)}",
    )
    mentioned: frozenset[str] = frozenset().union(
        free_names(statement.claim),
        free_names(statement.delta),
        *(_names(s) for s in derivation["steps"]),
        *(free_names(c) for c in context.hypotheses.values()),
    )
    written = [statement.claim, statement.delta, *context.hypotheses.values()]
    names = frozenset().union(
        *(_vocabulary(t, frozenset()) for t in written), *map(_names, derivation["steps"])
    )
    strange = sorted(names - set(context.sorts) - set(VOCABULARY))
    need(not strange, f"names that are not declared: {strange}")
    idle_variables = set(context.sorts) - mentioned - _parameters(derivation)
    need(not idle_variables, f"variables that occur nowhere: {sorted(idle_variables)}")
    late = [n for n in free_names(statement.delta) if context.kinds.get(n, "before") != "before"]
    need(not late, f"the failure probability depends on {late}, which is not fixed before the sample")
    for name, kind in context.kinds.items():
        need(
            kind != "free" or name not in free_names(statement.claim),
            f"the free parameter {name} is left over",
        )


def _names(step: Json) -> frozenset[str]:
    terms = [parse(step["claim"]), *(parse(t) for t in step["data"].get("with", {}).values())]
    return frozenset().union(*(_vocabulary(term, frozenset()) for term in terms))


def _parameters(derivation: Json) -> frozenset[str]:
    """The parameters of all lambdas, whose sorts are those of the declared variables."""
    pending = [parse(step["claim"]) for step in derivation["steps"]]
    pending += [parse(text) for step in derivation["steps"] for text in step["data"].get("with", {}).values()]
    found = set()
    while pending:
        term = pending.pop()
        if isinstance(term, tuple):
            found |= {term[1]} if term[0] == "lambda" else set()
            pending += list(term)
    return frozenset(found)


def _vocabulary(term: Term, bound: frozenset[str]) -> frozenset[str]:
    """All names in a term, heads and bound variables included, but for the parameters of lambdas."""
    if isinstance(term, str):
        return frozenset() if rational(term) is not None or term in bound else frozenset({term})
    head, arguments = term[0], term[1:]
    if head == "lambda":
        return _vocabulary(arguments[1], bound | {arguments[0]})
    names = frozenset() if head in RESERVED or head in bound else frozenset({head})
    return names.union(*(_vocabulary(part, bound) for part in arguments))


def cited_statement(record: Json) -> Statement:
    """A cited result as a statement that the rule ``cite`` may use."""
    return Statement(
        "cited:" + str(record["name"]),
        tuple((str(v["name"]), str(v["sort"]), str(v["kind"])) for v in record["variables"]),
        tuple(parse(h["claim"]) for h in record["hypotheses"]),
        parse(record["conclusion"]["claim"]),
        parse(record["conclusion"]["delta"]),
        "cited-result",
    )


def check_library(
    derivations: Iterable[Json],
    cited: Iterable[Json],
    ledger: Mapping[str, Json],
    goals: Mapping[str, Json],
    machine: Mapping[str, str] | None = None,
) -> dict[str, Statement]:
    """Re-check all derivations in order, each against its recorded goal; every prose step must be used.

    ``goals`` maps a derivation's name to its variables, hypotheses and conclusion. ``Refused`` names the
    first thing that is missing, unknown or wrong.
    """
    library = {f"cited:{record['name']}": cited_statement(record) for record in cited}
    prose: set[str] = set()
    for derivation in derivations:
        name = str(derivation.get("name"))
        if name in library:
            raise Refused(f"{name}: checked twice")
        if name not in goals:
            raise Refused(f"{name}: has no recorded goal")
        for part in ("variables", "hypotheses", "conclusion"):
            if derivation.get(part) != goals[name][part]:
                raise Refused(f"{name}: its {part} are not those of the recorded goal")
        library[name] = check(derivation, library, ledger, machine)
        prose |= {f"{name}/{step['id']}" for step in derivation["steps"] if step["rule"] == "paper"}
    missing = (set(goals) - set(library)) | (set(ledger) - prose)
    if missing:
        raise Refused(f"recorded but not in the derivations: {sorted(missing)}")
    return library


__all__ = ["LEVELS", "Refused", "Statement", "check", "check_library", "cited_statement", "parse"]
