"""`open-composites`: what composites are made of can be split."""

from __future__ import annotations

import pytest

from tests.differential.partitioning import EQUAL, partition_and_compare
from tests.transforms.run_pass import run_passes
from ttxdsl.analysis.usage.collectives import list_collectives
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

T = "tensor<8x4xf32>"
BODY = f"""func.func private @twice(%x: {T}) -> {T} {{
  %0 = stablehlo.add %x, %x : {T}
  return %0 : {T}
}}"""


def program(mesh: str, argument: str = "", more: str = "") -> str:
    return f"""{mesh}
func.func @main(%a: {T}{argument}) -> {T} {{
  %0 = stablehlo.composite "my.twice" %a {{decomposition = @twice{more}}} : ({T}) -> {T}
  return %0 : {T}
}}
{BODY}"""


MESH = 'sdy.mesh @mesh = <["x"=2]>'
SPLIT = ' {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'


def test_a_composite_is_split_as_its_ops_are():
    module = parse_program(program(MESH, SPLIT))
    assert partition_and_compare(module, 0)[0] == EQUAL
    assert list_collectives(module) == []
    assert "composite" not in str(module)


def test_it_becomes_a_call():
    assert "call @twice" in run_passes(program(MESH), "open-composites")


@pytest.mark.parametrize(
    "text",
    [
        program(""),
        program(MESH.replace("2", "1")),
        program(
            MESH,
            SPLIT,
            ", sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}, custom>",
        ),
    ],
    ids=["no mesh", "one device", "a rule"],
)
def test_where_nothing_is_gained_it_stays(text: str):
    module = parse_program(text)
    TTStableHLOPipelinePass().apply(make_context(), module)
    assert 'composite "my.twice"' in str(module)


def test_a_program_to_be_split_along_its_batch():
    module = parse_program(program(""))
    with collect_remarks():
        TTStableHLOPipelinePass(mesh_shape=(1, 4)).apply(make_context(), module)
    assert "composite" not in str(module)
