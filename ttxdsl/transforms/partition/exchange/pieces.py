"""Concatenations of pieces of one split value: each device receives a few stretches.

A roll is two slices put together the other way around. Each device's part of the result
is made of stretches of others' parts of the value:

    shard 0    shard 1    shard 2    shard 3
    [a b c]    [d e f]    [g h i]    [j k l]
    [b c d]    [e f g]    [h i j]    [k l a]     rolled by one

Where the stretches of all devices begin and end at the same places of a part, and
nobody sends one to two others, a collective_permute for each stretch brings them there,
and nothing is gathered.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from xdsl.ir import OpResult, SSAValue

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.sharding.devices.replica_groups import groups_along
from ttxdsl.transforms.partition.by_factors import by_factors
from ttxdsl.transforms.partition.layout import Layout
from ttxdsl.transforms.partition.localizer import Local, Localizer

Stretch = tuple[int, int]
"""The first place of a dimension, and the one behind the last."""

_MOST = 64
"""How many slices and concatenations, and stretches, are looked at."""


class Cut(NamedTuple):
    """The stretches of a value that were cut along one dimension and put together.

    Attributes:
        stretches: places of its dimension, in the order of the result.
    """

    source: SSAValue
    stretches: tuple[Stretch, ...]


class Piece(NamedTuple):
    """A stretch of a part, and for each device of a group who has it."""

    stretch: Stretch
    owners: tuple[int, ...]


def concatenate(ctx: Localizer, op: stablehlo.ConcatenateOp) -> None:
    """Other dimensions split freely; this one where all comes from one value, or is whole.

    What was cut from one split value is put together of its parts first, for slices that
    lie whole on every device were gathered from it.
    """
    dim, wanted = op.dimension.value.data, ctx.target(op.result)
    sharding = sdy.get_sharding(op.result)
    if wanted is None or not wanted.axes[dim] or sharding is None or sharding.unreduced:
        return by_factors(ctx, op)
    joined = _joined_pieces(ctx, op, wanted)
    if joined is not None:
        return ctx.define(op.result, joined)
    whole = _whole_along(ctx, op, wanted.with_dim(dim, ()))
    if whole is None:
        return by_factors(ctx, op)
    values = [local.value for local in whole]
    joined = Local(ctx.emitter.concatenate(values, dim), wanted.with_dim(dim, ()))
    return ctx.define(op.result, ctx.reshard_to(joined, wanted))


def _joined_pieces(
    ctx: Localizer, op: stablehlo.ConcatenateOp, wanted: Layout
) -> Local | None:
    """Return a concatenation made of pieces of the one value that it was cut from.

    None if there is no such value, or if gathering it sends less.
    """
    dim = op.dimension.value.data
    cut = cut_from(op.result, dim)
    held = None if cut is None else _lies_as(ctx.local(cut.source), wanted)
    if cut is None or held is None:
        return None
    groups = groups_along(wanted.mesh, wanted.axes[dim])
    size, count = held.placed.local_shape[dim], len(groups[0])
    pieces = pieces_of(cut.stretches, size, count)
    if pieces is None or places_sent(pieces) > (count - 1) * size:
        return None
    parts: list[SSAValue] = []
    for (start, end), owners in pieces:
        part = ctx.emitter.slice_dim(held.value, dim, start, end)
        if owners != tuple(range(count)):
            pairs = sorted(
                (group[owner], target)
                for group in groups
                for owner, target in zip(owners, group, strict=True)
            )
            part = ctx.collectives.permute_pairs(part, tuple(pairs))
        parts.append(part)
    return Local(ctx.emitter.concatenate(parts, dim), wanted)


def _whole_along(
    ctx: Localizer, op: stablehlo.ConcatenateOp, layout: Layout
) -> list[Local] | None:
    """Return operands as they were before stage 8 sliced them, if that is so of all.

    Stage 8 splits them as the result is, whose parts then lie on other devices.
    """
    operands = [_lies_as(ctx.local(value), layout) for value in op.inputs]
    whole = [local for local in operands if local is not None]
    return whole if len(whole) == len(operands) else None


def _lies_as(local: Local, wanted: Layout) -> Local | None:
    """Return a value, or the value before it was moved, that has the wanted layout."""
    ancestor: Local | None = local
    while ancestor is not None:
        layout = ancestor.layout
        if (
            layout is not None
            and ancestor.partial is None
            and layout.mesh == wanted.mesh
            and layout.axes == wanted.axes
        ):
            return ancestor
        ancestor = ancestor.origin
    return None


def places_sent(pieces: Sequence[Piece]) -> int:
    """Return the places that each device sends."""
    return sum(
        end - start
        for (start, end), owners in pieces
        if owners != tuple(range(len(owners)))
    )


def cut_from(value: SSAValue, dim: int) -> Cut | None:
    """The one value that slices and concatenations along a dimension make another of."""
    known: dict[SSAValue, Cut | None] = {}
    waiting = [value]
    while waiting:
        value_to_cut = waiting[-1]
        if value_to_cut in known:
            waiting.pop()
            continue
        op = value_to_cut.op if isinstance(value_to_cut, OpResult) else None
        if max(len(known), len(waiting)) > _MOST:
            return None
        if isinstance(op, stablehlo.ConcatenateOp) and op.dimension.value.data == dim:
            missing = [operand for operand in op.inputs if operand not in known]
            waiting += missing
            if not missing:
                known[value_to_cut] = _together(
                    [known[operand] for operand in op.inputs]
                )
        elif isinstance(op, stablehlo.SliceOp) and cuts_only(op, dim):
            if op.operand not in known:
                waiting.append(op.operand)
                continue
            whole, start = known[op.operand], op.start_indices.get_values()[dim]
            if whole is None:
                return None
            end = start + shape_of(value_to_cut)[dim]
            between = tuple(_between(whole.stretches, start, end))
            known[value_to_cut] = Cut(whole.source, between)
        else:
            known[value_to_cut] = Cut(value_to_cut, ((0, shape_of(value_to_cut)[dim]),))
    return known[value]


def cuts_only(op: stablehlo.SliceOp, dim: int) -> bool:
    """Whether a slice takes neighbours, along one dimension alone."""
    before, after = shape_of(op.operand), shape_of(op.result)
    return all(step == 1 for step in op.strides.get_values()) and all(
        at == dim or size == after[at] for at, size in enumerate(before)
    )


def _together(cuts: Sequence[Cut | None]) -> Cut | None:
    known_cuts = [cut for cut in cuts if cut is not None]
    stretches = tuple(stretch for cut in known_cuts for stretch in cut.stretches)
    if len(known_cuts) < len(cuts) or len({cut.source for cut in known_cuts}) > 1:
        return None
    return Cut(known_cuts[0].source, stretches) if len(stretches) <= _MOST else None


def _between(stretches: Sequence[Stretch], start: int, end: int) -> Iterator[Stretch]:
    """Yield the parts of consecutive stretches between two positions."""
    place = 0
    for first, behind in stretches:
        low = max(start - place, 0)
        high = min(end - place, behind - first)
        if low < high:
            yield first + low, first + high
        place += behind - first


def pieces_of(
    stretches: Sequence[Stretch], size: int, count: int
) -> list[Piece] | None:
    """Return the pieces of each device's part of a result; None if devices differ.

    Args:
        stretches: places of a split dimension, in the order of the result.
        size: of a device's part of that dimension.
        count: how many devices it is split by.

    Returns:
        None where it is not, or one device has to give a stretch to two.
    """
    whole = sum(end - first for first, end in stretches)
    if not whole or whole % count:
        return None
    part = whole // count
    by_device = [
        list(owned(_between(stretches, at * part, (at + 1) * part), size))
        for at in range(count)
    ]
    if len({len(parts) for parts in by_device}) > 1:
        return None
    pieces: list[Piece] = []
    for each in zip(*by_device, strict=True):
        places, owners = zip(*each, strict=True)
        if len(set(places)) > 1 or len(set(owners)) < count:
            return None
        pieces.append(Piece(places[0], tuple(owners)))
    return pieces


def owned(stretches: Iterable[Stretch], size: int) -> list[tuple[Stretch, int]]:
    """Return the stretches of each part with their owner; adjacent ones are joined."""
    owned_stretches: list[tuple[Stretch, int]] = []
    for first, end in stretches:
        while first < end:
            owner = first // size
            behind = min(end, (owner + 1) * size)
            start, stop = first - owner * size, behind - owner * size
            if owned_stretches and owned_stretches[-1] == (
                (owned_stretches[-1][0][0], start),
                owner,
            ):
                start = owned_stretches.pop()[0][0]
            owned_stretches.append(((start, stop), owner))
            first = behind
    return owned_stretches
