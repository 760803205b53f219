"""Halos: the elements beyond a shard's border that windows read, sent by neighbours.

A convolution, a pooling, a pad or a slice reads, for the results of one device, a
stretch near its own shard. What others have of it is sent by collective_permutes, from
the next shard, then from the one behind it. At the ends of the dimension stands the
padding. The op then runs on the stretch without padding.

    shard 0       shard 1       shard 2
    [a b c d]     [e f g h]     [i j k l]
    . a b c d e   d e f g h i   h i j k l .     a window of 3, padded by 1 and 1

With M results and L elements a shard, stride s and padding p, the stretch of shard i
begins at i*M*s - p. Relative to its start i*L it *drifts* by M*s - L from shard to
shard; then shards read different parts of others (`stretches.py`). Where the base of a
convolution is dilated, whole elements are sent and the op pads the few places that are
left.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType, TensorType, i64
from xdsl.ir import SSAValue

from ttxdsl.dialects.quant import scaled_dim
from ttxdsl.dialects.stablehlo.attributes import ComparisonDirection
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.axes import Axes, common_prefix, subtract
from ttxdsl.sharding.devices.replica_groups import groups_along
from ttxdsl.transforms.partition.exchange.stretches import (
    Exchange,
    exchange_of,
    stretches,
)
from ttxdsl.transforms.partition.layout import Layout
from ttxdsl.transforms.partition.localizer import Local, Localizer


class Window(NamedTuple):
    """The windows of an op along one dimension.

    Attributes:
        dim: the dimension of the operand.
        result_dim: that of the result, which counts the windows.
        size: how many elements a window reaches over.
        stride: from the start of one window to that of the next.
        low: the padding before the first element; negative if it begins inside.
        base: the distance of the operand's elements, 1 if there are no holes.
    """

    dim: int
    result_dim: int
    size: int
    stride: int = 1
    low: int = 0
    base: int = 1


class Halo(NamedTuple):
    """The stretch that the results of one shard read, along one dimension.

    Attributes:
        dim: the dimension of the operand.
        low: how many elements of it come from the shards before, at most.
        high: how many from those behind.
        start: where the stretch of shard 0 begins, from the start of the shard.
        drift: how much later it begins with each shard.
        padding: what the op still pads with, before and behind.
    """

    dim: int
    low: int
    high: int
    start: int
    size: int
    drift: int = 0
    padding: tuple[int, int] = (0, 0)

    def starts(self, shards: int, size: int) -> tuple[int, ...]:
        """Return the place of the dimension that each shard reads first."""
        return tuple(at * (size + self.drift) + self.start for at in range(shards))

    def exchange(self, shards: int, size: int) -> Exchange:
        """Return the exchange between shards of a size."""
        return exchange_of(self.starts(shards, size), self.size, size)

    def elements_sent(self, shards: int, size: int) -> int:
        """Return the elements that each device sends along the dimension, at most."""
        return self.exchange(shards, size).sent


def meeting(
    operand: Layout, dim: int, result: Layout | None, result_dim: int
) -> tuple[Layout, Layout] | None:
    """Both layouts with a dimension split by the axes that both begin with, if any."""
    if result is None or operand.mesh != result.mesh:
        return None
    axes = common_prefix(operand.axes[dim], result.axes[result_dim])
    if not axes:
        return None
    return operand.with_dim(dim, axes), result.with_dim(result_dim, axes)


def halo_of(operand: Layout, result: Layout, window: Window) -> Halo | None:
    """Return the halo of windows along a dimension that both sides split alike.

    Returns:
        None if gathering the dimension moves no more, or if shards drift apart where
        elements have holes between them.
    """
    size = operand.local_shape[window.dim]
    count = result.local_shape[window.result_dim]
    shards = operand.shards(window.dim)
    if not size or not count:
        return None
    drift = count * window.stride - size * window.base
    start, length = -window.low, (count - 1) * window.stride + window.size
    if window.base > 1:
        if drift:
            return None
        # places to elements: the first that is read, and the last
        low = max(0, window.low // window.base)
        high = max(0, (start + length - 1) // window.base - size + 1)
        end = (size + high - 1) * window.base + 1
        padding = (window.low - low * window.base, start + length - end)
        halo = Halo(window.dim, low, high, -low, low + size + high, 0, padding)
    else:
        starts = [start + shard * drift for shard in range(shards)]
        # positions outside of the dimension are not sent
        low = max(min(-begin, i * size) for i, begin in enumerate(starts))
        high = max(
            min(begin + length - size, (shards - 1 - i) * size)
            for i, begin in enumerate(starts)
        )
        halo = Halo(window.dim, max(0, low), max(0, high), start, length, drift)
    if halo.elements_sent(shards, size) >= (shards - 1) * size:
        return None
    return halo


def _from_shards(
    ctx: Localizer, local: Local, halo: Halo, hops: range, filler: SSAValue | None
) -> list[SSAValue]:
    """Write the stretches from other shards, and filler where nobody reads any.

    Args:
        hops: from which shards, in the order of the dimension.
        filler: a scalar that stands outside of the dimension; None is zero, which a
            permute gives devices that are no target.

    Returns:
        Pieces in the order of the dimension.
    """
    emit, layout, dim = ctx.emitter, local.placed, halo.dim
    axes = layout.axes[dim]
    groups = groups_along(layout.mesh, axes)
    shards, size = len(groups[0]), layout.local_shape[dim]
    pieces: list[SSAValue] = []
    for hop in hops:
        # those next to the shard itself, as many as there are in the halo
        far = halo.high if hop > 0 else halo.low
        part = min(size, far - (abs(hop) - 1) * size)
        begin, end = (0, part) if hop > 0 else (size - part, size)
        first = max(halo.start - hop * size, 0)
        last = min(halo.start + halo.size - hop * size, size)
        if first >= last:
            pieces += _nothing(ctx, local, dim, end - begin, filler)
            continue
        pieces += _nothing(ctx, local, dim, first - begin, filler)
        sent = emit.slice_dim(local.value, dim, first, last)
        pairs = sorted(
            (group[shard + hop], group[shard])
            for group in groups
            for shard in range(max(0, -hop), min(shards, shards - hop))
        )
        received = ctx.collectives.permute_pairs(sent, tuple(pairs))
        if filler is not None:
            index = ctx.collectives.index_along(layout.mesh, axes)
            outside = (
                emit.compare(index, emit.position(shards - hop), ComparisonDirection.GE)
                if hop > 0
                else emit.compare(index, emit.position(-hop), ComparisonDirection.LT)
            )
            nothing = emit.broadcast(filler, shape_of(sent))
            received = emit.select(outside, nothing, received)
        pieces.append(received)
        pieces += _nothing(ctx, local, dim, end - last, filler)
    return pieces


def _nothing(
    ctx: Localizer, local: Local, dim: int, count: int, filler: SSAValue | None
) -> list[SSAValue]:
    """Write filler for the outside of a dimension, and for places that nobody reads."""
    if not count:
        return []
    shape = list(shape_of(local.value))
    shape[dim] = count
    if filler is None:
        return [ctx.emitter.splat(0, element_of(local.value), shape)]
    return [ctx.emitter.broadcast(filler, shape)]


def _from_whole(
    ctx: Localizer, local: Local, halo: Halo, filler: SSAValue | None
) -> SSAValue | None:
    """Return what results read, cut from the value that the shard was cut from.

    Nothing is sent: every device has all of it. None where the value was not whole.
    """
    emit, dim, layout = ctx.emitter, halo.dim, local.placed
    whole = ctx.earlier(local, layout.with_dim(dim, ()))
    if whole is None or whole.partial is not None or layout.uneven is not None:
        return None
    size, shards = layout.local_shape[dim], layout.shards(dim)
    starts = halo.starts(shards, size)
    before = max(0, -min(starts))
    behind = max(0, max(starts) + halo.size - size * shards)
    value = emit.concatenate(
        [
            *_nothing(ctx, whole, dim, before, filler),
            whole.value,
            *_nothing(ctx, whole, dim, behind, filler),
        ],
        dim,
    )
    start = emit.scaled(ctx.index_along(layout, dim), size + halo.drift)
    if first := halo.start + before:
        start = emit.add(start, emit.position(first))
    return emit.dynamic_slice_dim(value, dim, start, halo.size)


def with_halo(
    ctx: Localizer, local: Local, halo: Halo, filler: SSAValue | None
) -> Local:
    """Return a value extended by the elements that its results read around its shard.

    It keeps the layout of the shard; only the op that reads the halo may use it.
    """
    emit, dim = ctx.emitter, halo.dim
    layout = local.placed
    size, shards = layout.local_shape[dim], layout.shards(dim)
    cut = _from_whole(ctx, local, halo, filler)
    if cut is not None:
        return replace(local, value=cut)
    if halo.drift:
        starts = halo.starts(shards, size)
        value = stretches(ctx, local, dim, starts, halo.size, filler)
        return replace(local, value=value)
    # beyond what is sent, for the devices at the ends
    before = max(0, -halo.start - halo.low)
    behind = max(0, halo.start + halo.size - size - halo.high)
    near, far = -(-halo.low // size), -(-halo.high // size)
    buffer = emit.concatenate(
        [
            *_nothing(ctx, local, dim, before, filler),
            *_from_shards(ctx, local, halo, range(-near, 0), filler),
            local.value,
            *_from_shards(ctx, local, halo, range(1, far + 1), filler),
            *_nothing(ctx, local, dim, behind, filler),
        ],
        dim,
    )
    start = halo.start + before + halo.low
    buffer = emit.slice_dim(buffer, dim, start, start + halo.size)
    return replace(local, value=buffer)


class Served(NamedTuple):
    """Operands of an op with what their windows read.

    Attributes:
        operands: those that are looked at through windows.
        planned: how the results lie while the op runs; they are sliced further after.
        halos: of the windows that can be computed so; the dimensions of the others have
            to be whole.
        gathered: axes along which operands were gathered, since results are not split by
            them.
    """

    operands: list[Local]
    planned: list[Layout | None]
    halos: dict[Window, Halo]
    gathered: Axes


def serve(
    ctx: Localizer,
    operands: Sequence[Local],
    results: Sequence[Layout | None],
    windows: Sequence[Window],
    fillers: Sequence[SSAValue | None],
) -> Served:
    """Give every operand what its windows read beyond its shard.

    Where operand and result are split by different axes, the op runs split by those
    that both begin with.

    Args:
        operands: one a result, all looked at through the same windows.
        results: how the results shall lie.
        windows: of the dimensions that are not just taken element by element.
        fillers: for each operand what stands outside, None for zero.
    """
    now, planned = list(operands), list(results)
    halos: dict[Window, Halo] = {}
    gathered: Axes = ()
    for window in windows:
        met = [
            meeting(local.placed, window.dim, target, window.result_dim)
            for local, target in zip(now, planned, strict=True)
        ]
        halos_and_axes = {
            None if pair is None else (halo_of(*pair, window), pair[0].axes[window.dim])
            for pair in met
        }
        halo = (
            (halos_and_axes.pop() or (None,))[0] if len(halos_and_axes) == 1 else None
        )
        if halo is None:
            continue
        if halo.drift and any(
            scaled_dim(element_of(local.value)) is not None for local in now
        ):
            continue  # no scalar has the scales of all places
        halos[window] = halo
        for i, pair in enumerate(met):
            assert pair is not None
            local, layout = now[i], pair[0]
            had, axes = local.placed.axes[window.dim], layout.axes[window.dim]
            rest = subtract(had, axes, layout.mesh)
            now[i] = ctx.gather(local, window.dim, rest)
            gathered += rest
            planned[i] = pair[1]
    for i, filler in enumerate(fillers):
        for halo in halos.values():
            now[i] = with_halo(ctx, now[i], halo, filler)
    return Served(now, planned, halos, gathered)


def padding_attr(
    pairs: Sequence[tuple[int, int]],
) -> DenseIntOrFPElementsAttr[IntegerType]:
    """`dense<[[low, high], …]>`."""
    type_ = TensorType(i64, [len(pairs), 2])
    return DenseIntOrFPElementsAttr.from_list(
        type_, [amount for pair in pairs for amount in pair]
    )


def mirrored(ctx: Localizer, local: Local, dims: Sequence[int]) -> Local:
    """Every shard at the place that mirrors its own along some split dimensions."""
    value = local.value
    mesh = local.placed.mesh
    for dim in dims:
        groups = groups_along(mesh, local.placed.axes[dim])
        pairs = sorted(
            pair
            for group in groups
            for pair in zip(group, reversed(group), strict=True)
        )
        value = ctx.collectives.permute_pairs(value, tuple(pairs))
    return replace(local, value=value)
