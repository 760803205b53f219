"""From one sharding of a tensor to another: the collectives that get there.

A reshard is planned on lists of axes alone. Every dimension is in three parts:

- *settled*: the major axes that source and target share; they stay where they are;
- *surplus*: what shards the dimension behind them and has to go or to move;
- *missing*: what the target has behind them and the source has not.

The tensor is always sharded by `settled + surplus`, wanted is `settled + missing`,
and the work is done when no surplus and nothing missing is left. Four kinds of step
shrink the two, tried in the order of what they cost on the wire:

1. slice: split dimensions further, along missing axes that shard nothing yet. Nothing
   is sent and everything after it is smaller;
2. permute: exchange axes for others of the same size, put them in order;
3. all-to-all: move axes from one dimension to another;
4. gather: undo the split along axes that the target does not use.

Where the sizes of all axes divide each other one round does it; else two do. Source:
Shardy's `sdy-reshard-to-collectives`, whose choices these are.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import gcd

from ttxdsl.sharding.axes import AxisRef, common_prefix, concatenate_merged, total_size
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.reshard import collectives
from ttxdsl.sharding.spec import TensorSharding

_ROUNDS = 2
"""As many as Shardy tries, which is enough where sizes divide each other."""

_MOST_ROUNDS = 8
"""Where they do not, more may help; then comes the plain way."""


def _divide(size: int, other: int) -> bool:
    """Whether one of the two sizes divides the other."""
    return size % other == 0 or other % size == 0


def _fitting(
    axis: AxisRef, room: int, mesh: Mesh
) -> tuple[AxisRef, AxisRef | None] | None:
    """The major part of an axis that fits into `room` shards, and the rest of it.

    None if there is no room or the sizes do not divide each other.
    """
    size = axis.size_in(mesh)
    if room <= 1 or not _divide(size, room):
        return None
    if size <= room:
        return axis, None
    cut = axis.pre_size * room
    return (
        AxisRef(axis.name, axis.pre_size, room),
        AxisRef(axis.name, cut, size // room),
    )


def _cut_at(axis: AxisRef, cuts: Iterable[int], mesh: Mesh) -> list[AxisRef]:
    """Return the axis in parts, cut where one of the pre-sizes falls inside of it."""
    start, end = axis.pre_size, axis.next_pre_size_in(mesh)
    inner = sorted({cut for cut in cuts if start < cut < end})
    if not inner:
        return [axis]
    edges = [start, *inner, end]
    return [
        AxisRef(axis.name, major, minor // major) for major, minor in pairwise(edges)
    ]


def cut_alike(
    lists: Sequence[Iterable[AxisRef]], by: Iterable[AxisRef], mesh: Mesh
) -> list[list[AxisRef]]:
    """Every list with its axes cut wherever an axis of `by` begins or ends.

    Axes that cannot coexist with one of `by` stay whole from there on.
    """
    named: dict[str, list[AxisRef]] = {}
    for other in sorted(by, key=lambda axis: axis.pre_size):
        named.setdefault(other.name, []).append(other)

    def parts(axis: AxisRef) -> list[AxisRef]:
        cuts: list[int] = []
        for other in named.get(axis.name, ()):
            if axis.overlaps(other):
                if not axis.can_coexist(other):
                    break
                cuts += (other.pre_size, other.next_pre_size_in(mesh))
        return _cut_at(axis, cuts, mesh)

    return [[part for axis in axes for part in parts(axis)] for axes in lists]


class _Planner:
    """The three parts of every dimension, and the steps taken so far.

    Axes are cut so that any two which overlap are equal; that makes them good keys.
    """

    def __init__(
        self,
        source: TensorSharding,
        target: TensorSharding,
        meshes: tuple[Mesh, Mesh],
        shape: tuple[int, ...],
    ):
        self.mesh, target_mesh = meshes
        self.target = target
        self.shape = shape
        self.must_reorder_devices = self.mesh.devices() != target_mesh.devices()
        self.steps: list[collectives.Collective] = []
        self.surplus: list[list[AxisRef]] = cut_alike(
            source.axes_per_dim, target.sharding_axes, self.mesh
        )
        self.missing: list[list[AxisRef]] = cut_alike(
            target.axes_per_dim, source.sharding_axes, self.mesh
        )
        self.settled: list[list[AxisRef]] = []
        for surplus, missing in zip(self.surplus, self.missing, strict=True):
            pairs = zip(surplus, missing, strict=False)
            shared = next(
                (index for index, (axes, other) in enumerate(pairs) if axes != other),
                min(len(surplus), len(missing)),
            )
            self.settled.append(surplus[:shared])
            del surplus[:shared], missing[:shared]

    @property
    def rank(self) -> int:
        return len(self.settled)

    @property
    def current(self) -> collectives.AxesPerDim:
        """The axes that shard each dimension now."""
        return tuple(
            concatenate_merged((), [*settled, *surplus], self.mesh)
            for settled, surplus in zip(self.settled, self.surplus, strict=True)
        )

    @property
    def is_done(self) -> bool:
        return not (self.must_reorder_devices or any(self.surplus) or any(self.missing))

    @property
    def is_far(self) -> bool:
        """Whether axes that are not of size 1 are still out of place."""
        unsettled = [*self.surplus, *self.missing]
        return any(axis.size_in(self.mesh) > 1 for axes in unsettled for axis in axes)

    def size(self, axes: Iterable[AxisRef]) -> int:
        return total_size(axes, self.mesh)

    def held(self) -> set[AxisRef]:
        """Return the axes that are surplus somewhere, so cannot be sliced along."""
        return {axis for axes in self.surplus for axis in axes}

    def homes(self) -> dict[AxisRef, tuple[int, int]]:
        """Return each missing axis's position: its dimension, its index in the list."""
        return {
            axis: (dim, place)
            for dim, axes in enumerate(self.missing)
            for place, axis in enumerate(axes)
        }

    def run(self) -> tuple[collectives.Collective, ...]:
        rounds, taken = 0, -1
        while not self.is_done and (
            rounds < _ROUNDS or (self.is_far and len(self.steps) > taken)
        ):
            rounds, taken = rounds + 1, len(self.steps)
            if rounds > _MOST_ROUNDS:
                break
            self.slice()
            self.permute()
            self.all_to_all(in_order=True)
            self.all_to_all(in_order=False)
            self.gather()
        return tuple(self.steps)

    def merged(self, lists: Sequence[Sequence[AxisRef]]) -> collectives.AxesPerDim:
        return tuple(concatenate_merged((), axes, self.mesh) for axes in lists)

    def spread(
        self,
        offered: Callable[[int], list[AxisRef]],
        room: list[int],
        *,
        in_front: bool,
    ) -> list[list[AxisRef]]:
        """Hand out axes to the dimensions that have room, in order of dimensions.

        An axis too large for the room is split, and what is left of it is offered
        first to the next dimension. Axes handed out leave `offered`.

        Args:
            offered: the axes that a dimension may take from.
            room: into how many more shards each dimension may be split; updated.
            in_front: put them before the surplus of the dimension, not behind.

        Returns:
            What each dimension got.
        """
        split: list[AxisRef] = []
        given: list[list[AxisRef]] = []
        for dim in range(self.rank):
            source, taken = offered(dim), list[AxisRef]()
            for axis in tuple(source):
                fit = _fitting(axis, room[dim], self.mesh)
                if fit is None:
                    continue
                part, rest = fit
                source.remove(axis)
                taken.append(part)
                room[dim] //= self.size((part,))
                if rest is not None:
                    split.append(part)
                    source.insert(0, rest)
            given.append(taken)
            surplus = self.surplus[dim]
            self.surplus[dim] = [*taken, *surplus] if in_front else [*surplus, *taken]
        self.missing = cut_alike(self.missing, split, self.mesh)
        return given

    # 1. Slices

    def slice(self) -> None:
        """Slice as much as the target allows, best in the dimension it is for.

        A dimension has room for the shards that the target has more than now; a slice
        beyond that would have to be gathered again.
        """
        sliced: list[list[AxisRef]] = [[] for _ in range(self.rank)]
        room = [
            self.size(missing) // gcd(self.size(surplus), self.size(missing))
            for surplus, missing in zip(self.surplus, self.missing, strict=True)
        ]
        for dim in range(self.rank):
            ahead = self.slice_ahead(dim, room)
            sliced[dim] += ahead
            self.surplus[dim] += ahead
        left_over: list[AxisRef] = []
        for dim in range(self.rank):
            self.slice_at_home(dim, room, sliced[dim], left_over)
        elsewhere = self.spread(lambda _: left_over, room, in_front=False)
        for dim, axes in enumerate(elsewhere):
            sliced[dim] += axes
        if any(sliced):
            self.steps.append(collectives.AllSlice(self.merged(sliced)))

    def slice_ahead(self, dim: int, room: list[int]) -> list[AxisRef]:
        """Axes to slice here although they belong elsewhere, to move with others.

        If this dimension's last surplus axes will move to another one, and there are
        followed by axes that shard nothing yet, then slicing those here first makes
        one move of all; sliced over there they would come before the others and need
        a permute. Takes the room of that other dimension.
        """
        surplus, homes = self.surplus[dim], self.homes()
        if not surplus or self.missing[dim] or surplus[-1] not in homes:
            return []
        target, place = homes[surplus[-1]]
        if self.surplus[target]:
            return []
        wanted, held = self.missing[target], self.held()
        ahead: list[AxisRef] = []
        for axis in wanted[place + 1 :]:
            if axis in held:
                break
            ahead.append(axis)
        if not ahead:
            return []
        together = 0
        while (
            together < min(len(surplus), place + 1)
            and surplus[-1 - together] == wanted[place - together]
        ):
            together += 1
        stay, move = surplus[: len(surplus) - together], surplus[-together:]
        if any(axis in homes and homes[axis][0] == target for axis in stay):
            return []  # out of order: a permute is needed anyway
        shards = self.size(self.settled[dim]) * self.size(surplus) * self.size(ahead)
        if self.shape[dim] % shards != 0:
            return []  # would need padding
        room[target] //= self.size(move) * self.size(ahead)
        return ahead

    def slice_at_home(
        self, dim: int, room: list[int], sliced: list[AxisRef], left_over: list[AxisRef]
    ) -> None:
        """Slice a dimension along its own missing axes while there is room.

        Free axes that find no room here go to `left_over`.
        """
        missing: list[AxisRef] = []
        held = self.held()
        for axis in self.missing[dim]:
            if axis in held:
                missing.append(axis)
                continue
            fit = _fitting(axis, room[dim], self.mesh)
            if fit is None:
                left_over.append(axis)
                missing.append(axis)
                continue
            part, rest = fit
            room[dim] //= self.size((part,))
            sliced.append(part)
            if self.surplus[dim] or missing:
                self.surplus[dim].append(part)
                missing.append(part)
            else:
                self.settled[dim].append(part)
            if rest is not None:
                missing.append(rest)
                left_over.append(rest)
        self.missing[dim] = missing

    # 2. Permutes

    def permute(self) -> None:
        """Permute if it brings axes to their place, or if devices change order."""
        if self.permute_helps():
            self.rearrange()
        elif not self.must_reorder_devices:
            return
        self.must_reorder_devices = False
        self.steps.append(collectives.CollectivePermute(self.current, self.target.mesh))

    def permute_helps(self) -> bool:
        """Whether exchanging or reordering axes brings the target nearer."""
        homes, held = self.homes(), self.held()
        free: AxisRef | None = None
        useless: AxisRef | None = None
        for dim, (surplus, missing) in enumerate(
            zip(self.surplus, self.missing, strict=True)
        ):
            if (
                surplus
                and missing
                and _divide(self.size(surplus[:1]), self.size(missing[:1]))
            ):
                return True  # a missing axis can take the place of the first surplus
            free = next((axis for axis in reversed(missing) if axis not in held), free)
            if self.is_disordered(dim, homes):
                return True
            useless = next(
                (axis for axis in reversed(surplus) if axis not in homes), useless
            )
        return (
            free is not None
            and useless is not None
            and _divide(self.size((free,)), self.size((useless,)))
        )

    def is_disordered(self, dim: int, homes: dict[AxisRef, tuple[int, int]]) -> bool:
        """Whether the surplus of a dimension has to be reordered before it can leave.

        So it is if axes for one other dimension do not follow each other as they do
        there, if an axis belongs further back in this very dimension, or if an axis
        to gather stands behind one that has to move.
        """
        seen: set[int] = set()
        before: tuple[int, int] | None = None
        for axis in self.surplus[dim]:
            home = homes.get(axis)
            if home is None:
                if before is not None and not self.missing[dim]:
                    return True
            else:
                follows = before is not None and home == (before[0], before[1] + 1)
                if (home[0] == dim or home[0] in seen) and not follows:
                    return True
                seen.add(home[0])
            before = home
        return False

    def rearrange(self) -> None:
        """Assign new axes in place of the surplus ones.

        A dimension keeps its number of shards. It first gets its own missing axes, then
        axes that other dimensions miss and that can be moved there. Axes that the
        target does not use are placed before those, at their old place if possible, so
        that they are gathered last.
        """
        homes = self.homes()
        old = self.surplus
        self.surplus = [[] for _ in range(self.rank)]
        room = [self.size(surplus) for surplus in old]
        wanted_elsewhere: list[AxisRef] = []
        useless: list[list[AxisRef]] = []
        for dim, missing in enumerate(self.missing):
            shards = room[dim]
            while missing:
                fit = _fitting(missing[0], room[dim], self.mesh)
                if fit is None:
                    break
                part, rest = fit
                missing[:1] = [] if rest is None else [rest]
                self.settled[dim].append(part)
                room[dim] //= self.size((part,))
            wanted_elsewhere += missing
            # the first of the old axes are the ones that were replaced: offer them last
            kept = [axis for axis in old[dim] if axis not in homes]
            replaced: list[AxisRef] = []
            used = shards // room[dim]
            while kept:
                fit = _fitting(kept[0], used, self.mesh)
                if fit is None:
                    break
                part, rest = fit
                kept[:1] = [] if rest is None else [rest]
                replaced.append(part)
                used //= self.size((part,))
            useless.append([*kept, *replaced])
        self.spread(lambda _: wanted_elsewhere, room, in_front=False)
        self.spread(lambda dim: useless[dim], room, in_front=True)
        homeless = [axis for axes in useless for axis in axes]
        self.spread(lambda _: homeless, room, in_front=True)

    # 3. All-to-alls

    def all_to_all(self, *, in_order: bool) -> None:
        """Move the last surplus axes of every dimension to where they belong."""
        for dim in range(self.rank):
            while (move := self.next_move(dim, in_order=in_order)) is not None:
                self.steps.append(collectives.AllToAll((move,)))

    def next_move(
        self, dim: int, *, in_order: bool
    ) -> collectives.AllToAllParam | None:
        """Take the last axes that share a home off a dimension and bring them there."""
        surplus, homes = self.surplus[dim], self.homes()
        if not surplus or surplus[-1] not in homes:
            return None
        target = homes[surplus[-1]][0]
        if target == dim:
            return None
        start = len(surplus)
        while start and (home := homes.get(surplus[start - 1])) and home[0] == target:
            start -= 1
        moved = surplus[start:]
        missing = self.missing[target]
        if in_order and missing[: len(moved)] != moved:
            return None
        del surplus[start:]
        for axis in moved:
            if not self.surplus[target] and missing[0] == axis:
                self.settled[target].append(missing.pop(0))
            else:
                self.surplus[target].append(axis)
        return collectives.AllToAllParam(
            concatenate_merged((), moved, self.mesh), dim, target
        )

    # 4. Gathers

    def gather(self) -> None:
        """Gather every dimension whose last axis the target does not use."""
        homes = self.homes()
        gathered: list[list[AxisRef]] = []
        for dim, surplus in enumerate(self.surplus):
            if surplus and surplus[-1] not in homes:
                gathered.append(surplus)
                self.surplus[dim] = []
            else:
                gathered.append([])
        if any(gathered):
            self.steps.append(collectives.AllGather(self.merged(gathered)))


def gather_and_slice(
    source: TensorSharding, target: TensorSharding, mesh: Mesh
) -> tuple[collectives.Collective, ...]:
    """Return the plain way that is always there: gather what differs, then slice anew.

    Both shardings must be over the same mesh. Takes the memory of the axes gathered.
    """
    shared = [
        common_prefix(left, other)
        for left, other in zip(source.axes_per_dim, target.axes_per_dim, strict=True)
    ]
    gathered, sliced = (
        tuple(
            collectives.suffix_behind(prefix, axes, mesh)
            for prefix, axes in zip(shared, sharding.axes_per_dim, strict=True)
        )
        for sharding in (source, target)
    )
    steps: list[collectives.Collective] = []
    if any(gathered):
        steps.append(collectives.AllGather(gathered))
    if any(sliced):
        steps.append(collectives.AllSlice(sliced))
    return tuple(steps)


def reaches(current: TensorSharding, target: TensorSharding, mesh: Mesh) -> bool:
    """Whether every device holds its shard of `target`; axes of size 1 are ignored."""

    def splitting(sharding: TensorSharding) -> list[list[AxisRef]]:
        return [
            [axis for axis in axes if axis.size_in(mesh) > 1]
            for axes in sharding.axes_per_dim
        ]

    return splitting(current) == splitting(target)


@lru_cache(maxsize=4096)
def plan_reshard(
    source: TensorSharding,
    target: TensorSharding,
    meshes: tuple[Mesh, Mesh],
    shape: tuple[int, ...],
) -> tuple[collectives.Collective, ...]:
    """Return the collectives that bring a tensor from one sharding to another.

    Args:
        source: how the tensor is sharded now.
        target: how it shall be sharded. Openness and replicated axes do not matter.
        meshes: the meshes that the two are over. They have the same axes; their
            devices may come in another order.
        shape: the global shape of the tensor.

    Returns:
        The steps in order; none if the layouts are the same. Along axes of size 1,
        which nobody can tell from no axes, the last sharding may differ from `target`.

    Raises:
        ValueError: if the ranks or the axes of the meshes differ, or the unreduced
            axes: to reduce or to go unreduced is more than a reshard.
    """
    mesh, target_mesh = meshes
    if source.rank != target.rank or not mesh.same_axes(target_mesh):
        raise ValueError(f"no reshard from {source} over {mesh} to {target}")
    if not source.same_unreduced(target):
        raise ValueError(
            f"a reshard cannot change unreduced axes: {source} to {target}"
        )
    if mesh.devices() == target_mesh.devices():
        source = source.with_mesh(target.mesh)  # perhaps another name for it
    steps: list[collectives.Collective] = []
    for step in _Planner(source, target, meshes, shape).run():
        try:
            source = step.after(source, mesh)
        except ValueError:
            break
        steps.append(step)
    if source.mesh != target.mesh:
        steps.append(collectives.CollectivePermute(source.axes_per_dim, target.mesh))
        source = source.with_mesh(target.mesh)
    if not reaches(source, target, mesh):
        steps += gather_and_slice(source, target, mesh)
    return tuple(steps)
