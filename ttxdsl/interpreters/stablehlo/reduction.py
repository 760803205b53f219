"""StableHLO ops that take a body of scalars: reductions, sorts, scatters, map.

Source: StableHLO specification, one section an op.
"""

from __future__ import annotations

from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    register_impls,
)
from xdsl.ir import Region

from ttxdsl.dialects import stablehlo
from ttxdsl.interpreters import indexing, reduction
from ttxdsl.interpreters.elements import rank_of
from ttxdsl.interpreters.kernels import Array, convert
from ttxdsl.interpreters.reduction import Arrays
from ttxdsl.interpreters.regions import (
    body_dtype,
    body_reducer,
    captures_of,
    promoted,
    run_body,
)
from ttxdsl.interpreters.stablehlo._comparators import sort_key


def _lead(*values: tuple[Array, int]) -> int:
    return max((x.ndim - rank for x, rank in values), default=0)


@register_impls
class ReductionFunctions(InterpreterFunctions):
    """Bodies run on whole arrays."""

    @impl(stablehlo.ReduceOp)
    def run_reduce(
        self, interpreter: Interpreter, op: stablehlo.ReduceOp, args: PythonValues
    ) -> PythonValues:
        """Dimensions go."""
        count = len(op.inputs)
        arrays = promoted(op.body, args[:count])
        inits = promoted(op.body, args[count:])
        rank = rank_of(op.inputs[0].type)
        lead = _lead(*((x, rank) for x in arrays), *((x, 0) for x in inits))
        reducer = body_reducer(interpreter, op.body, lead)
        dims = op.dimensions.get_values()
        return reduction.reduce(arrays, inits, rank, dims, reducer)

    @impl(stablehlo.ReduceWindowOp)
    def run_reduce_window(
        self,
        interpreter: Interpreter,
        op: stablehlo.ReduceWindowOp,
        args: PythonValues,
    ) -> PythonValues:
        """Windows are reduced."""
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
            stablehlo.window_values(op.window_strides, rank),
            stablehlo.window_values(op.base_dilations, rank),
            stablehlo.window_values(op.window_dilations, rank),
            stablehlo.padding_pairs(op.padding, rank),
            body_reducer(interpreter, op.body, lead),
        )

    @impl(stablehlo.SelectAndScatterOp)
    def run_select_and_scatter(
        self,
        interpreter: Interpreter,
        op: stablehlo.SelectAndScatterOp,
        args: PythonValues,
    ) -> PythonValues:
        """What a window's selected element gets is added up."""
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
                stablehlo.window_values(op.window_strides, rank),
                stablehlo.padding_pairs(op.padding, rank),
                lambda a, b: run_body(interpreter, op.select, (*a, *b), lead)[0],
                body_reducer(interpreter, op.scatter),
            ),
        )

    @impl(stablehlo.MapOp)
    def run_map(
        self, interpreter: Interpreter, op: stablehlo.MapOp, args: PythonValues
    ) -> PythonValues:
        """The body of the elements at one place."""
        rank = rank_of(op.inputs[0].type)
        lead = _lead(*((x, rank) for x in args))
        return run_body(interpreter, op.computation, args, lead)

    @impl(stablehlo.SortOp)
    def run_sort(
        self, interpreter: Interpreter, op: stablehlo.SortOp, args: PythonValues
    ) -> PythonValues:
        """By a key where the comparator compares keys, by merging where not."""
        rank = rank_of(op.inputs[0].type)
        dim = op.dimension.value.data
        dim %= rank
        lead = _lead(*((x, rank) for x in args))
        if not captures_of(interpreter, op.comparator):
            found = sort_key(interpreter, op.comparator, args)
            if found is not None:
                key, descending = found
                return indexing.sort_by_key(args, rank, dim, key, descending)

        def before(left: Arrays, right: Arrays) -> Array:
            pairs = [x for pair in zip(left, right, strict=True) for x in pair]
            return run_body(interpreter, op.comparator, pairs, lead)[0]

        return indexing.sort(args, rank, dim, before)

    @impl(stablehlo.ScatterOp)
    def run_scatter(
        self, interpreter: Interpreter, op: stablehlo.ScatterOp, args: PythonValues
    ) -> PythonValues:
        """Updates combined into the inputs."""
        count = len(op.inputs)
        body = op.update_computation
        inputs = promoted(body, args[:count])
        updates = promoted(body, args[count + 1 :])
        dims = op.scatter_dimension_numbers.data
        ranks = (
            rank_of(op.inputs[0].type),
            rank_of(op.scatter_indices.type),
            rank_of(op.updates[0].type),
        )
        reducer = None if _is_overwrite(body) else body_reducer(interpreter, body)
        return indexing.scatter(inputs, args[count], updates, ranks, dims, reducer)


def _is_overwrite(body: Region) -> bool:
    """Whether a scatter's body answers with the updates themselves."""
    block = body.block
    end = block.last_op
    count = len(block.args) // 2
    return end is not None and tuple(end.operands) == tuple(block.args[count:])
