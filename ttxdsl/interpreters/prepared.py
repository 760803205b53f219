"""Ops that are functions of their operands' arrays alone: made once, run many times.

What an op's attributes and types say is read when it is prepared; a pass through a
region then calls the kernel and nothing else (`regions.run_region`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.interpreters.kernels import UFUNCS, Array, Kernel

Into = Callable[..., Array | None]
"""A kernel with, first, arrays of the result's type that it may write the result into.

Nobody else looks at these any more, also not through a view; each is an operand. None
where none of them fits, and nothing was written.
"""


@dataclass(frozen=True, slots=True)
class Prepared:
    """How an op's arrays become its only result."""

    kernel: Kernel
    into: Into | None = None
    each: Kernel | None = None
    """Of an elementwise op: of any parts of its operands, which broadcast, the result's."""


PLAIN = (np.dtype(np.float32), np.dtype(np.float64))
"""Types that a ufunc computes in as they are."""


def elementwise(kernel: Kernel) -> Prepared:
    """An op that does the same with every element, of operands that broadcast."""
    ufunc = UFUNCS.get(kernel)
    return Prepared(kernel, None if ufunc is None else _by_ufunc(ufunc), kernel)


def _by_ufunc(ufunc: np.ufunc) -> Into:
    """An op that is one ufunc on plain types, which may write anywhere."""

    def into(room: Sequence[Array], *args: Array) -> Array | None:
        if args[0].dtype not in PLAIN:
            return None
        shape = np.broadcast_shapes(*(x.shape for x in args))
        for array in room:
            if array.shape == shape and array.dtype == args[0].dtype:
                return ufunc(*args, out=array)
        return None

    return into


def selecting(room: Sequence[Array], pred: Array, on_true: Any, on_false: Any) -> Any:
    """A choice between two arrays, written where it differs from the second one."""
    for array in room:
        # rows as they lie, so that the result lies as a new one would
        if (
            array is on_false
            and array.flags.c_contiguous
            and np.broadcast_shapes(pred.shape, on_true.shape, array.shape)
            == array.shape
        ):
            np.copyto(array, on_true, where=pred)
            return array
    return None


COMPUTING = (
    InterpretationError,
    ValueError,
    TypeError,
    IndexError,
    KeyError,
    np.exceptions.AxisError,
    MemoryError,
)
"""What a function that computes an op may raise."""

Prepare = Callable[[Any], Kernel | Prepared | None]
PREPARES: dict[type[Operation], Prepare] = {}
"""What says of ops of a class how they are computed, once; None where it does not know."""
