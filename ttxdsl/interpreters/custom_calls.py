"""Custom calls by target name: what the interpreter computes for them.

Add to `CUSTOM_CALLS` to teach the interpreter another target, as plug-ins do.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.check import DEFAULT_TOLERANCE
from ttxdsl.dialects.linalg_calls import ROUTINE_OF
from ttxdsl.dialects.stablehlo.types import TokenType
from ttxdsl.dialects.tenstorrent_calls import Target
from ttxdsl.errors import UnsupportedError
from ttxdsl.interpreters import check, special
from ttxdsl.interpreters.elements import (
    is_complex,
    is_float,
    tensor_of,
    widened,
)
from ttxdsl.interpreters.linalg_calls import linalg_call
from ttxdsl.interpreters.regions import session
from ttxdsl.interpreters.tenstorrent_calls import tenstorrent_call
from ttxdsl.remarks import emit_remark

CustomCall = Callable[
    [Interpreter, stablehlo.CustomCallOp, tuple[Any, ...]], tuple[Any, ...]
]


def _identity(
    interpreter: Interpreter, op: stablehlo.CustomCallOp, args: tuple[Any, ...]
) -> tuple[Any, ...]:
    return args[: len(op.outputs)]


def _erf(
    interpreter: Interpreter, op: stablehlo.CustomCallOp, args: tuple[Any, ...]
) -> tuple[Any, ...]:
    return (widened(special.erf)(args[0]),)


def _check_eq(
    interpreter: Interpreter, op: stablehlo.CustomCallOp, args: tuple[Any, ...]
) -> tuple[Any, ...]:
    found, expected = args
    if is_float(found.dtype) or is_complex(found.dtype):
        check.expect_almost_eq(op, found, expected, DEFAULT_TOLERANCE)
    else:
        check.expect_eq(op, found, expected)
    return tuple(np.ones(tensor_of(one.type)[0], np.bool_) for one in op.outputs)


def _expect_eq(
    interpreter: Interpreter, op: stablehlo.CustomCallOp, args: tuple[Any, ...]
) -> tuple[Any, ...]:
    check.expect_eq(op, args[0], args[1])
    return ()


def _expect_almost_eq(
    interpreter: Interpreter, op: stablehlo.CustomCallOp, args: tuple[Any, ...]
) -> tuple[Any, ...]:
    check.expect_almost_eq(op, args[0], args[1], DEFAULT_TOLERANCE)
    return ()


def _expect_close(
    interpreter: Interpreter, op: stablehlo.CustomCallOp, args: tuple[Any, ...]
) -> tuple[Any, ...]:
    # as a custom call it has no fields, and StableHLO's tool allows three steps
    check.expect_close(op, args[0], args[1], 0, 3)
    return ()


def _python_callback(
    interpreter: Interpreter, op: stablehlo.CustomCallOp, args: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Nothing, with a remark a run: the function was left behind in the process of JAX.

    Raises:
        UnsupportedError: the program goes on with what it returns.
    """
    if not all(isinstance(type_, TokenType) for type_ in op.result_types):
        raise UnsupportedError(
            "calls back a Python function, which is not in the program, for its results",
            op,
            hint="leave pure_callback and io_callback out, or add an implementation of"
            f" @{op.call_target_name.data} to"
            " ttxdsl.interpreters.custom_calls.CUSTOM_CALLS",
        )
    told = session(interpreter).told
    if op not in told:
        told.add(op)
        emit_remark(
            "calls back a Python function, which is not in the program: not called", op
        )
    return (None,) * len(op.outputs)


PYTHON_CALLBACKS = (
    "xla_ffi_partitioned_python_cpu_callback",
    "xla_ffi_partitioned_python_gpu_callback",
    "xla_ffi_python_cpu_callback",
    "xla_ffi_python_gpu_callback",
    "xla_python_cpu_callback",
    "xla_python_gpu_callback",
)
"""What `jax.debug.print`, `jax.debug.callback`, `pure_callback` and `io_callback` are."""

CUSTOM_CALLS: dict[str, CustomCall] = {
    # placement and sharding annotations: the value stays what it is
    "Sharding": _identity,
    "annotate_device_placement": _identity,
    "MoveToDevice": _identity,
    "MoveToHost": _identity,
    "tt.mark_argument": _identity,
    "tt.sharding_constraint": _identity,
    "xla.sdy.FuncResultSharding": _identity,
    # what tt-mlir takes of chlo
    "mhlo.erf": _erf,
    # linear algebra
    **dict.fromkeys(ROUTINE_OF, linalg_call),
    **dict.fromkeys(PYTHON_CALLBACKS, _python_callback),
    # tt-mlir's
    **dict.fromkeys(Target, tenstorrent_call),
    # assertions
    "check.eq": _check_eq,
    "check.expect_almost_eq": _expect_almost_eq,
    "check.expect_close": _expect_close,
    "check.expect_eq": _expect_eq,
}
