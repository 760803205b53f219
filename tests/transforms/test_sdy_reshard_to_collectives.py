from __future__ import annotations

import pytest

import ttxdsl
from ttxdsl.errors import UnsupportedError


def test_a_reshard_to_a_mesh_of_other_axes_is_refused_by_the_stages():
    """The pass alone leaves it there, as in C++."""
    program = ttxdsl.load("""
        sdy.mesh @mesh = <["x"=2, "y"=2]>
        sdy.mesh @other = <["a"=4]>
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"a"}]>}) -> tensor<8xf32> {
          %0 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<8xf32>
          %1 = sdy.reshard %0 <@other, [{"a"}]> : tensor<8xf32>
          return %1 : tensor<8xf32>
        }""")
    with pytest.raises(UnsupportedError, match="whose mesh has other axes"):
        program.partition()
