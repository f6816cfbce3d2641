"""All derivations in reading order: built, stored as JSON, and re-checked from the stored files.

``python -m proofs.library`` writes the stored files anew. Everything else only reads them.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from proofs.build import prose
from proofs.cited import CITED
from proofs.kernel import Refused, Statement, check, check_library, cited_statement

STORE = Path(__file__).parent / "stored"
ORDER: tuple[str, ...] = (
    "lemmas.l01_symmetrization",
    "lemmas.l02_mcdiarmid",
    "lemmas.l03_uniform_deviation",
    "lemmas.l04_massart",
    "lemmas.pairs",
    "lemmas.l05_contraction",
    "lemmas.l06_khintchine",
    "lemmas.l07_vector_contraction",
    "lemmas.l08_matrix_series",
    "lemmas.l09_duality",
    "lemmas.l10_dudley",
    "lemmas.l11_nets",
    "lemmas.l12_softmax",
    "lemmas.l13_attention_map",
    "lemmas.l14_effective_ranks",
    "lemmas.l15_occam",
    "lemmas.l16_pac_bayes",
    "lemmas.l17_gaussian_entropy",
    "lemmas.l18_gaussian_maximum",
    "lemmas.l19_singular_values",
    "theorems.frozen_features_proof",
    "theorems.peeling_proof",
    "theorems.nuclear_ball_proof",
    "theorems.softmax_scores_proof",
    "theorems.joint_head_proof",
    "theorems.exact_rank_proof",
    "theorems.occam_proof",
    "theorems.held_out_proof",
    "theorems.gibbs_proof",
    "theorems.single_draw_proof",
    "theorems.margin_proof",
    "counterexamples.n0_one_token",
    "counterexamples.n1_shattering",
    "counterexamples.n2_no_bound",
    "counterexamples.n3_gradient_descent",
    "counterexamples.n4_unrelated_ranks",
    "counterexamples.n5_scale",
    "counterexamples.n6_frobenius_counts",
    "counterexamples.n7_after_training",
)


def machine_table() -> dict[str, str]:
    """Names of derivations whose statement Coq has checked, with the theorem's name."""
    path = STORE / "machine.json"
    table: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    return table


def build() -> list[dict[str, Any]]:
    """Write every derivation from its source file; signs that the kernel sees by itself are left out."""
    library = {f"cited:{record['name']}": cited_statement(record) for record in CITED}
    built: list[dict[str, Any]] = []
    for module_name in ORDER:
        module = importlib.import_module(f"proofs.{module_name}")
        for derive in getattr(module, "DERIVATIONS", None) or (module.derive,):
            data = derive().data()
            _complete_lemmas(data, library)
            _drop_idle_variables(data)
            library[data["name"]] = _tidy(data, library)
            built.append(data)
    return built


def _complete_lemmas(data: dict[str, Any], library: Mapping[str, Statement]) -> None:
    """Fill in the levels of used lemmas; terms for variables that they do not mention are dropped."""
    for step in data["steps"]:
        if step["rule"] == "lemma":
            statement = library[step["data"]["name"]]
            step["level"] = statement.level
            wanted = {name for name, _, _ in statement.variables}
            step["data"]["with"] = {k: v for k, v in step["data"]["with"].items() if k in wanted}


def _tidy(data: dict[str, Any], library: Mapping[str, Statement]) -> Statement:
    """Check the derivation, dropping sign premises and steps that the kernel reports as not needed."""
    while True:
        try:
            return check(data, library, prose(data), machine_table())
        except Refused as error:
            found = re.search(r"step (\S+): premise (\S+) is not needed", str(error))
            if found is None:
                raise
            step = next(step for step in data["steps"] if step["id"] == found.group(1))
            step["premises"].remove(found.group(2))
            _drop_idle_steps(data)


def _drop_idle_steps(data: dict[str, Any]) -> None:
    while True:
        used = {premise for step in data["steps"] for premise in step["premises"]}
        idle = [step for step in data["steps"][:-1] if step["id"] not in used]
        if not idle:
            return
        data["steps"] = [step for step in data["steps"] if step not in idle]


def _drop_idle_variables(data: dict[str, Any]) -> None:
    """Remove variables that came along with a lemma's table but occur nowhere."""
    texts = [
        data["conclusion"]["claim"],
        data["conclusion"]["delta"],
        *(h["claim"] for h in data["hypotheses"]),
    ]
    for step in data["steps"]:
        texts += [step["claim"], *step["data"].get("with", {}).values()]
    words = set(" ".join(texts).replace("(", " ").replace(")", " ").split())
    data["variables"] = [v for v in data["variables"] if v["name"] in words]


def goals(derivations: list[dict[str, Any]]) -> dict[str, Any]:
    """The recorded statements: what each derivation must prove, and the level of each of its steps."""
    return {
        d["name"]: {"variables": d["variables"], "hypotheses": d["hypotheses"], "conclusion": d["conclusion"]}
        for d in derivations
    }


def _levels(derivations: list[dict[str, Any]], library: Mapping[str, Statement]) -> dict[str, Any]:
    return {
        d["name"]: {"level": library[d["name"]].level, "steps": {s["id"]: s["level"] for s in d["steps"]}}
        for d in derivations
    }


def write() -> dict[str, Statement]:
    """Build, check and store all derivations."""
    derivations = build()
    ledger: dict[str, Any] = {}
    for derivation in derivations:
        ledger |= prose(derivation)
    library = check_library(derivations, CITED, ledger, goals(derivations), machine_table())
    STORE.mkdir(exist_ok=True)
    for derivation in derivations:
        _save(f"{derivation['name']}.json", derivation)
    _save("order.json", [d["name"] for d in derivations])
    _save("prose.json", ledger)
    _save("goals.json", goals(derivations))
    _save("levels.json", _levels(derivations, library))
    expected = {f"{d['name']}.json" for d in derivations} | {
        "order.json",
        "prose.json",
        "goals.json",
        "levels.json",
        "machine.json",
        "tests.json",
    }
    for stale in {p.name for p in STORE.glob("*.json")} - expected:
        (STORE / stale).unlink()
    load.cache_clear()
    return library


def _save(name: str, value: Any) -> None:
    (STORE / name).write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


@lru_cache(maxsize=1)
def load() -> tuple[dict[str, Any], ...]:
    """The stored derivations in order."""
    order = json.loads((STORE / "order.json").read_text())
    return tuple(json.loads((STORE / f"{name}.json").read_text()) for name in order)


def stored(name: str) -> Any:
    """A stored record: ``prose``, ``goals``, ``levels``."""
    return json.loads((STORE / f"{name}.json").read_text())


def recheck() -> dict[str, Statement]:
    """Re-check every stored derivation against the recorded goals; raises ``Refused``."""
    return check_library(load(), CITED, stored("prose"), stored("goals"), machine_table())


if __name__ == "__main__":
    checked = write()
    print(f"{len(load())} derivations built, checked and stored, {len(checked)} statements", file=sys.stderr)
