"""Imports point down, trusted kernels stay small in what they load, and these checks can fail."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
STDLIB = set(sys.stdlib_module_names)

# Folder or module -> top-level third-party packages it may import, and the layers of ours below it.
ALLOWED: dict[str, tuple[set[str], set[str]]] = {
    "proofs": ({"sympy", "mpmath", "z3"}, {"proofs"}),
    # The kernel asks two oracle files for factors and vectors and proves its theorems for whatever they
    # return; those two import nothing of ours (docs/decisions/0010-oracles-below-the-kernel.md).
    "certify/kernel": (
        {"flint", "numpy", "torch"},
        {"certify.kernel", "certify.errors", "certify.oracles.factors", "certify.oracles.lanczos"},
    ),
    "certify/oracles/factors.py": ({"numpy", "scipy", "torch"}, set()),
    "certify/oracles/lanczos.py": ({"numpy"}, set()),
    "certify/oracles": (
        {"numpy", "scipy", "torch"},
        {"certify.oracles", "certify.kernel", "certify.errors"},
    ),
    "certify/errors.py": (set(), set()),
    "certify/verify/report.py": ({"mpmath", "numpy", "scipy"}, set()),
    "certify/verify/risk.py": ({"mpmath", "numpy", "scipy", "constriction"}, set()),
    "certify/verify/update.py": ({"numpy", "torch", "transformers"}, {"certify.verify.risk"}),
}


def imported(path: Path, source: str | None = None) -> set[str]:
    """Absolute names of all modules that the file imports, at any depth."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source if source is not None else path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                package = path.relative_to(ROOT).parent.parts
                base = ".".join(package[: len(package) - node.level + 1])
                names.add(f"{base}.{node.module}" if node.module else base)
            else:
                names.add(node.module or "")
    return names


def violations(path: Path, source: str | None = None) -> list[str]:
    """Imports of ``path`` that its layer does not allow."""
    relative = path.relative_to(ROOT).as_posix()
    rules = [rule for place, rule in ALLOWED.items() if relative == place or relative.startswith(place + "/")]
    found = []
    for third_party, ours in rules:
        for name in imported(path, source):
            top = name.split(".")[0]
            if top in ("certify", "proofs"):
                if not any(name == layer or name.startswith(layer + ".") for layer in ours):
                    found.append(f"{relative} imports {name}")
            elif top not in STDLIB and top not in third_party:
                found.append(f"{relative} imports {name}")
    return found


def test_imports_point_down() -> None:
    files = [*ROOT.glob("certify/**/*.py"), *ROOT.glob("proofs/**/*.py")]
    assert len(files) > 10
    found = [violation for path in files for violation in violations(path)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("certify/kernel/enclosure.py", "import transformers"),
        ("certify/kernel/enclosure.py", "from certify.report import html"),
        ("proofs/symbols.py", "def f():\n    import torch"),
        ("proofs/symbols.py", "from certify import kernel"),
        ("certify/verify/report.py", "from certify.errors import VerificationError"),
    ],
)
def test_the_import_check_can_fail(place: str, source: str) -> None:
    assert violations(ROOT / place, source)


def loaded_by(statement: str) -> set[str]:
    """Top-level modules that a fresh interpreter has loaded after ``statement``."""
    code = f"{statement}\nimport sys; print(' '.join({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


def test_kernel_loads_no_model_library() -> None:
    assert not loaded_by("import certify.kernel.bound, certify.kernel.singular_values") & {
        "transformers",
        "sympy",
        "jinja2",
    }


def test_proofs_load_no_numerical_library() -> None:
    loaded = loaded_by("import proofs.theorems")
    assert "sympy" in loaded
    by_sympy = loaded_by("import sympy, mpmath")  # sympy itself loads flint where it is installed
    assert not (loaded - by_sympy) & {"torch", "numpy", "flint", "certify"}


def test_second_checker_loads_nothing_of_ours() -> None:
    code = (
        "import importlib.util, sys\n"
        "spec = importlib.util.spec_from_file_location('checker', 'certify/verify/report.py')\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "sys.modules['checker'] = module\n"
        "spec.loader.exec_module(module)\n"
    )
    loaded = loaded_by(code)
    assert "mpmath" in loaded
    assert not loaded & {"certify", "proofs", "torch", "flint", "numpy"}
