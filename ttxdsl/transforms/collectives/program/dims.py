"""The ops that may run on parts of a dimension, so that slices move ahead of them.

`held_in` says which dimension of each operand holds dimension d of the result of f.
Then for every n and i, with `part` the i-th of n equal parts,

    part(f(x, y), d) = f(part(x, dims[0]), part(y, dims[1]))

where an operand without a dimension stays as it is. The sharding rules say it
(`ttxdsl.rules.division`): d and the operands' dimensions have their major factor in
common.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.quant import scaled_dim
from ttxdsl.dialects.stablehlo.windowed import padding_pairs, window_values
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.tensors import element_of, is_tensor, shape_of
from ttxdsl.rules.division import division
from ttxdsl.transforms.collectives.program.single_ops import is_elementwise, slice_of

Dims = Sequence[int | None]
"""A dimension of each operand, None for an operand without it."""

_RESIZABLE = frozenset(
    (
        stablehlo.AllGatherOp,
        stablehlo.AllReduceOp,
        stablehlo.BroadcastInDimOp,
        stablehlo.CholeskyOp,
        stablehlo.ConcatenateOp,
        stablehlo.ConvolutionOp,
        stablehlo.DotGeneralOp,
        stablehlo.DotOp,
        stablehlo.DynamicSliceOp,
        stablehlo.DynamicUpdateSliceOp,
        stablehlo.FftOp,
        stablehlo.PadOp,
        stablehlo.ReduceOp,
        stablehlo.ReduceScatterOp,
        stablehlo.ReshapeOp,
        stablehlo.ReverseOp,
        stablehlo.SliceOp,
        stablehlo.TransposeOp,
        stablehlo.TriangularSolveOp,
    )
)
"""Ops that `DeviceProgram.copy` can write again for operands of other sizes."""

_known = IdentityMemo[tuple[Dims | None, ...]]()
_MOST_KNOWN = 1 << 14


def held_in(op: Operation, dim: int) -> Dims | None:
    """Return the dimension of each operand that holds one of the result's, if known.

    None where quantized elements have a scale for each slice: no collective takes parts
    of those.
    """
    if len(op.results) != 1 or not is_tensor(op.results[0]):
        return None
    match op:
        case stablehlo.ConstantOp():
            return [] if _is_splat(op) and not _is_scaled(op.output) else None
        case stablehlo.CompositeOp():
            part = slice_of(op)
            return [dim] if part is not None and part[1] != dim else None
        case _:
            return _dims_of_type(op)[dim]


def _is_scaled(value: SSAValue) -> bool:
    return is_tensor(value) and scaled_dim(element_of(value)) is not None


def led_to(op: Operation, index: int, dim: int) -> int | None:
    """Return the dimension of the result that holds a dimension of an operand."""
    if len(op.results) != 1 or not is_tensor(op.results[0]):
        return None
    for result_dim in range(len(shape_of(op.results[0]))):
        dims = held_in(op, result_dim)
        if dims is not None and index < len(dims) and dims[index] == dim:
            return result_dim
    return None


def _dims_of_type(op: Operation) -> tuple[Dims | None, ...]:
    """Return what `held_in` says of each dimension; ops with the same types agree."""
    things = *map(_type, op.operands), op.results[0].type, *op.properties.values()
    key = (type(op), *op.properties, *map(id, things))
    dims = _known.get(key)
    if dims is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        dims = _known.keep(key, _find_dims(op), *things)
    return dims


def _type(value: SSAValue) -> Attribute:
    return value.type


def _find_dims(op: Operation) -> tuple[Dims | None, ...]:
    shape = shape_of(op.results[0])
    nothing = (None,) * len(shape)
    if any(map(_is_scaled, (*op.operands, *op.results))):
        return nothing
    if is_elementwise(op):
        ranks = [len(shape_of(operand)) for operand in op.operands]
        return tuple(
            [dim if rank == len(shape) else None for rank in ranks]
            for dim in range(len(shape))
        )
    match op:
        case _ if type(op) in _RESIZABLE:
            return _dims_by_rule(op)
        case stablehlo.ReduceWindowOp() if len(op.inputs) == 1:
            return tuple(
                [d, None] if _tiles(op, d) else None for d in range(len(shape))
            )
        case stablehlo.SelectAndScatterOp():
            return tuple(
                [d, d, None] if _tiles(op, d) else None for d in range(len(shape))
            )
        case stablehlo.IotaOp():
            along = op.iota_dimension.value.data
            return tuple(None if dim == along else [] for dim in range(len(shape)))
        case _:
            return nothing


def _dims_by_rule(op: Operation) -> tuple[Dims | None, ...]:
    shared = division(op)
    if shared is None:
        return (None,) * len(shape_of(op.results[0]))
    rule = shared.rule
    dims: list[Dims | None] = []
    for dim, (major, *_) in enumerate(rule.results[0]):
        held = [
            next((at for at, factors in enumerate(mapping) if major in factors), None)
            for mapping in rule.operands
        ]
        is_major = all(
            at is None or mapping[at][0] == major
            for mapping, at in zip(rule.operands, held, strict=True)
        )
        # a dimension of size 1 that a reshape adds is in no operand
        is_new = isinstance(op, stablehlo.ReshapeOp) and held == [None]
        is_local = major in shared.local and major not in rule.permutation
        keeps = is_local and is_major and not is_new
        dims.append(held if keeps and not _is_sized(op, dim) else None)
    return tuple(dims)


def _is_sized(op: Operation, dim: int) -> bool:
    """Return True if an attribute of an op is made for the size of a dimension.

    The number of a convolution's groups is, and what is padded and cut off.
    """
    match op:
        case stablehlo.ConvolutionOp():
            batch = op.dimension_numbers.data.output_batch_dimension
            features = op.feature_group_count.value.data > 1 and dim != batch
            return features or op.batch_group_count.value.data > 1
        case stablehlo.PadOp():
            amounts = op.edge_padding_low, op.edge_padding_high, op.interior_padding
            return any(by.get_values()[dim] for by in amounts)
        case _:
            return False


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
        and all(size == 1 for size in spread)
    )
