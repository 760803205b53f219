"""func: functions, calls and returns.

Unlike xDSL's own implementation of the dialect this one frees values after their last
use and checks every result against its type (see `regions.run_region`).
"""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_callable,
    impl_terminator,
    register_impls,
)

from ttxdsl.interpreters.regions import find_symbol, run_region


@register_impls
class FuncFunctions(InterpreterFunctions):
    """Functions are regions run on their arguments; a call looks its callee up."""

    @impl_terminator(func.ReturnOp)
    def run_return(
        self, interpreter: Interpreter, op: func.ReturnOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        """Hand the operands back."""
        return ReturnedValues(args), ()

    @impl(func.CallOp)
    def run_call(
        self, interpreter: Interpreter, op: func.CallOp, args: PythonValues
    ) -> PythonValues:
        """Run the callee."""
        callee = find_symbol(interpreter, op.callee.string_value())
        return interpreter.call_op(callee, args)

    @impl_callable(func.FuncOp)
    def call_func(
        self, interpreter: Interpreter, op: func.FuncOp, args: PythonValues
    ) -> PythonValues:
        """Run the body, or what is registered for an external function."""
        if op.is_declaration:
            return interpreter.call_external(op.sym_name.data, op, args)
        return run_region(interpreter, op.body, args, op.sym_name.data)
