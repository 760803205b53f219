"""`simplify-reshards`: a value is sent once."""

from __future__ import annotations

from tests.differential.partitioning import EQUAL, partition_and_compare
from tests.transforms.run_pass import run_passes
from ttxdsl.program import parse_program
from ttxdsl.reporting.collectives import list_collectives

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>\n'
T = "tensor<8x8xi32>"
ROWS, COLUMNS = '[{"x"}, {}]', '[{}, {"x"}]'


def program(*lines: str, result: str = COLUMNS) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return (
        f"{MESH}func.func @main(%a: {T} {{sdy.sharding = #sdy.sharding<@mesh, {ROWS}>}})"
        f" -> ({T} {{sdy.sharding = #sdy.sharding<@mesh, {result}>}}) {{\n{body}\n}}"
    )


def split(dims: str) -> str:
    return f"{{sdy.sharding = #sdy.sharding_per_value<[<@mesh, {dims}>]>}}"


def test_a_value_is_resharded_once():
    text = program(
        f"%r = sdy.reshard %a <@mesh, {COLUMNS}> : {T}",
        f"%s = sdy.reshard %a <@mesh, {COLUMNS}> : {T}",
        f"%t = stablehlo.multiply %r, %s {split(COLUMNS)} : {T}",
        f"return %t : {T}",
    )
    result = run_passes(text, "simplify-reshards")
    assert result.count("sdy.reshard") == 1 and "multiply %r, %r" in result
    module = parse_program(text)
    assert partition_and_compare(module, 0)[0] == EQUAL
    assert [one.kind for one in list_collectives(module)] == ["all_to_all"]
