"""``certify compare``: what moved between two models of one architecture."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DESCRIPTION = """\
Compare two models of one architecture (say, before and after fine-tuning): certified effective ranks of
every matrix in both, of the update AFTER - BEFORE, and with --text or --inputs of the attention matrices on
the same inputs. A change is called one only where the enclosures prove it.
"""
EPILOG = """\
examples:
  certify compare models/bert_pretrained models/bert_ft --out out/compare
  certify compare before after --inputs reactions.npz --out out/compare

writes compare.html and compare.json; exit codes: 0 all certified; 1 some matrix was not; 2 bad usage or input
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
    parser.add_argument("before", help="a model, as for `certify report`")
    parser.add_argument("after", help="a model of the same architecture")
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
    from certify.study import compare

    def progress(text: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\033[K{text}"[:100], end="", file=sys.stderr, flush=True)

    record = compare.compare(arguments.before, arguments.after, arguments.text or arguments.inputs, progress)
    _write(record, arguments.out)
    print(
        json.dumps(record, indent=1)
        if arguments.json
        else f"\n{_summary(record)}\n  page {arguments.out}/compare.html"
    )
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

    heads = ["matrix", *(f"{kind}: before, after, update" for kind in KINDS), "proved"]
    rows = []
    for r in record["weights"]:
        if "before" not in r:
            rows.append([r["name"], *([""] * len(KINDS)), "unchanged" if r.get("unchanged") else r["error"]])
            continue
        cells = [
            ", ".join(
                "none" if r[w] is None else pages.number(r[w][kind]) for w in ("before", "after", "update")
            )
            for kind in KINDS
        ]
        rows.append([r["name"], *cells, ", ".join(f"{k} {v}" for k, v in r["change"].items())])
    sections = [
        ("Summary", f"<pre>{pages.markupsafe.escape(_summary(record))}</pre>"),
        ("Stable rank by layer: before, after, and of the update", _figure(record)),
        ("Matrices", pages.table(heads, rows)),
    ]
    if record["attention"]:
        found = [
            [f"input {a['input']}, layer {a['layer']}, head {a['head']}"]
            + [f"{_shown(a['before'], kind)}, {_shown(a['after'], kind)}" for kind in KINDS]
            + [", ".join(f"{k} {v}" for k, v in a["change"].items())]
            for a in record["attention"]
        ]
        heads = ["attention matrix", *(f"{kind}: before, after" for kind in KINDS), "proved"]
        sections.append(("Attention on the same inputs", pages.table(heads, found)))
    pages.write(record, out, "compare", f"{record['before']} and {record['after']}", sections)


def _shown(ranks: Mapping[str, Any] | None, kind: str) -> str:
    from certify.study import pages

    return "none" if ranks is None else pages.number(ranks[kind])


def _figure(record: Mapping[str, Any]) -> str:
    from certify.study import pages

    series: dict[str, list[tuple[float, float]]] = {}
    for what in ("before", "after", "update"):
        for role in ("query-key", "value-output"):
            layers: dict[int, list[float]] = {}
            for r in record["weights"]:
                if r["role"] == role and r.get(what) and r["layer"] is not None:
                    layers.setdefault(r["layer"], []).append(float(r[what]["stable"]["upper"]))
            if layers:
                series[f"{role}, {what} (mean over heads)"] = [
                    (k, sum(v) / len(v)) for k, v in sorted(layers.items())
                ]
    return pages.lines(series, "layer", "stable rank", logarithmic=False)
