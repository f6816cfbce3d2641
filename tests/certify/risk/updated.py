"""The certificate of an updated base in ``FOLDER/out``, and the checkers on a forged copy of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from certify.verify import risk as verify_risk
from certify.verify import update as verify_update


def certificate(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "out" / "model.cert").read_text())  # type: ignore[no-any-return]


def check(folder: Path, document: dict[str, Any], base: str | None = None, data: str = "train.npz") -> str:
    """What the checker says; with ``base`` (``module:object``) it also runs base + update."""
    path = folder / "out" / "forged.cert"
    path.write_text(json.dumps(document))
    if base is None:
        return verify_risk.verify(path, folder / "out" / data)
    return verify_update.verify(path, folder / "out" / data, base)
