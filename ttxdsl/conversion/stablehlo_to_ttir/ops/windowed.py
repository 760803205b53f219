"""StableHLO's convolutions and windowed reductions in ttir.

A convolution is brought to the form of conv2d (or conv3d) by moving dimensions,
reversing kernels and spreading elements. A windowed reduction is done one dimension
after the other, by doubling: windows of 2, 4, 8, … elements from pairs of smaller ones.
"""

from collections.abc import Callable, Sequence
from itertools import product

from xdsl.dialects.builtin import IntegerAttr, i1, i32
from xdsl.ir import Attribute, SSAValue

from ttxdsl.conversion.stablehlo_to_ttir.bodies import (
    COMBINE,
    combining_kind,
    evaluate,
    identity_of,
    is_identity,
)
from ttxdsl.conversion.stablehlo_to_ttir.builder import TTIRBuilder
from ttxdsl.conversion.stablehlo_to_ttir.lowering import Lowering, Rule, constant_splat
from ttxdsl.conversion.stablehlo_to_ttir.ops.data_movement import pad
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import stablehlo, ttir
from ttxdsl.dialects._tt.attributes import dense_i32
from ttxdsl.dialects.stablehlo.windowed import (
    padding_pairs,
    window_flips,
    window_values,
)
from ttxdsl.dialects.ttcore import ReduceType
from ttxdsl.ir.tensors import element_of, shape_of, tensor_type

Combine = Callable[[Sequence[SSAValue], Sequence[SSAValue]], Sequence[SSAValue]]
"""Combines values of one shape, element by element, the first being earlier."""

_CUMULATIVE = {ReduceType.SUM: "cumsum", ReduceType.PROD: "cumprod"}
"""Windows that begin at the edge, by kind of reduction."""

_CONV_DIMENSIONS = (2, 3)
"""Spatial dimensions that ttir has convolutions for; one becomes two."""


# --- convolution ------------------------------------------------------------


def _convolution(low: Lowering, op: stablehlo.ConvolutionOp) -> SSAValue:
    build, numbers = low.builder, op.dimension_numbers.data
    spatial = len(numbers.input_spatial_dimensions)
    if spatial > max(_CONV_DIMENSIONS):
        raise UnsupportedError(f"{spatial} spatial dimensions; ttir has 2 and 3", op)
    image = build.permute(
        low[op.lhs],
        [
            numbers.input_batch_dimension,
            *numbers.input_spatial_dimensions,
            numbers.input_feature_dimension,
        ],
    )
    kernel = build.permute(
        low[op.rhs],
        [
            numbers.kernel_output_feature_dimension,
            numbers.kernel_input_feature_dimension,
            *numbers.kernel_spatial_dimensions,
        ],
    )
    flips = window_flips(op.window_reversal, spatial)
    kernel = build.reverse(kernel, [2 + d for d, flip in enumerate(flips) if flip])

    groups = op.feature_group_count.value.data
    batches = op.batch_group_count.value.data
    if batches > 1:
        image, groups = _batches_as_groups(build, image, batches), batches
    strides = list(window_values(op.window_strides, spatial))
    dilation = list(window_values(op.rhs_dilation, spatial))
    padding = list(padding_pairs(op.padding, spatial))
    spread = window_values(op.lhs_dilation, spatial)
    if any(factor > 1 for factor in spread) or any(n < 0 for p in padding for n in p):
        image = pad(
            build,
            image,
            0,
            [0, *(before for before, _ in padding), 0],
            [0, *(after for _, after in padding), 0],
            [0, *(factor - 1 for factor in spread), 0],
        )
        padding = [(0, 0)] * spatial
    while spatial < min(_CONV_DIMENSIONS):
        # a dimension of size 1 that the window covers
        image = build.reshape(image, (*shape_of(image)[:-1], 1, shape_of(image)[-1]))
        kernel = build.reshape(kernel, (*shape_of(kernel), 1))
        strides, dilation = [*strides, 1], [*dilation, 1]
        padding, spatial = [*padding, (0, 0)], spatial + 1
    type = tensor_type(op.result)
    result = _convolved(
        build, image, kernel, strides, padding, dilation, groups, type.element_type
    )
    places = [
        numbers.output_batch_dimension,
        *numbers.output_spatial_dimensions,
        numbers.output_feature_dimension,
    ]
    kept = [*shape_of(result)[: len(places) - 1], shape_of(result)[-1]]
    result = build.reshape(result, kept)
    return build.permute(result, [places.index(d) for d in range(len(places))])


def _batches_as_groups(build: TTIRBuilder, image: SSAValue, groups: int) -> SSAValue:
    """Parts of the batch that meet different kernels, as groups of channels."""
    batch, *middle, channels = shape_of(image)
    image = build.reshape(image, (groups, batch // groups, *middle, channels))
    image = build.move_dim(image, 0, len(middle) + 1)
    return build.reshape(image, (batch // groups, *middle, groups * channels))


def _convolved(
    build: TTIRBuilder,
    image: SSAValue,
    kernel: SSAValue,
    strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    dilation: Sequence[int],
    groups: int,
    element: Attribute,
) -> SSAValue:
    """Append a conv2d or conv3d.

    conv3d pads both sides alike and does not dilate: both are done before it.
    """
    properties = {
        "stride": dense_i32(strides),
        "padding": dense_i32([n for side in zip(*padding, strict=True) for n in side]),
        "dilation": dense_i32(dilation),
        "groups": IntegerAttr(groups, i32),
    }
    op = ttir.Conv2dOp
    if len(strides) == 3:
        none = [0] * 5
        kernel = pad(build, kernel, 0, none, none, [0, 0, *(n - 1 for n in dilation)])
        before, after = zip((0, 0), *padding, (0, 0), strict=True)
        image = build.pad(image, before, after, 0)
        op, padding, dilation = ttir.Conv3dOp, [(0, 0)] * 3, [1] * 3
        properties["padding"] = dense_i32([0] * 3)
        del properties["dilation"]
    counts: list[int] = []
    for size, window, by, (before, after), gap in zip(
        shape_of(image)[1:-1],
        shape_of(kernel)[2:],
        strides,
        padding,
        dilation,
        strict=True,
    ):
        room = size + before + after - gap * (window - 1) - 1
        counts.append(room // by + 1 if room >= 0 else 0)
    result = build.type([shape_of(image)[0], *counts, shape_of(kernel)[0]], element)
    return build.one(op, [image, kernel], result, properties)


# --- windowed reductions ----------------------------------------------------


def _reduce_window(low: Lowering, op: stablehlo.ReduceWindowOp) -> Sequence[SSAValue]:
    kind = combining_kind(op.body) if len(op.inputs) == 1 else None
    build, values = low.builder, low.all(op.inputs)
    rank = len(shape_of(values[0]))
    windows = op.window_dimensions.get_values()
    strides = window_values(op.window_strides, rank)
    dilations = window_values(op.window_dilations, rank)
    spread = window_values(op.base_dilations, rank)
    edges = padding_pairs(op.padding, rank)
    neutral = kind is not None and is_identity(op.init_values[0], kind)
    running = _running_dim(
        shape_of(values[0]), windows, strides, dilations, spread, edges
    )
    name = _CUMULATIVE.get(kind) if kind else None
    if running and name and neutral and element_of(values[0]) != i1:
        dim, backward = running
        turned = [dim] if backward else []
        total = build.cumulative(name, build.reverse(values[0], turned), dim)
        return [build.reverse(total, turned)]

    def combine(
        left: Sequence[SSAValue], right: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        if kind is not None:
            return [build.elementwise(COMBINE[kind], left[0], right[0])]
        return evaluate(low, op.body.block, [*left, *right], shape_of(left[0]))

    before, after = [e[0] for e in edges], [e[1] for e in edges]
    for place, (value, init) in enumerate(zip(values, op.init_values, strict=True)):
        number = constant_splat(init)
        fill = low[init] if number is None else number
        values[place] = pad(build, value, fill, before, after, [n - 1 for n in spread])
    for dim, (window, by, gap) in enumerate(
        zip(windows, strides, dilations, strict=True)
    ):
        values = _combine_windows(build, values, dim, window, by, gap, combine)
    if neutral:
        return values
    shape = shape_of(values[0])
    starts = [build.broadcast_in_dim(low[i], shape, ()) for i in op.init_values]
    return combine(starts, values)


def _running_dim(
    shape: Sequence[int],
    windows: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    spread: Sequence[int],
    edges: Sequence[tuple[int, int]],
) -> tuple[int, bool] | None:
    """The dimension of a running reduction, and whether it runs backward; or None."""
    if any(n != 1 for n in (*strides, *dilations, *spread)):
        return None
    active = [dim for dim, window in enumerate(windows) if window != 1]
    if len(active) != 1 or any(
        edges[d] != (0, 0) for d in range(len(shape)) if d not in active
    ):
        return None
    dim = active[0]
    if windows[dim] != shape[dim]:
        return None
    if edges[dim] == (shape[dim] - 1, 0):
        return dim, False
    return (dim, True) if edges[dim] == (0, shape[dim] - 1) else None


def _combine_windows(
    build: TTIRBuilder,
    values: Sequence[SSAValue],
    dim: int,
    window: int,
    stride: int,
    gap: int,
    combine: Combine,
) -> list[SSAValue]:
    """Combine windows along one dimension, elements in order.

    `block` holds the combination of `size` elements from every position on. A window is
    made of blocks whose sizes are the binary digits of its length.
    """
    room = shape_of(values[0])[dim] - (window - 1) * gap - 1
    count = room // stride + 1 if room >= 0 else 0
    if count == 0:
        return [build.slice_dim(value, dim, 0, 0) for value in values]
    total: Sequence[SSAValue] = ()
    block, size, taken = values, 1, 0
    while size <= window:
        if window & size:
            begin = taken * gap
            end = begin + (count - 1) * stride + 1
            part = [build.slice_dim(v, dim, begin, end, stride) for v in block]
            total = combine(total, part) if total else part
            taken += size
        if 2 * size <= window:
            length, shift = shape_of(block[0])[dim], size * gap
            left = [build.slice_dim(v, dim, 0, length - shift) for v in block]
            right = [build.slice_dim(v, dim, shift, length) for v in block]
            block = combine(left, right)
        size *= 2
    return list(total)


def _select_and_scatter(low: Lowering, op: stablehlo.SelectAndScatterOp) -> SSAValue:
    """For each window the tap that is selected; then each tap's sources put in place."""
    build, operand, source = low.builder, low[op.operand], low[op.source]
    kind = combining_kind(op.scatter)
    if kind != ReduceType.SUM:
        raise UnsupportedError("its scatter computation is not an addition", op)
    rank = len(shape_of(operand))
    windows = window_values(op.window_dimensions, rank)
    strides = window_values(op.window_strides, rank)
    edges = padding_pairs(op.padding, rank)
    before, after = [e[0] for e in edges], [e[1] for e in edges]
    counts, none = shape_of(source), [0] * rank
    padded = pad(build, operand, 0, before, after, none)
    inside = build.full(shape_of(operand), i1, True)
    inside = pad(build, inside, 0, before, after, none)
    taps = list(product(*(range(window) for window in windows)))

    def tap(value: SSAValue, offsets: Sequence[int]) -> SSAValue:
        ends = [
            offset + (count - 1) * by + 1
            for offset, count, by in zip(offsets, counts, strides, strict=True)
        ]
        return build.slice(value, offsets, ends, strides)

    # the padding is never selected, whatever it holds
    best, known = tap(padded, taps[0]), tap(inside, taps[0])
    chosen = build.full(counts, i32, 0)
    for number, offsets in enumerate(taps[1:], 1):
        other, valid = tap(padded, offsets), tap(inside, offsets)
        keeps = evaluate(low, op.select.block, [best, other], counts)[0]
        keeps = build.elementwise("logical_and", keeps, known)
        valid_new = build.elementwise("logical_not", valid)
        keeps = build.elementwise("logical_or", keeps, valid_new)
        best = build.elementwise("where", keeps, best, other)
        chosen = build.elementwise(
            "where", keeps, chosen, build.full(counts, i32, number)
        )
        known = build.elementwise("logical_or", known, valid)

    total = build.full(shape_of(padded), element_of(operand), 0)
    zeros = build.like(source, 0)
    for number, offsets in enumerate(taps):
        mine = build.compare("eq", chosen, build.full(counts, i32, number))
        part = build.elementwise("where", mine, source, zeros)
        spans = [
            (count - 1) * by + 1 for count, by in zip(counts, strides, strict=True)
        ]
        rest = [
            size - offset - span
            for size, offset, span in zip(shape_of(padded), offsets, spans, strict=True)
        ]
        placed = pad(build, part, 0, offsets, rest, [by - 1 for by in strides])
        total = build.elementwise("add", total, placed)
    result = pad(build, total, 0, [-n for n in before], [-n for n in after], none)
    number = constant_splat(op.init_value)
    if number == identity_of(kind, element_of(operand)):
        return result
    start = build.broadcast_in_dim(low[op.init_value], shape_of(result), ())
    return build.elementwise("add", start, result)


TABLE: dict[str, Rule] = {
    "stablehlo.convolution": _convolution,
    "stablehlo.reduce_window": _reduce_window,
    "stablehlo.select_and_scatter": _select_and_scatter,
}
"""The rules of this family, by StableHLO name."""
