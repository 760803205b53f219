"""StableHLO ops that choose what runs, that only order, and calls of custom functions.

Source: StableHLO specification, one section an op.
"""

import numpy as np
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import stablehlo as hlo
from ttxdsl.interpreters.ops.control_flow import run_branches, run_while
from ttxdsl.interpreters.ops.custom_calls import CUSTOM_CALLS
from ttxdsl.interpreters.ops.registry import implement_returns, implements
from ttxdsl.interpreters.runtime.regions import Values, run_region


@implements(hlo.WhileOp)
def _while(interpreter: Interpreter, op: hlo.WhileOp, args: Values) -> Values:
    return run_while(interpreter, op.cond, op.body, args)


@implements(hlo.IfOp)
def _if(interpreter: Interpreter, op: hlo.IfOp, args: Values) -> Values:
    index = np.where(np.asarray(args[0]), 0, 1)
    return run_branches(interpreter, (op.true_branch, op.false_branch), index, ())


@implements(hlo.CaseOp)
def _case(interpreter: Interpreter, op: hlo.CaseOp, args: Values) -> Values:
    return run_branches(interpreter, op.branches, np.asarray(args[0]), ())


@implements(hlo.OptimizationBarrierOp)
def _barrier(_: Interpreter, op: hlo.OptimizationBarrierOp, args: Values) -> Values:
    return args


@implements(hlo.AfterAllOp, hlo.CreateTokenOp, hlo.OutfeedOp)
def _token(_: Interpreter, op: Operation, args: Values) -> Values:
    """A token has no value. Outfeed values are discarded."""
    return (None,)


@implements(hlo.AsyncStartOp)
def _async_start(
    interpreter: Interpreter, op: hlo.AsyncStartOp, args: Values
) -> Values:
    """The body runs at once; the future holds its results."""
    return (run_region(interpreter, op.body, args, "async"),)


@implements(hlo.AsyncDoneOp)
def _async_done(_: Interpreter, op: hlo.AsyncDoneOp, args: Values) -> Values:
    return args[0]


@implements(hlo.TupleOp)
def _tuple(_: Interpreter, op: hlo.TupleOp, args: Values) -> Values:
    """Return a Python tuple."""
    return (args,)


@implements(hlo.GetTupleElementOp)
def _tuple_element(_: Interpreter, op: hlo.GetTupleElementOp, args: Values) -> Values:
    return (args[0][op.index.value.data],)


@implements(hlo.CustomCallOp)
def _custom_call(
    interpreter: Interpreter, op: hlo.CustomCallOp, args: Values
) -> Values:
    target = op.call_target_name.data
    if (implementation := CUSTOM_CALLS.get(target)) is not None:
        return implementation(interpreter, op, args)
    raise UnsupportedError(
        f"no implementation of custom call @{target}",
        op,
        hint="add one to ttxdsl.interpreters.ops.custom_calls.CUSTOM_CALLS: a function "
        "of (interpreter, op, values) that returns the results",
    )


implement_returns(hlo.ReturnOp)
