"""A mesh whose devices are spread over processes, each with an even box of them.

Values are those of `ttxdsl.interpreters.mesh.collectives`, cut to the own box: leading dimensions of
the extents of the box, or 1 where the devices of this process hold the same. What other
processes hold may differ also then. Collectives send rows, one a device, and reduce what
comes by the virtual mesh's own reductions, in its order: the numbers are equal to the bit.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from math import gcd, prod
from typing import NamedTuple, Protocol

import numpy as np
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.interpreters.kernels.matrices import Operand
from ttxdsl.interpreters.mesh.axes import Array, Dims, Groups, whole_axes
from ttxdsl.interpreters.mesh.collectives import DeviceMesh, Reduce
from ttxdsl.interpreters.mesh.scattered import Scattered
from ttxdsl.interpreters.mesh.shards import copied
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.spec import ReductionKind

_SMALL = 1 << 15
"""Bytes of a group's values up to which each process reduces all of them by itself."""


class Ranks(Protocol):
    """Processes that send each other arrays; every one named calls a method together."""

    rank: int
    size: int
    shards: int
    """Bytes of the parts of whole values that this process was given."""

    def gathered(
        self,
        ranks: Sequence[int],
        rows: Array,
        counts: Sequence[int],
        root: int | None = None,
    ) -> Array | None:
        """Return the rows of all `ranks` in order, on all of them or on `root`.

        `counts` says how many rows each has.
        """
        ...

    def traded(self, sent: Mapping[int, Array], received: Mapping[int, Array]) -> None:
        """Send arrays to some ranks, and receive into the memory of `received`."""
        ...


@dataclass(frozen=True)
class _Routes:
    """Groups of devices as one process sees them.

    Attributes:
        ranks: the processes that groups tie to this one, itself included, sorted.
        row_of: for each position, its row among all rows of `ranks`.
        members: for each own device the positions of its group, in the group's order.
        index: for each own device its place in its group.
    """

    ranks: tuple[int, ...]
    row_of: dict[int, int]
    members: tuple[tuple[int, ...], ...]
    index: tuple[int, ...]


class _Moves(NamedTuple):
    """Rows that go from process to process: for each rank their places, in one order."""

    out: dict[int, list[int]]
    into: dict[int, list[int]]


@dataclass(frozen=True)
class RankMesh(DeviceMesh):
    """Named axes of devices of which this process has those of one box.

    Raises:
        InterpretationError: of `boxes`, where the processes cannot share the devices
            evenly.
    """

    world: Ranks = field(kw_only=True, compare=False)

    # the process of each device

    @cached_property
    def boxes(self) -> tuple[int, ...]:
        """The number of parts into which the processes cut each axis, major ones first."""
        left, boxes = self.world.size, list[int]()
        for size in self.sizes:
            boxes.append(gcd(size, left))
            left //= boxes[-1]
        if left > 1:
            raise InterpretationError(
                f"{self.world.size} processes cannot have even parts of the"
                f" {self.num_devices} devices of the mesh"
                f" ({', '.join(f'{n}={s}' for n, s in self.axes)})"
            )
        return tuple(boxes)

    @cached_property
    def extents(self) -> tuple[int, ...]:
        """The number of devices of this process along each axis."""
        return tuple(n // k for n, k in zip(self.sizes, self.boxes, strict=True))

    @cached_property
    def _box(self) -> tuple[slice, ...]:
        at = np.unravel_index(self.world.rank, self.boxes)
        return tuple(
            slice(int(k) * n, (int(k) + 1) * n)
            for k, n in zip(at, self.extents, strict=True)
        )

    @cached_property
    def _owner(self) -> Array:
        """The process of each position."""
        at = np.indices(self.sizes).reshape(self.rank, -1)
        extents = np.array(self.extents)[:, None]
        owner: Array = np.asarray(
            np.ravel_multi_index(tuple(at // extents), self.boxes)
        )
        return owner

    @cached_property
    def _held(self) -> tuple[tuple[int, ...], ...]:
        """The positions of each process, sorted."""
        order = np.argsort(self._owner, kind="stable").reshape(self.world.size, -1)
        return tuple(tuple(map(int, row)) for row in order)

    @cached_property
    def _own(self) -> tuple[int, ...]:
        return self._held[self.world.rank]

    def here(self, table: Array) -> Array:
        """Return the entries of a table over the mesh for the own devices."""
        return table.reshape(self.sizes)[self._box]

    @cached_property
    def _virtual(self) -> DeviceMesh:
        """All devices, for what is done to the values of all."""
        return DeviceMesh(self.axes, self.device_ids, self.num_partitions)

    def _cut(self, x: Array) -> Array:
        """Return the own part of a value of all devices, where these differ."""
        box = zip(self._box, x.shape[: self.rank], strict=True)
        return x[tuple(at if extent > 1 else slice(None) for at, extent in box)]

    # between whole values and shards

    def shard(self, x: Array, dims: Dims, unreduced: Sequence[AxisRef] = ()) -> Array:
        """Return the own devices' parts of `x`, in memory of their own."""
        rank = len(dims)
        x = self.lift(x, rank)
        for axis, (extent, size) in enumerate(zip(x.shape, self.sizes, strict=False)):
            if 1 < extent < size:
                # treat them as present elsewhere: only local values are cut
                own = np.arange(size) - self._box[axis].start
                x = x.take(own.clip(0, extent - 1), axis)
        y = self._cut(self._virtual.shard(x, dims))
        if not unreduced:
            return self._split(copied(y))
        first = self._virtual.shard(np.ones((), np.bool_), (), unreduced)
        first = self._cut(first).reshape((*self._cut(first).shape, *(1,) * rank))
        return self._split(np.where(first, y, np.zeros((), y.dtype)))

    def place(self, x: Array, counts: Sequence[int], part_of: Sequence[int]) -> Array:
        """Return the own devices' parts of `x`, which a table says."""
        return self._split(super().place(x, counts, part_of))

    def _split(self, x: Array) -> Array:
        """Parts of a whole value, counted."""
        self.world.shards += x.nbytes
        return x

    def whole(
        self,
        x: Array,
        dims: Dims,
        unreduced: Sequence[AxisRef] = (),
        reduction: ReductionKind = ReductionKind.SUM,
    ) -> Array | Scattered:
        """Return the whole value, which stays scattered unless parts are summed."""
        rank = len(dims)
        if unreduced:
            everything = self._everything(x, rank)
            return self._virtual.whole(everything, dims, unreduced, reduction)
        counts = [prod(self._size(ref) for ref in refs) for refs in dims]
        return self._kept(
            x, counts, self.parts_of(dims), lambda y: self._virtual.whole(y, dims)
        )

    def _size(self, ref: AxisRef) -> int:
        return dict(self.axes)[ref.name] if ref.size is None else ref.size

    def unshard(
        self,
        x: Array,
        dims: Dims,
        unreduced: Sequence[AxisRef] = (),
        axes: Iterable[str] | None = None,
        reduction: ReductionKind = ReductionKind.SUM,
    ) -> Array:
        """Return the value that is whole along `axes`, for the own devices."""
        everything = self._everything(x, len(dims))
        whole = self._virtual.unshard(everything, dims, unreduced, axes, reduction)
        return np.array(self._cut(whole))

    def collect(
        self,
        x: Array,
        counts: Sequence[int],
        part_of: Sequence[int],
        summand_of: Sequence[int] = (),
    ) -> Array | Scattered:
        """Return the whole value, which stays scattered unless parts are summed."""

        def virtual(y: Array) -> Array | Scattered:
            return self._virtual.collect(y, counts, part_of, summand_of)

        if max(summand_of, default=0):
            return virtual(self._everything(x, len(counts)))
        return self._kept(x, counts, part_of, virtual)

    def _everything(self, x: Array, rank: int) -> Array:
        """Return the values of all devices, on every process."""
        world, rows = self.world, self.linear(x, rank)
        every = world.gathered(range(world.size), rows, [len(rows)] * world.size)
        assert every is not None
        order = np.argsort(np.concatenate(self._held))
        return self._virtual.gridded(every[order])

    def _kept(
        self,
        x: Array,
        counts: Sequence[int],
        part_of: Sequence[int],
        virtual: Callable[[Array], Array | Scattered],
    ) -> Array | Scattered:
        """Return the whole value in parts, each with the first device that holds it."""
        rows = self.linear(x, len(counts))
        table = np.array(part_of)
        held, holder = np.unique(table, return_index=True)
        if len(held) != prod(counts):
            raise InterpretationError("no device holds one of the parts")
        if len(held) < self.num_devices and self._differ(rows, holder[table]):
            # not the same bits: either an error, or zeros of both signs and such
            return virtual(self._everything(x, len(counts)))
        local = rows.shape[1:]
        shape = tuple(n * size for n, size in zip(counts, local, strict=True))

        def place(part: int) -> tuple[slice, ...]:
            at = np.unravel_index(part, tuple(counts)) if counts else ()
            return tuple(
                slice(int(k) * n, (int(k) + 1) * n)
                for k, n in zip(at, local, strict=True)
            )

        answers = {int(position): int(part) for part, position in enumerate(holder)}
        kept = [[at for at in held if at in answers] for held in self._held]
        mine = kept[self.world.rank]
        owned = np.array([rows[self._own.index(at)] for at in mine], rows.dtype)
        owned = owned.reshape((len(mine), *local))

        def gather(root: int | None) -> Array | None:
            world = self.world
            gathered = world.gathered(range(world.size), owned, [*map(len, kept)], root)
            if gathered is None:
                return None
            whole = np.empty(shape, rows.dtype)
            for row, position in zip(gathered, chain(*kept), strict=True):
                whole[place(answers[position])] = row
            return whole

        parts = tuple(
            (place(answers[at]), row) for at, row in zip(mine, owned, strict=True)
        )
        return Scattered(shape, rows.dtype, parts, gather)

    def _differ(self, rows: Array, first: Array) -> bool:
        """Whether the bits of some device differ from those of the device of `first`."""
        digests = [blake2b(row.tobytes(), digest_size=16).digest() for row in rows]
        table = np.frombuffer(b"".join(digests), np.uint64).reshape(*self.extents, 2)
        every_row = self._everything(table, 1).reshape(-1, 2)
        return bool((every_row != every_row[first]).any())

    # how rows go from device to device

    @cached_property
    def _known(self) -> dict[object, object]:
        """Routes and exchanges, found out once for the same groups."""
        return {}

    def _routes(self, groups: Groups) -> _Routes:
        routes = self._known.get(("routes", groups))
        if not isinstance(routes, _Routes):
            routes = self._known["routes", groups] = self._find_routes(groups)
        return routes

    def _find_routes(self, groups: Groups) -> _Routes:
        group_of = {at: group for group in groups for at in group}
        ranks, pending = {self.world.rank}, [self.world.rank]
        while pending:
            for at in self._held[pending.pop()]:
                others = {int(self._owner[other]) for other in group_of[at]}
                pending += others - ranks
                ranks |= others
        ordered = tuple(sorted(ranks))
        rows = [at for rank in ordered for at in self._held[rank]]
        members = tuple(group_of[at] for at in self._own)
        index = tuple(
            group.index(at) for at, group in zip(self._own, members, strict=True)
        )
        row_of = {at: row for row, at in enumerate(rows)}
        return _Routes(ordered, row_of, members, index)

    def _moves(self, pairs: Iterable[tuple[int, int, int, int]]) -> _Moves:
        """Return the moves of (source, target, row of the source, place of the target)."""
        moves, me = _Moves({}, {}), self.world.rank
        for source, target, row, place in pairs:
            of, to = int(self._owner[source]), int(self._owner[target])
            if of == me:
                moves.out.setdefault(to, []).append(row)
            if to == me:
                moves.into.setdefault(of, []).append(place)
        return moves

    def _moved(self, rows: Array, moves: _Moves, result: Array) -> Array:
        """Put rows of all processes into their places in `result`."""
        me = self.world.rank
        sent = {to: rows[at] for to, at in moves.out.items()}
        own = sent.pop(me, None)
        received = {
            of: np.empty((len(at), *rows.shape[1:]), rows.dtype)
            for of, at in moves.into.items()
            if of != me
        }
        self.world.traded(sent, received)
        if own is not None:
            received[me] = own
        for of, at in moves.into.items():
            result[at] = received[of]
        return result

    def _exchange(self, groups: Groups) -> _Moves:
        """Return the moves of part j of each device to member j of its group."""
        moves = self._known.get(("exchange", groups))
        if not isinstance(moves, _Moves):
            size = len(groups[0])
            row = {at: n * size for held in self._held for n, at in enumerate(held)}
            moves = self._known["exchange", groups] = self._moves(
                (source, target, row[source] + to, row[target] + of)
                for group in groups
                for of, source in enumerate(group)
                for to, target in enumerate(group)
            )
        return moves

    def _heard(self, rows: Array, groups: Groups) -> list[Array]:
        """Return for each own device the rows of its group, in the group's order."""
        routes = self._routes(groups)
        counts = [len(rows)] * len(routes.ranks)
        gathered = self.world.gathered(routes.ranks, rows, counts)
        assert gathered is not None
        known: dict[tuple[int, ...], Array] = {}
        for group in routes.members:
            if group not in known:
                at = [routes.row_of[member] for member in group]
                same = at == list(range(len(gathered)))
                known[group] = gathered if same else gathered[at]
        return [known[group] for group in routes.members]

    def _routed(self, parts: Array, groups: Groups) -> Array:
        """Part j of each own device at member j: `[own device, member, …]` both ways."""
        rows = parts.reshape((prod(parts.shape[:2]), *parts.shape[2:]))
        rows = self._moved(rows, self._exchange(groups), np.empty_like(rows))
        return rows.reshape(parts.shape)

    # collectives

    def _folding(self, groups: Groups) -> tuple[Groups, tuple[int, ...]]:
        """Groups in the order in which the virtual mesh reduces, and along what extents."""
        sorted_groups = tuple(tuple(sorted(group)) for group in groups)
        axes = whole_axes(self.sizes, sorted_groups)
        if axes is None:
            return groups, ()
        axes = tuple(sorted(axes))
        return self.axis_groups(axes), tuple(self.sizes[axis] for axis in axes)

    def _once(self, x: Array, groups: Groups) -> Array:
        """Return a value that is the same in each group, once along whole axes."""
        axes = whole_axes(self.sizes, tuple(tuple(sorted(g)) for g in groups)) or ()
        return x[
            tuple(
                slice(0, 1) if axis in axes else slice(None)
                for axis in range(self.rank)
            )
        ]

    def all_reduce(
        self, x: Operand, rank: int, groups: Groups, reduce: Reduce
    ) -> Array:
        """Return every device's value reduced over its group."""
        if sum(map(len, groups)) != self.num_devices:
            self._covering(groups)
        groups, extents = self._folding(groups)
        rows = self.linear(np.asarray(x), rank)
        local = rows.shape[1:]
        size = len(groups[0])
        even = all(len(group) == size for group in groups)
        if not even or size * rows[:1].nbytes <= _SMALL:
            sums = [
                _reduced(members[None], extents, reduce)[0]
                for members in self._heard(rows, groups)
            ]
        else:
            flat = rows.reshape(len(rows), -1)
            each = -(-flat.shape[1] // size)
            if each * size != flat.shape[1]:
                wide = np.zeros((len(rows), each * size), rows.dtype)
                wide[:, : flat.shape[1]] = flat
                flat = wide
            parts = self._routed(flat.reshape(len(rows), size, each), groups)
            mine = _reduced(parts, extents, reduce)
            sums = [
                members.reshape(-1)[: prod(local)].reshape(local)
                for members in self._heard(mine, groups)
            ]
        return self._once(self.gridded(_stacked(sums)), groups)

    def all_gather(self, x: Array, rank: int, dim: int, groups: Groups) -> Array:
        """Return the values of the group's devices, concatenated along `dim`."""
        self._covering(groups)
        joined = [
            self._join(members[None], 1, 1, dim)[0]
            for members in self._heard(self.linear(x, rank), groups)
        ]
        return self._once(self.gridded(_stacked(joined)), groups)

    def all_slice(self, x: Array, rank: int, dim: int, groups: Groups) -> Array:
        """Of its own value, each device's part along `dim`: local, no communication."""
        self._covering(groups)
        rows = self.linear(np.asarray(x), rank)
        parts = self._parts(rows, dim + 1, len(groups[0]))
        routes = self._routes(groups)
        own = [
            part.take(place, dim)
            for part, place in zip(parts, routes.index, strict=True)
        ]
        return self.gridded(np.stack(own))

    def reduce_scatter(
        self, x: Operand, rank: int, dim: int, groups: Groups, reduce: Reduce
    ) -> Array:
        """Return each device's part along `dim` of its group's reduced value."""
        self._covering(groups)
        rows = self.linear(np.asarray(x), rank)
        parts = self._parts(rows, dim + 1, len(groups[0]))
        parts = self._routed(np.moveaxis(parts, dim + 1, 1), groups)
        folded, extents = self._folding(groups)
        routes, order = self._routes(groups), self._routes(folded).members
        senders = [
            part[[group.index(at) for at in wanted]]
            for part, group, wanted in zip(parts, routes.members, order, strict=True)
        ]
        return self.gridded(_reduced(np.stack(senders), extents, reduce))

    def all_to_all(
        self, x: Array, rank: int, split_dim: int, concat_dim: int, groups: Groups
    ) -> Array:
        """Send part j along `split_dim` to member j; concatenate the received parts."""
        self._covering(groups)
        rows = self.linear(x, rank)
        parts = self._parts(rows, split_dim + 1, len(groups[0]))
        parts = self._routed(np.moveaxis(parts, split_dim + 1, 1), groups)
        return self.gridded(self._join(parts, 1, 1, concat_dim))

    def ragged_all_to_all(
        self, values: Sequence[Array], rank: int, groups: Groups
    ) -> tuple[Array, str | None]:
        """Send slices of rows from each device to the members of its group.

        Every process gets all rows: only their numbers say which rows go where.
        """
        whole = [
            self._everything(x, rank if at < 2 else 1) for at, x in enumerate(values)
        ]
        result, fault = self._virtual.ragged_all_to_all(whole, rank, groups)
        return self._cut(result), fault

    def _taken(self, x: Array, rank: int, sources: Array) -> Array:
        """Return for each position p the value at `sources[p]`, zeros for -1."""
        rows = self.linear(x, rank)
        row = {at: n for held in self._held for n, at in enumerate(held)}
        moves = self._moves(
            (source, target, row[source], row[target])
            for target, source in enumerate(map(int, sources))
            if source >= 0
        )
        return self.gridded(self._moved(rows, moves, np.zeros_like(rows)))


def _stacked(rows: Sequence[Array]) -> Array:
    """Rows as one array, the only one as it is."""
    return rows[0][None] if len(rows) == 1 else np.stack(rows)


def _reduced(members: Array, extents: tuple[int, ...], reduce: Reduce) -> Array:
    """`[device, member, …]` reduced over the members, which lie along `extents`."""
    extents = extents or members.shape[1:2]
    local = members.shape[2:]
    table = members.reshape((len(members), *extents, *local))
    reduced = reduce(table, tuple(range(1, 1 + len(extents))))
    return reduced.reshape((len(members), *local))
