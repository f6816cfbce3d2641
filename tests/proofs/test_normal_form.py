"""The normal forms against numbers: a term and its normal form have one value, and signs are never wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from proofs.claims import _term
from proofs.normal_form import Arithmetic, NotDecided, Term
from proofs.terms import derivative

SORTS = {"x": "positive", "y": "positive", "z": "nonnegative", "a": "real", "b": "real", "n": "count"}
POINTS = [
    {"x": "0.7", "y": "3", "z": "0", "a": "-1.3", "b": "2", "n": "4"},
    {"x": "2.5", "y": "0.2", "z": "1.1", "a": "0.4", "b": "-2.2", "n": "1"},
    {"x": "1", "y": "1", "z": "0.5", "a": "0", "b": "0", "n": "7"},
]
atoms = st.sampled_from([*SORTS, "2", "3", "1/2", "-1", "5/3"])


def nodes(children: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    pair = st.tuples(st.sampled_from(["add", "mul", "sub", "div"]), children, children)
    one = st.tuples(st.sampled_from(["neg", "sqrt", "log", "exp"]), children)
    exponents = st.sampled_from(["2", "3", "1/2", "-1", "3/2", "-1/2", "2/3"])
    power = st.tuples(st.just("pow"), children, exponents)
    return pair | one | power


terms = st.recursive(atoms, nodes, max_leaves=6)


class Undefined(ArithmeticError):
    """The term has no real value at the point."""


def value(term: Term, point: dict[str, str]) -> Any:
    """The real value of a term; ``Undefined`` where there is none."""
    if isinstance(term, str):
        if term in point:
            return mpf(point[term])
        top, _, bottom = term.partition("/")
        return mpf(top) / mpf(bottom or 1)
    head, parts = term[0], [value(part, point) for part in term[1:]]
    if head == "add":
        return sum(parts, mpf(0))
    if head == "mul":
        product = mpf(1)
        for part in parts:
            product *= part
        return product
    if head == "neg":
        return -parts[0]
    if head == "sub":
        return parts[0] - parts[1]
    if head == "exp":
        if abs(parts[0]) > 500:
            raise Undefined
        return mp.exp(parts[0])
    outside = {"div": parts[-1] == 0, "log": parts[0] <= 0, "sqrt": parts[0] < 0}
    if outside.get(head, False):
        raise Undefined
    if head == "div":
        return parts[0] / parts[1]
    if head == "log":
        return mp.log(parts[0])
    if head == "sqrt":
        return mp.sqrt(parts[0])
    exponent = value(term[2], {})
    if (parts[0] < 0 and "/" in term[2]) or (parts[0] == 0 and exponent < 0):
        raise Undefined
    return parts[0] ** int(exponent) if "/" not in term[2] else mp.power(parts[0], exponent)


def close(left: Any, right: Any) -> bool:
    return bool(abs(left - right) <= mpf(10) ** -30 * (1 + abs(left) + abs(right)))


def check_one_value(term: Term) -> None:
    """The value of a term at the points is that of its normal form."""
    mp.dps = 60
    try:
        normal = _term(Arithmetic(SORTS).poly(term))
    except NotDecided:
        return
    for point in POINTS:
        try:
            expected = value(term, point)
        except Undefined:
            continue
        assert close(value(normal, point), expected), (term, normal, point)


@settings(max_examples=300)
@given(terms)
def test_a_term_and_its_normal_form_have_one_value(term: Term) -> None:
    check_one_value(term)


@pytest.mark.parametrize("bug", ["base_positive", "base_nonnegative", "nonnegative", "positive"])
def test_a_planted_bug_is_caught(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a sign were taken for granted, the sweep would see it."""
    monkeypatch.setattr(Arithmetic, bug, lambda self, item: True)

    @settings(max_examples=1500, phases=[Phase.generate], database=None)
    @given(terms)
    def sweep(term: Term) -> None:
        try:
            check_one_value(term)
            check_signs(term)
        except (ArithmeticError, TypeError):
            raise AssertionError from None

    with pytest.raises(AssertionError):
        sweep()


def check_signs(term: Term) -> None:
    """What is called nonnegative or positive is so at the points."""
    mp.dps = 60
    arithmetic = Arithmetic(SORTS)
    try:
        poly = arithmetic.poly(term)
    except NotDecided:
        return
    nonnegative, positive = arithmetic.nonnegative(poly), arithmetic.positive(poly)
    for point in POINTS:
        try:
            number = value(term, point)
        except Undefined:
            continue
        assert not nonnegative or number > -(mpf(10) ** -30), (term, point)
        assert not positive or number > 0, (term, point)


@settings(max_examples=300)
@given(terms)
def test_signs_are_never_wrong(term: Term) -> None:
    check_signs(term)


@settings(max_examples=300)
@given(terms, terms)
def test_what_is_decided_equal_is_equal(left: Term, right: Term) -> None:
    mp.dps = 60
    for other in (right, ("sub", ("add", left, right), right)):
        if not Arithmetic(SORTS).equal(left, other):
            continue
        for point in POINTS:
            try:
                assert close(value(left, point), value(other, point)), (left, other, point)
            except Undefined:
                continue


@settings(max_examples=150)
@given(terms)
def test_derivatives_against_difference_quotients(term: Term) -> None:
    mp.dps = 60
    step = mpf(10) ** -25
    slope = derivative(term, "x")
    for point in POINTS[:2]:
        near = {**point, "x": mp.nstr(mpf(point["x"]) + step, 55)}
        try:
            quotient = (value(term, near) - value(term, point)) / step
            exact = value(slope, point)
        except Undefined:
            continue
        assert abs(quotient - exact) <= mpf(10) ** -8 * (1 + abs(exact)) or abs(exact) > 1e12, (term, point)
