"""Questions that are made from a step of a derivation.

Each kind asks for something that is written in the step and is hidden from the reader until the answer:

* ``number``: the line with one of its numbers in a box; which number is it?
* ``line``: three lines of which the checker accepts one; the others have one thing changed;
* ``middle``: which expression do two lines share, so that it drops out when they are chained?
* ``multiplier``: by what was a line multiplied?
* ``hypothesis``: which hypothesis allows the line?
* ``result``: which earlier result gives the line?
* ``optimum``: which value of the free parameter is best?

The explanation is the step's own reason. That the wrong answers are wrong is tested with the checker.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping

import sympy

from proofs.export import Nested, from_prefix, read_nested
from proofs.lessons.catalogue import Entry, Step, sentence
from proofs.lessons.model import Asked, Choice, Note, Number, Question
from proofs.lessons.notation import BOX, is_numeric, spell

Catalogue = Mapping[str, Entry]
Path = tuple[int, ...]
COMMON_RESULTS = ("Lemma 1", "Lemma 2", "Lemma 5", "Lemma 6 (vector)", "Lemma 7", "Lemma 9 (frobenius)")
"""What is offered beside the right result."""
_NUMBER = (
    "Which number belongs in the box?",
    "One number of the next line is hidden. Which number is it?",
    "Fill the box, so that this becomes the next line.",
)
_HYPOTHESIS = (
    "Which hypothesis allows this line?",
    "This line does not hold for just anything. Which hypothesis does it need?",
)
_RESULT = (
    "Which earlier result gives this line?",
    "This line is an earlier result, put to use. Which one?",
)


class CannotAsk(ValueError):
    """No question of this kind can be made from this step."""


def question_before(entries: Catalogue, entry: Entry, step: Step, note: Note | None) -> Question:
    """The question before a step: the chapter's own, or one made from the step.

    Raises ``CannotAsk`` for a step whose reason is in words only and for which the chapter asks nothing.
    """
    ask = note.ask if note else None
    if isinstance(ask, Question):
        return ask
    if ask is not None:
        return _KINDS[ask.kind](entries, entry, step, ask)
    for kind in _suited(step):
        try:
            return _KINDS[kind](entries, entry, step, Asked(kind))
        except CannotAsk:
            continue
    raise CannotAsk(
        f"{entry.name}, step {step.id} ({step.rule}): nothing in the step can be asked; "
        "write a question for it in the chapter"
    )


def _suited(step: Step) -> tuple[str, ...]:
    kinds = {
        "lemma": ("result",),
        "cite": ("result",),
        "combine": ("number", "multiplier", "hypothesis", "middle", "line"),
        "monotone": ("hypothesis", "line"),
        "algebra": ("number", "line"),
        "sign": ("line",),
        "optimise": ("optimum",),
    }
    return kinds.get(step.rule, ())


def identifier(entry: Entry, step: Step) -> str:
    """The id of the question made from a step."""
    return f"{entry.anchor.removeprefix('result-')}-{step.id}"


def _varied(prompts: tuple[str, ...], entry: Entry, step: Step) -> str:
    """One of the prompts, the same one at every build."""
    return prompts[hashlib.sha256(identifier(entry, step).encode()).digest()[0] % len(prompts)]


def _term(term: Nested | str) -> str:
    return "{term:" + (term if isinstance(term, str) else spell(term)) + "}"


def _words(text: str) -> str:
    """Words of a proof object inside lesson text."""
    return "{words:" + text.replace("{", "(").replace("}", ")") + "}"


def _relation(step: Step) -> tuple[str, Nested, Nested]:
    tree = read_nested(step.prefix)
    if not isinstance(tree, tuple) or len(tree) != 3 or tree[0] not in ("le", "lt", "eq"):
        raise CannotAsk(f"{step.id} is not a relation")
    return str(tree[0]), tree[1], tree[2]


# Terms
def _parts(term: Nested, path: Path = ()) -> Iterator[tuple[Path, Nested]]:
    """All parts of a term with the way to them, from the outside in; exponents are left out."""
    yield path, term
    if isinstance(term, tuple):
        last = 2 if term[0] == "pow" else len(term)
        for index in range(1, last):
            yield from _parts(term[index], (*path, index))


def _replace(term: Nested, path: Path, new: Nested) -> Nested:
    if not path:
        return new
    if not isinstance(term, tuple):
        raise CannotAsk("there is no such part")
    return (*term[: path[0]], _replace(term[path[0]], path[1:], new), *term[path[0] + 1 :])


def _numbers(term: Nested) -> list[tuple[Path, Nested]]:
    """The explicit numbers of a term, each as large as it goes, without 0 and 1."""
    found: list[tuple[Path, Nested]] = []
    for path, part in _parts(term):
        inside = any(path[: len(outer)] == outer for outer, _ in found)
        if is_numeric(part) and part not in ("0", "1", "-1") and not inside:
            found.append((path, part))
    return found


# The kinds
def _number(entries: Catalogue, entry: Entry, step: Step, asked: Asked) -> Question:
    relation, left, right = _relation(step)
    numbers = _numbers(right)
    if not asked.place < len(numbers):
        raise CannotAsk(f"{entry.name}, step {step.id} has no number {asked.place + 1}")
    path, number = numbers[asked.place]
    value = from_prefix(spell(number))
    shown = spell((relation, left, _replace(right, path, BOX)))
    digits = "" if value.is_Rational else " (two digits after the point)"
    return Question(
        identifier(entry, step),
        f"{_varied(_NUMBER, entry, step)}{digits}\n\n{_term(shown)}",
        Number(
            lambda: value,
            "0.001" if value.is_Rational else "0.006",
            asked.hint or "The lines above have all that is needed. Follow the numbers through them.",
        ),
        f"{_words(step.why)} The number is {_term(number)}.",
    )


def _in_increasing_place(term: Nested, path: Path) -> bool:
    """Whether a larger part makes a larger whole: no denominator and nothing that is taken away."""
    for index in path:
        head = term[0] if isinstance(term, tuple) else ""
        if head == "neg" or (head in ("div", "sub") and index == 2):
            return False
        term = term[index]
    return True


def _smaller(number: Nested) -> Nested:
    """A number that is smaller, and looks like the other constants of the course."""
    value = from_prefix(spell(number))
    return next((text for text in ("1", "1/2", "1/4") if value > sympy.Rational(text)), "0")


def _changes(step: Step) -> Iterator[tuple[str, str]]:
    """Lines that claim more than the step's, or something else, each with what is wrong with it."""
    relation, left, right = _relation(step)
    usable = [(path, part) for path, part in _parts(right) if _in_increasing_place(right, path)]

    def line(path: Path, new: Nested) -> str:
        return spell((relation, left, _replace(right, path, new)))

    for path, number in _numbers(right):
        if _in_increasing_place(right, path):
            less = _smaller(number)
            yield line(path, less), f"{_term(less)} is too small. What we have gives {_term(number)} there."
    for path, part in usable:
        if isinstance(part, tuple) and part[0] == "add":
            rest: Nested = part[:-1] if len(part) > 3 else part[1]
            yield line(path, rest), f"The summand {_term(part[-1])} is lost on the way."
    if relation != "eq":
        yield (
            spell((relation, right, left)),
            "This is the line turned round. What we have bounds the left side from above, not from below.",
        )
    for path, part in usable:
        if isinstance(part, tuple) and part[0] == "mul" and len(part) == 3 and not is_numeric(part[1]):
            yield line(path, part[2]), f"The factor {_term(part[1])} is lost on the way."


def changed_lines(step: Step) -> tuple[tuple[str, str], ...]:
    """Two changed lines, as prefix text, each with what is wrong with it."""
    found: dict[str, str] = {}
    for line, wrong in _changes(step):
        if line != step.prefix:
            found.setdefault(line, wrong)
    if len(found) < 2:
        raise CannotAsk(f"step {step.id}: too little can be changed")
    return tuple(found.items())[:2]


def _line(entries: Catalogue, entry: Entry, step: Step, asked: Asked) -> Question:
    return Question(
        identifier(entry, step),
        "One of these lines follows from what we have. The checker refuses the other two. Which one does it "
        "accept?",
        (
            Choice(_term(step.prefix), _words(step.why), right=True),
            *(Choice(_term(line), wrong) for line, wrong in changed_lines(step)),
        ),
        _words(step.why),
    )


def _sides(term: str) -> tuple[Nested, ...]:
    tree = read_nested(term)
    return tree[1:] if isinstance(tree, tuple) and tree[0] in ("le", "lt", "eq") else ()


def _middle(entries: Catalogue, entry: Entry, step: Step, asked: Asked) -> Question:
    lines = [entry.step(premise).prefix for premise in step.premises]
    gone = [
        side
        for line in lines
        for side in _sides(line)
        if isinstance(side, tuple)
        and sum(spell(side) in other for other in lines) >= 2
        and spell(side) not in step.prefix
    ]
    stays = [side for side in _sides(step.prefix) if not is_numeric(side)]
    others = [side for line in lines for side in _sides(line) if side not in gone and side not in stays]
    offered = list(dict.fromkeys((*stays, *others)))[:2]
    if not gone or len(offered) < 2:
        raise CannotAsk(f"{entry.name}, step {step.id}: no expression drops out")
    middle = max(gone, key=lambda side: len(spell(side)))
    return Question(
        identifier(entry, step),
        "Two of these lines are chained. Which expression do they share, so that it drops out?",
        (
            Choice(_term(middle), "It stands in both lines, so the chain closes over it.", right=True),
            *(
                Choice(_term(side), "This one stays." if side in stays else "It stands in one line only.")
                for side in offered
            ),
        ),
        _words(step.why),
    )


def _inverse(factor: str) -> str:
    tree = read_nested(factor)
    if is_numeric(tree):
        return str(1 / from_prefix(factor))
    if isinstance(tree, tuple) and tree[0] == "div" and tree[1] == "1":
        return spell(tree[2])
    return spell(("div", "1", tree))


def other_multipliers(step: Step, place: int) -> tuple[str, ...]:
    """Two things by which the line was not multiplied."""
    products = [part for _, part in _parts(read_nested(step.prefix)) if isinstance(part, tuple)]
    factors = [spell(f) for part in products if part[0] in ("mul", "div") for f in part[1:]]
    short = [f for f in factors if len(f) < 20 and not is_numeric(read_nested(f))]
    candidates = dict.fromkeys((_inverse(step.times[place]), *short, "2", "m"))
    return tuple(c for c in candidates if c != step.times[place])[:2]


def _multiplier(entries: Catalogue, entry: Entry, step: Step, asked: Asked) -> Question:
    if not asked.place < len(step.times) or step.times[asked.place] in ("1", "-1"):
        raise CannotAsk(f"{entry.name}, step {step.id}: nothing is multiplied")
    factor, line = step.times[asked.place], entry.step(step.premises[asked.place])
    equation = line.prefix.startswith("(eq")
    which = "the line we have" if len(step.premises) == 1 else f"the line {_term(line.prefix)}"
    return Question(
        identifier(entry, step),
        f"By what was {which} multiplied on the way to this one?",
        (
            Choice(
                _term(factor),
                "An equation may be multiplied by anything."
                if equation
                else "It is not negative, so the inequality keeps its direction.",
                right=True,
            ),
            *(
                Choice(_term(other), "Try it on the left side: it does not come out.")
                for other in other_multipliers(step, asked.place)
            ),
        ),
        f"{_words(step.why)} Only a factor that is not negative keeps the direction of an inequality.",
        line_shown=True,
    )


def _hypothesis(entries: Catalogue, entry: Entry, step: Step, asked: Asked) -> Question:
    by_id = {s.id: s for s in entry.steps}
    mine = [by_id[p] for p in step.premises if by_id[p].rule == "hypothesis"]
    rest = [s for s in entry.steps if s.rule == "hypothesis" and s.id not in step.premises]
    if not asked.place < len(mine) or len(rest) < 2:
        raise CannotAsk(f"{entry.name}, step {step.id}: no hypothesis to ask for")
    right = mine[asked.place]
    return Question(
        identifier(entry, step),
        _varied(_HYPOTHESIS, entry, step),
        (
            Choice(
                f"{_words(sentence(right.why, ''))}: {_term(right.prefix)}",
                f"It goes into the line as it stands. {_words(step.why)}",
                right=True,
            ),
            *(
                Choice(
                    f"{_words(sentence(other.why, ''))}: {_term(other.prefix)}",
                    "The proof needs it too, but in another step.",
                )
                for other in rest[:2]
            ),
        ),
        _words(step.why),
        line_shown=True,
    )


def _result(entries: Catalogue, entry: Entry, step: Step, asked: Asked) -> Question:
    if step.uses not in entries:
        raise CannotAsk(f"{entry.name}, step {step.id} uses no result of the course")
    used, family = entries[step.uses], step.uses.split(" (")[0].rstrip("abc()")
    offered = [n for n in COMMON_RESULTS if n in entries and not n.startswith(family) and n != entry.name]
    start = hashlib.sha256(identifier(entry, step).encode()).digest()[1] % len(offered)
    others = [entries[name] for name in (offered[start:] + offered[:start])[:2]]
    return Question(
        identifier(entry, step),
        _varied(_RESULT, entry, step),
        (
            Choice(_words(used.heading), _words(step.why), right=True),
            *(Choice(_words(other.heading), f"That one says: {_words(other.statement)}") for other in others),
        ),
        _words(f"{step.why} {used.heading} says: {used.statement}"),
        line_shown=True,
    )


def other_optima(step: Step) -> tuple[str, ...]:
    """Two values of the free parameter that are not the best one."""
    best = read_nested(step.at)
    inside: Nested = best[1] if isinstance(best, tuple) and best[0] == "sqrt" else ("mul", "2", best)
    return spell(("div", "1", best)), spell(inside)


def _optimum(entries: Catalogue, entry: Entry, step: Step, asked: Asked) -> Question:
    if not step.at:
        raise CannotAsk(f"{entry.name}, step {step.id} chooses nothing")
    name = _term(step.variable)
    return Question(
        identifier(entry, step),
        f"The line holds for every positive {name}. Which {name} makes its right side smallest?",
        (
            Choice(_term(step.at), "There the two summands are equal, and the slope is zero.", right=True),
            *(
                Choice(_term(other), "Put it in: one summand is then larger than need be.")
                for other in other_optima(step)
            ),
        ),
        f"{_words(step.why)} At this {name} the derivative of the right side is zero.",
    )


_KINDS: dict[str, Callable[[Catalogue, Entry, Step, Asked], Question]] = {
    "number": _number,
    "line": _line,
    "middle": _middle,
    "multiplier": _multiplier,
    "hypothesis": _hypothesis,
    "result": _result,
    "optimum": _optimum,
}
