"""ttir and ttnn: every op by the tables of their declarations.

The destinations of ttir are ignored: a result is a new value, and what `ttir.empty`
makes has no memory. A device handle of ttnn is nothing to the simulation: which mesh an
op works on is in the types.
"""

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.interpreter import Interpreter

from ttxdsl.dialects import ttnn
from ttxdsl.dialects._tt.control_flow import Yield
from ttxdsl.dialects._tt.op import TTOp
from ttxdsl.dialects.ttir import TODAY_OPS, TTIR
from ttxdsl.interpreters.kernels.elementwise import Array, Kernel
from ttxdsl.interpreters.ops.registry import (
    Run,
    implement_returns,
    implements,
    prepares,
)
from ttxdsl.interpreters.ops.tt.compiled import PREPARES
from ttxdsl.interpreters.ops.tt.device import RUNS
from ttxdsl.interpreters.ops.tt.mesh import COMBINING, MESH_RUNS
from ttxdsl.interpreters.ops.tt.tt_mlir_ops import TTIR_REPEAT
from ttxdsl.interpreters.runtime.compiled_op import Prepared
from ttxdsl.interpreters.runtime.regions import Values


def _on_inputs(known: Run) -> Run:
    def run(at: Interpreter, op: TTOp, args: Values) -> Values:
        return known(at, op, args[: len(op.reads)])

    return run


def _of_inputs(
    prepare: Callable[[Any], Kernel | Prepared],
) -> Callable[[TTOp], Prepared]:
    def prepared(op: TTOp) -> Prepared:
        found = prepare(op)
        how = found if isinstance(found, Prepared) else Prepared(found)
        kernel, into, count = how.kernel, how.into, len(op.reads)
        if count == len(op.operands):
            return how

        def run(*args: Array) -> Array:
            return kernel(*args[:count])

        def run_into(room: Sequence[Array], *args: Array) -> Array | None:
            return None if into is None else into(room, *args[:count])

        return Prepared(run, into and run_into)

    return prepared


def _implement() -> None:
    known = {**RUNS, **MESH_RUNS}
    for op_class in (*TTIR.operations, *ttnn.TTNN.operations):
        if issubclass(op_class, Yield):
            implement_returns(op_class)
        elif (prepare := PREPARES.get(op_class.mnemonic())) is not None:
            prepares(op_class)(_of_inputs(prepare))
        elif (run := known.get(name := op_class.mnemonic())) is not None:
            implements(op_class, combines=name in COMBINING)(_on_inputs(run))


@implements(ttnn.GetDeviceOp)
def _get_device(_: Interpreter, op: ttnn.GetDeviceOp, args: Values) -> Values:
    """A handle: nothing."""
    return (None,)


_implement()
implements(TODAY_OPS["repeat"])(TTIR_REPEAT)
