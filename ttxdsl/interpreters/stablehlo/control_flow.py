"""StableHLO ops that choose what runs, and those that only order.

Source: StableHLO specification, sections while, if, case, optimization_barrier,
after_all, async_start and async_done.
"""

from __future__ import annotations

import numpy as np
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)

from ttxdsl.dialects import stablehlo
from ttxdsl.interpreters.control_flow import run_branches, run_while
from ttxdsl.interpreters.regions import run_region


@register_impls
class ControlFlowFunctions(InterpreterFunctions):
    """Regions run as often as their conditions say."""

    @impl_terminator(stablehlo.ReturnOp)
    def run_return(
        self, interpreter: Interpreter, op: stablehlo.ReturnOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        """Hand the operands back."""
        return ReturnedValues(args), ()

    @impl(stablehlo.WhileOp)
    def run_while(
        self, interpreter: Interpreter, op: stablehlo.WhileOp, args: PythonValues
    ) -> PythonValues:
        """The body as long as the condition holds."""
        return run_while(interpreter, op.cond, op.body, args)

    @impl(stablehlo.IfOp)
    def run_if(
        self, interpreter: Interpreter, op: stablehlo.IfOp, args: PythonValues
    ) -> PythonValues:
        """One of two branches."""
        index = np.where(np.asarray(args[0]), 0, 1)
        return run_branches(interpreter, (op.true_branch, op.false_branch), index, ())

    @impl(stablehlo.CaseOp)
    def run_case(
        self, interpreter: Interpreter, op: stablehlo.CaseOp, args: PythonValues
    ) -> PythonValues:
        """One of several branches; the last one for indices out of range."""
        return run_branches(interpreter, op.branches, np.asarray(args[0]), ())

    @impl(stablehlo.OptimizationBarrierOp)
    def run_optimization_barrier(
        self,
        interpreter: Interpreter,
        op: stablehlo.OptimizationBarrierOp,
        args: PythonValues,
    ) -> PythonValues:
        """The operands."""
        return args

    @impl(stablehlo.AfterAllOp)
    def run_after_all(
        self, interpreter: Interpreter, op: stablehlo.AfterAllOp, args: PythonValues
    ) -> PythonValues:
        """A token: nothing."""
        return (None,)

    @impl(stablehlo.AsyncStartOp)
    def run_async_start(
        self, interpreter: Interpreter, op: stablehlo.AsyncStartOp, args: PythonValues
    ) -> PythonValues:
        """Everything is done at once; the future holds the results."""
        return (run_region(interpreter, op.body, args, "async"),)

    @impl(stablehlo.AsyncDoneOp)
    def run_async_done(
        self, interpreter: Interpreter, op: stablehlo.AsyncDoneOp, args: PythonValues
    ) -> PythonValues:
        """What the future holds."""
        return args[0]
