"""Ops of ttir and ttnn that are functions of arrays alone, and by which they are computed.

`PREPARES` says for each declaration, by its name, what is made of an op before it runs;
the function then takes the arrays that the op reads, destinations and device handles
left out.

Source: the op descriptions of `ttxdsl/dialects/_tt/`.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import repeat
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr

from ttxdsl.dialects._tt.attributes import ints
from ttxdsl.dialects._tt.elementwise import ACTIVATIONS, Typing, has_layout
from ttxdsl.dialects.ttcore import ReduceType
from ttxdsl.interpreters.kernels import elementwise as kernels, indexing
from ttxdsl.interpreters.kernels.elements import (
    DType,
    is_integer,
    rank_of,
    read_constant,
    tensor_of,
    widen,
)
from ttxdsl.interpreters.kernels.elementwise import BINARY, Array, Kernel
from ttxdsl.interpreters.kernels.reduction import Reducer, reduce_named
from ttxdsl.interpreters.kernels.tt_elementwise import ELEMENTWISE
from ttxdsl.interpreters.kernels.tt_fused import activated_by, matmul_of
from ttxdsl.interpreters.runtime.compiled_op import (
    Prepared,
    Rows,
    elementwise,
    reshaping,
    row_of,
    same_dims,
    selecting,
)

# element by element


def _stretched(result: Array, shape: tuple[int, ...]) -> Array:
    """The result, its dimensions of size 1 repeated as its type says (a view)."""
    at = result.ndim - len(shape)
    if result.shape[at:] == shape:
        return result
    return np.broadcast_to(result, (*result.shape[:at], *shape))


def _of_rank(x: Array, rank: int, wanted: int) -> Array:
    """A tensor of some rank with dimensions of size 1 in front (a view)."""
    if rank == wanted:
        return x
    lead = x.ndim - rank
    return x.reshape((*x.shape[:lead], *(1,) * (wanted - rank), *x.shape[lead:]))


def _elementwise(name: str, kernel: Kernel, op: Any) -> Prepared:
    shape, _ = tensor_of(op.results[0].type)
    rank = len(shape)
    write = selecting if name == "where" else None
    if has_layout(op.results[0].type):
        kernel, write = partial(_of_tt_mlir, kernel, op), None
    plain = elementwise(kernel, rank)
    write = write or plain.into
    ranks = [rank_of(one.type) for one in op.reads]
    same_rank = set(ranks) == {rank}

    def expanded(args: tuple[Array, ...]) -> tuple[Array, ...]:
        return args if same_rank else tuple(map(_of_rank, args, ranks, repeat(rank)))

    def run(*args: Array) -> Array:
        result = kernel(*expanded(args))
        if result.shape[result.ndim - rank :] == shape:
            return result
        return _stretched(np.asarray(result), shape)

    def run_into(room: Sequence[Array], *args: Array) -> Array | None:
        return None if write is None else write(room, *expanded(args))

    return Prepared(run, write and run_into, plain.rows)


_TRUTH = (Typing.LOGICAL, Typing.SELECT)


def _of_tt_mlir(kernel: Kernel, op: Any, *args: Array) -> Array:
    """What tt-mlir says beside: activations, and numbers that stand for truth."""
    values = list(args)
    if op.SPEC.arity == 2:
        for at, where in enumerate(ACTIVATIONS[:2]):
            values[at] = activated_by(values[at], op.properties.get(where))
    for at in range(1 if op.SPEC.typing == Typing.SELECT else len(values)):
        if op.SPEC.typing in _TRUTH and values[at].dtype.kind != "b":
            values[at] = values[at] != 0
    result = np.asarray(kernel(*values))
    if op.SPEC.arity == 2:
        result = activated_by(result, op.properties.get(ACTIVATIONS[2]))
    dtype = tensor_of(op.results[0].type)[1]
    return result if result.dtype == dtype else kernels.convert(result, dtype)


def _typecast(op: Any) -> Prepared:
    shape, dtype = tensor_of(op.results[0].type)

    def run(x: Array) -> Array:
        return _stretched(kernels.convert(x, dtype), shape)

    return Prepared(run, rows=Rows(len(shape), partial(kernels.convert, dtype=dtype)))


def _bitcast_convert(op: Any) -> Kernel:
    shape, dtype = tensor_of(op.results[0].type)

    def run(x: Array) -> Array:
        return _stretched(kernels.bitcast_convert(x, dtype), shape)

    return run


# reductions


def _mean(x: Array, axes: tuple[int, ...]) -> Array:
    wide = widen(x)
    count = prod(x.shape[axis] for axis in axes)
    total = reduce_named("add", wide, axes)
    if is_integer(x.dtype):
        return BINARY["divide"](total, total.dtype.type(count)).astype(x.dtype)
    return (total / wide.dtype.type(count)).astype(x.dtype)


_REDUCTIONS: Mapping[str, str] = {
    "max": "maximum",
    "min": "minimum",
    "prod": "multiply",
    "reduce_and": "and",
    "reduce_or": "or",
    "sum": "add",
}


def _reduction(mnemonic: str, op: Any) -> Prepared:
    rank = rank_of(op.input.type)
    dims = [dim % rank for dim in op.reduced_dims()]
    shape, _ = tensor_of(op.results[0].type)
    name = _REDUCTIONS.get(mnemonic)
    keeps = min(dims, default=0)

    def run(x: Array) -> Array:
        lead = x.ndim - rank
        axes = tuple(lead + dim for dim in dims)
        if name is None:
            reduced = _mean(x, axes)
        else:
            reduced = reduce_named(name, x, axes) if axes else x
        return reduced.reshape(row_of(x, rank, keeps, shape))

    return Prepared(run, rows=Rows(keeps, run))


# data movement


def _reshape(op: Any) -> Prepared:
    return reshaping(tensor_of(op.input.type)[0], tensor_of(op.results[0].type)[0])


def _repeat(op: Any) -> Kernel | Prepared:
    factors = op.repeat_dims.values()
    sizes, _ = tensor_of(op.input.type)
    if all(n == 1 or k == 1 for n, k in zip(sizes, factors, strict=True)):
        return _broadcast(op)

    def run(x: Array) -> Array:
        return np.tile(x, (*(1,) * (x.ndim - len(factors)), *factors))

    return run


def _concat(op: Any) -> Kernel:
    rank = rank_of(op.results[0].type)
    dim = op.dim.value.data % rank

    def run(*args: Array) -> Array:
        return kernels.concatenate(args, rank, dim)

    return run


def _slice_static(op: Any) -> Kernel:
    return partial(
        kernels.slice_,
        start=ints(op.begins),
        limit=ints(op.ends),
        strides=ints(op.step),
    )


def _slice_dynamic(op: Any) -> Kernel:
    shape, _ = tensor_of(op.results[0].type)

    def run(x: Array, begins: Array, _ends: Array) -> Array:
        starts = [begins[..., dim] for dim in range(len(shape))]
        return indexing.dynamic_slice(x, starts, shape)

    return run


def number_of(attribute: object, dtype: DType) -> Array:
    """An attribute's number in an element type, rounded once."""
    assert isinstance(attribute, FloatAttr | IntegerAttr)
    return kernels.convert(np.array(attribute.value.data), dtype)


def _pad(op: Any) -> Kernel:
    amounts = ints(op.padding)
    low, high = amounts[0::2], amounts[1::2]
    value = number_of(op.value, tensor_of(op.results[0].type)[1])
    gaps = (0,) * len(low)
    return partial(kernels.pad, value=value, low=low, high=high, interior=gaps)


def _permute(op: Any) -> Kernel:
    return partial(kernels.transpose, permutation=ints(op.permutation))


def _reverse(op: Any) -> Kernel:
    rank, dims = rank_of(op.input.type), ints(op.dimensions)
    return partial(kernels.reverse, rank=rank, dims=dims)


_SCATTERS: Mapping[ReduceType, str] = {
    ReduceType.SUM: "add",
    ReduceType.PROD: "multiply",
    ReduceType.MAX: "maximum",
    ReduceType.MIN: "minimum",
}


def _scatter(op: Any) -> Prepared:
    rank = rank_of(op.input.type)
    dim = op.dim.value.data % rank
    name = _SCATTERS.get(op.scatter_reduce_type.data)
    how = None if name is None else Reducer.named(name)

    def run(x: Array, index: Array, source: Array) -> Array:
        return indexing.scatter_along(x, index, source, rank, dim, how)

    def into(
        room: Sequence[Array], x: Array, index: Array, source: Array
    ) -> Array | None:
        if not any(x is array for array in room):
            return None
        return indexing.scatter_in_place(x, index, source, rank, dim)

    return Prepared(run, into if how is None else None)


def _broadcast(op: Any) -> Prepared:
    before, shape = (tensor_of(one.type)[0] for one in (op.input, op.results[0]))
    keeps, rank = same_dims(before, shape), len(before)
    if rank != len(shape):
        return Prepared(partial(_stretched, shape=shape))

    def run(x: Array) -> Array:
        return np.broadcast_to(x, row_of(x, rank, keeps, shape))

    return Prepared(run, rows=Rows(keeps, run, view=True))


# creation


def _filled(number: int, op: Any) -> Kernel:
    shape, dtype = tensor_of(op.results[0].type)
    return partial(np.broadcast_to, kernels.convert(np.array(number), dtype), shape)


def _full(op: Any) -> Kernel:
    shape, dtype = tensor_of(op.results[0].type)
    return partial(np.broadcast_to, number_of(op.fill_value, dtype), shape)


def _constant(op: Any) -> Kernel:
    return partial(np.asarray, read_constant(op, op.value))


def _arange(op: Any) -> Kernel:
    shape, dtype = tensor_of(op.results[0].type)
    start, end, step = (x.value.data for x in (op.start, op.end, op.step))
    local = [-1 if at == op.dim else 1 for at in range(len(shape))]

    def run() -> Array:
        numbers: Array = np.arange(int(start), int(end), int(step))
        line = kernels.convert(numbers, dtype)
        return np.broadcast_to(line.reshape(local), shape)

    return run


PREPARES: dict[str, Callable[[Any], Kernel | Prepared]] = {
    **{
        name: partial(_elementwise, name, kernel)
        for name, kernel in ELEMENTWISE.items()
    },
    **{name: partial(_reduction, name) for name in ("mean", *_REDUCTIONS)},
    "arange": _arange,
    "bitcast_convert": _bitcast_convert,
    "broadcast": _broadcast,
    "concat": _concat,
    "constant": _constant,
    "empty": partial(_filled, 0),  # never read; no memory either
    "full": _full,
    "matmul": matmul_of,
    "ones": partial(_filled, 1),
    "pad": _pad,
    "permute": _permute,
    "repeat": _repeat,
    "reshape": _reshape,
    "reverse": _reverse,
    "scatter": _scatter,
    "slice_dynamic": _slice_dynamic,
    "slice_static": _slice_static,
    "typecast": _typecast,
    "zeros": partial(_filled, 0),
}
"""What is made of each op, by its declaration's name (`repeat` is ttnn's alone)."""
