"""Every lemma at random and nearly tight cases, both sides in exact or ball arithmetic."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from proofs.library import load
from tests.proofs.sides import PROPERTIES, Property


def largest_ratio(prop: Property, examples: int) -> float:
    """Run the property; return the largest ratio. Fails where left certainly exceeds right."""
    ratios = [0.0]

    def check(case: Any) -> None:
        left, right = prop.sides(case)
        assert not left > right, f"{prop.derivation} fails at {case}: {left} > {right}"
        assert left.rad() < 1e-9, "the enclosure is too wide to test anything"
        if right > 0:
            ratios.append(float((left / right).mid()))

    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(prop.cases)
    def sweep(case: Any) -> None:
        check(case)

    sweep()
    for case in prop.tight:
        check(case)
    return max(ratios)


@pytest.mark.parametrize("name", sorted(PROPERTIES))
def test_lemma(name: str) -> None:
    prop = PROPERTIES[name]
    ratio = largest_ratio(prop, 25)
    print(f"{name}: largest ratio {ratio:.6f}")
    assert ratio > prop.floor, "no case comes near the bound"
    if prop.sharp:
        assert ratio > 0.99, f"{name} should be sharp, the largest ratio is {ratio}"


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(PROPERTIES))
def test_lemma_on_many_cases(name: str) -> None:
    assert largest_ratio(PROPERTIES[name], 2500) > PROPERTIES[name].floor


@pytest.mark.parametrize("name", sorted(name for name, prop in PROPERTIES.items() if prop.wrong))
def test_a_wrong_constant_is_caught(name: str) -> None:
    """Where no constant is known to be sharp: a planted one that is far too good must fail."""
    prop = PROPERTIES[name]
    wrong = (prop.sides(case, **prop.wrong) for case in prop.tight)
    assert any(left > bound for left, bound in wrong)


def test_every_property_can_fail() -> None:
    """Sharp constants are perturbed by 1 % elsewhere; every other property has a planted wrong constant."""
    assert not [name for name, prop in PROPERTIES.items() if not prop.sharp and not prop.wrong]


def test_properties_speak_of_derivations() -> None:
    names = {d["name"] for d in load()}
    assert {p.derivation for p in PROPERTIES.values()} <= names
