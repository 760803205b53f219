"""`fit-mesh`: the devices as a mesh that tt-mlir takes."""

import numpy as np
import pytest

from tests.bridges.tt_mlir.legalize.same_numbers import (
    after,
    assert_numbers_stay,
    on_mesh,
)
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError

VALUES = np.arange(16 * 8, dtype=np.float32).reshape(16, 8)
SHAPES = "16x8xf32", "16x8xf32"
TILED = '{"x"}, {"y"}', '{"x"}, {"y"}'


def doubled(local: str) -> str:
    return f"""{local}: %b = stablehlo.add %a, %a : tensor<{local}>
    %i = stablehlo.partition_id : tensor<ui32>
    sdy.return %b : tensor<{local}>"""


@pytest.mark.parametrize(
    ("mesh", "taken", "given", "local", "expected"),
    [
        ('"x"=2, "y"=4', '{"y", "x"}, {}', '{"x"}, {"y"}', None, None),
        ('"x"=2, "y"=2, "z"=2', '{"x"}, {"y", "z"}', '{"x"}, {"y", "z"}', "8x2", '"x"=2, "y_z"=4'),
        ('"x"=2, "y"=2, "z"=2', '{"y"}, {"z"}', '{"y"}, {"z"}', "8x4", None),
        ('"x"=4, "y"=2', '{"x"}, {"y"}', '{"x"}, {"y"}', "4x4", '"y"=2, "x"=4'),
        ('"x"=4, "y"=2', '{"x", "y"}, {}', '{"x", "y"}, {}', "2x8", '"_"=1, "x_y"=8'),
        ('"x"=8', '{"x":(1)2}, {"x":(2)4}', '{"x":(1)2}, {"x":(2)4}', "8x2", None),
        ('"x"=8', '{}, {"x"}', '{}, {"x"}', "16x1", '"_"=1, "x"=8'),
        ('"x"=2', '{}, {"x"}', '{}, {"x"}', "16x4", '"_"=1, "x"=2'),
    ],
)  # fmt: skip
def test_numbers_stay(
    mesh: str, taken: str, given: str, local: str | None, expected: str | None
):
    if local is None:
        body = """2x8xf32: %b = "stablehlo.all_to_all"(%a) <{split_dimension = 1 : i64,
          concat_dimension = 0 : i64, split_count = 4 : i64,
          channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
          replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}>
          : (tensor<2x8xf32>) -> tensor<8x2xf32>
        sdy.return %b : tensor<8x2xf32>"""
    else:
        body = doubled(f"{local}xf32")
    text = on_mesh(mesh, SHAPES, (taken, given), body)
    new = assert_numbers_stay(text, "fit-mesh", VALUES)
    if expected is not None:
        assert f"<[{expected}]>" in new


@pytest.mark.parametrize(
    "ids", ["[3, 1, 7, 5, 0, 2, 6, 4]", "[7, 6, 5, 4, 3, 2, 1, 0]"]
)
def test_devices_are_numbered_by_their_places(ids: str):
    """Every device adds its own number, which it has not lost."""
    body = """8x2xf32: %i = stablehlo.partition_id : tensor<ui32>
      %f = stablehlo.convert %i : (tensor<ui32>) -> tensor<f32>
      %g = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
      %h = stablehlo.add %a, %g : tensor<8x2xf32>
      %b = "stablehlo.collective_permute"(%h) <{
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        source_target_pairs = dense<[[0, 5], [5, 3], [3, 0], [1, 1]]> : tensor<4x2xi64>}>
        : (tensor<8x2xf32>) -> tensor<8x2xf32>
      sdy.return %b : tensor<8x2xf32>"""
    text = on_mesh('"x"=2, "y"=4', SHAPES, TILED, body)
    text = text.replace('"y"=4]>', f'"y"=4], device_ids={ids}>', 1)
    new = assert_numbers_stay(text, "fit-mesh", VALUES)
    assert "device_ids" not in new


@pytest.mark.parametrize("named", ["@mesh", "@mesh_0"])
def test_groups_by_axes_are_listed(named: str):
    """The mesh whose axes they name gets others, or goes."""
    body = f"""8x2xf32: %b = "stablehlo.all_gather"(%a) <{{all_gather_dim = 1 : i64,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        replica_groups = #stablehlo.replica_group_mesh_axes<mesh = {named},
          axes = [#stablehlo.axis_ref<name = "z">]>, use_global_device_ids}}>
        : (tensor<8x2xf32>) -> tensor<8x4xf32>
      sdy.return %b : tensor<8x4xf32>"""
    mesh = '"x"=2, "y"=2, "z"=2'
    text = on_mesh(mesh, SHAPES, ('{"x"}, {"y", "z"}', '{"x"}, {"y"}'), body)
    text += f"\nsdy.mesh @mesh_0 = <[{mesh}]>"
    assert "mesh_axes" not in assert_numbers_stay(text, "fit-mesh", VALUES)


def test_other_numbers_of_devices_are_refused():
    text = on_mesh(
        '"x"=2, "y"=3',
        ("6x8xf32", "6x8xf32"),
        ('{"x", "y"}, {}', '{"x", "y"}, {}'),
        doubled("1x8xf32"),
    )
    with pytest.raises(UnsupportedError, match=r"takes no mesh of 6 devices .*2x4"):
        after(text, "fit-mesh")


def test_a_slice_along_a_whole_axis_is_named_by_its_sharding():
    body = """8x8xf32: %b = stablehlo.composite "sdy.all_slice" %a {composite_attributes = {axis = "y", dim = 1 : i64}, decomposition = @part} : (tensor<8x8xf32>) -> tensor<8x2xf32>
      sdy.return %b : tensor<8x2xf32>"""
    text = (
        on_mesh('"x"=2, "y"=4', SHAPES, ('{"x"}, {}', '{"x"}, {"y"}'), body)
        + """
    func.func private @part(%0: tensor<8x8xf32>) -> tensor<8x2xf32> {
      %1 = stablehlo.partition_id : tensor<ui32>
      %2 = stablehlo.convert %1 : (tensor<ui32>) -> tensor<i32>
      %3 = stablehlo.constant dense<4> : tensor<i32>
      %4 = stablehlo.remainder %2, %3 : tensor<i32>
      %5 = stablehlo.constant dense<2> : tensor<i32>
      %6 = stablehlo.multiply %4, %5 : tensor<i32>
      %7 = stablehlo.constant dense<0> : tensor<i32>
      %8 = stablehlo.dynamic_slice %0, %7, %6, sizes = [8, 2] : (tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<8x2xf32>
      return %8 : tensor<8x2xf32>
    }"""
    )
    new = assert_numbers_stay(text, "fit-mesh", VALUES)
    assert 'out_sharding = #sdy.sharding<@mesh, [{}, {"y"}]>' in new


def test_a_program_that_computes_nothing_is_partitioned():
    text = """sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
func.func @main() {
  return
}"""
    assert "=2" not in after(text, "fit-mesh")
    with pytest.raises(CompileError, match="not partitioned"):
        after(
            text.replace(
                "return", "%0 = stablehlo.partition_id : tensor<ui32>\n  return"
            ),
            "fit-mesh",
        )


def test_shardings_of_a_program_that_computes_nothing():
    text = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{{dim}}}]{more}>}}) {{
  return
}}"""
    new = after(text.format(dim='"x", "y"', more=""), "fit-mesh")
    assert '#sdy.sharding<@mesh, [{"x_y"}]>' in new
    with pytest.raises(UnsupportedError, match="no unreduced data"):
        after(text.format(dim='"x"', more=', unreduced={"y"}'), "fit-mesh")


def test_values_without_elements_are_not_gathered():
    parts = '{"x":(1)2}, {"x":(2)4}'
    text = on_mesh('"x"=8', ("0x8xf32", "0x8xf32"), (parts, parts), doubled("0x2xf32"))
    assert "all_gather" in assert_numbers_stay(text, "fit-mesh", VALUES[:0])
