"""A public base as the anchor of a fine-tuned classifier: its tensors below the head, and how it is run.

The certified function: every float tensor below the last linear layer is the base's plus a decoded update;
what enters the head is computed by torch in float64 on one CPU thread, unit by unit (so that no unit can
move another one's rounding), and rounded to float32; the head then decides exactly. This arithmetic is a
part of the function, so the theorem needs no error analysis of the forward pass, but the statement is
about the model as computed in this way.
"""

from __future__ import annotations

import copy
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from certify.errors import ModelError

Progress = Callable[[str], None]
PADDING = -1.0
ROWS, TOKEN_NUMBERS = "rows", "token-numbers"


def arithmetic() -> str:
    """The arithmetic of the certified function, with the version of torch that computed here."""
    import torch

    return (
        f"the model as computed by torch {torch.__version__} in float64 on one CPU thread, unit by unit, "
        "what enters the head rounded to float32; then the head, exactly"
    )


class UpdatedBase:
    """The base's skeleton with its head.

    ``anchors``: float64 matrices (a vector is a column, a tensor of more axes is flattened from the second
    on) by the names of the tensors below the head, sorted: the order of the code. ``reads``: a unit is a
    float32 row (``"rows"``), or token numbers filled up with -1 (``"token-numbers"``).
    """

    def __init__(self, module: Any, reads: str, missing: frozenset[str] = frozenset()) -> None:
        import torch

        self.module, self.reads = copy.deepcopy(module).double().eval(), reads
        layers = [(n, m) for n, m in self.module.named_modules() if isinstance(m, torch.nn.Linear)]
        if not layers or not layers[-1][0]:
            raise ModelError("the base has no last linear layer inside: nothing below a head can be updated")
        self.head, self._layer = layers[-1]
        self.width = int(self._layer.in_features)
        self._state = {k: v for k, v in self.module.state_dict().items() if not k.startswith(f"{self.head}.")}
        floats = sorted(k for k, v in self._state.items() if v.is_floating_point())
        self.anchors = {k: as_matrix(self._state[k].numpy()) * float(k not in missing) for k in floats}

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Shapes of the coded matrices."""
        return [(a.shape[0], a.shape[1]) for a in self.anchors.values()]

    def digest(self) -> str:
        """SHA-256 of names, shapes and numbers of the anchors."""
        state = hashlib.sha256()
        for name, anchor in self.anchors.items():
            state.update(f"{name} {anchor.shape} ".encode() + np.ascontiguousarray(anchor, "<f8").tobytes())
        return state.hexdigest()

    def differences(self, model: Any, head: str) -> dict[str, np.ndarray]:
        """``model - anchor`` below the heads, float64, by name; an error if the two are built differently.

        ``head``: the name of the model's last linear layer.
        """
        import torch

        own = {k: v for k, v in model.state_dict().items() if not k.startswith(f"{head}.")}
        odd = sorted(set(own) ^ set(self._state)) or [
            k for k, v in own.items() if v.shape != self._state[k].shape
        ]
        fixed = [k for k in own if k not in self.anchors]
        odd = odd or [k for k in fixed if not torch.equal(own[k], self._state[k])]
        if odd:
            raise ModelError(f"the base and the model are built differently below the head, first {odd[0]}")
        found = {k: as_matrix(own[k].double().numpy()) - a for k, a in self.anchors.items()}
        bad = [k for k, delta in found.items() if not np.isfinite(delta).all()]
        if bad:
            raise ModelError(f"{bad[0]} has an entry that is not finite")
        return found

    def set(self, update: Mapping[str, np.ndarray]) -> None:
        """Load anchor + update (0 where a name is missing)."""
        import torch

        with torch.no_grad():
            for name, anchor in self.anchors.items():
                value = anchor + update[name] if name in update else anchor
                self._state[name].copy_(torch.from_numpy(value).reshape(self._state[name].shape))

    def entered(self, units: np.ndarray, batch: int = 1, progress: Progress | None = None) -> np.ndarray:
        """What enters the head, float32 (n, width). Only ``batch`` 1 is the certified arithmetic."""
        import torch

        torch.set_num_threads(1)
        seen: list[Any] = []
        hook = self._layer.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0]))
        found = np.zeros((len(units), self.width), dtype=np.float32)
        try:
            with torch.inference_mode():
                for done, rows in enumerate(self._groups(units, batch)):
                    seen.clear()
                    self._call(units[rows])
                    if not seen or seen[-1].numel() != len(rows) * self.width:
                        raise ModelError(f"the last linear layer {self.head!r} does not run once for a unit")
                    found[rows] = seen[-1].reshape(len(rows), self.width).float().numpy()
                    if progress and done % 500 == 0:
                        progress(f"decoded model: {done * batch} of {len(units)} units")
        except (RuntimeError, TypeError, ValueError) as error:
            raise ModelError(f"the base cannot run on these units ({error})") from error
        finally:
            hook.remove()
        if not np.isfinite(found).all():
            raise ModelError("what enters the head is not finite for some unit")
        return found

    def _call(self, rows: np.ndarray) -> None:
        import torch

        if self.reads == ROWS:
            self.module(torch.from_numpy(rows).double())
        else:
            self.module(input_ids=torch.from_numpy(rows[:, rows[0] != PADDING]).long())

    def _groups(self, units: np.ndarray, batch: int) -> Iterator[np.ndarray]:
        """Rows of equal length in groups of at most ``batch``."""
        for rows in equal_lengths(units, self.reads):
            for start in range(0, len(rows), batch):
                yield rows[start : start + batch]


def equal_lengths(units: np.ndarray, reads: str) -> Iterator[np.ndarray]:
    """Rows whose units have equally many token numbers; all rows, if they are no token numbers."""
    lengths = (units != PADDING).sum(axis=1) if reads == TOKEN_NUMBERS else np.zeros(len(units), int)
    for length in np.unique(lengths):
        yield np.flatnonzero(lengths == length)


def as_matrix(array: np.ndarray) -> np.ndarray:
    """(first axis, the others); a vector is a column, a number 1 x 1."""
    return np.asarray(array, dtype=np.float64).reshape(array.shape[0] if array.ndim else 1, -1)


def classifier_base(base: str) -> UpdatedBase:
    """A Hugging Face model folder with a classification head on it; what the base lacks starts at 0."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from transformers import AutoModelForSequenceClassification

    from certify.adapters import open_model

    root = open_model(base).root
    if root is None:
        raise ModelError(f"{base}: not a Hugging Face model folder")
    module, info = AutoModelForSequenceClassification.from_pretrained(root, output_loading_info=True)
    return UpdatedBase(module, TOKEN_NUMBERS, frozenset(info["missing_keys"]))


def token_numbers(spec: str, texts: list[str], max_tokens: int) -> np.ndarray:
    """float32 (n, T): the token numbers of each text, -1 behind its end."""
    from transformers import AutoTokenizer

    from certify.adapters import open_model

    tokenizer = AutoTokenizer.from_pretrained(open_model(spec).root)
    numbers = [tokenizer(t, truncation=True, max_length=max_tokens)["input_ids"] for t in texts]
    found = np.full((len(texts), max(map(len, numbers))), PADDING, dtype=np.float32)
    for row, own in zip(found, numbers, strict=True):
        row[: len(own)] = own
    return found
