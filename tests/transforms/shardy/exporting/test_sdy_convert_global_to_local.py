"""`sdy-convert-global-to-local` where values cross regions, and where it cannot know."""

from __future__ import annotations

import numpy as np
import pytest

from tests.differential.per_device import run_everywhere
from tests.transforms.run_pass import run_passes
from ttxdsl.errors import UnsupportedError
from ttxdsl.interpreters.inputs import random_inputs
from ttxdsl.interpreters.run import entry_function, run_module
from ttxdsl.program import parse_program

NAME = "sdy-convert-global-to-local"
MESH = 'sdy.mesh @mesh = <["a"=2, "b"=2]>'
SPLIT = '{sdy.sharding = #sdy.sharding<@mesh, [{"b", "a"}]>}'
PER_VALUE = '#sdy.sharding_per_value<[<@mesh, [{"b", "a"}]>, <@mesh, [{"b", "a"}]>]>'

BRANCHES = f"""{MESH}
func.func @main(%x: tensor<8xf32> {SPLIT}, %n: tensor<i32>)
    -> (tensor<8xf32> {SPLIT}, tensor<8xf32> {SPLIT}) {{
  %0:2 = "stablehlo.case"(%n) ({{
    %1 = stablehlo.negate %x {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{"b", "a"}}]>]>}} : tensor<8xf32>
    stablehlo.return %1, %x : tensor<8xf32>, tensor<8xf32>
  }}, {{
    stablehlo.return %x, %x : tensor<8xf32>, tensor<8xf32>
  }}) {{sdy.sharding = {PER_VALUE}}} : (tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}}
"""

# a sum and a maximum in one, each beginning with what is no neutral element
TWO_AT_ONCE = f"""{MESH}
func.func @main(%x: tensor<8xf32> {SPLIT}, %p: tensor<f32>) -> (tensor<f32>, tensor<f32>) {{
  %0:2 = stablehlo.reduce(%x init: %p), (%x init: %p) across dimensions = [0] : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<f32>, %d: tensor<f32>) {{
    %1 = stablehlo.add %a, %b : tensor<f32>
    %2 = stablehlo.maximum %c, %d : tensor<f32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
  }}
  %3 = sdy.all_reduce {{"a", "b"}} %0#0 out_sharding=<@mesh, []> : tensor<f32>
  %4 = sdy.all_reduce {{"a", "b"}} %0#1 out_sharding=<@mesh, []> : tensor<f32>
  return %3, %4 : tensor<f32>, tensor<f32>
}}
"""

UPDATE = f"""{MESH}
func.func @main(%x: tensor<8xf32> {SPLIT}, %u: tensor<2xf32>, %n: tensor<i32>)
    -> (tensor<8xf32> {SPLIT}) {{
  %0 = stablehlo.dynamic_update_slice %x, %u, %n {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{"b", "a"}}]>]>}} : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}}
"""


# a shard is a row of six, which is no block of the other shape
RESHAPE = f"""{MESH}
func.func @main(%x: tensor<4x6xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"a", "b"}}, {{}}]>}})
    -> (tensor<6x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"a"}}, {{"b"}}]>}}) {{
  %0 = stablehlo.reshape %x {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{"a"}}, {{"b"}}]>]>}} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}}
"""

RANDOM = f"""{MESH}
func.func @main(%x: tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui64> {SPLIT}) {{
  %0, %1 = stablehlo.rng_bit_generator %x, algorithm = PHILOX {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{}}]>, <@mesh, [{{"b", "a"}}]>]>}} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui64>)
  return %0, %1 : tensor<2xui64>, tensor<8xui64>
}}
"""


# gives back one of its arguments, and something else
PASSED_ON = f"""{MESH}
func.func @main(%x: tensor<8xf32> {SPLIT}) -> (tensor<8xf32> {SPLIT}, tensor<8xf32> {SPLIT}) {{
  %0:2 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{"b", "a"}}]>] out_shardings=[<@mesh, [{{"b", "a"}}]>, <@mesh, [{{"b", "a"}}]>] manual_axes={{"a", "b"}} (%y: tensor<2xf32>) {{
    %1 = stablehlo.negate %y : tensor<2xf32>
    sdy.return %y, %1 : tensor<2xf32>, tensor<2xf32>
  }} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}}
"""

WINDOWS = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x4x2xf32>, %k: tensor<5x2x4xf32>) -> (tensor<8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[2, 2]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : (tensor<8x4x2xf32>, tensor<5x2x4xf32>) -> tensor<8x4x4xf32>
  return %0 : tensor<8x4x4xf32>
}
"""


@pytest.mark.parametrize("text", [BRANCHES, TWO_AT_ONCE, PASSED_ON])
def test_numbers(text: str):
    whole = parse_program(text)
    inputs = random_inputs(entry_function(whole), 3)
    expected = run_module(whole, inputs)
    found = run_everywhere(run_passes(text, NAME), whole, inputs)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_an_update_may_fall_on_other_shards():
    """C++ has each device update its own shard; this one is not even that large."""
    with pytest.raises(UnsupportedError, match="the update is of a part of it"):
        run_passes(UPDATE, NAME)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (RESHAPE, "needs elements of other shards"),
        (RANDOM, "draw its shard by itself"),
        (WINDOWS, "dimension 1 of its result is split"),
    ],
)
def test_what_shards_alone_do_not_make(text: str, message: str):
    """C++ reshapes each shard, has all devices draw the same numbers, and fails its verifier
    where all windows are on each device, and each is to have some."""
    with pytest.raises(UnsupportedError, match=message):
        run_passes(text, NAME)


PERMUTE = """sdy.mesh @mesh = <["a"=6]>
func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a":(1)2}]>}) -> tensor<4xf32> {
  %0 = sdy.collective_permute %x out_sharding=<@mesh, [{"a":(3)2}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def test_a_permute_between_axes_that_cannot_coexist_is_refused():
    with pytest.raises(UnsupportedError, match=r'sub-axes of "a" cannot coexist'):
        run_passes(PERMUTE, NAME)
