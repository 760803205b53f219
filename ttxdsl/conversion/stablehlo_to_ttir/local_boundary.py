"""The arguments and results of a function for tt-mlir: local types, and how they lie.

tt-mlir gives data that is on the devices already its local type, and does not say which
device holds which part. `ttxdsl.shards` says it, for whoever runs the program with whole
tensors; tt-mlir carries the attribute along unread.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ttxdsl.conversion.stablehlo_to_ttir.placement import Placement
from ttxdsl.dialects._tt.attributes import dense_i64
from ttxdsl.dialects.ttcore import (
    SHARD_STATUS_ATTRIBUTE,
    SHARDS_ATTRIBUTE,
    LocalShapeAttr,
    ShardStatus,
    ShardStatusAttr,
    on_host,
)

End = tuple[Attribute, Placement | None]
"""The type of an argument or result, and how it lies if it is on the devices."""


def write_boundary(
    function: FuncOp, arguments: Sequence[End], results: Sequence[End]
) -> None:
    """Set a function's types and the attributes that place its arguments and results."""
    function.function_type = FunctionType.from_lists(
        [type for type, _ in arguments], [type for type, _ in results]
    )
    function.arg_attrs = _with_boundary_attributes(function.arg_attrs, arguments)
    function.res_attrs = _with_boundary_attributes(function.res_attrs, results)


def _with_boundary_attributes(
    attributes: ArrayAttr[DictionaryAttr] | None, ends: Sequence[End]
) -> ArrayAttr[DictionaryAttr]:
    before = attributes.data if attributes else [DictionaryAttr({})] * len(ends)
    return ArrayAttr(
        DictionaryAttr({**entry.data, **_entry(*end)})
        for entry, end in zip(before, ends, strict=True)
    )


def _entry(type: Attribute, placement: Placement | None) -> Mapping[str, Attribute]:
    if not isinstance(type, TensorType):
        return {}
    if placement is None:
        return {SHARD_STATUS_ATTRIBUTE: ShardStatusAttr(ShardStatus.UNSHARDED)}
    tables = {
        "shard_shape": placement.shard_shape,
        "shard_dims": placement.shard_dims,
        "device_parts": placement.device_parts,
        "device_summands": placement.device_summands,
    }
    shards = {
        name: dense_i64(table)
        for name, table in tables.items()
        if table or name == "shard_shape"  # that of a number is empty
    }
    return {
        SHARD_STATUS_ATTRIBUTE: ShardStatusAttr(ShardStatus.PRESHARDED),
        "ttcore.local_shape": LocalShapeAttr.new(
            [
                StringAttr(
                    f"local_shape = {on_host(cast('TensorType[Attribute]', type))}"
                )
            ]
        ),
        SHARDS_ATTRIBUTE: DictionaryAttr(shards),
    }
