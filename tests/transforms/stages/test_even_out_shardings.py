"""Dimensions that their axes do not divide: whole inside, refused at the border."""

import numpy as np
import pytest

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.transforms.stages.even_out_shardings import (
    EvenOutShardingsPass,
    even_out_shardings,
)

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>\n'
X, Y = AxisRef("x"), AxisRef("y")

PADDED = (
    MESH
    + """func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x10xf32>) -> tensor<8x6xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %c, low = [0, 2], high = [0, 2], interior = [0, 0] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8x10xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {"y", ?}]> : tensor<8x10xf32>
  %2 = stablehlo.add %1, %b : tensor<8x10xf32>
  %3 = stablehlo.slice %2 [0:8, 1:7] : (tensor<8x10xf32>) -> tensor<8x6xf32>
  return %3 : tensor<8x6xf32>
}"""
)
"""A constraint that does not fit sizes of 6 and 10."""


def test_what_has_a_scale_for_each_slice_stays_whole():
    quantized = "tensor<4x8x!quant.uniform<i8:f32:0, {0.5, 1.0, 2.0, 4.0}>>"
    sharding = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}'
    text = f"""{MESH}func.func @main(%a: tensor<4x8xf32> {sharding}) -> (tensor<4x8xf32> {sharding}) {{
  %0 = stablehlo.uniform_quantize %a {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{}}, {{"y"}}]>]>}} : (tensor<4x8xf32>) -> {quantized}
  %1 = stablehlo.uniform_dequantize %0 : ({quantized}) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}}"""
    module, before = parse_program(text), parse_program(text)
    array = np.random.default_rng(0).standard_normal((4, 8)).astype("f4") * 9
    with collect_remarks() as remarks:
        TTStableHLOPipelinePass(verify_each=True).apply(make_context(), module)
    (warning,) = [str(one) for one in remarks if one.severity == "warning"]
    assert 'cannot be split by {"y"=4}, as each slice has a scale of its own' in warning
    assert "24 bytes a device more" in warning
    np.testing.assert_array_equal(
        run_module(module, [array])[0], run_module(before, [array])[0]
    )


def test_strict_refuses_instead():
    with pytest.raises(UnsupportedError, match="size 10 is not divisible by 4"):
        TTStableHLOPipelinePass(strict=True).apply(
            make_context(), parse_program(PADDED)
        )


ROLL = """sdy.mesh @mesh = <["d"=8]>
func.func @main(%x: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}]>})
    -> (tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}]>}) {
  %a = stablehlo.slice %x [61:64] : (tensor<64xf32>) -> tensor<3xf32>
  %b = stablehlo.slice %x [0:61] : (tensor<64xf32>) -> tensor<61xf32>
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<3xf32>, tensor<61xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}"""
"""Stage 8 has two slices whole, stage 11 sends three elements and needs neither."""


def test_a_pipeline_that_ends_before_speaks_of_what_it_leaves_whole():
    with collect_remarks() as remarks:
        stages = TTStableHLOPipelinePass(last_stage=10)
        stages.apply(make_context(), parse_program(ROLL))
    assert any("'stablehlo.slice' op dimension 0 of size 3" in str(r) for r in remarks)
    module = parse_program(ROLL)
    TTStableHLOPipelinePass(last_stage=7).apply(make_context(), module)
    with pytest.raises(UnsupportedError, match="dimension 0 of size 3"):
        EvenOutShardingsPass(strict=True).apply(make_context(), module)


@pytest.mark.parametrize("which", ["argument", "result"])
def test_uneven_shards_at_the_border_are_refused_before_anything_is_done(which: str):
    sharding = '{sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}'
    argument, result = (sharding, "") if which == "argument" else ("", sharding)
    text = (
        MESH
        + f"""func.func @main(%a: tensor<10xf32> {argument}) -> (tensor<10xf32> {result}) {{
  %0 = stablehlo.abs %a : tensor<10xf32>
  return %0 : tensor<10xf32>
}}"""
    )
    module = parse_program(text)
    with pytest.raises(
        UnsupportedError,
        match=rf"dimension 0 of {which} 0 has size 10.*\"y\"=4.*\n.*8 or 12",
    ):
        TTStableHLOPipelinePass(last_stage=5).apply(make_context(), module)


@pytest.mark.parametrize("side", ["operand", "result"])
def test_collective_over_uneven_shards_is_refused(side: str):
    op = {
        "operand": 'sdy.all_gather [{}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {}]>',
        "result": 'sdy.all_slice [{}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {"y"}]>',
    }[side]
    second = '{"y"}' if side == "operand" else "{}"
    text = (
        MESH
        + f"""func.func @main(%a: tensor<8x6xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {second}]>}}) -> tensor<8x6xf32> {{
  %0 = {op} : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}}"""
    )
    module = parse_program(text, "in.mlir")
    with pytest.raises(
        UnsupportedError, match=rf"^in.mlir:3:3: .*dimension 1 of the {side}"
    ):
        even_out_shardings(module)
