"""StableHLO ops that make, move or cut data, in ttir."""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, i1
from xdsl.ir import Operation, SSAValue

from ttxdsl.conversion.stablehlo_to_ttir.builder import TTIRBuilder
from ttxdsl.conversion.stablehlo_to_ttir.lowering import Lowering, Rule, constant_splat
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import chlo, stablehlo, ttir
from ttxdsl.dialects.quant import QuantizedType
from ttxdsl.dialects.ttcore import ReduceType
from ttxdsl.ir.tensors import element_of, shape_of, tensor_type


def _constant(low: Lowering, op: stablehlo.ConstantOp) -> SSAValue:
    value = op.properties["value"]
    if not isinstance(value, DenseIntOrFPElementsAttr):
        raise UnsupportedError(
            "the constant's data is not in the text",
            op,
            hint="export without eliding constants",
        )
    dense = cast(DenseIntOrFPElementsAttr, value)
    type = tensor_type(op.results[0])
    if isinstance(type.element_type, QuantizedType):
        # the value holds the stored integers
        return low.builder.add(ttir.ConstantOp(dense, low.builder.here(type))).results[
            0
        ]
    return low.builder.constant(dense)


def _broadcast_in_dim(low: Lowering, op: stablehlo.BroadcastInDimOp) -> SSAValue:
    shape = tensor_type(op.result).get_shape()
    number = constant_splat(op.operand)
    if number is not None:
        return low.builder.full(shape, tensor_type(op.result).element_type, number)
    dims = op.broadcast_dimensions.get_values()
    return low.builder.broadcast_in_dim(low[op.operand], shape, dims)


def _broadcast(low: Lowering, op: stablehlo.BroadcastOp) -> SSAValue:
    shape = tensor_type(op.result).get_shape()
    value = low[op.operand]
    dims = range(len(shape) - len(shape_of(value)), len(shape))
    return low.builder.broadcast_in_dim(value, shape, dims)


def _concatenate(low: Lowering, op: stablehlo.ConcatenateOp) -> SSAValue:
    return low.builder.concat(low.all(op.inputs), op.dimension.value.data)


def _iota(low: Lowering, op: stablehlo.IotaOp) -> SSAValue:
    type = tensor_type(op.output)
    dim = op.iota_dimension.value.data
    return low.builder.arange(type.get_shape(), dim, type.element_type)


def _reshape(
    low: Lowering, op: stablehlo.ReshapeOp | stablehlo.DynamicReshapeOp
) -> SSAValue:
    return low.builder.reshape(low[op.operand], tensor_type(op.result).get_shape())


def _reverse(low: Lowering, op: stablehlo.ReverseOp) -> SSAValue:
    return low.builder.reverse(low[op.operand], op.dimensions.get_values())


def _slice(low: Lowering, op: stablehlo.SliceOp) -> SSAValue:
    return low.builder.slice(
        low[op.operand],
        op.start_indices.get_values(),
        op.limit_indices.get_values(),
        op.strides.get_values(),
    )


def _transpose(low: Lowering, op: stablehlo.TransposeOp) -> SSAValue:
    return low.builder.permute(low[op.operand], op.permutation.get_values())


def _get_dimension_size(low: Lowering, op: stablehlo.GetDimensionSizeOp) -> SSAValue:
    size = shape_of(low[op.operand])[op.dimension.value.data]
    return low.builder.full((), tensor_type(op.result).element_type, size)


def _pass_through(low: Lowering, op: Operation) -> Sequence[SSAValue]:
    return low.all(op.operands)


# --- padding ----------------------------------------------------------------


def _pad(low: Lowering, op: stablehlo.PadOp) -> SSAValue:
    number = constant_splat(op.padding_value)
    fill = low[op.padding_value] if number is None else number
    return pad(
        low.builder,
        low[op.operand],
        fill,
        op.edge_padding_low.get_values(),
        op.edge_padding_high.get_values(),
        op.interior_padding.get_values(),
    )


def pad(
    build: TTIRBuilder,
    value: SSAValue,
    fill: SSAValue | int | float,
    low: Sequence[int],
    high: Sequence[int],
    interior: Sequence[int],
) -> SSAValue:
    """StableHLO's pad: between elements, then at the edges; negative edges cut.

    Cutting comes after padding, so that a cut may reach into the other edge.
    """
    for dim, gap in enumerate(interior):
        if gap and shape_of(value)[dim] > 1:
            value = _spread(build, value, fill, dim, gap)
    value = build.pad(value, [max(n, 0) for n in low], [max(n, 0) for n in high], fill)
    begins = [max(-n, 0) for n in low]
    ends = [size - max(-n, 0) for size, n in zip(shape_of(value), high, strict=True)]
    return build.slice(value, begins, ends)


def _spread(
    build: TTIRBuilder,
    value: SSAValue,
    fill: SSAValue | int | float,
    dim: int,
    gap: int,
) -> SSAValue:
    """`gap` fills between neighbours: a new dimension padded and merged."""
    shape = shape_of(value)
    size = shape[dim]
    value = build.reshape(value, (*shape[: dim + 1], 1, *shape[dim + 1 :]))
    none = [0] * (len(shape) + 1)
    after = [0] * (len(shape) + 1)
    after[dim + 1] = gap
    value = build.pad(value, none, after, fill)
    merged = (*shape[:dim], size * (gap + 1), *shape[dim + 1 :])
    return build.slice_dim(build.reshape(value, merged), dim, 0, merged[dim] - gap)


# --- slices at computed places ----------------------------------------------


def _begins(
    low: Lowering,
    starts: Sequence[SSAValue],
    shape: Sequence[int],
    sizes: Sequence[int],
) -> SSAValue:
    """The start indices as one tensor, clamped so that the slice stays inside."""
    build = low.builder
    element = element_of(low[starts[0]])
    parts = [
        build.full((1,), element, 0)
        if size == whole
        else build.reshape(low[start], (1,))
        for start, size, whole in zip(starts, sizes, shape, strict=True)
    ]
    begins = build.concat(parts, 0)
    room = [whole - size for whole, size in zip(shape, sizes, strict=True)]
    highest = build.numbers(room, (len(room),), element)
    lowest = build.like(highest, 0)
    return build.elementwise("clamp_tensor", begins, lowest, highest)


def _dynamic_slice(low: Lowering, op: stablehlo.DynamicSliceOp) -> SSAValue:
    value, sizes = low[op.operand], op.slice_sizes.get_values()
    if sizes == shape_of(value):
        return value
    begins = _begins(low, op.start_indices, shape_of(value), sizes)
    return low.builder.slice_dynamic(value, begins, sizes)


def _dynamic_update_slice(
    low: Lowering, op: stablehlo.DynamicUpdateSliceOp
) -> SSAValue:
    """The update scattered along the only dimension that it does not fill, if there is one.

    Else it is slid to its place, and selected where it lies: with `room` = the operand's
    size minus the update's, the update between `room` paddings on both sides, sliced from
    `room - begin`, has it at `begin`. That reads and writes all of the operand.
    """
    build, value, update = low.builder, low[op.operand], low[op.update]
    shape, sizes = shape_of(value), shape_of(update)
    if shape == sizes:
        return update
    room = [whole - size for whole, size in zip(shape, sizes, strict=True)]
    free = [dim for dim, size in enumerate(room) if size]
    if len(free) == 1 and all(sizes):
        (dim,) = free
        start = op.start_indices[dim : dim + 1]
        begin = _begins(low, start, shape[dim : dim + 1], sizes[dim : dim + 1])
        index = _places(build, begin, sizes, dim)
        return build.scatter(value, index, update, dim, ReduceType.INVALID)
    begins = _begins(low, op.start_indices, shape, sizes)
    rooms = build.numbers(room, (len(room),), element_of(begins))
    back = build.elementwise("subtract", rooms, begins)
    slid = build.slice_dynamic(build.pad(update, room, room, 0), back, shape)
    ones = build.full(sizes, i1, True)
    mask = build.slice_dynamic(build.pad(ones, room, room, 0), back, shape)
    return build.elementwise("where", mask, slid, value)


def _places(
    build: TTIRBuilder, begin: SSAValue, sizes: Sequence[int], dim: int
) -> SSAValue:
    """Numbers from `begin` (one, in a vector) on along `dim`, the same elsewhere."""
    count = (sizes[dim],)
    rows = build.broadcast(begin, count)
    if sizes[dim] > 1:
        offsets = build.arange(count, 0, element_of(begin))
        rows = build.elementwise("add", rows, offsets)
    flat = [size if at == dim else 1 for at, size in enumerate(sizes)]
    return build.broadcast(build.reshape(rows, flat), sizes)


def _to_iota(low: Lowering, op: stablehlo.DynamicIotaOp) -> SSAValue:
    type = tensor_type(op.results[0])
    dim = op.iota_dimension.value.data
    return low.builder.arange(type.get_shape(), dim, type.element_type)


def _to_broadcast(low: Lowering, op: stablehlo.DynamicBroadcastInDimOp) -> SSAValue:
    shape = tensor_type(op.result).get_shape()
    dims = op.broadcast_dimensions.get_values()
    return low.builder.broadcast_in_dim(low[op.operand], shape, dims)


def _constant_like(low: Lowering, op: chlo.ConstantLikeOp) -> SSAValue:
    value = op.value
    if not isinstance(value, FloatAttr | IntegerAttr):
        raise UnsupportedError(f"a constant {value}", op)
    number, type = cast(FloatAttr, value).value.data, tensor_type(op.result)
    return low.builder.full(type.get_shape(), type.element_type, number)


TABLE: dict[str, Rule] = {
    "stablehlo.broadcast": _broadcast,
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.constant": _constant,
    "sdy.constant": _constant,
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.dynamic_update_slice": _dynamic_update_slice,
    "stablehlo.get_dimension_size": _get_dimension_size,
    "stablehlo.iota": _iota,
    "stablehlo.optimization_barrier": _pass_through,
    "stablehlo.pad": _pad,
    "stablehlo.reshape": _reshape,
    "stablehlo.reverse": _reverse,
    "stablehlo.slice": _slice,
    "stablehlo.transpose": _transpose,
    "stablehlo.dynamic_broadcast_in_dim": _to_broadcast,
    "stablehlo.dynamic_iota": _to_iota,
    "stablehlo.dynamic_reshape": _reshape,
    "chlo.constant": _constant,
    "chlo.constant_like": _constant_like,
}
"""The rules of this family, by StableHLO name."""
