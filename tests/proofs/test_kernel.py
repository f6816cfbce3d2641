"""The kernel refuses what it must: spent budgets, captured variables, wrong identities, undecided signs."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs import interval
from proofs.axioms import AXIOMS
from proofs.build import Derivation, infix, prose
from proofs.cited import CITED
from proofs.kernel import Statement, check, parse
from proofs.library import load, recheck, stored
from proofs.normal_form import Arithmetic
from proofs.terms import Refused, derivative, free_names, substitute


@pytest.fixture(scope="module")
def library() -> dict[str, Statement]:
    return recheck()


def identity(left: str, right: str, **sorts: str) -> bool:
    return Arithmetic(sorts).equal(parse(infix(left)), parse(infix(right)))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("sqrt(8*x**2*y)", "2*x*sqrt(2*y)"),
        ("log(2*sqrt(m)/delta)", "log(2) + log(m)/2 - log(delta)"),
        ("1/(j + 1) - 1/(j + 2)", "1/((j + 1)*(j + 2))"),
        ("tanh(x/2)", "(exp(x) - 1)/(exp(x) + 1)"),
        ("cosh(x)", "(exp(x) + exp(-x))/2"),
        ("(x**(2/3) + y**(2/3))**(3/2)", "sqrt(x**(2/3) + y**(2/3))*(x**(2/3) + y**(2/3))"),
        ("E(w, 2*x*f(w) + y)", "2*x*E(w, f(w)) + y"),
        ("sup(t, 3*f(t) + x)", "x + 3*sup(t, f(t))"),
        ("rho**j*rho", "exp((j + 1)*log(rho))"),
    ],
)
def test_true_identities(left: str, right: str) -> None:
    assert identity(
        left, right, x="positive", y="positive", m="count", delta="positive", j="index", rho="positive"
    )


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("sqrt(a**2)", "a"),
        ("a/a", "1"),
        ("log(a*b)", "log(a) + log(b)"),
        ("sqrt(a)*sqrt(b)", "sqrt(a*b)"),
        ("sup(t, -f(t))", "-sup(t, f(t))"),
        ("sup(t, f(t) + g(t))", "sup(t, f(t)) + sup(t, g(t))"),
        ("E(w, f(w)*g(w))", "E(w, f(w))*E(w, g(w))"),
        ("E(w, f(w))", "E(v, f(v))"),
    ],
)
def test_identities_that_need_a_sign_or_are_false(left: str, right: str) -> None:
    assert not identity(left, right, a="real", b="real")


@given(st.integers(-5, 5), st.integers(-5, 5), st.integers(1, 5))
def test_normal_forms_agree_with_numbers(a: int, b: int, c: int) -> None:
    text = f"(({a})*x + ({b}))**2/{c} - (({a})**2*x**2 + 2*({a})*({b})*x + ({b})**2)/{c}"
    assert identity(text, "0", x="real")


def test_substitution_refuses_capture() -> None:
    with pytest.raises(Refused, match="captured"):
        substitute(parse("(sup t (add (f t) c))"), {"c": ("g", "t")})
    assert substitute(parse("(sup t (f t))"), {"f": parse("(lambda u (add u 1))")}) == parse(
        "(sup t (add t 1))"
    )


def test_bound_variables_are_not_free() -> None:
    assert free_names(parse("(E w (f w c))")) == {"f", "c"}


def test_derivative() -> None:
    slope = derivative(parse(infix("log(N)/q + q*r**2/2")), "q")
    arithmetic = Arithmetic({"q": "positive", "r": "positive", "N": "positive"})
    assert arithmetic.equal(slope, parse(infix("r**2/2 - log(N)/q**2")))
    with pytest.raises(Refused, match="cannot differentiate"):
        derivative(parse("(bessel q)"), "q")


def derivation(**changes: Any) -> Derivation:
    base: dict[str, Any] = {
        "name": "test",
        "title": "t",
        "goal": "g",
        "known": "k",
        "variables": {},
        "conclude": "0 <= 1",
        "sources": ("here",),
        "domain": "none",
    }
    return Derivation(**{**base, **changes})


_SAMPLE = {
    "g": "real before: g",
    "h": "real before: h",
    "m": "count before: m",
    "delta": "positive before: d",
    "Z": "sample after: Z",
    "S": "sample dummy: S",
    "k": "point dummy: k",
    "y": "point dummy: y",
}
_BOUNDED = {
    "one": ("g(S) - g(changed(S, k, y)) <= 1", "bounded"),
    "two": ("h(S) - h(changed(S, k, y)) <= 1", "bounded"),
    "level": ("0 <= log(1/delta)", "delta at most 1"),
}


def two_events(first: str, second: str) -> dict[str, Any]:
    """McDiarmid twice, at the given shares of delta."""
    d = derivation(
        variables=_SAMPLE,
        hypotheses=_BOUNDED,
        delta="delta",
        conclude="g(Z) + h(Z) <= E(S, g(S)) + E(S, h(S)) "
        f"+ sqrt(m*log(1/({first}))/2) + sqrt(m*log(1/({second}))/2)",
    )
    events = []
    for function, hypothesis, share in (("g", "one", first), ("h", "two", second)):
        bounded = d.assume(hypothesis)
        level = d.sign(f"0 <= log(1/({share}))", "share") if share != "delta" else d.assume("level")
        events.append(
            d.lemma(
                "lemma-2",
                {"g": function, "c": "1", "delta": share, **{v: v for v in ("m", "Z", "S", "k", "y")}},
                f"{function}(Z) <= E(S, {function}(S)) + sqrt(m*log(1/({share}))/2)",
                "McDiarmid.",
                bounded,
                level,
            )
        )
    d.combine(d.conclude, "Add.", *events)
    data = d.data()
    level = recheck()["lemma-2"].level
    for step in data["steps"]:
        if step["rule"] == "lemma":
            step["level"] = level
            step["data"]["with"].pop("x", None)
    return data


def run(data: dict[str, Any]) -> Statement:
    return check(data, recheck(), {**stored("prose"), **prose(data)})


def test_delta_in_two_halves_checks() -> None:
    data = two_events("delta/2", "delta/2")
    assert run(data).name == data["name"]


def test_delta_spent_twice_does_not_check() -> None:
    with pytest.raises(Refused, match="fail with probability"):
        run(two_events("delta", "delta"))


def test_one_event_used_twice_is_paid_once() -> None:
    data = two_events("delta/2", "delta/2")
    last = data["steps"][-1]
    last["premises"] = [last["premises"][0], last["premises"][0]]
    with pytest.raises(Refused, match="listed twice"):
        run(data)


def test_what_holds_with_high_probability_cannot_be_averaged() -> None:
    d = derivation(
        variables=_SAMPLE,
        hypotheses={k: _BOUNDED[k] for k in ("one", "level")},
        delta="delta",
        conclude="E(S, g(Z)) <= E(S, E(S, g(S)) + sqrt(m*log(1/delta)/2))",
    )
    bounded, level = d.assume("one"), d.assume("level")
    near = d.lemma(
        "lemma-2",
        {"c": "1", **{v: v for v in ("g", "m", "delta", "Z", "S", "k", "y")}},
        "g(Z) <= E(S, g(S)) + sqrt(m*log(1/delta)/2)",
        "McDiarmid.",
        bounded,
        level,
    )
    d.monotone(d.conclude, "Average.", near)
    data = d.data()
    data["steps"][2]["level"] = recheck()["lemma-2"].level
    with pytest.raises(Refused, match="cannot be averaged"):
        run(data)


def test_a_grid_must_be_united_before_the_end() -> None:
    data = copy.deepcopy(next(d for d in load() if d["name"] == "theorem-p"))
    data["steps"].pop()
    with pytest.raises(Refused, match="was not united"):
        run(data)


def test_a_function_of_the_sample_is_not_fixed() -> None:
    data = two_events("delta/2", "delta/2")
    next(v for v in data["variables"] if v["name"] == "h")["kind"] = "after"
    with pytest.raises(Refused, match="must be fixed before the sample, but h is not"):
        run(data)


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("1 <= 0", "not visibly nonnegative"),
        ("0 <= a", "not visibly nonnegative"),
        ("0 < x - x", "not visibly positive"),
    ],
)
def test_signs_that_do_not_hold(claim: str, message: str) -> None:
    d = derivation(variables={"a": "real after: a", "x": "positive after: x"}, conclude=claim)
    d.sign(claim, "no")
    with pytest.raises(Refused, match=message):
        run(d.data())


def test_an_inequality_cannot_be_multiplied_by_a_negative_number() -> None:
    d = derivation(
        variables={"a": "real after: a", "b": "real after: b"},
        conclude="-a <= -b",
        hypotheses={"h": ("a <= b", "given")},
    )
    d.combine(d.conclude, "no", d.assume("h"), times=["-1"])
    with pytest.raises(Refused, match="not known to be nonnegative"):
        run(d.data())


def test_a_lemma_may_not_be_used_with_a_term_that_depends_on_its_quantified_variable() -> None:
    d = derivation(
        variables={"f": "real after: f", "t": "point dummy: t"}, conclude="f(t) + f(t) <= sup(t, f(t)) + f(t)"
    )
    d.axiom("sup-of-sum", {"X": "lambda t: f(t)", "Y": "lambda u: f(t)", "t": "t"}, d.conclude, "no")
    with pytest.raises(Refused, match="use a lambda"):
        run(d.data())


def test_cites_only_what_is_listed() -> None:
    d = derivation(variables={"x": "positive after: x"}, conclude="x <= 1")
    d.cite("riemann-hypothesis", {"x": "x"}, "x <= 1", "no")
    with pytest.raises(Refused, match="not in the list of cited results"):
        run(d.data())


def test_intervals_prove_and_refuse() -> None:
    box = {"x": ("0", "1")}
    interval.prove(parse(infix("exp(x) <= 1 + 2*x")), {"x": ("1/10", "1/2")})
    interval.prove(parse(infix("log(2) < 7/10")), {})
    for claim in ("exp(x) <= 1 + x", "x <= 0", "log(x) <= 0", "bessel(x) <= 1"):
        with pytest.raises(interval.NotProved):
            interval.prove(parse(infix(claim)), box)


@pytest.mark.parametrize("text", ["(add 1", "add 1)", "()", "", "1 2", None])
def test_unreadable_expressions(text: Any) -> None:
    with pytest.raises(Refused):
        parse(text)


def test_a_variable_may_not_be_called_like_an_operation() -> None:
    d = derivation(variables={"log": "real after: not the logarithm"}, conclude="log <= log")
    d.combine(d.conclude, "no")
    with pytest.raises(Refused, match="has a fixed meaning"):
        run(d.data())


def test_every_name_must_be_declared() -> None:
    d = derivation(conclude="c <= c + 1")
    d.sign(d.conclude, "no")
    with pytest.raises(Refused, match="not declared"):
        run(d.data())


def test_specialising_does_not_touch_bound_variables() -> None:
    assert substitute(parse("(le (f t) (sup t (f t)))"), {"t": "u"}) == parse("(le (f u) (sup t (f t)))")
    assert substitute(parse("(sup t (f t))"), {"t": "u"}, True) == parse("(sup u (f u))")


@pytest.mark.parametrize(
    "claim", ["(le 1/0 1)", "(le (sqrt) 1)", "(le (E w) 1)", "(le (pow 2) 1)", "(le -x 1)"]
)
def test_what_cannot_be_understood_is_refused(claim: str) -> None:
    d = derivation()
    d.sign("0 <= 1", "no")
    data = d.data()
    data["steps"][0]["claim"] = data["conclusion"]["claim"] = claim
    with pytest.raises(Refused):
        run(data)


def test_samples_are_not_tied_by_their_names() -> None:
    """A dummy stands for every value of its sort, so no sample may be meant to be a neighbour of another.

    What differs in one unit is written as a term, changed(S, k, y); a second sample is independent.
    """
    dummies = [v for d in load() for v in d["variables"] if (v["sort"], v["kind"]) == ("sample", "dummy")]
    assert len(dummies) > 30
    assert not [v["meaning"] for v in dummies if "differ" in v["meaning"] or "changed" in v["meaning"]]
    differences = next(h for h in stored("goals")["lemma-2"]["hypotheses"] if h["id"] == "differences")
    assert differences["claim"] == "(le (sub (g S) (g (changed S k y))) c)"


@pytest.mark.parametrize(("sort", "accepted"), [("entry", True), ("point", False), ("signs", False)])
def test_only_a_dummy_for_entries_runs_through_a_matrix(sort: str, accepted: bool) -> None:
    d = derivation(
        variables={"A": "real after: a matrix", "k": f"{sort} dummy: k"},
        conclude="frobenius(A)**2 == sum(k, entry(A, k)**2)",
    )
    d.axiom("frobenius-by-entries", {"A": "A", "k": "k"}, d.conclude, "Entries.")
    if accepted:
        assert check(d.data(), {}, {}).level == "kernel"
    else:
        with pytest.raises(Refused, match="put a dummy of sort entry"):
            check(d.data(), {}, {})


@pytest.mark.parametrize("declared", ["real after", "real before", "nonnegative free", "real grid"])
def test_the_rest_of_the_units_is_arbitrary(library: dict[str, Statement], declared: str) -> None:
    """One unit at a time needs its premise whatever the other units contribute."""
    data = copy.deepcopy(next(d for d in load() if d["name"] == "lemma-5"))
    assert check(data, library, {}).level == "kernel"
    rest = next(v for v in data["variables"] if v["name"] == "G")
    rest["sort"], rest["kind"] = declared.split()
    with pytest.raises(Refused, match="put a free parameter of sort real"):
        check(data, library, {})


def test_many_signs_are_not_one_sign(library: dict[str, Statement]) -> None:
    data = copy.deepcopy(next(d for d in load() if d["name"] == "lemma-5-step"))
    assert check(data, library, {}).level == "kernel"
    next(v for v in data["variables"] if v["name"] == "e")["sort"] = "signs"
    with pytest.raises(Refused, match="put a dummy of sort sign for it"):
        check(data, library, {})


@pytest.mark.parametrize(("sort", "accepted"), [("index", True), ("count", True), ("nonnegative", False)])
def test_a_function_with_whole_values_may_stand_for_a_count(
    library: dict[str, Statement], sort: str, accepted: bool
) -> None:
    data = copy.deepcopy(next(d for d in load() if d["name"] == "theorem-d-binomial"))
    next(v for v in data["variables"] if v["name"] == "errors")["sort"] = sort
    if accepted:
        assert check(data, library, {}).level == "cited"
    else:
        with pytest.raises(Refused, match="k of cited:clopper-pearson must be an integer"):
            check(data, library, {})


def test_only_a_matrix_series_has_the_norm_of_one(library: dict[str, Statement]) -> None:
    """Lemma 8 without its hypothesis on the series would bound the norm of any signed matrix."""
    data = copy.deepcopy(next(d for d in load() if d["name"] == "lemma-8-laplace"))
    data["hypotheses"], data["steps"] = [], data["steps"][1:]
    data["steps"][0]["premises"] = []
    with pytest.raises(Refused, match="hypothesis 1 of cited:matrix-laplace is not discharged"):
        check(data, library, stored("prose"))


def test_nothing_is_assumed_that_is_not_used() -> None:
    """Every axiom and every cited result is used by some derivation."""
    used = {(s["rule"], s["data"].get("name")) for d in load() for s in d["steps"]}
    assert {name for rule, name in used if rule == "axiom"} == set(AXIOMS)
    assert {name for rule, name in used if rule == "cite"} == {record["name"] for record in CITED}


def test_the_kernel_imports_nothing_that_builds() -> None:
    import ast
    from pathlib import Path

    import proofs

    trusted = ("kernel", "rules", "terms", "normal_form", "axioms", "interval")
    for name in trusted:
        tree = ast.parse((Path(proofs.__file__).parent / f"{name}.py").read_text())
        for node in ast.walk(tree):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if module == "proofs":
                names = [f"proofs.{a.name}" for a in node.names]  # type: ignore[union-attr]
            for used in [module, *names]:
                if used and used.startswith("proofs."):
                    assert used.split(".")[1] in trusted, f"{name} imports {used}"
