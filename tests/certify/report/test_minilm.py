"""The main job on a real model: everything certified, and accepted by the second checker."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_minilm_on_real_text(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "certify.cli"]
    out = tmp_path / "minilm"
    made = subprocess.run(
        [*command, "report", "minilm", "--text", "examples/text.txt", "--out", str(out), "--quiet"],
        cwd=ROOT, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert (made.returncode, made.stderr) == (0, "")
    report = json.loads((out / "report.json").read_text())
    roles = [m["role"] for m in report["matrices"]]
    assert (roles.count("query-key"), roles.count("value-output")) == (72, 72)
    assert roles.count("weight") == 40
    heads = [h for call in report["attention"]["calls"] for h in call["heads"]]
    assert len(heads) == 72 * report["inputs"]["count"]
    assert all(h["ranks"] for h in heads)
    checked = subprocess.run(
        [*command, "verify", str(out / "report.json"), "--model", "minilm", "--all"],
        cwd=ROOT, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout
    assert "184 of 184 matrices enclosed again" in checked.stdout
