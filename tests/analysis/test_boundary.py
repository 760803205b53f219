"""Where arguments and results lie, read off every form of a program."""

import pytest

import ttxdsl
from ttxdsl.analysis.boundary import TensorLayout, arguments_of, results_of
from ttxdsl.analysis.calls.function_attributes import entry_function
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


def test_who_holds_an_element():
    layout = TensorLayout(MESH, ((AxisRef("y"),), (AxisRef("x"),)))
    assert layout.holder_of((5, 3), (8, 4)) == ((1, 2), (1, 1))
    assert TensorLayout(MESH, ((),)).holder_of((4,), (5,)) == ((0, 0), (4,))
