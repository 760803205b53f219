"""Sharding rules of ops with sliding windows, and of Fourier transforms."""

from collections.abc import Iterator

from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, IntegerType

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.rules.builder import Factor, FactorType
from ttxdsl.rules.elementwise import like_result
from ttxdsl.rules.table import OpRule, moded_rule, rule


def convolution(op: stablehlo.ConvolutionOp, conservative: bool) -> Iterator[Factor]:
    """Batch, space, then features, each with its groups as a major factor.

    Groups of batches or features tie the input to the kernel's output features: a
    group on one device needs nothing from the others.
    """
    lhs = shape_of(op.lhs)
    yield from _batches(op)
    if not conservative:
        for dim, window, windows in _space(op):
            yield from _spatial(lhs[dim], window, windows)
    yield from _features(op)


def convolution_parts(op: stablehlo.ConvolutionOp) -> Iterator[Factor]:
    """Devices share space out by windows, or by places where windows are longer.

    The latter is the gradient of a kernel: few windows, each of nearly all elements.
    """
    yield from _batches(op)
    for _, window, windows in _space(op):
        yield windows if windows.size >= window.size else window
    yield from _features(op)


def _batches(op: stablehlo.ConvolutionOp) -> Iterator[Factor]:
    numbers = op.dimension_numbers.data
    batch, out_batch = numbers.input_batch_dimension, numbers.output_batch_dimension
    groups = op.batch_group_count.value.data
    if groups > 1:
        kernel_features = numbers.kernel_output_feature_dimension
        out_features = numbers.output_feature_dimension
        yield Factor(groups, (batch, kernel_features), (out_features,))
    yield Factor(shape_of(op.result)[out_batch], (batch, None), (out_batch,))


def _space(op: stablehlo.ConvolutionOp) -> Iterator[tuple[int, Factor, Factor]]:
    """The input's spatial dimensions: places in the window, and which window it is."""
    numbers, rhs, result = (
        op.dimension_numbers.data,
        shape_of(op.rhs),
        shape_of(op.result),
    )
    for dim, kernel_dim, out in zip(
        numbers.input_spatial_dimensions,
        numbers.kernel_spatial_dimensions,
        numbers.output_spatial_dimensions,
        strict=True,
    ):
        window = Factor(rhs[kernel_dim], (dim, kernel_dim), None, FactorType.REDUCTION)
        yield (
            dim,
            window,
            Factor(result[out], (dim, None), (out,), FactorType.PERMUTATION),
        )


def _features(op: stablehlo.ConvolutionOp) -> Iterator[Factor]:
    numbers, rhs = op.dimension_numbers.data, shape_of(op.rhs)
    kernel_features = numbers.kernel_output_feature_dimension
    out_features = numbers.output_feature_dimension
    feature_groups = op.feature_group_count.value.data
    features = numbers.input_feature_dimension
    if feature_groups > 1:
        yield Factor(feature_groups, (features, kernel_features), (out_features,))
    contracted = numbers.kernel_input_feature_dimension
    yield Factor(rhs[contracted], (features, contracted), None, FactorType.REDUCTION)
    groups = op.batch_group_count.value.data * feature_groups
    per_group = shape_of(op.result)[out_features] // groups
    if per_group > 1:
        yield Factor(per_group, (None, kernel_features), (out_features,))


def _spatial(size: int, window: Factor, windows: Factor) -> Iterator[Factor]:
    """Yield the factors of an input's spatial dimension of this size.

    It can be sharded by which window an element is in, or by its place in the window.
    The larger one is major, so that it takes a sharding first; the other one gets what
    is left of the dimension.
    """
    major_first = (
        (windows, window) if windows.size >= window.size else (window, windows)
    )
    for factor in major_first:
        taken = min(size, factor.size)
        if taken > 1:
            yield Factor(taken, factor.operands, factor.results, factor.kind)
            size //= taken


def _is_one(values: DenseArrayBase[IntegerType] | None, dim: int) -> bool:
    return stablehlo.window_values(values, dim + 1)[dim] == 1


def _whole_windows(
    dim: int,
    window: DenseArrayBase[IntegerType] | None,
    strides: DenseArrayBase[IntegerType] | None,
    padding: DenseIntOrFPElementsAttr | None,
) -> bool:
    """Whether along `dim` every element is a window of its own."""
    unpadded = padding is None or not any(
        tuple(padding.get_values())[2 * dim : 2 * dim + 2]
    )
    return unpadded and _is_one(window, dim) and _is_one(strides, dim)


def reduce_window(op: stablehlo.ReduceWindowOp, conservative: bool) -> Iterator[Factor]:
    """Pointwise by windows; those at the border of a shard need its neighbour."""
    for dim, size in enumerate(shape_of(op.results[0])):
        whole = _whole_windows(dim, op.window_dimensions, op.window_strides, op.padding)
        # a dilated operand has holes, each a window too: shards do not correspond
        if whole and _is_one(op.base_dilations, dim):
            yield Factor(size, dim, dim)
        else:
            yield Factor(size, dim, dim, FactorType.PERMUTATION, conservative)


def select_and_scatter(
    op: stablehlo.SelectAndScatterOp, conservative: bool
) -> Iterator[Factor]:
    """Operand and result alike; the source has one element a window.

    A device that has whole windows needs its own part of the source only.
    """
    source = shape_of(op.source)
    for dim, size in enumerate(shape_of(op.result)):
        if _whole_windows(dim, op.window_dimensions, op.window_strides, op.padding):
            yield Factor(size, dim, dim)
            continue
        yield Factor(
            source[dim],
            (None, dim, None),
            None,
            FactorType.NEED_REPLICATION,
            conservative,
        )
        yield Factor(
            size, (dim, None, None), (dim,), FactorType.PERMUTATION, conservative
        )


def fft(op: stablehlo.FftOp) -> Iterator[Factor]:
    """Yield the transformed dimensions, the last ones, are needed whole.

    A real transform changes the size of the last: shardings do not travel along it.
    """
    before, after = shape_of(op.operand), shape_of(op.result)
    batch = len(before) - len(op.fft_length.get_values())
    for dim, size in enumerate(before):
        if dim < batch:
            yield Factor(size, dim, dim)
        else:
            resized = dim == len(before) - 1 and size != after[dim]
            yield Factor(size, dim, dim, FactorType.NEED_REPLICATION, resized)


RULES: tuple[OpRule, ...] = (
    moded_rule(stablehlo.ConvolutionOp, convolution, parts=convolution_parts),
    rule(stablehlo.FftOp, fft),
    moded_rule(stablehlo.ReduceWindowOp, reduce_window),
    moded_rule(stablehlo.SelectAndScatterOp, select_and_scatter, parts=like_result),
)
