"""A real, tiny report: a BERT of 2 layers and 2 heads with fixed random weights, on three array inputs."""

from __future__ import annotations

import pytest

from tests.certify.report.tiny import Tiny, make_tiny


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """The tiny report, its files and its model."""
    return make_tiny(tmp_path_factory.mktemp("tiny"))
