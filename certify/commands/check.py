"""``certify check``: re-check the mathematics, show a bound's constants, or judge a claimed bound."""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from certify.errors import ClaimError, InputError

if TYPE_CHECKING:
    from proofs.claims import Verdict
    from proofs.records import Theorem

DESCRIPTION = """\
Without arguments, re-check every stored derivation with the symbolic kernel and print one line for each:
its constants, its level (coq, kernel, interval, cited or paper: how the weakest step is known), its
steps by level, its Coq theorem, its test and its sources.

With --show NAME, print a theorem's bound and constants; with --at, their shares at given numbers, and where
most is lost. NAME may also be a lemma (lemma-7): then its steps are printed.

With claim files (TOML with name, about and bound), answer for each: follows, refuted (with an exact
counterexample) or not derivable here (with the step that fails and the nearest multiple that follows). See
examples/claims.

With --coq REPORT, ask the proof assistant to confirm the arithmetic of every bound in a report.
"""
EXAMPLES = """\
examples:
  certify check
  certify check --show C1-vector --at m=50000,delta=0.05,L=1,omega=2,sum_sq_scores=50000
  certify check examples/claims/khintchine-1.3.toml
  certify check --coq out/minilm/report.json

what is written: nothing; the answer is on stdout
exit codes: 0 all good (for claims: follows); 1 refused, refuted or not derivable; 2 bad input
"""


def register(subparsers: Any) -> None:
    """Add the parser of ``certify check``."""
    parser = subparsers.add_parser(
        "check",
        help="re-check the derivations, or judge a claimed bound",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("claims", nargs="*", metavar="CLAIM.toml", help="claims to judge")
    parser.add_argument("--show", metavar="NAME", help="a theorem (C1-vector) or a derivation (lemma-7)")
    parser.add_argument("--at", metavar="NAME=NUMBER,...", help="inputs at which --show gives shares")
    parser.add_argument(
        "--coq", metavar="REPORT.json", help="confirm a report's bounds with the proof assistant"
    )
    parser.add_argument("--json", action="store_true", help="print JSON on standard output")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run ``certify check``; returns the exit code."""
    if arguments.at and not arguments.show:
        raise InputError("--at needs --show NAME: the numbers are put into a theorem's bound")
    if sum(map(bool, (arguments.claims, arguments.show, arguments.coq))) > 1:
        raise InputError("choose one of: claim files, --show, --coq")
    if arguments.claims:
        return _judge(arguments.claims, arguments.json)
    if arguments.show:
        return _show(arguments.show, arguments.at, arguments.json)
    if arguments.coq:
        return _coq(arguments.coq, arguments.json)
    return _recheck(arguments.json)


def _print(data: Any) -> None:
    json.dump(data, sys.stdout, indent=1, ensure_ascii=False)
    print()


# Everything
def _recheck(as_json: bool) -> int:
    from proofs.bridge.recorded import standing
    from proofs.kernel import LEVELS
    from proofs.library import load, machine_table, recheck, stored
    from proofs.terms import Refused, parse
    from proofs.theorem_map import constants

    try:
        library = recheck()
    except Refused as error:
        if as_json:
            _print({"ok": False, "refused": str(error)})
        else:
            print(f"REFUSED: {error}")
        return 1
    recorded, machine, tests = stored("levels"), machine_table(), stored("tests")
    rows, dropped, totals = [], [], Counter[str]()
    for derivation in load():
        name = derivation["name"]
        steps = Counter(step["level"] for step in derivation["steps"])
        totals += steps
        level = library[name].level
        if LEVELS.index(level) > LEVELS.index(recorded[name]["level"]):
            dropped.append(f"{name}: {recorded[name]['level']} before, {level} now")
        rows.append(
            {
                "name": name,
                "title": derivation["title"],
                "level": level,
                "steps": dict(steps),
                "statement": derivation["conclusion"]["claim"],
                "delta": derivation["conclusion"]["delta"],
                "coq": machine.get(name, ""),
                "constants": constants(parse(derivation["conclusion"]["claim"])),
                "test": tests.get(name, "none"),
                "tested": derivation["domain"],
                "sources": derivation["sources"],
            }
        )
    statements = Counter(str(row["level"]) for row in rows)
    if as_json:
        _print(
            {
                "ok": not dropped,
                "derivations": rows,
                "levels": dict(statements),
                "steps": dict(totals),
                "dropped": dropped,
                "coq": asdict(standing()),
            }
        )
    else:
        _table(rows, statements, totals, dropped)
        print(standing().sentence)
    return 1 if dropped else 0


def _table(
    rows: list[dict[str, Any]], statements: Counter[str], totals: Counter[str], dropped: list[str]
) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("derivation", "constants", "level", "steps", "Coq theorem", "test", "sources"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        steps = " ".join(f"{count} {level}" for level, count in sorted(row["steps"].items()))
        test = row["test"].rpartition("::")[2]
        sources = "; ".join(source.split(",")[0] for source in row["sources"])
        table.add_row(row["name"], row["constants"], row["level"], steps, row["coq"], test, sources)
    Console(width=None if sys.stdout.isatty() else 180, markup=False).print(table)
    print(
        f"\n{len(rows)} derivations re-checked: "
        + ", ".join(f"{n} {level}" for level, n in sorted(statements.items()))
    )
    print(
        f"{sum(totals.values())} steps: " + ", ".join(f"{n} {level}" for level, n in sorted(totals.items()))
    )
    for line in dropped:
        print(f"LEVEL DROPPED: {line}")


# One theorem or lemma
def _show(name: str, at: str | None, as_json: bool) -> int:
    from proofs.library import load
    from proofs.theorems import THEOREMS

    if name in THEOREMS:
        return _show_theorem(THEOREMS[name], at, as_json)
    derivation = next((d for d in load() if d["name"] == name), None)
    if derivation is None:
        known = [*THEOREMS, *(d["name"] for d in load())]
        close = ", ".join(difflib.get_close_matches(name, known, 6, 0.4)) or ", ".join(known[:6])
        raise InputError(
            f"--show {name}: there is no such theorem or derivation; did you mean one of {close}? "
            "`certify check` lists the derivations, docs/reference/theorem-map.md the theorems"
        )
    if at:
        raise InputError(f"--at needs a theorem with a bound, {name} is a derivation")
    if as_json:
        _print(derivation)
        return 0
    print(
        f"{derivation['name']}: {derivation['title']}\n\ngoal: {derivation['goal']}\nwhat we know: "
        f"{derivation['known']}\n"
    )
    for step in derivation["steps"]:
        used = f" from {', '.join(step['premises'])}" if step["premises"] else ""
        print(
            f"{step['id']:>4} [{step['level']}] {step['rule']}{used}: {step['why']}\n       {step['claim']}"
        )
    return 0


def _numbers(theorem: Theorem, text: str) -> dict[str, str]:
    needed = {symbol.name: symbol.meaning for symbol in theorem.inputs}
    values = {}
    for part in text.split(","):
        key, separator, number = part.partition("=")
        if not separator or key.strip() not in needed:
            names = "; ".join(f"{n} ({meaning})" for n, meaning in needed.items())
            raise InputError(f"--at {part!r}: {theorem.name} takes NAME=NUMBER with {names}")
        values[key.strip()] = number.strip()
    return values


def _evaluate(prefix: str, values: dict[str, str]) -> Any:
    from fractions import Fraction

    from certify.kernel.bound import evaluate
    from certify.kernel.enclosure import Enclosure

    try:
        exact = {name: Enclosure.exact(Fraction(number)) for name, number in values.items()}
    except (ValueError, ZeroDivisionError):
        raise InputError(f"--at: not all of these are numbers: {values}") from None
    return evaluate(prefix, exact)


def _show_theorem(theorem: Theorem, at: str | None, as_json: bool) -> int:
    from proofs.export import to_prefix

    record: dict[str, Any] = {
        "name": theorem.name,
        "title": theorem.title,
        "statement": theorem.statement,
        "quantity": theorem.quantity,
        "level": theorem.level,
        "bound": theorem.prefix,
        "latex": theorem.latex,
        "derivation": theorem.derivation,
        "hypotheses": [{"id": h.id, "kind": h.kind, "text": h.text} for h in theorem.hypotheses],
        "inputs": [
            {"name": s.name, "meaning": s.meaning, "fixed_before_sample": s.fixed_before_sample}
            for s in theorem.inputs
        ],
        "constants": [
            {"name": c.name, "value": to_prefix(c.value), "from": c.origin, "why": c.why}
            for c in theorem.constants
        ],
        "variants": [
            {"name": v.name, "bound": v.prefix, "level": v.level, "note": v.note} for v in theorem.variants
        ],
    }
    if at:
        _add_shares(record, theorem, _numbers(theorem, at))
    if as_json:
        _print(record)
        return 0
    _print_theorem(record)
    return 0


def _add_shares(record: dict[str, Any], theorem: Theorem, values: dict[str, str]) -> None:
    from proofs.export import from_prefix, to_prefix

    missing = sorted(
        symbol.name for symbol in from_prefix(theorem.prefix).free_symbols if symbol.name not in values
    )
    if missing:
        meanings = {s.name: s.meaning for s in theorem.inputs}
        raise InputError(
            f"--at: {theorem.name} also needs " + "; ".join(f"{n} ({meanings[n]})" for n in missing)
        )
    whole = _evaluate(theorem.prefix, values)
    record["value"] = {"lower": whole.lower_decimal(8), "upper": whole.upper_decimal(8)}
    parts = [(name, _evaluate(to_prefix(part), values)) for name, part in theorem.parts]
    total = sum(float(part.upper) for _, part in parts) or 1.0
    record["parts"] = [
        {"name": name, "value": part.upper_decimal(6), "share": f"{float(part.upper) / total:.1%}"}
        for name, part in parts
    ]
    if parts:
        record["loosest"] = max(parts, key=lambda item: float(item[1].upper))[0]
    better = [
        (v.name, _evaluate(v.prefix, values))
        for v in theorem.variants
        if {s.name for s in from_prefix(v.prefix).free_symbols} <= set(values)
    ]
    record["variant_values"] = [{"name": name, "upper": value.upper_decimal(8)} for name, value in better]


def _print_theorem(record: dict[str, Any]) -> None:
    print(
        f"{record['name']}: {record['title']} [{record['level']}]\n\n{record['statement']}\n\nbound on "
        f"the {record['quantity']}: "
        f"{record['bound']}\n\nhypotheses:"
    )
    for h in record["hypotheses"]:
        print(f"  {h['id']} ({h['kind']}): {h['text']}")
    print("\ninputs:")
    for s in record["inputs"]:
        print(
            f"  {s['name']}: {s['meaning']}"
            + (" (fixed before the sample)" if s["fixed_before_sample"] else "")
        )
    print("\nconstants:")
    for c in record["constants"]:
        print(f"  {c['name']} = {c['value']}, from {c['from']}: {c['why']}")
    for v in record["variants"]:
        print(f"\nvariant {v['name']} [{v['level']}]: {v['bound']}\n  {v['note']}")
    if "value" in record:
        print(f"\nvalue: at most {record['value']['upper']}")
        for part in record["parts"]:
            print(f"  {part['name']}: {part['value']} ({part['share']})")
        for variant in record["variant_values"]:
            print(f"  variant {variant['name']}: at most {variant['upper']}")
        if "loosest" in record:
            print(f"most of it is: {record['loosest']}")


# Claims
def _judge(paths: list[str], as_json: bool) -> int:
    from proofs.claims import BadClaim, judge, read_claim

    verdicts = []
    for path in paths:
        try:
            verdicts.append((path, judge(read_claim(path))))
        except BadClaim as error:
            raise ClaimError(str(error)) from None
    if as_json:
        _print([{"file": Path(path).name, **verdict.as_json()} for path, verdict in verdicts])
    else:
        for path, verdict in verdicts:
            _print_verdict(path, verdict)
    return 0 if all(verdict.verdict == "follows" for _, verdict in verdicts) else 1


def _print_verdict(path: str, verdict: Verdict) -> None:
    print(
        f"{path}: {verdict.claim.name}\n  claimed: {verdict.claim.bound}\n  {verdict.verdict.upper()}: "
        f"{verdict.because}"
    )
    if verdict.derivation:
        for step in verdict.derivation["steps"]:
            print(f"    {step['id']} [{step['level']}] {step['rule']}: {step['why']}  {step['claim']}")
        print(f"  slack: {verdict.slack}")
    if verdict.counterexample:
        found = verdict.counterexample
        for key, value in found.data.items():
            print(f"    {key}: {value}")
        print(f"    left side in {found.left}, claimed right side in {found.right}")
    if verdict.failing_step:
        print(f"  fails at: {verdict.failing_step}\n  nearest: {verdict.nearest}")
    print()


# Reports
def _progress(done: int, total: int) -> None:
    print(f"{done} of {total} bounds decided by Coq", file=sys.stderr)


def _coq(path: str, as_json: bool) -> int:
    from proofs.bridge import check_report
    from proofs.bridge.compiler import CoqMissing

    if not Path(path).is_file():
        raise InputError(f"--coq {path}: there is no such file")
    try:
        found = check_report(path, _progress)
    except CoqMissing as error:
        raise InputError(str(error)) from None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"--coq {path}: not a report of certify: {error!r}") from None
    if as_json:
        _print([{"bound": text, "proved": proved} for text, proved in found])
    else:
        for text, proved in found:
            print(f"{'proved' if proved else 'NOT PROVED'}: {text}")
    if not found:
        print(f"{path} contains no bound to confirm", file=sys.stderr)
    return 0 if found and all(proved for _, proved in found) else 1
