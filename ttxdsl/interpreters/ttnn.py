"""ttnn: library calls on a device handle.

A handle is nothing to the simulation: which mesh an op works on is in the types.
"""

from __future__ import annotations

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
from xdsl.ir import Operation

from ttxdsl.dialects import ttnn
from ttxdsl.interpreters.tt import RUNS, Run
from ttxdsl.interpreters.tt_mesh import MESH_RUNS

_ALL: dict[str, Run] = {**RUNS, **MESH_RUNS}


def _mnemonic(op_type: type[Operation]) -> str:
    """The name in the shared tables, which is ttir's."""
    if issubclass(op_type, ttnn.ElementwiseOp):
        return op_type.SPEC.ttir
    return op_type.name.removeprefix("ttnn.")


def _with_runs(functions: type[InterpreterFunctions]) -> type[InterpreterFunctions]:
    """Add an implementation for every op that the tables know."""
    for op_type in ttnn.TTNN.operations:
        known = _ALL.get(_mnemonic(op_type))
        if known is None:
            continue

        def run(
            self: InterpreterFunctions,
            interpreter: Interpreter,
            op: Operation,
            args: PythonValues,
            known: Run = known,
        ) -> PythonValues:
            inputs = tuple(
                value
                for value, operand in zip(args, op.operands, strict=True)
                if not isinstance(operand.type, ttnn.DeviceType)
            )
            return known(interpreter, op, inputs)

        setattr(functions, f"run {op_type.name}", impl(op_type)(run))
    return functions


@register_impls
@_with_runs
class TTNNFunctions(InterpreterFunctions):
    """Every op by the shared tables, handles, and the terminator."""

    @impl(ttnn.GetDeviceOp)
    def run_get_device(
        self, interpreter: Interpreter, op: ttnn.GetDeviceOp, args: PythonValues
    ) -> PythonValues:
        """A handle: nothing."""
        return (None,)

    @impl_terminator(ttnn.YieldOp)
    def run_yield(
        self, interpreter: Interpreter, op: ttnn.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        """Hand the operands back."""
        return ReturnedValues(args), ()
