"""The model-running part of the second checker: base + decoded update on every unit, errors counted again.

``certify verify model.cert --data train.npz --model BASE``. Everything that needs no model is derived by
:mod:`certify.verify.risk` first. Then the public base is read again, its tensors held against the digest of
the certificate, the decoded update added, the model run unit by unit in float64, and the errors of the
decoded head counted on what this machine computes. Nothing recorded is compared within a tolerance: a machine
that rounds differently counts its own errors, and the claim stands only if they are not more than claimed.
"""

from __future__ import annotations

import copy
import hashlib
import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .certificate import Refused, Unreadable, read_certificate
from .codeword import read_tensors, update_of
from .counting import linear_errors
from .model import SHORT_NAMES, model_root
from .risk import NOT_RUN
from .risk import verify as verify_files
from .sample import read_entered, read_sample
from .structure import Problem

QUIET = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error", "TQDM_DISABLE": "1"}


def load_base(spec: str, reads: Any) -> tuple[Any, set[str]]:
    """(module, names that start at 0) of ``module:object``, of a Hugging Face folder, or of a short name."""
    try:
        if reads == "rows":
            place, _, name = spec.partition(":")
            sys.path.insert(0, os.getcwd())
            return copy.deepcopy(getattr(importlib.import_module(place), name)), set()
        if reads == "token-numbers":
            for name, value in QUIET.items():
                os.environ.setdefault(name, value)
            from transformers import AutoModelForSequenceClassification

            load = AutoModelForSequenceClassification.from_pretrained
            module, info = load(model_root(spec), output_loading_info=True)
            return module, set(info["missing_keys"])
    except (ImportError, AttributeError, OSError, ValueError, Problem) as error:
        wanted = "module:object" if reads == "rows" else f"a Hugging Face folder, or {', '.join(SHORT_NAMES)}"
        raise Unreadable(f"--model {spec}: cannot be loaded as the base, give {wanted} ({error})") from error
    raise Refused(f"family.reads: {reads!r} is not 'rows' or 'token-numbers'")


def updated(module: Any, missing: set[str], certificate: dict[str, Any]) -> tuple[Any, Any]:
    """(the base with the decoded update, its last linear layer), after the base's digest was checked."""
    module = module.double().eval()
    layers = [(n, m) for n, m in module.named_modules() if isinstance(m, torch.nn.Linear)]
    if not layers:
        raise Refused("family.anchor_sha256: this base has no linear layer")
    head, layer = layers[-1]
    state = module.state_dict()
    names = sorted(k for k, v in state.items() if v.is_floating_point() and not k.startswith(f"{head}."))
    seen, shapes = hashlib.sha256(), []
    for name in names:
        if name in missing:
            state[name].zero_()
        own = state[name]
        rows = own.shape[0] if own.ndim else 1
        matrix = own.numpy().reshape(rows, -1)
        shapes.append((name, *matrix.shape))
        seen.update(f"{name} {matrix.shape} ".encode() + np.ascontiguousarray(matrix, "<f8").tobytes())
    if shapes != read_tensors(certificate["family"]):
        raise Refused("family.tensors: these are not the tensors of this base")
    if seen.hexdigest() != certificate["family"].get("anchor_sha256"):
        raise Refused("family.anchor_sha256: this is not the base of the certificate")
    for name, (integers, step) in update_of(certificate)[0].items():
        if np.abs(integers).max(initial=0) >= 1 << 50:
            raise Refused(f"model.payload: an entry of {name} is too large for this checker")
        state[name] += torch.from_numpy(integers * float(step)).reshape(state[name].shape)
    return module, layer


def entered(
    module: Any, layer: Any, units: Any, reads: str, progress: Callable[[str], None] = lambda text: None
) -> Any:
    """What enters the last linear layer, float32 (n, width), one unit at a time."""
    torch.set_num_threads(1)
    rows: list[Any] = []
    hook = layer.register_forward_pre_hook(lambda _, arguments: rows.append(arguments[0]))
    try:
        with torch.inference_mode():
            for i, unit in enumerate(units):
                progress(f"base + update: unit {i + 1} of {len(units)}")
                if reads == "rows":
                    module(torch.from_numpy(unit[None].astype(np.float64)))
                else:
                    module(input_ids=torch.from_numpy(unit[unit != -1][None]).long())
                if len(rows) != i + 1 or rows[-1].numel() != layer.in_features:
                    raise Refused("family.hidden: the base's last linear layer does not run once for a unit")
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        raise Refused(f"family: the base cannot run on these units ({error})") from error
    finally:
        hook.remove()
    return torch.stack([r.reshape(-1) for r in rows]).float().numpy()


def verify(path: Path, data: Path, base: str, progress: Callable[[str], None] = lambda text: None) -> str:
    """Derive the claim again, the model included; a sentence that says what was shown."""
    shown = verify_files(path, data)
    certificate = read_certificate(path)
    family = certificate["family"]
    if family["kind"] != "base-update":
        raise Unreadable(f"{path}: is not relative to a base, --model is not needed")
    _, units, labels, _ = read_sample(data)
    module, layer = updated(*load_base(base, family.get("reads")), certificate)
    found = entered(module, layer, units, family["reads"], progress)
    if not np.isfinite(found).all() or found.shape[1] != family["hidden"]:
        raise Refused(f"family.hidden: what enters the head is not finite of width {family['hidden']}")
    errors = linear_errors(update_of(certificate)[1], found, labels)
    if errors > certificate["claim"]["errors"]:
        claimed = certificate["claim"]["errors"]
        raise Refused(f"claim.errors: {claimed} claimed, base + update run here makes {errors}")
    same = int((found == read_entered(data, certificate, labels)).all(axis=1).sum())
    run = f"; base + update run on every unit: {errors} errors, {same} of {len(labels)} rows as recorded"
    return shown.removesuffix(NOT_RUN) + run
