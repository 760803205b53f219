"""StableHLO's collectives in ttir, whose collectives run along one mesh axis each.

Groups along several axes become one step an axis, in the order that gives the same
result. Groups that are not whole axes (sub-axes, odd sets) are gathered along the axes
that cover them; each device then picks its group's values by a table and combines them
itself. That moves more data than the groups need, but exactly computes their result.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import prod

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr, i32
from xdsl.ir import Attribute, Operation, OpResult, Region, SSAValue

from ttxdsl.conversion.stablehlo_to_ttir.bodies import COMBINE, combining_kind, evaluate
from ttxdsl.conversion.stablehlo_to_ttir.builder import integer_rows
from ttxdsl.conversion.stablehlo_to_ttir.group_axes import (
    along_axes,
    covering_axes,
    ordered_axes,
)
from ttxdsl.conversion.stablehlo_to_ttir.lowering import DeviceGrid, Lowering, Rule
from ttxdsl.conversion.stablehlo_to_ttir.ops.extension_ops import add_same
from ttxdsl.conversion.stablehlo_to_ttir.ops.reduction import reduction_name
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.diagnostics.remarks import emit_warning
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.calls.custom import config_of
from ttxdsl.dialects.replica_groups import REPLICA_GROUPS, device_groups
from ttxdsl.dialects.ttcore import MeshShardDirection, MeshShardType, ReduceType
from ttxdsl.ir.tensors import element_of, shape_of, tensor_type
from ttxdsl.sharding.devices.replica_groups import Groups

# --- groups -----------------------------------------------------------------


def _devices(low: Lowering, op: Operation) -> DeviceGrid:
    if low.devices is None:
        raise UnsupportedError(
            "a collective outside of the devices' code",
            op,
            hint="run tt-stablehlo-pipeline first",
        )
    return low.devices


def _groups(low: Lowering, op: Operation) -> Groups:
    """Return the groups of a collective as device positions."""
    devices = _devices(low, op)
    places = devices.positions()
    try:
        groups = device_groups(op, devices.count, 1 if low.replicas else None)
    except ValueError as error:
        raise CompileError(str(error), op) from error
    ids = {device for group in groups for device in group}
    if ids != set(places):
        raise CompileError(
            f"replica groups name devices {sorted(ids)}, the mesh has "
            f"{sorted(places)}: every device belongs to exactly one group",
            op,
        )
    return tuple(tuple(places[device] for device in group) for group in groups)


def _regular(
    groups: Groups, devices: DeviceGrid, *, any_order: bool
) -> tuple[int, ...] | None:
    """The axes, major to minor, that the groups run along; None if they are no axes."""
    listed = (tuple(sorted(group) if any_order else group) for group in groups)
    return _ordered_axes(tuple(listed), devices.shape)


_ordered_axes = lru_cache(maxsize=256)(ordered_axes)
"""A program has few different groups, and many collectives among them."""


def ragged_all_to_all(low: Lowering, op: stablehlo.CustomCallOp) -> Sequence[SSAValue]:
    """The call as it is, its groups of positions: ttir's meshes have no device ids."""
    (result,) = add_same(low, op.name, op)
    config = {**config_of(op), REPLICA_GROUPS: integer_rows(_groups(low, op))}
    assert isinstance(result, OpResult)
    result.op.properties["backend_config"] = DictionaryAttr(config)
    return (result,)


# --- tables: what differs by device -----------------------------------------


def per_device(
    low: Lowering, rows: Sequence[Sequence[int]], element: Attribute
) -> SSAValue:
    """A tensor of integers that differs by device: row p for the device at position p.

    A constant on the host with the mesh axes in front, which a mesh_shard hands out.
    """
    devices = low.devices
    assert devices is not None
    host = low.builder.in_place(None)
    width = len(rows[0])
    shape = (*devices.shape, width)
    table = host.numbers([number for row in rows for number in row], shape, element)
    local = low.builder.type((*(1 for _ in devices.shape), width), element)
    handed = low.builder.mesh_shard(
        table,
        local,
        MeshShardType.DEVICES,
        MeshShardDirection.FULL_TO_SHARD,
        (*devices.shape, 1),
        tuple(range(len(devices.shape))),
    )
    return low.builder.reshape(handed, (width,))


def keep_part(
    low: Lowering, value: SSAValue, dim: int, parts: int, part_of: Sequence[int]
) -> SSAValue:
    """Each device keeps part `part_of[position]` of `parts` equal parts of a dimension."""
    shape = shape_of(value)
    size = shape[dim] // parts
    rows = [
        [part * size if d == dim else 0 for d in range(len(shape))] for part in part_of
    ]
    sizes = [size if d == dim else whole for d, whole in enumerate(shape)]
    return low.builder.slice_dynamic(value, per_device(low, rows, i32), sizes)


def keep_on_first(low: Lowering, value: SSAValue, number_of: Sequence[int]) -> SSAValue:
    """Return the value on the devices whose number is 0, zeros on the others."""
    build = low.builder
    numbers = per_device(low, [[number] for number in number_of], i32)
    first = build.compare("eq", numbers, build.like(numbers, 0))
    keep = build.reshape(first, (1,) * len(shape_of(value)))
    return build.elementwise("where", keep, value, build.like(value, 0))


def gather_members(
    low: Lowering, value: SSAValue, groups: Groups, where: Operation
) -> SSAValue:
    """The values of the members of each device's group, stacked in a new dimension 0.

    A group that is smaller than the largest one repeats its last member. Gathered along the axes that cover the groups; where that is more than the group,
    or in another order, each device picks its members' rows by a table.
    """
    devices, build = low.devices, low.builder
    assert devices is not None
    shape = shape_of(value)
    axes = covering_axes(groups, devices.shape)
    stacked = build.reshape(value, (1, *shape))
    for axis in reversed(axes):
        stacked = build.all_gather(stacked, 0, axis, devices.shape[axis])
    if ordered_axes(groups, devices.shape) == axes:
        return stacked
    rows: list[list[int]] = [[] for _ in range(devices.count)]
    most = max(len(group) for group in groups)
    for group in groups:
        padded = (*group, *(group[-1],) * (most - len(group)))
        members = [_row(member, axes, devices) for member in padded]
        for member in group:
            rows[member] = members
    names = ", ".join(devices.axes[axis] for axis in axes)
    emit_warning(
        f"'{where.name}' op needs groups that are not whole mesh axes in mesh order: each"
        f" device gathers the values of all {shape_of(stacked)[0]} devices along {names} and picks those of "
        f"its {most}",
        where,
    )
    flat = build.reshape(stacked, (shape_of(stacked)[0], prod(shape)))
    picked = build.embedding(per_device(low, rows, i32), flat)
    return build.reshape(picked, (most, *shape))


def _row(position: int, axes: Sequence[int], devices: DeviceGrid) -> int:
    """Return the place of a device among those along the axes, first axis major."""
    where, row = devices.coordinates(position), 0
    for axis in axes:
        row = row * devices.shape[axis] + where[axis]
    return row


def _rank_in_group(groups: Groups, devices: DeviceGrid) -> list[int]:
    ranks = [0] * devices.count
    for group in groups:
        for rank, member in enumerate(group):
            ranks[member] = rank
    return ranks


# --- the collectives --------------------------------------------------------


def _all_gather(low: Lowering, op: stablehlo.AllGatherOp) -> Sequence[SSAValue]:
    dim, groups = op.all_gather_dim.value.data, _groups(low, op)
    results = [
        gather_along(low, value, dim, groups, op) for value in low.all(op.inputs)
    ]
    # the groups decide a gather's size: a type of another size is an error
    for result, given in zip(op.results, results, strict=True):
        if tensor_type(result).get_shape() != shape_of(given):
            raise CompileError(
                f"groups of {len(groups[0])} give {shape_of(given)}, the result has "
                f"shape {tensor_type(result).get_shape()}",
                op,
            )
    return results


def gather_along(
    low: Lowering, value: SSAValue, dim: int, groups: Groups, where: Operation
) -> SSAValue:
    """The group's values concatenated along a dimension, in the group's order."""
    devices, build = low.devices, low.builder
    assert devices is not None
    axes = _regular(groups, devices, any_order=False)
    if axes is not None:
        for axis in reversed(axes):
            value = build.all_gather(value, dim, axis, devices.shape[axis])
        return value
    members = build.move_dim(gather_members(low, value, groups, where), 0, dim)
    shape = shape_of(members)
    return build.reshape(
        members, (*shape[:dim], shape[dim] * shape[dim + 1], *shape[dim + 2 :])
    )


def _all_reduce(low: Lowering, op: stablehlo.AllReduceOp) -> Sequence[SSAValue]:
    kind, groups = combining_kind(op.computation), _groups(low, op)
    return [
        _combined(low, op, value, groups, kind, op.computation)
        for value in low.all(op.inputs)
    ]


def _cross_replica_sum(low: Lowering, op: stablehlo.CrossReplicaSumOp) -> SSAValue:
    return sum_along(low, low[op.operand], _groups(low, op), op)


def sum_along(
    low: Lowering, value: SSAValue, groups: Groups, where: Operation
) -> SSAValue:
    """Return the values of a group added, on each of its devices."""
    return _combined(low, where, value, groups, ReduceType.SUM, None)


def _combined(
    low: Lowering,
    op: Operation,
    value: SSAValue,
    groups: Groups,
    kind: ReduceType | None,
    computation: Region | None,
) -> SSAValue:
    """Return the values of a group combined, on each of its devices."""
    axes = _regular(groups, _devices(low, op), any_order=True)
    if axes is None or kind is None:
        return _reduce_members(low, op, value, groups, kind, computation)
    for axis in axes:
        value = low.builder.all_reduce(value, kind, axis)
    return value


def _collective_reduce(
    low: Lowering, op: stablehlo.CollectiveReduceOp
) -> Sequence[SSAValue]:
    """Return all devices combine; those that are no root then hold zeros."""
    kind, groups = combining_kind(op.computation), _groups(low, op)
    build, inputs = low.builder, list(op.inputs)
    root = inputs.pop() if op.has_dynamic_root is not None else None
    results: list[SSAValue] = []
    for number, value in enumerate(low.all(inputs)):
        total = _combined(low, op, value, groups, kind, op.computation)
        if root is None:
            roots = [(group[0], group[0]) for group in groups]
            results.append(build.collective_permute(total, roots))
            continue
        chosen = _root(low, low[root], number)
        ranks = [[rank] for rank in _rank_in_group(groups, _devices(low, op))]
        mine = per_device(low, ranks, element_of(chosen))
        is_root = build.compare("eq", mine, chosen)
        rank = len(shape_of(total))
        keep = build.reshape(is_root, (1,) * rank)
        results.append(build.elementwise("where", keep, total, build.like(total, 0)))
    return results


def _root(low: Lowering, roots: SSAValue, number: int) -> SSAValue:
    """The place in its group of the root for one of several values, as one number."""
    return low.builder.slice_dim(roots, 0, number, number + 1)


def _reduce_members(
    low: Lowering,
    op: Operation,
    value: SSAValue,
    groups: Groups,
    kind: ReduceType | None,
    computation: Region | None,
) -> SSAValue:
    """Gather the group's values and combine them on each device."""
    sizes = {len(group) for group in groups}
    if sizes == {1}:
        return value
    build = low.builder
    members = gather_members(low, value, groups, op)
    name = reduction_name(kind, members) if kind is not None else None
    if name is not None and len(sizes) == 1:
        return build.reduce(name, members, (0,))
    shape = shape_of(value)

    def combine(a: SSAValue, b: SSAValue) -> SSAValue:
        if computation is not None:
            return evaluate(low, computation.block, [a, b], shape)[0]
        assert kind is not None
        return build.elementwise(COMBINE[kind], a, b)

    total: SSAValue | None = None
    for number in range(max(sizes)):
        piece = build.slice_dim(members, 0, number, number + 1)
        piece = build.reshape(piece, shape)
        if total is None:
            total = piece
            continue
        both = combine(total, piece)
        if number >= min(sizes):
            both = build.elementwise(
                "where", _has_member(low, op, groups, number, len(shape)), both, total
            )
        total = both
    assert total is not None
    return total


def _has_member(
    low: Lowering, op: Operation, groups: Groups, number: int, rank: int
) -> SSAValue:
    """Write whether a device's group has a member of that number, for broadcasting."""
    rows = [[0]] * _devices(low, op).count
    for group in groups:
        for member in group:
            rows[member] = [int(number < len(group))]
    table = per_device(low, rows, i32)
    there = low.builder.compare("gt", table, low.builder.like(table, 0))
    return low.builder.reshape(there, (1,) * rank)


def _reduce_scatter(low: Lowering, op: stablehlo.ReduceScatterOp) -> SSAValue:
    devices, groups, build = _devices(low, op), _groups(low, op), low.builder
    value, dim = low[op.operand], op.scatter_dimension.value.data
    kind = combining_kind(op.computation)
    axes = _regular(groups, devices, any_order=False)
    if axes is not None and kind is not None:
        for axis in axes:
            size = devices.shape[axis]
            value = build.reduce_scatter(value, kind, dim, axis, size)
        return value
    total = _reduce_members(low, op, value, groups, kind, op.computation)
    ranks = _rank_in_group(groups, devices)
    return keep_part(low, total, dim, len(groups[0]), ranks)


def _all_to_all(low: Lowering, op: stablehlo.AllToAllOp) -> Sequence[SSAValue]:
    groups = _groups(low, op)
    split, concat = op.split_dimension.value.data, op.concat_dimension.value.data
    return [
        exchange(low, value, split, concat, groups, op) for value in low.all(op.inputs)
    ]


def exchange(
    low: Lowering,
    value: SSAValue,
    split: int,
    concat: int,
    groups: Groups,
    where: Operation,
) -> SSAValue:
    """Member r of a group gets part r of `split` of all members, joined in `concat`."""
    devices, build = low.devices, low.builder
    assert devices is not None
    axes = _regular(groups, devices, any_order=False)
    if axes is not None and (len(axes) <= 1 or split != concat):
        return _exchange_along(low, value, split, concat, axes)
    members = gather_members(low, value, groups, where)
    ranks = _rank_in_group(groups, devices)
    mine = keep_part(low, members, split + 1, len(groups[0]), ranks)
    mine = build.move_dim(mine, 0, concat)
    shape = shape_of(mine)
    merged = shape[concat] * shape[concat + 1]
    return build.reshape(mine, (*shape[:concat], merged, *shape[concat + 2 :]))


def _exchange_along(
    low: Lowering, value: SSAValue, split: int, concat: int, axes: Sequence[int]
) -> SSAValue:
    """One exchange an axis, major first, then the joined parts in the axes' order.

    The major axis splits first, so that its part number is the major one. Each step
    puts its parts before those that are there, so they end up minor axis first.
    """
    devices, build = low.devices, low.builder
    assert devices is not None
    part = shape_of(value)[concat]
    for axis in axes:
        groups = sorted(
            {along_axes(at, [axis], devices.shape) for at in range(devices.count)}
        )
        value = build.all_to_all(value, split, concat, axis, groups)
    if len(axes) < 2:
        return value
    shape = shape_of(value)
    sizes = [devices.shape[axis] for axis in reversed(axes)]
    value = build.reshape(value, (*shape[:concat], *sizes, part, *shape[concat + 1 :]))
    order = list(range(len(shape_of(value))))
    order[concat : concat + len(axes)] = reversed(order[concat : concat + len(axes)])
    return build.reshape(build.permute(value, order), shape)


def _collective_broadcast(
    low: Lowering, op: stablehlo.CollectiveBroadcastOp
) -> Sequence[SSAValue]:
    """The root's value, which is the first member's unless an operand says its place."""
    build, inputs = low.builder, list(op.inputs)
    root = inputs.pop() if op.has_dynamic_root is not None else None
    groups, results = _groups(low, op), list[SSAValue]()
    for number, value in enumerate(low.all(inputs)):
        members = gather_members(low, value, groups, op)
        if root is None:
            first = build.slice_dim(members, 0, 0, 1)
        else:
            shape = shape_of(members)
            rows = build.reshape(members, (shape[0], prod(shape[1:])))
            first = build.embedding(_root(low, low[root], number), rows)
        results.append(build.reshape(first, shape_of(value)))
    return results


def _collective_permute(low: Lowering, op: stablehlo.CollectivePermuteOp) -> SSAValue:
    devices = _devices(low, op)
    places = devices.positions()
    pairs = device_groups(op, devices.count, 1 if low.replicas else None)
    unknown = sorted({device for pair in pairs for device in pair} - set(places))
    if unknown:
        raise CompileError(
            f"source_target_pairs name devices {unknown}, the mesh has "
            f"{sorted(places)}",
            op,
        )
    value = low[op.operand]
    moved = [(places[source], places[target]) for source, target in pairs]
    if not moved:
        return low.builder.like(value, 0)
    return low.builder.collective_permute(value, moved)


def _partition_id(low: Lowering, op: stablehlo.PartitionIdOp) -> SSAValue:
    return _own_id(low, op, varies=not low.replicas)


def _replica_id(low: Lowering, op: stablehlo.ReplicaIdOp) -> SSAValue:
    return _own_id(low, op, varies=low.replicas)


def _own_id(low: Lowering, op: Operation, *, varies: bool) -> SSAValue:
    """Each device's id from a table; 0 when the program runs on one kind of id only."""
    element = tensor_type(op.results[0]).element_type
    devices = low.devices
    if not varies or devices is None or devices.count == 1:
        return low.builder.full((), element, 0)
    table = per_device(low, [[device] for device in devices.ids], element)
    return low.builder.reshape(table, ())


# --- composites -------------------------------------------------------------


def _composite(low: Lowering, op: stablehlo.CompositeOp) -> Sequence[SSAValue]:
    """`sdy.all_slice` is a partition; any other composite is its decomposition."""
    if op.composite_name.data == "sdy.all_slice":
        sliced = _all_slice(low, op)
        if sliced is not None:
            return [sliced]
    name = op.decomposition.root_reference.data
    function = low.functions.get(name)
    if function is None:
        raise CompileError(f"there is no function @{name} to decompose into", op)
    return low.lower_call(function, low.all(op.inputs))


def _all_slice(low: Lowering, op: stablehlo.CompositeOp) -> SSAValue | None:
    """Each device keeps its part of one dimension along one axis; nothing is sent.

    The composite says `dim` and `axis`, and for a sub-axis `sub_axis_pre_size` and
    `sub_axis_size`; or, as tt-mlir reads it, the sharding that a whole axis gives. None
    if it says something else.
    """
    attributes = op.composite_attributes.data
    devices = _devices(low, op)
    value = low[op.inputs[0]]
    match attributes.get("axis"), attributes.get("dim"), attributes.get("out_sharding"):
        case StringAttr(data=name), IntegerAttr() as dim, None:
            where = dim.value.data
        case None, None, sdy.TensorShardingAttr(data=sharding):
            dims = [dim.axes for dim in sharding.dims]
            whole = [axis.name for axes in dims for axis in axes if axis.is_full]
            if sum(map(len, dims)) != 1 or not whole:
                return None
            (name,) = whole
            where = next(at for at, axes in enumerate(dims) if axes)
        case _:
            return None
    if name not in devices.axes:
        return None
    axis = devices.axes.index(name)
    pre, size = attributes.get("sub_axis_pre_size"), attributes.get("sub_axis_size")
    full = devices.shape[axis]
    if not isinstance(pre, IntegerAttr) or not isinstance(size, IntegerAttr):
        if full == 1:
            return value
        return low.builder.mesh_partition(value, where, axis, full)
    parts = size.value.data
    minor = full // (pre.value.data * parts)
    part_of = [
        devices.coordinates(position)[axis] // minor % parts
        for position in range(devices.count)
    ]
    return keep_part(low, value, where, parts, part_of)


TABLE: dict[str, Rule] = {
    "stablehlo.all_gather": _all_gather,
    "stablehlo.all_reduce": _all_reduce,
    "stablehlo.all_to_all": _all_to_all,
    "stablehlo.collective_broadcast": _collective_broadcast,
    "stablehlo.collective_reduce": _collective_reduce,
    "stablehlo.cross-replica-sum": _cross_replica_sum,
    "stablehlo.collective_permute": _collective_permute,
    "stablehlo.composite": _composite,
    "stablehlo.partition_id": _partition_id,
    "stablehlo.reduce_scatter": _reduce_scatter,
    "stablehlo.replica_id": _replica_id,
}
"""The rules of this family, by StableHLO name."""
