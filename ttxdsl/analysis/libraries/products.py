"""Products and gathers with the dimensions of their operands in the order of libraries.

XLA for CPUs gives a product a matrix for each batch: what has several dimensions of rows, columns or
sums, or batches elsewhere than first, is transposed into another buffer (`DotDecomposer`); a
convolution reads `b01f` and `01io` and writes `b01f` (`ConvCanonicalization`). A transpose of rows
and columns alone is part of the product (`TransposeFolding`). A gather among devices puts whole parts
one behind the other, so that one along another dimension than the first is transposed afterwards.
"""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import SSAValue

from ttxdsl.analysis.libraries.builder import Builder
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.stablehlo.attributes import (
    ConvDimensionNumbersAttr,
    ConvDims,
    DotDimensionNumbersAttr,
    DotDims,
)
from ttxdsl.ir.tensors import shape_of


def ordered_dot(op: stablehlo.DotGeneralOp, builder: Builder) -> SSAValue:
    """Return a product of one matrix a batch."""
    dims = op.dot_dimension_numbers.data
    lhs, rhs = op.lhs, op.rhs
    left, right = dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions
    batches = len(dims.lhs_batching_dimensions)
    first = tuple(range(batches))
    if not (
        dims.lhs_batching_dimensions == dims.rhs_batching_dimensions == first
        and len(left) == 1
        and max(len(shape_of(lhs)), len(shape_of(rhs))) <= batches + 2
    ):
        lhs = _matrix(builder, lhs, dims.lhs_batching_dimensions, left, sums_last=True)
        rhs = _matrix(builder, rhs, dims.rhs_batching_dimensions, right)
        batches = len(shape_of(lhs)) - 2
        first = tuple(range(batches))
        left, right = (batches + 1,), (batches,)
    lhs, left = _unfolded(lhs, left, batches)
    rhs, right = _unfolded(rhs, right, batches)
    shape = [
        *shape_of(lhs)[:batches],
        *(size for at, size in enumerate(shape_of(lhs)) if at not in (*first, *left)),
        *(size for at, size in enumerate(shape_of(rhs)) if at not in (*first, *right)),
    ]
    numbers = DotDimensionNumbersAttr(DotDims(first, first, left, right))
    properties = {**op.properties, "dot_dimension_numbers": numbers}
    result = builder.insert(type(op), [lhs, rhs], properties, shape)
    return builder.reshaped(result, shape_of(op.result))


def _matrix(
    builder: Builder,
    value: SSAValue,
    batch: Sequence[int],
    summed: Sequence[int],
    *,
    sums_last: bool = False,
) -> SSAValue:
    """Return an operand as a matrix for each batch; batches of one are left out."""
    shape = shape_of(value)
    kept = [dim for dim in range(len(shape)) if dim not in (*batch, *summed)]
    parts = (kept, summed) if sums_last else (summed, kept)
    value = builder.transposed(value, [*batch, *parts[0], *parts[1]])
    sizes = [shape[dim] for dim in batch if shape[dim] != 1]
    matrix = (prod(shape[dim] for dim in part) for part in parts)
    return builder.reshaped(value, [*sizes, *matrix])


def _unfolded(
    value: SSAValue, summed: tuple[int, ...], batches: int
) -> tuple[SSAValue, tuple[int, ...]]:
    """Return what an operand's rows and columns are transposed of, and the summed dimension there."""
    if not isinstance(value.owner, stablehlo.TransposeOp):
        return value, summed
    order = value.owner.permutation.get_values()
    if tuple(order) != (*range(batches), batches + 1, batches):
        return value, summed
    return value.owner.operand, tuple(order[dim] for dim in summed)


def ordered_convolution(op: stablehlo.ConvolutionOp, builder: Builder) -> SSAValue:
    """Return a convolution with batches first and features last."""
    dims, count = op.dimension_numbers.data, len(shape_of(op.lhs))
    read = (
        dims.input_batch_dimension,
        *dims.input_spatial_dimensions,
        dims.input_feature_dimension,
    )
    kernel = (
        *dims.kernel_spatial_dimensions,
        dims.kernel_input_feature_dimension,
        dims.kernel_output_feature_dimension,
    )
    written = (
        dims.output_batch_dimension,
        *dims.output_spatial_dimensions,
        dims.output_feature_dimension,
    )
    image = 0, count - 1, tuple(range(1, count - 1))
    numbers = ConvDims(*image, count - 2, count - 1, tuple(range(count - 2)), *image)
    result = builder.insert(
        type(op),
        [builder.transposed(op.lhs, read), builder.transposed(op.rhs, kernel)],
        {**op.properties, "dimension_numbers": ConvDimensionNumbersAttr(numbers)},
        [shape_of(op.result)[dim] for dim in written],
    )
    return builder.transposed(result, [written.index(dim) for dim in range(count)])


def ordered_gather(op: stablehlo.AllGatherOp, builder: Builder) -> SSAValue | None:
    """Return a gather of whole parts, with its dimensions in their order afterwards; None: it is one."""
    dim = op.all_gather_dim.value.data
    if len(op.inputs) != 1 or prod(shape_of(op.inputs[0])[:dim]) == 1:
        return None
    part, whole = shape_of(op.inputs[0]), shape_of(op.outputs[0])
    parts = builder.insert(
        type(op),
        [builder.reshaped(op.inputs[0], (1, *part))],
        {**op.properties, "all_gather_dim": IntegerAttr(0, i64)},
        (whole[dim] // part[dim], *part),
    )
    order = [*range(1, dim + 1), 0, *range(dim + 1, len(part) + 1)]
    return builder.reshaped(builder.transposed(parts, order), whole)
