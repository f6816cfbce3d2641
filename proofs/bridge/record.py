"""Write what Coq has checked, for readers without Coq.

``python -m proofs.bridge.record`` writes ``proofs/coq/theorems.json`` (every theorem: file, words, statement,
hypotheses, axioms, digest of its source), ``proofs/coq/goals/*.json`` (goals after each sentence of the
headline proofs) and ``docs/reference/coq-theorems.md``. ``--goals-only`` and ``--table-only`` do one half.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proofs.bridge.axioms import assumptions
from proofs.bridge.compiler import ROOT, THEORIES, compile_text, require
from proofs.bridge.sentences import headline, record
from proofs.bridge.sources import Named, digests, requires, theorems
from proofs.bridge.statements import STATEMENTS

TABLE = ROOT / "theorems.json"
GOALS = ROOT / "goals"
PAGE = ROOT.parent.parent / "docs" / "reference" / "coq-theorems.md"

HEADLINE_PROOFS = (
    "khintchine",
    "khintchine_sq",
    "maurer_contraction",
    "symmetrization",
    "hoeffding_lemma",
    "mcdiarmid",
    "uniform_deviation",
    "covariance_le",
    "readout_osc",
    "readout_lipschitz",
    "softmax_l1",
    "softmax_l2",
    "rademacher_scores",
    "head_bound_frobenius",
    "head_bound",
    "vector_head_bound_frobenius",
    "peeling",
    "peeled_head_bound",
    "peeled_vector_head_bound",
    "frozen_bound",
    "frozen_attention_bound",
    "joint_bound",
    "pooled_head_bound",
    "peeled_pooled_head_bound",
    "mean_of_losses_lipschitz",
    "stable_rank_outer",
    "pattern_attention_rank_one",
    "pattern_output_sign",
    "rank_one_rademacher",
    "fitted_gap",
    "naive_bound_false",
    "stable_le_nuclear",
    "nuclear_le_nuclear_frobenius",
    "nuclear_frobenius_le_entropy",
    "entropy_le_rank",
    "chernoff_hoeffding",
    "kl_deviation",
    "pinsker",
    "kraft",
    "occam_event",
    "occam_bound",
    "prefix_code_bound",
    "ideal_code_bound",
    "errors_binomial",
    "test_set_bound",
    "test_set_kl",
    "peeled_frozen_bound",
    "massart",
    "stirling_lower",
    "prior_moment_le",
    "maurer_moment",
    "change_of_measure",
    "gibbs_grid_bound",
    "drawn_model_bound",
    "gibbs_split_bound",
    "drawn_split_bound",
    "monte_carlo_bound",
    "gibbs_monte_carlo_bound",
    "pac_bayes_kl",
    "gaussian_relative_entropy",
    "rank_gibbs_bound",
    "binomial_tail_inverse_upper",
    "ideal_code_binomial_bound",
    "tail_below_correct",
)
ASSUMES = (
    ("finite sample space, iid sample", re.compile(r"\b(Pr|Em) P\b")),
    ("finite sample space", re.compile(r"\bEx P\b|\bdistribution P\b")),
    ("finite class", re.compile(r"\b(Sup t0 l|rademacher F t0 l|In t l)\b")),
)


def premises(statement: str) -> tuple[list[str], str]:
    """The hypotheses of a closed statement and its conclusion, split at the outermost arrows."""
    rest = re.sub(r"\s+", " ", statement).strip()
    found: list[str] = []
    while True:
        if rest.startswith("forall "):
            rest = rest[_outermost(rest, ",") + 1 :].strip()
            continue
        arrow = _outermost(rest, "->")
        if arrow < 0:
            return found, rest
        found.append(rest[:arrow].strip())
        rest = rest[arrow + 2 :].strip()


def _outermost(text: str, mark: str) -> int:
    depth = 0
    for i, char in enumerate(text):
        depth += char in "([{"
        depth -= char in ")]}"
        if depth == 0 and text.startswith(mark, i):
            return i
        if depth == 0 and mark == "->" and text.startswith(("fun ", "exists "), i):
            return -1
    return -1


def statements(named: Sequence[Named]) -> dict[str, str]:
    """The closed statement of each theorem (``File.name``), as Coq prints it."""
    if not named:
        return {}
    lines = [
        "From Coq Require Import Reals List.",
        f"From Attention Require Import {' '.join(sorted({n.file for n in named}))}.",
        "Open Scope R_scope.",
        "Set Printing Width 110.",
    ]
    lines += [f'Goal True. idtac "@@{n.file}.{n.name}". Abort.\nCheck @{n.file}.{n.name}.' for n in named]
    outcome = compile_text("\n".join(lines) + "\n")
    if not outcome.ok:
        raise RuntimeError(f"Check failed: {outcome.first_error}")
    found = {}
    for part in outcome.output.split("@@")[1:]:
        name, _, rest = part.partition("\n")
        found[name.strip()] = rest.partition(":")[2].strip()
    return found


def build_digest(file: str) -> str:
    """sha256 over the sources of a file and of everything that it needs."""
    needed, pending = set(), [file]
    while pending:
        name = pending.pop()
        if name not in needed:
            needed.add(name)
            pending += requires(THEORIES / f"{name}.v")
    return hashlib.sha256("".join(digests()[name] for name in sorted(needed)).encode()).hexdigest()


def _unchanged(named: Sequence[Named]) -> dict[str, dict[str, Any]]:
    """Recorded entries whose file and all that it needs are as they were: asking Coq again is slow."""
    if not TABLE.exists():
        return {}
    old = {e["name"]: e for e in json.loads(TABLE.read_text(encoding="utf-8"))["theorems"]}
    return {
        n.name: old[n.name]
        for n in named
        if n.name in old
        and old[n.name]["file"] == f"theories/{n.file}.v"
        and old[n.name].get("build_sha256") == build_digest(n.file)
    }


def claims() -> dict[str, str]:
    """Bounds of the Python side and the theorems that close them."""
    return {s.theorem + (f" ({s.variant})" if s.variant else ""): s.coq for s in STATEMENTS}


def table() -> dict[str, Any]:
    """The record of all theorems."""
    named = theorems()
    known = _unchanged(named)
    new = [n for n in named if n.name not in known]
    said, axioms, sums = statements(new), assumptions(new), digests()
    entries = []
    for n in named:
        if n.name in known:
            entries.append({**known[n.name], "words": n.words, "source_sha256": sums[n.file]})
            continue
        statement = said[f"{n.file}.{n.name}"]
        hypotheses, conclusion = premises(statement)
        assumes = [words for words, pattern in ASSUMES if pattern.search(statement)]
        if "finite sample space, iid sample" in assumes and "finite sample space" in assumes:
            assumes.remove("finite sample space")
        entries.append(
            {
                "name": n.name,
                "file": f"theories/{n.file}.v",
                "words": n.words,
                "statement": statement,
                "hypotheses": hypotheses,
                "conclusion": conclusion,
                "assumes": assumes,
                "axioms": axioms[f"{n.file}.{n.name}"],
                "source_sha256": sums[n.file],
                "build_sha256": build_digest(n.file),
                "goals_file": f"goals/{n.name}.json" if n.name in HEADLINE_PROOFS else None,
            }
        )
    return {"coq": "8.16.1", "claims": claims(), "theorems": entries}


def page(recorded: Mapping[str, Any]) -> str:
    """The reference page for the recorded theorems."""
    lines = [
        "# Machine-checked theorems",
        "",
        "Generated by `make -C proofs/coq record` from `proofs/coq/theorems.json`; do not edit.",
        "What they cover is told in [machine-checked](../explanation/machine-checked.md).",
        "",
        f"Coq {recorded['coq']}. {len(recorded['theorems'])} theorems. Axioms are abbreviated: C `classic`, "
        "F `functional_extensionality_dep`,",
        "A `sig_forall_dec`, N `sig_not_dec`; no others are allowed.",
        "",
        "## Bounds of the Python side and the theorems that close them",
        "",
        "| bound | Coq theorem |",
        "|---|---|",
    ]
    lines += [f"| {name} | `{coq}` |" for name, coq in recorded["claims"].items()]
    current = ""
    for entry in recorded["theorems"]:
        if entry["file"] != current:
            current = entry["file"]
            lines += [
                "",
                f"## {Path(current).stem}",
                "",
                "| theorem | in words | hypotheses | assumes | axioms |",
                "|---|---|---|---|---|",
            ]
        letters = "".join(
            {
                "classic": "C",
                "functional_extensionality_dep": "F",
                "sig_forall_dec": "A",
                "sig_not_dec": "N",
            }.get(axiom.rpartition(".")[2], axiom)
            for axiom in entry["axioms"]
        )
        hypotheses = "; ".join(f"`{h}`" for h in entry["hypotheses"]) or "none"
        row = [
            f"`{entry['name']}`",
            entry["words"],
            hypotheses,
            ", ".join(entry["assumes"]) or "nothing",
            letters or "none",
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
    return "\n".join(lines) + "\n"


def _recorded_for(name: str, build: str) -> bool:
    path = GOALS / f"{name}.json"
    return path.exists() and json.loads(path.read_text(encoding="utf-8")).get("build_sha256") == build


def write_goals() -> int:
    """Record the goals of the headline proofs; the number of proofs."""
    GOALS.mkdir(exist_ok=True)
    by_file = headline(theorems(), HEADLINE_PROOFS)
    written = set()
    for file, names in by_file.items():
        build = build_digest(file)
        stale_names = [name for name in names if not _recorded_for(name, build)]
        found = record(file, stale_names) if stale_names else {}
        for name, steps in found.items():
            data = {
                "theorem": name,
                "file": f"theories/{file}.v",
                "source_sha256": digests()[file],
                "build_sha256": build,
                "steps": [{"sentence": s.sentence, "goal": s.goal} for s in steps],
            }
            _save(GOALS / f"{name}.json", data)
        written |= {f"{name}.json" for name in names}
    if len(written) != len(HEADLINE_PROOFS):
        raise ValueError(f"no theorem is called {sorted(set(HEADLINE_PROOFS) - {w[:-5] for w in written})}")
    for stale in {p.name for p in GOALS.glob("*.json")} - written:
        (GOALS / stale).unlink()
    return len(written)


def _save(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Write table, page and goals."""
    require()
    if "--goals-only" not in arguments:
        recorded = table()
        _save(TABLE, recorded)
        PAGE.write_text(page(recorded), encoding="utf-8")
        print(f"{len(recorded['theorems'])} theorems recorded", file=sys.stderr)
    if "--table-only" not in arguments:
        print(f"goals of {write_goals()} proofs recorded", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
