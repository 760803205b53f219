"""Gathers and scatters on shards, in forms that random programs have found wrong."""

from __future__ import annotations

import numpy as np
import pytest

from tests.differential.partitioning import EQUAL, arguments_of, partition_and_compare
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

MESH = 'sdy.mesh @mesh = <["a"=2, "b"=2]>'


@pytest.mark.parametrize("axes", ['{"b"}', '{"a"}', "{}"])
def test_gather_of_a_dimension_that_is_indexed_and_taken_whole(axes: str):
    """The index of the whole dimension is clamped to 0, in every shard of it.

    The other dimension, of which element 0 is taken, is split as well.
    """
    text = f"""{MESH}
      func.func @main(
          %x: tensor<4x6xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"a"}}, {{"b"}}]>}},
          %i: tensor<8xi32>
      ) -> (tensor<6x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{axes}, {{?}}]>}}) {{
        %0 = "stablehlo.gather"(%x, %i) <{{
          dimension_numbers = #stablehlo.gather<offset_dims = [0],
            collapsed_slice_dims = [0], start_index_map = [1], index_vector_dim = 1>,
          slice_sizes = array<i64: 1, 6>
        }}> : (tensor<4x6xf32>, tensor<8xi32>) -> tensor<6x8xf32>
        return %0 : tensor<6x8xf32>
      }}"""
    for seed in range(3):
        assert partition_and_compare(parse_program(text), seed) == (EQUAL, "tagged")


def test_scatter_of_windows_that_stick_out():
    """What is inside is written, also across the border of two shards."""
    text = f"""{MESH}
      func.func @main(
          %x: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"a"}}]>}},
          %i: tensor<1xi32>,
          %u: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"a"}}]>}}
      ) -> (tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"a"}}]>}}) {{
        %0 = "stablehlo.scatter"(%x, %i, %u) <{{
          scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0],
            scatter_dims_to_operand_dims = [0]>
        }}> ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          stablehlo.return %b : tensor<f32>
        }}) : (tensor<8xf32>, tensor<1xi32>, tensor<8xf32>) -> tensor<8xf32>
        return %0 : tensor<8xf32>
      }}"""
    module = parse_program(text)
    x, u = np.arange(8, dtype=np.float32), np.arange(10, 18, dtype=np.float32)
    index = np.array([2], np.int32)
    wanted = np.array([0, 1, 10, 11, 12, 13, 14, 15], np.float32)
    np.testing.assert_array_equal(run_module(module, [x, index, u])[0], wanted)
    TTStableHLOPipelinePass(verify_each=True).apply(make_context(), module)
    np.testing.assert_array_equal(run_module(module, [x, index, u])[0], wanted)


def test_gather_whose_parts_and_indices_split_an_axis_in_ways_that_do_not_fit():
    """Groups along `"a":(1)2` join devices that hold different indices by `"a":(3)2`."""
    text = """sdy.mesh @mesh = <["a"=6]>
      func.func @main(
          %x: tensor<2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a":(1)2}, {}]>},
          %i: tensor<8x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"a":(3)2}, {}]>}
      ) -> (tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a":(3)2}, {}]>}) {
        %0 = "stablehlo.gather"(%x, %i) <{
          dimension_numbers = #stablehlo.gather<offset_dims = [1],
            collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
          slice_sizes = array<i64: 1, 2>
        }> : (tensor<2x2xf32>, tensor<8x1xi32>) -> tensor<8x2xf32>
        return %0 : tensor<8x2xf32>
      }"""
    assert partition_and_compare(parse_program(text), 0) == (EQUAL, "tagged")


def test_a_slice_of_no_elements_is_not_run():
    """A dimension of size 0 is left out: the result has elements that nobody has."""
    text = """func.func @main(%x: tensor<4x6xf32>, %i: tensor<3x1xi32>) -> tensor<3x6xf32> {
        %0 = "stablehlo.gather"(%x, %i) <{
          dimension_numbers = #stablehlo.gather<offset_dims = [1],
            collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
          slice_sizes = array<i64: 0, 6>
        }> : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32>
        return %0 : tensor<3x6xf32>
      }"""
    module = parse_program(text)
    with pytest.raises(UnsupportedError, match="leaves nothing to take"):
        run_module(module, arguments_of(module, 0, tagged=False))
