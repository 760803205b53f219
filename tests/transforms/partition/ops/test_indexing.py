"""Gathers and scatters on shards, in forms that random programs have found wrong."""

import pytest

from tests.differential.partitioning import EQUAL, arguments_of, partition_and_compare
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import parse_program

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
