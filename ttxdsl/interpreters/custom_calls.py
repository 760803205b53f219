"""Custom calls by target name: what the interpreter computes for them.

Add to `CUSTOM_CALLS` to teach the interpreter another target.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.interpreter import Interpreter

from ttxdsl.dialects import stablehlo

CustomCall = Callable[
    [Interpreter, stablehlo.CustomCallOp, tuple[Any, ...]], tuple[Any, ...]
]


def _identity(
    interpreter: Interpreter, op: stablehlo.CustomCallOp, args: tuple[Any, ...]
) -> tuple[Any, ...]:
    return args[: len(op.outputs)]


CUSTOM_CALLS: dict[str, CustomCall] = {
    # placement and sharding annotations: the value stays what it is
    "Sharding": _identity,
    "annotate_device_placement": _identity,
    "MoveToDevice": _identity,
    "MoveToHost": _identity,
    "tt.mark_argument": _identity,
    "tt.sharding_constraint": _identity,
    "xla.sdy.FuncResultSharding": _identity,
}
