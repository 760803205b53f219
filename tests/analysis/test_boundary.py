"""Where arguments and results lie, read off every form of a program."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import ttxdsl
from ttxdsl.analysis.boundary import TensorLayout, arguments_of, results_of
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.interpreters.mesh.collectives import DeviceMesh
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh

PROGRAM = """\
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, %b: tensor<3xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
"""

MESH = Mesh((("x", 2), ("y", 4)))


def test_a_global_program_knows_what_is_written():
    function = entry_function(ttxdsl.load(PROGRAM).module)
    a, b = arguments_of(function)
    (result,) = results_of(function)
    assert a.layout == TensorLayout(MESH, ((AxisRef("y"),), (AxisRef("x"),)))
    assert (a.name, a.shape, b.layout) == ("a", (8, 4), None)
    assert result.layout is None


@pytest.mark.parametrize("stage", [6, 9, 11, 13])
def test_a_partitioned_program_knows_all(stage: int):
    function = entry_function(ttxdsl.load(PROGRAM).partition(last_stage=stage).module)
    a, _ = arguments_of(function)
    (result,) = results_of(function)
    assert a.layout == TensorLayout(MESH, ((AxisRef("y"),), (AxisRef("x"),)))
    assert result.layout == TensorLayout(MESH, ((AxisRef("x"),), (AxisRef("y"),)))
    assert result.shape == (4, 8)


@pytest.mark.parametrize("form", ["ttir", "ttnn"])
def test_lowered_programs_count_axes(form: str):
    program = ttxdsl.load(PROGRAM).lower(form)  # pyright: ignore[reportArgumentType]
    function = entry_function(program.module)
    mesh = Mesh((("axis0", 2), ("axis1", 4)))
    a, b = arguments_of(function)
    (result,) = results_of(function)
    assert a.layout == TensorLayout(mesh, ((AxisRef("axis1"),), (AxisRef("axis0"),)))
    assert b.layout is None or b.layout.parts == (1,)
    assert result.layout == TensorLayout(
        mesh, ((AxisRef("axis0"),), (AxisRef("axis1"),))
    )


REFS = (
    AxisRef("x"),
    AxisRef("y"),
    AxisRef("y", 1, 2),
    AxisRef("y", 2, 2),
)


@pytest.mark.parametrize(
    "dims",
    [
        (first, second)
        for first, second in product(((), *((r,) for r in REFS)), repeat=2)
        if not first or not second or first[0].name != second[0].name
    ]
    + [((REFS[2], REFS[0]), (REFS[3],)), ((REFS[1], REFS[0]), ())],
    ids=str,
)
def test_devices_hold_what_the_virtual_mesh_gives_them(
    dims: tuple[tuple[AxisRef, ...]],
):
    """The interpreter splits an array of shard numbers; each device finds its own."""
    layout = TensorLayout(MESH, dims)
    numbers = np.arange(np.prod(layout.parts)).reshape(layout.parts)
    mesh = DeviceMesh(MESH.axes)
    shards = np.broadcast_to(mesh.shard(numbers, dims), (2, 4, 1, 1))
    held = layout.devices()
    for position in np.ndindex(2, 4):
        number = int(shards[position].item())
        assert position in held[tuple(np.argwhere(numbers == number)[0])]


def test_who_holds_an_element():
    layout = TensorLayout(MESH, ((AxisRef("y"),), (AxisRef("x"),)))
    assert layout.holder_of((5, 3), (8, 4)) == ((1, 2), (1, 1))
    assert TensorLayout(MESH, ((),)).holder_of((4,), (5,)) == ((0, 0), (4,))
