"""StableHLO ops that read at computed indices, and random numbers.

Source: StableHLO specification, one section an op.
"""

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import stablehlo as hlo
from ttxdsl.dialects.stablehlo.attributes import GatherDims
from ttxdsl.interpreters.kernels import indexing, random
from ttxdsl.interpreters.kernels.elements import rank_of, tensor_of
from ttxdsl.interpreters.kernels.elementwise import Array
from ttxdsl.interpreters.ops.registry import computes
from ttxdsl.interpreters.ops.stablehlo.data_movement import shape_value

_FILL_OUT_OF_BOUNDS = "tt.fill_out_of_bounds"
"""Attribute of a gather from an operand that tt-mlir split: each device has some rows.
"""


@computes(hlo.GatherOp)
def _gather(op: hlo.GatherOp, x: Array, indices: Array) -> Array:
    """Slices at indices, which are clamped; where tt-mlir marks it, zeros outside."""
    ranks = (rank_of(op.operand.type), rank_of(op.start_indices.type))
    sizes, dims = op.slice_sizes.get_values(), op.dimension_numbers.data
    if any(sizes[dim] == 0 for dim in dims.collapsed_slice_dims):
        raise UnsupportedError("a slice of no elements leaves nothing to take", op)
    zeros = _FILL_OUT_OF_BOUNDS in op.attributes
    return indexing.gather(x, indices, ranks, dims, sizes, outside_is_zero=zeros)


@computes(hlo.DynamicGatherOp)
def _dynamic_gather(
    op: hlo.DynamicGatherOp, x: Array, indices: Array, sizes: Array
) -> Array:
    ranks = (rank_of(op.operand.type), rank_of(op.start_indices.type))
    dims = op.dimension_numbers.data
    return indexing.gather(x, indices, ranks, dims, shape_value(sizes, op))


@computes(hlo.TorchIndexSelectOp)
def _torch_index_select(op: hlo.TorchIndexSelectOp, x: Array, indices: Array) -> Array:
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
    return indexing.gather(x, indices, ranks, dims, sizes)


@computes(hlo.RngBitGeneratorOp)
def _rng_bit_generator(op: hlo.RngBitGeneratorOp, state: Array) -> tuple[Array, Array]:
    """Random bits and the next state, by the algorithm asked for."""
    shape, dtype = tensor_of(op.output.type)
    return random.bit_generator(op.rng_algorithm.data.value, state, shape, dtype)


@computes(hlo.RngOp)
def _rng(op: hlo.RngOp, low: Array, high: Array, shape: Array) -> Array:
    """Numbers of a distribution, the same in every run."""
    dtype = tensor_of(op.result.type)[1]
    kind = op.rng_distribution.data.value
    return random.distribution(kind, low, high, shape_value(shape, op), dtype)
