"""StableHLO's sort and chlo's top_k in ttir.

ttir sorts one tensor by its values. A comparator that compares the same function of
both sides is a sort of that function's values, whose places then move all operands; one
that asks the next such function where the first is equal is as many sorts, the last one
first, each stable. Any other comparator is asked for all pairs: an element's rank is the
number of elements that come before it.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Block, Operation, Region, SSAValue

from ttxdsl.conversion.stablehlo_to_ttir.bodies import evaluate
from ttxdsl.conversion.stablehlo_to_ttir.lowering import Lowering, Rule, constant_splat
from ttxdsl.conversion.stablehlo_to_ttir.ops.elementwise import total_order
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import stablehlo, ttir
from ttxdsl.dialects._tt.attributes import bool_attr
from ttxdsl.dialects.calls.custom import first_by_comparator
from ttxdsl.dialects.sort_keys import sort_keys
from ttxdsl.dialects.ttcore import ReduceType
from ttxdsl.ir.tensors import shape_of, tensor_type

_ALL_PAIRS = 4096
"""The most elements that are compared pair by pair; a matrix of that size squared."""


def _sort(low: Lowering, op: stablehlo.SortOp) -> Sequence[SSAValue]:
    rank = len(shape_of(op.inputs[0]))
    dim = op.dimension.value.data % rank if rank else 0
    return _sorted_by(low, op, op.comparator, op.inputs, dim)


def _sorted_by(
    low: Lowering,
    op: Operation,
    comparator: Region,
    inputs: Sequence[SSAValue],
    dim: int,
) -> Sequence[SSAValue]:
    """Write the values of an op, sorted along a dimension by a comparator."""
    build, values = low.builder, low.all(inputs)
    if not shape_of(values[0]) or shape_of(values[0])[dim] < 2:
        return values
    places = _places_by_key(low, comparator, values, dim)
    if places is None:
        places = _places_by_rank(low, op, comparator, values, dim)
    return [build.gather(value, places, dim) for value in values]


def first_of_call(
    low: Lowering, op: stablehlo.CustomCallOp
) -> Sequence[SSAValue] | None:
    """The first elements of each operand by a comparator, as a sort; None if unknown."""
    known = first_by_comparator(op)
    if known is None or (function := low.functions.get(known[1])) is None:
        return None
    dim, inputs = known[0], op.inputs[: len(op.outputs)]
    count = shape_of(op.outputs[0])[dim]
    return [
        low.builder.slice_dim(value, dim, 0, count)
        for value in _sorted_by(low, op, function.body, inputs, dim)
    ]


# --- by a key ---------------------------------------------------------------


def _places_by_key(
    low: Lowering, comparator: Region, values: Sequence[SSAValue], dim: int
) -> SSAValue | None:
    """Write the source index of each sorted element; None if no keys are compared."""
    keys = sort_keys(comparator)
    if keys is None:
        return None
    build, block = low.builder, comparator.block
    stand_ins = [values[index // 2] for index in range(len(block.args))]
    places: SSAValue | None = None
    for key in reversed(keys):
        value = _evaluate_value(low, block, key.value, stand_ins, shape_of(values[0]))
        if key.in_total_order:
            value = total_order(low, value)
        if places is not None:
            value = build.gather(value, places, dim)
        _, order = build.sort(value, dim, descending=key.descending, stable=True)
        places = order if places is None else build.gather(places, order, dim)
    return places


def _evaluate_value(
    low: Lowering,
    block: Block,
    wanted: SSAValue,
    arguments: Sequence[SSAValue],
    shape: Sequence[int],
) -> SSAValue:
    """One value of a computation on scalars, for a whole tensor of them."""
    if wanted in block.args:
        return arguments[block.args.index(wanted)]
    needed: list[Operation] = []
    seen: set[Operation] = set()

    def visit(value: SSAValue) -> None:
        owner = value.owner
        if isinstance(owner, Operation) and owner not in seen and owner.parent is block:
            seen.add(owner)
            for operand in owner.operands:
                visit(operand)
            needed.append(owner)

    visit(wanted)
    inner = low.computation(block, arguments)
    for op in needed:
        number = constant_splat(op.results[0])
        if number is not None:
            element = tensor_type(op.results[0]).element_type
            inner.values[op.results[0]] = low.builder.full(shape, element, number)
        else:
            inner.lower_op(op)
    return inner[wanted]


# --- by rank ----------------------------------------------------------------


def _places_by_rank(
    low: Lowering,
    op: Operation,
    comparator: Region,
    values: Sequence[SSAValue],
    dim: int,
) -> SSAValue:
    """Write the source index of each sorted element, by comparing all pairs."""
    build = low.builder
    size = shape_of(values[0])[dim]
    if size > _ALL_PAIRS:
        raise UnsupportedError(
            f"its comparator compares no key, and {size} elements are too many to "
            "compare pair by pair",
            op,
        )
    last = len(shape_of(values[0])) - 1
    moved = [build.move_dim(value, dim, last) for value in values]
    lead = shape_of(moved[0])[:-1]
    square = (*lead, size, size)
    rows = [build.broadcast(build.reshape(v, (*lead, size, 1)), square) for v in moved]
    columns = [
        build.broadcast(build.reshape(v, (*lead, 1, size)), square) for v in moved
    ]
    block = comparator.block
    forward = [v for pair in zip(rows, columns, strict=True) for v in pair]
    backward = [v for pair in zip(columns, rows, strict=True) for v in pair]
    before = evaluate(low, block, forward, square)[0]
    after = evaluate(low, block, backward, square)[0]
    # [i, j]: i comes before j, or they are equal and i was first. Two elements that
    # each come before the other (a comparison by LE) are equal, too.
    index = [build.arange(square, len(lead) + side, i32) for side in (0, 1)]
    earlier = build.compare("lt", index[0], index[1])
    differ = build.elementwise("logical_xor", before, after)
    precedes = build.elementwise("where", differ, before, earlier)
    ranks = build.reduce("sum", build.typecast(precedes, i32), (len(lead),))
    # the element of rank r goes to position r
    source = build.arange(shape_of(ranks), len(lead), i32)
    places = build.scatter(
        build.like(ranks, 0), ranks, source, len(lead), ReduceType.INVALID
    )
    return build.move_dim(places, last, dim)


def _top_k(low: Lowering, op: Operation) -> Sequence[SSAValue]:
    build, value = low.builder, low[op.operands[0]]
    types = [build.here(result.type) for result in op.results]
    dim = len(shape_of(value)) - 1
    k = types[0].get_shape()[dim]
    properties = {
        "k": IntegerAttr(k, i32),
        "dim": IntegerAttr(dim, i32),
        "largest": bool_attr(value=True),
        "sorted": bool_attr(value=True),
    }
    return build.compute(ttir.TopKOp, [value], types, properties)


TABLE: dict[str, Rule] = {
    "chlo.top_k": _top_k,
    "stablehlo.sort": _sort,
}
"""The rules of this family, by StableHLO or chlo name."""
