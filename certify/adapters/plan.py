"""From tensors and attention blocks to the list of matrices, and of what is left out and why."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from certify.adapters.layouts import Block, make_factor, natural_key, output_factor, slice_factor
from certify.adapters.model import ModelMatrix, Skipped
from certify.adapters.sources import TensorInfo, TensorSource
from certify.adapters.views import ViewStep

NORMALISED = (
    "queries and keys are normalised before their product, so the interaction is not linear in x: "
    "this is the product of the weights, not the interaction"
)
HEAD_VECTORS = ("weight", "scores", "values")  # of a linear head and of a softmax head
ROTARY = "rotary positions: this is the interaction at relative position 0"


def plan_matrices(
    source: TensorSource, blocks: Sequence[Block], *, rotary: bool = False
) -> tuple[list[ModelMatrix], list[Skipped]]:
    """Every weight matrix, then the two products of every head; and the tensors that are no matrix."""
    matrices: list[ModelMatrix] = []
    skipped: list[Skipped] = []
    places = _layers_of_blocks(blocks)
    for name in sorted(source.tensors, key=natural_key):
        views = matrix_views(source.tensors[name])
        if isinstance(views, Skipped):
            skipped.append(views)
            continue
        stack, layer = places.get(name) or _place(name, blocks)
        for label, steps in views:
            factor = make_factor(source.tensors[name], steps)
            matrices.append(ModelMatrix(name + label, "weight", layer, None, (factor,), "", stack, source))
    for block in blocks:
        matrices.extend(_head_products(block, source, rotary))
    if not matrices:
        matrices = _rows_of_a_head(source)
        named = {matrix.name for matrix in matrices}
        skipped = [s for s in skipped if s.name not in named]
    return matrices, skipped


def _rows_of_a_head(source: TensorSource) -> list[ModelMatrix]:
    """The vectors of a file that holds nothing but a head of one output, as matrices of one row."""
    return [
        ModelMatrix(
            name,
            "weight",
            None,
            None,
            (make_factor(source.tensors[name], (("reshape", 1, max(source.tensors[name].shape)),)),),
            "a vector, as a matrix of one row",
            "",
            source,
        )
        for name in HEAD_VECTORS
        if name in source.tensors and source.tensors[name].is_float and source.tensors[name].shape
    ]


def _head_products(block: Block, source: TensorSource, rotary: bool) -> list[ModelMatrix]:
    note = NORMALISED if block.qk_norm else ROTARY if rotary and block.stack != "cross" else ""
    out = []
    for head in range(block.counts.heads):
        query, key, value = (
            slice_factor(s[head], source.tensors) for s in (block.query, block.key, block.value)
        )
        path = f"{block.path or 'attention'}.head.{head}"
        out.append(
            ModelMatrix(
                f"{path}.query-key", "query-key", block.layer, head, (query, key), note, block.stack, source
            )
        )
        out.append(
            ModelMatrix(
                f"{path}.value-output",
                "value-output",
                block.layer,
                head,
                (value, output_factor(block, head, source.tensors)),
                "",
                block.stack,
                source,
            )
        )
    return out


def matrix_views(info: TensorInfo) -> list[tuple[str, tuple[ViewStep, ...]]] | Skipped:
    """How a stored tensor is read as matrices: (suffix of the name, view steps); or why it is not.

    Convolutions (out, in, k...) become (out, in*k...); a stack of experts becomes one matrix each.
    """
    shape, name = info.shape, info.name
    if not info.is_float:
        quantised = info.dtype not in ("bool", "int64", "int32") and len(shape) >= 2
        if quantised:
            return Skipped(
                name,
                f"stored as {info.dtype}: quantised or packed numbers, whose real values need the "
                "quantiser's scales",
            )
        return Skipped(name, f"{info.dtype} numbers, no weights", expected=True)
    size = 1
    for n in shape:
        size *= n
    if size == 0:
        return Skipped(name, f"empty (shape {shape})")
    if len(shape) < 2 or size == max(shape):
        return Skipped(name, "a vector (bias, norm gain or the like), not a matrix", expected=True)
    if len(shape) == 2:
        return [("", ())]
    if len(shape) == 4 and shape[:2] == (1, 1):
        return Skipped(name, f"a buffer of shape {shape} (a causal mask), no weight", expected=True)
    if len(shape) == 3 and "experts" in name:
        return [(f".{i}", (("index", i),)) for i in range(shape[0])]
    if len(shape) == 3 and shape[0] == 1:
        return [("", (("index", 0),))]
    if re.search(r"(^|\.)weight$", name):
        return [("", (("reshape", shape[0], size // shape[0]),))]
    return Skipped(
        name,
        f"a {len(shape)}-dimensional tensor of shape {shape} that is no convolution and no stack of experts",
    )


def _layers_of_blocks(blocks: Sequence[Block]) -> Mapping[str, tuple[str, int]]:
    places = {}
    for block in blocks:
        cuts = (*block.query, *block.key, *block.value)
        for tensor in {block.output, *(cut.tensor for cut in cuts)}:
            places[tensor] = (block.stack, block.layer)
    return places


def _place(name: str, blocks: Sequence[Block]) -> tuple[str, int | None]:
    """The stack and layer of a weight beside attention: those of the block that shares its layer's path."""
    for block in blocks:
        numbered = re.match(r"^(.*?(?:^|\.)\d+)(\.|$)", block.path)
        if numbered and name.startswith(numbered.group(1) + "."):
            return ("decoder" if block.stack == "cross" else block.stack), block.layer
    numbers = re.findall(r"\.(\d+)\.", name)
    return "", int(numbers[0]) if numbers and not blocks else None
