"""Ops that are functions of their operands' arrays alone: made once, run many times.

What an op's attributes and types say is read when it is prepared; a pass through a
region then calls the kernel and nothing else (`regions.run_region`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.interpreters.kernels.elementwise import UFUNCS, Array, Kernel

Into = Callable[..., Array | None]
"""A kernel with, first, arrays of the result's type that it may write the result into.

Nobody else looks at these any more, also not through a view; each is an operand. None
where none of them fits, and nothing was written.
"""


class Rows(NamedTuple):
    """How an op that works row by row makes some of its rows.

    Attributes:
        keeps: leading dimensions of its tensors in which an element of the result follows
            from those of the operands that are at the same place.
        kernel: takes operands of which the mesh's dimensions and these are any part.
        view: whether the result is another look at the operand.
    """

    keeps: int
    kernel: Kernel
    view: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """How an op's arrays become its only result."""

    kernel: Kernel
    into: Into | None = None
    rows: Rows | None = None
    later: Callable[..., Any] | None = None
    """The kernel of a product that only a collective reads (`matrices.Summands`)."""


PLAIN = (np.dtype(np.float32), np.dtype(np.float64))
"""Types that a ufunc computes in as they are."""


def elementwise(kernel: Kernel, rank: int) -> Prepared:
    """An op that does the same with every element, of operands that broadcast.

    Args:
        kernel: what it does.
        rank: of its result.
    """
    ufunc = UFUNCS.get(kernel)
    into = None if ufunc is None else _by_ufunc(ufunc)
    return Prepared(kernel, into, Rows(rank, kernel))


def same_dims(before: Sequence[int], after: Sequence[int]) -> int:
    """How many leading dimensions two shapes have in common."""
    pairs = zip(before, after, strict=False)
    return next(
        (at for at, (x, y) in enumerate(pairs) if x != y), min(len(before), len(after))
    )


def row_of(x: Array, rank: int, keeps: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The shape of a result, of which `x` says the mesh's dimensions and the first ones."""
    return (*x.shape[: x.ndim - rank + keeps], *shape[keeps:])


def reshaping(before: Sequence[int], shape: Sequence[int]) -> Prepared:
    """An op that gives its operand another shape."""
    keeps, rank = same_dims(before, shape), len(before)

    def run(x: Array) -> Array:
        return x.reshape(row_of(x, rank, keeps, shape))

    return Prepared(run, rows=Rows(keeps, run, view=True))


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

COMBINES: set[type[Operation]] = set()
"""Collectives that combine devices' values, also of products not computed yet."""
