"""Ops of ttir and ttnn that sum products, and windows: matmul, convolutions, pools.

Source: the op descriptions of `ttxdsl/dialects/_tt/` and tt-mlir's.
"""

import re
from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.dialects._tt.attributes import ints
from ttxdsl.dialects.stablehlo.attributes import ConvDims
from ttxdsl.interpreters.kernels import contraction, elementwise as kernels
from ttxdsl.interpreters.kernels.elements import (
    compute_dtype,
    is_float,
    rank_of,
    tensor_of,
    widen,
)
from ttxdsl.interpreters.kernels.elementwise import BINARY, Array, Kernel, aligned
from ttxdsl.interpreters.kernels.reduction import Reducer, reduce_window
from ttxdsl.interpreters.ops.tt.elementwise import activated
from ttxdsl.interpreters.ops.tt.table import compiled, computed, number, with_shape
from ttxdsl.interpreters.runtime.compiled_op import CompiledOp

# products


def _product(op: Any) -> Kernel:
    """Return the product of matrices; leading dimensions stretch as NumPy's do."""
    ranks = rank_of(op.a.type), rank_of(op.b.type)
    shape, dtype = tensor_of(op.results[0].type)
    turned = [
        flag is not None and bool(flag) for flag in (op.transpose_a, op.transpose_b)
    ]
    if ranks[0] == ranks[1] and ranks[0] >= 2:
        batch = tuple(range(ranks[0] - 2))
        if tensor_of(op.a.type)[0][:-2] == tensor_of(op.b.type)[0][:-2]:
            left = ranks[0] - (2 if turned[0] else 1)
            right = ranks[1] - (1 if turned[1] else 2)
            return contraction.Contraction(
                (batch, batch), ((left,), (right,)), ranks, dtype
            )
    # vectors and broadcast batches, as torch.matmul has them
    to = max(*ranks, 2)
    wide = compute_dtype(dtype)

    def run(a: Array, b: Array) -> Array:
        x = a[..., None, :] if ranks[0] == 1 else a
        y = b[..., :, None] if ranks[1] == 1 else b
        x = np.swapaxes(x, -1, -2) if turned[0] and ranks[0] > 1 else x
        y = np.swapaxes(y, -1, -2) if turned[1] and ranks[1] > 1 else y
        x, y = (
            aligned(v, max(rank, 2), to) for v, rank in zip((x, y), ranks, strict=True)
        )
        product = np.matmul(x.astype(wide), y.astype(wide))
        return kernels.convert(kernels.reshape(product, to, shape), dtype)

    return run


def _activation(op: Any, x: Array) -> Array:
    return x if op.activation is None else activated(x, op.activation.data)


def _activated_product(op: Any, product: Kernel, a: Array, b: Array) -> Array:
    return _activation(op, product(a, b))


@computed("linear")
def _linear(op: Any, a: Array, b: Array, *bias: Array) -> Array:
    y = _product(op)(a, b)
    if bias:
        rank = rank_of(op.results[0].type)
        row = aligned(bias[0], rank_of(op.bias.type), rank)
        y = kernels.convert(widen(y) + widen(row), y.dtype)
    return _activation(op, y)


@compiled("matmul")
def _matmul(op: Any) -> CompiledOp:
    """Of both dialects; ttnn's may end with an activation."""
    product = _product(op)
    if op.DIALECT == "ttnn" and op.activation is not None:
        return CompiledOp(partial(_activated_product, op, product))
    contracts = isinstance(product, contraction.Contraction)
    return CompiledOp(product, deferred=product.deferred if contracts else None)


@compiled("dot_general")
def _dot_general(op: Any) -> CompiledOp:
    product = contraction.Contraction(
        (ints(op.batch_dims_lhs), ints(op.batch_dims_rhs)),
        (ints(op.contract_dims_lhs), ints(op.contract_dims_rhs)),
        (rank_of(op.lhs.type), rank_of(op.rhs.type)),
        tensor_of(op.results[0].type)[1],
    )
    return CompiledOp(product, deferred=product.deferred)


# convolutions


def _edges(op: Any, count: int) -> tuple[tuple[int, int], ...]:
    """Return the padding below and above each of the spatial dimensions.

    ttir says top, left, bottom and right, ttnn top, bottom, left and right; half as
    many stand for both sides.
    """
    padding = ints(op.padding)
    if len(padding) == count:
        return tuple((amount, amount) for amount in padding)
    if op.DIALECT == "ttir":
        return tuple(zip(padding[:count], padding[count:], strict=True))
    return tuple(zip(padding[0::2], padding[1::2], strict=True))


def _convolved(
    op: Any,
    x: Array,
    weight: Array,
    bias: Sequence[Array],
    window: contraction.ConvWindow,
) -> Array:
    """Convolve channels-last values by a kernel `[o, i, spatial…]`, and add the bias."""
    count = len(window.strides)
    spatial, last = tuple(range(1, count + 1)), count + 1
    kernel_dims = tuple(at + 1 for at in spatial)
    dims = ConvDims(0, last, spatial, 1, 0, kernel_dims, 0, last, spatial)
    dtype = tensor_of(op.results[0].type)[1]
    groups = int(number(op.groups))
    y = contraction.convolution(x, weight, dims, window, groups, 1, dtype)
    if not bias:
        return y
    lead = bias[0].shape[: bias[0].ndim - rank_of(op.reads[2].type)]
    channels = bias[0].reshape((*lead, *(1,) * last, -1))
    return BINARY["add"](y, kernels.convert(channels, dtype))


def _window(
    stride: Sequence[int], edges: Sequence[tuple[int, int]], dilation: Sequence[int]
) -> contraction.ConvWindow:
    count = len(stride)
    return contraction.ConvWindow(
        tuple(stride), tuple(edges), (1,) * count, tuple(dilation), (False,) * count
    )


@computed("conv2d", "conv3d")
def _conv(op: Any, x: Array, weight: Array, *bias: Array) -> Array:
    order = op.image_dims()
    rank, count = len(order), len(order) - 2
    if hasattr(op, "image_shape"):
        x = kernels.reshape(x, 4, op.image_shape())  # ttnn flattens the image
    x = kernels.transpose(x, order)
    dilation = (1,) * count if op.dilation is None else ints(op.dilation)
    window = _window(ints(op.stride), _edges(op, count), dilation)
    y = _convolved(op, x, _unprepared(op, weight), bias, window)
    y = kernels.transpose(y, sorted(range(rank), key=order.__getitem__))
    return with_shape(op, y, rank)


def _unprepared(op: Any, weight: Array) -> Array:
    """Return the kernel `[o, i, kd, kh, kw]` that `prepare_conv3d_weights` made rows of."""
    if rank_of(op.weight.type) != 2:
        return weight
    channels = op.in_channels.value.data // op.groups.value.data
    block = re.search(r"c_in_block = (\d+)", str(op.conv3d_config))
    size = (block and int(block[1])) or channels
    lead, out = weight.shape[:-2], weight.shape[-1]
    at = len(lead)
    blocks = weight.reshape((*lead, channels // size, *ints(op.kernel_size), size, out))
    order = [at + dim for dim in (5, 0, 4, 1, 2, 3)]
    kernel = np.transpose(blocks, [*range(at), *order])
    return kernel.reshape((*lead, out, channels, *ints(op.kernel_size)))


@computed("prepare_conv3d_weights")
def _prepare_conv3d_weights(op: Any, weight: Array) -> Array:
    """`[o, i, kd, kh, kw]` to rows: blocks of `c_in_block` inputs one after the other.

    Input channels are filled up with zeros to a multiple of `alignment`; within a block
    come the places of the window, then the block's channels.
    """
    align, size = op.alignment.value.data, op.c_in_block.value.data
    *lead, out, channels, depth, height, width = weight.shape
    more = -channels % align
    pads = [(0, more if dim == len(lead) + 1 else 0) for dim in range(weight.ndim)]
    filled, at = np.pad(weight, pads), len(lead)
    channels += more
    size = size or channels
    blocks = filled.reshape((*lead, out, channels // size, size, depth, height, width))
    rows = np.transpose(blocks, [*range(at), *(at + dim for dim in (1, 3, 4, 5, 2, 0))])
    return rows.reshape((*lead, channels * depth * height * width, out))


def _image(op: Any, x: Array, *fields: str) -> Array:
    """Return the image `[n, spatial…, c]`, which ttnn flattens; then fields have sizes."""
    sizes = [getattr(op, name) for name in fields]
    if None in sizes:
        return x
    return kernels.reshape(x, rank_of(op.input.type), [int(number(n)) for n in sizes])


def _require_order(op: Any, dims: Sequence[Any]) -> None:
    for at, dim in enumerate(dims):
        if int(number(dim, at)) != at:
            raise InterpretationError(f"{op.name} with its dimensions in another order")


@computed("conv1d")
def _conv1d(op: Any, x: Array, weight: Array, *bias: Array) -> Array:
    x = _image(op, x, "batch_size", "input_length", "in_channels")
    _require_order(op, (op.batch_dim, op.length_dim, op.channel_dim))
    padding = ints(op.padding)
    edges = ((padding[0], padding[-1]),)
    window = _window((int(number(op.stride)),), edges, (int(number(op.dilation)),))
    return with_shape(op, _convolved(op, x, weight, bias, window), 3)


@computed("conv_transpose2d")
def _conv_transpose2d(op: Any, x: Array, weight: Array, *bias: Array) -> Array:
    """The windows' gradient: the image spread by `stride`, a kernel `[i, o, h, w]`."""
    x = _image(op, x, "batch_size", "input_height", "input_width", "in_channels")
    _require_order(op, (op.batch_dim, op.height_dim, op.width_dim, op.channel_dim))
    groups = int(number(op.groups))
    inputs, outputs, *kernel = tensor_of(op.weight.type)[0]
    # [i, o / groups, …] -> [o, i / groups, …], a group after the other
    lead = weight.shape[: weight.ndim - 4]
    weight = weight.reshape((*lead, groups, inputs // groups, outputs, *kernel))
    weight = np.swapaxes(weight, -4, -3)
    weight = weight.reshape((*lead, groups * outputs, inputs // groups, *kernel))
    dilation = ints(op.dilation)
    edges = tuple(
        (gap * (size - 1) - low, gap * (size - 1) - high + more)
        for gap, size, (low, high), more in zip(
            dilation, kernel, _edges(op, 2), ints(op.output_padding), strict=True
        )
    )
    window = contraction.ConvWindow(
        (1, 1), edges, ints(op.stride), dilation, (True, True)
    )
    return with_shape(op, _convolved(op, x, weight, bias, window), 4)


# pools

_POOL_IMAGE = ("batch_size", "input_height", "input_width", "channels")


def _missing(size: int, window: int, by: int, gap: int) -> int:
    """Return what the last window lacks when it may hang over."""
    rest = (size - gap * (window - 1) - 1) % by
    return by - rest if rest else 0


def _pool_kernel(op: Any) -> tuple[int, ...]:
    return ints(op.kernel if op.kernel is not None else op.kernel_size)


def _pooled(op: Any, x: Array, name: str, start: Any) -> Array:
    kernel, stride, dilation = _pool_kernel(op), ints(op.stride), ints(op.dilation)
    edges = _edges(op, 2)
    if bool(op.ceil_mode):
        lead = x.ndim - 4
        edges = tuple(
            (low, high + _missing(x.shape[lead + 1 + at] + low + high, *of))
            for at, ((low, high), *of) in enumerate(
                zip(edges, kernel, stride, dilation, strict=True)
            )
        )
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


@computed("avg_pool2d")
def _avg_pool2d(op: Any, x: Array) -> Array:
    x = widen(_image(op, x, *_POOL_IMAGE))
    total = _pooled(op, x, "add", 0)
    counted = op.count_include_pad is None or bool(op.count_include_pad)
    if op.divisor_override is not None:
        mean = total / x.dtype.type(number(op.divisor_override))
    elif counted and not bool(op.ceil_mode):
        mean = total / x.dtype.type(prod(_pool_kernel(op)))
    else:
        mean = total / _pooled(op, np.ones_like(x), "add", 0)
    return with_shape(op, mean, 4)


@computed("max_pool2d", "max_pool2d_with_indices")
def _max_pool2d(op: Any, x: Array, *_outputs: Array) -> Any:
    x = _image(op, x, *_POOL_IMAGE)
    least = -np.inf if is_float(x.dtype) else np.iinfo(x.dtype).min
    best = with_shape(op, _pooled(op, x, "maximum", least), 4)
    if len(op.results) == 1:
        return best
    # the first place, in the image, of the largest
    height, width = x.shape[-3:-1]
    places = np.arange(height * width, dtype=np.int64).reshape(height, width, 1)
    kernel = _pool_kernel(op)
    edges = [(0, 0), *_edges(op, 2), (0, 0)]
    low, high = [e[0] for e in edges], [e[1] for e in edges]
    padded = kernels.pad(
        widen(x), np.asarray(least, widen(x).dtype), low, high, [0] * 4
    )
    numbered = kernels.pad(
        np.broadcast_to(places, x.shape), np.array(0, np.int64), low, high, [0] * 4
    )
    of = kernel, ints(op.stride), ints(op.dilation)
    values, numbers = (
        np.moveaxis(contraction.windows(np.moveaxis(a, -1, -3), *of), -5, -3)
        for a in (padded, numbered)
    )
    # […, h', w', c, kh, kw]
    flat = values.reshape((*values.shape[:-2], -1))
    first = np.argmax(flat, axis=-1)[..., None]
    where = np.take_along_axis(numbers.reshape(flat.shape), first, axis=-1)[..., 0]
    return best, with_shape(op, where, 4, 1)


@computed("global_avg_pool2d")
def _global_avg_pool2d(op: Any, x: Array) -> Array:
    x = widen(x)
    return with_shape(op, x.mean(axis=(-3, -2), keepdims=True, dtype=x.dtype), 4)
