"""The bound that a report evaluates is the right side that the kernel checked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import proofs
from proofs.export import from_prefix, read_nested, to_latex
from proofs.kernel import parse
from proofs.library import load, machine_table, recheck
from proofs.normal_form import Arithmetic
from proofs.symbols import SYMBOLS
from proofs.theorems import THEOREMS

RENAMED = {"emp": "emp_risk", "bits": "code_bits", "risk": "risk", "errors": "k_errors"}


def named(term: object) -> object:
    """Functions of the chosen model, emp(n), errors(n) and bits(n), become the report's inputs."""
    if isinstance(term, tuple):
        if len(term) == 2 and term[0] in RENAMED and term[1] == "n":
            return RENAMED[term[0]]
        return tuple(named(part) for part in term)
    return term


@pytest.mark.parametrize("name", sorted(THEOREMS))
def test_bound_is_the_checked_one(name: str) -> None:
    theorem = THEOREMS[name]
    derivation = next(d for d in load() if d["name"] == theorem.derivation)
    _, _, checked = named(parse(derivation["conclusion"]["claim"]))
    sorts = {s: SYMBOLS[s].sort for s in SYMBOLS}
    signs = [parse(h["claim"]) for h in derivation["hypotheses"] if h["claim"].startswith("(le 0 ")]
    if name == "E-rank":  # a sum of nonnegative terms: the last is log(2 + ...) - log(delta)
        signs.append(
            parse(
                "(le 0 (add (div (mul layers update_rank) (mul 2 (pow noise_relative 2))) grid_cost "
                "(log (div (add 2 (sqrt (div (mul (pi) m) 2))) delta))))"
            )
        )
    arithmetic = Arithmetic(sorts, [(parse("(log (div 1 delta))"), False), *((s[2], False) for s in signs)])
    assert arithmetic.equal(read_nested(theorem.prefix), checked), theorem.prefix
    failure = read_nested(str(derivation["conclusion"]["delta"]))
    assert arithmetic.equal(failure, "delta" if name != "E-monte-carlo" else ("add", "delta", "delta_draws"))


@pytest.mark.parametrize("name", sorted(THEOREMS))
def test_prefix_reads_back(name: str) -> None:
    theorem = THEOREMS[name]
    for text, bound in [(theorem.prefix, theorem.bound), *((v.prefix, v.bound) for v in theorem.variants)]:
        assert from_prefix(text) == bound


@pytest.mark.parametrize("name", sorted(THEOREMS))
def test_latex_is_written_in_the_symbols_own_notation(name: str) -> None:
    """No name of a program object is left, and braces and brackets are balanced."""
    theorem = THEOREMS[name]
    for text in (theorem.latex, *(to_latex(variant.bound) for variant in theorem.variants)):
        assert not re.search(r"operatorname|inverse|tail|_after|sum_|grid_", text)
        assert text.count("{") == text.count("}")
        assert text.count(r"\left") == text.count(r"\right")
        long_words = set(re.findall(r"[A-Za-z]{5,}", re.sub(r"\\[A-Za-z]+(\{[A-Za-z]+\})?", " ", text)))
        assert not long_words, long_words


@pytest.mark.parametrize("name", sorted(THEOREMS))
def test_every_theorem_says_what_must_be_fixed(name: str) -> None:
    theorem = THEOREMS[name]
    assert any(h.kind == "standing" for h in theorem.hypotheses)
    assert any(h.kind == "data" for h in theorem.hypotheses)
    assert all(SYMBOLS[i.name] is i for i in theorem.inputs)
    assert theorem.derivation in {d["name"] for d in load()}


def test_levels_are_those_that_the_kernel_finds() -> None:
    library = recheck()
    for theorem in THEOREMS.values():
        assert theorem.level == library[theorem.derivation].level


def test_every_machine_checked_name_is_a_coq_theorem() -> None:
    theories = Path(proofs.__file__).parent / "coq" / "theories"
    text = "".join(path.read_text() for path in theories.glob("*.v"))
    for name in machine_table().values():
        assert re.search(rf"(Theorem|Lemma|Corollary) {name}\b", text), name


def test_unknown_nodes_and_symbols_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown node 'besselj'"):
        from_prefix("(besselj 0 m)")
    with pytest.raises(ValueError, match="unknown symbol 'q9'"):
        from_prefix("(add m q9)")
    with pytest.raises(ValueError, match="is missing"):
        from_prefix("(add m 1")
