"""Groups of devices and permutes: every device once, and data where it belongs."""

from __future__ import annotations

from hypothesis import given, strategies as st

from ttxdsl.sharding.axes import Axes, AxisRef, total_size
from ttxdsl.sharding.devices.mesh import Mesh, mesh_positions
from ttxdsl.sharding.devices.replica_groups import groups_along, indices_along
from ttxdsl.transforms.partition.devices import (
    shard_index_of_device,
    source_target_pairs,
)
from ttxdsl.transforms.partition.layout import Layout, cut, without_trivial


@st.composite
def meshes(draw: st.DrawFn) -> Mesh:
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 4]), min_size=1, max_size=3))
    mesh = Mesh(tuple(zip("xyz", sizes, strict=False)))
    ids = draw(st.permutations(range(mesh.total_size)))
    return Mesh(mesh.axes, draw(st.sampled_from([(), tuple(ids)])))


@st.composite
def meshes_and_axes(draw: st.DrawFn) -> tuple[Mesh, Axes]:
    """Axes in any order, some of size 4 cut into halves."""
    mesh = draw(meshes())
    parts: list[AxisRef] = []
    for name, size in mesh.axes:
        if size == 4 and draw(st.booleans()):
            parts += [AxisRef(name, 1, 2), AxisRef(name, 2, 2)]
        else:
            parts.append(AxisRef(name))
    chosen = draw(st.lists(st.sampled_from(parts), unique=True))
    return mesh, without_trivial(chosen, mesh)


def test_groups_by_hand():
    mesh = Mesh((("x", 2), ("y", 4)))
    assert groups_along(mesh, (AxisRef("y"),)) == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert groups_along(mesh, (AxisRef("x"),)) == ((0, 4), (1, 5), (2, 6), (3, 7))
    assert groups_along(mesh, (AxisRef("y"), AxisRef("x"))) == (
        (0, 4, 1, 5, 2, 6, 3, 7),
    )
    assert groups_along(mesh, (AxisRef("y", 1, 2),)) == (
        (0, 2), (1, 3), (4, 6), (5, 7),
    )  # fmt: skip


def test_groups_name_devices_and_not_places():
    mesh = Mesh((("x", 2), ("y", 2)), (3, 1, 0, 2))
    assert groups_along(mesh, (AxisRef("y"),)) == ((3, 1), (0, 2))


@given(meshes_and_axes())
def test_groups_partition_the_devices_in_order_of_their_index(
    mesh_and_axes: tuple[Mesh, Axes],
):
    mesh, axes = mesh_and_axes
    groups = groups_along(mesh, axes)
    assert sorted(d for group in groups for d in group) == sorted(mesh.devices())
    index = shard_index_of_device(mesh, axes)
    for group in groups:
        assert [index[device] for device in group] == list(
            range(total_size(axes, mesh))
        )


@given(meshes_and_axes())
def test_devices_of_a_group_differ_along_the_axes_alone(
    mesh_and_axes: tuple[Mesh, Axes],
):
    mesh, axes = mesh_and_axes
    place = dict(zip(mesh.devices(), mesh_positions(mesh), strict=True))
    named = {axis.name for axis in axes}
    for group in groups_along(mesh, axes):
        for i, (name, _) in enumerate(mesh.axes):
            if name not in named:
                assert len({place[device][i] for device in group}) == 1


@st.composite
def layouts(draw: st.DrawFn) -> tuple[Layout, Layout]:
    """Two layouts of one tensor with as many shards a dimension."""
    mesh, axes = draw(meshes_and_axes())
    shuffled = draw(st.permutations(axes))
    middle = draw(st.integers(0, len(axes)))
    before = [tuple(axes[:middle]), tuple(axes[middle:])]
    after = [tuple(shuffled[:middle]), tuple(shuffled[middle:])]
    if [total_size(a, mesh) for a in before] != [total_size(a, mesh) for a in after]:
        after = before
    layout = Layout.replicated(mesh, (total_size(axes, mesh) * 2,) * 2)
    return layout.with_axes(before), layout.with_axes(after)


@given(layouts(), st.randoms(use_true_random=False))
def test_a_permute_brings_every_device_its_shard(pair: tuple[Layout, Layout], random):
    before, after = pair
    ids = list(range(before.mesh.total_size))
    random.shuffle(ids)
    after = Layout(Mesh(before.mesh.axes, tuple(ids)), after.shape, after.axes)
    pairs = source_target_pairs(before, after)
    assert sorted(s for s, _ in pairs) == sorted(ids)
    assert sorted(t for _, t in pairs) == sorted(ids)

    def shard(layout: Layout, device: int) -> tuple[int, ...]:
        place = layout.mesh.devices().index(device)
        return tuple(indices_along(layout.mesh, axes)[place] for axes in layout.axes)

    for source, target in pairs:
        assert shard(before, source) == shard(after, target)


@given(
    meshes_and_axes(),
    st.lists(st.sampled_from([1, 2, 3, 4, 6]), min_size=1, max_size=3),
)
def test_cutting_axes_over_factors_loses_none(
    mesh_and_axes: tuple[Mesh, Axes], sizes: list[int]
):
    mesh, axes = mesh_and_axes
    parts, rest = cut(axes, sizes, mesh)
    assert len(parts) == len(sizes)
    taken = tuple(axis for part in parts for axis in part) + rest
    assert without_trivial(taken, mesh) == axes
    for size, part in zip(sizes, parts, strict=True):
        assert size % total_size(part, mesh) == 0
    for earlier, size in zip(range(len(sizes) - 1), sizes, strict=False):
        # minor factors are split only once the major ones are used up
        if any(parts[earlier + 1 :]):
            assert total_size(parts[earlier], mesh) == size
