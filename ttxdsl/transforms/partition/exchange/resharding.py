"""Plans that bring a tensor from one layout to another, and their prices."""

from collections.abc import Iterable
from typing import NamedTuple

from ttxdsl.sharding.axes import Axes, AxisRef
from ttxdsl.sharding.reshard.cheapest import cheapest_reshard, plan_bytes
from ttxdsl.sharding.reshard.collectives import (
    AllGather,
    AllReduce,
    AllSlice,
    Collective,
)
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.partition.layout import Layout


def sharding_of(layout: Layout) -> TensorSharding:
    """Return a layout as a sharding."""
    return TensorSharding.closed(layout.mesh, layout.axes)


def reshard_plan(before: Layout, after: Layout) -> tuple[Collective, ...]:
    """Return the steps from one layout to another, in even shards all the way."""
    source, meshes = sharding_of(before), (before.mesh, after.mesh)
    steps = cheapest_reshard(source, sharding_of(after), meshes, after.shape)
    if before.mesh == after.mesh and _is_uneven_between(steps, source, after):
        return _gather_and_slice(before, after)
    return steps


def steps_bytes(steps: tuple[Collective, ...], before: Layout) -> int:
    """Return what each device sends in some steps, elements counted as 64 bytes."""
    return plan_bytes(steps, sharding_of(before), before.mesh, before.shape)


class ReshardPrice(NamedTuple):
    """The elements that a device sends, counted as 64 bytes, and the collectives."""

    sent: int
    launches: int

    def and_then(self, other: "ReshardPrice", weight: int = 1) -> "ReshardPrice":
        """Return the price of both, the other one's elements `weight` times as large."""
        sent = self.sent + weight * other.sent
        return ReshardPrice(sent, self.launches + other.launches)


def reshard_price(before: Layout, after: Layout) -> ReshardPrice:
    """Return the price of bringing a tensor from one layout to another."""
    if before.same_placement(after):
        return ReshardPrice(0, 0)
    steps = reshard_plan(before, after)
    launches = sum(not isinstance(step, AllSlice) for step in steps)
    return ReshardPrice(steps_bytes(steps, before), launches)


def sum_price(layout: Layout, axes: Iterable[AxisRef]) -> ReshardPrice:
    """Return the price of summing a tensor that is partial along some axes."""
    return ReshardPrice(steps_bytes((AllReduce(tuple(axes)),), layout), 1)


def _is_uneven_between(
    steps: Iterable[Collective], sharding: TensorSharding, layout: Layout
) -> bool:
    """Whether a tensor would have uneven shards after one of some steps."""
    for step in steps:
        sharding = step.after(sharding, layout.mesh)
        if layout.with_axes(sharding.axes_per_dim).uneven is not None:
            return True
    return False


def _gather_and_slice(before: Layout, after: Layout) -> tuple[Collective, ...]:
    """Reshard to a layout on the same mesh by way of the common axes, which are even."""
    gathered: list[Axes] = []
    sliced: list[Axes] = []
    for old, new in zip(before.axes, after.axes, strict=True):
        same = 0
        while same < min(len(old), len(new)) and old[same] == new[same]:
            same += 1
        gathered.append(old[same:])
        sliced.append(new[same:])
    return AllGather(tuple(gathered)), AllSlice(tuple(sliced))
