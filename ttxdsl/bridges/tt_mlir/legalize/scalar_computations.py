"""The small computations that ops carry, read as one op or written for whole tensors."""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttxdsl.conversion.writing import Writer, integer_width
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.traits import Elementwise
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.transforms.partition.emitter import is_unsigned

_COMBINING = (
    stablehlo.AddOp, stablehlo.MulOp, stablehlo.MaxOp, stablehlo.MinOp,
    stablehlo.AndOp, stablehlo.OrOp,
)  # fmt: skip


def combining_op(block: Block, which: int = 0) -> type[Operation] | None:
    """Return the op that a computation combines its `which`-th pair of arguments by.

    None if it is none that tt-mlir reduces with, or the computation does more.
    """
    count = len(block.args) // 2
    last = block.last_op
    if last is None or len(last.operands) != count:
        return None
    combining = last.operands[which].owner
    pair = {block.args[which], block.args[count + which]}
    if isinstance(combining, _COMBINING) and set(combining.operands) == pair:
        return type(combining)
    return None


def combines_alone(block: Block) -> list[type[Operation]] | None:
    """The op of each pair of arguments, if the pairs have nothing to do with each other."""
    ops = [combining_op(block, i) for i in range(len(block.args) // 2)]
    return None if None in ops else [op for op in ops if op is not None]


def identity(op_class: type[Operation], element: Attribute) -> float | None:
    """The number that changes nothing when it is combined by an op; None if unknown."""
    if op_class is stablehlo.AddOp:
        return 0
    if op_class is stablehlo.MulOp:
        return 1
    if element == i1:
        return 1 if op_class in (stablehlo.AndOp, stablehlo.MinOp) else 0
    low, high = _range(element)
    if op_class is stablehlo.MaxOp:
        return low
    return high if op_class is stablehlo.MinOp else None


def _range(element: Attribute) -> tuple[float, float]:
    bits = integer_width(element)
    if bits is None:
        return float("-inf"), float("inf")
    if is_unsigned(element):
        return 0, (1 << bits) - 1
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def constant_number(value: SSAValue) -> float | None:
    """Return the number of a constant that holds one, of real numbers."""
    owner = value.owner
    if isinstance(owner, stablehlo.ConvertOp):
        return constant_number(owner.operand)
    if isinstance(owner, stablehlo.BroadcastInDimOp):
        return constant_number(owner.operand)
    if not isinstance(owner, stablehlo.ConstantOp):
        return None
    dense = owner.value
    if not isinstance(dense, DenseIntOrFPElementsAttr) or not dense.is_splat():
        return None
    if not isinstance(dense.get_element_type(), IntegerType | AnyFloat):
        return None
    number = dense.get_values()[0]
    return -float(number) if dense.get_element_type() == i1 and number < 0 else number


def on_tensors(
    w: Writer, block: Block, arguments: Sequence[SSAValue]
) -> list[SSAValue]:
    """Write a computation on scalars for tensors of one shape, element by element.

    Raises:
        UnsupportedError: an op in it does not work element by element.
    """
    shape = shape_of(arguments[0])
    known: dict[SSAValue, SSAValue] = dict(zip(block.args, arguments, strict=True))
    for op in block.ops:
        if op is block.last_op:
            break
        if isinstance(op, stablehlo.ConstantOp):
            scalar = op.clone()
            w.block.add_op(scalar)
            known[op.results[0]] = w.broadcast(scalar.results[0], shape)
            continue
        if not op.has_trait(Elementwise) or op.regions:
            raise UnsupportedError(
                f"its computation has {op.name}, which is not elementwise: tt-mlir"
                " reduces by few computations, and this cannot be written out",
                op,
            )
        copy = type(op).create(
            operands=[_known(w, known, operand, shape) for operand in op.operands],
            result_types=[
                TensorType(element_of(result), list(shape)) for result in op.results
            ],
            properties=op.properties,
            attributes=op.attributes,
            location=w.location,
        )
        w.block.add_op(copy)
        known.update(zip(op.results, copy.results, strict=True))
    last = block.last_op
    assert last is not None
    return [_known(w, known, operand, shape) for operand in last.operands]


def _known(
    w: Writer,
    known: dict[SSAValue, SSAValue],
    value: SSAValue,
    shape: tuple[int, ...],
) -> SSAValue:
    """The tensor for a scalar; one from around the computation is spread."""
    return known[value] if value in known else w.broadcast(value, shape)


def fold_along(
    w: Writer, block: Block, values: Sequence[SSAValue], dim: int
) -> list[SSAValue]:
    """Combine all that lies along a dimension, which has size 1 then.

    In halves, the order of elements kept: it takes as many steps as the size has bits.
    """
    values = list(values)
    size = shape_of(values[0])[dim]
    while size > 1:
        half = size // 2
        first = [w.slice_dim(value, dim, 0, 2 * half) for value in values]
        pairs = [
            _every_other(w, value, dim, start) for start in (0, 1) for value in first
        ]
        folded = on_tensors(w, block, pairs)
        if size % 2:
            rest = [w.slice_dim(value, dim, size - 1, size) for value in values]
            folded = [w.concatenate(two, dim) for two in zip(folded, rest, strict=True)]
        values, size = folded, half + size % 2
    return values


def _every_other(w: Writer, value: SSAValue, dim: int, start: int) -> SSAValue:
    shape = shape_of(value)
    starts, strides = [0] * len(shape), [1] * len(shape)
    starts[dim], strides[dim] = start, 2
    return w.slice(value, starts, list(shape), strides)
