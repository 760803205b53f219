"""Calls of what is defined elsewhere, tuples and tokens, on arrays.

Source: StableHLO specification, one section an op.
"""

from __future__ import annotations

from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    register_impls,
)

from ttxdsl.dialects import stablehlo
from ttxdsl.errors import UnsupportedError
from ttxdsl.interpreters.custom_calls import CUSTOM_CALLS
from ttxdsl.interpreters.regions import find_symbol


@register_impls
class CallFunctions(InterpreterFunctions):
    """What calls, bundles and orders."""

    @impl(stablehlo.CompositeOp)
    def run_composite(
        self, interpreter: Interpreter, op: stablehlo.CompositeOp, args: PythonValues
    ) -> PythonValues:
        """Its decomposition."""
        callee = find_symbol(interpreter, op.decomposition.string_value())
        return interpreter.call_op(callee, args)

    @impl(stablehlo.CustomCallOp)
    def run_custom_call(
        self, interpreter: Interpreter, op: stablehlo.CustomCallOp, args: PythonValues
    ) -> PythonValues:
        """What is known under the target's name.

        Raises:
            UnsupportedError: nothing is.
        """
        target = op.call_target_name.data
        if (known := CUSTOM_CALLS.get(target)) is not None:
            return known(interpreter, op, args)
        raise UnsupportedError(
            f"no implementation of custom call @{target}",
            op,
            hint="add one to ttxdsl.interpreters.custom_calls.CUSTOM_CALLS: a function "
            "of (interpreter, op, values) that returns the results",
        )

    @impl(stablehlo.TupleOp)
    def run_tuple(
        self, interpreter: Interpreter, op: stablehlo.TupleOp, args: PythonValues
    ) -> PythonValues:
        """A Python tuple."""
        return (args,)

    @impl(stablehlo.GetTupleElementOp)
    def run_get_tuple_element(
        self,
        interpreter: Interpreter,
        op: stablehlo.GetTupleElementOp,
        args: PythonValues,
    ) -> PythonValues:
        """One of a tuple."""
        return (args[0][op.index.value.data],)

    @impl(stablehlo.CreateTokenOp)
    def run_create_token(
        self, interpreter: Interpreter, op: stablehlo.CreateTokenOp, args: PythonValues
    ) -> PythonValues:
        """A token: nothing."""
        return (None,)
