"""What every adapter hands over: a model as exact matrices with a provenance, and its attention on inputs.

Conventions, used by every adapter
----------------------------------
* A linear map is written on rows, ``y = x W + b`` with ``W`` of shape (in, out), as in the theorems.
  torch stores ``W^T``; the view of a :class:`Factor` says how the stored array was cut and turned.
* A query-key matrix is ``W_Q^h (W_K^h)^T`` (d_query, d_key) and a value-output matrix is
  ``W_V^h W_O^h`` (d_key, d_out). Both are given as two exact factors ``F0``, ``F1`` with
  ``A = F0 @ F1.T``; the product is never formed here. The score scale (1/sqrt(d_head) in most
  families) is *not* inside: it is ``ScoreForm.scale``. Biases are not inside either.
* With rotary positions a query-key matrix is the interaction at relative position 0, and with
  query/key normalisation it is no linear interaction at all: the ``note`` says so.
* ``layer`` is the number of the layer inside its ``stack``; ``stack`` is ``""`` in a model with one
  stack, else ``"encoder"``, ``"decoder"`` (self-attention) or ``"cross"`` (decoder to encoder).
* Every array is float64, float32 or float16 exactly as stored; bfloat16 is upcast to float32 (exact).

Nothing here is trusted: an adapter that names a wrong tensor makes a report about that tensor, and the
factor says which one it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from certify.adapters.scores import ScoreForm
from certify.adapters.views import ViewStep, apply_view

if TYPE_CHECKING:
    from certify.adapters.sources import TensorSource

Role = Literal["weight", "query-key", "value-output"]
FloatArray = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Factor:
    """An exact matrix cut out of one stored tensor.

    ``file`` is relative to ``Model.root`` (POSIX separators), or None when the tensor has no file that a
    reader without our code could parse (GGUF, torch pickles, live modules). ``dtype`` is the stored one
    (``float32``, ``bfloat16``, ...). ``view`` is a sequence of the steps of :mod:`certify.adapters.views`.
    """

    file: str | None
    tensor: str
    dtype: str
    view: tuple[ViewStep, ...]
    shape: tuple[int, int]

    def to_json(self) -> dict[str, Any]:
        """The factor as JSON-able data: what an independent reader needs to rebuild the array."""
        return {
            "file": self.file,
            "tensor": self.tensor,
            "dtype": self.dtype,
            "view": [list(step) for step in self.view],
            "shape": list(self.shape),
        }


@dataclass(frozen=True)
class ModelMatrix:
    """One matrix of a model: a weight (one factor) or a per-head product ``A = F0 @ F1.T`` (two)."""

    name: str
    role: Role
    layer: int | None
    head: int | None
    factors: tuple[Factor, ...]
    note: str = ""
    stack: str = ""
    source: TensorSource | None = field(default=None, repr=False, compare=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix itself (of the product, for two factors)."""
        return (
            self.factors[0].shape
            if len(self.factors) == 1
            else (self.factors[0].shape[0], self.factors[1].shape[0])
        )

    def load(self) -> tuple[FloatArray, ...]:
        """The factors as arrays, read now (nothing is cached). Non-finite entries are left in place.

        Matrices of files can be pickled and loaded in another process. Those of models held in memory
        (GGUF, torch pickles, live modules) refuse to be pickled: load them here and send the arrays.
        """
        if self.source is None:
            raise RuntimeError(f"matrix {self.name} has no source to load from")
        return tuple(apply_view(self.source.array(f.tensor), f.view) for f in self.factors)


@dataclass(frozen=True)
class Skipped:
    """Something of the model that is not analysed, and why.

    ``expected`` is True for what is no matrix by nature (biases, norm gains, integer buffers); False for
    what a reader would have wanted to see.
    """

    name: str
    reason: str
    expected: bool = False


@dataclass(frozen=True)
class Inputs:
    """The inputs of a run: ``items[i]`` maps forward arguments to arrays without a batch axis."""

    source: str
    items: Sequence[Mapping[str, NDArray[Any]]]
    sha256: str
    truncated: int = 0
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True)
class AttentionCall:
    """One attention layer on one input, with padding removed: T queries, S keys, H heads.

    ``queries_in`` (T, d_query) and ``keys_in`` (S, d_key) are the float rows that entered the query and the
    key projection. ``query_positions`` are the rows that the pooled feature reads from this stack: all rows
    for mean pooling, (0,) for a class token, (T-1,) for a decoder's last token. (Below the last layer the
    other rows reach the feature too, through the layers above.)

    The probabilities and the values are recomputed on demand from the recorded q, k, v, one head at a time,
    by the very function that fed the model (``arithmetic`` says if that is so), so L*H*T^2 numbers are never
    held. Rows are not renormalised: sinks make them sum to less than 1, float rounding to about 1.

    Theorem C1-vector reads ``a_t = values(h)[t]`` in R^K with K = d_head: the value rows *before* the output
    matrix; whatever follows (W_O, later layers, the loss) belongs to the Lipschitz constant. To measure
    after the output matrix instead, multiply by ``output_weight(h)`` (d_head, d_out).
    """

    input_index: int
    layer: int
    heads: int
    queries_in: FloatArray
    keys_in: FloatArray
    query_positions: tuple[int, ...]
    arithmetic: str
    stack: str = ""
    notes: tuple[str, ...] = ()
    captured: Captured | None = field(default=None, repr=False, compare=False)
    forms: Callable[[int], ScoreForm] | None = field(default=None, repr=False, compare=False)
    outputs: Callable[[int], FloatArray] | None = field(default=None, repr=False, compare=False)

    def _capture(self) -> Captured:
        if self.captured is None:
            raise RuntimeError("this AttentionCall was built without a capture")
        return self.captured

    def probabilities(self) -> Iterator[tuple[int, FloatArray]]:
        """Yield (head, (T, S) attention matrix) for every query head, in order."""
        for head in range(self.heads):
            yield head, self._capture().probabilities(head)

    def values(self, head: int) -> FloatArray:
        """The value rows (S, d_head) that query head ``head`` averages."""
        return self._capture().values(head)

    def visible(self, query: int) -> NDArray[np.bool_]:
        """Which of the S keys query row ``query`` may attend to (mask, causality, window)."""
        return self._capture().visible(query)

    def score_form(self, head: int) -> ScoreForm | None:
        """How the scores of ``head`` depend on its weights, or None when the adapter does not know.

        The form has been held against the recorded q and k of this call: ``ScoreForm.covered`` is False, with
        the reason, where they do not agree.
        """
        return None if self.forms is None else self.forms(head)

    def output_weight(self, head: int) -> FloatArray | None:
        """``W_O^h`` (d_head, d_out), or None when the adapter does not know it."""
        return None if self.outputs is None else self.outputs(head)


class Captured(Protocol):
    """The recorded q, k, v of one call; see :mod:`certify.adapters.capture`."""

    def probabilities(self, head: int) -> FloatArray: ...
    def values(self, head: int) -> FloatArray: ...
    def visible(self, query: int) -> NDArray[np.bool_]: ...


class Runner(Protocol):
    """Runs a model on inputs. One per kind of model: transformers, torch module."""

    skipped: list[Skipped]

    @property
    def pooling(self) -> str: ...

    def attention(self, inputs: Inputs) -> Iterator[AttentionCall]: ...
    def pooled_features(self, inputs: Inputs) -> Iterator[tuple[int, FloatArray]]: ...
    def tokenize(self, text: str) -> tuple[dict[str, NDArray[Any]], bool]: ...


class Model:
    """A model that has been opened: nothing of it was executed, its tensors are read when asked for.

    ``name``: short, for titles. ``family``: the architecture (``bert``, ``llama``, ``torch``, ``arrays``).
    ``origin``: what the user gave. ``root``: the folder that ``Factor.file`` is relative to, or None.
    ``provenance``: plain sentences on how the numbers came to be (file format, dequantisation, dtype).
    ``skipped``: what is not analysed; complete for weights at opening, and grown by ``attention``.
    """

    def __init__(
        self,
        *,
        name: str,
        family: str,
        origin: str,
        root: Path | None,
        source: TensorSource,
        matrices: Sequence[ModelMatrix],
        skipped: Sequence[Skipped],
        provenance: Sequence[str],
        runner: Callable[[], Runner] | str,
    ) -> None:
        self.name, self.family, self.origin, self.root = name, family, origin, root
        self.provenance = tuple(provenance)
        self.skipped: list[Skipped] = list(skipped)
        self._source, self._matrices, self._make_runner = source, tuple(matrices), runner
        self._runner: Runner | None = None

    def __repr__(self) -> str:
        counts = f"{len(self._matrices)} matrices, {len(self.skipped)} skipped"
        return f"<Model {self.name} ({self.family}): {counts}>"

    def __len__(self) -> int:
        """Number of matrices."""
        return len(self._matrices)

    def matrices(self) -> Iterator[ModelMatrix]:
        """Every matrix, in the order of the layers; their numbers are read by ``ModelMatrix.load``."""
        yield from self._matrices

    def tensor_digests(self) -> Iterator[tuple[str | None, str, str]]:
        """Yield (file, tensor, sha256) for every tensor that some matrix is cut from.

        The digest is over the raw little-endian bytes, row-major, in the stored dtype.
        """
        seen: set[str] = set()
        for matrix in self._matrices:
            for factor in matrix.factors:
                if factor.tensor not in seen:
                    seen.add(factor.tensor)
                    yield factor.file, factor.tensor, self._source.digest(factor.tensor)

    @property
    def pooling(self) -> str:
        """How ``pooled_features`` reads the last hidden rows: mean, first-token or last-token."""
        return self.runner().pooling

    def runner(self) -> Runner:
        """The part that runs the model; built on first use. Raises ModelError where it cannot be run."""
        if self._runner is None:
            if isinstance(self._make_runner, str):
                from certify.errors import ModelError

                raise ModelError(f"{self.origin}: this model cannot be run on inputs: {self._make_runner}")
            self._runner = self._make_runner()
            self._collect_skips()
        return self._runner

    def attention(self, inputs: Inputs) -> Iterator[AttentionCall]:
        """Run the model on each input and yield its attention layers in order of execution.

        One input at a time and no padding added. Memory: the q, k, v and projection inputs of one input,
        plus one (T, S) matrix while it is looked at.
        """
        for call in self.runner().attention(inputs):
            self._collect_skips()
            yield call
        self._collect_skips()

    def pooled_features(self, inputs: Inputs) -> Iterator[tuple[int, FloatArray]]:
        """Yield (input index, pooled feature vector) in the model's own arithmetic."""
        yield from self.runner().pooled_features(inputs)

    def _collect_skips(self) -> None:
        if self._runner is not None:
            self.skipped.extend(s for s in self._runner.skipped if s not in self.skipped)
