"""StableHLO's gather and scatter in ttir, whose indexed ops work along one dimension.

Both see the operand as a matrix: the dimensions that indices reach, merged in row-major
order, are its rows; those that are always taken whole are its columns. An index vector
with its place in the window is then one row number, and a gather is an embedding, a
scatter a scatter of rows.
"""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from ttxdsl.conversion.stablehlo_to_ttir.bodies import evaluate, reduce_kind
from ttxdsl.conversion.stablehlo_to_ttir.builder import TTIRBuilder, is_unsigned
from ttxdsl.conversion.stablehlo_to_ttir.loops import counted_loop, put, take
from ttxdsl.conversion.stablehlo_to_ttir.lowering import Lowering, Rule
from ttxdsl.conversion.stablehlo_to_ttir.ops.extension_ops import add_same
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects._tt.tensors import bit_width
from ttxdsl.dialects.ttcore import ReduceType
from ttxdsl.ir.tensors import element_of, shape_of, tensor_type

_FAR = 1 << 30
"""Beyond every dimension, and far from the ends of i32."""


def _as_i32(build: TTIRBuilder, indices: SSAValue) -> SSAValue:
    """Convert indices to i32; numbers that do not fit stay out of bounds."""
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
    build, numbers = low.builder, op.dimension_numbers.data
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
    count = len(op.inputs)
    kinds = [reduce_kind(op.update_computation, which) for which in range(count)]
    rows = _Rows(low, op)
    inputs, updates = low.all(op.inputs), low.all(op.updates)
    if None in kinds and not bool(op.unique_indices):
        return _in_turn(low, op, rows, inputs, updates)
    if None in kinds:
        updates = _computed_updates(low, op, rows, inputs, updates)
        kinds = [ReduceType.INVALID] * count
    return [
        rows.scatter(input, update, kind)
        for input, update, kind in zip(inputs, updates, kinds, strict=True)
        if kind is not None
    ]


def _computed_updates(
    low: Lowering,
    op: stablehlo.ScatterOp,
    rows: "_Rows",
    inputs: Sequence[SSAValue],
    updates: Sequence[SSAValue],
) -> list[SSAValue]:
    """Write the new values: the computation of the old ones and the updates."""
    current = [
        rows.current(input, update)
        for input, update in zip(inputs, updates, strict=True)
    ]
    block = op.update_computation.block
    return evaluate(low, block, [*current, *updates], shape_of(updates[0]))


def _in_turn(
    low: Lowering,
    op: stablehlo.ScatterOp,
    rows: "_Rows",
    inputs: Sequence[SSAValue],
    updates: Sequence[SSAValue],
) -> Sequence[SSAValue]:
    """Return a loop over the updates, as one may need another's result."""
    build, count = low.builder, prod(rows.shape)
    if not count or not rows.width:
        return inputs
    sources = [rows.source(update) for update in updates]
    index = build.reshape(rows.rows, (count, 1))

    def step(
        inner: Lowering, number: SSAValue, now: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        make = inner.builder
        row = make.reshape(take(make, index, 0, number), ())
        new = [take(make, source, 0, number) for source in sources]
        old = [take(make, matrix, 0, row) for matrix in now]
        block = op.update_computation.block
        done = evaluate(inner, block, [*old, *new], (1, rows.width))
        return [
            put(make, matrix, 0, row, value)
            for matrix, value in zip(now, done, strict=True)
        ]

    matrices = [rows.matrix(input) for input in inputs]
    return [rows.back(result) for result in counted_loop(low, count, matrices, step)]


class _Rows:
    """The targets of a scatter's updates: row numbers in the inputs as matrices.

    The dimensions that indices reach are the rows of the inputs, the others their
    columns. Updates outside of the inputs go to one extra row.
    """

    def __init__(self, low: Lowering, op: stablehlo.ScatterOp):
        numbers = op.scatter_dimension_numbers.data
        self.build = build = low.builder
        self.whole = whole = shape_of(low[op.inputs[0]])
        indices, vector_dim = low[op.scatter_indices], numbers.index_vector_dim
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
        update_shape = shape_of(low[op.updates[0]])
        sizes = [
            update_shape[update_of[d]] if d in update_of else 1
            for d in range(len(whole))
        ]
        entries = {d: k for k, d in enumerate(numbers.scatter_dims_to_operand_dims)}
        self.reached = [
            d
            for d in range(len(whole))
            if d in entries or d in batching or sizes[d] != whole[d]
        ]
        self.columns = [d for d in range(len(whole)) if d not in self.reached]
        window = [d for d in self.reached if d in update_of]
        self.height = prod(whole[d] for d in self.reached)
        self.width = prod(whole[d] for d in self.columns)
        self.shape = [*batch, *(sizes[d] for d in window)]
        # the updates' dimensions in the order of the row numbers, then the columns
        scattered = [
            d for d in range(len(update_shape)) if d not in numbers.update_window_dims
        ]
        shown = [d for d in self.columns if d in update_of]
        self.order = [*scattered, *(update_of[d] for d in (*window, *shown))]

        rows: SSAValue | None = None
        inside: SSAValue | None = None
        for d in self.reached:
            place: SSAValue | None = None
            if d in window and sizes[d] > 1:
                place = build.arange(self.shape, len(batch) + window.index(d), i32)
            digit = place
            if d in batching:
                digit = build.arange(self.shape, batching[d], i32)
            elif d in entries:
                start = _component(build, indices, vector_dim, entries[d])
                start = _as_i32(build, start)
                start = _spread(build, start, self.shape, range(len(batch)))
                digit = (
                    start if place is None else build.elementwise("add", start, place)
                )
                inside = _and(build, inside, _within(build, start, place, whole[d]))
            rows = _next_digit(build, rows, digit, whole[d])
        if rows is None:
            rows = build.full(self.shape, i32, 0)
        if inside is not None:
            outside = build.like(rows, self.height)
            rows = build.elementwise("where", inside, rows, outside)
        self.rows = rows

    def matrix(self, input: SSAValue) -> SSAValue:
        """Return an input as rows and columns, with the extra row."""
        matrix = self.build.permute(input, [*self.reached, *self.columns])
        matrix = self.build.reshape(matrix, (self.height, self.width))
        return self.build.pad(matrix, (0, 0), (1, 0), 0)

    def current(self, input: SSAValue, update: SSAValue) -> SSAValue:
        """Write the input's values at the updates' targets, in the updates' shape."""
        build = self.build
        picked = build.embedding(self.rows, self.matrix(input))
        shape = shape_of(update)
        picked = build.reshape(picked, [shape[d] for d in self.order])
        return build.permute(
            picked, [self.order.index(d) for d in range(len(self.order))]
        )

    def scatter(self, input: SSAValue, update: SSAValue, kind: ReduceType) -> SSAValue:
        """Return the input with the updates combined into it."""
        build, count = self.build, prod(self.shape)
        if not prod(shape_of(update)):
            return input
        source = self.source(update)
        index = build.reshape(self.rows, (count, 1))
        index = build.broadcast(index, (count, self.width))
        return self.back(build.scatter(self.matrix(input), index, source, 0, kind))

    def source(self, update: SSAValue) -> SSAValue:
        """Return an update as rows and columns, a row for each row number."""
        ordered = self.build.permute(update, self.order)
        return self.build.reshape(ordered, (prod(self.shape), self.width))

    def back(self, matrix: SSAValue) -> SSAValue:
        """A matrix of rows and columns in the inputs' shape, without the extra row."""
        build = self.build
        kept = build.slice_dim(matrix, 0, 0, self.height)
        places = [*self.reached, *self.columns]
        kept = build.reshape(kept, [self.whole[d] for d in places])
        return build.permute(kept, [places.index(d) for d in range(len(self.whole))])


def _within(
    build: TTIRBuilder, start: SSAValue, place: SSAValue | None, size: int
) -> SSAValue:
    """Write whether `start + place` is an index of a dimension, without overflow."""
    lowest = build.like(start, 0)
    highest = build.like(start, size - 1)
    if place is not None:
        lowest = build.elementwise("neg", place)
        highest = build.elementwise("subtract", highest, place)
    above = build.compare("ge", start, lowest)
    below = build.compare("le", start, highest)
    return build.elementwise("logical_and", above, below)


def _and(build: TTIRBuilder, value: SSAValue | None, other: SSAValue) -> SSAValue:
    return other if value is None else build.elementwise("logical_and", value, other)


def _index_select(low: Lowering, op: stablehlo.TorchIndexSelectOp) -> SSAValue:
    """Slices of one dimension by number, without batch dimensions: an embedding."""
    build, dim = low.builder, op.dim.value.data
    value, index = low[op.operand], low[op.index]
    if op.batch_dims.value.data:
        return add_same(low, op.name, op)[0]
    shape = shape_of(value)
    rest = [*shape[:dim], *shape[dim + 1 :]]
    matrix = build.reshape(build.move_dim(value, dim, 0), (shape[dim], prod(rest)))
    rows = build.reshape(build.embedding(index, matrix), (*shape_of(index), *rest))
    count = len(shape_of(index))
    order = [
        *range(count, count + dim),
        *range(count),
        *range(count + dim, count + len(rest)),
    ]
    return build.permute(rows, order)


TABLE: dict[str, Rule] = {
    "stablehlo.gather": _gather,
    "stablehlo.scatter": _scatter,
    "stablehlo.torch_index_select": _index_select,
}
"""The rules of this family, by StableHLO name."""
