"""Collectives of tensors without elements: nothing is sent, and StableHLO allows it."""

import pytest

import ttxdsl

CONCATENATE = """\
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(%arg0: tensor<0x6xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, %0: tensor<4x6xf64> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<4x6xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, tensor<0x6xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %4 = stablehlo.concatenate %arg0, %0, dim = 0 : (tensor<0x6xf64>, tensor<4x6xf64>) -> tensor<4x6xf64>
  %5 = stablehlo.negate %arg0 : tensor<0x6xf64>
  return %4, %5 : tensor<4x6xf64>, tensor<0x6xf64>
}
"""

CONTRACT = """\
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, %b: tensor<8x0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %c: tensor<8x0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<0x0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, tensor<8x0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<0x8xf32>, tensor<8x0xf32>) -> tensor<0x0xf32>
  %1 = stablehlo.negate %a : tensor<0x8xf32>
  %2 = stablehlo.negate %c : tensor<8x0xf32>
  %3 = stablehlo.dot_general %b, %a, contracting_dims = [1] x [0] : (tensor<8x0xf32>, tensor<0x8xf32>) -> tensor<8x8xf32>
  return %0, %1, %2, %3 : tensor<0x0xf32>, tensor<0x8xf32>, tensor<8x0xf32>, tensor<8x8xf32>
}
"""


@pytest.mark.parametrize(
    "text", [CONCATENATE, CONTRACT], ids=["concatenate", "contract"]
)
def test_tensors_without_elements(text: str):
    program = ttxdsl.load(text)
    report = program.check()
    assert report.ok, str(report)
    kinds = {collective.kind for collective in program.partition().collectives()}
    assert kinds <= {"all_reduce"}
