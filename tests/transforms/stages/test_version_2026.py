"""What tt-mlir's pipeline of 2026 adds, pass by pass, and the pipeline with it."""

import numpy as np
import pytest

import ttxdsl
from tests.transforms.run_pass import run_passes
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.doors import PIPELINES
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>'


SPLIT = '{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}'


@pytest.mark.parametrize(
    ("op", "is_whole"),
    [
        ("constant ATTR dense<1> : tensor<8xi32>", False),
        ("constant ATTR dense<[1, 2, 1, 2, 1, 2, 1, 2]> : tensor<8xi32>", False),
        ("constant ATTR dense<[1, 2, 3, 4, 5, 6, 7, 8]> : tensor<8xi32>", True),
        ("iota dim = 0 ATTR : tensor<8xi32>", True),
        ("slice %a [0:8] ATTR : (tensor<16xi32>) -> tensor<8xi32>", True),
        ("slice %a [0:16:2] ATTR : (tensor<16xi32>) -> tensor<8xi32>", False),
        ("slice %a [1:16:2] ATTR : (tensor<16xi32>) -> tensor<8xi32>", False),
        ("slice %a [0:15:2] ATTR : (tensor<16xi32>) -> tensor<8xi32>", True),
        ("slice %b [0:24:3] ATTR : (tensor<24xi32>) -> tensor<8xi32>", False),
        ("slice %c [0:8] ATTR : (tensor<8xi32>) -> tensor<8xi32>", False),
    ],
)
def test_what_every_device_would_make_otherwise_is_made_whole(op: str, is_whole: bool):
    text = f"""{MESH}
      func.func @main(%a: tensor<16xi32>, %b: tensor<24xi32>, %c: tensor<8xi32>)
          -> tensor<8xi32> {{
        %0 = stablehlo.{op.replace("ATTR", SPLIT)}
        return %0 : tensor<8xi32>
      }}"""
    made = run_passes(text, "replicate-non-splittable-values")
    assert ("<@mesh, [{}]>" in made) == is_whole
    assert ('{"y"}' in made) != is_whole


def test_the_operand_of_a_reshape_that_propagation_did_not_reach_is_gathered():
    text = f"""{MESH}
      func.func @main(
          %a: tensor<8x3xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}, {{}}]>}}
      ) -> (tensor<24xf32>, tensor<2x4x3xf32>) {{
        %0 = stablehlo.reshape %a : (tensor<8x3xf32>) -> tensor<24xf32>
        %1 = stablehlo.reshape %a {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{}}, {{}}, {{}}]>]>}}
          : (tensor<8x3xf32>) -> tensor<2x4x3xf32>
        return %0, %1 : tensor<24xf32>, tensor<2x4x3xf32>
      }}"""
    made = run_passes(text, "insert-reshards-for-unpropagated-ops")
    assert made.count("sdy.reshard %a <@mesh, [{}, {}]>") == 1
    assert made.index("sdy.reshard") < made.index("-> tensor<24xf32>\n")


PRIORITIES = f"""{MESH}
  func.func @main(
      %a: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x", ?}}p1, {{?}}]>}},
      %b: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{?}}, {{"x", ?}}p0]>}}
  ) -> tensor<8x8xf32> {{
    %0 = stablehlo.iota dim = 1 : tensor<8x8xf32>
    %1 = stablehlo.add %a, %b : tensor<8x8xf32>
    %2 = stablehlo.add %1, %0 : tensor<8x8xf32>
    return %2 : tensor<8x8xf32>
  }}"""


def test_priorities_count_and_numbers_stay():
    program = ttxdsl.load(PRIORITIES)
    inputs = program.random_inputs(0)
    (wanted,) = program.simulate(inputs)
    made = {name: program.partition(version=name) for name in PIPELINES}
    for one in made.values():
        np.testing.assert_array_equal(one.simulate(inputs)[0], wanted)
    assert (
        "stablehlo.partition_id" not in str(made["2026"]).split("func.func private")[0]
    )
    assert not made["2026"].remarks
    assert not made["design"].remarks


def test_another_version_is_refused():
    with pytest.raises(
        CompileError, match=r"version '1999' .*: not design or 2026 or xla"
    ):
        TTStableHLOPipelinePass(version="1999").apply(
            make_context(), parse_program(PRIORITIES)
        )
