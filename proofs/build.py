"""How derivations are written: readable text in, plain data out. NOT trusted; the kernel re-reads the data.

Claims are written infix, ``"E(w, X(w)) <= sqrt(E(w, X(w)**2))"``; ``a @ b`` is not used, ``f[i]`` is
``(at f i)``. Everything is stored as S-expressions.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

_BINARY: dict[type, str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow"}
_RELATION: dict[type, str] = {ast.LtE: "le", ast.Lt: "lt", ast.Eq: "eq"}
_SWAPPED: dict[type, str] = {ast.GtE: "le", ast.Gt: "lt"}


def infix(text: str) -> str:
    """S-expression of an infix formula; a ``ValueError`` shows the part that is not understood."""

    def write(node: ast.AST) -> str:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = write(node.left), write(node.comparators[0])
            kind = type(node.ops[0])
            return (
                f"({_SWAPPED[kind]} {right} {left})"
                if kind in _SWAPPED
                else f"({_RELATION[kind]} {left} {right})"
            )
        if isinstance(node, ast.BinOp):
            left, right = write(node.left), write(node.right)
            if isinstance(node.op, ast.Div) and left.lstrip("-").isdigit() and right.isdigit():
                return str(Fraction(int(left), int(right)))
            return f"({_BINARY[type(node.op)]} {left} {right})"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = write(node.operand)
            return f"-{inner}" if inner.isdigit() else f"(neg {inner})"
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else write(node.func)
            return f"({name} {' '.join(write(a) for a in node.args)})" if node.args else f"({name})"
        if isinstance(node, ast.Lambda):
            body = write(node.body)
            for argument in reversed(node.args.args):
                body = f"(lambda {argument.arg} {body})"
            return body
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return str(node.value)
        raise ValueError(f"cannot read {ast.unparse(node)!r} in {text!r}")

    return write(ast.parse(text.strip(), mode="eval").body)


@dataclass
class Derivation:
    """A derivation under construction. ``variables`` maps a name to ``"sort kind: meaning"``."""

    name: str
    title: str
    goal: str
    known: str
    variables: Mapping[str, str]
    conclude: str
    delta: str = "0"
    hypotheses: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """id -> (formula, meaning)"""
    sources: Sequence[str] = ()
    domain: str = ""
    facts: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """id -> (formula, proof in prose): facts that the proof needs; they become prose steps."""
    steps: list[dict[str, Any]] = field(default_factory=list)

    def _step(
        self, claim: str, rule: str, premises: Sequence[str], why: str, level: str = "kernel", **data: Any
    ) -> str:
        identifier = f"s{len(self.steps) + 1}"
        self.steps.append(
            {
                "id": identifier,
                "claim": infix(claim),
                "rule": rule,
                "premises": list(premises),
                "data": data,
                "level": level,
                "why": why,
            }
        )
        return identifier

    def assume(self, identifier: str) -> str:
        """Use the hypothesis, or the fact proved in prose, of that id."""
        if identifier in self.facts:
            return self.paper(*self.facts[identifier])
        formula, meaning = self.hypotheses[identifier]
        return self._step(formula, "hypothesis", (), meaning, id=identifier)

    def lemma(self, name: str, with_: Mapping[str, str], claim: str, why: str, *premises: str) -> str:
        """Use a derivation that was checked before; its level is filled in by ``proofs.library``."""
        return self._step(
            claim, "lemma", premises, why, "", name=name, **{"with": {k: infix(v) for k, v in with_.items()}}
        )

    def cite(self, name: str, with_: Mapping[str, str], claim: str, why: str, *premises: str) -> str:
        """Use a result of ``proofs.cited``."""
        return self._step(
            claim,
            "cite",
            premises,
            why,
            "cited",
            name=name,
            **{"with": {k: infix(v) for k, v in with_.items()}},
        )

    def axiom(self, name: str, with_: Mapping[str, str], claim: str, why: str, *premises: str) -> str:
        """Use a named rule of expectation and supremum."""
        return self._step(
            claim,
            "axiom",
            premises,
            why,
            "kernel",
            name=name,
            **{"with": {k: infix(v) for k, v in with_.items()}},
        )

    def paper(self, claim: str, why: str, *premises: str) -> str:
        """A step proved in prose: ``why`` is the proof."""
        return self._step(claim, "paper", premises, why, "paper")

    def algebra(self, claim: str, why: str, *signs: str) -> str:
        """Both sides have the same normal form."""
        return self._step(claim, "algebra", signs, why)

    def sign(self, claim: str, why: str, *signs: str, squares: Sequence[tuple[str, str]] = ()) -> str:
        """The difference is visibly nonnegative, or a sum of squares."""
        extra: dict[str, Any] = {}
        if squares:
            extra["squares"] = [[infix(weight), infix(square)] for weight, square in squares]
        return self._step(claim, "sign", signs, why, **extra)

    def combine(self, claim: str, why: str, *premises: str, times: Sequence[str] | None = None) -> str:
        """The premises, times nonnegative multipliers, add up to the claim."""
        extra: dict[str, Any] = {"times": [infix(factor) for factor in times]} if times else {}
        return self._step(claim, "combine", premises, why, **extra)

    def monotone(self, claim: str, why: str, *premises: str) -> str:
        """Larger terms in increasing places."""
        return self._step(claim, "monotone", premises, why)

    def optimise(self, variable: str, at: str, claim: str, why: str, *premises: str) -> str:
        """Set a free parameter to its optimum."""
        return self._step(claim, "optimise", premises, why, variable=variable, at=infix(at))

    def specialise(self, variable: str, at: str, claim: str, why: str, *premises: str) -> str:
        """Set a free parameter or a dummy to a value."""
        return self._step(claim, "specialise", premises, why, variable=variable, at=infix(at))

    def grid(self, index: str, total: str, tail: str, claim: str, why: str, premise: str) -> str:
        """Unite the events over a countable grid."""
        return self._step(claim, "grid", (premise,), why, index=index, total=infix(total), tail=infix(tail))

    def weighted_grid(
        self, index: str, total: str, weight: str, claim: str, why: str, premise: str, total_weight: str
    ) -> str:
        """Unite the events over a countable family with weights that add up to at most 1."""
        return self._step(
            claim, "grid", (premise, total_weight), why, index=index, total=infix(total), weight=infix(weight)
        )

    def interval(self, claim: str, why: str, *premises: str, box: Mapping[str, tuple[str, str]]) -> str:
        """A numeric inequality over a box."""
        return self._step(
            claim,
            "interval",
            premises,
            why,
            "interval",
            box={k: [infix(a), infix(b)] for k, (a, b) in box.items()},
        )

    def data(self) -> dict[str, Any]:
        """The derivation as plain data."""
        variables = []
        for name, text in self.variables.items():
            kind, meaning = text.split(":", 1)
            sort, when = kind.split()
            variables.append({"name": name, "sort": sort, "kind": when, "meaning": meaning.strip()})
        record = {
            "name": self.name,
            "title": self.title,
            "goal": self.goal,
            "known": self.known,
            "variables": variables,
            "hypotheses": [
                {"id": i, "claim": infix(f), "meaning": m} for i, (f, m) in self.hypotheses.items()
            ],
            "conclusion": {"claim": infix(self.conclude), "delta": infix(self.delta)},
            "steps": self.steps,
            "sources": list(self.sources),
            "domain": self.domain,
        }
        loaded: dict[str, Any] = json.loads(json.dumps(record))
        return loaded


def prose(derivation: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The ledger entries of the prose steps of a derivation."""
    claims = {step["id"]: step["claim"] for step in derivation["steps"]}
    entries = {}
    for step in derivation["steps"]:
        if step["rule"] == "paper":
            entry = {
                "claim": step["claim"],
                "premises": [claims[p] for p in step["premises"]],
                "proof": step["why"],
            }
            entries[f"{derivation['name']}/{step['id']}"] = entry
    return entries
