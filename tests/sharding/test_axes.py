from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from ttxdsl.sharding.axes import AxisRef, split_mesh_at, subtract, total_size
from ttxdsl.sharding.devices.mesh import Mesh

MESH = Mesh((("x", 2), ("y", 24), ("z", 16)))
X, Y, Z = AxisRef("x"), AxisRef("y"), AxisRef("z")


def y(pre_size: int, size: int) -> AxisRef:
    return AxisRef("y", pre_size, size)


def z(pre_size: int, size: int) -> AxisRef:
    return AxisRef("z", pre_size, size)


def test_sizes_need_the_mesh_for_full_axes() -> None:
    assert Y.size_in(MESH) == 24
    assert z(2, 4).size_in(MESH) == 4
    assert z(2, 4).next_pre_size_in(MESH) == 8
    assert total_size((X, z(2, 4)), MESH) == 8
    with pytest.raises(ValueError, match='unknown axis name: "q"'):
        AxisRef("q").size_in(MESH)


@pytest.mark.parametrize(
    ("axis", "other", "prefix", "suffix"),
    [
        (Z, z(2, 2), z(1, 2), z(4, 4)),
        (z(1, 4), z(2, 4), z(1, 2), None),
        (z(2, 8), z(4, 2), z(2, 2), z(8, 2)),
        (z(1, 4), z(4, 2), z(1, 4), z(1, 4)),
        (z(1, 4), z(1, 2), None, z(2, 2)),
        (z(2, 2), z(2, 2), None, None),
        (z(1, 4), y(2, 4), z(1, 4), z(1, 4)),
        (y(1, 2), y(3, 2), None, None),
    ],
)
def test_prefix_and_suffix_without(
    axis: AxisRef, other: AxisRef, prefix: AxisRef | None, suffix: AxisRef | None
) -> None:
    assert axis.prefix_without(other) == prefix
    assert axis.suffix_without(other, MESH) == suffix


def test_merge() -> None:
    assert z(2, 4).merge(z(8, 2), MESH) == z(2, 8)
    assert z(1, 2).merge(z(2, 8), MESH) == Z
    assert not z(1, 2).can_merge(z(4, 2))
    assert not z(2, 4).can_merge(z(1, 2))
    with pytest.raises(ValueError, match="not consecutive"):
        z(1, 2).merge(z(4, 2), MESH)


def test_subtract() -> None:
    assert subtract((X, Z), (z(2, 2),), MESH) == (X, z(1, 2), z(4, 4))
    assert subtract((X, Z), (X, Z), MESH) == ()
    assert subtract((Z,), (z(8, 2), z(1, 2)), MESH) == (z(2, 4),)
    assert subtract((X, Y), (), MESH) == (X, Y)


def test_split_mesh_at() -> None:
    mesh = Mesh((("x", 2), ("y", 16), ("z", 4)))
    cut = split_mesh_at(mesh, (X, y(2, 2)))
    assert cut == (X, y(1, 2), y(2, 2), y(4, 4), Z)
    with pytest.raises(ValueError, match="cannot coexist"):
        split_mesh_at(MESH, (y(1, 2), y(1, 3)))


@st.composite
def sub_axes(draw: st.DrawFn) -> AxisRef:
    """A part of `y`, of size 24: its divisors make sub-axes that cannot coexist."""
    pre_size = draw(st.sampled_from([1, 2, 3, 4, 6, 8, 12]))
    rest = 24 // pre_size
    size = draw(st.sampled_from([n for n in range(2, rest + 1) if rest % n == 0]))
    return AxisRef("y") if size == 24 else y(pre_size, size)


def covered(axis: AxisRef) -> set[int]:
    """Prime steps of the axis as a set: which of 24's cuts lie inside."""
    return set(range(axis.pre_size, axis.next_pre_size_in(MESH)))


@given(sub_axes(), sub_axes())
def test_algebra_agrees_with_sets_of_cuts(one: AxisRef, other: AxisRef) -> None:
    both = covered(one) & covered(other)
    assert one.overlaps(other) is bool(both)
    assert one.contains(other) is (covered(other) <= covered(one))
    if one.can_coexist(other):
        left = subtract((one,), (other,), MESH)
        assert set().union(*(covered(part) for part in left)) == covered(one) - both


@pytest.mark.parametrize(
    ("axis", "text"),
    [
        (
            AxisRef("y", 1, 2),
            "y:(1)2 is a part of y: its 24 devices seen as 2 x 12, along the first 2",
        ),
        (
            AxisRef("y", 2, 3),
            "y:(2)3 is a part of y: its 24 devices seen as 2 x 3 x 4, along the middle 3",
        ),
        (
            AxisRef("z", 4, 4),
            "z:(4)4 is a part of z: its 16 devices seen as 4 x 4, along the last 4",
        ),
    ],
)
def test_a_part_of_an_axis_is_explained(axis: AxisRef, text: str) -> None:
    assert axis.told_in(MESH) == text
