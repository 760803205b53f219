"""Custom calls by target name: what the interpreter computes for them.

Add to `CUSTOM_CALLS` to teach the interpreter another target, as plug-ins do.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.diagnostics.remarks import emit_remark
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.calls.custom import (
    FIRST_BY_COMPARATOR,
    PYTHON_CALLBACKS,
    RAGGED_ALL_TO_ALL,
    first_by_comparator,
)
from ttxdsl.dialects.calls.linalg import ROUTINE_OF
from ttxdsl.dialects.calls.tenstorrent import Target
from ttxdsl.dialects.check import DEFAULT_TOLERANCE
from ttxdsl.dialects.stablehlo.types import TokenType
from ttxdsl.interpreters.kernels import elementwise, special
from ttxdsl.interpreters.kernels.elements import (
    is_complex,
    is_float,
    tensor_of,
    widened,
)
from ttxdsl.interpreters.kernels.elementwise import Array
from ttxdsl.interpreters.ops import check
from ttxdsl.interpreters.ops.bodies import sort_by
from ttxdsl.interpreters.ops.linalg_calls import linalg_call
from ttxdsl.interpreters.ops.registry import OpKernel
from ttxdsl.interpreters.ops.stablehlo.collective import ragged_all_to_all
from ttxdsl.interpreters.ops.tenstorrent_calls import tenstorrent_call
from ttxdsl.interpreters.runtime.regions import find_symbol, session

CustomCall = Callable[
    [Interpreter, stablehlo.CustomCallOp, tuple[Any, ...]], tuple[Any, ...]
]


def _computed(kernel: OpKernel) -> CustomCall:
    """Return the call that does nothing but compute; see `registry.computes`."""
    return lambda _, op, args: tuple(kernel(op, *args))


def _identity(op: stablehlo.CustomCallOp, *args: Array) -> tuple[Array, ...]:
    return args[: len(op.outputs)]


def _erf(_: stablehlo.CustomCallOp, x: Array) -> tuple[Array, ...]:
    return (widened(special.erf)(x),)


def _top_k(op: stablehlo.CustomCallOp, x: Array) -> tuple[Array, ...]:
    """Return the largest along the last dimension, and where they were."""
    (shape, _), (_, dtype) = (tensor_of(result.type) for result in op.outputs)
    return elementwise.top_k(x, shape[-1], dtype)


def _first_by_comparator(
    interpreter: Interpreter, op: stablehlo.CustomCallOp, args: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Return all of the elements that an approximation looks for: its recall is 1."""
    known = first_by_comparator(op)
    if known is None:
        raise UnsupportedError(
            f"custom call @{op.call_target_name.data} has other operands, results or"
            " computations than JAX writes",
            op,
        )
    dim, name = known
    shape = tensor_of(op.outputs[0].type)[0]
    comparator = find_symbol(interpreter, name).regions[0]
    ordered = sort_by(interpreter, comparator, args[: len(op.outputs)], len(shape), dim)
    return tuple(x.take(range(shape[dim]), dim - len(shape)) for x in ordered)


def _allocate(op: stablehlo.CustomCallOp, *_: Array) -> tuple[Array, ...]:
    """Return zeros; JAX leaves the contents of new memory open."""
    return tuple(np.zeros(*tensor_of(result.type)) for result in op.outputs)


def _check_eq(op: stablehlo.CustomCallOp, x: Array, wanted: Array) -> tuple[Array, ...]:
    if is_float(x.dtype) or is_complex(x.dtype):
        check.expect_almost_eq(op, x, wanted, DEFAULT_TOLERANCE)
    else:
        check.expect_eq(op, x, wanted)
    return tuple(np.ones(tensor_of(output.type)[0], np.bool_) for output in op.outputs)


def _expected(expect: Callable[..., None], *limits: float) -> CustomCall:
    """Return the call that holds its operands against each other."""
    return lambda _, op, args: expect(op, *args, *limits) or ()


def _python_callback(
    interpreter: Interpreter, op: stablehlo.CustomCallOp, args: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Do nothing, with a remark a run: the function is not in the program."""
    if not all(isinstance(type_, TokenType) for type_ in op.result_types):
        raise UnsupportedError(
            "calls back a Python function, which is not in the program, for its results",
            op,
            hint="leave pure_callback and io_callback out, or add an implementation of"
            f" @{op.call_target_name.data} to"
            " ttxdsl.interpreters.ops.custom_calls.CUSTOM_CALLS",
        )
    warned = session(interpreter).warned
    if op not in warned:
        warned.add(op)
        emit_remark(
            "calls back a Python function, which is not in the program: not called", op
        )
    return (None,) * len(op.outputs)


CUSTOM_CALLS: dict[str, CustomCall] = {
    # annotations of placement, layout and sharding: identities
    **dict.fromkeys(
        (
            "LayoutConstraint",
            "Sharding",
            "annotate_device_placement",
            "MoveToDevice",
            "MoveToHost",
            "tt.mark_argument",
            "tt.sharding_constraint",
            "xla.sdy.FuncResultSharding",
        ),
        _computed(_identity),
    ),
    # ops of chlo that tt-mlir takes
    "mhlo.erf": _computed(_erf),
    # JAX's
    "AllocateBuffer": _computed(_allocate),
    **dict.fromkeys(FIRST_BY_COMPARATOR, _first_by_comparator),
    "TopK": _computed(_top_k),
    "__gpu$TopK": _computed(_top_k),
    RAGGED_ALL_TO_ALL: ragged_all_to_all,
    # linear algebra
    **dict.fromkeys(ROUTINE_OF, _computed(linalg_call)),
    **dict.fromkeys(PYTHON_CALLBACKS, _python_callback),
    # tt-mlir's
    **dict.fromkeys(Target, _computed(tenstorrent_call)),
    # assertions
    "check.eq": _computed(_check_eq),
    "check.expect_almost_eq": _expected(check.expect_almost_eq, DEFAULT_TOLERANCE),
    # as a custom call it has no fields, and StableHLO's tool allows three steps
    "check.expect_close": _expected(check.expect_close, 0, 3),
    "check.expect_eq": _expected(check.expect_eq),
}
