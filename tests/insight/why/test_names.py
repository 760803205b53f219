"""Names of values: what the text calls them, also numbers."""

import pytest

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.why.names import Names, all_values
from ttxdsl.loading.program import parse_program

NUMBERED = """\
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<4xf32>
  %7:2 = "stablehlo.optimization_barrier"(%0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %42 = stablehlo.add %7#0, %7#1 : tensor<4xf32>
  return %42 : tensor<4xf32>
}
"""


def names(text: str) -> Names:
    return Names(parse_program(text), text)


def test_results_of_one_op_are_asked_for_one_by_one():
    with pytest.raises(CompileError, match=r"did you mean %7#0, %7#1\?"):
        names(NUMBERED).find("%7")


def test_nothing_near():
    with pytest.raises(CompileError, match="the values are %arg0, %0"):
        names(NUMBERED).find("%completely_else")


GSPMD = """\
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%a: tensor<8x8xf32> {mhlo.sharding = "{devices=[1,2]<=[2]}"}) -> tensor<8x8xf32> {
    %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{devices=[1,2]<=[2]}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8x8xf32>) -> tensor<8x4xf32>
    %2 = stablehlo.negate %1 : tensor<8x4xf32>
    %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{manual}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "{devices=[1,2]<=[2]}"} : (tensor<8x4xf32>) -> tensor<8x8xf32>
    %5 = stablehlo.custom_call @Sharding(%4) {mhlo.sharding = "{devices=[2,1]<=[2]}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %6:2 = "stablehlo.optimization_barrier"(%5, %a) : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    return %6#0 : tensor<8x8xf32>
  }
}
"""


def test_carriers_of_shardings_are_called_as_in_the_text():
    found = names(GSPMD)
    shown = [found.name(value) for value in all_values(found.module)]
    assert sorted(filter(None, shown)) == [
        *("%1", "%2", "%4", "%5", "%6#0", "%6#1", "%a")
    ]
    # what only carried a sharding stands for its operand
    assert found.name(found.find("%0")) == "%a"
    assert found.name(found.find("%3")) == "%2"
