"""Where each family keeps W_Q, W_K, W_V, W_O: tables, and the code that reads them.

A *block* is one attention layer. Projections are stored apart (``SEPARATE``, recognised by their names) or
fused into one tensor (``FUSED``, where names do not tell the arrangement, so the model type must). Two
arrangements of the fused rows cover every family, with H query heads, G key heads and r = H/G:

* ``blocks``:  all queries, then all keys, then all values;
* ``groups``:  for each key head its r queries, then its key, then its value (r = 1: q, k, v interleaved).

Head h uses key and value head h // r. To teach a new family, add a line here and a tiny random
configuration to ``tests/certify/adapters/families.py``; ``test_families.py`` holds it against the model's own
q, k, v (docs/how-to/add-an-adapter.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from certify.adapters.model import Factor, Skipped
from certify.adapters.sources import TensorInfo
from certify.adapters.views import ViewStep, view_shape


@dataclass(frozen=True)
class Separate:
    """Names of the four weights below a block; ``output`` lists the alternatives."""

    query: str
    key: str
    value: str
    output: tuple[str, ...]


@dataclass(frozen=True)
class Fused:
    """One tensor for q, k, v. ``conv1d``: stored (in, out), as GPT-2 does, not (out, in)."""

    qkv: str
    output: str
    arrangement: Literal["blocks", "groups"]
    conv1d: bool = False


SEPARATE: tuple[Separate, ...] = (
    # BERT, RoBERTa, ELECTRA, CamemBERT, XLM-R, ESM
    Separate("self.query.weight", "self.key.weight", "self.value.weight", ("output.dense.weight",)),
    # ViT, DINOv2, DeiT, BEiT as stored in files
    Separate("attention.query.weight", "attention.key.weight", "attention.value.weight",
             ("output.dense.weight",)),
    # ALBERT
    Separate("query.weight", "key.weight", "value.weight", ("dense.weight",)),
    # LLaMA, Mistral, Qwen, Gemma, OPT, BART, Whisper, CLIP, Phi, GPT-J, GPT-Neo; ViT as loaded
    Separate("q_proj.weight", "k_proj.weight", "v_proj.weight",
             ("o_proj.weight", "out_proj.weight", "dense.weight")),
    # DistilBERT
    Separate("q_lin.weight", "k_lin.weight", "v_lin.weight", ("out_lin.weight",)),
    # T5, MT5, MPNet
    Separate("q.weight", "k.weight", "v.weight", ("o.weight",)),
    # torch.nn.MultiheadAttention with kdim or vdim
    Separate("q_proj_weight", "k_proj_weight", "v_proj_weight", ("out_proj.weight",)),
)  # fmt: skip

# torch.nn.MultiheadAttention's own name: no other library uses it.
IN_PROJ = Fused("in_proj_weight", "out_proj.weight", "blocks")

FUSED: dict[str, tuple[Fused, ...]] = {
    "gpt2": (Fused("c_attn.weight", "c_proj.weight", "blocks", conv1d=True),),
    "phi3": (Fused("qkv_proj.weight", "o_proj.weight", "blocks"),),
    "mpt": (Fused("Wqkv.weight", "out_proj.weight", "blocks"),),
    "modernbert": (Fused("Wqkv.weight", "Wo.weight", "blocks"),),
    "gpt_neox": (Fused("query_key_value.weight", "dense.weight", "groups"),),
    "persimmon": (Fused("query_key_value.weight", "dense.weight", "groups"),),
    "bloom": (Fused("query_key_value.weight", "dense.weight", "groups"),),
    "falcon": (Fused("query_key_value.weight", "dense.weight", "groups"),),
    # One key head shared by all queries: queries, then the key, then the value.
    "falcon-multi-query": (Fused("query_key_value.weight", "dense.weight", "blocks"),),
    "gpt_bigcode": (Fused("c_attn.weight", "c_proj.weight", "groups"),),
    "gpt_bigcode-multi-query": (Fused("c_attn.weight", "c_proj.weight", "blocks"),),
}  # fmt: skip

# Names that look like an attention projection; met in no table, they are reported as skipped.
PROJECTION_NAMES = re.compile(
    r"(^|\.)(q(uery)?(_proj|_lin)?|c_attn|qkv(_proj)?|Wqkv|query_key_value|in_proj|q_[ab]_proj|kv_[ab]_proj\w*)(\.|_)weight$"
)
NORM_NAMES = re.compile(
    r"(^|\.)(q_norm|k_norm|q_layernorm|k_layernorm|query_norm|key_norm|query_layernorm|key_layernorm)\."
)
CROSS_NAMES = re.compile(r"EncDecAttention|encoder_attn|crossattention|cross_attn|multihead_attn")


@dataclass(frozen=True)
class HeadCounts:
    """Query heads and key-value heads of a block."""

    heads: int
    kv_heads: int


@dataclass(frozen=True)
class Slice:
    """The stored rows (columns, for Conv1D) that make one head of one projection."""

    tensor: str
    start: int
    stop: int
    conv1d: bool = False


@dataclass(frozen=True)
class Block:
    """One attention layer: where its heads are. ``projections`` are the tensors that x is multiplied with."""

    path: str
    stack: str
    layer: int
    counts: HeadCounts
    head_dim: int
    query: tuple[Slice, ...]
    key: tuple[Slice, ...]
    value: tuple[Slice, ...]
    output: str
    output_conv1d: bool
    qk_norm: bool

    @property
    def query_tensor(self) -> str:
        return self.query[0].tensor

    @property
    def key_tensor(self) -> str:
        return self.key[0].tensor


HeadCountsOf = Callable[[str, str], HeadCounts | str]


def find_blocks(
    tensors: Mapping[str, TensorInfo], family: str, counts_of: HeadCountsOf
) -> tuple[list[Block], list[Skipped]]:
    """Every attention block among ``tensors``, and the projections that no table explains.

    ``counts_of(block path, stack)`` gives the head counts or the reason why they are not known.
    """
    stacks = _stacks(tensors)
    blocks, skipped, seen = [], [], set()
    fused = (*FUSED.get(family, ()), IN_PROJ)
    for name in sorted(tensors, key=natural_key):
        hit = _match(name, fused, tensors)
        if hit is None:
            if PROJECTION_NAMES.search(name):
                skipped.append(
                    Skipped(
                        name,
                        f"an attention projection whose layout is not known for family {family!r}: "
                        "its weight is analysed whole, its heads are not",
                    )
                )
            continue
        path, layout = hit
        if path in seen:
            continue
        seen.add(path)
        built = _build(path, layout, tensors, stacks(path), counts_of)
        if isinstance(built, Block):
            blocks.append(built)
        else:
            skipped.append(Skipped(f"heads of {path or 'the module'}", built))
    return _number_clashes(blocks), skipped


def _match(
    name: str, fused: tuple[Fused, ...], tensors: Mapping[str, TensorInfo]
) -> tuple[str, Separate | Fused] | None:
    for layout in fused:
        if (path := _strip(name, layout.qkv)) is not None:
            return path, layout
    for separate in SEPARATE:
        if (path := _strip(name, separate.query)) is not None:
            siblings = (_join(path, separate.key), _join(path, separate.value))
            outputs = [o for o in separate.output if _join(path, o) in tensors]
            if all(s in tensors for s in siblings) and outputs:
                return path, separate
    return None


def _strip(name: str, suffix: str) -> str | None:
    if name == suffix:
        return ""
    return name[: -len(suffix) - 1] if name.endswith("." + suffix) else None


def _join(path: str, suffix: str) -> str:
    return f"{path}.{suffix}" if path else suffix


def _build(
    path: str,
    layout: Separate | Fused,
    tensors: Mapping[str, TensorInfo],
    stack: str,
    counts_of: HeadCountsOf,
) -> Block | str:
    counts = counts_of(path, stack)
    if isinstance(counts, str):
        return counts
    if counts.heads < 1 or counts.kv_heads < 1 or counts.heads % counts.kv_heads:
        return f"{counts.heads} query heads cannot share {counts.kv_heads} key-value heads"
    cut = (
        _cut_fused(path, layout, tensors, counts)
        if isinstance(layout, Fused)
        else _cut_separate(path, layout, tensors, counts)
    )
    if isinstance(cut, str):
        return cut
    head_dim, query, key, value = cut
    outputs = (layout.output,) if isinstance(layout, Fused) else layout.output
    output = next((_join(path, o) for o in outputs if _join(path, o) in tensors), None)
    conv1d = isinstance(layout, Fused) and layout.conv1d
    if output is None:
        return f"no output projection {' or '.join(outputs)} beside the queries"
    value_dim = value[0].stop - value[0].start
    inner = tensors[output].shape[0 if conv1d else 1]
    if inner != counts.heads * value_dim:
        return f"{output} takes {inner} features, but {counts.heads} heads give {value_dim} each"
    qk_norm = any(n.startswith(path + ".") and NORM_NAMES.search(n[len(path) :]) for n in tensors)
    numbers = re.findall(r"(?:^|\.)(\d+)(?=\.|$)", path)
    return Block(
        path,
        "cross" if CROSS_NAMES.search(path) else stack,
        int(numbers[0]) if numbers else 0,
        counts,
        head_dim,
        query,
        key,
        value,
        output,
        conv1d,
        qk_norm,
    )


_Cut = tuple[int, tuple[Slice, ...], tuple[Slice, ...], tuple[Slice, ...]]


def _cut_separate(
    path: str, layout: Separate, tensors: Mapping[str, TensorInfo], counts: HeadCounts
) -> _Cut | str:
    names = [_join(path, n) for n in (layout.query, layout.key, layout.value)]
    rows = [tensors[n].shape[0] for n in names]
    wanted = (counts.heads, counts.kv_heads, counts.kv_heads)
    for name, size, heads in zip(names, rows, wanted, strict=True):
        if len(tensors[name].shape) != 2 or size % heads:
            return f"{name} of shape {tensors[name].shape} cannot be cut into {heads} heads"
    dims = [size // heads for size, heads in zip(rows, wanted, strict=True)]
    if dims[0] != dims[1]:
        return (
            f"query heads have {dims[0]} coordinates but key heads {dims[1]}: "
            "not a plain product of queries and keys"
        )
    return (
        dims[0],
        *(
            tuple(
                Slice(name, (h * heads // counts.heads) * dim, (h * heads // counts.heads + 1) * dim)
                for h in range(counts.heads)
            )
            for name, dim, heads in zip(names, dims, wanted, strict=True)
        ),
    )  # type: ignore[return-value]


def _cut_fused(path: str, layout: Fused, tensors: Mapping[str, TensorInfo], counts: HeadCounts) -> _Cut | str:
    name = _join(path, layout.qkv)
    shape = tensors[name].shape
    parts = counts.heads + 2 * counts.kv_heads
    if len(shape) != 2 or shape[1 if layout.conv1d else 0] % parts:
        return (
            f"{name} of shape {shape} cannot be cut into {counts.heads} queries "
            f"and 2 x {counts.kv_heads} keys and values"
        )
    dim = shape[1 if layout.conv1d else 0] // parts
    per_group = counts.heads // counts.kv_heads

    def places(head: int) -> tuple[int, int, int]:
        group, within = divmod(head, per_group)
        if layout.arrangement == "blocks":
            return head, counts.heads + group, counts.heads + counts.kv_heads + group
        base = group * (per_group + 2)
        return base + within, base + per_group, base + per_group + 1

    slices = [
        tuple(Slice(name, p * dim, (p + 1) * dim, layout.conv1d) for p in places(h))
        for h in range(counts.heads)
    ]
    query, key, value = zip(*slices, strict=True)
    return dim, query, key, value


def slice_factor(cut: Slice, tensors: Mapping[str, TensorInfo]) -> Factor:
    """The (in, d_head) matrix of a projection's head: W_Q^h, W_K^h or W_V^h."""
    steps: tuple[ViewStep, ...] = (
        (("columns", cut.start, cut.stop),) if cut.conv1d else (("rows", cut.start, cut.stop), ("transpose",))
    )
    return make_factor(tensors[cut.tensor], steps)


def output_factor(block: Block, head: int, tensors: Mapping[str, TensorInfo]) -> Factor:
    """The transposed output matrix (W_O^h)^T (d_out, d_head) of one head."""
    dim = block.value[head].stop - block.value[head].start
    start, stop = head * dim, (head + 1) * dim
    steps: tuple[ViewStep, ...] = (
        (("rows", start, stop), ("transpose",)) if block.output_conv1d else (("columns", start, stop),)
    )
    return make_factor(tensors[block.output], steps)


def make_factor(info: TensorInfo, steps: tuple[ViewStep, ...]) -> Factor:
    """A factor with its shape worked out from the steps."""
    rows, columns = view_shape(info.shape, steps)
    return Factor(info.file, info.name, info.dtype, steps, (rows, columns))


def natural_key(name: str) -> list[tuple[int, str]]:
    """Sort key under which layer 10 comes after layer 9."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def _stacks(tensors: Mapping[str, TensorInfo]) -> Callable[[str], str]:
    """Names the stack of a block: only where the model has more than one."""
    pairs = (("encoder", "decoder"), ("text_model", "vision_model"))
    for first, second in pairs:
        found = {word for word in (first, second) for n in tensors if re.search(rf"(^|\.){word}\.", n)}
        if len(found) == 2:

            def stack(path: str, words: tuple[str, str] = (first, second)) -> str:
                hits = [w for w in words if re.search(rf"(^|\.){w}\.", path + ".")]
                return hits[0] if len(hits) == 1 else ""

            return stack
    return lambda path: ""


def _number_clashes(blocks: list[Block]) -> list[Block]:
    """Where two blocks would carry one (stack, layer), number the stack's blocks in order instead."""
    from dataclasses import replace

    keys = [(b.stack, b.layer) for b in blocks]
    clashing = {stack for stack, layer in keys if keys.count((stack, layer)) > 1}
    counters: dict[str, int] = {}
    out = []
    for block in blocks:
        if block.stack in clashing:
            block = replace(block, layer=counters.setdefault(block.stack, 0))
            counters[block.stack] += 1
        out.append(block)
    return out
