"""Pictures for terminals: every cell names the devices that have its slice."""

from __future__ import annotations

from io import StringIO

import pytest
from hypothesis import given, strategies as st
from rich.console import Console

from ttxdsl.analysis.boundary import TensorLayout
from ttxdsl.insight.show.grid import sharding_grid, shards_of
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh

MESH = Mesh((("x", 2), ("y", 4)))


def layout(*dims: str, mesh: Mesh = MESH) -> TensorLayout:
    return TensorLayout(mesh, tuple(tuple(map(AxisRef, dim)) for dim in dims))


def drawn(one: TensorLayout, shape: tuple[int, ...], *, color: bool = False) -> str:
    stream = StringIO()
    console = Console(
        file=stream,
        width=140,
        force_terminal=color,
        color_system="truecolor" if color else None,
    )
    console.print(sharding_grid(one, shape))
    return stream.getvalue()


def test_what_is_too_large_is_counted():
    mesh = Mesh((("a", 40), ("b", 30)))
    text = drawn(layout("a", "b", mesh=mesh), (40, 30))
    assert "… 18 more" in text and "… 16 more" in text


def test_colours_only_on_terminals():
    assert "\x1b[" not in drawn(layout("x", "y"), (8, 16))
    colored = drawn(layout("x", "y"), (8, 16), color=True)
    assert len({part.split("m")[0] for part in colored.split("48;2;")[1:]}) == 8


def test_ranks_must_agree():
    with pytest.raises(ValueError, match="a layout of rank 2 for a tensor of 1"):
        shards_of(layout("x", "y"), (8,))


@given(st.lists(st.integers(1, 9), min_size=0, max_size=4), st.randoms())
def test_shards_cover_every_element_once_and_name_every_device(
    shape: list[int], random: object
):
    axes = ["x", "y"]
    getattr(random, "shuffle")(axes)  # noqa: B009
    dims = [""] * len(shape)
    for axis in axes if shape else ():
        dims[getattr(random, "randrange")(len(shape))] += axis  # noqa: B009
    one = layout(*dims)
    shards = shards_of(one, shape)
    held = [device for shard in shards for device in shard.devices]
    assert sorted(held) == list(range(8))
    covered = 0
    for shard in shards:
        volume = 1
        for low, high in shard.slices:
            volume *= high - low
        covered += volume
    total = 1
    for size in shape:
        total *= size
    assert covered == total
