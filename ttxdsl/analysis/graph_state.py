"""The degree to which a function is already partitioned, read from the program itself.

Source: DESIGN section 5. A stage looks at the module and never remembers what an
earlier stage did.
"""

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, OpResult

from ttxdsl.analysis.calls.function_attributes import entry_functions
from ttxdsl.dialects import sdy
from ttxdsl.ir.traversal import enclosing


def leaves_axes_free(manual: sdy.ManualComputationOp) -> bool:
    """Whether an axis of more than one device is not in `manual_axes`."""
    shardings = (*manual.in_shardings.data, *manual.out_shardings.data)
    if not shardings:
        return False  # no operands and no results: nothing that could be split
    mesh = sdy.get_mesh(manual, shardings[0])
    named = set(manual.manual_axes.data)
    return any(size > 1 and name not in named for name, size in mesh.axes)


def is_manual(op: Operation) -> bool:
    """Whether `op` is a manual computation that somebody partitioned.

    The wrapper of stage 9 has no manual axes until stage 11 and does not count.
    """
    return isinstance(op, sdy.ManualComputationOp) and bool(op.manual_axes.data)


def is_function_solved(function: FuncOp) -> bool:
    """Whether a function with a body is `SOLVED`.

    Looks no further than the first op that somebody would have to partition, which in
    a large program is the first op.
    """
    if len(function.body.blocks) != 1:
        return False
    is_solved = False
    for op in function.body.block.ops:
        match op:
            case ReturnOp():
                outside = any(
                    isinstance(value, OpResult) and not is_manual(value.op)
                    for value in op.operands
                )
                if outside:
                    return False
            case sdy.ManualComputationOp() if is_manual(op):
                if leaves_axes_free(op):
                    return False
                is_solved = True
            case _:
                return False
    return is_solved


def computes_nothing(function: FuncOp) -> bool:
    """Whether a function only ends: stage 13 leaves no computation without results."""
    first = function.body.block.first_op
    return isinstance(first, ReturnOp) and not first.operands


def computation_around(op: Operation) -> sdy.ManualComputationOp | None:
    """The innermost manual computation that an op is in."""
    return enclosing(op, sdy.ManualComputationOp)


def is_solved(module: ModuleOp) -> bool:
    """Whether every function that has a body and no caller inside is solved."""
    functions = entry_functions(module)
    return bool(functions) and all(map(is_function_solved, functions))
