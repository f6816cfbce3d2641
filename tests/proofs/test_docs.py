"""The pages on proofs: the generated map and the list of claims are current."""

from __future__ import annotations

import re
from pathlib import Path

from proofs import theorem_map
from proofs.library import load, stored
from tests.proofs.sides import PROPERTIES

ROOT = Path(__file__).parents[2]


def test_theorem_map_is_current() -> None:
    assert (ROOT / "docs/reference/theorem-map.md").read_text(encoding="utf-8") == theorem_map.page()


def test_every_named_test_exists() -> None:
    tests = stored("tests")
    assert set(tests) == {d["name"] for d in load()}
    for name, test in tests.items():
        file, _, function = test.partition("::")
        function, _, parameter = function.partition("[")
        assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8"), name
        if parameter:
            assert PROPERTIES[parameter.rstrip("]")].derivation == name


def test_claims_reference_lists_every_form() -> None:
    from proofs.claims import FORMS

    text = (ROOT / "docs/reference/claims.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE)) == set(FORMS)
    for form in FORMS.values():
        if form.derivation not in ("theorem-a1", "theorem-c1-i", "proposition-n2"):
            assert f"`{form.derived}`" in text


def test_example_claims_are_understood() -> None:
    from proofs.claims import FORMS, read_claim

    files = sorted((ROOT / "examples/claims").glob("*.toml"))
    assert len(files) >= 6
    assert all(read_claim(file).about in FORMS for file in files)
