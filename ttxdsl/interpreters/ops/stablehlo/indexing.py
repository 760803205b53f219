"""StableHLO ops that read at computed indices.

Source: StableHLO specification, sections gather, dynamic_gather, torch_index_select.
"""

from xdsl.interpreter import Interpreter

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import stablehlo as hlo
from ttxdsl.dialects.stablehlo.attributes import GatherDims
from ttxdsl.interpreters.kernels import indexing
from ttxdsl.interpreters.kernels.elements import rank_of, tensor_of
from ttxdsl.interpreters.ops.registry import (
    implements,
)
from ttxdsl.interpreters.ops.stablehlo.data_movement import shape_value
from ttxdsl.interpreters.runtime.regions import Values


@implements(hlo.GatherOp)
def _gather(_: Interpreter, op: hlo.GatherOp, args: Values) -> Values:
    """Slices at indices, which are clamped; where tt-mlir marks it, zeros outside."""
    ranks = (rank_of(op.operand.type), rank_of(op.start_indices.type))
    sizes = op.slice_sizes.get_values()
    x, indices = args
    dims = op.dimension_numbers.data
    if any(sizes[dim] == 0 for dim in dims.collapsed_slice_dims):
        raise UnsupportedError("a slice of no elements leaves nothing to take", op)
    zeros = _FILL_OUT_OF_BOUNDS in op.attributes
    return (indexing.gather(x, indices, ranks, dims, sizes, outside_is_zero=zeros),)


_FILL_OUT_OF_BOUNDS = "tt.fill_out_of_bounds"
"""On a gather of what tt-mlir made of a split operand: each device has some rows."""


@implements(hlo.DynamicGatherOp)
def _dynamic_gather(_: Interpreter, op: hlo.DynamicGatherOp, args: Values) -> Values:
    """The same with computed slice sizes."""
    x, indices, sizes = args
    ranks = (rank_of(op.operand.type), rank_of(op.start_indices.type))
    return (
        indexing.gather(
            x, indices, ranks, op.dimension_numbers.data, shape_value(sizes, op)
        ),
    )


@implements(hlo.TorchIndexSelectOp)
def _torch_index_select(
    _: Interpreter, op: hlo.TorchIndexSelectOp, args: Values
) -> Values:
    """Slices of one dimension, batched over the first ones."""
    shape, _dtype = tensor_of(op.operand.type)
    ranks = (len(shape), rank_of(op.index.type))
    dim, batch = op.dim.value.data, op.batch_dims.value.data
    sizes = [1 if d == dim or d < batch else n for d, n in enumerate(shape)]
    inner = ranks[1] - batch
    dims = GatherDims(
        offset_dims=(
            *range(batch, dim),
            *range(dim + inner, ranks[0] - 1 + inner),
        ),
        collapsed_slice_dims=(dim,),
        operand_batching_dims=tuple(range(batch)),
        start_indices_batching_dims=tuple(range(batch)),
        start_index_map=(dim,),
        index_vector_dim=ranks[1],
    )
    x, indices = args
    return (indexing.gather(x, indices, ranks, dims, sizes),)
