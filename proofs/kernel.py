"""THE SYMBOLIC KERNEL: re-reads stored derivations and refuses what does not follow.

TRUSTED, together with ``terms.py`` (reading, substitution), ``normal_form.py`` (exact identities and signs),
``axioms.py`` (the rules of expectation and supremum) and ``interval.py`` (enclosures).
It shares no code with what builds derivations. A derivation is plain data (JSON): variables, hypotheses, a
conclusion and steps. Each step has a claim, a rule, premises (earlier steps), the rule's data and a level.

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

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from proofs import interval
from proofs.axioms import AXIOMS
from proofs.normal_form import BINDERS, Arithmetic, NotDecided, Term, mentions, rational, under_signs
from proofs.terms import Refused, derivative, free_names, parse, show, substitute

LEVELS = ("coq", "kernel", "interval", "z3", "cited", "paper", "sampled")
"""From strongest to weakest. ``kernel``: decided here by exact rules. ``cited``: proved in print, referenced.
``paper``: proved in prose in this project and read by people only. ``sampled`` never proves anything."""

SORTS = ("real", "nonnegative", "positive", "count", "index", "fraction", "point", "sample", "signs", "gauss")
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
def _arithmetic(context: Context, facts: Iterable[Judgement] = ()) -> Arithmetic:
    known = []
    for claim in (*context.hypotheses.values(), *(fact.claim for fact in facts)):
        if _is_sign(claim):
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


def _is_sign(claim: Term) -> bool:
    return isinstance(claim, tuple) and claim[0] in ("le", "lt") and claim[1] == "0"


def _is_claim(term: Term) -> bool:
    return isinstance(term, tuple) and term[0] in ("le", "lt", "eq")


def _need(condition: bool, message: str) -> None:
    if not condition:
        raise Refused(message)


def _difference(claim: Term, arithmetic: Arithmetic) -> Any:
    return arithmetic.poly(("sub", claim[2], claim[1]))


# The rules. Each gets (context, claim, premises, data) and returns the judgement's events and the level.
Outcome = tuple[frozenset[Event], str]


def _joined(premises: Iterable[Judgement]) -> frozenset[Event]:
    return frozenset().union(*(premise.events for premise in premises))


def _rule_hypothesis(context: Context, claim: Term, premises: list[Judgement], data: Json) -> Outcome:
    _need(not premises and set(data) == {"id"}, "a hypothesis takes no premises and one id")
    _need(data["id"] in context.hypotheses, f"there is no hypothesis {data['id']!r}")
    _need(claim == context.hypotheses[data["id"]], "the claim is not the hypothesis, word for word")
    context.used_hypotheses.add(data["id"])
    return frozenset(), "kernel"


def _instantiate(
    context: Context, statement: Statement, claim: Term, premises: list[Judgement], data: Json, step: str
) -> frozenset[Event]:
    mapping = {name: parse(text) for name, text in data.get("with", {}).items()}
    declared = {name: (sort, kind) for name, sort, kind in statement.variables}
    _need(
        set(mapping) == set(declared),
        f"{statement.name} needs terms for {sorted(declared)}, was given {sorted(mapping)}",
    )
    arithmetic = _arithmetic(context, premises)
    depends: set[str] = set()
    for name, term in mapping.items():
        sort, kind = declared[name]
        grid_variables = _admit_term(context, statement.name, name, sort, kind, term, arithmetic)
        depends |= grid_variables if kind == "before" else set()
    dummies = [mapping[name] for name, (_, kind) in declared.items() if kind == "dummy"]
    _need(len(set(dummies)) == len(dummies), "two dummies of the lemma cannot be the same variable")
    for name, term in mapping.items():
        caught = free_names(term) & set(dummies) if declared[name][1] != "dummy" else set()
        _need(
            not caught,
            f"what is put for {name} depends on {sorted(caught)}, over which {statement.name} "
            "quantifies: use a lambda",
        )
    wanted = [substitute(h, mapping) for h in statement.hypotheses]
    remaining = list(premises)
    for number, hypothesis in enumerate(wanted):
        _need(
            number < len(remaining),
            f"hypothesis {number + 1} of {statement.name} is not discharged: {show(hypothesis)}",
        )
        _need(
            same(remaining[number].claim, hypothesis, arithmetic),
            f"hypothesis {number + 1} of {statement.name} is {show(hypothesis)}, the premise says "
            f"{show(remaining[number].claim)}",
        )
    for extra in remaining[len(wanted) :]:
        _need(_is_sign(extra.claim), "a premise too many")
    conclusion = substitute(statement.claim, mapping)
    _need(same(claim, conclusion, arithmetic), f"{statement.name} gives {show(conclusion)}")
    events = _joined(premises)
    if statement.delta != "0":
        events |= {Event(step, substitute(statement.delta, mapping), frozenset(depends))}
    return events


def _admit_term(
    context: Context, lemma: str, name: str, sort: str, kind: str, term: Term, arithmetic: Arithmetic
) -> set[str]:
    """Check sort and timing of a term put for a lemma's variable; return the grid variables it mentions."""
    names = {n for n in free_names(term) if n in context.kinds}
    if kind == "dummy":
        _need(
            isinstance(term, str)
            and context.kinds.get(term) == "dummy"
            and sort in ("any", context.sorts[term]),
            f"{name} of {lemma} holds for all values; put a dummy of sort {sort} for it",
        )
        return set()
    if kind == "before":
        late = sorted(n for n in names if context.kinds[n] in ("after", "dummy", "free"))
        _need(not late, f"{name} of {lemma} must be fixed before the sample, but {', '.join(late)} is not")
    body = term
    while isinstance(body, tuple) and body[0] == "lambda":
        body = body[2]
    if sort in ("positive", "count"):
        _need(
            arithmetic.positive(arithmetic.poly(body)),
            f"{name} of {lemma} must be positive; {show(term)} is not known to be",
        )
    if sort in ("nonnegative", "index", "fraction"):
        _need(
            arithmetic.nonnegative(arithmetic.poly(body)),
            f"{name} of {lemma} must be nonnegative; {show(term)} is not known to be",
        )
    if sort in ("count", "index"):
        _need(_whole(term, context), f"{name} of {lemma} must be an integer, not {show(term)}")
    if sort == "fraction":
        named = body if isinstance(body, str) else body[0]
        _need(
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
    return term[0] in ("add", "mul") and all(_whole(part, context) for part in term[1:])


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
    _need(not data, "a step proved in prose has no data")
    entry = context.ledger.get(f"{context.name}/{step}")
    if entry is None:
        raise Refused("this prose step is not in the ledger of prose steps")
    _need(parse(entry["claim"]) == claim, f"the ledger of prose steps says {entry['claim']}")
    said = [parse(text) for text in entry["premises"]]
    _need(said == [premise.claim for premise in premises], "the premises are not those of the ledger")
    return _joined(premises), "paper"


def _rule_algebra(context: Context, claim: Term, premises: list[Judgement], data: Json) -> Outcome:
    _need(not data, "algebra takes no data")
    _need(claim[0] == "eq", "algebra proves equations; use combine for inequalities")
    _need(all(_is_sign(p.claim) for p in premises), "algebra uses signs only")
    _need(
        _arithmetic(context, premises).equal(claim[1], claim[2]), "the two sides have different normal forms"
    )
    return _joined(premises), "kernel"


def _rule_sign(context: Context, claim: Term, premises: list[Judgement], data: Json) -> Outcome:
    """``b - a`` is a sum of squares with weights (``data["squares"]``), or visibly nonnegative."""
    _need(claim[0] in ("le", "lt"), "sign proves inequalities")
    arithmetic = _arithmetic(context, premises)
    difference = _difference(claim, arithmetic)
    if "squares" in data:
        total: Term = "0"
        for weight, square in data["squares"]:
            _need(
                arithmetic.nonnegative(arithmetic.poly(parse(weight))), f"the weight {weight} may be negative"
            )
            total = ("add", total, ("mul", parse(weight), ("pow", parse(square), "2")))
        _need(
            claim[0] == "le" and arithmetic.equal(("sub", claim[2], claim[1]), total),
            "not the sum of these squares",
        )
    elif claim[0] == "le":
        _need(arithmetic.nonnegative(difference), "the difference is not visibly nonnegative")
    else:
        _need(arithmetic.positive(difference), "the difference is not visibly positive")
    return _joined(premises), "kernel"


def _rule_combine(context: Context, claim: Term, premises: list[Judgement], data: Json) -> Outcome:
    """``claim`` is the exact sum of premises times nonnegative multipliers (equations: any)."""
    multipliers = [parse(text) for text in data.get("times", ["1"] * len(premises))]
    _need(
        set(data) <= {"times"} and len(multipliers) <= len(premises),
        "at most one multiplier for each premise",
    )
    _need(
        all(_is_claim(p.claim) for p in premises) and _is_claim(claim),
        "combine works on inequalities and equations",
    )
    arithmetic = _arithmetic(context, premises)
    for fact in premises[len(multipliers) :]:
        _need(
            _is_sign(fact.claim),
            "a premise without multiplier must be a sign",
        )
    everything, premises = premises, premises[: len(multipliers)]
    total: Term = "0"
    strict = False
    for premise, multiplier in zip(premises, multipliers, strict=True):
        value = arithmetic.poly(multiplier)
        _need(bool(value), "a multiplier is zero: the premise is not needed")
        if premise.claim[0] != "eq":
            _need(
                arithmetic.nonnegative(value),
                f"the multiplier {show(multiplier)} is not known to be nonnegative",
            )
            strict = strict or (premise.claim[0] == "lt" and arithmetic.positive(value))
        total = ("add", total, ("mul", multiplier, ("sub", premise.claim[2], premise.claim[1])))
    _need(
        claim[0] != "eq" or all(p.claim[0] == "eq" for p in premises),
        "an inequality cannot prove an equation",
    )
    _need(claim[0] != "lt" or strict, "nothing here is strict")
    gap = ("sub", ("sub", claim[2], claim[1]), total)
    _need(arithmetic.equal(gap, "0"), "the premises do not add up to the claim")
    return _joined(everything), "kernel"


INCREASING = frozenset({"add", "max", "min", "exp", "kl_inverse"})


def _rule_monotone(context: Context, claim: Term, premises: list[Judgement], data: Json) -> Outcome:
    """From ``a <= b`` to ``C[a] <= C[b]`` in a context that increases; or decreases, from ``b <= a``."""
    _need(claim[0] in ("le", "eq") and not data and bool(premises), "monotone takes premises and no data")
    order = _Monotone(context, premises)
    _need(
        order.below(claim[1], claim[2]),
        "the right side is not the left side with larger terms in increasing places",
    )
    if claim[0] == "eq":
        _need(all(premises[n].claim[0] == "eq" for n in order.used), "an inequality cannot prove an equation")
    signs = {n for n, p in enumerate(premises) if _is_sign(p.claim)}
    _need(order.used | signs == set(range(len(premises))), "a premise is not used")
    return _joined(premises), "kernel"


class _Monotone:
    """Compare two terms from the inside out; ``used`` are the premises that were needed."""

    def __init__(self, context: Context, premises: list[Judgement]) -> None:
        self.context, self.premises, self.used = context, premises, set[int]()
        self.arithmetic = _arithmetic(context, premises)
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
                _need(
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
        _need(self.context.kinds.get(name) == "dummy", f"{name} is bound here, so it must be a dummy")
        before, self.averaging = self.averaging, self.averaging or head == "E"
        try:
            return self.below(left, right)
        finally:
            self.averaging = before


def _rule_optimise(context: Context, claim: Term, premises: list[Judgement], data: Json) -> Outcome:
    """A free parameter is set to the exhibited optimum: the derivative vanishes there."""
    _need(
        set(data) == {"variable", "at"} and bool(premises),
        "optimise needs a variable, its optimum and a premise",
    )
    name, at = str(data["variable"]), parse(data["at"])
    _need(context.kinds.get(name) == "free", f"{name} is not a free parameter")
    arithmetic = _arithmetic(context, premises[1:])
    _admit_term(context, "optimise", name, context.sorts[name], "free", at, arithmetic)
    source = premises[0].claim
    _need(
        source[0] == "le" and not mentions(source[1], name), "the left side must not depend on the parameter"
    )
    slope = substitute(derivative(source[2], name), {name: at})
    _need(arithmetic.equal(slope, "0"), "the derivative does not vanish at the exhibited optimum")
    _need(
        same(claim, substitute(source, {name: at}), arithmetic), "the claim is not the premise at the optimum"
    )
    return _joined(premises), "kernel"


def _rule_specialise(context: Context, claim: Term, premises: list[Judgement], data: Json) -> Outcome:
    """A free parameter or a dummy takes a value."""
    _need(
        set(data) == {"variable", "at"} and len(premises) >= 1,
        "specialise needs a variable, a term and a premise",
    )
    name, at = str(data["variable"]), parse(data["at"])
    _need(context.kinds.get(name) in ("free", "dummy"), f"{name} is neither a free parameter nor a dummy")
    arithmetic = _arithmetic(context, premises[1:])
    _admit_term(context, "specialise", name, context.sorts[name], "free", at, arithmetic)
    _need(mentions(premises[0].claim, name), f"{name} does not occur in the premise")
    _need(
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
    _need(telescoping or summed, "grid needs index, total and a tail; or a weight and a premise on its sum")
    name, total = str(data["index"]), parse(data["total"])
    _need(context.kinds.get(name) == "grid", f"{name} is not a grid variable")
    _need(not mentions(total, name), "the total must not depend on the index")
    arithmetic = _arithmetic(context)
    if telescoping:
        tail, start = parse(data["tail"]), "0" if context.sorts[name] == "index" else "1"
        weight: Term = ("sub", tail, substitute(tail, {name: ("add", name, "1")}))
        _need(arithmetic.equal(substitute(tail, {name: start}), "1"), "the tail does not start at 1")
        _need(arithmetic.nonnegative(arithmetic.poly(tail)), "the tail is not nonnegative")
    else:
        weight = parse(data["weight"])
        _need(arithmetic.nonnegative(arithmetic.poly(weight)), "the weight is not nonnegative")
        _need(
            same(premises[1].claim, ("le", ("sum", name, weight), "1"), arithmetic),
            "the second premise must say that the weights add up to at most 1",
        )
        _need(not premises[1].events, "the weights must add up to at most 1 with certainty")
    events = premises[0].events
    concerned = [event for event in events if name in event.depends]
    _need(bool(concerned), f"no event depends on {name}: nothing to unite")
    spent: Term = ("add", *(event.delta for event in sorted(concerned, key=lambda e: e.id)), "0")
    _need(
        arithmetic.equal(spent, ("mul", total, weight)),
        "the events cost something else than total times the weight",
    )
    _need(same(claim, premises[0].claim, arithmetic), "the union must repeat the claim")
    rest = frozenset().union(*(event.depends for event in concerned)) - {name}
    return (events - set(concerned)) | {Event(step, total, rest)}, "kernel"


def _rule_interval(context: Context, claim: Term, premises: list[Judgement], data: Json) -> Outcome:
    """A numeric inequality over a box, by interval arithmetic with bisection; the box comes from premises."""
    _need(claim[0] in ("le", "lt") and set(data) == {"box"}, "interval needs an inequality and a box")
    box = {str(name): (parse(low), parse(high)) for name, (low, high) in data["box"].items()}
    wanted = [("le", low, name) for name, (low, _) in box.items()]
    wanted += [("le", name, high) for name, (_, high) in box.items()]
    have = [premise.claim for premise in premises]
    _need(
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


# Derivations
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
        except (Refused, NotDecided) as error:
            raise Refused(f"{name}, step {step.get('id')}: {error}") from None
        weakest = max(weakest, level, key=LEVELS.index)
        step_ids.append(step["id"])
        needed |= set(step["premises"])
    statement = read_statement(derivation, "coq" if str(name) in (machine or {}) else weakest)
    try:
        _check_end(context, derivation, statement, step_ids, needed)
    except (Refused, NotDecided) as error:
        raise Refused(f"{name}, conclusion: {error}") from None
    return statement


def _context(derivation: Json, library: Mapping[str, Statement], ledger: Mapping[str, Json]) -> Context:
    name = str(derivation["name"])
    sorts: dict[str, str] = {}
    kinds: dict[str, str] = {}
    for variable in derivation["variables"]:
        if set(variable) != {"name", "sort", "kind", "meaning"} or variable["name"] in sorts:
            raise Refused(f"{name}: bad or repeated variable {variable}")
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
    _need(set(step) == STEP_FIELDS, f"fields must be {sorted(STEP_FIELDS)}")
    identifier, rule = str(step["id"]), step["rule"]
    _need(identifier not in context.judgements, "two steps have the same id")
    _need(bool(str(step["why"]).strip()), "a step must say why")
    for premise in step["premises"]:
        _need(premise in context.judgements, f"premise {premise!r} is not an earlier step")
    _need(len(set(step["premises"])) == len(step["premises"]), "a premise is listed twice")
    premises = [context.judgements[premise] for premise in step["premises"]]
    claim = parse(step["claim"])
    _need(isinstance(claim, tuple), "a claim is not a single symbol")
    events, level = _apply(context, step, claim, premises)
    for number, premise in enumerate(premises):
        rest = premises[:number] + premises[number + 1 :]
        idle = _is_sign(premise.claim) and rule != "paper" and _passes(context, step, claim, rest)
        _need(not idle, f"premise {step['premises'][number]} is not needed")
    _need(step["level"] == level, f"the level is {level}, not {step['level']}")
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
    _need(bool(ids), "there are no steps")
    last = context.judgements[ids[-1]]
    _need(last.claim == statement.claim, f"the last step proves {show(last.claim)}")
    idle = [i for i in ids[:-1] if i not in needed]
    _need(not idle, f"steps that nothing uses: {idle}")
    signs = {name for name, claim in context.hypotheses.items() if _is_sign(claim)}
    unused = set(context.hypotheses) - context.used_hypotheses - signs
    _need(not unused, f"hypotheses that nothing uses: {sorted(unused)}")
    for event in last.events:
        _need(not event.depends, f"the event of step {event.id} was not united over {sorted(event.depends)}")
    spent: Term = ("add", *(event.delta for event in sorted(last.events, key=lambda e: e.id)), "0")
    _need(
        _arithmetic(context).equal(spent, statement.delta),
        f"the events fail with probability {show(spent)}, the conclusion promises {show(statement.delta)}",
    )
    mentioned: frozenset[str] = frozenset().union(
        free_names(statement.claim),
        free_names(statement.delta),
        *(_names(s) for s in derivation["steps"]),
        *(free_names(c) for c in context.hypotheses.values()),
    )
    idle_variables = set(context.sorts) - mentioned
    _need(not idle_variables, f"variables that occur nowhere: {sorted(idle_variables)}")
    for name, kind in context.kinds.items():
        _need(
            kind != "free" or name not in free_names(statement.claim),
            f"the free parameter {name} is left over",
        )


def _names(step: Json) -> frozenset[str]:
    found: set[str] = set()
    pending = [parse(step["claim"]), *(parse(t) for t in step["data"].get("with", {}).values())]
    while pending:
        term = pending.pop()
        if isinstance(term, str):
            found.add(term)
        else:
            pending += list(term)
    return frozenset(found)


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
