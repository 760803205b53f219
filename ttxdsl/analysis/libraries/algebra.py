"""Values that a compiler makes in another way before it decides what is computed where.

So XLA's algebraic simplifier does on CPUs. What changes memory is here: a quotient by what is repeated is
a product with a reciprocal, which is made before; a scatter into zeros that is added to a value is one
into that value; a sum over dimensions of one element, a maximum with minus infinity and a transpose that
moves nothing are no ops.
"""

from math import prod

from xdsl.dialects.builtin import (
    Float32Type,
    Float64Type,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ttxdsl.analysis.libraries.builder import Builder, Note, moves_nothing
from ttxdsl.analysis.libraries.products import (
    ordered_convolution,
    ordered_dot,
    ordered_gather,
)
from ttxdsl.analysis.usage.buffers.kernels import is_added
from ttxdsl.analysis.values.intervals import is_least
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.ir.traversal import ops_of_type

_CHANGED = (
    *(stablehlo.DotGeneralOp, stablehlo.ConvolutionOp, stablehlo.AllGatherOp),
    *(stablehlo.TransposeOp, stablehlo.DivOp, stablehlo.MaxOp, stablehlo.ReduceOp),
    *(stablehlo.BroadcastInDimOp, stablehlo.AddOp),
)


def simplify(module: ModuleOp, note: Note) -> dict[SSAValue, SSAValue]:
    """Change a program in place; return what stands for values of it.

    Args:
        module: whose equal values are one where both are needed.
        note: called with each new op and the op that it is made of.
    """
    replaced: dict[SSAValue, SSAValue] = {}
    divided = set[SSAValue]()
    for op in ops_of_type(module, *_CHANGED):
        new = _changed(op, Builder(op, note), divided)
        if new is not None:
            replaced[op.results[0]] = new
            Rewriter.replace_op(op, [], [new])
    return replaced


def _changed(
    op: Operation, builder: Builder, divided: set[SSAValue]
) -> SSAValue | None:
    """Return what stands for an op's result; None if the op stays."""
    match op:
        case stablehlo.DotGeneralOp():
            return ordered_dot(op, builder)
        case stablehlo.ConvolutionOp():
            return ordered_convolution(op, builder)
        case stablehlo.AllGatherOp():
            return ordered_gather(op, builder)
        case stablehlo.TransposeOp():
            order = op.permutation.get_values()
            is_again = isinstance(op.operand.owner, stablehlo.TransposeOp)
            if is_again or moves_nothing(shape_of(op.operand), order):
                return builder.transposed(op.operand, order)
        case stablehlo.BroadcastInDimOp():
            dims = list(op.broadcast_dimensions.get_values())
            is_whole = _elements(op.operand) == _elements(op.result)
            if is_whole and dims == sorted(dims):
                return builder.reshaped(op.operand, shape_of(op.result))
        case stablehlo.ReduceOp() if len(op.results) == 1:
            if _elements(op.inputs[0]) == _elements(op.results[0]):
                return builder.reshaped(op.inputs[0], shape_of(op.results[0]))
        case stablehlo.MaxOp():
            sides = (op.lhs, op.rhs), (op.rhs, op.lhs)
            return next((value for least, value in sides if is_least(least)), None)
        case stablehlo.AddOp():
            return _scattered(op, builder)
        case stablehlo.DivOp():
            return _quotient(op, builder, divided)
        case _:
            pass
    return None


def _elements(value: SSAValue) -> int:
    return prod(shape_of(value))


def _scattered(op: stablehlo.AddOp, builder: Builder) -> SSAValue | None:
    """Return a scatter into the other summand instead of into zeros."""
    for value, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        if isinstance(value.owner, stablehlo.ScatterOp) and is_added(value.owner):
            scatter = value.owner.clone()
            scatter.operands[0] = other
            builder.put(scatter, value.owner)
            return scatter.results[0]
    return None


def _quotient(
    op: stablehlo.DivOp, builder: Builder, divided: set[SSAValue]
) -> SSAValue | None:
    """Return a quotient by what is repeated as a product with its reciprocal.

    Of several quotients by the same value the first is.

    Args:
        divided: the values by which there are such products.
    """
    repeated, shape = op.rhs.owner, shape_of(op.result)
    if not isinstance(repeated, stablehlo.BroadcastInDimOp):
        return None
    source = repeated.operand
    element = element_of(source)
    if not isinstance(element, Float32Type | Float64Type) or op.rhs in divided:
        return None
    factor = op.rhs
    if not isinstance(source.owner, stablehlo.ConstantOp):
        divided.add(op.rhs)
        ones = builder.repeated(1.0, TensorType(element, shape_of(source)))
        reciprocal = builder.insert(type(op), [ones, source], {}, shape_of(source))
        factor = builder.insert(
            type(repeated), [reciprocal], dict(repeated.properties), shape
        )
    return builder.insert(stablehlo.MulOp, [op.lhs, factor], {}, shape)
