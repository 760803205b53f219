"""Collectives as exchanges: each device sends each group member the data it needs.

An `all_to_all` may have any groups, and any computation can combine the parts.
"""

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ttxdsl.bridges.tt_mlir.legalize.scalar_computations import fold_along
from ttxdsl.conversion.writing import Writer
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.devices.replica_groups import Groups
from ttxdsl.transforms.partition.emitter import int_attr


def exchange(
    op: Operation,
    groups: Groups,
    w: Writer,
    value: SSAValue,
    split: int,
    concat: int,
) -> SSAValue:
    """Return an all_to_all in any groups."""
    count = len(groups[0])
    if count == 1:
        return value
    shape = list(shape_of(value))
    shape[split] //= count
    shape[concat] *= count
    properties = {
        "replica_groups": groups_matrix(groups),
        "split_dimension": int_attr(split),
        "concat_dimension": int_attr(concat),
        "split_count": int_attr(count),
    }
    if "channel_handle" in op.properties:
        properties["channel_handle"] = op.properties["channel_handle"]
    type_ = TensorType(element_of(value), shape)
    return w.one(stablehlo.AllToAllOp, [value], type_, properties)


def members(
    op: Operation, groups: Groups, w: Writer, value: SSAValue, dim: int
) -> SSAValue:
    """Return the values of a device's group, in its order, along a new dimension."""
    shape, count = shape_of(value), len(groups[0])
    copies = (*shape[:dim], count, *shape[dim:])
    kept = [i + (i >= dim) for i in range(len(shape))]
    return exchange(op, groups, w, w.broadcast(value, copies, kept), dim, dim)


def combined(op: Operation, w: Writer, stacked: SSAValue, dim: int) -> SSAValue:
    """Return the reduction, by an op's computation, of values along a dimension."""
    block = op.regions[0].block
    (value,) = fold_along(w, block, [stacked], dim)
    shape = shape_of(value)
    return w.reshape(value, (*shape[:dim], *shape[dim + 1 :]))


def reduced_by_exchange(
    op: stablehlo.AllReduceOp, groups: Groups, w: Writer
) -> list[SSAValue]:
    """An all_reduce by any computation: all members' values, combined on each."""
    return [combined(op, w, members(op, groups, w, value, 0), 0) for value in op.inputs]


def scattered_by_exchange(
    op: stablehlo.ReduceScatterOp, groups: Groups, w: Writer
) -> list[SSAValue]:
    """A reduce_scatter by any computation: each member's values of one's own part."""
    dim, count = op.scatter_dimension.value.data, len(groups[0])
    shape = list(shape_of(op.operand))
    parts = [*shape[:dim], count, shape[dim] // count, *shape[dim + 1 :]]
    sent = exchange(op, groups, w, w.reshape(op.operand, parts), dim, dim)
    return [combined(op, w, sent, dim)]


def groups_matrix(groups: Groups) -> Attribute:
    """Groups of one size as collectives list them."""
    return DenseIntOrFPElementsAttr.from_list(
        TensorType(i64, [len(groups), len(groups[0])]),
        [process for group in groups for process in group],
    )
