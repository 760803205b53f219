"""chlo's broadcasting ops in ttir: their StableHLO namesakes on stretched operands."""

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ttxdsl.conversion.stablehlo_to_ttir.lowering import Lowered, Lowering, Rule
from ttxdsl.conversion.stablehlo_to_ttir.ops import elementwise, extension_ops
from ttxdsl.dialects import chlo
from ttxdsl.ir.tensors import shape_of, tensor_type


def _stretched(
    low: Lowering, value: SSAValue, shape: Sequence[int], dims: Sequence[int] | None
) -> SSAValue:
    """A value in the result's shape: by dimension numbers, else aligned at the end."""
    rank = len(shape_of(value))
    if rank == len(shape):
        return low.builder.broadcast(value, shape)
    if dims is None or len(dims) != rank:
        dims = range(len(shape) - rank, len(shape))
    return low.builder.broadcast_in_dim(value, shape, dims)


def _broadcasting(name: str) -> Rule:
    """Return the op of that name on operands stretched to the result's shape."""
    tables = {**elementwise.TABLE, **extension_ops.TABLE}
    plain = tables.get(f"stablehlo.{name}") or tables[f"chlo.{name}"]

    def lower(low: Lowering, op: chlo.ChloBroadcastOp) -> Lowered:
        shape = tensor_type(op.results[0]).get_shape()
        given = op.broadcast_dimensions
        dims = None if given is None else given.get_values()
        inner = low.inside(low.builder)
        for operand in op.operands:
            inner.values[operand] = _stretched(low, low[operand], shape, dims)
        return plain(inner, op)

    return lower


def _broadcast_select(low: Lowering, op: chlo.BroadcastSelectOp) -> SSAValue:
    shape = tensor_type(op.result).get_shape()
    values = [_stretched(low, value, shape, None) for value in low.all(op.operands)]
    return low.builder.elementwise("where", *values)


TABLE: dict[str, Rule] = {
    **{
        op.name: _broadcasting(op.name.removeprefix("chlo.broadcast_"))
        for op in chlo.Chlo.operations
        if issubclass(op, chlo.ChloBroadcastOp)
    },
    "chlo.broadcast_select": _broadcast_select,
}
"""The rules of these ops, by chlo name."""
