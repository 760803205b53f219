"""Bodies of reductions, sorts and scatters: tensors of rank 0 in the program.

Here they run once on whole arrays, whose dimensions are leading ones to them.
"""

from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.interpreter import Interpreter
from xdsl.ir import BlockArgument, Operation, Region, SSAValue

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects.sort_keys import sort_keys
from ttxdsl.interpreters.kernels import indexing
from ttxdsl.interpreters.kernels.elements import (
    DType,
    is_complex,
    is_float,
    tensor_of,
    widen,
)
from ttxdsl.interpreters.kernels.elementwise import (
    BINARY,
    Array,
    convert,
    total_order_key,
)
from ttxdsl.interpreters.kernels.reduction import UFUNCS, Arrays, Reducer
from ttxdsl.interpreters.runtime.regions import captures_of, run_region, running_on


def body_names(region: Region) -> tuple[str, ...] | None:
    """Return the named reduction that a body applies to each operand alone, or None."""
    block = region.blocks.first
    if block is None or block.next_block is not None or block.last_op is None:
        return None
    returned = block.last_op.operands
    count = len(returned)
    if len(block.args) != 2 * count or sum(1 for _ in block.ops) != count + 1:
        return None
    names: list[str] = []
    for at, value in enumerate(returned):
        op = value.owner
        if not isinstance(op, Operation) or op.parent is not block:
            return None
        dialect, _, name = op.name.partition(".")
        pair = {block.args[at], block.args[count + at]}
        if dialect != "stablehlo" or name not in UFUNCS or set(op.operands) != pair:
            return None
        names.append(name)
    return tuple(names)


def run_body(
    interpreter: Interpreter, region: Region, arrays: Sequence[Array], lead: int
) -> Arrays:
    """Return a body of scalars on whole arrays of one shape.

    Args:
        arrays: its arguments, with `lead` leading (mesh) dimensions.
        lead: their number. They are put last, so that values from outside of the
            body, which have just these, line up.
    """
    captured = [
        np.asarray(value).ndim
        for value in interpreter.get_values(captures_of(interpreter, region))
        if value is not None
    ]
    turn = lead if any(captured) else 0
    if any(captured) and not lead and max(captured) > 0:
        raise UnsupportedError(
            "the body uses a value from outside that differs by device",
            region.parent_op(),
            hint="make that value an operand",
        )
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    if turn:
        arrays = [
            np.moveaxis(np.broadcast_to(x, shape), range(turn), range(-turn, 0))
            for x in arrays
        ]
    with running_on(interpreter, None):  # its places are elements, too
        results = run_region(interpreter, region, arrays, "body")
    turned = (*shape[turn:], *shape[:turn])
    full = [np.broadcast_to(x, turned) for x in results]
    if turn:
        full = [np.moveaxis(x, range(-turn, 0), range(turn)) for x in full]
    return tuple(full)


def named_reducer(names: tuple[str, ...]) -> Reducer:
    """Return the reducer that applies one named reduction to each operand."""
    kernels = [BINARY[name] for name in names]
    return Reducer(
        lambda a, b: tuple(k(x, y) for k, x, y in zip(kernels, a, b, strict=True)),
        names,
    )


def body_reducer(interpreter: Interpreter, region: Region, lead: int = 0) -> Reducer:
    """Return a body as a reducer of arrays with `lead` leading dimensions."""
    names = body_names(region)
    if names is not None:
        return named_reducer(names)
    return Reducer(lambda a, b: run_body(interpreter, region, (*a, *b), lead))


def promoted(region: Region, arrays: Sequence[Array]) -> list[Array]:
    """Operands in the element types of a body's first arguments (the same or wider)."""
    types = [tensor_of(arg.type)[1] for arg in region.block.args]
    return [convert(x, dtype) for x, dtype in zip(arrays, types, strict=False)]


def body_dtype(region: Region) -> DType:
    """Return the element type of a body's first argument."""
    return tensor_of(region.block.args[0].type)[1]


# sorting by a comparator


def sort_by(
    interpreter: Interpreter,
    comparator: Region,
    arrays: tuple[Array, ...],
    rank: int,
    dim: int,
) -> tuple[Array, ...]:
    """Return arrays of one shape, put in the order of a comparator along a dimension.

    The arrays have `rank` dimensions behind those of the mesh; `dim` may be negative. The
    order is computed of whole arrays where the comparator compares keys.
    """
    dim %= rank
    lead = max((x.ndim - rank for x in arrays), default=0)
    if not captures_of(interpreter, comparator):
        ordering = _sort_key(interpreter, comparator, arrays)
        if ordering is not None:
            key, descending = ordering
            return indexing.sort_by_key(arrays, rank, dim, key, descending)

    def before(left: Sequence[Array], right: Sequence[Array]) -> Array:
        pairs = [x for pair in zip(left, right, strict=True) for x in pair]
        return run_body(interpreter, comparator, pairs, lead)[0]

    return indexing.sort(arrays, rank, dim, before)


def _sort_key(
    interpreter: Interpreter, comparator: Region, arrays: tuple[Array, ...]
) -> tuple[Array, bool] | None:
    """Return the array to sort by and whether downwards; None for other comparators.

    A plain LT or GT does not order NaN. It is the largest here, as in ttir's sort, so
    that every form of a program has the same answer.
    """
    keys = sort_keys(comparator)
    if keys is None or len(keys) != 1 or len(keys[0].operands) != 1:
        return None
    (sort_key,) = keys
    key = _evaluate(interpreter, sort_key.value, arrays[sort_key.operands[0]])
    if is_complex(key.dtype):
        return None
    if is_float(key.dtype) and sort_key.in_total_order:
        key = total_order_key(key)
    return widen(key), sort_key.descending


def _evaluate(interpreter: Interpreter, value: SSAValue, x: Array) -> Array:
    """`value`, computed of the elements `x`."""
    if isinstance(value, BlockArgument):
        return x
    op = cast(Operation, value.owner)
    inputs = tuple(_evaluate(interpreter, v, x) for v in op.operands)
    return interpreter.run_op(op, inputs)[op.results.index(value)]
