"""Ops of ttir and ttnn that make, move, order and reduce elements.

Source: the op descriptions of `ttxdsl/dialects/_tt/` and tt-mlir's; `rows_gather` and
`rows_scatter`, which those of August 2026 lack, from what tt-mlir makes of StableHLO's
gathers and scatters.
"""

from collections.abc import Callable, Mapping
from functools import partial
from math import prod
from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.dialects._tt.attributes import ints
from ttxdsl.dialects.expressed import quantization_of
from ttxdsl.dialects.quant import Quantization
from ttxdsl.dialects.stablehlo.attributes import GatherDims, ScatterDims
from ttxdsl.dialects.ttcore import ReduceType
from ttxdsl.interpreters.kernels import (
    elementwise as kernels,
    indexing,
    quantized,
    random,
)
from ttxdsl.interpreters.kernels.elements import (
    is_integer,
    rank_of,
    read_constant,
    tensor_of,
    widen,
)
from ttxdsl.interpreters.kernels.elementwise import BINARY, Array, Kernel
from ttxdsl.interpreters.kernels.reduction import Reducer, reduce_named
from ttxdsl.interpreters.ops.tt.elementwise import stretched
from ttxdsl.interpreters.ops.tt.table import (
    REDUCTIONS,
    axis_of,
    compiled,
    computed,
    interpreted,
    number,
    number_of,
    shape_of,
    with_shape,
)
from ttxdsl.interpreters.runtime.compiled_op import (
    CompiledOp,
    RowKernel,
    reshaping,
    row_of,
    same_dims,
    writing_first,
)
from ttxdsl.interpreters.runtime.regions import Values

# creation


def _filled(value: int, op: Any) -> Kernel:
    shape, dtype = tensor_of(op.results[0].type)
    return partial(np.broadcast_to, kernels.convert(np.array(value), dtype), shape)


compiled("empty", "zeros")(partial(_filled, 0))  # `empty` is never read; no memory
compiled("ones")(partial(_filled, 1))


@compiled("full")
def _full(op: Any) -> Kernel:
    shape, dtype = tensor_of(op.results[0].type)
    return partial(np.broadcast_to, number_of(op.fill_value, dtype), shape)


@compiled("constant")
def _constant(op: Any) -> Kernel:
    return partial(np.asarray, read_constant(op, op.value))


@compiled("arange")
def _arange(op: Any) -> Kernel:
    shape, dtype = tensor_of(op.results[0].type)
    line = np.arange(*(int(number(x)) for x in (op.start, op.end, op.step)))
    local = [-1 if at == op.dim else 1 for at in range(len(shape))]
    line = kernels.convert(line, dtype).reshape(local)
    return partial(np.broadcast_to, line, shape)


@interpreted("rand")
def _rand(_: Interpreter, op: Any, args: Values) -> Values:
    shape, dtype = tensor_of(op.results[0].type)
    low, high = number_of(op.low, dtype), number_of(op.high, dtype)
    seed = op.seed.value.data
    return (random.distribution("UNIFORM", low, high, shape, dtype, seed),)


# other places, shapes and orders


@computed("assign", "from_device", "to_device", "to_layout", "to_memory_config")
def same(_: Any, x: Array) -> Array:
    """Return the operand: only its place or its layout changes, perhaps its type."""
    return x


@interpreted("deallocate")
def _deallocate(_: Interpreter, op: Any, args: Values) -> Values:
    """Do nothing: `lifetimes` reports uses of freed values."""
    return ()


@compiled("reshape", "squeeze", "unsqueeze")
def _reshape(op: Any) -> CompiledOp:
    return reshaping(tensor_of(op.input.type)[0], shape_of(op))


def _broadcast(op: Any) -> CompiledOp:
    before, shape = tensor_of(op.input.type)[0], shape_of(op)
    keeps, rank = same_dims(before, shape), len(before)
    if rank != len(shape):
        return CompiledOp(partial(stretched, shape=shape))

    def run(x: Array) -> Array:
        return np.broadcast_to(x, row_of(x, rank, keeps, shape))

    return CompiledOp(run, rows=RowKernel(keeps, run, view=True))


compiled("broadcast")(_broadcast)


@compiled("repeat")
def _repeat(op: Any) -> Kernel | CompiledOp:
    ttnn = op.DIALECT == "ttnn"
    factors = op.repeat_dims.values() if ttnn else ints(op.repeat_dimensions)
    sizes, _ = tensor_of(op.input.type)
    if all(n == 1 or k == 1 for n, k in zip(sizes, factors, strict=True)):
        return _broadcast(op)

    def tile(x: Array) -> Array:
        return np.tile(x, (*(1,) * (x.ndim - len(factors)), *factors))

    return tile


@computed("repeat_interleave")
def _repeat_interleave(op: Any, x: Array) -> Array:
    axis = axis_of(op.dim, rank_of(op.input.type))
    return np.repeat(x, int(number(op.repeats)), axis=axis)


@compiled("permute")
def _permute(op: Any) -> Kernel:
    return partial(kernels.transpose, permutation=ints(op.permutation))


@computed("transpose")
def _transpose(op: Any, x: Array) -> Array:
    rank = rank_of(op.input.type)
    return np.swapaxes(x, axis_of(op.dim0, rank), axis_of(op.dim1, rank))


@compiled("reverse")
def _reverse(op: Any) -> Kernel:
    rank, dims = rank_of(op.input.type), ints(op.dimensions)
    return partial(kernels.reverse, rank=rank, dims=dims)


@compiled("concat")
def _concat(op: Any) -> Kernel:
    rank = rank_of(op.results[0].type)
    dim = op.dim.value.data % rank
    return partial(kernels.concatenated, rank, dim)


@compiled("slice_static")
def _slice_static(op: Any) -> Kernel:
    return partial(
        kernels.slice_,
        start=ints(op.begins),
        limit=ints(op.ends),
        strides=ints(op.step),
    )


@compiled("slice_dynamic")
def _slice_dynamic(op: Any) -> Kernel:
    shape = shape_of(op)

    def run(x: Array, begins: Array, _ends: Array) -> Array:
        starts = [begins[..., dim] for dim in range(len(shape))]
        return indexing.dynamic_slice(x, starts, shape)

    return run


@compiled("pad")
def _pad(op: Any) -> Kernel:
    amounts = ints(op.padding)
    low, high = amounts[0::2], amounts[1::2]
    value = number_of(op.value, tensor_of(op.results[0].type)[1])
    gaps = (0,) * len(low)
    return partial(kernels.pad, value=value, low=low, high=high, interior=gaps)


@computed("index_select")
def _index_select(op: Any, x: Array) -> Array:
    """`length` elements from `begin` along a dimension, then `stride` further on."""
    axis = axis_of(op.dim, rank_of(op.input.type))
    begin, length = int(number(op.begin)), int(number(op.length))
    stride = int(number(op.stride)) or length
    starts = range(begin, x.shape[axis] - length + 1, stride)
    return np.take(x, [at + i for at in starts for i in range(length)], axis=axis)


# reductions


def _mean(x: Array, axes: tuple[int, ...]) -> Array:
    wide = widen(x)
    count = prod(x.shape[axis] for axis in axes)
    total = reduce_named("add", wide, axes)
    if is_integer(x.dtype):
        return BINARY["divide"](total, total.dtype.type(count)).astype(x.dtype)
    return (total / wide.dtype.type(count)).astype(x.dtype)


def _reduction(
    reduce: Callable[[Array, tuple[int, ...]], Array], op: Any
) -> CompiledOp:
    rank, shape = rank_of(op.input.type), shape_of(op)
    if hasattr(op, "reduced_dims"):
        dims = op.reduced_dims()
    else:
        dims = range(rank) if op.dim_arg is None else ints(op.dim_arg)
    dims = [dim % rank for dim in dims]
    keeps = min(dims, default=0)

    def run(x: Array) -> Array:
        axes = tuple(x.ndim - rank + dim for dim in dims)
        return reduce(x, axes).reshape(row_of(x, rank, keeps, shape))

    return CompiledOp(run, rows=RowKernel(keeps, run))


compiled("mean")(partial(_reduction, _mean))
for _name, _kind in {
    "max": "maximum",
    "min": "minimum",
    "prod": "multiply",
    "reduce_and": "and",
    "reduce_bitwise_and": "and",
    "reduce_bitwise_or": "or",
    "reduce_bitwise_xor": "xor",
    "reduce_or": "or",
    "sum": "add",
}.items():
    compiled(_name)(partial(_reduction, partial(reduce_named, _kind)))


@computed("argmax")
def _argmax(op: Any, x: Array) -> Array:
    rank = rank_of(op.input.type)
    (dim,) = op.reduced_dims()
    places = np.asarray(np.argmax(widen(x), axis=dim % rank - rank))
    return places.reshape((*x.shape[: x.ndim - rank], *shape_of(op)))


def _running(kernel: Kernel) -> Callable[..., Array]:
    """Return the accumulation by a kernel that has no order.

    Unlike NumPy's own maxima, a kernel's tell zeros of both signs apart.
    """

    def run(x: Array, axis: int, dtype: np.dtype[Any]) -> Array:
        y = np.moveaxis(x.astype(dtype), axis, 0)
        span = 1
        while span < len(y):
            y[span:] = kernel(y[span:], y[:-span])
            span *= 2
        return np.moveaxis(y, 0, axis)

    return run


_ACCUMULATIONS: Mapping[ReduceType, Callable[..., Array]] = {
    ReduceType.SUM: np.add.accumulate,
    ReduceType.PROD: np.multiply.accumulate,
    ReduceType.MAX: _running(BINARY["maximum"]),
    ReduceType.MIN: _running(BINARY["minimum"]),
    ReduceType.LOGSUMEXP: np.logaddexp.accumulate,
}


def _accumulated(
    op: Any, x: Array, kind: ReduceType, *, reverse: bool = False
) -> Array:
    """Accumulate along a dimension, from the end if it is `reverse`."""
    axis = axis_of(op.dim, rank_of(op.input.type))
    accumulate = _ACCUMULATIONS.get(kind)
    if accumulate is None:
        raise InterpretationError(f"no accumulation by {kind.value}")
    x = np.flip(widen(x), axis) if reverse else widen(x)
    y = accumulate(x, axis=axis, dtype=x.dtype)
    return np.flip(y, axis) if reverse else y


@computed("cumulative")
def _cumulative(op: Any, x: Array) -> Array:
    reverse = op.reverse is not None and bool(op.reverse)
    return _accumulated(op, x, op.reduction.data, reverse=reverse)


computed("cumprod")(partial(_accumulated, kind=ReduceType.PROD))
computed("cumsum")(partial(_accumulated, kind=ReduceType.SUM))


# order and places


@computed("sort")
def _sort(op: Any, x: Array) -> tuple[Array, Array]:
    """Stably; NaN is the largest."""
    axis = axis_of(op.dim, rank_of(op.input.type))
    order = indexing.order_by_key(widen(x), axis, bool(op.descending))
    return np.take_along_axis(x, order, axis), order


@computed("topk")
def _topk(op: Any, x: Array) -> tuple[Array, Array]:
    axis = axis_of(op.dim, rank_of(op.input_tensor.type))
    count, dtype = op.k.value.data, tensor_of(op.indices.type)[1]
    return kernels.top_k(x, count, dtype, axis, largest=bool(op.largest))


@computed("embedding")
def _embedding(op: Any, index: Array, weight: Array) -> Array:
    rank = rank_of(op.input.type)
    (_rows, width), _dtype = tensor_of(op.weight.type)
    dims = GatherDims((rank,), (0,), (), (), (0,), rank)
    return indexing.gather(weight, index, (2, rank), dims, (1, width))


@computed("gather")
def _gather(op: Any, x: Array, index: Array) -> Array:
    rank = rank_of(op.input.type)
    return indexing.gather_along(x, index, rank, op.dim.value.data % rank)


@compiled("scatter")
def _scatter(op: Any) -> CompiledOp:
    rank = rank_of(op.input.type)
    dim = op.dim.value.data % rank
    name = REDUCTIONS.get(op.scatter_reduce_type.data)
    reducer = None if name is None else Reducer.named(name)
    write = partial(indexing.scatter_in_place, rank=rank, dim=dim)
    return CompiledOp(
        partial(indexing.scatter_along, rank=rank, dim=dim, how=reducer),
        writing_first(write) if reducer is None else None,
    )


class _Rows:
    """Windows of rows: `[batch, sizes…, row]`, or of columns `[row, batch, sizes…]`.

    The index is `[batch, dimension, window]`, or one for all batches: where each window
    of `windows` rows starts.
    """

    def __init__(self, op: Any, *values: Array) -> None:
        self.op, self.column = op, bool(op.column)
        self.sizes, self.windows = ints(op.sizes), ints(op.windows)
        ranks = [rank_of(value.type) for value in op.operands]
        self.lead, (x, index, *source) = indexing.with_leads(values, ranks)
        batch = index.shape[self.lead] if self.column else x.shape[self.lead]
        shape = index.shape
        shape = (*shape[: self.lead], batch, *shape[self.lead + 1 :])
        self.x = self.by_batch(x, batch, self.sizes)
        self.index = np.broadcast_to(index, shape)
        self.source = [
            self.by_batch(rows, batch, (shape[-1], *self.windows)) for rows in source
        ]
        self.ranks = len(self.sizes) + 2, 3, len(self.sizes) + 3

    def by_batch(self, x: Array, batch: int, sizes: tuple[int, ...]) -> Array:
        """Return rows as `[batch, sizes…, row]`."""
        lead = x.shape[: self.lead]
        if not self.column:
            return x.reshape((*lead, batch, *sizes, -1))
        return np.moveaxis(x.reshape((*lead, -1, batch, *sizes)), self.lead, -1)

    def result(self, rows: Array) -> Array:
        """Return `[batch, …, row]` in the shape of the result."""
        rows = np.moveaxis(rows, -1, self.lead) if self.column else rows
        return rows.reshape((*rows.shape[: self.lead], *shape_of(self.op)))


@computed("rows_gather")
def _rows_gather(op: Any, x: Array, index: Array) -> Array:
    rows = _Rows(op, x, index)
    count = len(rows.sizes)
    dims = GatherDims(
        offset_dims=tuple(range(2, count + 3)),
        operand_batching_dims=(0,),
        start_indices_batching_dims=(0,),
        start_index_map=tuple(range(1, count + 1)),
        index_vector_dim=1,
    )
    sizes = (1, *rows.windows, rows.x.shape[-1])
    fill = op.fill_out_of_bounds is not None and bool(op.fill_out_of_bounds)
    return rows.result(
        indexing.gather(
            rows.x, rows.index, rows.ranks[:2], dims, sizes, outside_is_zero=fill
        )
    )


@computed("rows_scatter")
def _rows_scatter(op: Any, x: Array, index: Array, source: Array) -> Array:
    """Windows that are not all inside are left out."""
    rows = _Rows(op, x, index, source)
    count = len(rows.sizes)
    sizes, windows = (np.array(n)[:, None] for n in (rows.sizes, rows.windows))
    starts = widen(rows.index).astype(np.int64)
    inside = ((starts >= 0) & (starts <= sizes - windows)).all(axis=-2, keepdims=True)
    dims = ScatterDims(
        update_window_dims=tuple(range(2, count + 3)),
        input_batching_dims=(0,),
        scatter_indices_batching_dims=(0,),
        scatter_dims_to_operand_dims=tuple(range(1, count + 1)),
        index_vector_dim=1,
    )
    name = REDUCTIONS.get(op.reduce.data)
    (result,) = indexing.scatter(
        (rows.x,),
        np.where(inside, starts, -sizes),
        rows.source,
        rows.ranks,
        dims,
        None if name is None else Reducer.named(name),
    )
    return rows.result(result)


# attention's heads


@computed("concatenate_heads", "nlp_concat_heads")
def _concatenate_heads(op: Any, x: Array) -> Array:
    """`[b, heads, s, d]` to `[b, s, heads * d]`."""
    return with_shape(op, np.swapaxes(x, -3, -2), rank_of(op.operands[0].type))


# quantization


def _quantization(type: Attribute, parameters: tuple[Array, ...]) -> Quantization:
    """Return a quantized type's, or one with a scale and a zero point that were given."""
    how = quantization_of(type)
    assert how is not None
    return quantized.with_parameters(how, *parameters) if parameters else how


@computed("quantize")
def _quantize(op: Any, x: Array, *parameters: Array) -> Array:
    shape, dtype = tensor_of(op.results[0].type)
    how = _quantization(op.results[0].type, parameters)
    return quantized.quantize(x, how, len(shape), dtype)


@computed("dequantize")
def _dequantize(op: Any, x: Array, *parameters: Array) -> Array:
    how = _quantization(op.input.type, parameters)
    return quantized.dequantize(x, how, rank_of(op.input.type))


@computed("requantize")
def _requantize(op: Any, x: Array, *parameters: Array) -> Array:
    shape, dtype = tensor_of(op.results[0].type)
    old = _quantization(op.input.type, parameters[:2])
    new = _quantization(op.results[0].type, parameters[2:])
    real = quantized.dequantize(x, old, len(shape))
    return quantized.quantize(real, new, len(shape), dtype)
