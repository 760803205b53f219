"""The plan of a reshard: which collectives, in which order, and that they do it."""

from collections.abc import Sequence
from itertools import product
from random import Random

import pytest

from tests.sharding.random_shardings import (
    MIXED_SIZES,
    POWERS_OF_TWO,
    ReshardCase,
    random_reshard,
)
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.reshard.collectives import (
    AllGather,
    AllSlice,
    AllToAll,
    Collective,
    CollectivePermute,
)
from ttxdsl.sharding.reshard.plan import gather_and_slice, plan_reshard, reaches
from ttxdsl.sharding.spec import TensorSharding

x, y, z, w = (AxisRef(name) for name in "xyzw")
CUBE = Mesh((("x", 2), ("y", 2), ("z", 2), ("w", 2)))


def follow(
    steps: Sequence[Collective], before: TensorSharding, mesh: Mesh
) -> TensorSharding:
    """The sharding after all of `steps`."""
    for step in steps:
        before = step.after(before, mesh)
    return before


def sharding(*dims: tuple[AxisRef, ...], mesh: str = "mesh") -> TensorSharding:
    return TensorSharding.closed(mesh, dims)


def plan(
    source: TensorSharding,
    target: TensorSharding,
    mesh: Mesh = CUBE,
    shape: tuple[int, ...] | None = None,
) -> tuple[Collective, ...]:
    return plan_reshard(source, target, (mesh, mesh), shape or (64,) * source.rank)


def test_what_a_reshard_cannot_do():
    with pytest.raises(ValueError, match="unreduced"):
        plan(sharding((x,)).with_unreduced((y,)), sharding((x,)))
    with pytest.raises(ValueError, match="no reshard"):
        plan(sharding((x,)), sharding((x,), ()))
    with pytest.raises(ValueError, match="no reshard"):
        plan_reshard(sharding((x,)), sharding((x,)), (CUBE, Mesh((("x", 2),))), (8,))


def _assert_exact(case: ReshardCase, steps: tuple[Collective, ...]) -> None:
    """Every step can be applied, and the last sharding is the wanted one."""
    mesh = case.mesh
    assert reaches(follow(steps, case.source, mesh), case.target, mesh)


@pytest.mark.parametrize("sizes", [POWERS_OF_TWO, MIXED_SIZES])
@pytest.mark.parametrize("seed", range(4))
def test_plans_reach_the_target(sizes: tuple[int, ...], seed: int):
    random = Random(seed)
    for _ in range(250):
        case = random_reshard(random, sizes)
        meshes = (case.mesh, case.mesh)
        _assert_exact(case, plan_reshard(case.source, case.target, meshes, case.shape))


@pytest.mark.parametrize("seed", range(2))
def test_gather_and_slice_always_works(seed: int):
    random = Random(seed)
    for _ in range(250):
        case = random_reshard(random, MIXED_SIZES)
        steps = gather_and_slice(case.source, case.target, case.mesh)
        assert len(steps) <= 2
        _assert_exact(case, steps)


def test_data_comes_from_the_group_only():
    """Each device finds its new shard with the devices that a step lets it hear.

    Shardings are checked here by the elements they give to each device, not by the
    algebra that made them.
    """
    random, checked = Random(7), 0
    while checked < 60:
        case = random_reshard(random, (2, 3, 4, 6))
        if case.mesh.total_size > 48 or case.source.rank > 2:
            continue
        mesh, before = case.mesh, case.source
        size = mesh.total_size
        shape = (size * 2,) * before.rank
        for step in plan_reshard(before, case.target, (mesh, mesh), shape):
            after = step.after(before, mesh)
            old, new = _elements(before, shape, mesh), _elements(after, shape, mesh)
            for device, wanted in new.items():
                match step:
                    case AllSlice():
                        assert wanted <= old[device]
                    case CollectivePermute():
                        assert wanted in old.values()
                    case _:
                        group = _group(step, device, mesh)
                        assert wanted <= frozenset().union(*(old[d] for d in group))
            before = after
            checked += 1


def _elements(
    sharding: TensorSharding, shape: tuple[int, ...], mesh: Mesh
) -> dict[tuple[int, ...], frozenset[tuple[int, ...]]]:
    """The elements of the global tensor that each device holds."""
    held = {}
    for position in product(*(range(size) for size in mesh.axis_sizes)):
        slices = sharding.shard_slices(position, shape, mesh)
        held[position] = frozenset(product(*(range(s.start, s.stop) for s in slices)))
    return held


def _group(
    step: Collective, device: tuple[int, ...], mesh: Mesh
) -> list[tuple[int, ...]]:
    """The devices that differ from this one only along the axes of the step."""
    match step:
        case AllGather(axes):
            along = [axis for dim in axes for axis in dim]
        case AllToAll(moves):
            along = [axis for move in moves for axis in move.axes]
        case _:
            raise AssertionError(step)
    choices: list[list[int]] = []
    for (name, size), own in zip(mesh.axes, device, strict=True):
        here = [own]
        for axis in along:
            if axis.name == name:
                length = axis.size_in(mesh)
                stride = size // (axis.pre_size * length)
                here = [
                    place - place // stride % length * stride + step * stride
                    for place in here
                    for step in range(length)
                ]
        choices.append(here)
    return list(product(*choices))
