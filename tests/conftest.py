"""Settings shared by all tests: one BLAS thread, no network, and the optional tools that some tests need."""

from __future__ import annotations

import os
import shutil

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("long", parent=settings.get_profile("default"), derandomize=False)
settings.load_profile("default")


def _tool(*names: str) -> str:
    """Path of the first of ``names`` installed; without one, skip, or fail where tools are required."""
    for name in names:
        if path := shutil.which(name):
            return path
    message = f"none of {', '.join(names)} is installed"
    if os.environ.get("CERTIFY_REQUIRE_TOOLS"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def coqc() -> str:
    """Path of the Coq compiler."""
    return _tool("coqc")


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a Chromium browser."""
    return _tool("chromium", "chromium-browser", "google-chrome")
