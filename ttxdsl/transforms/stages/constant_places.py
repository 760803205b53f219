"""`constant-places`: make static what starts at constant indices.

Data at computed places is gathered where it is split; what crosses shards at a constant
place is known. `x.at[1:].set(u)` is a scatter at a constant index, `jnp.take(x, 3)` a
gather. Before shardings propagate,

| op, its places constant | becomes |
|---|---|
| dynamic_slice | slice |
| gather of one index | slice, reshape |
| scatter of one index | dynamic_update_slice of the old window combined with the update |
| dynamic_update_slice | itself, starting at constants |
| dynamic_update_slice of the whole | the update |

**Why it is right.** Dynamic slices, updates and gathers clamp their starts, as the
constants are here; along a dimension that is taken whole every start is clamped to 0. A
scatter drops a window that is not inside: such stay scatters.
"""

from collections.abc import Sequence
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType, ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.calls.trip_counts import TripCounts
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.sdy import SHARDING_RULE, get_sharding
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.transforms.partition.emitter import Emitter
from ttxdsl.transforms.partition.exchange.combiner import combiner_of

_PLACED = (
    stablehlo.DynamicSliceOp,
    stablehlo.DynamicUpdateSliceOp,
    stablehlo.GatherOp,
    stablehlo.ScatterOp,
)


class ConstantPlacesPass(ModulePass):
    """Make dynamic slices and updates static where their starts are constants."""

    name = "constant-places"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        placed = [
            placed_op
            for placed_op in ops_of_type(op, *_PLACED)
            if len(placed_op.results) == 1 and SHARDING_RULE not in placed_op.attributes
        ]
        if not placed:
            return
        counts = TripCounts(op)
        for placed_op in placed:
            emit = Emitter(Block(), placed_op.location)
            value = _static(counts, emit, placed_op)
            (result,) = placed_op.results
            if value is None or value.type != result.type:
                continue
            if value in placed_op.operands:
                if get_sharding(result) is not None:
                    continue  # which it does not have
            else:
                constant = cast(Operation, value.owner)
                constant.attributes.update(placed_op.attributes)
                value.name_hint = result.name_hint
            Rewriter.inline_block(emit.block, InsertPoint.before(placed_op))
            Rewriter.replace_op(placed_op, [], [value])


def _static(counts: TripCounts, emit: Emitter, op: Operation) -> SSAValue | None:
    """Write an op without computed indices; None if some are not constant."""
    match op:
        case stablehlo.DynamicSliceOp():
            sizes = shape_of(op.result)
            starts = _clamped(counts, op.start_indices, shape_of(op.operand), sizes)
            return None if starts is None else _sliced(emit, op.operand, starts, sizes)
        case stablehlo.DynamicUpdateSliceOp():
            sizes = shape_of(op.update)
            starts = _clamped(counts, op.start_indices, shape_of(op.operand), sizes)
            if sizes == shape_of(op.operand):
                return op.update
            constant = (
                isinstance(start_index.owner, stablehlo.ConstantOp)
                for start_index in op.start_indices
            )
            if starts is None or all(constant):
                return None
            return _updated(emit, op.operand, op.update, starts)
        case stablehlo.GatherOp():
            return _gathered(counts, emit, op)
        case stablehlo.ScatterOp():
            return _scattered(counts, emit, op)
        case _:
            return None


def _clamped(
    counts: TripCounts,
    starts: Sequence[SSAValue],
    shape: Sequence[int],
    sizes: Sequence[int],
) -> list[int] | None:
    numbers: list[int] = []
    for start, whole, size in zip(starts, shape, sizes, strict=True):
        number = 0 if whole == size else counts.constant(start)
        if number is None:
            return None
        numbers.append(min(max(number, 0), whole - size))
    return numbers


def _sliced(
    emit: Emitter, value: SSAValue, starts: Sequence[int], sizes: Sequence[int]
) -> SSAValue:
    limits = [start + size for start, size in zip(starts, sizes, strict=True)]
    return emit.slice(value, starts, limits)


def _updated(
    emit: Emitter, value: SSAValue, update: SSAValue, starts: Sequence[int]
) -> SSAValue:
    positions = [emit.position(start) for start in starts]
    return emit.dynamic_update_slice(value, update, positions)


def _index(
    counts: TripCounts, indices: SSAValue, vector_dim: int, rank: int
) -> list[int] | None:
    """The components of the only index vector of a tensor, if they are constants."""
    shape = shape_of(indices)
    at = shape[vector_dim] if vector_dim < len(shape) else 1
    if at != rank or any(n != 1 for d, n in enumerate(shape) if d != vector_dim):
        return None
    owner = indices.owner
    if isinstance(owner, stablehlo.ConstantOp):
        held = owner.value
        if not isinstance(held, DenseIntOrFPElementsAttr) or not isinstance(
            element_of(indices), IntegerType
        ):
            return None
        known = [int(number) for number in held.get_values()]
        return known * rank if len(known) == 1 else known
    if isinstance(owner, stablehlo.ConcatenateOp):
        parts = [
            _index(counts, input, vector_dim, shape_of(input)[vector_dim])
            for input in owner.inputs
        ]
        return (
            [n for part in parts if part is not None for n in part]
            if (None not in parts)
            else None
        )
    number = counts.constant(indices)
    return None if number is None else [number] * rank


def _gathered(
    counts: TripCounts, emit: Emitter, op: stablehlo.GatherOp
) -> SSAValue | None:
    dims = op.dimension_numbers.data
    if dims.operand_batching_dims:
        return None
    index = _index(
        counts, op.start_indices, dims.index_vector_dim, len(dims.start_index_map)
    )
    if index is None:
        return None
    shape, sizes = shape_of(op.operand), op.slice_sizes.get_values()
    starts = [0] * len(shape)
    for dim, number in zip(dims.start_index_map, index, strict=True):
        starts[dim] = min(max(number, 0), shape[dim] - sizes[dim])
    return emit.reshape(
        _sliced(emit, op.operand, starts, sizes), shape_of(op.results[0])
    )


def _scattered(
    counts: TripCounts, emit: Emitter, op: stablehlo.ScatterOp
) -> SSAValue | None:
    dims = op.scatter_dimension_numbers.data
    if len(op.inputs) != 1 or dims.input_batching_dims:
        return None
    rank = len(dims.scatter_dims_to_operand_dims)
    index = _index(counts, op.scatter_indices, dims.index_vector_dim, rank)
    if index is None:
        return None
    (value,), (update,) = op.inputs, op.updates
    shape, windows = shape_of(value), iter(dims.update_window_dims)
    sizes = [
        1 if dim in dims.inserted_window_dims else shape_of(update)[next(windows)]
        for dim in range(len(shape))
    ]
    starts = [0] * len(shape)
    for dim, number in zip(dims.scatter_dims_to_operand_dims, index, strict=True):
        starts[dim] = number
    ranges = zip(starts, sizes, shape, strict=True)
    if any(start < 0 or start + size > whole for start, size, whole in ranges):
        return None
    region = op.update_computation
    combiner = combiner_of(region)
    if combiner is None and not _takes_update(region.block):
        return None
    window = emit.reshape(update, sizes)
    if combiner is not None:
        old = _sliced(emit, value, starts, sizes)
        window = emit.binary(combiner.op_class, old, window)
    return window if sizes == [*shape] else _updated(emit, value, window, starts)


def _takes_update(block: Block) -> bool:
    """Whether the body of a scatter answers with the update."""
    end = block.last_op
    return (
        end is not None
        and end is block.first_op
        and len(block.args) == 2
        and isinstance(end.operands[0], BlockArgument)
        and end.operands[0] is block.args[1]
    )
