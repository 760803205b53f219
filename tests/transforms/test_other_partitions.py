"""A module that was exported for another number of devices than its mesh has."""

from __future__ import annotations

import pytest

from ttxdsl.analysis.usage.collectives import list_collectives
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

PROGRAM = """
module attributes {mhlo.num_partitions = PARTITIONS : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %0 = stablehlo.negate %a : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
"""


@pytest.mark.parametrize(("partitions", "warned"), [(4, 0), (1, 0), (8, 1)])
def test_the_mesh_counts_and_the_user_is_told(partitions: int, warned: int):
    module = parse_program(PROGRAM.replace("PARTITIONS", str(partitions)))
    with collect_remarks() as remarks:
        TTStableHLOPipelinePass().apply(make_context(), module)
    (gather,) = list_collectives(module)
    # three quarters of what it gathers, whatever the module says
    assert (gather.group_size, gather.bytes_per_device) == (4, 24)
    told = [one.message for one in remarks if "num_partitions" in one.message]
    assert (
        told
        == [
            "mhlo.num_partitions is 8, and the mesh has 4 devices: the program is split over"
            " the mesh"
        ]
        * warned
    )
