"""Sorting by a comparator, computed of whole arrays where it compares keys."""

from collections.abc import Sequence
from typing import cast

from xdsl.interpreter import Interpreter
from xdsl.ir import BlockArgument, Operation, Region, SSAValue

from ttxdsl.dialects.sort_keys import sort_keys
from ttxdsl.interpreters.kernels import indexing
from ttxdsl.interpreters.kernels.elements import is_complex, is_float, widen
from ttxdsl.interpreters.kernels.elementwise import Array, total_order_key
from ttxdsl.interpreters.ops.bodies import run_body
from ttxdsl.interpreters.runtime.regions import captures_of


def sort_by(
    interpreter: Interpreter,
    comparator: Region,
    arrays: tuple[Array, ...],
    rank: int,
    dim: int,
) -> tuple[Array, ...]:
    """Return arrays of one shape, put in the order of a comparator along a dimension.

    Args:
        interpreter: runs the comparator.
        comparator: of pairs of elements, one of each array.
        arrays: of `rank` dimensions behind those of the mesh.
        rank: theirs.
        dim: the dimension, from the end if it is negative.
    """
    dim %= rank
    lead = max((x.ndim - rank for x in arrays), default=0)
    if not captures_of(interpreter, comparator):
        found = sort_key(interpreter, comparator, arrays)
        if found is not None:
            key, descending = found
            return indexing.sort_by_key(arrays, rank, dim, key, descending)

    def before(left: Sequence[Array], right: Sequence[Array]) -> Array:
        pairs = [x for pair in zip(left, right, strict=True) for x in pair]
        return run_body(interpreter, comparator, pairs, lead)[0]

    return indexing.sort(arrays, rank, dim, before)


def sort_key(
    interpreter: Interpreter, comparator: Region, arrays: tuple[Array, ...]
) -> tuple[Array, bool] | None:
    """The array to sort by and whether downwards; None for other comparators.

    Where a NaN goes that is compared with a plain LT or GT nobody says, as no order
    holds it. It is the largest of all, as in a sort of ttir, so that every form of a
    program has the same answer.
    """
    keys = sort_keys(comparator)
    if keys is None or len(keys) != 1 or len(keys[0].operands) != 1:
        return None
    (found,) = keys
    key = _evaluate(interpreter, found.value, arrays[found.operands[0]])
    if is_complex(key.dtype):
        return None
    if is_float(key.dtype) and found.in_total_order:
        key = total_order_key(key)
    return widen(key), found.descending


def _evaluate(interpreter: Interpreter, value: SSAValue, x: Array) -> Array:
    """`value`, computed of the elements `x`."""
    if isinstance(value, BlockArgument):
        return x
    op = cast(Operation, value.owner)
    inputs = tuple(_evaluate(interpreter, v, x) for v in op.operands)
    return interpreter.run_op(op, inputs)[op.results.index(value)]
