"""`open-computations`: reductions and scatters that tt-mlir has no op for.

It looks at the first op of a reduction's computation, and not at its initial value. So
all others are written out: what reduces several values apart from each other becomes a
reduction each, an initial value that matters is combined afterwards, and any other
computation is done on pairs of neighbours until one value is left.
"""

from functools import partial
from itertools import product
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerType,
    ModuleOp,
    i1,
    i32,
)
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ttxdsl.bridges.tt_mlir.legalize.scalar_computations import (
    combines_alone,
    combining_op,
    constant_number,
    fold_along,
    identity,
    on_tensors,
)
from ttxdsl.conversion.writing import Writer, write_instead
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.stablehlo.attributes import ComparisonDirection
from ttxdsl.ir.rewriting import for_each
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.transforms.partition.emitter import binary_region

_OF_TRUTH = (stablehlo.AndOp, stablehlo.OrOp)


def _open_reduce(op: stablehlo.ReduceOp) -> None:
    """Write reductions that tt-mlir takes in place of one that it does not."""
    if _is_argmax(op):
        return
    block = op.body.block
    kinds = combines_alone(block)
    if kinds is None or any(
        kind in _OF_TRUTH and element_of(input) != i1
        for kind, input in zip(kinds, op.inputs, strict=True)
    ):
        write_instead(op, partial(_folded, op))
        return
    matters = [
        constant_number(init) != identity(kind, element_of(init))
        for kind, init in zip(kinds, op.init_values, strict=True)
    ]
    if len(kinds) > 1 or any(matters):
        write_instead(op, lambda w: [_alone(op, w, i) for i in range(len(kinds))])


def _alone(op: stablehlo.ReduceOp, w: Writer, i: int) -> SSAValue:
    """Return the i-th of several reductions, from what changes nothing."""
    kinds = combines_alone(op.body.block)
    assert kinds is not None
    kind, value, init = kinds[i], op.inputs[i], op.init_values[i]
    element = element_of(value)
    neutral = identity(kind, element)
    assert neutral is not None
    start = init
    matters = constant_number(init) != neutral
    if matters:
        start = w.full(neutral, init)
    reduced = w.one(
        stablehlo.ReduceOp,
        [value, start],
        op.results[i].type,
        {"dimensions": op.dimensions},
        [binary_region(kind, element)],
    )
    if not matters:
        return reduced
    return w.binary(kind, w.broadcast(init, shape_of(reduced)), reduced)


def _folded(op: stablehlo.ReduceOp, w: Writer) -> list[SSAValue]:
    block, values = op.body.block, list(op.inputs)
    results = [shape_of(result) for result in op.results]
    inits = [
        w.broadcast(init, shape)
        for init, shape in zip(op.init_values, results, strict=True)
    ]
    if 0 in shape_of(values[0]):
        return inits
    for dim in op.dimensions.get_values():
        values = fold_along(w, block, values, dim)
    values = [
        w.reshape(value, shape) for value, shape in zip(values, results, strict=True)
    ]
    return on_tensors(w, block, [*inits, *values])


def _is_argmax(op: stablehlo.ReduceOp) -> bool:
    """Whether only the place of the greatest number is asked for, which ttnn has."""
    if len(op.inputs) != 2 or op.results[0].uses.get_length():
        return False
    place = op.inputs[1].owner
    while isinstance(place, stablehlo.BroadcastInDimOp | stablehlo.ReshapeOp):
        place = place.operands[0].owner
    element = element_of(op.inputs[0])
    lowest = identity(stablehlo.MaxOp, element)
    first = op.body.block.first_op
    return (
        isinstance(place, stablehlo.IotaOp)
        and constant_number(op.init_values[0]) == lowest
        and constant_number(op.init_values[1]) == 0
        and isinstance(first, stablehlo.CompareOp)
        and first.comparison_direction.data is ComparisonDirection.GT
    )


def _open_reduce_window(op: stablehlo.ReduceWindowOp) -> None:
    """Write windows as the combination of as many slices as a window has places."""
    kinds = combines_alone(op.body.block)
    usual = kinds is not None and all(
        kind in (stablehlo.AddOp, stablehlo.MaxOp, stablehlo.MulOp)
        and constant_number(init) == identity(kind, element_of(init))
        for kind, init in zip(kinds, op.init_values, strict=True)
    )
    if not usual and _places(op) <= _MOST_PLACES:
        write_instead(op, partial(_windows, op))


_MOST_PLACES = 256
"""Of a window that is written out."""


def _numbers(
    given: DenseArrayBase[IntegerType] | None, count: int, default: int
) -> list[int]:
    return [default] * count if given is None else list(given.get_values())


def _places(op: stablehlo.ReduceWindowOp) -> int:
    count = 1
    for size in op.window_dimensions.get_values():
        count *= size
    return count


def _windows(op: stablehlo.ReduceWindowOp, w: Writer) -> list[SSAValue]:
    rank = len(shape_of(op.inputs[0]))
    sizes = list(op.window_dimensions.get_values())
    strides = _numbers(op.window_strides, rank, 1)
    dilations = _numbers(op.window_dilations, rank, 1)
    spread = [number - 1 for number in _numbers(op.base_dilations, rank, 1)]
    padding = [0] * 2 * rank if op.padding is None else list(op.padding.get_values())
    padded = [
        w.pad(value, init, padding[::2], padding[1::2], spread)
        for value, init in zip(op.inputs, op.init_values, strict=True)
    ]
    shape = shape_of(op.results[0])
    values = [
        w.broadcast(init, shape_of(result))
        for init, result in zip(op.init_values, op.results, strict=True)
    ]
    for place in product(*(range(size) for size in sizes)):
        starts = [at * step for at, step in zip(place, dilations, strict=True)]
        limits = [
            start + (count - 1) * stride + 1
            for start, count, stride in zip(starts, shape, strides, strict=True)
        ]
        cut = [
            w.slice(padded_value, starts, limits, strides) for padded_value in padded
        ]
        values = on_tensors(w, op.body.block, [*values, *cut])
    return values


_SCATTERED_BY = (stablehlo.AddOp, stablehlo.MulOp, stablehlo.MaxOp, stablehlo.MinOp)
_MOST_APPLIED = 32
"""Places that a function is applied to by a scatter that is written out."""


def _open_scatter(op: stablehlo.ScatterOp) -> None:
    """Write scatters by one op in place of those that do more.

    Differences are sums; a function of what is there, which ignores the update, is
    applied as often as a place is named.
    """
    block = op.update_computation.block
    count, last = len(op.inputs), block.last_op
    assert last is not None
    if all(
        combined is block.args[count + i] or combining_op(block, i) in _SCATTERED_BY
        for i, combined in enumerate(last.operands)
    ):
        return
    difference = last.operands[0].owner
    if (
        count == 1
        and isinstance(difference, stablehlo.SubtractOp)
        and tuple(difference.operands) == tuple(block.args)
    ):
        write_instead(
            op, lambda w: [_scattered(op, w, op.inputs[0], w.neg(op.updates[0]))]
        )
    elif (
        count == 1
        and not block.args[1].uses.get_length()
        and _points(op) <= _MOST_APPLIED
    ):
        write_instead(op, partial(_applied, op))
    else:
        raise UnsupportedError(
            "tt-mlir scatters by one op (a sum, a product, the greater, the less, the"
            " new value), and this is another computation",
            op,
        )


def _points(op: stablehlo.ScatterOp) -> int:
    """Return the number of index vectors of a scatter."""
    shape = list(shape_of(op.scatter_indices))
    vector = op.scatter_dimension_numbers.data.index_vector_dim
    if vector < len(shape):
        del shape[vector]
    return prod(shape)


def _scattered(
    op: stablehlo.ScatterOp, w: Writer, value: SSAValue, update: SSAValue
) -> SSAValue:
    """Return the same scatter of a sum."""
    return w.one(
        stablehlo.ScatterOp,
        [value, op.scatter_indices, update],
        value.type,
        op.properties,
        [binary_region(stablehlo.AddOp, element_of(value))],
    )


def _applied(op: stablehlo.ScatterOp, w: Writer) -> list[SSAValue]:
    value, block = op.inputs[0], op.update_computation.block
    none = w.splat(0, i32, shape_of(value))
    ones = w.splat(1, i32, shape_of(op.updates[0]))
    times = _scattered(op, w, none, ones)
    for k in range(_points(op)):
        (power,) = on_tensors(w, block, [value, value])
        value = w.select(w.test(times, "GT", k), power, value)
    return [value]


class OpenComputationsPass(ModulePass):
    """Write out reductions that tt-mlir has no op for."""

    name = "open-computations"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            UnsupportedError: a computation that cannot be written out.
        """
        for_each(op, stablehlo.ReduceOp, _open_reduce)
        for_each(op, stablehlo.ReduceWindowOp, _open_reduce_window)
        for_each(op, stablehlo.ScatterOp, _open_scatter)
