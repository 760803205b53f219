"""Windows that reach over the border of a shard: neighbours send the few elements.

An op that looks at windows of a split dimension (a convolution, a pooling, a pad, a
strided slice) reads, for the results of one device, its own shard and perhaps some
elements before and behind it. Where each device reads the same stretch relative to its
own shard, and no further than its neighbours', those elements are sent by
collective_permutes, and the op runs on the longer shard without padding. At the ends of
the dimension stands what the op pads with.

    shard 0       shard 1       shard 2
    [a b c d]     [e f g h]     [i j k l]
    . a b c d e   d e f g h i   h i j k l .     a window of 3, padded by 1 and 1

With outputs of size M a shard of L elements, stride s, windows of w elements and padding
p before the first, shard i reads from i*M*s - p on; relative to its start i*L that is
the same for all only if M*s = L.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from xdsl.ir import SSAValue

from ttxdsl.dialects.stablehlo.attributes import ComparisonDirection
from ttxdsl.transforms.local.devices import replica_groups
from ttxdsl.transforms.local.emitter import shape_of
from ttxdsl.transforms.local.layout import Layout
from ttxdsl.transforms.local.localizer import Local, Localizer


@dataclass(frozen=True, slots=True)
class Halo:
    """What the results of one shard read around it, along one dimension.

    Attributes:
        dim: the dimension of the operand.
        low: how many elements before the shard; negative if it begins inside.
        high: how many behind; negative if it ends inside.
    """

    dim: int
    low: int
    high: int


def halo_of(
    operand: Layout,
    dim: int,
    result: Layout | None,
    result_dim: int,
    *,
    window: int,
    stride: int,
    low: int,
) -> Halo | None:
    """The halo of windows along a split dimension, if neighbours can serve it.

    Args:
        operand: how the operand lies.
        dim: its dimension.
        result: how the result shall lie.
        result_dim: its dimension that counts the windows.
        window: how many elements a window reaches over.
        stride: from the start of one window to that of the next.
        low: the padding before the first element.

    Returns:
        None if the dimension is not split alike on both sides, devices read differently
        or further than the next shard, or gathering the dimension moves no more.
    """
    axes = operand.axes[dim]
    if not axes or result is None or result.axes[result_dim] != axes:
        return None
    if operand.mesh != result.mesh:
        return None
    size, windows = operand.local_shape[dim], result.local_shape[result_dim]
    if windows * stride != size or not size:
        return None
    high = (windows - 1) * stride + window - low - size
    sent = max(low, 0) + max(high, 0)
    if max(low, high) > size or -min(low, high) >= size:
        return None
    if sent >= (operand.shards(dim) - 1) * size:
        return None
    return Halo(dim, low, high)


def _from_neighbour(
    ctx: Localizer,
    local: Local,
    dim: int,
    part: SSAValue,
    step: int,
    filler: SSAValue | None,
) -> SSAValue:
    """`part` of the shard `step` places before, the filler where there is none.

    Args:
        ctx: the localizer.
        local: the value that the part is of.
        dim: the split dimension.
        part: what each device gives.
        step: 1 from the shard before, -1 from the one behind.
        filler: a scalar; None is zero, which a permute gives who is no target.
    """
    layout = local.placed
    axes = layout.axes[dim]
    groups = replica_groups(layout.mesh, axes)
    pairs = sorted(
        pair
        for group in groups
        for pair in pairwise(group if step > 0 else group[::-1])
    )
    received = ctx.collectives.permute_pairs(part, tuple(pairs))
    if filler is None:
        return received
    emit = ctx.emitter
    end = 0 if step > 0 else len(groups[0]) - 1
    index = ctx.collectives.index_along(layout.mesh, axes)
    is_end = emit.compare(index, emit.position(end), ComparisonDirection.EQ)
    return emit.select(is_end, emit.broadcast(filler, shape_of(part)), received)


def with_halo(
    ctx: Localizer, local: Local, halo: Halo, filler: SSAValue | None
) -> Local:
    """A value with what its results read around its shard.

    Its layout stays that of the shard; only the op that reads the halo may use it.
    """
    emit, dim = ctx.emitter, halo.dim
    value = local.value
    size = shape_of(value)[dim]
    pieces: list[SSAValue] = []
    if halo.low > 0:
        part = emit.slice_dim(value, dim, size - halo.low, size)
        pieces.append(_from_neighbour(ctx, local, dim, part, 1, filler))
    pieces.append(
        emit.slice_dim(value, dim, max(0, -halo.low), size + min(0, halo.high))
    )
    if halo.high > 0:
        part = emit.slice_dim(value, dim, 0, halo.high)
        pieces.append(_from_neighbour(ctx, local, dim, part, -1, filler))
    return replace(local, value=emit.concatenate(pieces, dim))


def mirrored(ctx: Localizer, local: Local, dims: Sequence[int]) -> Local:
    """Every shard at the place that mirrors its own along some split dimensions."""
    value = local.value
    mesh = local.placed.mesh
    for dim in dims:
        groups = replica_groups(mesh, local.placed.axes[dim])
        pairs = sorted(
            pair
            for group in groups
            for pair in zip(group, reversed(group), strict=True)
        )
        value = ctx.collectives.permute_pairs(value, tuple(pairs))
    return replace(local, value=value)


def with_halos(
    ctx: Localizer, local: Local, halos: Sequence[Halo], filler: SSAValue | None
) -> Local:
    """A value with its halos along several dimensions, corners included."""
    for halo in halos:
        local = with_halo(ctx, local, halo, filler)
    return local
