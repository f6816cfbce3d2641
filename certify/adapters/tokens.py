"""Text to token ids with a model's own tokenizer, cut at the model's own maximum length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certify.adapters.sources import read_json
from certify.errors import DataError

INSTEAD = "give token ids with --inputs FILE.npz (an integer array input_ids)"


class Tokens:
    """The tokenizer of a model folder, loaded on first use. Raises DataError where there is none."""

    def __init__(self, folder: Path | None, config: Any, origin: str, gguf: str | None) -> None:
        self._folder, self._config, self._origin, self._gguf = folder, config, origin, gguf
        self._tokenizer: Any = None

    def encode(self, text: str) -> tuple[NDArray[np.int64], bool]:
        """Token ids of ``text``, special tokens included, and whether it had to be cut."""
        tokenizer = self._load()
        limit = self._max_length(tokenizer)
        ids = tokenizer(text, truncation=False, verbose=False)["input_ids"]
        cut = limit is not None and len(ids) > limit
        if cut:
            ids = tokenizer(text, truncation=True, max_length=limit, verbose=False)["input_ids"]
        if not ids:
            raise DataError(f"the tokenizer of {self._origin} makes no token of the line {text[:40]!r}")
        return np.asarray(ids, dtype=np.int64), cut

    def _load(self) -> Any:
        if self._tokenizer is not None:
            return self._tokenizer
        from transformers import AutoTokenizer

        if self._folder is None:
            raise DataError(f"{self._origin} comes without a tokenizer: {INSTEAD}")
        options: dict[str, Any] = {"gguf_file": self._gguf} if self._gguf else {"config": self._config}
        try:
            tokenizer = AutoTokenizer.from_pretrained(self._folder, local_files_only=True, **options)
        except Exception as error:
            raise DataError(
                f"{self._folder}: no usable tokenizer ({first_line(error)}); {INSTEAD}"
            ) from error
        # Without vocabulary files transformers may build a tokenizer that knows special tokens only.
        if len(tokenizer) <= len(tokenizer.all_special_tokens):
            raise DataError(f"{self._folder}: no usable tokenizer (no vocabulary file there); {INSTEAD}")
        self._tokenizer = tokenizer
        return tokenizer

    def _max_length(self, tokenizer: Any) -> int | None:
        limits = [int(getattr(tokenizer, "model_max_length", 10**30))]
        declared = self._folder / "sentence_bert_config.json" if self._folder else None
        if declared is not None and declared.is_file():
            limits.append(int(read_json(declared).get("max_seq_length") or 10**30))
        for key in ("max_position_embeddings", "n_positions", "max_seq_len"):
            if isinstance(getattr(self._config, key, None), int):
                limits.append(getattr(self._config, key))
        return min(limits) if min(limits) < 10**6 else None


def first_line(error: Exception) -> str:
    """The first line of an error's message, or its type."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
