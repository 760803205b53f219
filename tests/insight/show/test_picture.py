"""Pictures of shardings: the right devices in the right cells, and valid XML."""

from xml.etree import ElementTree

import ttxdsl
from ttxdsl.analysis.boundary import TensorLayout
from ttxdsl.insight.show.picture import sharding_svg
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh

X, Y = AxisRef("x"), AxisRef("y")
MESH = Mesh((("x", 2), ("y", 4)))
SVG = "{http://www.w3.org/2000/svg}"


def cells(layout: TensorLayout) -> dict[tuple[int, int], str]:
    """The device list of each cell by row and column, from the drawing."""
    root = ElementTree.fromstring(sharding_svg(layout))
    found: dict[tuple[int, int], str] = {}
    for group in root.iter(f"{SVG}g"):
        box, title = group.find(f"{SVG}rect"), group.find(f"{SVG}title")
        assert box is not None
        assert title is not None
        place = int(box.attrib["y"]) // 26, int(box.attrib["x"]) // 66
        found[place] = (title.text or "").removeprefix("devices ")
    return found


def test_rows_and_columns():
    assert cells(TensorLayout(MESH, ((X,), (Y,)))) == {
        (row, column): str(4 * row + column) for row in range(2) for column in range(4)
    }
    assert cells(TensorLayout(MESH, ((Y,), ())))[2, 0] == "2,6"


def test_a_vector_is_a_row_and_a_scalar_one_cell():
    assert cells(TensorLayout(MESH, ((Y,),)))[0, 3] == "3,7"
    assert cells(TensorLayout(MESH, ())) == {(0, 0): "0-7"}


def test_dimensions_that_are_split_are_the_ones_drawn():
    drawn = cells(TensorLayout(MESH, ((), (X,), (), (Y,))))
    assert drawn[1, 2] == "6"
    mesh = Mesh((("a", 2), ("b", 2), ("c", 2)))
    three = TensorLayout(mesh, tuple((AxisRef(name),) for name in "abc"))
    assert cells(three)[1, 0] == "4-5"


def test_device_order_of_the_mesh():
    mesh = Mesh((("x", 4),), (3, 2, 1, 0))
    assert cells(TensorLayout(mesh, ((X,),)))[0, 0] == "3"


def test_too_many_shards_are_not_drawn():
    assert sharding_svg(TensorLayout(Mesh((("x", 64),)), ((X,),))) == ""


PROGRAM = """\
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x2xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


def test_html_of_a_program():
    program = ttxdsl.load(PROGRAM)
    html = program._repr_html_()
    root = ElementTree.fromstring(html)
    assert root.attrib["class"] == "ttxdsl-program"
    assert "not decided" in html
    assert "all_reduce" not in html
    html = program.partition()._repr_html_()
    ElementTree.fromstring(html)
    assert "all_reduce" in html
    assert "mesh x=2" in html
    assert "whole on every device" in html
    assert html == program.lower("ttnn")._repr_html_().replace(
        "ttnn after convert-ttir-to-ttnn", "stablehlo after canonicalize"
    )
