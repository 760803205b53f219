"""Ops that are functions of their operands' arrays alone, compiled once and run often.

What an op's attributes and types say is read when it is compiled. The plain run calls the
kernel; the planned run (`plan.py`) may also write over an operand, or compute rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.interpreters.kernels.elementwise import UFUNCS, Array, Kernel

InPlace = Callable[..., Array | None]
"""A kernel that may write its result into one of the arrays given first.

Nobody else looks at these any more, also not through a view; each is an operand of the
result's type. It returns None if it wrote nothing.
"""


class RowKernel(NamedTuple):
    """A kernel that computes some rows of a result from the same rows of its operands.

    Attributes:
        keeps: leading dimensions of its tensors in which an element of the result follows
            from those of the operands that are at the same place.
        kernel: takes operands of which the mesh's dimensions and these are any part.
        view: whether the result is a view of the operand.
    """

    keeps: int
    kernel: Kernel
    view: bool = False


@dataclass(frozen=True, slots=True)
class CompiledOp:
    """The kernels of an op with one result; the first is the op's meaning."""

    kernel: Kernel
    in_place: InPlace | None = None
    rows: RowKernel | None = None
    deferred: Callable[..., Any] | None = None
    """The kernel of a product that only a collective reads (`matrices.Summands`)."""


PLAIN = (np.dtype(np.float32), np.dtype(np.float64))
"""Types that a ufunc computes in as they are."""


def elementwise(kernel: Kernel, rank: int) -> CompiledOp:
    """Compile an op of rank `rank` that does the same with every element."""
    ufunc = UFUNCS.get(kernel)
    in_place = None if ufunc is None else _ufunc_in_place(ufunc)
    return CompiledOp(kernel, in_place, RowKernel(rank, kernel))


def same_dims(before: Sequence[int], after: Sequence[int]) -> int:
    """Return how many leading dimensions two shapes have in common."""
    pairs = zip(before, after, strict=False)
    return next(
        (at for at, (x, y) in enumerate(pairs) if x != y), min(len(before), len(after))
    )


def row_of(x: Array, rank: int, keeps: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Return a result's shape: the mesh's and first `keeps` dimensions are those of `x`."""
    return (*x.shape[: x.ndim - rank + keeps], *shape[keeps:])


def reshaping(before: Sequence[int], shape: Sequence[int]) -> CompiledOp:
    """Compile an op that changes its operand's shape."""
    keeps, rank = same_dims(before, shape), len(before)

    def run(x: Array) -> Array:
        return x.reshape(row_of(x, rank, keeps, shape))

    return CompiledOp(run, rows=RowKernel(keeps, run, view=True))


def _ufunc_in_place(ufunc: np.ufunc) -> InPlace:
    def run(room: Sequence[Array], *args: Array) -> Array | None:
        if args[0].dtype not in PLAIN:
            return None
        shape = np.broadcast_shapes(*(x.shape for x in args))
        for array in room:
            if array.shape == shape and array.dtype == args[0].dtype:
                return ufunc(*args, out=array)
        return None

    return run


def writing_first(write: InPlace) -> InPlace:
    """Return `write`, which overwrites its first operand, called where it may do so."""

    def run(room: Sequence[Array], x: Array, *args: Array) -> Array | None:
        return write(x, *args) if any(x is array for array in room) else None

    return run


def select_in_place(
    room: Sequence[Array], pred: Array, on_true: Any, on_false: Any
) -> Any:
    """Write a choice between two arrays where it differs from the second one."""
    for array in room:
        # C order, as a new array has
        if (
            array is on_false
            and array.flags.c_contiguous
            and np.broadcast_shapes(pred.shape, on_true.shape, array.shape)
            == array.shape
        ):
            np.copyto(array, on_true, where=pred)
            return array
    return None


COMPUTE_ERRORS = (
    InterpretationError,
    ValueError,
    TypeError,
    IndexError,
    KeyError,
    np.exceptions.AxisError,
    MemoryError,
)
"""Exceptions that a kernel may raise."""


Compiler = Callable[[Any], Kernel | CompiledOp | None]
COMPILERS: dict[type[Operation], Compiler] = {}
"""Compilers of ops by class; one that returns None leaves the op to its plain function."""

COMBINES: set[type[Operation]] = set()
"""Collectives that combine devices' values, also of products not computed yet."""
