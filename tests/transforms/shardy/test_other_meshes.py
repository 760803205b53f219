"""Device numbers of manual computations on another mesh, beside those that JAX writes."""

from itertools import permutations

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import sdy
from ttxdsl.dialects.replica_groups import device_groups
from ttxdsl.dialects.traits import Collective
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import parse_program
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.transforms.shardy.other_meshes import replace_meshes

AXES = {"data": 2, "model": 2, "pipe": 2}


def lowered(names: tuple[str, ...], body, *, sizes=AXES) -> str:
    """The text of a function with a `shard_map` on a mesh with axes in an order."""
    shape = tuple(sizes[name] for name in names)
    mesh = jax.make_mesh(shape, names, axis_types=(AxisType.Auto,) * len(names))
    spec = P("data", "model")
    step = jax.shard_map(
        body, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False
    )
    x = jax.ShapeDtypeStruct((8, 8), jnp.float32, sharding=NamedSharding(mesh, spec))
    return jax.jit(step).lower(x).as_text()


def listed(module):
    """The devices of each collective, as sets of groups where their order says nothing."""
    return [
        sorted(device_groups(op, 8))
        for op in all_ops(module)
        if op.has_trait(Collective)
    ]


def on_other_mesh(text: str, names: tuple[str, ...], sizes=AXES):
    module = parse_program(text)
    meshes = [op for op in module.ops if isinstance(op, sdy.MeshOp)]
    new = Mesh(tuple((name, sizes[name]) for name in names))
    replace_meshes(module, dict.fromkeys(meshes, new))
    return module


def collectives(x):
    x = jax.lax.psum(x, "data") + jax.lax.psum(x, ("pipe", "model"))
    x = jax.lax.all_gather(x, "model", axis=1, tiled=True)
    x = jax.lax.psum_scatter(x, "model", scatter_dimension=1, tiled=True)
    return jax.lax.ppermute(x, "pipe", [(0, 1), (1, 0)])


@pytest.mark.parametrize("names", list(permutations(AXES)))
def test_collectives_have_the_devices_that_jax_gives_them(names: tuple[str, ...]):
    text = lowered(("data", "model", "pipe"), collectives)
    expected = listed(parse_program(lowered(names, collectives)))
    assert listed(on_other_mesh(text, names)) == expected


def test_axes_of_other_sizes():
    def sums(x):
        return jax.lax.psum(x, "pipe")

    small, names = {"data": 2, "model": 1, "pipe": 4}, ("data", "pipe", "model")
    text = lowered(names, sums, sizes=AXES)
    module = on_other_mesh(text, names, small)
    assert listed(module) == [[(0, 1, 2, 3), (4, 5, 6, 7)]]


def test_numbers_that_hold_for_one_mesh():
    def shifts(x):
        return jax.lax.ppermute(x, "pipe", [(0, 1), (1, 0)])

    def counts(x):
        return x + jax.lax.axis_index("pipe")

    def parts(x):
        return jax.lax.psum(x, "pipe", axis_index_groups=[[0, 1], [2, 3]])

    names = ("data", "model", "pipe")
    text = lowered(names, parts, sizes={"data": 2, "model": 1, "pipe": 4})
    with pytest.raises(UnsupportedError, match="hold for one mesh"):
        on_other_mesh(text, names, {"data": 8, "model": 1, "pipe": 1})
    other = {"data": 4, "model": 1, "pipe": 2}
    with pytest.raises(
        UnsupportedError, match="the devices that it lists hold for one"
    ):
        on_other_mesh(lowered(names, shifts), names, other)
    with pytest.raises(UnsupportedError, match="device's number holds for one mesh"):
        on_other_mesh(lowered(names, counts), names, other)
    # nothing changes where axes of size one move
    first = lowered(names, counts, sizes=other)
    assert on_other_mesh(first, ("model", "data", "pipe"), other)
