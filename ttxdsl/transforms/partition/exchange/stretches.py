"""Stretches of a split dimension: each device receives what it reads from others.

Device i of a group reads `length` places from `starts[i]`. What another device has of
them is a transfer. In one collective_permute every device sends to and receives from at
most one, so transfers are dealt out to rounds, each as long as its longest transfer.

    shards of 4, stretches of 2        round 1     round 2
    0 reads 0 1, of its own
    1 reads 2 3, from 0                0 -> 1
    2 reads 4 5, from 1                1 -> 2
    3 reads 6 7, from 1                            1 -> 3

**Why it is right.** A device sends consecutive places of its shard, its transfer among
them. Put where its own are to be, each is the place of the dimension that belongs
there, so what a device selects from a round is right wherever it has a transfer.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from xdsl.ir import SSAValue

from ttxdsl.dialects.quant import QuantizedType
from ttxdsl.dialects.stablehlo.attributes import ComparisonDirection
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.devices.replica_groups import groups_along
from ttxdsl.transforms.partition.localizer import Local, Localizer


class Transfer(NamedTuple):
    """Consecutive positions that one device sends to another, or keeps.

    Attributes:
        source: who has them.
        target: who reads them.
        start: the first, counted in the shard of the source.
        place: where it is in what the target reads.
        length: how many follow each other.
    """

    source: int
    target: int
    start: int
    place: int
    length: int


Round = tuple[Transfer, ...]
"""Transfers of which no two have a source or a target in common."""


def width(round_: Round) -> int:
    """Return the number of positions that each device sends in a round."""
    return max(transfer.length for transfer in round_)


class Exchange(NamedTuple):
    """The transfers by which devices get their stretches.

    Attributes:
        own: what they have of them themselves.
        rounds: what they get from others.
    """

    own: Round
    rounds: tuple[Round, ...]

    @property
    def sent(self) -> int:
        """The number of positions that each device sends, at most."""
        return sum(map(width, self.rounds))


@lru_cache(maxsize=1024)
def exchange_of(starts: tuple[int, ...], length: int, size: int) -> Exchange:
    """Return the exchange that gives each device of a group its stretch.

    Args:
        starts: the place that each reads first; it may be outside of the dimension.
        length: how many it reads.
        size: of the shards.
    """
    count = len(starts)
    own: list[Transfer] = []
    by_distance: dict[int, list[Transfer]] = {}
    for target, start in enumerate(starts):
        low, high = max(start, 0), min(start + length, count * size)
        while low < high:
            source = low // size
            end = min(high, (source + 1) * size)
            transfer = Transfer(source, target, low % size, low - start, end - low)
            if source == target:
                own.append(transfer)
            else:
                by_distance.setdefault(source - target, []).append(transfer)
            low = end
    apart = tuple(tuple(by_distance[at]) for at in sorted(by_distance))
    together = _dealt(
        transfer for at in sorted(by_distance, key=abs) for transfer in by_distance[at]
    )
    least = min(apart, together, key=lambda all_: (sum(map(width, all_)), len(all_)))
    return Exchange(tuple(own), least)


def _dealt(transfers: Iterable[Transfer]) -> tuple[Round, ...]:
    """Transfers, each in the first round in which nobody has its part."""
    rounds: list[list[Transfer]] = []
    for transfer in transfers:
        for members in rounds:
            if not any(
                transfer.source == other.source or transfer.target == other.target
                for other in members
            ):
                members.append(transfer)
                break
        else:
            rounds.append([transfer])
    return tuple(map(tuple, rounds))


class _Writer:
    """Writes what devices along some axes exchange of one value."""

    def __init__(self, ctx: Localizer, local: Local, dim: int, length: int):
        self.emit, self.ctx, self.dim, self.length = ctx.emitter, ctx, dim, length
        self.value = local.value
        layout = local.placed
        self.groups = groups_along(layout.mesh, layout.axes[dim])
        self.count, self.size = len(self.groups[0]), layout.local_shape[dim]
        self.index = ctx.index_along(layout, dim)

    def number(self, by_device: Mapping[int, int]) -> int | SSAValue:
        """Return a number of each device; devices without an entry may have any."""
        values = {*by_device.values()}
        if len(values) == 1:
            return values.pop()
        first, second, *_ = sorted(by_device)
        step, rest = divmod(by_device[second] - by_device[first], second - first)
        base = by_device[first] - step * first
        if not rest and all(n == base + step * at for at, n in by_device.items()):
            # clamped into the range; these entries are not used
            value = self.emit.add(
                self.emit.scaled(self.index, step), self.emit.position(base)
            )
            low, high = min(values), max(values)
            if len(by_device) == self.count:
                return value
            return self.emit.clamp(
                self.emit.position(low), value, self.emit.position(high)
            )
        table = self.emit.integers(
            [by_device.get(at, min(values)) for at in range(self.count)], [self.count]
        )
        entry = self.emit.dynamic_slice(table, [self.index], [1])
        return self.emit.reshape(entry, [])

    def cut(self, value: SSAValue, start: int | SSAValue, length: int) -> SSAValue:
        """Places of a value from one on."""
        if isinstance(start, int):
            return self.emit.slice_dim(value, self.dim, start, start + length)
        return self.emit.dynamic_slice_dim(value, self.dim, start, length)

    def received(self, round_: Round, filler: SSAValue) -> SSAValue:
        """Write the stretches received in a round, at their positions."""
        wide = width(round_)
        # a stretch of the round's width around what is read
        starts = {each: min(each.start, self.size - wide) for each in round_}
        sent = self.cut(
            self.value, self.number({t.source: at for t, at in starts.items()}), wide
        )
        pairs = sorted(
            (group[t.source], group[t.target]) for group in self.groups for t in round_
        )
        if any(t.source != t.target for t in round_):
            sent = self.ctx.collectives.permute_pairs(sent, tuple(pairs))
        places = {t.target: t.place - (t.start - at) for t, at in starts.items()}
        place = self.number(places)
        low, high = [0] * len(shape_of(sent)), [0] * len(shape_of(sent))
        if isinstance(place, int):
            low[self.dim], high[self.dim] = place, self.length - wide - place
            return self.emit.pad(sent, filler, low, high) if any(low + high) else sent
        first, last = min(places.values()), max(places.values())
        low[self.dim] = last
        high[self.dim] = self.length - wide - first
        padded = self.emit.pad(sent, filler, low, high)
        begin = self.emit.subtract(self.emit.position(last), place)
        return self.cut(padded, begin, self.length)

    def mask(self, round_: Round, shape: Sequence[int]) -> SSAValue:
        """Return the places that devices take from a round."""
        ends = {t.target: (t.place, t.place + t.length) for t in round_}
        if {*ends.values()} == {(0, self.length)}:
            taken = self.number({at: int(at in ends) for at in range(self.count)})
            if isinstance(taken, int):
                taken = self.emit.position(taken)
            return self.emit.compare(
                taken, self.emit.position(1), ComparisonDirection.EQ
            )
        rows = self.emit.iota([self.length], 0)
        inside: SSAValue | None = None
        for side, direction in enumerate(
            (ComparisonDirection.GE, ComparisonDirection.LT)
        ):
            number = self.number(
                {at: ends.get(at, (0, 0))[side] for at in range(self.count)}
            )
            if number == (0, self.length)[side]:
                continue
            if isinstance(number, int):
                number = self.emit.position(number)
            limit = self.emit.broadcast(number, [self.length])
            test = self.emit.compare(rows, limit, direction)
            inside = test if inside is None else self.emit.both(inside, test)
        assert inside is not None, "the case above"
        return self.emit.broadcast(inside, shape, [self.dim])


def stretches(
    ctx: Localizer,
    local: Local,
    dim: int,
    starts: tuple[int, ...],
    length: int,
    filler: SSAValue | None,
) -> SSAValue:
    """Return the places that each device reads of a split dimension.

    Args:
        starts: the place that each device reads first, in order of the shards.
        filler: a scalar that stands outside of the dimension; None is zero, or any element
            where they are quantized (with one scale).
    """
    writer, emit = _Writer(ctx, local, dim, length), ctx.emitter
    exchange = exchange_of(starts, length, writer.size)
    element = element_of(local.value)
    if filler is None and isinstance(element, QuantizedType):
        # a quantized zero is none that every scale has; any element will do
        rank = len(shape_of(local.value))
        filler = emit.reshape(emit.slice(local.value, [0] * rank, [1] * rank), [])
    elif filler is None:
        filler = emit.number(0, element)
    shape = [*shape_of(local.value)]
    shape[dim] = length
    parts = [part for part in (exchange.own, *exchange.rounds) if part]
    held = [0] * writer.count
    for transfer in (transfer for part in parts for transfer in part):
        held[transfer.target] += transfer.length
    value: SSAValue | None = None
    for part in parts:
        received = writer.received(part, filler)
        # a device that receives nothing of this part gets every position from others
        taking = {transfer.target for transfer in part}
        if value is None and all(
            at in taking or held[at] == length for at in range(writer.count)
        ):
            value = received
            continue
        if value is None:
            value = emit.broadcast(filler, shape)
        value = emit.select(writer.mask(part, shape), received, value)
    return emit.broadcast(filler, shape) if value is None else value
