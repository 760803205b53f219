"""StableHLO's gather and scatter in ttir, whose indexed ops work along one dimension.

Both see the operand as a matrix: the dimensions that indices reach, merged in row-major
order, are its rows; those that are always taken whole are its columns. An index vector
with its place in the window is then one row number, and a gather is an embedding, a
scatter a scatter of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from ttxdsl.conversion.bodies import COMBINE, reduce_kind
from ttxdsl.conversion.builder import TTIRBuilder, element_of, is_unsigned, shape_of
from ttxdsl.conversion.lowering import Lowering, Rule
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects._tt_verify import bit_width, tensor_type
from ttxdsl.dialects.ttcore import ReduceType
from ttxdsl.errors import UnsupportedError

_FAR = 1 << 30
"""Beyond every dimension, and far from the ends of i32."""


def _as_i32(build: TTIRBuilder, indices: SSAValue) -> SSAValue:
    """Indices as i32; what does not fit stays outside of every tensor."""
    element = element_of(indices)
    bits = bit_width(element) or 0
    if element == i32:
        return indices
    if bits >= 32:
        low = build.like(indices, 0 if is_unsigned(element) else -_FAR)
        high = build.like(indices, _FAR)
        indices = build.elementwise("clamp_tensor", indices, low, high, element=element)
    return build.typecast(indices, i32)


def _component(
    build: TTIRBuilder, indices: SSAValue, vector_dim: int, number: int
) -> SSAValue:
    """Entry `number` of every index vector, in the shape of the batch."""
    shape = shape_of(indices)
    if vector_dim == len(shape):
        return indices
    entry = build.slice_dim(indices, vector_dim, number, number + 1)
    return build.reshape(entry, (*shape[:vector_dim], *shape[vector_dim + 1 :]))


def _batch_dims(dims: Sequence[int], vector_dim: int) -> list[int]:
    """Dimensions of the indices, counted without the one of the index vectors."""
    return [dim - (dim > vector_dim) for dim in dims]


def _spread(
    build: TTIRBuilder, value: SSAValue, shape: Sequence[int], dims: Sequence[int]
) -> SSAValue:
    return build.broadcast_in_dim(value, shape, dims)


def _gather(low: Lowering, op: stablehlo.GatherOp) -> SSAValue:
    build, numbers = low.builder, op.dimension_numbers
    operand, result = low[op.operand], tensor_type(op.result)
    whole, sizes = shape_of(operand), op.slice_sizes.get_values()
    if not prod(result.get_shape()):
        return build.full(result.get_shape(), result.element_type, 0)
    indices = low[op.start_indices]
    vector_dim = numbers.index_vector_dim
    batch = [s for d, s in enumerate(shape_of(indices)) if d != vector_dim]
    batching = dict(
        zip(
            numbers.operand_batching_dims,
            _batch_dims(numbers.start_indices_batching_dims, vector_dim),
            strict=True,
        )
    )
    hidden = {*numbers.collapsed_slice_dims, *batching}
    reached = [d for d in range(len(whole)) if sizes[d] != whole[d] or d in batching]
    columns = [d for d in range(len(whole)) if d not in reached]
    window = [d for d in reached if d not in hidden]

    # one row number for each index vector and each place in its window
    shape = [*batch, *(sizes[d] for d in window)]
    rows: SSAValue | None = None
    entries = {d: k for k, d in enumerate(numbers.start_index_map)}
    for d in reached:
        part: SSAValue | None = None
        if d in batching:
            part = build.arange(shape, batching[d], i32)
        elif d in entries:
            start = _component(build, indices, vector_dim, entries[d])
            start = _as_i32(build, start)
            if len(reached) > 1 or sizes[d] > 1:
                # the only row number of a window of one is clamped by the embedding
                start = build.elementwise(
                    "clamp_tensor",
                    start,
                    build.like(start, 0),
                    build.like(start, whole[d] - sizes[d]),
                    element=i32,
                )
            part = _spread(build, start, shape, range(len(batch)))
        if d in window and sizes[d] > 1:
            place = build.arange(shape, len(batch) + window.index(d), i32)
            part = place if part is None else build.elementwise("add", part, place)
        rows = _next_digit(build, rows, part, whole[d])
    if rows is None:
        rows = build.full(shape, i32, 0)

    matrix = build.permute(operand, [*reached, *columns])
    height = prod(whole[d] for d in reached)
    matrix = build.reshape(matrix, (height, prod(whole[d] for d in columns)))
    picked = build.embedding(rows, matrix)
    shown = [d for d in columns if d not in hidden]
    picked = build.reshape(picked, [*shape, *(whole[d] for d in shown)])

    # batch, window, columns: to where the result wants them
    places = [d for d in range(len(result.get_shape())) if d not in numbers.offset_dims]
    offset_of = dict(
        zip(
            [d for d in range(len(whole)) if d not in hidden],
            numbers.offset_dims,
            strict=True,
        )
    )
    targets = [*places, *(offset_of[d] for d in (*window, *shown))]
    order = [targets.index(d) for d in range(len(targets))]
    return build.permute(picked, order)


def _next_digit(
    build: TTIRBuilder, rows: SSAValue | None, digit: SSAValue | None, size: int
) -> SSAValue | None:
    """`rows * size + digit`, where None is zero everywhere."""
    if rows is not None and size != 1:
        rows = build.with_number("multiply", rows, size)
    if rows is None or digit is None:
        return rows if digit is None else digit
    return build.elementwise("add", rows, digit)


def _scatter(low: Lowering, op: stablehlo.ScatterOp) -> Sequence[SSAValue]:
    results: list[SSAValue] = []
    for which, (input, update) in enumerate(zip(op.inputs, op.updates, strict=True)):
        kind = reduce_kind(op.update_computation, which)
        if kind is None:
            raise UnsupportedError(
                "its computation is neither a replacement nor one of "
                f"{', '.join(COMBINE.values())}",
                op,
            )
        results.append(_scatter_one(low, op, low[input], low[update], kind))
    return results


def _scatter_one(
    low: Lowering,
    op: stablehlo.ScatterOp,
    operand: SSAValue,
    update: SSAValue,
    kind: ReduceType,
) -> SSAValue:
    """Rows of updates to rows of the operand; what falls outside to one extra row."""
    build, numbers = low.builder, op.scatter_dimension_numbers
    whole = shape_of(operand)
    if not prod(shape_of(update)):
        return operand
    indices = low[op.scatter_indices]
    vector_dim = numbers.index_vector_dim
    batch = [s for d, s in enumerate(shape_of(indices)) if d != vector_dim]
    batching = dict(
        zip(
            numbers.input_batching_dims,
            _batch_dims(numbers.scatter_indices_batching_dims, vector_dim),
            strict=True,
        )
    )
    hidden = {*numbers.inserted_window_dims, *batching}
    seen = [d for d in range(len(whole)) if d not in hidden]
    update_of = dict(zip(seen, numbers.update_window_dims, strict=True))
    sizes = [
        shape_of(update)[update_of[d]] if d in update_of else 1
        for d in range(len(whole))
    ]
    entries = {d: k for k, d in enumerate(numbers.scatter_dims_to_operand_dims)}
    reached = [
        d
        for d in range(len(whole))
        if d in entries or d in batching or sizes[d] != whole[d]
    ]
    columns = [d for d in range(len(whole)) if d not in reached]
    window = [d for d in reached if d in update_of]

    shape = [*batch, *(sizes[d] for d in window)]
    rows: SSAValue | None = None
    inside: SSAValue | None = None
    for d in reached:
        place: SSAValue | None = None
        if d in window and sizes[d] > 1:
            place = build.arange(shape, len(batch) + window.index(d), i32)
        digit = place
        if d in batching:
            digit = build.arange(shape, batching[d], i32)
        elif d in entries:
            start = _component(build, indices, vector_dim, entries[d])
            start = _spread(build, _as_i32(build, start), shape, range(len(batch)))
            digit = start if place is None else build.elementwise("add", start, place)
            inside = _and(build, inside, _within(build, start, place, whole[d]))
        rows = _next_digit(build, rows, digit, whole[d])
    if rows is None:
        rows = build.full(shape, i32, 0)
    height = prod(whole[d] for d in reached)
    width = prod(whole[d] for d in columns)
    if inside is not None:
        rows = build.elementwise("where", inside, rows, build.like(rows, height))

    # the updates as rows in the order of the row numbers, columns as the operand's
    scattered = [
        d for d in range(len(shape_of(update))) if d not in numbers.update_window_dims
    ]
    order = [
        *scattered,
        *(update_of[d] for d in (*window, *(c for c in columns if c in update_of))),
    ]
    source = build.reshape(build.permute(update, order), (prod(shape), width))
    index = build.reshape(rows, (prod(shape), 1))
    index = build.broadcast(index, (prod(shape), width))

    matrix = build.permute(operand, [*reached, *columns])
    matrix = build.reshape(matrix, (height, width))
    extended = build.pad(matrix, (0, 0), (1, 0), 0)
    filled = build.scatter(extended, index, source, 0, kind)
    kept = build.slice_dim(filled, 0, 0, height)
    kept = build.reshape(kept, [whole[d] for d in (*reached, *columns)])
    places = [*reached, *columns]
    return build.permute(kept, [places.index(d) for d in range(len(whole))])


def _within(
    build: TTIRBuilder, start: SSAValue, place: SSAValue | None, size: int
) -> SSAValue:
    """Whether `start + place` is an index of a dimension, without adding: no overflow."""
    lowest = build.like(start, 0)
    highest = build.like(start, size - 1)
    if place is not None:
        lowest = build.elementwise("neg", place)
        highest = build.elementwise("subtract", highest, place)
    above = build.compare("ge", start, lowest)
    below = build.compare("le", start, highest)
    return build.elementwise("logical_and", above, below)


def _and(build: TTIRBuilder, one: SSAValue | None, other: SSAValue) -> SSAValue:
    return other if one is None else build.elementwise("logical_and", one, other)


TABLE: dict[str, Rule] = {
    "stablehlo.gather": Rule(
        _gather, ("embedding", "clamp_tensor", "permute", "reshape")
    ),
    "stablehlo.scatter": Rule(_scatter, ("scatter", "where", "permute", "reshape")),
}
"""The rules of this family, by StableHLO name."""
