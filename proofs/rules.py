"""The kernel's rules: what a step may conclude from its premises.

TRUSTED. Each rule gets the context, the step's claim, its premises and its data, and returns the events that
the claim rests on and its level; or it raises ``Refused``. The kinds of variables and the meaning of events
are in ``kernel.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from proofs import interval
from proofs.axioms import AXIOMS
from proofs.normal_form import (
    BINDERS,
    Arithmetic,
    Term,
    mentions,
    rational,
    under_signs,
)
from proofs.terms import Refused, derivative, free_names, parse, show, substitute

LEVELS = ("coq", "kernel", "interval", "cited", "paper")
"""From strongest to weakest. ``kernel``: decided here by exact rules. ``cited``: proved in print, referenced.
``paper``: proved in prose in this project and read by people only."""

SORTS = (
    *("real", "nonnegative", "positive", "count", "index", "fraction"),
    *("any", "point", "entry", "sample", "sign", "signs", "gauss"),
)
KINDS = ("before", "after", "grid", "free", "dummy")
Json = Mapping[str, Any]


@dataclass(frozen=True)
class Event:
    """Something that fails with probability at most ``delta``; ``depends`` are its grid variables."""

    id: str
    delta: Term
    depends: frozenset[str]


@dataclass(frozen=True)
class Judgement:
    """A checked claim and the events it rests on."""

    claim: Term
    events: frozenset[Event] = frozenset()


@dataclass(frozen=True)
class Statement:
    """What other derivations may use of a checked derivation or a cited result."""

    name: str
    variables: tuple[tuple[str, str, str], ...]
    hypotheses: tuple[Term, ...]
    claim: Term
    delta: Term
    level: str


@dataclass
class Context:
    """What the rules see: the derivation at hand and everything checked before it."""

    name: str
    sorts: dict[str, str]
    kinds: dict[str, str]
    hypotheses: dict[str, Term]
    library: Mapping[str, Statement]
    ledger: Mapping[str, Json]
    judgements: dict[str, Judgement] = field(default_factory=dict)
    used_hypotheses: set[str] = field(default_factory=set)


# Comparing
def arithmetic_of(context: Context, facts: Iterable[Judgement] = ()) -> Arithmetic:
    known = []
    for claim in (*context.hypotheses.values(), *(fact.claim for fact in facts)):
        if is_sign(claim):
            known.append((claim[2], claim[0] == "lt"))
    return under_signs(tuple(sorted(context.sorts.items())), tuple(dict.fromkeys(known)))


def same(left: Term, right: Term, arithmetic: Arithmetic) -> bool:
    """Whether two claims or terms agree: same predicate, arguments with equal normal forms."""
    if left == right:
        return True
    if (
        isinstance(left, tuple)
        and isinstance(right, tuple)
        and left[0] == right[0]
        and len(left) == len(right)
    ):
        if left[0] in ("le", "lt", "eq"):
            return all(arithmetic.equal(a, b) for a, b in zip(left[1:], right[1:], strict=True))
    return not _is_claim(left) and not _is_claim(right) and arithmetic.equal(left, right)


def is_sign(claim: Term) -> bool:
    return isinstance(claim, tuple) and claim[0] in ("le", "lt") and claim[1] == "0"


def _is_claim(term: Term) -> bool:
    return isinstance(term, tuple) and term[0] in ("le", "lt", "eq")


def need(condition: bool, message: str) -> None:
    if not condition:
        raise Refused(message)


def _difference(claim: Term, arithmetic: Arithmetic) -> Any:
    return arithmetic.poly(("sub", claim[2], claim[1]))


# The rules. Each gets (context, claim, premises, data) and returns the judgement's events and the level.
Outcome = tuple[frozenset[Event], str]


def _joined(premises: Iterable[Judgement]) -> frozenset[Event]:
    return frozenset().union(*(premise.events for premise in premises))


def _rule_hypothesis(context: Context, claim: Term, premises: list[Judgement], data: Json) -> Outcome:
    need(not premises and set(data) == {"id"}, "a hypothesis takes no premises and one id")
    need(data["id"] in context.hypotheses, f"there is no hypothesis {data['id']!r}")
    need(claim == context.hypotheses[data["id"]], "the claim is not the hypothesis, word for word")
    context.used_hypotheses.add(data["id"])
    return frozenset(), "kernel"


def _instantiate(
    context: Context, statement: Statement, claim: Term, premises: list[Judgement], data: Json, step: str
) -> frozenset[Event]:
    mapping = {name: parse(text) for name, text in data.get("with", {}).items()}
    declared = {name: (sort, kind) for name, sort, kind in statement.variables}
    need(
        set(mapping) == set(declared),
        f"{statement.name} needs terms for {sorted(declared)}, was given {sorted(mapping)}",
    )
    arithmetic = arithmetic_of(context, premises)
    depends: set[str] = set()
    for name, term in mapping.items():
        sort, kind = declared[name]
        grid_variables = _admit_term(context, statement.name, name, sort, kind, term, arithmetic)
        depends |= grid_variables if kind == "before" else set()
    dummies = [mapping[name] for name, (_, kind) in declared.items() if kind == "dummy"]
    need(len(set(dummies)) == len(dummies), "two dummies of the lemma cannot be the same variable")
    for name, term in mapping.items():
        caught = free_names(term) & set(dummies) if declared[name][1] != "dummy" else set()
        need(
            not caught,
            f"what is put for {name} depends on {sorted(caught)}, over which {statement.name} "
            "quantifies: use a lambda",
        )
    wanted = [substitute(h, mapping, True) for h in statement.hypotheses]
    remaining = list(premises)
    for number, hypothesis in enumerate(wanted):
        need(
            number < len(remaining),
            f"hypothesis {number + 1} of {statement.name} is not discharged: {show(hypothesis)}",
        )
        need(
            same(remaining[number].claim, hypothesis, arithmetic),
            f"hypothesis {number + 1} of {statement.name} is {show(hypothesis)}, the premise says "
            f"{show(remaining[number].claim)}",
        )
    for extra in remaining[len(wanted) :]:
        need(is_sign(extra.claim), "a premise too many")
    conclusion = substitute(statement.claim, mapping, True)
    need(same(claim, conclusion, arithmetic), f"{statement.name} gives {show(conclusion)}")
    events = _joined(premises)
    if statement.delta != "0":
        events |= {Event(step, substitute(statement.delta, mapping, True), frozenset(depends))}
    return events


def _admit_term(
    context: Context, lemma: str, name: str, sort: str, kind: str, term: Term, arithmetic: Arithmetic
) -> set[str]:
    """Check sort and timing of a term put for a lemma's variable; return the grid variables it mentions."""
    names = {n for n in free_names(term) if n in context.kinds}
    if kind == "dummy":
        need(
            isinstance(term, str)
            and context.kinds.get(term) == "dummy"
            and sort in ("any", context.sorts[term]),
            f"{name} of {lemma} holds for all values; put a dummy of sort {sort} for it",
        )
        return set()
    if kind == "arbitrary":
        need(
            context.kinds.get(term) == "free" and context.sorts[term] == sort,
            f"{name} of {lemma} stands for anything; put a free parameter of sort {sort} for it",
        )
    if kind == "before":
        late = sorted(n for n in names if context.kinds[n] in ("after", "dummy", "free"))
        need(not late, f"{name} of {lemma} must be fixed before the sample, but {', '.join(late)} is not")
    body = term
    while isinstance(body, tuple) and body[0] == "lambda":
        body = body[2]
    if sort in ("positive", "count"):
        need(
            arithmetic.positive(arithmetic.poly(body)),
            f"{name} of {lemma} must be positive; {show(term)} is not known to be",
        )
    if sort in ("nonnegative", "index", "fraction"):
        need(
            arithmetic.nonnegative(arithmetic.poly(body)),
            f"{name} of {lemma} must be nonnegative; {show(term)} is not known to be",
        )
    if sort in ("count", "index"):
        need(_whole(term, context), f"{name} of {lemma} must be an integer, not {show(term)}")
    if sort == "fraction":
        named = body if isinstance(body, str) else body[0]
        need(
            context.sorts.get(named) == "fraction" or named in ("0", "1"),
            f"{name} of {lemma} must lie in [0, 1]",
        )
    return {n for n in names if context.kinds[n] == "grid"}


def _whole(term: Term, context: Context) -> bool:
    value = rational(term)
    if value is not None:
        return value.denominator == 1
    if isinstance(term, str):
        return context.sorts.get(term) in ("count", "index")
    if term[0] in ("add", "mul"):
        return all(_whole(part, context) for part in term[1:])
    return context.sorts.get(term[0]) in ("count", "index")


def _rule_lemma(context: Context, claim: Term, premises: list[Judgement], data: Json, step: str) -> Outcome:
    statement = context.library.get(str(data.get("name")))
    if statement is None or statement.level == "cited-result":
        raise Refused(f"no derivation {data.get('name')!r} was checked before this one")
    return _instantiate(context, statement, claim, premises, data, step), statement.level


def _rule_cite(context: Context, claim: Term, premises: list[Judgement], data: Json, step: str) -> Outcome:
    statement = context.library.get("cited:" + str(data.get("name")))
    if statement is None:
        raise Refused(
            f"{data.get('name')!r} is not in the list of cited results; nothing else may be assumed"
        )
    return _instantiate(context, statement, claim, premises, data, step), "cited"


def _rule_axiom(context: Context, claim: Term, premises: list[Judgement], data: Json, step: str) -> Outcome:
    name = str(data.get("name"))
    if name not in AXIOMS:
        raise Refused(f"{name!r} is not an axiom of expectation and supremum; there are {sorted(AXIOMS)}")
    variables, hypotheses, conclusion = AXIOMS[name]
    statement = Statement(
        name, variables, tuple(parse(h) for h in hypotheses), parse(conclusion), "0", "kernel"
    )
    return _instantiate(context, statement, claim, premises, data, step), "kernel"


def _rule_paper(context: Context, claim: Term, premises: list[Judgement], data: Json, step: str) -> Outcome:
    need(not data, "a step proved in prose has no data")
    entry = context.ledger.get(f"{context.name}/{step}")
    if entry is None:
        raise Refused("this prose step is not in the ledger of prose steps")
    need(parse(entry["claim"]) == claim, f"the ledger of prose steps says {entry['claim']}")
    said = [parse(text) for text in entry["premises"]]
    need(said == [premise.claim for premise in premises], "the premises are not those of the ledger")
    return _joined(premises), "paper"


def _rule_algebra(context: Context, claim: Term, premises: list[Judgement], data: Json) -> Outcome:
    need(not data, "algebra takes no data")
    need(claim[0] == "eq", "algebra proves equations; use combine for inequalities")
    need(all(is_sign(p.claim) for p in premises), "algebra uses signs only")
    need(
        arithmetic_of(context, premises).equal(claim[1], claim[2]),
        "the two sides have different normal forms",
    )
    return _joined(premises), "kernel"


def _rule_sign(context: Context, claim: Term, premises: list[Judgement], data: Json) -> Outcome:
    """``b - a`` is a sum of squares with weights (``data["squares"]``), or visibly nonnegative."""
    need(claim[0] in ("le", "lt"), "sign proves inequalities")
    arithmetic = arithmetic_of(context, premises)
    difference = _difference(claim, arithmetic)
    if "squares" in data:
        total: Term = "0"
        for weight, square in data["squares"]:
            need(
                arithmetic.nonnegative(arithmetic.poly(parse(weight))), f"the weight {weight} may be negative"
            )
            total = ("add", total, ("mul", parse(weight), ("pow", parse(square), "2")))
        need(
            claim[0] == "le" and arithmetic.equal(("sub", claim[2], claim[1]), total),
            "not the sum of these squares",
        )
    elif claim[0] == "le":
        need(arithmetic.nonnegative(difference), "the difference is not visibly nonnegative")
    else:
        need(arithmetic.positive(difference), "the difference is not visibly positive")
    return _joined(premises), "kernel"


def _rule_combine(context: Context, claim: Term, premises: list[Judgement], data: Json) -> Outcome:
    """``claim`` is the exact sum of premises times nonnegative multipliers (equations: any)."""
    multipliers = [parse(text) for text in data.get("times", ["1"] * len(premises))]
    need(
        set(data) <= {"times"} and len(multipliers) <= len(premises),
        "at most one multiplier for each premise",
    )
    need(
        all(_is_claim(p.claim) for p in premises) and _is_claim(claim),
        "combine works on inequalities and equations",
    )
    arithmetic = arithmetic_of(context, premises)
    for fact in premises[len(multipliers) :]:
        need(
            is_sign(fact.claim),
            "a premise without multiplier must be a sign",
        )
    everything, premises = premises, premises[: len(multipliers)]
    total: Term = "0"
    strict = False
    for premise, multiplier in zip(premises, multipliers, strict=True):
        value = arithmetic.poly(multiplier)
        need(bool(value), "a multiplier is zero: the premise is not needed")
        if premise.claim[0] != "eq":
            need(
                arithmetic.nonnegative(value),
                f"the multiplier {show(multiplier)} is not known to be nonnegative",
            )
            strict = strict or (premise.claim[0] == "lt" and arithmetic.positive(value))
        total = ("add", total, ("mul", multiplier, ("sub", premise.claim[2], premise.claim[1])))
    need(
        claim[0] != "eq" or all(p.claim[0] == "eq" for p in premises),
        "an inequality cannot prove an equation",
    )
    need(claim[0] != "lt" or strict, "nothing here is strict")
    gap = ("sub", ("sub", claim[2], claim[1]), total)
    need(arithmetic.equal(gap, "0"), "the premises do not add up to the claim")
    return _joined(everything), "kernel"


INCREASING = frozenset({"add", "max", "min", "exp", "kl_inverse"})


def _rule_monotone(context: Context, claim: Term, premises: list[Judgement], data: Json) -> Outcome:
    """From ``a <= b`` to ``C[a] <= C[b]`` in a context that increases; or decreases, from ``b <= a``."""
    need(claim[0] in ("le", "eq") and not data and bool(premises), "monotone takes premises and no data")
    order = _Monotone(context, premises)
    need(
        order.below(claim[1], claim[2]),
        "the right side is not the left side with larger terms in increasing places",
    )
    if claim[0] == "eq":
        need(all(premises[n].claim[0] == "eq" for n in order.used), "an inequality cannot prove an equation")
    signs = {n for n, p in enumerate(premises) if is_sign(p.claim)}
    need(order.used | signs == set(range(len(premises))), "a premise is not used")
    return _joined(premises), "kernel"


class _Monotone:
    """Compare two terms from the inside out; ``used`` are the premises that were needed."""

    def __init__(self, context: Context, premises: list[Judgement]) -> None:
        self.context, self.premises, self.used = context, premises, set[int]()
        self.arithmetic = arithmetic_of(context, premises)
        self.averaging = False

    def below(self, left: Term, right: Term) -> bool:
        """Whether ``left <= right`` by the premises and the monotonicity of the nodes above them."""
        if left == right:
            return True
        for number, premise in enumerate(self.premises):
            if not _is_claim(premise.claim):
                continue
            low, high = premise.claim[1:]
            if (low, high) == (left, right) or (premise.claim[0] == "eq" and (high, low) == (left, right)):
                need(
                    not (self.averaging and premise.events),
                    "what holds with high probability only cannot be averaged",
                )
                self.used.add(number)
                return True
        return self._inside(left, right) or self._congruent(left, right) or self.arithmetic.equal(left, right)

    def _nonnegative(self, *terms: Term) -> bool:
        return all(self.arithmetic.nonnegative(self.arithmetic.poly(term)) for term in terms)

    def _positive(self, *terms: Term) -> bool:
        return all(self.arithmetic.positive(self.arithmetic.poly(term)) for term in terms)

    def _inside(self, left: Term, right: Term) -> bool:
        if not (isinstance(left, tuple) and isinstance(right, tuple)):
            return False
        if left[0] != right[0] or len(left) != len(right):
            return False
        head, a, b = left[0], left[1:], right[1:]
        if head in ("E", "sup", "sum"):
            return bool(a[0] == b[0]) and self._under_binder(head, a[0], a[1], b[1])
        if head == "sub":
            return self.below(a[0], b[0]) and self.below(b[1], a[1])
        if head == "neg":
            return self.below(b[0], a[0])
        if head == "mul":
            changed = [n for n in range(len(a)) if a[n] != b[n]]
            others = [t for n in range(len(a)) if changed != [n] for t in (a[n], b[n])]
            return self._nonnegative(*others) and all(map(self.below, a, b))
        if head == "div":
            same_bottom = a[1] == b[1] or (self._nonnegative(a[0]) and self.below(b[1], a[1]))
            return self._positive(a[1], b[1]) and same_bottom and self.below(a[0], b[0])
        if head == "log":
            return self._positive(a[0]) and self.below(a[0], b[0])
        if head == "sqrt":
            return self._nonnegative(a[0]) and self.below(a[0], b[0])
        if head == "pow":
            exponent = rational(a[1])
            usable = a[1] == b[1] and exponent is not None and exponent > 0
            return usable and self._nonnegative(a[0]) and self.below(a[0], b[0])
        if head in INCREASING:
            return all(map(self.below, a, b))
        return False

    def _congruent(self, left: Term, right: Term) -> bool:
        """Equal parts make equal wholes, whatever the head."""
        if not (isinstance(left, tuple) and isinstance(right, tuple)) or left[0] in BINDERS:
            return False
        if left[0] != right[0] or len(left) != len(right):
            return False
        return all(
            x == y or (self.below(x, y) and self.below(y, x))
            for x, y in zip(left[1:], right[1:], strict=True)
        )

    def _under_binder(self, head: str, name: str, left: Term, right: Term) -> bool:
        need(self.context.kinds.get(name) == "dummy", f"{name} is bound here, so it must be a dummy")
        before, self.averaging = self.averaging, self.averaging or head == "E"
        try:
            return self.below(left, right)
        finally:
            self.averaging = before


def _rule_optimise(context: Context, claim: Term, premises: list[Judgement], data: Json) -> Outcome:
    """A free parameter is set to the exhibited optimum: the derivative vanishes there."""
    need(
        set(data) == {"variable", "at"} and bool(premises),
        "optimise needs a variable, its optimum and a premise",
    )
    name, at = str(data["variable"]), parse(data["at"])
    need(context.kinds.get(name) == "free", f"{name} is not a free parameter")
    arithmetic = arithmetic_of(context, premises[1:])
    _admit_term(context, "optimise", name, context.sorts[name], "free", at, arithmetic)
    source = premises[0].claim
    need(
        source[0] == "le" and not mentions(source[1], name), "the left side must not depend on the parameter"
    )
    slope = substitute(derivative(source[2], name), {name: at})
    need(arithmetic.equal(slope, "0"), "the derivative does not vanish at the exhibited optimum")
    need(
        same(claim, substitute(source, {name: at}), arithmetic), "the claim is not the premise at the optimum"
    )
    return _joined(premises), "kernel"


def _rule_specialise(context: Context, claim: Term, premises: list[Judgement], data: Json) -> Outcome:
    """A free parameter or a dummy takes a value."""
    need(
        set(data) == {"variable", "at"} and len(premises) >= 1,
        "specialise needs a variable, a term and a premise",
    )
    name, at = str(data["variable"]), parse(data["at"])
    need(context.kinds.get(name) in ("free", "dummy"), f"{name} is neither a free parameter nor a dummy")
    arithmetic = arithmetic_of(context, premises[1:])
    _admit_term(context, "specialise", name, context.sorts[name], "free", at, arithmetic)
    need(mentions(premises[0].claim, name), f"{name} does not occur in the premise")
    need(
        same(claim, substitute(premises[0].claim, {name: at}), arithmetic),
        "the claim is not the premise with the term put in",
    )
    return _joined(premises), "kernel"


def _rule_grid(context: Context, claim: Term, premises: list[Judgement], data: Json, step: str) -> Outcome:
    """Countable union: the events fail with probability ``total * weight(j)``, weights that sum to at most 1.

    Either ``data["tail"]`` shows that the weights telescope (weight(j) = tail(j) - tail(j+1), tail starts
    at 1 and is not negative), or ``data["weight"]`` is a nonnegative weight and the second premise says that
    its sum is at most 1.
    """
    telescoping = set(data) == {"index", "total", "tail"} and len(premises) == 1
    summed = set(data) == {"index", "total", "weight"} and len(premises) == 2
    need(telescoping or summed, "grid needs index, total and a tail; or a weight and a premise on its sum")
    name, total = str(data["index"]), parse(data["total"])
    need(context.kinds.get(name) == "grid", f"{name} is not a grid variable")
    need(not mentions(total, name), "the total must not depend on the index")
    arithmetic = arithmetic_of(context)
    if telescoping:
        tail, start = parse(data["tail"]), "0" if context.sorts[name] == "index" else "1"
        weight: Term = ("sub", tail, substitute(tail, {name: ("add", name, "1")}))
        need(arithmetic.equal(substitute(tail, {name: start}), "1"), "the tail does not start at 1")
        need(arithmetic.nonnegative(arithmetic.poly(tail)), "the tail is not nonnegative")
    else:
        weight = parse(data["weight"])
        need(arithmetic.nonnegative(arithmetic.poly(weight)), "the weight is not nonnegative")
        need(
            same(premises[1].claim, ("le", ("sum", name, weight), "1"), arithmetic),
            "the second premise must say that the weights add up to at most 1",
        )
        need(not premises[1].events, "the weights must add up to at most 1 with certainty")
    events = premises[0].events
    concerned = [event for event in events if name in event.depends]
    need(bool(concerned), f"no event depends on {name}: nothing to unite")
    spent: Term = ("add", *(event.delta for event in sorted(concerned, key=lambda e: e.id)), "0")
    need(
        arithmetic.equal(spent, ("mul", total, weight)),
        "the events cost something else than total times the weight",
    )
    need(same(claim, premises[0].claim, arithmetic), "the union must repeat the claim")
    rest = frozenset().union(*(event.depends for event in concerned)) - {name}
    return (events - set(concerned)) | {Event(step, total, rest)}, "kernel"


def _rule_interval(context: Context, claim: Term, premises: list[Judgement], data: Json) -> Outcome:
    """A numeric inequality over a box, by interval arithmetic with bisection; the box comes from premises."""
    need(claim[0] in ("le", "lt") and set(data) == {"box"}, "interval needs an inequality and a box")
    box = {str(name): (parse(low), parse(high)) for name, (low, high) in data["box"].items()}
    wanted = [("le", low, name) for name, (low, _) in box.items()]
    wanted += [("le", name, high) for name, (_, high) in box.items()]
    have = [premise.claim for premise in premises]
    need(
        sorted(map(show, wanted)) == sorted(map(show, have)), "the box must be exactly what the premises say"
    )
    try:
        interval.prove(claim, box)
    except interval.NotProved as error:
        raise Refused(str(error)) from None
    return _joined(premises), "interval"


PLAIN: dict[str, Callable[..., Outcome]] = {
    "hypothesis": _rule_hypothesis,
    "algebra": _rule_algebra,
    "sign": _rule_sign,
    "combine": _rule_combine,
    "monotone": _rule_monotone,
    "optimise": _rule_optimise,
    "specialise": _rule_specialise,
    "interval": _rule_interval,
}
NAMED: dict[str, Callable[..., Outcome]] = {
    "lemma": _rule_lemma,
    "cite": _rule_cite,
    "axiom": _rule_axiom,
    "paper": _rule_paper,
    "grid": _rule_grid,
}
