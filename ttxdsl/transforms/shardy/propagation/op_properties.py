"""The properties of ops that propagation needs besides their rules."""

from functools import cache

from xdsl.dialects.builtin import ShapedType
from xdsl.ir import Operation

from ttxdsl.dialects import chlo, stablehlo
from ttxdsl.dialects.sdy import PropagationBarrierOp, ReshardOp
from ttxdsl.rules.elementwise import POINTWISE
from ttxdsl.rules.interface import ElementwiseTrait
from ttxdsl.rules.registry import is_registered_elementwise

# What MLIR's classes of the ops say, by `Elementwise` or a trait of chlo's. Ops are
# looked up by class: isinstance on classes with abstract bases is slow.
_ELEMENTWISE: frozenset[type[Operation]] = frozenset(
    (
        *POINTWISE,
        PropagationBarrierOp,
        ReshardOp,
        chlo.ConstantLikeOp,
        *(
            op_class
            for op_class in chlo.Chlo.operations
            if issubclass(
                op_class,
                chlo.ChloUnaryOp | chlo.ChloBroadcastOp | chlo.BroadcastSelectOp,
            )
        ),
    )
)


def is_elementwise(op: Operation) -> bool:
    """Whether each element of a result depends on the same elements of the operands.

    Sharding constraints, reshards and barriers count, too. A bitcast counts if it keeps
    the shape. Of ops that are not ours those count that carry an `ElementwiseTrait` or
    are registered as elementwise.
    """
    if type(op) is stablehlo.BitcastConvertOp:
        operand, result = op.operands[0].type, op.results[0].type
        return (
            isinstance(operand, ShapedType)
            and isinstance(result, ShapedType)
            and operand.get_shape() == result.get_shape()
        )
    return (
        type(op) in _ELEMENTWISE
        or is_registered_elementwise(op)
        or _has_elementwise_trait(type(op))
    )


@cache
def _has_elementwise_trait(op_class: type[Operation]) -> bool:
    return op_class.get_trait(ElementwiseTrait) is not None


def is_offload_call(op: Operation) -> bool:
    """Whether the op moves a tensor between the memories of host and device."""
    return type(op) is stablehlo.CustomCallOp and op.call_target_name.data in (
        "MoveToDevice",
        "MoveToHost",
    )
