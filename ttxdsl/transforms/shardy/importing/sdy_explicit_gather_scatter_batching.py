"""`sdy-explicit-gather-scatter-batching`: use batching dimensions for counting indices.

`x[arange(n), i]` gathers with indices `[[0, i0], [1, i1], …]`: dimension 0 of `x` is a
batch dimension of the gather, but a rule cannot see that the first entries count. Here
it becomes a batching dimension of the op, and the entries are removed.

Source: Shardy's pass of that name.
"""

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import (
    BoolAttr,
    DenseIntOrFPElementsAttr,
    IntegerType,
    ModuleOp,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.dead_code_elimination import region_dce

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.stablehlo.attributes import ComparisonDirection
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.transforms.partition.emitter import Emitter
from ttxdsl.transforms.shardy.canonicalize import share_constants

# What indices count


def _everywhere(value: SSAValue) -> int | None:
    """Return the integer that all elements of a value are."""
    op = value.owner
    if isinstance(op, stablehlo.BroadcastInDimOp | stablehlo.ReshapeOp):
        return _everywhere(op.operand)
    if not isinstance(op, stablehlo.ConstantOp | sdy.ConstantOp):
        return None
    dense = op.value
    if not isinstance(dense, DenseIntOrFPElementsAttr) or not dense.is_splat():
        return None
    number = dense.get_values()[0]
    return number if isinstance(number, int) else None


def _is_always(predicate: SSAValue, wanted: bool) -> bool:
    """Whether a comparison of row numbers with a constant is the same in every row."""
    op = predicate.owner
    if not isinstance(op, stablehlo.CompareOp) or not counts_rows(op.lhs):
        return False
    bound = _everywhere(op.rhs)
    never_less = bound is not None and bound <= 0
    match op.comparison_direction.data:
        case ComparisonDirection.LT:
            return never_less and not wanted
        case ComparisonDirection.GE:
            return never_less and wanted
        case _:
            return False


def counts_rows(value: SSAValue) -> bool:
    """Whether each element is certainly its index along dimension 0.

    Shardy's pass looks for an iota behind the same ops, but not at what these do to it.
    """
    shape, element = shape_of(value), element_of(value)
    if not shape or not isinstance(element, IntegerType):
        return False
    op = value.owner
    match op:
        case stablehlo.IotaOp():
            fits = shape[0] <= 2 ** (element.bitwidth - 1)
            return op.iota_dimension.value.data == 0 and fits
        case stablehlo.BroadcastInDimOp():
            first = (0, *op.broadcast_dimensions.get_values())[1:2] == (0,)
            return first and _same_rows(op.operand, shape)
        case stablehlo.ReshapeOp():
            return _same_rows(op.operand, shape)
        case stablehlo.ClampOp():
            low, high = _everywhere(op.min), _everywhere(op.max)
            if low is None or low > 0 or high is None or high < shape[0] - 1:
                return False
            return counts_rows(op.operand)
        case stablehlo.SelectOp():
            if isinstance(op.on_false.owner, stablehlo.IotaOp):
                chosen, other, taken = op.on_false, op.on_true, False
            else:
                chosen, other, taken = op.on_true, op.on_false, True
            return counts_rows(chosen) and (
                _is_always(op.pred, taken) or counts_rows(other)
            )
        case _:
            return False


def _same_rows(operand: SSAValue, shape: Sequence[int]) -> bool:
    return shape_of(operand)[:1] == tuple(shape[:1]) and counts_rows(operand)


def _entry_counts_rows(indices: SSAValue, dim: int, entry: int) -> bool:
    """Whether one entry of each index vector is the vector's place along dimension 0."""
    join = indices.owner
    if not isinstance(join, stablehlo.ConcatenateOp):
        return counts_rows(indices)
    if join.dimension.value.data != dim or entry >= len(join.inputs):
        return False
    singles = all(shape_of(input)[dim] == 1 for input in join.inputs[:entry])
    return singles and counts_rows(join.inputs[entry])


# Indices without that entry


def _without_entry(
    indices: SSAValue, dim: int, entry: int, user: Operation
) -> SSAValue:
    """Return the index vectors without one of their entries, made before `user`."""
    emitter = Emitter(Block(), user.location)
    join, total = indices.owner, shape_of(indices)[dim]
    if (
        isinstance(join, stablehlo.ConcatenateOp)
        and join.dimension.value.data == dim
        and len(join.inputs) == total
    ):
        parts = [*join.inputs[:entry], *join.inputs[entry + 1 :]]
    else:
        bounds = ((0, entry), (entry + 1, total))
        parts = [
            emitter.slice_dim(indices, dim, start, stop)
            for start, stop in bounds
            if start < stop
        ]
    rest = emitter.concatenate(parts, dim)
    Rewriter.inline_block(emitter.block, InsertPoint.before(user))
    return rest


# Gathers and scatters


def _say_defaults(op: Operation, *names: str) -> None:
    """Write the default properties of an op explicitly, as Shardy's pass does."""
    for name in names:
        op.properties.setdefault(name, BoolAttr.from_bool(False))


def _batch_entry(
    operand: SSAValue,
    indices: SSAValue,
    dim: int,
    positions: Sequence[int],
    dropped: Sequence[int],
) -> int | None:
    """Return the entry of index vectors that counts through dimension 0 of the operand."""
    shape, counted = shape_of(operand), shape_of(indices)
    if not shape or not 0 < dim < len(counted) or 0 not in positions:
        return None
    if 0 not in dropped or counted[dim] < 2 or counted[0] != shape[0] or shape[0] < 0:
        return None
    entry = positions.index(0)
    return entry if _entry_counts_rows(indices, dim, entry) else None


def _without(dims: Sequence[int], dim: int) -> tuple[int, ...]:
    return tuple(other for other in dims if other != dim)


def _batch_gather(op: stablehlo.GatherOp) -> None:
    dims = op.dimension_numbers.data
    if dims.operand_batching_dims:
        return
    entry = _batch_entry(
        op.operand,
        op.start_indices,
        dims.index_vector_dim,
        dims.start_index_map,
        dims.collapsed_slice_dims,
    )
    if entry is None:
        return
    op.operands[1] = _without_entry(op.start_indices, dims.index_vector_dim, entry, op)
    op.dimension_numbers = stablehlo.GatherDimensionNumbersAttr(
        dims._replace(
            collapsed_slice_dims=_without(dims.collapsed_slice_dims, 0),
            operand_batching_dims=(0,),
            start_indices_batching_dims=(0,),
            start_index_map=_without(dims.start_index_map, 0),
        )
    )
    _say_defaults(op, "indices_are_sorted")


def _batch_scatter(op: stablehlo.ScatterOp) -> None:
    dims = op.scatter_dimension_numbers.data
    if dims.input_batching_dims:
        return
    entry = _batch_entry(
        op.inputs[0],
        op.scatter_indices,
        dims.index_vector_dim,
        dims.scatter_dims_to_operand_dims,
        dims.inserted_window_dims,
    )
    if entry is None:
        return
    op.operands[len(op.inputs)] = _without_entry(
        op.scatter_indices, dims.index_vector_dim, entry, op
    )
    op.scatter_dimension_numbers = stablehlo.ScatterDimensionNumbersAttr(
        dims._replace(
            inserted_window_dims=_without(dims.inserted_window_dims, 0),
            input_batching_dims=(0,),
            scatter_indices_batching_dims=(0,),
            scatter_dims_to_operand_dims=_without(dims.scatter_dims_to_operand_dims, 0),
        )
    )
    _say_defaults(op, "indices_are_sorted", "unique_indices")


class ExplicitGatherScatterBatchingPass(ModulePass):
    """Add the batching dimension that indices count through to gathers and scatters.

    Only dimension 0 of operand and indices is considered. Dead ops are erased, and
    equal constants of a function merged.
    """

    name = "sdy-explicit-gather-scatter-batching"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        share_constants(op)
        for inner in ops_of_type(op, stablehlo.GatherOp, stablehlo.ScatterOp):
            if isinstance(inner, stablehlo.GatherOp):
                _batch_gather(inner)
            else:
                _batch_scatter(inner)
        for function in ops_of_type(op, FuncOp):
            if not function.is_declaration:
                region_dce(function.body)
