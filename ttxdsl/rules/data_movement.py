"""Sharding rules of ops that move elements and compute nothing."""

from collections.abc import Iterable, Iterator
from math import prod

from xdsl.ir import Operation, SSAValue
from xdsl.traits import ConstantLike

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.sdy import ConstantOp
from ttxdsl.ir.tensors import shape_of
from ttxdsl.rules.builder import Factor, FactorType, pointwise, resized
from ttxdsl.rules.reshape import reshape_factors
from ttxdsl.rules.table import OpRule, moded_rule, rule


def bitcast_convert(op: stablehlo.BitcastConvertOp) -> Iterator[Factor]:
    """Return a pointwise rule but for the last dimension of the narrower side.

    That dimension holds the pieces of one wide element and has no partner.
    """
    before, after = shape_of(op.operand), shape_of(op.result)
    rank = min(len(before), len(after))
    yield from pointwise(before[:rank])
    for dim in range(rank, len(before)):
        yield Factor(before[dim], (dim,), None, FactorType.NEED_REPLICATION)
    for dim in range(rank, len(after)):
        yield Factor(after[dim], None, (dim,), FactorType.NEED_REPLICATION)


def broadcast_in_dim(op: stablehlo.BroadcastInDimOp) -> Iterator[Factor]:
    """Result dimensions take the factor of the operand's that they repeat unchanged."""
    before = shape_of(op.operand)
    source = {out: dim for dim, out in enumerate(op.broadcast_dimensions.get_values())}
    for out, size in enumerate(shape_of(op.result)):
        dim = source.get(out)
        if dim is not None and before[dim] != size:
            # expanded in place: its single element is on every shard of the result
            yield Factor(1, (dim,), None)
            dim = None
        yield Factor(size, (dim,), (out,))


def _source(value: SSAValue) -> SSAValue:
    return value.owner.operand if isinstance(value.owner, stablehlo.SliceOp) else value


def rearranges_slices(op: stablehlo.ConcatenateOp) -> bool:
    """Whether the op puts slices together, as `roll` does, so that data only shifts.

    Either all operands are slices, or all are one tensor and slices of it.
    """
    sliced = [isinstance(value.owner, stablehlo.SliceOp) for value in op.inputs]
    one_source = len({_source(value) for value in op.inputs}) == 1
    return all(sliced) or (any(sliced) and one_source)


def concatenate(op: stablehlo.ConcatenateOp, conservative: bool) -> Iterator[Factor]:
    """Pointwise, with the result's size along the concatenated dimension."""
    along = op.dimension.value.data
    cost = (
        FactorType.PERMUTATION if rearranges_slices(op) else FactorType.NEED_REPLICATION
    )
    for dim, size in enumerate(shape_of(op.result)):
        if dim != along:
            yield Factor(size, dim, dim)
        elif not conservative:
            yield Factor(size, dim, dim, cost, local=False)


def dynamic_slice(op: stablehlo.DynamicSliceOp) -> Iterator[Factor]:
    """Return a pointwise rule in which sliced dimensions need replication.

    The start is known at run time only, and with it the shards that the slice reads.
    """
    return resized(op, FactorType.NEED_REPLICATION, blocked=True)


def _is_constant(value: SSAValue) -> bool:
    op = value.owner
    return isinstance(op, ConstantOp) or (
        isinstance(op, Operation)
        and op.has_trait(ConstantLike, value_if_unregistered=False)
    )


def starts_are_constant(op: stablehlo.DynamicUpdateSliceOp) -> bool:
    """Whether every start index is a constant."""
    return all(_is_constant(index) for index in op.start_indices)


def dynamic_update_slice(op: stablehlo.DynamicUpdateSliceOp) -> Iterator[Factor]:
    """Each device writes the part of the update that falls on its shard.

    So the operand can stay sharded along an updated dimension, and the update is
    replicated there, unless the indices are known when compiling.
    """
    others = (None,) * len(op.start_indices)
    cost = (
        FactorType.PASS_THROUGH
        if starts_are_constant(op)
        else FactorType.NEED_REPLICATION
    )
    shapes = zip(shape_of(op.operand), shape_of(op.update), strict=True)
    for dim, (size, new_size) in enumerate(shapes):
        if size == new_size:
            yield Factor(size, dim, dim)
        else:
            yield Factor(size, (dim, None, *others), (dim,))
            yield Factor(new_size, (None, dim, *others), None, cost, local=False)


def pad(op: stablehlo.PadOp, conservative: bool) -> Iterable[Factor]:
    """Pointwise; a padded dimension moves data between neighbours."""
    return resized(op, FactorType.PERMUTATION, blocked=conservative)


def reshape(op: stablehlo.ReshapeOp) -> Iterable[Factor] | None:
    """Compound factors; none when there are no elements to partition."""
    before, after = shape_of(op.operand), shape_of(op.result)
    return reshape_factors(before, after) if prod(before) else None


def reshape_parts(op: stablehlo.ReshapeOp) -> Iterable[Factor]:
    """As shardings travel; without elements no dimension belongs to any other."""
    return reshape(op) or ()


def reverse(op: stablehlo.ReverseOp) -> Iterable[Factor]:
    """Pointwise; a reversed dimension moves whole shards between devices."""
    reversed_dims = op.dimensions.get_values()
    return pointwise(
        shape_of(op.result),
        lambda dim: (
            FactorType.PERMUTATION if dim in reversed_dims else FactorType.PASS_THROUGH
        ),
    )


def slice_(op: stablehlo.SliceOp, conservative: bool) -> Iterable[Factor]:
    """Return a pointwise rule; static bounds let a sliced dimension stay sharded."""
    return resized(op, FactorType.PERMUTATION, blocked=conservative)


def transpose(op: stablehlo.TransposeOp) -> Iterator[Factor]:
    """Yield a factor a result dimension."""
    before = shape_of(op.operand)
    for out, dim in enumerate(op.permutation.get_values()):
        yield Factor(before[dim], (dim,), (out,))


RULES: tuple[OpRule, ...] = (
    rule(stablehlo.BitcastConvertOp, bitcast_convert),
    rule(stablehlo.BroadcastInDimOp, broadcast_in_dim),
    moded_rule(stablehlo.ConcatenateOp, concatenate, surroundings=rearranges_slices),
    rule(stablehlo.DynamicSliceOp, dynamic_slice),
    rule(
        stablehlo.DynamicUpdateSliceOp,
        dynamic_update_slice,
        surroundings=starts_are_constant,
    ),
    moded_rule(stablehlo.PadOp, pad),
    rule(stablehlo.ReshapeOp, reshape, parts=reshape_parts),
    rule(stablehlo.ReverseOp, reverse),
    moded_rule(stablehlo.SliceOp, slice_),
    rule(stablehlo.TransposeOp, transpose),
)
