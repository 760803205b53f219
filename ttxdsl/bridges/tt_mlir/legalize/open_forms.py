"""`open-forms`: ops that tt-mlir has, in the forms of them that it takes.

Products of complex numbers are made of those of their parts; random numbers between
bounds that are computed are numbers between 0 and 1, stretched; bits change their width
by shifts; what a convolution of
three dimensions reads beyond the borders is put there first; truth values that are
listed are bytes, for texts of them are read otherwise.
"""

from collections.abc import Sequence
from functools import partial
from itertools import filterfalse
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from ttxdsl.bridges.tt_mlir.legalize.scalar_computations import constant_number
from ttxdsl.conversion.writing import Writer, integer_width, write_instead
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.stablehlo.attributes import RngDistribution
from ttxdsl.dialects.stablehlo.windowed import padding_pairs, window_values
from ttxdsl.dialects.traits import Collective
from ttxdsl.ir.rewriting import for_each
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.transforms.partition.emitter import binary_region

_BYTE = IntegerType(8)
_SHORT = 64
"""Truth values that a text lists one by one."""


def _open_product(op: stablehlo.DotGeneralOp) -> None:
    """Write a product of complex tensors as four of real ones."""
    if isinstance(element_of(op.result), ComplexType):
        write_instead(op, partial(_product, op))


def _product(op: stablehlo.DotGeneralOp, w: Writer) -> list[SSAValue]:
    a, b = (_parts(w, operand) for operand in (op.lhs, op.rhs))
    element = _part_type(element_of(op.result))
    type_ = TensorType(element, list(shape_of(op.result)))

    def times(x: SSAValue, y: SSAValue) -> SSAValue:
        return w.one(stablehlo.DotGeneralOp, [x, y], type_, op.properties)

    real = w.subtract(times(a[0], b[0]), times(a[1], b[1]))
    imaginary = w.add(times(a[0], b[1]), times(a[1], b[0]))
    return [w.one(stablehlo.ComplexOp, [real, imaginary], op.result.type)]


def _parts(w: Writer, value: SSAValue) -> tuple[SSAValue, SSAValue]:
    if not isinstance(element_of(value), ComplexType):
        return value, w.full(0, value)
    return w.part(stablehlo.RealOp, value), w.part(stablehlo.ImagOp, value)


_BY_PARTS = (
    stablehlo.AddOp, stablehlo.SubtractOp, stablehlo.NegOp, stablehlo.SelectOp,
    stablehlo.TransposeOp, stablehlo.PadOp, stablehlo.ReverseOp,
    stablehlo.DynamicSliceOp, stablehlo.DynamicUpdateSliceOp, stablehlo.AllGatherOp,
    stablehlo.AllReduceOp, stablehlo.ReduceScatterOp, stablehlo.CollectivePermuteOp,
)  # fmt: skip
"""Ops that do to complex numbers what they do to each part, of one result.

tt-mlir takes the other ops that only move data.
"""


def _open_by_parts(op: Operation) -> None:
    """Write an op on complex numbers as one on the real parts, one on the imaginary."""
    if isinstance(element_of(op.results[0]), ComplexType):
        write_instead(op, partial(_each_part, op))


def _is_in_computation(op: Operation) -> bool:
    """Whether an op works on the scalars of another one's computation."""
    around = op.parent_op()
    return around is not None and (
        around.has_trait(Collective) or isinstance(around, _REDUCING)
    )


_REDUCING = (
    stablehlo.ReduceOp, stablehlo.ReduceWindowOp, stablehlo.ScatterOp,
    stablehlo.SelectAndScatterOp, stablehlo.SortOp, stablehlo.MapOp,
)  # fmt: skip


def _each_part(op: Operation, w: Writer) -> list[SSAValue]:
    parts = [
        (w.part(stablehlo.RealOp, operand), w.part(stablehlo.ImagOp, operand))
        if isinstance(element_of(operand), ComplexType)
        else (operand, operand)
        for operand in op.operands
    ]
    products: list[SSAValue] = []
    for which in (0, 1):
        operands = [part[which] for part in parts]
        element = _part_type(element_of(op.results[0]))
        products.append(
            w.one(
                type(op),
                operands,
                TensorType(element, list(shape_of(op.results[0]))),
                op.properties,
                [binary_region(stablehlo.AddOp, element) for _ in op.regions],
            )
        )
    return [w.one(stablehlo.ComplexOp, products, op.results[0].type)]


def _part_type(element: Attribute) -> Attribute:
    return cast("ComplexType[AnyFloat]", element).element_type


def _stretch_random(op: stablehlo.RngOp) -> None:
    """Write uniform numbers between computed bounds as those between 0 and 1, stretched."""
    uniform = op.rng_distribution.data is RngDistribution.UNIFORM
    known = [constant_number(operand) is not None for operand in (op.a, op.b)]
    if uniform and not all(known) and not isinstance(element_of(op.a), IntegerType):
        write_instead(op, partial(_stretched, op))


def _stretched(op: stablehlo.RngOp, w: Writer) -> list[SSAValue]:
    low, high = w.full(0, op.a), w.full(1, op.a)
    numbers = w.one(
        stablehlo.RngOp, [low, high, op.shape], op.result.type, op.properties
    )
    shape = shape_of(numbers)
    width = w.broadcast(w.subtract(op.b, op.a), shape)
    return [w.add(w.mul(numbers, width), w.broadcast(op.a, shape))]


def _pad_convolution(op: stablehlo.ConvolutionOp) -> None:
    """Spread and pad what a convolution of three dimensions reads before it."""
    rank = len(shape_of(op.lhs))
    spatial = op.dimension_numbers.data.input_spatial_dimensions
    if len(spatial) != 3:
        return
    low, high, spread = [0] * rank, [0] * rank, [0] * rank
    padding = padding_pairs(op.padding, len(spatial))
    dilation = window_values(op.lhs_dilation, len(spatial))
    for dim, (before, after), step in zip(spatial, padding, dilation, strict=True):
        low[dim], high[dim], spread[dim] = before, after, step - 1
    if any((*low, *high, *spread)):
        write_instead(op, partial(_padded, op, low, high, spread))


def _padded(
    op: stablehlo.ConvolutionOp,
    low: list[int],
    high: list[int],
    spread: list[int],
    w: Writer,
) -> list[SSAValue]:
    value = w.pad(op.lhs, w.number(0, element_of(op.lhs)), low, high, spread)
    left = {
        name: attribute
        for name, attribute in op.properties.items()
        if name not in ("padding", "lhs_dilation")
    }
    operands = [value, op.rhs]
    return [w.one(stablehlo.ConvolutionOp, operands, op.result.type, left)]


def _open_replica_id(op: stablehlo.ReplicaIdOp) -> None:
    """Write the number of the replica, of which there is one."""
    write_instead(op, lambda w: [w.number(0, element_of(op.result))])


def _open_truth_values(op: stablehlo.ConstantOp) -> None:
    """Write many truth values as bytes that are compared with zero."""
    dense = op.value
    if element_of(op.output) != i1 or not isinstance(dense, DenseIntOrFPElementsAttr):
        return
    shape = shape_of(op.output)
    values = dense.get_values()
    if dense.is_splat() or len(values) <= _SHORT:
        return
    numbers = [int(bool(value)) for value in values]

    def write(w: Writer) -> list[SSAValue]:
        given = w.constant(numbers, shape, _BYTE)
        return [w.test(given, "NE", 0)]

    write_instead(op, write)


def _open_bitcast(op: stablehlo.BitcastConvertOp) -> None:
    """Write bits as numbers that are narrower or wider, by shifts."""
    before, other = _width(element_of(op.operand)), _width(element_of(op.result))
    if before > other:
        write_instead(op, partial(_narrower, op, before, other))
    elif before < other:
        write_instead(op, partial(_wider, op, before, other))


def _width(element: Attribute) -> int:
    return integer_width(element) or cast(AnyFloat, element).bitwidth


def _unsigned(width: int, shape: Sequence[int]) -> TensorType[IntegerType]:
    return TensorType(IntegerType(width, Signedness.UNSIGNED), list(shape))


def _narrower(
    op: stablehlo.BitcastConvertOp, wide: int, narrow: int, w: Writer
) -> list[SSAValue]:
    shape = shape_of(op.operand)
    bits = w.one(stablehlo.BitcastConvertOp, [op.operand], _unsigned(wide, shape))
    mask = w.full((1 << narrow) - 1, bits)
    parts: list[SSAValue] = []
    for i in range(wide // narrow):
        piece = w.binary(stablehlo.ShiftRightLogicalOp, bits, w.full(i * narrow, bits))
        piece = w.convert(w.both(piece, mask), _unsigned(narrow, ()).element_type)
        parts.append(w.reshape(piece, (*shape, 1)))
    joined = w.concatenate(parts, len(shape))
    return [w.one(stablehlo.BitcastConvertOp, [joined], op.result.type)]


def _wider(
    op: stablehlo.BitcastConvertOp, narrow: int, wide: int, w: Writer
) -> list[SSAValue]:
    shape = shape_of(op.operand)
    bits = w.one(stablehlo.BitcastConvertOp, [op.operand], _unsigned(narrow, shape))
    bits = w.convert(bits, _unsigned(wide, ()).element_type)
    dim, total = len(shape) - 1, None
    for i in range(shape[-1]):
        piece = w.reshape(w.slice_dim(bits, dim, i, i + 1), shape[:-1])
        piece = w.binary(stablehlo.ShiftLeftOp, piece, w.full(i * narrow, piece))
        total = piece if total is None else w.binary(stablehlo.OrOp, total, piece)
    assert total is not None
    return [w.one(stablehlo.BitcastConvertOp, [total], op.result.type)]


class OpenFormsPass(ModulePass):
    """Rewrite ops to the forms that tt-mlir takes."""

    name = "open-forms"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for_each(op, stablehlo.DotGeneralOp, _open_product)
        # a collective that is replaced takes the ops of its computation with it
        for child in [*filterfalse(_is_in_computation, ops_of_type(op, *_BY_PARTS))]:
            _open_by_parts(child)
        for_each(op, stablehlo.BitcastConvertOp, _open_bitcast)
        for_each(op, stablehlo.RngOp, _stretch_random)
        for_each(op, stablehlo.ConvolutionOp, _pad_convolution)
        for_each(op, stablehlo.ConstantOp, _open_truth_values)
        for_each(op, stablehlo.ReplicaIdOp, _open_replica_id)
