"""A user's claimed inequality, held against the derivations: follows, refuted, or not derivable here.

A claim names what it is about (one of ``FORMS``) and gives a right side in that form's symbols. *Follows*
means: a derivation from the proved inequality to the claimed one was written and the kernel checked it.
*Refuted* means: an exact counterexample was found and its two sides do not overlap. *Not derivable here*
means neither; it names the step that fails and the nearest multiple of the claimed right side that follows.
Sampling never makes a claim true.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from proofs import falsify
from proofs.build import Derivation, infix
from proofs.falsify import Counterexample, Instance
from proofs.interval import NotProved
from proofs.kernel import check
from proofs.library import load
from proofs.normal_form import Arithmetic, Mono, NotDecided, Poly, Term, add, scale
from proofs.terms import Refused, free_names, parse, show


@dataclass(frozen=True)
class Form:
    """Something that may be claimed: left side, proved right side, and where to look for a counterexample."""

    left: str
    """The left side in words."""
    derived: str
    """The proved right side, infix."""
    derivation: str
    symbols: dict[str, str]
    """name -> "sort: meaning" """
    instances: Callable[[], Iterator[Instance]] | None = None
    search: Callable[[Term, Sequence[Term]], Counterexample | None] | None = None
    signs: tuple[str, ...] = ()
    """Terms known to be nonnegative, such as log(1/delta)."""
    note: str = ""


_CONFIDENCE = {"m": "count: number of independent units", "delta": "positive: failure probability"}
_LEVEL = ("log(1/delta)",)

FORMS: dict[str, Form] = {
    "khintchine": Form(
        "length of a vector",
        "sqrt(2)*mean_modulus",
        "lemma-6-vector",
        {"mean_modulus": "nonnegative: average modulus of the signed coordinate sum"},
        falsify.khintchine,
    ),
    "vector-contraction": Form(
        "complexity of L-Lipschitz functions of vectors",
        "sqrt(2)*L*vector_complexity",
        "lemma-7",
        {
            "L": "positive: Lipschitz constant",
            "vector_complexity": "nonnegative: complexity of the vectors' coordinates, each with a "
            "sign of its own",
        },
        falsify.vector_contraction,
    ),
    "scalar-contraction": Form(
        "complexity of L-Lipschitz functions of numbers",
        "L*complexity",
        "lemma-5",
        {"L": "positive: Lipschitz constant", "complexity": "nonnegative: complexity of the numbers"},
        falsify.scalar_contraction,
    ),
    "massart": Form(
        "average of the best of N signed sums",
        "r*sqrt(2*log(N))",
        "lemma-4",
        {"r": "positive: bound on the vectors' length", "N": "count: number of vectors, at least 2"},
        falsify.massart,
        signs=("log(N)",),
    ),
    "symmetrization": Form(
        "average of the largest gap",
        "2*expected_complexity",
        "lemma-1",
        {"expected_complexity": "nonnegative: expected Rademacher complexity"},
        falsify.symmetrization,
    ),
    "uniform-deviation": Form(
        "largest gap between risk and empirical risk, with probability at least 1 - delta",
        "2*empirical_complexity + 2*M*sqrt(log(1/delta)/(2*m))",
        "lemma-3c",
        {
            **_CONFIDENCE,
            "M": "positive: the loss lies in [0, M]",
            "empirical_complexity": "nonnegative: empirical Rademacher complexity",
        },
        search=falsify.uniform_deviation,
        signs=_LEVEL,
    ),
    "softmax-l1": Form(
        "l1 change of softmax",
        "largest_change",
        "lemma-12a",
        {"largest_change": "nonnegative: largest modulus of a score change"},
        falsify.softmax_l1,
    ),
    "softmax-l1-oscillation": Form(
        "l1 change of softmax",
        "oscillation/2",
        "lemma-12a-osc",
        {"oscillation": "nonnegative: largest minus smallest score change"},
        falsify.softmax_l1,
    ),
    "softmax-l2": Form(
        "Euclidean change of softmax",
        "length/2",
        "lemma-12b",
        {"length": "nonnegative: Euclidean length of the score change"},
        falsify.softmax_l2,
    ),
    "softmax-readout": Form(
        "change of a softmax average",
        "osc_values/(2*sqrt(2))*length",
        "lemma-12c",
        {
            "osc_values": "nonnegative: largest minus smallest value",
            "length": "nonnegative: Euclidean length of the score change",
        },
        falsify.readout,
    ),
    "stable-rank": Form(
        "stable rank",
        "nuclear_rank",
        "lemma-14a",
        {"nuclear_rank": "positive: ||W||_*/||W||_2"},
        falsify.effective_ranks("stable_rank"),
    ),
    "nuclear-rank": Form(
        "nuclear rank",
        "participation_ratio",
        "lemma-14b",
        {
            "participation_ratio": "positive: ||W||_*^2/||W||_F^2",
            "stable_rank": "positive: ||W||_F^2/||W||_2^2",
            "rank": "count: rank",
        },
        falsify.effective_ranks("nuclear_rank"),
    ),
    "attention-rank": Form(
        "gap of a one-head transformer whose attention matrices have effective rank at most R, with "
        "probability at least 1 - delta",
        "",
        "proposition-n2",
        {
            **_CONFIDENCE,
            "R": "positive: largest effective rank of an attention matrix",
            "layers": "count: number of layers",
        },
        search=falsify.naive_rank,
        note="No bound by the rank of the attention matrices alone is derivable: it would have to hold "
        "for Proposition N1.",
    ),
    "occam": Form(
        "risk of a compressed model, with probability at least 1 - delta",
        "kl_inverse(emp_risk, (code_bits*log(2) + log(1/delta))/m)",
        "theorem-d",
        {
            **_CONFIDENCE,
            "emp_risk": "fraction: empirical risk",
            "code_bits": "nonnegative: code length in bits",
        },
        search=falsify.occam,
        signs=_LEVEL,
    ),
    "occam-hoeffding": Form(
        "risk of a compressed model, with probability at least 1 - delta",
        "emp_risk + sqrt((code_bits*log(2) + log(1/delta))/(2*m))",
        "theorem-d-hoeffding",
        {
            **_CONFIDENCE,
            "emp_risk": "fraction: empirical risk",
            "code_bits": "nonnegative: code length in bits",
        },
        search=falsify.occam,
        signs=_LEVEL,
    ),
    "frozen-features": Form(
        "gap of a linear read-out of frozen features, with probability at least 1 - delta",
        "2*sqrt(2)*L*omega*sqrt(K*sum_sq_features)/m + 2*sqrt(log(1/delta)/(2*m))",
        "theorem-a1",
        {
            **_CONFIDENCE,
            "L": "positive: Lipschitz constant",
            "omega": "nonnegative: Frobenius budget",
            "K": "count: outputs",
            "sum_sq_features": "nonnegative: sum of squared feature norms",
        },
        signs=_LEVEL,
    ),
    "softmax-head": Form(
        "gap of a softmax head with trained query-key matrix and scalar values, with probability at "
        "least 1 - delta",
        "L*omega*sqrt(sum_sq_readout)/m + 2*sqrt(log(1/delta)/(2*m))",
        "theorem-c1-i",
        {
            **_CONFIDENCE,
            "L": "positive: Lipschitz constant",
            "omega": "nonnegative: Frobenius budget",
            "sum_sq_readout": "nonnegative: sum of osc^2 ||query||^2 ||centred tokens||_F^2",
        },
        signs=_LEVEL,
    ),
}


class BadClaim(ValueError):
    """A claim that cannot be understood; the message says what was found and what to try."""


@dataclass(frozen=True)
class Claim:
    """A claimed right side for one of ``FORMS`` (docs/reference/claims.md)."""

    name: str
    about: str
    """The form: what is bounded."""
    bound: str
    """The claimed right side, such as ``1.3*mean_modulus``; decimals are exact."""
    assume: tuple[str, ...] = ()
    """Inequalities between the form's symbols that bound the domain, such as ``R <= 8``."""


@dataclass(frozen=True)
class Verdict:
    """The answer to a claim."""

    claim: Claim
    verdict: str
    """``follows``, ``refuted`` or ``not derivable here``"""
    because: str
    derived: str = ""
    """The right side that is proved."""
    slack: str = ""
    """How the two sides compare at an example point, where the claim follows; for orientation only."""
    derivation: dict[str, Any] | None = None
    """The checked derivation of the claim, where it follows."""
    counterexample: Counterexample | None = None
    """Where it is refuted: exact data, and both sides as intervals that do not overlap."""
    failing_step: str = ""
    nearest: str = ""
    """The nearest multiple of the claimed right side that follows."""

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def read_claim(path: str | Path) -> Claim:
    """Read a TOML file with ``name``, ``about`` and ``bound``."""
    path = Path(path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadClaim(f"{path}: there is no such file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadClaim(f"{path}: not a TOML file: {error}") from None
    assume = data.pop("assume", [])
    unknown = sorted(set(data) - {"name", "about", "bound"})
    missing = sorted({"name", "about", "bound"} - set(data))
    if not isinstance(assume, list) or not all(isinstance(a, str) for a in assume):
        raise BadClaim(f'{path}: assume is a list of inequalities such as "R <= 8", found {assume!r}')
    if unknown or missing or not all(isinstance(v, str) for v in data.values()):
        raise BadClaim(
            f"{path}: a claim has the texts name, about and bound; missing: {missing}, unknown: {unknown}"
        )
    return Claim(data["name"], data["about"], data["bound"], tuple(assume))


def _read_assumptions(claim: Claim) -> tuple[Term, ...]:
    found = tuple(_read(claim, text) for text in claim.assume)
    for text, term in zip(claim.assume, found, strict=True):
        if not isinstance(term, tuple) or term[0] not in ("le", "lt"):
            raise BadClaim(f"{claim.name}: {text!r} is not an inequality")
    return found


def _read(claim: Claim, text: str) -> Term:
    if claim.about not in FORMS:
        raise BadClaim(
            f"{claim.name}: cannot judge claims about {claim.about!r}; try one of {', '.join(sorted(FORMS))}"
        )
    exact_decimals = re.sub(
        r"(?<![\w.])\d+\.\d+",
        lambda m: "({}/{})".format(*Fraction(m.group()).as_integer_ratio()),
        text,
    )
    try:
        term = parse(infix(exact_decimals))
    except (ValueError, SyntaxError, KeyError, Refused) as error:
        raise BadClaim(f"{claim.name}: cannot read the bound {text!r}: {error}") from None
    known = set(FORMS[claim.about].symbols)
    heads = {
        "add",
        "sub",
        "mul",
        "div",
        "neg",
        "pow",
        "sqrt",
        "log",
        "exp",
        "max",
        "min",
        "kl_inverse",
        "pi",
        "cosh",
        "tanh",
        "le",
        "lt",
    }
    strange = sorted(free_names(term) - known - heads)
    if strange:
        raise BadClaim(
            f"{claim.name}: {', '.join(strange)} means nothing here; a claim about {claim.about!r} may use "
            f"{', '.join(sorted(known))}"
        )
    return term


def judge(claim: Claim) -> Verdict:
    """The verdict on a claim."""
    term, assumptions = _read(claim, claim.bound), _read_assumptions(claim)
    form = FORMS[claim.about]
    failing = form.note
    if form.derived:
        try:
            derivation = derive(form, term, assumptions)
            return Verdict(
                claim,
                "follows",
                f"it is weaker than what {form.derivation} proves",
                form.derived,
                _slack(form, term),
                derivation,
            )
        except (Refused, NotDecided, NotProved) as error:
            failing = str(error)
    found = form.search(term, assumptions) if form.search else None
    if form.instances and found is None:
        found = falsify.refute(form.instances(), term, assumptions)
    if found:
        return Verdict(claim, "refuted", found.says, form.derived, counterexample=found)
    last = next(d for d in load() if d["name"] == form.derivation)["steps"][-1]
    gives = form.derived or "no such bound"
    step = f"{form.derivation}, step {last['id']} ({last['rule']}): {last['why']} It gives {gives}"
    return Verdict(
        claim,
        "not derivable here",
        f"neither a derivation nor a counterexample was found: {failing}",
        form.derived,
        failing_step=step,
        nearest=_nearest(form, term, assumptions),
    )


# From the proved to the claimed inequality
def derive(form: Form, claimed: Term, assumptions: tuple[Term, ...] = ()) -> dict[str, Any]:
    """A derivation of ``left <= claimed`` from the proved inequality, checked by the kernel."""
    errors = []
    for tactic in (_by_sign, _by_numbers, _by_squares):
        d = Derivation(
            "claim",
            "A claimed inequality",
            form.left,
            f"{form.derivation} proves {form.derived}",
            {
                "left": "real after: " + form.left,
                **{k: f"{v.split(':')[0]} after:{v.split(':')[1]}" for k, v in form.symbols.items()},
            },
            f"left <= {form.derived}",
            hypotheses={
                "proved": (f"left <= {form.derived}", f"what {form.derivation} proves"),
                **{f"sign{n}": (f"0 <= {s}", "the domain") for n, s in enumerate(form.signs)},
            },
            sources=(form.derivation,),
            domain="claims",
        )
        proved = d.assume("proved")
        data = d.data()
        for number, (_, low, high) in enumerate(assumptions):
            sign = {
                "id": f"assumed{number}",
                "claim": show(("le", "0", ("sub", high, low))),
                "meaning": "assumed",
            }
            data["hypotheses"].append(sign)
        try:
            data["steps"] += tactic(form, parse(infix(form.derived)), claimed, proved)
            data["conclusion"]["claim"] = show(("le", "left", claimed))
            words = set(re.findall(r"[A-Za-z_]\w*", " ".join(s["claim"] for s in data["steps"])))
            data["variables"] = [v for v in data["variables"] if v["name"] in words]
            data["hypotheses"] = [
                h for h in data["hypotheses"] if set(re.findall(r"[A-Za-z_]\w*", h["claim"])) & words
            ]
            check(data, {}, {})
            return data
        except (Refused, NotDecided) as error:
            errors.append(f"{tactic.__name__[1:].replace('_', ' ')}: {error}")
    raise Refused("; ".join(errors))


Step = dict[str, Any]


def _step(
    identifier: str, claim: Term, rule: str, premises: list[str], why: str, level: str = "kernel", **data: Any
) -> Step:
    return {
        "id": identifier,
        "claim": show(claim),
        "rule": rule,
        "premises": premises,
        "data": data,
        "level": level,
        "why": why,
    }


def _by_sign(form: Form, proved: Term, claimed: Term, start: str) -> list[Step]:
    """The difference is visibly nonnegative."""
    if proved == claimed:
        return [
            _step("c1", ("le", "left", claimed), "combine", [start], "The claim is the proved inequality.")
        ]
    return [
        _step("c1", ("le", proved, claimed), "sign", [], "The difference is visibly nonnegative."),
        _step("c2", ("le", "left", claimed), "combine", [start, "c1"], "Chain."),
    ]


def _arithmetic(form: Form) -> Arithmetic:
    sorts = {name: text.split(":")[0] for name, text in form.symbols.items()}
    return Arithmetic(sorts, [(parse(infix(sign)), False) for sign in form.signs])


def _numeric(mono: Mono) -> tuple[Mono, Mono]:
    """Split a monomial into its number (radicals of primes, pi) and the rest."""
    number = tuple((b, e) for b, e in mono if b == "%pi" or (isinstance(b, tuple) and b[0] == "prime"))
    return number, tuple(part for part in mono if part not in number)


def _by_numbers(form: Form, proved: Term, claimed: Term, start: str) -> list[Step]:
    """Both sides are the same terms with different numbers: compare the numbers by interval arithmetic."""
    arithmetic = _arithmetic(form)
    groups: dict[Mono, tuple[Poly, Poly]] = {}
    for side, poly in enumerate((arithmetic.poly(proved), arithmetic.poly(claimed))):
        for mono, coefficient in poly.items():
            number, rest = _numeric(mono)
            pair = groups.setdefault(rest, ({}, {}))
            pair[side][number] = pair[side].get(number, Fraction(0)) + coefficient
    steps: list[Step] = []
    times, premises = [], [start]
    for rest, (small, large) in groups.items():
        if small == large:
            continue
        identifier = f"c{len(steps) + 1}"
        steps.append(
            _step(
                identifier,
                ("le", _term(small), _term(large)),
                "interval",
                [],
                "Two numbers.",
                "interval",
                box={},
            )
        )
        premises.append(identifier)
        times.append(show(_term({rest: Fraction(1)})))
    if not steps:
        raise Refused("nothing to compare")
    return [
        *steps,
        _step(
            f"c{len(steps) + 1}", ("le", "left", claimed), "combine", premises, "Add up.", times=["1", *times]
        ),
    ]


def _by_squares(form: Form, proved: Term, claimed: Term, start: str) -> list[Step]:
    """Cancel what the sides share; the square of what is left on the right is larger."""
    arithmetic = _arithmetic(form)
    p, c = arithmetic.poly(proved), arithmetic.poly(claimed)
    common = {mono: min(v, c[mono]) for mono, v in p.items() if mono in c}
    small, large = _term(add(p, scale(common, Fraction(-1)))), _term(add(c, scale(common, Fraction(-1))))
    square = ("le", ("pow", small, "2"), ("pow", large, "2"))
    root: dict[str, Any] = {"name": "take-root", "with": {"a": show(small), "b": show(("pow", large, "2"))}}
    return [
        _step("c1", square, "sign", [], "The difference of the squares is visibly nonnegative."),
        _step("c2", ("le", small, ("sqrt", ("pow", large, "2"))), "axiom", ["c1"], "Take roots.", **root),
        _step("c3", ("le", "left", claimed), "combine", [start, "c2"], "Put back what the sides share."),
    ]


def _term(poly: Poly) -> Term:
    """A term with this normal form."""
    parts: list[Term] = []
    for mono, coefficient in poly.items():
        factors: list[Term] = [str(coefficient)]
        for base, exponent in mono:
            factors.append(_base(base) if exponent == 1 else ("pow", _base(base), str(exponent)))
        parts.append(("mul", *factors))
    return ("add", *parts, "0")


def _base(base: Any) -> Term:
    if isinstance(base, str):
        return ("pi",) if base == "%pi" else base
    if base[0] == "prime":
        return base[1]
    if base[0] == "poly":
        return _term(dict(base[1]))
    if base[0] == "log":
        return ("log", _base(base[1]))
    if base[0] == "exp":
        return ("exp", _term({base[1]: Fraction(1)}))
    if base[0] == "pow":
        return ("pow", _term(dict(base[1])), base[2])
    return (base[0], *(_term(dict(part)) for part in base[1:]))


# What to say about the distance
_SAMPLE: dict[str, Fraction | int] = {
    "count": 1000,
    "positive": Fraction(1, 20),
    "nonnegative": Fraction(1, 5),
    "index": 2,
    "fraction": Fraction(1, 10),
}


def _values(form: Form) -> dict[str, Any]:
    return {name: falsify.exact(_SAMPLE[text.split(":")[0]]) for name, text in form.symbols.items()}


def _slack(form: Form, claimed: Term) -> str:
    """How much larger the claimed side is at an example point (for orientation only)."""
    values = _values(form)
    proved, right = (falsify.evaluate(t, values) for t in (parse(infix(form.derived)), claimed))
    at = ", ".join(f"{n}={_SAMPLE[t.split(':')[0]]}" for n, t in form.symbols.items())
    return f"at {at}: proved about {float(proved.mid):.5g}, claimed about {float(right.mid):.5g}"


def _nearest(form: Form, claimed: Term, assumptions: tuple[Term, ...]) -> str:
    """The smallest multiple 1 + k/100 of the claimed right side, up to 100, that follows."""
    if not form.derived:
        return "none: no multiple of it follows"
    low, high = 100, 10_000
    if not _follows(form, claimed, assumptions, high):
        return f"no multiple up to 100 of it follows; what follows is {form.derived}"
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _follows(form, claimed, assumptions, middle) else (middle, high)
    return f"{Fraction(high, 100)} times the claimed right side follows"


def _follows(form: Form, claimed: Term, assumptions: tuple[Term, ...], hundredths: int) -> bool:
    try:
        derive(form, ("mul", str(Fraction(hundredths, 100)), claimed), assumptions)
    except (Refused, NotDecided, NotProved):
        return False
    return True
