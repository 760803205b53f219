"""Calls of what is defined elsewhere, tuples and tokens, on arrays.

Source: StableHLO specification, one section an op.
"""

from xdsl.interpreter import Interpreter

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import stablehlo as hlo
from ttxdsl.interpreters.ops.custom_calls import CUSTOM_CALLS
from ttxdsl.interpreters.ops.registry import (
    implements,
)
from ttxdsl.interpreters.runtime.regions import Values


@implements(hlo.CustomCallOp)
def _custom_call(
    interpreter: Interpreter, op: hlo.CustomCallOp, args: Values
) -> Values:
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
        hint="add one to ttxdsl.interpreters.ops.custom_calls.CUSTOM_CALLS: a function "
        "of (interpreter, op, values) that returns the results",
    )


@implements(hlo.TupleOp)
def _tuple(_: Interpreter, op: hlo.TupleOp, args: Values) -> Values:
    """A Python tuple."""
    return (args,)


@implements(hlo.GetTupleElementOp)
def _get_tuple_element(
    _: Interpreter, op: hlo.GetTupleElementOp, args: Values
) -> Values:
    """One of a tuple."""
    return (args[0][op.index.value.data],)
