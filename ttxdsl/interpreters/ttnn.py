"""ttnn: library calls on a device handle.

A handle is nothing to the simulation: which mesh an op works on is in the types.
"""

from __future__ import annotations

from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    register_impls,
)

from ttxdsl.dialects import ttnn
from ttxdsl.interpreters.tt_ops import with_runs


@register_impls
@with_runs(ttnn.TTNNOp.OPS)
class TTNNFunctions(InterpreterFunctions):
    """Every op by the shared tables, handles, and the terminator."""

    @impl(ttnn.GetDeviceOp)
    def run_get_device(
        self, interpreter: Interpreter, op: ttnn.GetDeviceOp, args: PythonValues
    ) -> PythonValues:
        """A handle: nothing."""
        return (None,)
