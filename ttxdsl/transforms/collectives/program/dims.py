"""Which ops may run on parts of a dimension: cutting before them is cutting behind them.

For an op f and a dimension d of its result, `held_in` says which dimension of each
operand holds d. Then for every n and i, with `part` the i-th of n equal parts,

    part(f(x, y), d) = f(part(x, dims[0]), part(y, dims[1]))

where an operand without a dimension stays as it is. It follows that what a group of
devices computes of parts, put together, is what they would compute of the whole, if the
operands that stay are the same on all of them.

That is a property of the op alone: each element of the result depends on elements of the
operands at the same place along d.
"""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Operation, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.quant import scaled_dim
from ttxdsl.dialects.stablehlo.windowed import padding_pairs, window_values
from ttxdsl.ir.tensors import element_of, is_tensor, shape_of
from ttxdsl.rules.division import division
from ttxdsl.transforms.collectives.program.single_ops import is_elementwise, slice_of
from ttxdsl.transforms.partition.exchange.combiner import combiner_of

Dims = Sequence[int | None]
"""One an operand."""


def held_in(op: Operation, dim: int) -> Dims | None:
    """The dimension of each operand that holds one of the result's; None if unknown.

    Also None if quantized elements have a scale for each slice: no collective takes parts
    of those.
    """
    if len(op.results) != 1 or not is_tensor(op.results[0]):
        return None
    if any(map(_is_scaled, (*op.operands, *op.results))):
        return None
    shape = shape_of(op.results[0])
    if is_elementwise(op):
        rank = len(shape)
        return [
            dim if len(shape_of(operand)) == rank else None for operand in op.operands
        ]
    match op:
        case stablehlo.TransposeOp():
            return [op.permutation.get_values()[dim]]
        case stablehlo.BroadcastInDimOp():
            return [_broadcast(op, dim)]
        case stablehlo.ReshapeOp():
            found = _reshaped(shape_of(op.operand), shape, dim)
            return None if found is None else [found]
        case stablehlo.ReduceOp() if (
            len(op.inputs) == 1 and combiner_of(op.body) is not None
        ):
            rank = len(shape_of(op.inputs[0]))
            reduced = op.dimensions.get_values()
            return [[i for i in range(rank) if i not in reduced][dim], None]
        case stablehlo.ReduceWindowOp() if len(op.inputs) == 1 and _tiles(op, dim):
            return [dim, None]
        case stablehlo.SelectAndScatterOp() if _tiles(op, dim):
            return [dim, dim, None]
        case stablehlo.DotGeneralOp():
            return _dot(op, dim)
        case stablehlo.DotOp():
            rows = len(shape_of(op.lhs)) - 1
            return [dim, None] if dim < rows else [None, 1 + dim - rows]
        case stablehlo.ConcatenateOp() if op.dimension.value.data != dim:
            return [dim] * len(op.operands)
        case stablehlo.SliceOp() if (
            op.start_indices.get_values()[dim] == 0
            and op.strides.get_values()[dim] == 1
            and shape_of(op.operand)[dim] == shape[dim]
        ):
            return [dim]
        case stablehlo.DynamicSliceOp() if shape_of(op.operand)[dim] == shape[dim]:
            return [dim, *[None] * len(op.start_indices)]
        case stablehlo.DynamicUpdateSliceOp() if shape_of(op.update)[dim] == shape[dim]:
            return [dim, dim, *[None] * len(op.start_indices)]
        case stablehlo.PadOp() if not any(
            amounts.get_values()[dim]
            for amounts in (
                op.edge_padding_low,
                op.edge_padding_high,
                op.interior_padding,
            )
        ):
            return [dim, None]
        case stablehlo.ReverseOp() if dim not in op.dimensions.get_values():
            return [dim]
        case stablehlo.IotaOp() if op.iota_dimension.value.data != dim:
            return []
        case stablehlo.ConstantOp() if _is_splat(op):
            return []
        case stablehlo.AllReduceOp() if len(op.operands) == 1:
            return [dim]
        case stablehlo.AllGatherOp() if op.all_gather_dim.value.data != dim:
            return [dim] if len(op.operands) == 1 else None
        case stablehlo.ReduceScatterOp() if op.scatter_dimension.value.data != dim:
            return [dim] if len(op.operands) == 1 else None
        case stablehlo.ConvolutionOp() if _is_grouped(op, dim):
            return None
        case (
            stablehlo.CholeskyOp()
            | stablehlo.ConvolutionOp()
            | stablehlo.FftOp()
            | stablehlo.TriangularSolveOp()
        ):
            return _by_factor(op, dim)
        case stablehlo.CompositeOp():
            part = slice_of(op)
            return [dim] if part is not None and part[1] != dim else None
        case _:
            return None


def _is_scaled(value: SSAValue) -> bool:
    return is_tensor(value) and scaled_dim(element_of(value)) is not None


def led_to(op: Operation, index: int, dim: int) -> int | None:
    """The dimension of the result that holds a dimension of an operand."""
    if len(op.results) != 1 or not is_tensor(op.results[0]):
        return None
    for found in range(len(shape_of(op.results[0]))):
        dims = held_in(op, found)
        if dims is not None and index < len(dims) and dims[index] == dim:
            return found
    return None


def _is_splat(op: stablehlo.ConstantOp) -> bool:
    value = op.value
    return isinstance(value, DenseIntOrFPElementsAttr) and value.is_splat()


def _tiles(
    op: stablehlo.ReduceWindowOp | stablehlo.SelectAndScatterOp, dim: int
) -> bool:
    """Whether windows stand side by side and fill a dimension: none is in two parts."""
    pooled = isinstance(op, stablehlo.ReduceWindowOp)
    small, large = (op.results[0], op.inputs[0]) if pooled else (op.source, op.operand)
    rank = len(shape_of(large))
    size = window_values(op.window_dimensions, rank)[dim]
    spread = (
        window_values(some, rank)[dim]
        for some in ((op.base_dilations, op.window_dilations) if pooled else ())
    )
    return (
        size == window_values(op.window_strides, rank)[dim]
        and padding_pairs(op.padding, rank)[dim] == (0, 0)
        and shape_of(large)[dim] == size * shape_of(small)[dim]
        and all(one == 1 for one in spread)
    )


def _broadcast(op: stablehlo.BroadcastInDimOp, dim: int) -> int | None:
    dims = op.broadcast_dimensions.get_values()
    if dim not in dims:
        return None
    place = dims.index(dim)
    same = shape_of(op.operand)[place] == shape_of(op.result)[dim]
    return place if same else None


def _reshaped(before: Sequence[int], after: Sequence[int], dim: int) -> int | None:
    """The dimension that counts in the same strides from the same place.

    The parts of a dimension are ranges of the index that it and those behind it make
    together; where the dimensions ahead of it have as many elements on both sides, these
    are the same ranges for both.
    """
    if 0 in before or after[dim] == 1:
        return None
    ahead = prod(after[:dim])
    count = 1
    for place, size in enumerate(before):
        if count == ahead and size > 1:
            return place
        count *= size
    return None


def _is_grouped(op: stablehlo.ConvolutionOp, dim: int) -> bool:
    """Whether a dimension of the result has the groups, whose number the op says."""
    batch = op.dimension_numbers.data.output_batch_dimension
    groups = op.feature_group_count.value.data > 1 and dim != batch
    return groups or op.batch_group_count.value.data > 1


def _by_factor(op: Operation, dim: int) -> Dims | None:
    """By the factor of which a dimension consists, if devices share the op out along it."""
    shared = division(op)
    if shared is None:
        return None
    rule = shared.rule
    (factor, *others) = rule.results[0][dim]
    if others or factor not in shared.local or factor in rule.permutation:
        return None
    found: list[int | None] = []
    for mapping in rule.operands:
        held = [at for at, factors in enumerate(mapping) if factor in factors]
        if any(mapping[at] != (factor,) for at in held):
            return None
        found.append(held[0] if held else None)
    return found


def _dot(op: stablehlo.DotGeneralOp, dim: int) -> Dims:
    """Batch dimensions come first, then those of the left side, then the right's."""
    dims = op.dot_dimension_numbers.data
    left = dims.lhs_batching_dimensions, dims.lhs_contracting_dimensions
    right = dims.rhs_batching_dimensions, dims.rhs_contracting_dimensions
    batch = len(left[0])
    if dim < batch:
        return [left[0][dim], right[0][dim]]
    free = [
        [
            one
            for one in range(len(shape_of(side)))
            if one not in taken[0] and one not in taken[1]
        ]
        for side, taken in ((op.lhs, left), (op.rhs, right))
    ]
    place = dim - batch
    if place < len(free[0]):
        return [free[0][place], None]
    return [None, free[1][place - len(free[0])]]
