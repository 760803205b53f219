"""func: functions, calls and returns.

Unlike xDSL's own implementation of the dialect this one frees values after their last
use and checks every result against its type (see `regions.run_region`).
"""

from xdsl.dialects import func
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    impl_callable,
    register_impls,
)

from ttxdsl.dialects import stablehlo
from ttxdsl.interpreters.ops.registry import implement_returns, implements
from ttxdsl.interpreters.runtime.regions import Values, find_symbol, run_region


@register_impls
class FuncFunctions(InterpreterFunctions):
    """The implementation of a call of a function, which is no op that is run."""

    @impl_callable(func.FuncOp)
    def call_func(
        self, interpreter: Interpreter, op: func.FuncOp, args: Values
    ) -> Values:
        """Run the body, or what is registered for an external function."""
        if op.is_declaration:
            return interpreter.call_external(op.sym_name.data, op, args)
        return run_region(interpreter, op.body, args, op.sym_name.data)


@implements(func.CallOp, stablehlo.CompositeOp)
def _call(
    interpreter: Interpreter, op: func.CallOp | stablehlo.CompositeOp, args: Values
) -> Values:
    """Run the callee; of a composite, its decomposition."""
    name = op.callee if isinstance(op, func.CallOp) else op.decomposition
    return interpreter.call_op(find_symbol(interpreter, name.string_value()), args)


implement_returns(func.ReturnOp)
