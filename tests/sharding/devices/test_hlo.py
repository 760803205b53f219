"""XLA's shardings: as it writes and serializes them, and the mesh behind them."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from jax._src.lib import xla_client
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec

from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.hlo import (
    HloKind,
    HloSharding,
    parse_hlo_sharding,
    parse_op_sharding,
)
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.mixed_radix import axes_of
from ttxdsl.sharding.devices.tilings import digits_of, mesh_of_tilings


@st.composite
def specs(draw: st.DrawFn) -> tuple[tuple[int, ...], list[list[tuple[int, ...]]]]:
    """A mesh's shape, and some shardings: the axes of each dimension."""
    shape = tuple(draw(st.lists(st.sampled_from([1, 2, 3, 4]), min_size=1, max_size=4)))
    found: list[list[tuple[int, ...]]] = []
    for _ in range(draw(st.integers(1, 3))):
        axes = draw(st.permutations(range(len(shape))))
        cuts = sorted(draw(st.lists(st.integers(0, len(shape)), max_size=3)))
        found.append([tuple(axes[a:b]) for a, b in zip([0, *cuts], cuts, strict=False)])
    return shape, found


def of_jax(
    shape: tuple[int, ...], dims: list[tuple[int, ...]]
) -> xla_client.HloSharding:
    names = tuple(f"a{index}" for index in range(len(shape)))
    spec = PartitionSpec(*(tuple(names[axis] for axis in dim) or None for dim in dims))
    over = NamedSharding(AbstractMesh(shape, names), spec)
    return over._to_xla_hlo_sharding(len(dims))


@given(specs())
def test_what_jax_writes(case: tuple[tuple[int, ...], list[list[tuple[int, ...]]]]):
    """Text and bytes say the same, and tiles are where JAX's axes put them."""
    shape, shardings = case
    read: list[HloSharding] = []
    for dims in shardings:
        theirs = of_jax(shape, dims)
        (one,) = parse_hlo_sharding(str(theirs))
        (same,) = parse_op_sharding(theirs.to_proto().SerializeToString())
        assert one == same
        if theirs.is_replicated():
            assert one.kind is HloKind.REPLICATED
            continue
        assert list(one.devices) == theirs.tile_assignment_devices()
        read.append(one)
        assert axes_over(Mesh(named(shape)), one) == [
            [n for axis in dim if (n := shape[axis]) > 1] for dim in dims
        ]
    if read:
        mesh = mesh_of_tilings(read)
        assert mesh.total_size == prod(shape) and not mesh.device_ids
        for one in read:
            assert [prod(dim) for dim in axes_over(mesh, one)] == list(
                one.dims[: one.rank]
            )


def named(shape: tuple[int, ...]) -> tuple[tuple[str, int], ...]:
    return tuple((f"a{index}", size) for index, size in enumerate(shape))


def axes_over(mesh: Mesh, one: HloSharding) -> list[list[int]]:
    """The sizes of the axes that each dimension is split over."""
    digits = digits_of(one, mesh.devices())
    assert digits is not None
    found: list[list[int]] = []
    for dim in digits[: one.rank]:
        axes = axes_of(dim, mesh)
        assert axes is not None
        found.append([axis.size_in(mesh) for axis in axes])
    return found


@given(specs(), st.randoms())
def test_devices_in_another_order(case, random):
    """One tiling over all axes tells the order, up to that of axes."""
    shape, _ = case
    order = list(range(prod(shape)))
    random.shuffle(order)
    devices = np.array(order).reshape(shape)
    whole = HloSharding(HloKind.TILED, shape, tuple(order))
    turned = HloSharding(
        HloKind.TILED, shape[::-1], tuple(devices.transpose().ravel().tolist())
    )
    mesh = mesh_of_tilings([whole, turned])
    for one in (whole, turned):
        assert digits_of(one, mesh.devices()) is not None


def test_devices_that_hold_the_same_are_in_any_order():
    """torch-xla sorts them."""
    whole, rows = (
        parse_hlo_sharding(text)[0]
        for text in (
            "{devices=[2,4]0,2,4,6,7,5,3,1}",
            "{devices=[2,1,4]0,2,4,6,1,3,5,7 last_tile_dim_replicate}",
        )
    )
    mesh = mesh_of_tilings([rows, whole])
    assert mesh.device_ids == (0, 2, 4, 6, 7, 5, 3, 1)
    digits = digits_of(rows, mesh.devices())
    assert digits is not None
    assert axes_of(digits[0], mesh) == (AxisRef("_axis_0"),)


def test_parts_of_an_axis():
    (one,) = parse_hlo_sharding("{devices=[2,2,2]<=[8] last_tile_dim_replicate}")
    mesh = Mesh((("x", 8),))
    digits = digits_of(one, mesh.devices())
    assert digits is not None
    assert [axes_of(dim, mesh) for dim in digits[:2]] == [
        (AxisRef("x", 1, 2),),
        (AxisRef("x", 2, 2),),
    ]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("{replicated}", [HloKind.REPLICATED]),
        ("{manual}", [HloKind.MANUAL]),
        ("{unknown shard_as 3}", [HloKind.UNKNOWN]),
        ("{maximal device=5}", [HloKind.MAXIMAL]),
        ('{replicated metadata={op_name="a"}}', [HloKind.REPLICATED]),
        ("{{replicated}, {devices=[2]<=[2]}, {manual}}", ["replicated", "devices", "manual"]),
        ("{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}", [HloKind.TILED]),
    ],
)  # fmt: skip
def test_forms(text: str, kinds: list[str]):
    assert [one.kind for one in parse_hlo_sharding(text)] == kinds


def test_serialized_tuples_and_maximal():
    proto = xla_client.OpSharding()
    proto.type = xla_client.OpSharding.Type.TUPLE
    one = xla_client.OpSharding()
    one.type = xla_client.OpSharding.Type.MAXIMAL
    one.tile_assignment_dimensions, one.tile_assignment_devices = [1], [3]
    other = xla_client.HloSharding.replicate().to_proto()
    proto.tuple_shardings = [one, other]
    read = parse_op_sharding(proto.SerializeToString())
    assert read == (
        HloSharding(HloKind.MAXIMAL, devices=(3,)),
        HloSharding(HloKind.REPLICATED),
    )


@given(st.binary(max_size=40))
@example(b"Z\x00")  # a list of no numbers
def test_bytes_that_are_none(data: bytes):
    try:
        parse_op_sharding(data)
    except ValueError as error:
        assert str(error)
