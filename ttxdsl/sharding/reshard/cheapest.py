"""From one sharding of a tensor to another by the fewest bytes.

`reshard.py` has Shardy's plans, which take steps of one kind after those of another and
permute first. That is often what sends least, but not where axes change places between
dimensions: a permute and two all-to-alls go where two all-to-alls over other axes do.

Here the steps are looked for instead: layouts are places, collectives are ways between
them, what a collective sends (`cost.py`) is their length, and the plan is the shortest
way. Shardy's plan stays where nothing is shorter.
"""

from collections.abc import Iterator
from functools import lru_cache
from heapq import heappop, heappush
from itertools import count
from math import prod

from ttxdsl.costs.ring import Ring, ring_bytes
from ttxdsl.sharding.axes import AxisRef, concatenate_merged, total_size
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.reshard.collectives import (
    AllGather,
    AllReduce,
    AllSlice,
    AllToAll,
    AllToAllParam,
    Collective,
    CollectivePermute,
)
from ttxdsl.sharding.reshard.plan import cut_alike, plan_reshard
from ttxdsl.sharding.spec import TensorSharding

_MOST_LAYOUTS = 400
"""How many layouts to look at: as many as three axes over three dimensions make."""

_BYTES = 64
"""What an element is counted as, so that hardly a fraction of a byte is rounded up."""

_Dims = tuple[tuple[AxisRef, ...], ...]


@lru_cache(maxsize=4096)
def cheapest_reshard(
    source: TensorSharding,
    target: TensorSharding,
    meshes: tuple[Mesh, Mesh],
    shape: tuple[int, ...],
) -> tuple[Collective, ...]:
    """Return the collectives that reshard a tensor with the fewest bytes.

    Arguments, result and errors are those of `plan_reshard`.
    """
    plan = plan_reshard(source, target, meshes, shape)
    mesh = meshes[0]
    sending = sum(not isinstance(step, AllSlice) for step in plan)
    every = (*source.sharding_axes, *target.sharding_axes)
    if any(axis.size_in(mesh) == 1 for axis in every):
        return plan  # they split nothing, but steps have to name them
    if sending < 2 or mesh.devices() != meshes[1].devices():
        return plan
    price = plan_bytes(plan, source, mesh, shape)
    found_plan = _shortest(source.with_mesh(target.mesh), target, mesh, shape, price)
    return plan if found_plan is None else found_plan


def plan_bytes(
    plan: tuple[Collective, ...],
    source: TensorSharding,
    mesh: Mesh,
    shape: tuple[int, ...],
) -> int:
    """Return the bytes each device sends in a plan, elements counted as 64 bytes."""
    total = 0
    for step in plan:
        total += _step_bytes(step, source.axes_per_dim, mesh, shape)
        source = step.after(source, mesh)
    return total


def _step_bytes(
    step: Collective, before: _Dims, mesh: Mesh, shape: tuple[int, ...]
) -> int:
    shards = prod(total_size(axes, mesh) for axes in before)
    held = _BYTES * prod(shape) // shards
    match step:
        case AllGather(axes):
            among = prod(total_size(axis, mesh) for axis in axes)
            return ring_bytes(Ring.ALL_GATHER, held, among)
        case AllToAll(moves):
            return sum(
                ring_bytes(Ring.ALL_TO_ALL, held, total_size(move.axes, mesh))
                for move in moves
            )
        case CollectivePermute():
            return ring_bytes(Ring.COLLECTIVE_PERMUTE, held, mesh.total_size)
        case AllReduce(axes):
            return ring_bytes(Ring.ALL_REDUCE, held, total_size(axes, mesh))
        case _:
            return 0


def _shortest(
    source: TensorSharding,
    target: TensorSharding,
    mesh: Mesh,
    shape: tuple[int, ...],
    limit: int,
) -> tuple[Collective, ...] | None:
    """The way that sends least, if that is less than a limit (Dijkstra, 1959)."""
    start = _cut(source, target, mesh)
    end = _cut(target, source, mesh)
    number = count()
    waiting: list[tuple[int, int, int, _Dims, tuple[Collective, ...]]] = [
        (0, 0, next(number), start, ())
    ]
    done: set[_Dims] = set()
    while waiting and len(done) < _MOST_LAYOUTS:
        price, length, _, dims, plan = heappop(waiting)
        if dims == end:
            return plan
        if dims in done:
            continue
        done.add(dims)
        for step, after in _steps(dims, end, target, mesh):
            if after in done or any(
                size % total_size(axes, mesh)
                for size, axes in zip(shape, after, strict=True)
            ):
                continue
            total = price + _step_bytes(step, dims, mesh, shape)
            if total < limit:
                way = (total, length + 1, next(number), after, (*plan, step))
                heappush(waiting, way)
    return None


def _cut(sharding: TensorSharding, other: TensorSharding, mesh: Mesh) -> _Dims:
    """Return the axes of each dimension in parts that the other sharding has too."""
    return tuple(
        map(tuple, cut_alike(sharding.axes_per_dim, other.sharding_axes, mesh))
    )


def _steps(
    dims: _Dims, end: _Dims, target: TensorSharding, mesh: Mesh
) -> Iterator[tuple[Collective, _Dims]]:
    """The ways on: a slice that the end has, axes to another dimension or gathered."""
    rank = len(dims)
    used = {axis for axes in dims for axis in axes}
    for dim, wanted in enumerate(end):
        place = len(dims[dim])
        if wanted[:place] == dims[dim] and wanted[place:]:
            axis = wanted[place]
            if axis not in used:
                only = tuple(
                    (axis,) if position == dim else () for position in range(rank)
                )
                yield AllSlice(only), _with(dims, dim, (*dims[dim], axis))
    for dim, axes in enumerate(dims):
        for place in range(len(axes)):
            if axes[: place + 1] == end[dim][: place + 1]:
                continue  # it lies as it shall
            moved, rest = axes[place:], axes[:place]
            merged = concatenate_merged((), moved, mesh)
            without = _with(dims, dim, rest)
            for other in range(rank):
                if other != dim:
                    move = AllToAllParam(merged, dim, other)
                    after = _with(without, other, (*dims[other], *moved))
                    yield AllToAll((move,)), after
            only = tuple(merged if position == dim else () for position in range(rank))
            yield AllGather(only), without
    if dims != end and all(
        total_size(mine, mesh) == total_size(theirs, mesh)
        for mine, theirs in zip(dims, end, strict=True)
    ):
        axes_per_dim = tuple(concatenate_merged((), axes, mesh) for axes in end)
        yield CollectivePermute(axes_per_dim, target.mesh), end


def _with(dims: _Dims, dim: int, axes: tuple[AxisRef, ...]) -> _Dims:
    return (*dims[:dim], axes, *dims[dim + 1 :])
