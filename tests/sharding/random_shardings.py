"""Random meshes and shardings for property and differential tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from ttxdsl.sharding.axes import Axes, AxisRef, append_merged
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding

POWERS_OF_TWO = (1, 2, 4, 8, 16)
MIXED_SIZES = (1, 2, 3, 4, 6, 12)


def random_mesh(random: Random, sizes: Sequence[int], most_axes: int = 4) -> Mesh:
    names = "xyzw"[: random.randint(1, most_axes)]
    return Mesh(tuple((name, random.choice(sizes)) for name in names))


def _parts(random: Random, name: str, size: int) -> list[AxisRef]:
    """An axis cut at random into consecutive sub-axes."""
    cuts, rest = [1], size
    while rest > 1:
        factor = random.choice([n for n in range(2, rest + 1) if rest % n == 0])
        cuts.append(cuts[-1] * factor)
        rest //= factor
    if len(cuts) <= 2:
        return [AxisRef(name)]
    return [AxisRef(name, start, end // start) for start, end in pairwise(cuts)]


def random_sharding(
    random: Random,
    mesh: Mesh,
    rank: int,
    *,
    name: str = "mesh",
    sub_axes: float = 0.3,
    density: float = 0.75,
) -> TensorSharding:
    """Axes and sub-axes in any order on any dimensions; some dimensions open."""
    pool: list[AxisRef] = []
    for axis, size in mesh.axes:
        cut = random.random() < sub_axes
        pool += _parts(random, axis, size) if cut else [AxisRef(axis)]
    random.shuffle(pool)
    dims: list[Axes] = [()] * rank
    for axis in pool:
        if random.random() < density:
            dim = random.randrange(rank)
            dims[dim] = append_merged(dims[dim], axis, mesh)
    return TensorSharding(
        name, tuple(DimSharding(axes, random.random() < 0.8) for axes in dims)
    )


@dataclass(frozen=True)
class ReshardCase:
    mesh: Mesh
    source: TensorSharding
    target: TensorSharding
    shape: tuple[int, ...]


def random_reshard(random: Random, sizes: Sequence[int]) -> ReshardCase:
    mesh = random_mesh(random, sizes)
    rank = random.randint(1, 4)
    sub_axes = random.choice((0.0, 0.3, 0.6))
    source, target = (
        random_sharding(random, mesh, rank, sub_axes=sub_axes) for _ in range(2)
    )
    shape = tuple(random.choice((8, 16, 24, 30, 48, 64, 1440)) for _ in range(rank))
    return ReshardCase(mesh, source, target, shape)
