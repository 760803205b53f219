"""tt-mlir's custom calls: which operand is what, and which options they are given.

    stablehlo.custom_call @tt.scaled_dot_product_attention(%q, %k, %v) {
      mhlo.frontend_attributes = {is_causal = "False", scale = "0.125"}} : …

tt-xla writes options as text in frontend attributes. What tt-mlir makes of a composite
has those of the composite instead, as attributes. Operands that a call may lack stand in
a fixed order, and an option `has_…` tells of each whether it is there.

Source: tt-xla's custom ops for PyTorch, and tt-mlir's conversion of them to ttir.
"""

from collections.abc import Mapping
from enum import StrEnum

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
)
from xdsl.ir import Attribute, Operation

from ttxdsl.dialects.stablehlo import CustomCallOp

FRONTEND_ATTRIBUTES = "mhlo.frontend_attributes"
COMPOSITE_ATTRIBUTES = "tt.composite_attributes"
"""The attributes of the composite that a call replaces."""
FROM_COMPOSITE = "tt.has_custom_sharding"
"""That a call was a composite."""


SHARDING_CONSTRAINT = "tt.sharding_constraint"
MARK_ARGUMENT = "tt.mark_argument"
WEIGHT_DTYPE_OVERRIDE = "tt.weight_dtype_override"
MARK_FUNCTION_PREFIX = "tt.mark_"
"""Functions that return their operand: what tt-xla's JAX marks arguments with."""


class Target(StrEnum):
    """The names that calls of tt-mlir's go by, which compute something."""

    ATTENTION = "tt.scaled_dot_product_attention"
    PAGED_DECODE = "tt.paged_scaled_dot_product_attention_decode"
    CHUNKED = "tt.chunked_scaled_dot_product_attention"
    LATENT_DECODE = "tt.paged_flash_mla_decode"
    LATENT_PREFILL = "tt.flash_mla_prefill"
    UPDATE_CACHE = "tt.paged_update_cache"
    FILL_CACHE = "tt.paged_fill_cache"
    SPARSE_MATMUL = "tt.sparse_matmul"
    DISPATCH = "tt.all_to_all_dispatch"
    COMBINE = "tt.all_to_all_combine"
    REMAP = "tt.moe_expert_token_remap"
    INDEXER = "tt.indexer_score_dsa"
    SAMPLING = "tt.sampling"
    # composites that become calls during partitioning
    ATTENTION_COMPOSITE = "tenstorrent.scaled_dot_product_attention"
    RMS_NORM = "tenstorrent.rms_norm"
    TOP_K = "tenstorrent.topk"
    TOP_K_VALUES = "tenstorrent.topk_values"
    TOP_K_INDICES = "tenstorrent.topk_indices"
    ARGMAX = "tenstorrent.argmax"
    GATHER = "tenstorrent.gather"
    GATHER_DIM = "tenstorrent.gather_dim"


COMPOSITES = frozenset(t for t in Target if t.startswith("tenstorrent."))
"""The composites of which tt-mlir has a sharding rule."""

_ROLES: Mapping[str, str] = {
    Target.ATTENTION: "query key value attention_mask? attention_sink?",
    Target.ATTENTION_COMPOSITE: "query key value attention_mask?",
    Target.PAGED_DECODE: "query key value page_table"
    " attention_mask? cur_pos_tensor? attention_sink?",
    Target.CHUNKED: "query key value page_table chunk_start_idx",
    Target.LATENT_DECODE: "query key value? page_table"
    " attention_mask? cur_pos_tensor? attention_sink?",
    Target.LATENT_PREFILL: "query key value? attention_mask?",
    Target.UPDATE_CACHE: "cache input update_index page_table",
    Target.FILL_CACHE: "cache input page_table batch_idx?",
    Target.SPARSE_MATMUL: "a b sparsity",
    Target.DISPATCH: "input indices mapping",
    Target.COMBINE: "input metadata mapping",
    Target.REMAP: "topk mapping metadata",
    Target.INDEXER: "query key weights",
    Target.SAMPLING: "values indices k p temp",
    Target.RMS_NORM: "input weight? bias?",
    Target.TOP_K: "input",
    Target.TOP_K_VALUES: "input",
    Target.TOP_K_INDICES: "input",
    Target.ARGMAX: "input",
    Target.GATHER: "input index",
    Target.GATHER_DIM: "input index",
}

_TOLD_BY_COUNT = frozenset(
    {
        Target.ATTENTION_COMPOSITE,
        Target.FILL_CACHE,
        Target.RMS_NORM,
    }
)
"""Calls that have no option for the operands that they may lack."""


def options(call: Operation) -> Mapping[str, Attribute]:
    """Return the options of a call, or of the ttir op that it becomes."""
    if not isinstance(call, CustomCallOp):
        return call.properties
    merged: dict[str, Attribute] = {}
    for key in (FRONTEND_ATTRIBUTES, COMPOSITE_ATTRIBUTES):
        entries = call.attributes.get(key)
        if isinstance(entries, DictionaryAttr):
            merged.update(entries.data)
    return merged


def flag(call: Operation, name: str, default: bool = False) -> bool:
    """An option that is true or false."""
    match options(call).get(name):
        case StringAttr(data=text):
            return text.strip().lower() == "true"
        case IntegerAttr() as given:
            return bool(given.value.data)
        case _:
            return default


def number(call: Operation, name: str) -> float | None:
    """Return an option that is a number; None if it is missing.

    Raises:
        ValueError: it is no number.
    """
    match options(call).get(name):
        case StringAttr(data=text):
            return float(text)
        case IntegerAttr() | FloatAttr() as given:
            return float(given.value.data)
        case _:
            return None


def roles(call: CustomCallOp) -> dict[str, int] | None:
    """The number of each operand by its name; None if they are not those of the call."""
    target = call.call_target_name.data
    written = _ROLES.get(target, "").split()
    present: list[str] = []
    for role in written:
        name = role.removesuffix("?")
        if name == role or target in _TOLD_BY_COUNT or flag(call, f"has_{name}"):
            present.append(name)
    if target in _TOLD_BY_COUNT:
        required = sum(not role.endswith("?") for role in written)
        if not required <= len(call.inputs) <= len(present):
            return None
        del present[len(call.inputs) :]
    elif target == Target.ATTENTION and present[3:] == [] and len(call.inputs) == 4:
        present.append("attention_mask")  # of exporters before the option was there
    if not written or len(present) != len(call.inputs):
        return None
    return {name: index for index, name in enumerate(present)}


def normalized_rank(call: Operation) -> int | None:
    """Return the number of last dimensions an `rms_norm` is over; None if unstated."""
    match options(call).get("normalized_shape"):
        case DenseIntOrFPElementsAttr() | DenseArrayBase() | ArrayAttr() as sizes:
            return len(sizes)
        case _:
            return None
