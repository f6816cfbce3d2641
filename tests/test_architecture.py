"""Imports point down, trusted kernels stay small in what they load, and these checks can fail."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
STDLIB = set(sys.stdlib_module_names)

# Modules of certify/verify, by what they may load; update.py alone runs a model, with torch.
WITHOUT_ARRAYS = (
    "attention bounds certificate command digests formula interval matrices report risk_files risk_record "
    "risk_theorems shapes sixty_digits spectra strict_json structure tails theorems"
).split()
WITH_ARRAYS = "codeword counting enclose model noise risk sample".split()

# Folder or module -> top-level third-party packages it may import, and the layers of ours below it.
ALLOWED: dict[str, tuple[set[str], set[str]]] = {
    "proofs": ({"sympy", "mpmath"}, {"proofs"}),
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
    # The second checkers import only each other; array libraries only where a model or a sample is read.
    "certify/verify": ({"mpmath", "numpy", "scipy", "torch", "transformers"}, {"certify.verify"}),
    **{f"certify/verify/{name}.py": ({"mpmath"}, {"certify.verify"}) for name in WITHOUT_ARRAYS},
    **{
        f"certify/verify/{name}.py": ({"mpmath", "numpy", "scipy"}, {"certify.verify"})
        for name in WITH_ARRAYS
    },
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
        ("certify/verify/report.py", "import numpy"),
        ("certify/verify/risk.py", "import torch"),
        ("certify/verify/anything.py", "from ..kernel import bound"),
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


def test_every_second_checker_has_a_rule() -> None:
    files = {path.stem for path in ROOT.glob("certify/verify/*.py")}
    assert len(files) > 20
    assert files <= {*WITHOUT_ARRAYS, *WITH_ARRAYS, "update", "__init__", "__main__"}


def test_second_checkers_load_nothing_else_of_ours() -> None:
    """The checker of reports loads mpmath alone, that of certificates numpy too; of ours only itself."""
    code = "import certify.verify.{}\nimport sys\nprint(*sys.modules)\nsys.exit()"
    for module, allowed in (("command", {"mpmath"}), ("model", {"numpy", "scipy"}), ("risk", {"numpy"})):
        statement = code.format(module)
        done = subprocess.run([sys.executable, "-c", statement], capture_output=True, text=True, check=True)
        names = set(done.stdout.split())
        ours = {name for name in names if name.split(".")[0] in ("certify", "proofs")}
        assert f"certify.verify.{module}" in ours
        assert all(name == "certify" or name.startswith("certify.verify") for name in ours), ours
        heavy = {"torch", "flint", "sympy", "numpy", "scipy", "transformers", "mpmath"} & {
            name.split(".")[0] for name in names
        }
        assert allowed <= heavy <= allowed | {"mpmath"}, (module, heavy)
