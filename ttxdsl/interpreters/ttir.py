"""ttir: device ops in destination-passing style.

The destinations are ignored: a result is a new value, and what `ttir.empty` makes has
no memory.
"""

from __future__ import annotations

from typing import cast

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

from ttxdsl.dialects import ttir
from ttxdsl.interpreters.tt import RUNS, Run
from ttxdsl.interpreters.tt_mesh import MESH_RUNS

_ALL: dict[str, Run] = {**RUNS, **MESH_RUNS}


def _with_runs(functions: type[InterpreterFunctions]) -> type[InterpreterFunctions]:
    """Add an implementation for every op that the tables know."""
    for op_type in ttir.TTIR.operations:
        known = _ALL.get(op_type.name.removeprefix("ttir."))
        if known is None:
            continue
        inputs_only = issubclass(op_type, ttir.DPSOp)

        def run(
            self: InterpreterFunctions,
            interpreter: Interpreter,
            op: Operation,
            args: PythonValues,
            known: Run = known,
            inputs_only: bool = inputs_only,
        ) -> PythonValues:
            if inputs_only:
                args = args[: len(cast(ttir.DPSOp, op).dps_inputs)]
            return known(interpreter, op, args)

        setattr(functions, f"run {op_type.name}", impl(op_type)(run))
    return functions


@register_impls
@_with_runs
class TTIRFunctions(InterpreterFunctions):
    """Every op by the shared tables, and the terminator."""

    @impl_terminator(ttir.YieldOp)
    def run_yield(
        self, interpreter: Interpreter, op: ttir.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        """Hand the operands back."""
        return ReturnedValues(args), ()
