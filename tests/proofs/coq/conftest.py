"""Coq for the tests that need it: compiled once, skipped only where it is not installed."""

from __future__ import annotations

import subprocess

import pytest

from proofs.bridge.compiler import ROOT, available


@pytest.fixture(scope="session")
def coq() -> None:
    """The compiled theories; a test that asks for them is skipped where Coq is not installed."""
    if not available():
        pytest.skip("coqc is not installed: apt-get install coq libcoq-coquelicot libcoq-interval")
    done = subprocess.run(
        ["make", "-j2", "-C", str(ROOT), "theories"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
