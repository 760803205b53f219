"""What the ops compute that tt-mlir has today and our lowerings do not write.

`TODAY_RUNS` says it by mnemonic; fields are read by name. Norms, softmax and attention
are in `tt_fused.py`, what moves data between places and devices in `tt_mesh.py`.

Source: tt-mlir's op descriptions; `rows_gather` and `rows_scatter`, which those of
August 2026 lack, from what tt-mlir makes of StableHLO's gathers and scatters.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from math import prod
from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.dialects._tt.attributes import ints
from ttxdsl.dialects.stablehlo.attributes import ConvDims
from ttxdsl.dialects.ttcore import ReduceType
from ttxdsl.interpreters.kernels import contraction, elementwise, special
from ttxdsl.interpreters.kernels.elements import (
    is_float,
    rank_of,
    tensor_of,
    widen,
    widened,
)
from ttxdsl.interpreters.kernels.elementwise import BINARY, Array, Kernel, UnaryKernel
from ttxdsl.interpreters.kernels.reduction import Reducer, reduce_window
from ttxdsl.interpreters.ops.registry import Run
from ttxdsl.interpreters.runtime.regions import Values


def number(attribute: Any) -> float | int:
    """The number of an attribute."""
    return attribute.value.data


def result_of(op: Any, value: Array, at: int = 0) -> Array:
    """A value in the element type of a result, rounded once."""
    return elementwise.convert(value, tensor_of(op.results[at].type)[1])


# element by element


def _selu(x: Array, scale: float, alpha: float) -> Array:
    return x.dtype.type(scale) * np.where(x > 0, x, alpha * np.expm1(x)).astype(x.dtype)


def _gelu_derivative(x: Array, how: str) -> Array:
    half, one = x.dtype.type(0.5), x.dtype.type(1)
    if how == "tanh":
        root = x.dtype.type(np.sqrt(2 / np.pi))
        inner = np.tanh(root * (x + x.dtype.type(0.044715) * x**3))
        slope = root * (one + x.dtype.type(3 * 0.044715) * x * x)
        return half * (one + inner) + half * x * (one - inner * inner) * slope
    bell = np.exp(-half * x * x) * x.dtype.type(1 / np.sqrt(2 * np.pi))
    return half * (one + special.erf(x * x.dtype.type(np.sqrt(0.5)))) + x * bell


UNARY_TODAY: dict[str, UnaryKernel] = {
    "exp2": widened(np.exp2),
    "frac": widened(lambda x: x - np.trunc(x)),
    "hardsigmoid": widened(
        lambda x: np.clip(x / x.dtype.type(6) + x.dtype.type(0.5), 0, 1)
    ),
    "mish": widened(lambda x: x * np.tanh(np.logaddexp(x.dtype.type(0), x))),
    "relu6": widened(lambda x: np.clip(x, 0, 6)),
    "round": widened(np.rint),
    "signbit": np.signbit,
    "softsign": widened(lambda x: x / (1 + np.abs(x))),
    "square": lambda x: BINARY["multiply"](x, x),
    "trunc": widened(np.trunc),
}
"""Of one operand."""


def _unary(kernel: UnaryKernel, _: Interpreter, op: Any, args: Values) -> Values:
    return (result_of(op, np.asarray(kernel(args[0]))),)


def _clamp_scalar(_: Interpreter, op: Any, args: Values) -> Values:
    x: Array = args[0]
    low, high = (
        elementwise.convert(np.array(number(one)), x.dtype) for one in (op.min, op.max)
    )
    return (result_of(op, elementwise.clamp(low, x, high)),)


def _leaky_relu(_: Interpreter, op: Any, args: Values) -> Values:
    x = widen(args[0])
    slope = x.dtype.type(number(op.parameter))
    return (result_of(op, np.where(x > 0, x, x * slope)),)


def _selu_op(_: Interpreter, op: Any, args: Values) -> Values:
    scale = 1.0507009873554805 if op.scale is None else number(op.scale)
    alpha = 1.6732632423543772 if op.alpha is None else number(op.alpha)
    return (result_of(op, _selu(widen(args[0]), scale, alpha)),)


def _pow_scalar(_: Interpreter, op: Any, args: Values) -> Values:
    x: Array = args[0]
    power = elementwise.convert(np.array(number(op.rhs)), x.dtype)
    return (result_of(op, BINARY["power"](x, power)),)


def _right_shift(_: Interpreter, op: Any, args: Values) -> Values:
    return (result_of(op, BINARY["shift_right_arithmetic"](*args)),)


def _gelu_bw(_: Interpreter, op: Any, args: Values) -> Values:
    how = "none" if op.approximate is None else op.approximate.data
    slope = _gelu_derivative(widen(args[1]), how)
    return (result_of(op, widen(args[0]) * slope),)


def _reduce_precision(_: Interpreter, op: Any, args: Values) -> Values:
    bits = int(number(op.exponent_bits)), int(number(op.mantissa_bits))
    return (elementwise.reduce_precision(args[0], *bits),)


# along dimensions


def _running(kernel: Kernel) -> Callable[..., Array]:
    """What all elements up to each one come to, by a kernel that has no order.

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


_ACCUMULATES: dict[ReduceType, Callable[..., Array]] = {
    ReduceType.SUM: np.add.accumulate,
    ReduceType.PROD: np.multiply.accumulate,
    ReduceType.MAX: _running(BINARY["maximum"]),
    ReduceType.MIN: _running(BINARY["minimum"]),
    ReduceType.LOGSUMEXP: np.logaddexp.accumulate,
}


def _cumulative(_: Interpreter, op: Any, args: Values) -> Values:
    """What all elements up to each one come to; from the end if it is `reverse`."""
    rank = rank_of(op.input.type)
    axis = int(number(op.dim)) % rank - rank
    accumulate = _ACCUMULATES.get(op.reduction.data)
    if accumulate is None:
        raise InterpretationError(f"no accumulation by {op.reduction.data.value}")
    turned = op.reverse is not None and bool(op.reverse)
    x = widen(args[0])
    x = np.flip(x, axis) if turned else x
    y = accumulate(x, axis=axis, dtype=x.dtype)
    return (result_of(op, np.flip(y, axis) if turned else y),)


_BITWISE = {
    "reduce_bitwise_and": np.bitwise_and,
    "reduce_bitwise_or": np.bitwise_or,
    "reduce_bitwise_xor": np.bitwise_xor,
}


def _reduce_bits(ufunc: np.ufunc, _: Interpreter, op: Any, args: Values) -> Values:
    x: Array = args[0]
    rank = rank_of(op.input.type)
    dims = range(rank) if op.dim_arg is None else ints(op.dim_arg)
    shape, _dtype = tensor_of(op.results[0].type)
    y = ufunc.reduce(x, axis=tuple(dim % rank - rank for dim in dims))
    return (result_of(op, y.reshape((*x.shape[: x.ndim - rank], *shape))),)


# other places, shapes and orders


def same(_: Interpreter, op: Any, args: Values) -> Values:
    """The first operand: only its place or its layout changes, perhaps its type."""
    return (result_of(op, args[0]),)


def reshaped(_: Interpreter, op: Any, args: Values) -> Values:
    """The elements in the shape of the result."""
    shape, _dtype = tensor_of(op.results[0].type)
    return (elementwise.reshape(args[0], rank_of(op.operands[0].type), shape),)


def _repeat(_: Interpreter, op: Any, args: Values) -> Values:
    x: Array = args[0]
    factors = ints(op.repeat_dimensions)
    return (np.tile(x, (*(1,) * (x.ndim - len(factors)), *factors)),)


def _repeat_interleave(_: Interpreter, op: Any, args: Values) -> Values:
    rank = rank_of(op.input.type)
    axis = int(number(op.dim)) % rank - rank
    return (np.repeat(args[0], int(number(op.repeats)), axis=axis),)


def _transpose(_: Interpreter, op: Any, args: Values) -> Values:
    rank = rank_of(op.input.type)
    dims = (int(number(one)) % rank - rank for one in (op.dim0, op.dim1))
    return (np.swapaxes(args[0], *dims),)


def _index_select(_: Interpreter, op: Any, args: Values) -> Values:
    """`length` elements from `begin` along a dimension, then `stride` further on."""
    x: Array = args[0]
    rank = rank_of(op.input.type)
    axis = int(number(op.dim)) % rank - rank
    begin, length = int(number(op.begin)), int(number(op.length))
    stride = length if not op.stride or not number(op.stride) else number(op.stride)
    size = x.shape[axis]
    starts = range(begin, size - length + 1, int(stride))
    return (np.take(x, [at + i for at in starts for i in range(length)], axis=axis),)


def _rows(op: Any, lead: int, x: Array, index: Array) -> tuple[Array, Array, list[int]]:
    """The input as rows for each batch, for each window where, and its last place.

    The input is `[batch, sizes…, row]`, or of columns `[row, batch, sizes…]`; the index
    is `[batch, dimension, window]`, or one for all batches: where each window starts.
    """
    sizes, windows = ints(op.sizes), ints(op.windows)
    batch = index.shape[lead] if bool(op.column) else x.shape[lead]
    x = _rows_last(op, x, lead, batch, prod(sizes))
    index = np.broadcast_to(
        index, (*index.shape[:lead], batch, *index.shape[lead + 1 :])
    )
    limits = [size - window for size, window in zip(sizes, windows, strict=True)]
    return x, np.moveaxis(widen(index), -2, 0), limits


def _rows_last(op: Any, x: Array, lead: int, batch: int, count: int) -> Array:
    """As `[batch, count, row]`."""
    if not bool(op.column):
        return x.reshape((*x.shape[:lead], batch, count, -1))
    return np.moveaxis(x.reshape((*x.shape[:lead], -1, batch, count)), lead, -1)


def _rows_back(op: Any, x: Array, lead: int) -> Array:
    """From `[batch, count, row]` to the shape of the result."""
    shape, _dtype = tensor_of(op.results[0].type)
    x = np.moveaxis(x, -1, lead) if bool(op.column) else x
    return x.reshape((*x.shape[:lead], *shape))


def _window_rows(op: Any, starts: Array) -> Array:
    """The numbers of the rows of each window, in row-major order."""
    sizes, windows = ints(op.sizes), ints(op.windows)
    strides = [prod(sizes[at + 1 :]) for at in range(len(sizes))]
    offsets = [
        sum(i * stride for i, stride in zip(place, strides, strict=True))
        for place in product(*map(range, windows))
    ]
    first = sum(starts[at] * stride for at, stride in enumerate(strides))
    rows = np.asarray(first)[..., None] + np.array(offsets)
    return rows.reshape((*rows.shape[:-2], -1))


def _clipped(starts: Array, limits: Sequence[int]) -> Array:
    """Where the windows start when all of each has to lie inside."""
    return np.stack([np.clip(s, 0, m) for s, m in zip(starts, limits, strict=True)])


def _inside(op: Any, starts: Array, limits: Sequence[int]) -> Array:
    """For each row of each window whether the window lies inside."""
    inside = [(s >= 0) & (s <= m) for s, m in zip(starts, limits, strict=True)]
    return np.repeat(np.logical_and.reduce(inside), prod(ints(op.windows)), axis=-1)


def _rows_gather(_: Interpreter, op: Any, args: Values) -> Values:
    x, index = args
    lead = max(x.ndim - rank_of(op.input.type), index.ndim - rank_of(op.index.type))
    x = x.reshape((*(1,) * (lead + rank_of(op.input.type) - x.ndim), *x.shape))
    index = index.reshape((*(1,) * (lead + 3 - index.ndim), *index.shape))
    rows, starts, limits = _rows(op, lead, x, index)
    numbers = _window_rows(op, _clipped(starts, limits))
    outer = np.broadcast_shapes(rows.shape[:lead], numbers.shape[:lead])
    rows = np.broadcast_to(rows, (*outer, *rows.shape[lead:]))
    numbers = np.broadcast_to(numbers, (*outer, *numbers.shape[lead:]))
    taken = np.take_along_axis(rows, numbers[..., None], axis=-2)
    if op.fill_out_of_bounds is not None and bool(op.fill_out_of_bounds):
        inside = _inside(op, starts, limits)[..., None]
        taken = np.where(inside, taken, np.zeros((), taken.dtype))
    return (_rows_back(op, taken, lead),)


def _rows_scatter(_: Interpreter, op: Any, args: Values) -> Values:
    x, index, source = args
    ranks = [rank_of(one.type) for one in op.operands]
    lead = max(a.ndim - rank for a, rank in zip(args, ranks, strict=True))
    x, index, source = (
        a.reshape((*(1,) * (lead + rank - a.ndim), *a.shape))
        for a, rank in zip((x, index, source), ranks, strict=True)
    )
    outer = np.broadcast_shapes(*(a.shape[:lead] for a in (x, index, source)))
    x, index, source = (
        np.broadcast_to(a, (*outer, *a.shape[lead:])) for a in (x, index, source)
    )
    rows, starts, limits = _rows(op, lead, x, index)
    inside = _inside(op, starts, limits)
    numbers = _window_rows(op, _clipped(starts, limits))
    result = rows.copy()
    parts = _rows_last(op, source, lead, rows.shape[lead], numbers.shape[-1])
    how = _SCATTERS.get(op.reduce.data)
    for place in np.ndindex(numbers.shape):
        if inside[place]:
            at = (*place[:-1], int(numbers[place]))
            new = parts[place]
            result[at] = new if how is None else BINARY[how](result[at], new)
    return (_rows_back(op, result, lead),)


_SCATTERS = {
    ReduceType.SUM: "add",
    ReduceType.PROD: "multiply",
    ReduceType.MAX: "maximum",
    ReduceType.MIN: "minimum",
}


# windows


def _edges(op: Any, count: int) -> list[tuple[int, int]]:
    """Padding below and above each of the spatial dimensions.

    ttir says top, left, bottom and right, ttnn top, bottom, left and right; half as
    many stand for both sides.
    """
    padding = ints(op.padding)
    if len(padding) == count:
        return [(amount, amount) for amount in padding]
    if op.DIALECT == "ttir":
        return list(zip(padding[:count], padding[count:], strict=True))
    return list(zip(padding[0::2], padding[1::2], strict=True))


def _image(op: Any, x: Array) -> Array:
    """The image `[n, h, w, c]`, which ttnn flattens."""
    if op.batch_size is None:
        return x
    said = (op.batch_size, op.input_height, op.input_width, op.channels)
    return elementwise.reshape(x, 4, [int(number(one)) for one in said])


def _pooled(op: Any, x: Array, name: str, start: Any) -> Array:
    kernel = ints(op.kernel if op.kernel is not None else op.kernel_size)
    stride, dilation = ints(op.stride), ints(op.dilation)
    edges = _edges(op, 2)
    if bool(op.ceil_mode):
        lead = x.ndim - 4
        edges = [
            (low, high + _missing(x.shape[lead + 1 + at] + low + high, *of))
            for at, ((low, high), *of) in enumerate(
                zip(edges, kernel, stride, dilation, strict=True)
            )
        ]
    (y,) = reduce_window(
        (x,),
        (np.asarray(start, x.dtype),),
        (1, *kernel, 1),
        (1, *stride, 1),
        (1, 1, 1, 1),
        (1, *dilation, 1),
        ((0, 0), *edges, (0, 0)),
        Reducer.named(name),
    )
    return y


def _missing(size: int, window: int, by: int, gap: int) -> int:
    """What the last window lacks when it may hang over."""
    rest = (size - gap * (window - 1) - 1) % by
    return by - rest if rest else 0


def _shaped(op: Any, value: Array, at: int = 0) -> Array:
    shape, _dtype = tensor_of(op.results[at].type)
    return result_of(op, elementwise.reshape(value, 4, shape), at)


def _avg_pool2d(_: Interpreter, op: Any, args: Values) -> Values:
    x = widen(_image(op, args[0]))
    total = _pooled(op, x, "add", 0)
    if op.divisor_override is not None:
        return (_shaped(op, total / x.dtype.type(number(op.divisor_override))),)
    counted = op.count_include_pad is None or bool(op.count_include_pad)
    if counted and not bool(op.ceil_mode):
        kernel = ints(op.kernel if op.kernel is not None else op.kernel_size)
        return (_shaped(op, total / x.dtype.type(prod(kernel))),)
    return (_shaped(op, total / _pooled(op, np.ones_like(x), "add", 0)),)


def _max_pool2d(_: Interpreter, op: Any, args: Values) -> Values:
    x = _image(op, args[0])
    least = -np.inf if is_float(x.dtype) else np.iinfo(x.dtype).min
    best = _shaped(op, _pooled(op, x, "maximum", least))
    if len(op.results) == 1:
        return (best,)
    # the first place, in the image, of the largest
    height, width = x.shape[-3:-1]
    places = np.arange(height * width, dtype=np.int64).reshape(height, width, 1)
    kernel = ints(op.kernel if op.kernel is not None else op.kernel_size)
    edges = [(0, 0), *_edges(op, 2), (0, 0)]
    low, high = [e[0] for e in edges], [e[1] for e in edges]
    padded = elementwise.pad(
        widen(x), np.asarray(least, widen(x).dtype), low, high, [0] * 4
    )
    numbered = elementwise.pad(
        np.broadcast_to(places, x.shape), np.array(0, np.int64), low, high, [0] * 4
    )
    of = kernel, ints(op.stride), ints(op.dilation)
    values, numbers = (
        np.moveaxis(contraction.windows(np.moveaxis(a, -1, -3), *of), -5, -3)
        for a in (padded, numbered)
    )
    # […, h', w', c, kh, kw]
    flat = values.reshape((*values.shape[:-2], -1))
    found = np.argmax(flat, axis=-1)[..., None]
    where = np.take_along_axis(numbers.reshape(flat.shape), found, axis=-1)[..., 0]
    return best, _shaped(op, where, 1)


def _global_avg_pool2d(_: Interpreter, op: Any, args: Values) -> Values:
    x = widen(args[0])
    return (_shaped(op, x.mean(axis=(-3, -2), keepdims=True, dtype=x.dtype)),)


def _conv1d(_: Interpreter, op: Any, args: Values) -> Values:
    x, weight, *bias = args
    if op.input_length is not None:
        said = (op.batch_size, op.input_length, op.in_channels)
        x = elementwise.reshape(
            x, rank_of(op.input.type), [int(number(s)) for s in said]
        )
    _require_order(op, (op.batch_dim, op.length_dim, op.channel_dim))
    padding = ints(op.padding)
    edges = ((padding[0], padding[-1]),)
    dims = ConvDims(0, 2, (1,), 1, 0, (2,), 0, 2, (1,))
    window = contraction.ConvWindow(
        (int(number(op.stride)),), edges, (1,), (int(number(op.dilation)),), (False,)
    )
    return _finished(op, x, weight, bias, dims, window, 3)


def _require_order(op: Any, dims: Sequence[Any]) -> None:
    for at, dim in enumerate(dims):
        if dim is not None and int(number(dim)) != at:
            raise InterpretationError(f"{op.name} with its dimensions in another order")


def _finished(
    op: Any,
    x: Array,
    weight: Array,
    bias: Sequence[Array],
    dims: ConvDims,
    window: contraction.ConvWindow,
    rank: int,
) -> Values:
    shape, dtype = tensor_of(op.results[0].type)
    groups = int(number(op.groups))
    y = contraction.convolution(x, weight, dims, window, groups, 1, dtype)
    if bias:
        channels = bias[0].reshape(
            (
                *bias[0].shape[: bias[0].ndim - rank_of(op.bias.type)],
                *(1,) * (rank - 1),
                -1,
            )
        )
        y = BINARY["add"](y, elementwise.convert(channels, dtype))
    return (elementwise.reshape(y, rank, shape),)


def _conv_transpose2d(_: Interpreter, op: Any, args: Values) -> Values:
    """The windows' gradient: the image spread by `stride`, a kernel `[i, o, h, w]`."""
    x, weight, *bias = args
    if op.input_height is not None:
        said = (op.batch_size, op.input_height, op.input_width, op.in_channels)
        x = elementwise.reshape(x, 4, [int(number(one)) for one in said])
    _require_order(op, (op.batch_dim, op.height_dim, op.width_dim, op.channel_dim))
    groups = int(number(op.groups))
    rank = rank_of(op.weight.type)
    inputs, outputs, *kernel = tensor_of(op.weight.type)[0]
    # [i, o / groups, …] -> [o, i / groups, …], a group after the other
    lead = weight.shape[: weight.ndim - rank]
    weight = weight.reshape((*lead, groups, inputs // groups, outputs, *kernel))
    weight = np.swapaxes(weight, -4, -3)
    weight = weight.reshape((*lead, groups * outputs, inputs // groups, *kernel))
    dilation = ints(op.dilation)
    edges = [
        (gap * (size - 1) - low, gap * (size - 1) - high + more)
        for gap, size, (low, high), more in zip(
            dilation, kernel, _edges(op, 2), ints(op.output_padding), strict=True
        )
    ]
    dims = ConvDims(0, 3, (1, 2), 1, 0, (2, 3), 0, 3, (1, 2))
    window = contraction.ConvWindow(
        (1, 1), tuple(edges), ints(op.stride), dilation, (True, True)
    )
    return _finished(op, x, weight, bias, dims, window, 4)


TODAY_RUNS: dict[str, Run] = {
    **{name: partial(_unary, kernel) for name, kernel in UNARY_TODAY.items()},
    **{name: partial(_reduce_bits, ufunc) for name, ufunc in _BITWISE.items()},
    "assign": same,
    "bitwise_right_shift": _right_shift,
    "avg_pool2d": _avg_pool2d,
    "clamp_scalar": _clamp_scalar,
    "conv1d": _conv1d,
    "conv_transpose2d": _conv_transpose2d,
    "cumulative": _cumulative,
    "deallocate": lambda _run, _op, _args: (),  # `lifetimes` sees to the use of what is freed
    "from_device": same,
    "gelu_bw": _gelu_bw,
    "global_avg_pool2d": _global_avg_pool2d,
    "index_select": _index_select,
    "leaky_relu": _leaky_relu,
    "max_pool2d": _max_pool2d,
    "max_pool2d_with_indices": _max_pool2d,
    "pow_scalar": _pow_scalar,
    "reduce_precision": _reduce_precision,
    "repeat_interleave": _repeat_interleave,
    "right_shift": _right_shift,
    "rows_gather": _rows_gather,
    "rows_scatter": _rows_scatter,
    "selu": _selu_op,
    "squeeze": reshaped,
    "to_device": same,
    "to_layout": same,
    "to_memory_config": same,
    "transpose": _transpose,
    "unsqueeze": reshaped,
}
"""How each is computed, by mnemonic; `TTIR_REPEAT` is ttir's alone."""

TTIR_REPEAT = _repeat
"""`ttir.repeat`, whose factors have another name than those of `ttnn.repeat`."""
