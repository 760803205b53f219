"""StableHLO ops that choose what runs, and those that only order.

Source: StableHLO specification, sections while, if, case, optimization_barrier,
after_all, async_start and async_done.
"""

import numpy as np
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation

from ttxdsl.dialects import stablehlo as hlo
from ttxdsl.interpreters.ops.control_flow import run_branches, run_while
from ttxdsl.interpreters.ops.registry import (
    implement_returns,
    implements,
)
from ttxdsl.interpreters.runtime.regions import Values, run_region


@implements(hlo.WhileOp)
def _while(interpreter: Interpreter, op: hlo.WhileOp, args: Values) -> Values:
    """The body as long as the condition holds."""
    return run_while(interpreter, op.cond, op.body, args)


@implements(hlo.IfOp)
def _if(interpreter: Interpreter, op: hlo.IfOp, args: Values) -> Values:
    """One of two branches."""
    index = np.where(np.asarray(args[0]), 0, 1)
    return run_branches(interpreter, (op.true_branch, op.false_branch), index, ())


@implements(hlo.CaseOp)
def _case(interpreter: Interpreter, op: hlo.CaseOp, args: Values) -> Values:
    """One of several branches; the last one for indices out of range."""
    return run_branches(interpreter, op.branches, np.asarray(args[0]), ())


@implements(hlo.OptimizationBarrierOp)
def _optimization_barrier(
    _: Interpreter, op: hlo.OptimizationBarrierOp, args: Values
) -> Values:
    """The operands."""
    return args


@implements(hlo.AfterAllOp, hlo.CreateTokenOp, hlo.OutfeedOp)
def _token(_: Interpreter, op: Operation, args: Values) -> Values:
    """A token: nothing. To what is fed out, nobody listens."""
    return (None,)


@implements(hlo.AsyncStartOp)
def _async_start(
    interpreter: Interpreter, op: hlo.AsyncStartOp, args: Values
) -> Values:
    """Everything is done at once; the future holds the results."""
    return (run_region(interpreter, op.body, args, "async"),)


@implements(hlo.AsyncDoneOp)
def _async_done(_: Interpreter, op: hlo.AsyncDoneOp, args: Values) -> Values:
    """What the future holds."""
    return args[0]


implement_returns(hlo.ReturnOp)
