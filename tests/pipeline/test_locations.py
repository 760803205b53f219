"""What stands in the user's source can be found again in the ttnn program."""

import sys
from pathlib import Path

import jax
import pytest
from xdsl.ir import Operation

from ttxdsl.conversion.stablehlo_to_ttir.convert import ConvertStableHLOToTTIRPass
from ttxdsl.conversion.ttir_to_ttnn.convert import ConvertTTIRToTTNNPass
from ttxdsl.diagnostics.errors import source_position
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

import export

WITHOUT_SOURCE = {
    # what belongs to no line of the user's
    *("builtin.module", "func.func", "func.return", "sdy.mesh"),
    *("sdy.manual_computation", "ttir.empty", "ttir.mesh_shard", "ttnn.mesh_shard"),
    "ttnn.get_device",
}
TABLES = {"partition_id", "convert", "constant", "remainder", "and"} | {
    *("reshape", "typecast", "full")
}
"""Where each device looks up its place: once a program, for all ops."""


def unplaced(ops: list[Operation]) -> set[str]:
    return {
        op.name
        for op in ops
        if source_position(op.location) is None and op.name not in WITHOUT_SOURCE
    }


@pytest.mark.parametrize("name", export.examples())
def test_every_stage_keeps_locations(name: str):
    function, arguments = export.examples()[name]
    text = jax.jit(function).lower(*arguments).as_text(debug_info=True)
    context = make_context()
    module = parse_program(text, context=context)
    for stage in TTStableHLOPipelinePass().run(context, module):
        (main,) = (op for op in module.ops if op.name == "func.func")
        # bodies of collectives are the compiler's own
        ops = [
            op
            for op in main.walk()
            if op.parent_op() is None
            or op.parent_op().name in ("func.func", "sdy.manual_computation")
        ]
        left = {name.partition(".")[2] for name in unplaced(ops)}
        assert left <= TABLES, stage
    for lowering in (ConvertStableHLOToTTIRPass(), ConvertTTIRToTTNNPass()):
        lowering.apply(context, module)
        left = {name.partition(".")[2] for name in unplaced(list(module.walk()))}
        assert left <= TABLES, lowering.name
    for op in module.walk():
        if op.name == "ttnn.all_reduce":
            assert "examples" in (source_position(op.location) or "")
