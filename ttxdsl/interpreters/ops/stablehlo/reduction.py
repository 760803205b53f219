"""StableHLO ops that take a body of scalars: reductions, sorts, scatters, map.

Source: StableHLO specification, one section an op.
"""

from functools import partial

from xdsl.interpreter import Interpreter
from xdsl.ir import Region

from ttxdsl.dialects import stablehlo as hlo
from ttxdsl.interpreters.kernels import indexing, reduction
from ttxdsl.interpreters.kernels.elements import rank_of
from ttxdsl.interpreters.kernels.elementwise import Array, Kernel, convert
from ttxdsl.interpreters.ops.bodies import (
    body_dtype,
    body_names,
    body_reducer,
    named_reducer,
    promoted,
    run_body,
    sort_by,
)
from ttxdsl.interpreters.ops.registry import compiles, implements
from ttxdsl.interpreters.runtime.compiled_op import CompiledOp, writing_first
from ttxdsl.interpreters.runtime.regions import Values


def _lead(*values: tuple[Array, int]) -> int:
    return max((x.ndim - rank for x, rank in values), default=0)


def _reduce_by_body(interpreter: Interpreter, op: hlo.ReduceOp, args: Values) -> Values:
    count = len(op.inputs)
    arrays = promoted(op.body, args[:count])
    inits = promoted(op.body, args[count:])
    rank = rank_of(op.inputs[0].type)
    lead = _lead(*((x, rank) for x in arrays), *((x, 0) for x in inits))
    reducer = body_reducer(interpreter, op.body, lead)
    dims = op.dimensions.get_values()
    return reduction.reduce(arrays, inits, rank, dims, reducer)


@compiles(hlo.ReduceOp, otherwise=_reduce_by_body)
def _reduce(op: hlo.ReduceOp) -> Kernel | None:
    """Return a body that does one thing to one operand."""
    names = body_names(op.body)
    if names is None or len(names) != 1:
        return None
    rank, dims = rank_of(op.inputs[0].type), op.dimensions.get_values()
    reducer, dtype = named_reducer(names), body_dtype(op.body)

    def run(x: Array, init: Array) -> Array:
        operands = (convert(x, dtype),), (convert(init, dtype),)
        return reduction.reduce(*operands, rank, dims, reducer)[0]

    return run


@implements(hlo.ReduceWindowOp)
def _reduce_window(
    interpreter: Interpreter, op: hlo.ReduceWindowOp, args: Values
) -> Values:
    count = len(op.inputs)
    arrays = promoted(op.body, args[:count])
    inits = promoted(op.body, args[count:])
    window = op.window_dimensions.get_values()
    rank = len(window)
    lead = _lead(*((x, rank) for x in arrays), *((x, 0) for x in inits))
    return reduction.reduce_window(
        arrays,
        inits,
        window,
        hlo.window_values(op.window_strides, rank),
        hlo.window_values(op.base_dilations, rank),
        hlo.window_values(op.window_dilations, rank),
        hlo.padding_pairs(op.padding, rank),
        body_reducer(interpreter, op.body, lead),
    )


@implements(hlo.SelectAndScatterOp)
def _select_and_scatter(
    interpreter: Interpreter, op: hlo.SelectAndScatterOp, args: Values
) -> Values:
    x, source, init = args
    rank = rank_of(op.operand.type)
    dtype = body_dtype(op.scatter)
    lead = _lead((x, rank), (source, rank), (init, 0))
    window = op.window_dimensions
    return (
        indexing.select_and_scatter(
            x,
            convert(source, dtype),
            convert(init, dtype),
            (1,) * rank if window is None else window.get_values(),
            hlo.window_values(op.window_strides, rank),
            hlo.padding_pairs(op.padding, rank),
            lambda a, b: run_body(interpreter, op.select, (*a, *b), lead)[0],
            body_reducer(interpreter, op.scatter),
        ),
    )


@implements(hlo.MapOp)
def _map(interpreter: Interpreter, op: hlo.MapOp, args: Values) -> Values:
    rank = rank_of(op.inputs[0].type)
    lead = _lead(*((x, rank) for x in args))
    return run_body(interpreter, op.computation, args, lead)


@implements(hlo.SortOp)
def _sort(interpreter: Interpreter, op: hlo.SortOp, args: Values) -> Values:
    rank = rank_of(op.inputs[0].type)
    return sort_by(interpreter, op.comparator, args, rank, op.dimension.value.data)


def _scatter_by_body(
    interpreter: Interpreter, op: hlo.ScatterOp, args: Values
) -> Values:
    count = len(op.inputs)
    body = op.update_computation
    inputs = promoted(body, args[:count])
    updates = promoted(body, args[count + 1 :])
    reducer = None if _is_overwrite(body) else body_reducer(interpreter, body)
    return indexing.scatter(
        inputs,
        args[count],
        updates,
        _scatter_ranks(op),
        op.scatter_dimension_numbers.data,
        reducer,
    )


def _scatter_ranks(op: hlo.ScatterOp) -> tuple[int, int, int]:
    """Return the ranks of an input, of the indices, and of an update."""
    values = op.inputs[0], op.scatter_indices, op.updates[0]
    first, second, third = (rank_of(value.type) for value in values)
    return first, second, third


@compiles(hlo.ScatterOp, otherwise=_scatter_by_body)
def _scatter(op: hlo.ScatterOp) -> CompiledOp | None:
    """Updates put into one input, or combined with it by one named reduction."""
    body = op.update_computation
    overwrites = _is_overwrite(body)
    names = None if overwrites else body_names(body)
    if len(op.inputs) != 1 or (names is None and not overwrites):
        return None
    ranks, dims = _scatter_ranks(op), op.scatter_dimension_numbers.data
    reducer = None if names is None else named_reducer(names)
    dtype = body_dtype(body)

    def scattered(x: Array, indices: Array, update: Array, *, in_place: bool) -> Array:
        inputs, updates = (convert(x, dtype),), (convert(update, dtype),)
        return indexing.scatter(
            inputs, indices, updates, ranks, dims, reducer, in_place=in_place
        )[0]

    return CompiledOp(
        partial(scattered, in_place=False),
        writing_first(partial(scattered, in_place=True)),
    )


def _is_overwrite(body: Region) -> bool:
    """Return True if a scatter's body returns the updates themselves."""
    block = body.block
    end = block.last_op
    count = len(block.args) // 2
    return end is not None and tuple(end.operands) == tuple(block.args[count:])
