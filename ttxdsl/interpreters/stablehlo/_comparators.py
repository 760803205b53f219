"""Which comparators of a sort compare one key.

JAX's comparators compute the same function of both elements (floats without the sign
of zero, NaNs made one) and compare the two results with LT or GT.
"""

from typing import cast

from xdsl.interpreter import Interpreter
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.interpreters.elements import is_complex, is_float, widen
from ttxdsl.interpreters.kernels import Array, total_order_key


def _same(left: SSAValue, right: SSAValue, block: Block, operand: int) -> bool:
    """Whether `left` is of the one element what `right` is of the other."""
    if isinstance(left, BlockArgument):
        return (
            left.owner is block
            and right is block.args[2 * operand + 1]
            and left is block.args[2 * operand]
        )
    one, other = cast(Operation, left.owner), right.owner
    if not isinstance(other, Operation) or one.parent is not block or one.regions:
        return False
    if other.parent is not block or type(one) is not type(other):
        return False
    return (
        one.properties == other.properties
        and one.attributes == other.attributes
        and len(one.operands) == len(other.operands)
        and list(one.result_types) == list(other.result_types)
        and left.type == right.type
        and all(
            _same(a, b, block, operand)
            for a, b in zip(one.operands, other.operands, strict=True)
        )
    )


def sort_key(
    interpreter: Interpreter, comparator: Region, arrays: tuple[Array, ...]
) -> tuple[Array, bool] | None:
    """The array to sort by and whether downwards; None for other comparators.

    Where a NaN goes that is compared with a plain LT or GT nobody says, as no order
    holds it. It is the largest of all, as in a sort of ttir, so that every form of a
    program has the same answer.
    """
    block = comparator.block
    end = block.last_op
    if end is None or len(end.operands) != 1:
        return None
    compare = end.operands[0].owner
    if not isinstance(compare, stablehlo.CompareOp):
        return None
    direction = compare.comparison_direction.data.value
    if direction not in ("LT", "GT"):
        return None
    found = next(
        (
            (i, one)
            for i in range(len(arrays))
            for one, other in (compare.operands, reversed(compare.operands))
            if _same(one, other, block, i)
        ),
        None,
    )
    if found is None:
        return None
    operand, side = found
    key = _evaluate(interpreter, side, block, arrays[operand])
    if is_complex(key.dtype):
        return None
    if is_float(key.dtype):
        kind = compare.compare_type
        if kind is not None and kind.data == "TOTALORDER":
            key = total_order_key(key)
    return widen(key), (direction == "GT") == (side is compare.lhs)


def _evaluate(
    interpreter: Interpreter, value: SSAValue, block: Block, x: Array
) -> Array:
    """`value`, computed of the elements `x`."""
    if isinstance(value, BlockArgument):
        return x
    op = cast(Operation, value.owner)
    inputs = tuple(_evaluate(interpreter, v, block, x) for v in op.operands)
    return interpreter.run_op(op, inputs)[op.results.index(value)]
