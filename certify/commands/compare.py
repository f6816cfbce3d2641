"""``certify compare``: what moved between two models of one architecture."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from certify.commands import folder
from certify.errors import DataError

DESCRIPTION = """\
Compare two models of one architecture (say, before and after fine-tuning): certified effective ranks of
every matrix in both, of the update AFTER - BEFORE, and with --text or --inputs of the attention matrices on
the same inputs. A change is called one only where the enclosures prove it.
"""
EPILOG = """\
examples:
  certify compare models/bert_pretrained models/bert_ft --out out/compare
  certify compare before after --inputs reactions.npz --out out/compare

what is written to DIR: compare.html (to read) and compare.json (every number)
exit codes: 0 all certified; 1 some matrix was not; 2 bad usage or input
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of ``certify compare``."""
    parser = subparsers.add_parser(
        "compare",
        help="what moved between two models",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("before", metavar="BEFORE", help="a model, as for `certify report`")
    parser.add_argument("after", metavar="AFTER", help="a model of the same architecture")
    inputs = parser.add_mutually_exclusive_group()
    inputs.add_argument("--text", type=Path, metavar="FILE", help="UTF-8 text, one input per line")
    inputs.add_argument(
        "--inputs", type=Path, metavar="FILE.npz", help="arrays named like the forward arguments"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to write")
    parser.add_argument("--json", action="store_true", help="print the JSON on stdout, nothing else")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compare, write, summarise."""
    from certify.report.progress import Bars
    from certify.study import compare

    folder.make(arguments.out)
    for path in (arguments.text, arguments.inputs):
        if path is not None and not path.is_file():
            raise DataError(f"{path}: no such file")
    with Bars("certify compare") as progress:
        inputs = arguments.text or arguments.inputs
        record = compare.compare(arguments.before, arguments.after, inputs, progress)
    _write(record, arguments.out)
    if arguments.json:
        print(json.dumps(record, indent=1))
    else:
        print(f"\n{_summary(record)}\n  page {arguments.out}/compare.html")
    return 1 if any("error" in r for r in record["weights"]) else 0


def _summary(record: Mapping[str, Any]) -> str:
    lines = [f"{record['before']} -> {record['after']}"]
    for role, counts in record["summary"].items():
        lines.append(
            f"  {role}: {counts['matrices']} matrices, {counts['unchanged']} unchanged, "
            f"{counts['errors']} not certified"
        )
        for kind, tally in counts.items():
            if isinstance(tally, dict):
                lines.append(f"    {kind} rank: " + ", ".join(f"{n} {what}" for what, n in tally.items()))
    return "\n".join(lines)


def _write(record: Mapping[str, Any], out: Path) -> None:
    from certify.study import pages
    from certify.study.ranks import KINDS

    moved, still = [], []
    for r in record["weights"]:
        if "before" in r:
            cells = [" → ".join(_shown(r[w], k) for w in ("before", "after")) for k in KINDS]
            moved.append([r["name"], *cells, *(_shown(r["update"], k) for k in KINDS), _proved(r)])
        else:
            still.append([r["name"], "unchanged" if r.get("unchanged") else r["error"]])
    heads = ["matrix", *(f"{kind} rank" for kind in KINDS), *(f"update: {kind}" for kind in KINDS), "proved"]
    unmoved = pages.table(["matrix", "what"], still)
    sections = [
        ("Summary", _summary_table(record)),
        ("Stable rank by layer", _figure(record)),
        ("Matrices that changed", pages.table(heads, moved) if moved else "<p>None.</p>"),
        ("The others", pages.folded(f"{len(still)} unchanged or not certified", unmoved) if still else ""),
    ]
    if record["attention"]:
        found = [
            [f"input {a['input']}, layer {a['layer']}, head {a['head']}"]
            + [" → ".join(_shown(a[w], k) for w in ("before", "after")) for k in KINDS]
            + [_proved(a)]
            for a in record["attention"]
        ]
        heads = ["attention matrix", *(f"{kind} rank" for kind in KINDS), "proved"]
        sections.append(("Attention on the same inputs", pages.table(heads, found)))
    names = " and ".join(Path(record[w]).name or record[w] for w in ("before", "after"))
    read = pages.table(["model", "read from"], [[w, record[w]] for w in ("before", "after")])
    pages.write(record, out, "compare", names, [*sections, ("Models", read)])


def _proved(record: Mapping[str, Any]) -> str:
    """``stable, entropy fell; nuclear not decided``."""
    said: dict[str, list[str]] = {}
    for kind, what in record["change"].items():
        said.setdefault(what, []).append(kind)
    return "; ".join(f"{', '.join(kinds)} {what}" for what, kinds in said.items())


def _summary_table(record: Mapping[str, Any]) -> str:
    from certify.report import view
    from certify.study import pages
    from certify.study.ranks import KINDS

    rows = []
    for role, counts in record["summary"].items():
        tallies = [counts.get(kind, {}) for kind in KINDS]
        said = [", ".join(f"{n} {what}" for what, n in t.items() if n) or "–" for t in tallies]
        first = [view.ROLE_TITLES[role], str(counts["matrices"])]
        rows.append([*first, str(counts["unchanged"]), *said, str(counts["errors"])])
    heads = ["role", "matrices", "unchanged", *(f"{kind} rank" for kind in KINDS), "not certified"]
    return pages.table(heads, rows)


def _shown(ranks: Mapping[str, Any] | None, kind: str) -> str:
    from certify.study import pages

    return "none" if ranks is None else pages.number(ranks[kind])


def _figure(record: Mapping[str, Any]) -> str:
    from certify.report.figure import lines

    series: dict[str, list[tuple[float, float]]] = {}
    for what in ("before", "after", "update"):
        for role in ("query-key", "value-output"):
            layers: dict[int, list[float]] = {}
            for r in record["weights"]:
                if r["role"] == role and r.get(what) and r["layer"] is not None:
                    layers.setdefault(r["layer"], []).append(float(r[what]["stable"]["upper"]))
            if layers:
                series[f"{role}, {what}"] = [(k, sum(v) / len(v)) for k, v in sorted(layers.items())]
    return lines(series, ("layer", "stable rank, mean over matrices"), logarithmic=False)
