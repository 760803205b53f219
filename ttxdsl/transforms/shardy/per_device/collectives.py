"""Shardy's collectives, which speak of shardings, as those that move data."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, i64
from xdsl.ir import Operation, OpResult, SSAValue

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.errors import UnsupportedError
from ttxdsl.ir.tensors import shape_of
from ttxdsl.sharding.axes import Axes, split_mesh_at, subtract, total_size
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.local.devices import shard_index_of_device
from ttxdsl.transforms.local.layout import without_trivial
from ttxdsl.transforms.shardy.per_device.literal import LiteralEmitter
from ttxdsl.transforms.shardy.per_device.planning import (
    Planner,
    Rewrite,
    WholeProgram,
)


def _joined(axes_per_dim: Sequence[Axes]) -> Axes:
    return tuple(axis for axes in axes_per_dim for axis in axes)


def _out(program: WholeProgram, op: sdy.CollectiveOp) -> tuple[str | Mesh, Mesh]:
    sharding = op.out_sharding.data
    return sharding.mesh, program.mesh_of(sharding)


def all_gather(program: WholeProgram, op: sdy.AllGatherOp) -> Rewrite:
    """Of several dimensions at once: gather in front, then put parts where they belong."""
    ref, mesh = _out(program, op)
    per_dim = {
        dim: (axes, total_size(axes, mesh))
        for dim, axes in enumerate(op.gathering_axes.data)
        if axes
    }

    def one_by_one(emit: LiteralEmitter) -> SSAValue:
        value = op.tensor
        for dim, (axes, count) in reversed(per_dim.items()):
            value = emit.all_gather(value, dim, program.groups(ref, mesh, axes), count)
        return value

    def at_once(emit: LiteralEmitter) -> SSAValue:
        shape = shape_of(op.tensor)
        axes = _joined([axes for axes, _ in per_dim.values()])
        counts = [count for _, count in per_dim.values()]
        value = emit.reshape(op.tensor, (1, *shape))
        groups = program.groups(ref, mesh, axes)
        value = emit.all_gather(value, 0, groups, prod(counts))
        value = emit.reshape(value, (*counts, *shape))
        order: list[int] = []
        for dim in range(len(shape)):
            if dim in per_dim:
                order.append([*per_dim].index(dim))
            order.append(len(counts) + dim)
        value = emit.transpose(value, order)
        whole = [n * per_dim[d][1] if d in per_dim else n for d, n in enumerate(shape)]
        return emit.reshape(value, whole)

    if program.wording.gather_dims_one_by_one or len(per_dim) < 2:
        return one_by_one
    return at_once


def all_slice(program: WholeProgram, op: sdy.AllSliceOp) -> Rewrite:
    """Each device takes its part; nothing is sent."""
    _, mesh = _out(program, op)
    axes = op.slicing_axes.data
    local = program.local_tensor(op.result, op)
    shape = local.get_shape()
    return lambda emit: emit.shard_of(op.tensor, mesh, axes, shape)


def _require_parts(
    program: WholeProgram, op: sdy.CollectiveOp, mesh: Mesh, axes: Axes
) -> None:
    """Hold what is summed to be parts; of an argument nobody knows.

    Raises:
        UnsupportedError: every device has the whole.
    """
    sharding = sdy.get_sharding(op.tensor)
    open_ = () if sharding is None else sharding.unreduced
    if (
        isinstance(op.tensor, OpResult)
        and op not in program.combiners
        and subtract(without_trivial(axes, mesh), open_, mesh)
    ):
        raise UnsupportedError(
            "the op before it leaves no partial results, so that summing would count "
            "the whole several times",
            op,
        )


def all_reduce(program: WholeProgram, op: sdy.AllReduceOp) -> Rewrite:
    """Combined as the op in front of it computes."""
    ref, mesh = _out(program, op)
    _require_parts(program, op, mesh, op.reduction_axes.data)
    groups = program.groups(ref, mesh, op.reduction_axes.data)
    return lambda emit: emit.all_reduce(op.tensor, groups, program.combiner(op))


def reduce_scatter(program: WholeProgram, op: sdy.ReduceScatterOp) -> Rewrite:
    """Of several dimensions: all parts and then one's own, or with parts in front."""
    ref, mesh = _out(program, op)
    axes_per_dim = op.reduce_scatter_axes.data
    counts = {
        dim: total_size(axes, mesh) for dim, axes in enumerate(axes_per_dim) if axes
    }
    _require_parts(program, op, mesh, _joined(axes_per_dim))
    groups = program.groups(ref, mesh, _joined(axes_per_dim))
    local = program.local_tensor(op.result, op)
    shape = local.get_shape()

    def of_one_dim(emit: LiteralEmitter) -> SSAValue:
        ((dim, count),) = counts.items()
        combine = program.combiner(op)
        return emit.reduce_scatter(op.tensor, dim, groups, count, combine)

    def with_parts_in_front(emit: LiteralEmitter) -> SSAValue:
        value = _parts_in_front(emit, op.tensor, counts)
        value = emit.reshape(value, (prod(counts.values()), *shape))
        combine, count = program.combiner(op), prod(counts.values())
        value = emit.reduce_scatter(value, 0, groups, count, combine)
        return emit.reshape(value, shape)

    def all_and_then_own(emit: LiteralEmitter) -> SSAValue:
        value = emit.all_reduce(op.tensor, groups, program.combiner(op))
        return emit.shard_of(value, mesh, axes_per_dim, shape)

    if not counts:
        return lambda emit: op.tensor
    if len(counts) == 1:
        return of_one_dim
    if program.wording.scatter_dims_at_once:
        return with_parts_in_front
    return all_and_then_own


def _parts_in_front(
    emit: LiteralEmitter, value: SSAValue, counts: dict[int, int]
) -> SSAValue:
    """Dimensions split into parts, the numbers of the parts before all dimensions."""
    shape: list[int] = []
    parts: list[int] = []
    for dim, size in enumerate(shape_of(value)):
        if dim in counts:
            parts.append(len(shape))
            shape += [counts[dim], size // counts[dim]]
        else:
            shape.append(size)
    rest = [at for at in range(len(shape)) if at not in parts]
    return emit.transpose(emit.reshape(value, shape), [*parts, *rest])


def all_to_all(program: WholeProgram, op: sdy.AllToAllOp) -> Rewrite:
    """Of several pairs of dimensions at once: parts in front, and back where they go."""
    ref, mesh = _out(program, op)
    params = sorted(op.params.data, key=lambda param: param.tgt_dim)
    groups = program.groups(ref, mesh, _joined([param.axes for param in params]))
    counts = {param.tgt_dim: total_size(param.axes, mesh) for param in params}
    count = prod(counts.values())
    for param in params:
        size = shape_of(op.tensor)[param.tgt_dim]
        if size % total_size(
            (*param.axes, *program.axes(op.tensor)[param.tgt_dim]), mesh
        ):
            raise UnsupportedError(
                f"dimension {param.tgt_dim} of size {size} cannot be split evenly", op
            )

    def of_one_pair(emit: LiteralEmitter) -> SSAValue:
        (param,) = params
        return emit.all_to_all(op.tensor, param.tgt_dim, param.src_dim, groups, count)

    def of_several(emit: LiteralEmitter) -> SSAValue:
        fronted = _parts_in_front(emit, op.tensor, counts)
        split = shape_of(fronted)
        value = emit.reshape(fronted, (count, *split[len(params) :]))
        value = emit.all_to_all(value, 0, 0, groups, count)
        value = emit.reshape(value, split)
        order: list[int] = []
        shape: list[int] = []
        arriving = {param.src_dim: at for at, param in enumerate(params)}
        for dim, size in enumerate(split[len(params) :]):
            if dim in arriving:
                order.append(arriving[dim])
                size *= split[arriving[dim]]
            order.append(len(params) + dim)
            shape.append(size)
        return emit.reshape(emit.transpose(value, order), shape)

    return of_one_pair if len(params) == 1 else of_several


def _places(sharding: TensorSharding, atoms: Axes) -> Axes:
    """All parts of a mesh's axes: first those that split dimensions, in their order."""
    placed = [
        atom
        for axes in sharding.axes_per_dim
        for axis in axes
        for atom in atoms
        if axis.contains(atom)
    ]
    return (*placed, *(atom for atom in atoms if atom not in placed))


def collective_permute(
    program: WholeProgram, op: sdy.CollectivePermuteOp
) -> Rewrite | None:
    """From the device that has a shard to the one that shall have it."""
    after, before = op.out_sharding.data, sdy.get_sharding(op.tensor)
    assert before is not None  # the verifier wants one
    old, new = program.mesh_of(before), program.mesh_of(after)
    if before == after:
        return lambda emit: op.tensor
    if not old.same_axes(new):
        raise UnsupportedError(
            f"shards go from mesh {old} to {new}, which has other axes", op
        )
    try:
        atoms = split_mesh_at(new, (*before.all_axes, *after.all_axes))
    except ValueError as error:
        raise UnsupportedError(
            f"shards go from {before} to {after}: {error}", op
        ) from error
    receivers = shard_index_of_device(new, _places(after, atoms))
    receiver_of = {place: device for device, place in enumerate(receivers)}
    senders = shard_index_of_device(old, _places(before, atoms))
    pairs = [
        end
        for device, place in enumerate(senders)
        for end in (device, receiver_of[place])
    ]
    type_ = TensorType(i64, [len(senders), 2])
    listed = DenseIntOrFPElementsAttr.from_list(type_, pairs)

    def permuted(emit: LiteralEmitter) -> SSAValue:
        properties = emit.on_channel({"source_target_pairs": listed})
        return emit.one(
            stablehlo.CollectivePermuteOp, [op.tensor], op.tensor.type, properties
        )

    return permuted


PLANNERS: dict[type[Operation], Planner] = {
    sdy.AllGatherOp: all_gather,
    sdy.AllSliceOp: all_slice,
    sdy.AllReduceOp: all_reduce,
    sdy.ReduceScatterOp: reduce_scatter,
    sdy.AllToAllOp: all_to_all,
    sdy.CollectivePermuteOp: collective_permute,
}
