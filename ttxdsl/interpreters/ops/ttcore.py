"""ttcore: functions of constants, branches and loops that are functions, barriers."""

from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import Interpreter
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.dialects._tt import modules
from ttxdsl.interpreters.kernels.elements import rank_of
from ttxdsl.interpreters.ops.control_flow import run_branches, run_counted, run_while
from ttxdsl.interpreters.ops.registry import implements
from ttxdsl.interpreters.runtime.regions import Values, find_symbol


def _function(interpreter: Interpreter, symbol: Any) -> FuncOp:
    name = symbol.string_value()
    function = find_symbol(interpreter, name)
    if not isinstance(function, FuncOp) or function.is_declaration:
        raise InterpretationError(f"@{name} is no function with a body")
    return function


@implements(modules.LoadCachedOp, modules.CompositeOp)
def _call(
    interpreter: Interpreter,
    op: modules.LoadCachedOp | modules.CompositeOp,
    args: Values,
) -> Values:
    name = op.callee if isinstance(op, modules.LoadCachedOp) else op.decomposition
    return interpreter.call_op(_function(interpreter, name), args)


@implements(modules.OptimizationBarrierOp)
def _barrier(_: Interpreter, op: modules.OptimizationBarrierOp, args: Values) -> Values:
    return args


@implements(modules.CaseOp)
def _case(interpreter: Interpreter, op: modules.CaseOp, args: Values) -> Values:
    index = np.asarray(args[0])
    index = index.reshape(index.shape[: index.ndim - rank_of(op.selector.type)])
    branches = [_function(interpreter, name).body for name in op.branch_programs]
    return run_branches(interpreter, branches, index.astype(np.int64), args[1:])


@implements(modules.WhileLoopOp)
def _while_loop(
    interpreter: Interpreter, op: modules.WhileLoopOp, args: Values
) -> Values:
    """Operands that no iteration replaces are handed to both functions behind the others."""
    body = _function(interpreter, op.body_program).body
    carried = op.state_count.value.data
    iterations = op.counted()
    if iterations is not None:
        state = run_counted(
            interpreter, len(iterations), body, args[:carried], args[carried:]
        )
    else:
        assert op.condition_program is not None
        condition = _function(interpreter, op.condition_program).body
        state = run_while(interpreter, condition, body, args[:carried], args[carried:])
    every = (*state, *args[carried:])
    return tuple(every[at] for at in op.output_indices.get_values())
