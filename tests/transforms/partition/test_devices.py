"""Groups of devices and permutes: every device once, and data where it belongs."""

from __future__ import annotations

from hypothesis import strategies as st

from ttxdsl.sharding.axes import Axes, AxisRef, total_size
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.replica_groups import groups_along
from ttxdsl.transforms.partition.layout import Layout, without_trivial


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
