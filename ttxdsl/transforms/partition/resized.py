"""Ops written again for results of other sizes."""

from collections.abc import Mapping

from xdsl.ir import Attribute, Operation

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.transforms.partition.emitter import dims_attr
from ttxdsl.transforms.partition.ops.creation import splat_of


def resized_properties(op: Operation, sizes: Mapping[int, int]) -> dict[str, Attribute]:
    """Return the properties of an op of which dimensions of the result change.

    Along these a slice takes all of its operand; a constant repeats one number.
    """
    properties = dict(op.properties)
    shape = [*shape_of(op.results[0])]
    for dim, size in sizes.items():
        shape[dim] = size
    match op:
        case stablehlo.ConstantOp():
            splat = splat_of(op.value, tuple(shape))
            assert splat is not None, "only called for splats"
            properties["value"] = splat
        case stablehlo.SliceOp():
            limits, strides = (
                [*n.get_values()] for n in (op.limit_indices, op.strides)
            )
            for dim, size in sizes.items():
                limits[dim], strides[dim] = size, 1
            properties["limit_indices"] = dims_attr(limits)
            properties["strides"] = dims_attr(strides)
        case stablehlo.DynamicSliceOp():
            properties["slice_sizes"] = dims_attr(shape)
        case _:
            pass
    return properties
