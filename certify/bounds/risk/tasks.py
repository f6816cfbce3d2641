"""What `certify report MODEL --train DATA` means for each kind of model and data: a head and its samples.

* arrays (``.npz``): MODEL is a head file (``weight``, ``bias``, or ``scores``, ``values``) on those features
  or tokens, or a torch module (``module:object``) on features, whose last linear layer is the head;
* texts (``.jsonl``, ``.parquet``) and a Hugging Face classifier: its last linear layer is the head and what
  enters it the features, provided that ``--base`` shows that nothing else was trained;
* texts and any other Hugging Face encoder: the encoder is frozen, and a head is trained here.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from certify.bounds.risk.features import (
    ClassifierFeatures,
    classifier_features,
    module_features,
    module_of,
    text_features,
)
from certify.bounds.risk.heads import Head, LinearHead, SoftmaxHead
from certify.bounds.risk.samples import Sample, read_npz
from certify.bounds.risk.update_search import Tuned
from certify.bounds.risk.updated_base import ROWS, UpdatedBase, classifier_base, token_numbers
from certify.engine.journal import Journal
from certify.errors import DataError, ModelError

Progress = Callable[[str], None]
MAX_TOKENS = 256
MAX_CLASSES = 100
FEWEST_UNITS = 20


@dataclass(frozen=True)
class Task:
    """``head`` None: train one. ``violation``: why the standing hypothesis fails, or "" if nothing
    speaks against it. ``tuned``: the model next to its base, if more than the head was trained."""

    train: Sample
    test: Sample | None
    head: Head | None
    described: dict[str, Any]
    violation: str = ""
    tuned: Tuned | None = None


def read_texts(path: Path) -> tuple[list[str], list[Any]]:
    """Texts and labels of ``.jsonl`` or ``.parquet`` with fields ``text`` and ``label``."""
    if path.suffix == ".parquet":
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(path)
        missing = {"text", "label"} - set(table.column_names)
        if missing:
            raise DataError(f"{path}: no column {sorted(missing)[0]!r}; found {table.column_names}")
        return [str(t) for t in table["text"].to_pylist()], table["label"].to_pylist()
    texts, labels = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            texts.append(record["text"])
            labels.append(record["label"])
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f'{path}, line {number}: expected {{"text": ..., "label": ...}} ({error})'
            ) from error
        if not isinstance(texts[-1], str):
            raise DataError(f"{path}, line {number}: the text is {type(texts[-1]).__name__}, not a string")
    if not texts:
        raise DataError(f"{path}: no labelled text in this file")
    return texts, labels


def class_numbers(labels: Sequence[Any], classes: Sequence[Any], path: Path) -> np.ndarray:
    """The place of each label in ``classes``."""
    strange = [label for label in labels if label not in classes]
    if strange:
        raise DataError(f"{path}: the label {strange[0]!r} is not one of {list(classes)}")
    return np.array([classes.index(label) for label in labels], dtype=np.int64)


def classes_of(labels: Sequence[Any], path: Path) -> list[Any]:
    """The labels that occur, sorted: class 0, 1, ..."""
    shown = ", ".join(sorted({type(label).__name__ for label in labels}))
    try:
        classes = sorted(set(labels))
    except TypeError as error:
        raise DataError(
            f"{path}: every label must be a number, or every label a text; found {shown}"
        ) from error
    if not 2 <= len(classes) <= MAX_CLASSES:
        raise DataError(f"{path}: {len(classes)} classes found, expected 2 to {MAX_CLASSES}")
    return classes


def read_head(path: Path) -> Head:
    """A head from ``.npz`` or ``.safetensors`` with ``weight`` and ``bias`` or ``scores`` and ``values``."""
    arrays = _arrays_of(path)
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ModelError(f"{path}: {name} has an entry that is not finite")
    if {"scores", "values"} <= set(arrays):
        scores, values = arrays["scores"].reshape(-1), arrays["values"].reshape(-1, 1)
        return SoftmaxHead(scores, values)
    if "weight" in arrays:
        return linear_head(arrays["weight"], arrays.get("bias"), str(path))
    raise ModelError(f"{path}: needs 'weight' and 'bias' or 'scores' and 'values', found {sorted(arrays)}")


def _arrays_of(path: Path) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        if path.suffix == ".safetensors":
            arrays: dict[str, np.ndarray] = load_file(path)
        else:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        return {name: np.asarray(a, dtype=np.float64) for name, a in arrays.items()}
    except (OSError, ValueError, TypeError, EOFError, zipfile.BadZipFile, SafetensorError) as error:
        raise ModelError(f"{path}: not a readable head file of plain arrays ({error})") from error


def linear_head(weight: np.ndarray, bias: np.ndarray | None, place: str) -> LinearHead:
    """One output from a linear layer of shape (1 or 2, d): of two logits the difference decides the same
    way."""
    weight = np.atleast_2d(weight)
    bias = np.zeros(len(weight)) if bias is None else bias.reshape(-1)
    if len(weight) == 2:
        return LinearHead((weight[1] - weight[0])[:, None], bias[1:] - bias[:1])
    if len(weight) > MAX_CLASSES or len(bias) != len(weight):
        raise ModelError(f"{place}: a head of {len(weight)} outputs and {len(bias)} biases cannot be used")
    return LinearHead(weight.T, bias)


def _check_arrays(sample: Sample, train: Path, held: Sample | None, test: Path | None) -> None:
    """Enough units, two classes, and a test set of the same form; said before any work."""
    if len(sample) < FEWEST_UNITS:
        raise DataError(f"{train}: {len(sample)} units; at least {FEWEST_UNITS} are needed")
    if sample.labels.min() == sample.labels.max():
        raise DataError(f"{train}: every label is {sample.labels[0]}; at least two classes are needed")
    if held is None:
        return
    if held.kind != sample.kind or held.dimension != sample.dimension:
        raise DataError(
            f"{test} holds {held.kind} of dimension {held.dimension}, {train} {sample.kind} of dimension "
            f"{sample.dimension}"
        )
    if held.labels.max() > sample.labels.max():
        raise DataError(f"{test}: the class {held.labels.max()} does not occur in {train}")


def _array_task(model: str, train: Path, test: Path | None, base: str | None) -> Task:
    sample = read_npz(train)
    held = None if test is None else read_npz(test)
    _check_arrays(sample, train, held, test)
    described: dict[str, Any] = {"name": f"{Path(model).name} on {train.name}"}
    if Path(model).is_file():
        if base is not None:
            raise DataError(
                "--base belongs to a model; a head file stands on features that were fixed beforehand"
            )
        head = read_head(Path(model))
        if head.kind != sample.kind or head.dimension != sample.dimension:
            raise DataError(
                f"{model} reads {head.kind} of dimension {head.dimension}; {train} holds {sample.kind} of "
                f"dimension {sample.dimension}"
            )
        return Task(sample, held, head, described)
    if ":" not in model or sample.kind != "features":
        raise ModelError(
            f"{model}: data of arrays need a head file (.npz or .safetensors with weight and bias) or, for "
            "features, a torch module (module:object)"
        )
    found = module_features(model, sample.inputs, base)
    head = linear_head(found.weight, found.bias, model)
    moved, units = Sample(found.features, sample.labels, found.features.shape[1]), held
    if held is not None:
        held = Sample(module_features(model, held.inputs, base).features, held.labels, moved.dimension)
    described["features"] = f"what enters {found.layer} of {model}"
    task = Task(moved, held, head, described, found.violation)
    if base is None or not found.violation:
        return task
    read = sample, units
    return _with_base(task, base, lambda: UpdatedBase(module_of(base), ROWS), read, found, module_of(model))


def _with_base(
    task: Task,
    spec: str,
    load: Callable[[], UpdatedBase],
    read: tuple[Sample, Sample | None],
    found: ClassifierFeatures,
    model: Any,
) -> Task:
    """The task with the fine-tuned model next to its base, or the reason why the two cannot be compared."""
    if not isinstance(task.head, LinearHead):
        return task
    try:
        base = load()
        tuned = Tuned(base, read[0], base.differences(model, found.layer), task.head, read[1])
    except ModelError as error:
        return replace(task, violation=f"{task.violation} No update of the base was coded: {error}.")
    return replace(task, tuned=tuned, described={**task.described, "base": spec})


def _text_task(
    model: str, train: Path, test: Path | None, base: str | None, progress: Progress, work: Path | None
) -> Task:
    texts, labels = read_texts(train)
    if len(texts) < FEWEST_UNITS:
        raise DataError(f"{train}: {len(texts)} units; at least {FEWEST_UNITS} are needed")
    classes = classes_of(labels, train)
    more, more_labels = ([], []) if test is None else read_texts(test)
    every = [*texts, *more]
    found = classifier_features(model, every, MAX_TOKENS, base, progress)
    described: dict[str, Any] = {"name": f"{model} on {train.name}", "classes": classes}
    if found is None:
        journal = None if work is None else Journal(work)
        features, head, violation = text_features(model, every, MAX_TOKENS, progress, journal), None, ""
        described["features"] = (
            f"{model}, frozen: mean of the last layer, length 1; the head was trained here"
        )
    else:
        features, violation = found.features, found.violation
        head = linear_head(found.weight, found.bias, model)
        described["features"] = f"what enters {found.layer} of {model}"
    numbers = class_numbers(labels, classes, train)
    sample = Sample(features[: len(texts)], numbers, features.shape[1])
    held = None
    if test is not None:
        held = Sample(features[len(texts) :], class_numbers(more_labels, classes, test), features.shape[1])
    task = Task(sample, held, head, described, violation)
    if base is None or not violation or found is None:
        return task
    units = token_numbers(model, every, MAX_TOKENS)
    read = Sample(units[: len(texts)], numbers, units.shape[1])
    test_units = None if held is None else Sample(units[len(texts) :], held.labels, units.shape[1])
    return _with_base(task, base, lambda: classifier_base(base), (read, test_units), found, found.model)


def read_task(
    model: str,
    train: Path,
    test: Path | None,
    base: str | None,
    progress: Progress,
    work: Path | None = None,
) -> Task:
    """The head and the samples that the arguments of `certify report` name.

    ``work``: a folder where finished features of texts are kept for a run that is killed.
    """
    for path in (train, test):
        if path is not None and not path.is_file():
            raise DataError(f"{path}: no such file")
    kinds = {path.suffix for path in (train, test) if path is not None}
    if kinds <= {".npz"}:
        return _array_task(model, train, test, base)
    if kinds <= {".jsonl", ".parquet"}:
        return _text_task(model, train, test, base, progress, work)
    raise DataError(f"{train}: give --train and --test as .npz, or as .jsonl or .parquet")
