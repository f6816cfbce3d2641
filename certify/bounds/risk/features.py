"""Frozen features of texts: the mean of a Hugging Face encoder's last hidden states, scaled to length 1."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from certify.engine.journal import Journal, array_digest, digest_of
from certify.errors import ModelError

BATCH = 16
CHUNK = 20 * BATCH  # texts that a killed run repeats at most


def text_features(
    spec: str,
    texts: Sequence[str],
    max_tokens: int,
    progress: Callable[[str], None],
    journal: Journal | None = None,
) -> np.ndarray:
    """float32 (n, d): for each text the unit vector along the mean over its tokens (padding excluded).

    ``spec``: a model as for `open_model`. The features are part of the data from here on: a certificate
    speaks of the numbers computed here, whatever their rounding. Finished chunks of ``CHUNK`` texts are
    kept in ``journal``, by model and texts.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    from transformers import AutoModel, AutoTokenizer

    from certify.adapters import open_model

    root = open_model(spec).root
    if root is None or not (root / "config.json").is_file():
        raise ModelError(f"{spec}: text features need a Hugging Face model folder with a tokenizer")
    torch.set_num_threads(1)
    tokenizer, model = AutoTokenizer.from_pretrained(root), AutoModel.from_pretrained(root).eval()
    own = _model_digest(model, tokenizer, max_tokens) if journal else ""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    found = np.zeros((len(texts), model.config.hidden_size), dtype=np.float32)
    for start in range(0, len(order), CHUNK):
        rows = order[start : start + CHUNK]
        chunk = [texts[i] for i in rows]
        key = digest_of("text-features", own, *chunk)
        stored = journal.get(key) if journal else None
        if stored is None:
            found[rows] = _mean_states(tokenizer, model, chunk, max_tokens)
            if journal:
                raw = found[rows].astype("<f4").tobytes()
                journal.put(key, {"float32": base64.b64encode(raw).decode()})
        else:
            found[rows] = np.frombuffer(base64.b64decode(stored["float32"]), "<f4").reshape(len(rows), -1)
        progress(f"features: {start + len(rows)} of {len(order)} texts")
    return found


def _model_digest(model: Any, tokenizer: Any, max_tokens: int) -> str:
    """Digest of every tensor, of the vocabulary and of the length at which texts are cut."""
    tensors = [
        piece
        for n, t in sorted(model.state_dict().items())
        for piece in (n, array_digest(t.double().numpy()))
    ]
    words = [f"{word} {number}" for word, number in sorted(tokenizer.get_vocab().items())]
    return digest_of(*tensors, *words, str(max_tokens))


def _mean_states(tokenizer: Any, model: Any, texts: Sequence[str], max_tokens: int) -> np.ndarray:
    """float32 (n, d): unit vectors along the mean last states, computed ``BATCH`` texts at a time."""
    import torch

    means = []
    with torch.inference_mode():
        for start in range(0, len(texts), BATCH):
            batch = tokenizer(
                list(texts[start : start + BATCH]),
                truncation=True,
                max_length=max_tokens,
                padding=True,
                return_tensors="pt",
            )
            hidden = model(**batch).last_hidden_state
            mask = batch["attention_mask"].unsqueeze(-1).float()
            mean = (hidden * mask).sum(1) / mask.sum(1)
            means.append(torch.nn.functional.normalize(mean, dim=1).numpy())
    return np.concatenate(means)


@dataclass(frozen=True)
class ClassifierFeatures:
    """What enters the last linear layer of a classifier, that layer, and what speaks against freezing
    the rest."""

    features: np.ndarray
    weight: np.ndarray
    bias: np.ndarray | None
    layer: str
    violation: str
    model: Any = None


NOT_SHOWN = (
    "nothing shows that the layers below the head were fixed before the sample; give the model they come "
    "from with "
    "--base. A model that was trained whole on this sample has no bound from it: use --test."
)


def classifier_features(
    spec: str, texts: Sequence[str], max_tokens: int, base: str | None, progress: Callable[[str], None]
) -> ClassifierFeatures | None:
    """Features of a Hugging Face sequence classifier, or None if ``spec`` is no classifier."""
    import json

    from certify.adapters import open_model

    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    root = open_model(spec).root
    if root is None or not (root / "config.json").is_file():
        raise ModelError(f"{spec}: texts need a Hugging Face model folder with a tokenizer")
    architectures = json.loads((root / "config.json").read_text()).get("architectures") or []
    if not any(str(name).endswith("ForSequenceClassification") for name in architectures):
        return None
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(root)
    model = AutoModelForSequenceClassification.from_pretrained(root).eval()
    layers = [(n, m) for n, m in model.named_modules() if isinstance(m, torch.nn.Linear)]
    name, layer = layers[-1]
    entered: list[torch.Tensor] = []
    layer.register_forward_pre_hook(lambda _, arguments: entered.append(arguments[0].detach()))
    numbers = [tokenizer(text, truncation=True, max_length=max_tokens)["input_ids"] for text in texts]
    features = np.zeros((len(texts), layer.in_features), dtype=np.float32)
    done = 0
    with torch.inference_mode():
        for rows in _equally_long(numbers):
            entered.clear()
            model(input_ids=torch.tensor([numbers[i] for i in rows]))
            features[rows] = entered[-1].reshape(len(rows), layer.in_features).float().numpy()
            done += len(rows)
            progress(f"features: {done} of {len(texts)} texts")
    weight = layer.weight.detach().double().numpy()
    bias = None if layer.bias is None else layer.bias.detach().double().numpy()
    violation = NOT_SHOWN if base is None else difference_from_base(model, base, name)
    return ClassifierFeatures(features, weight, bias, name, violation, model)


def _equally_long(numbers: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Rows of equally many tokens, at most BATCH at a time: nothing is padded."""
    by_length: dict[int, list[int]] = {}
    for row, own in enumerate(numbers):
        by_length.setdefault(len(own), []).append(row)
    for _, rows in sorted(by_length.items()):
        for start in range(0, len(rows), BATCH):
            yield rows[start : start + BATCH]


def difference_from_base(model: Any, base: str, head: str) -> str:
    """ "" if every tensor below the head equals that of the base model, bit by bit; else what differs."""
    from transformers import AutoModel

    from certify.adapters import open_model

    root = open_model(base).root
    if root is None:
        raise ModelError(f"{base}: not a Hugging Face model folder")
    known = AutoModel.from_pretrained(root).state_dict()
    own = {k: v for k, v in model.state_dict().items() if not k.startswith(f"{head}.")}
    prefix = f"{model.base_model_prefix}."
    return different_tensors({k.removeprefix(prefix): v for k, v in own.items()}, known, base)


def different_tensors(own: Mapping[str, Any], known: Mapping[str, Any], base: str) -> str:
    """The violation if a tensor of ``own`` is not, bit by bit, that of ``known``; else ""."""
    import torch

    different = [
        key
        for key, tensor in own.items()
        if key not in known or known[key].shape != tensor.shape or not torch.equal(known[key], tensor)
    ]
    if not different:
        return ""
    return (
        f"{len(different)} tensors below the head differ from {base}, first {different[0]}: they were not "
        "fixed before the sample. Use --test, or train only the head."
    )


def module_features(spec: str, arrays: np.ndarray, base: str | None) -> ClassifierFeatures:
    """What enters the last linear layer of a torch module (``module:object``) that reads float32 rows
    (n, d)."""
    import torch

    module = module_of(spec)
    layers = [(n, m) for n, m in module.named_modules() if isinstance(m, torch.nn.Linear)]
    if not layers:
        raise ModelError(f"{spec}: a {type(module).__name__} without a linear layer has no head")
    name, layer = layers[-1]
    entered: list[torch.Tensor] = []
    hook = layer.register_forward_pre_hook(lambda _, arguments: entered.append(arguments[0].detach()))
    torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            for start in range(0, len(arrays), 1000):
                module.eval()(torch.from_numpy(arrays[start : start + 1000]))
    except (RuntimeError, TypeError, ValueError) as error:
        raise ModelError(f"{spec}: cannot run on rows of {arrays.shape[1]} features ({error})") from error
    finally:
        hook.remove()
    rows = torch.cat(entered)
    if rows.shape != (len(arrays), layer.in_features):
        raise ModelError(
            f"{spec}: its last linear layer {name!r} runs {len(rows)} times for {len(arrays)} units"
        )
    bias = None if layer.bias is None else layer.bias.detach().double().numpy()
    below = {k: v for k, v in module.state_dict().items() if name and not k.startswith(f"{name}.")}
    violation = ""
    if below:
        violation = NOT_SHOWN
        if base is not None:
            violation = different_tensors(below, module_of(base).state_dict(), base)
    weight = layer.weight.detach().double().numpy()
    return ClassifierFeatures(rows.float().numpy(), weight, bias, name or "the module", violation)


def module_of(spec: str) -> Any:
    """The torch module that ``module:object`` names."""
    from certify.adapters import open_model

    module = getattr(open_model(spec).runner(), "module", None)
    if module is None:
        raise ModelError(f"{spec}: not a torch module (module:object)")
    return module
