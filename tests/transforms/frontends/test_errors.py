"""Shardings that are not understood: one diagnostic that quotes them, at their place."""

import pytest

import ttxdsl
from ttxdsl.diagnostics.errors import CompileError

T = "tensor<8x4xf32>"


def function(argument: str = "", body: str = "", module: str = "") -> str:
    return f"""module attributes {{{module}}} {{
  func.func @main(%a: {T} {{{argument}}}) -> {T} {{
    {body or f"%r = stablehlo.negate %a : {T}"}
    return %r : {T}
  }}
}}"""


def mesh(text: str = "[\\22x\\22=2]") -> str:
    return f'mhlo.frontend_attributes = {{xla.sdy.meshes = "{{mesh = #sdy.mesh<{text}>}}"}}'


def sharding(text: str) -> str:
    return f'mhlo.frontend_attributes = {{xla.sdy.sharding = "{text}"}}'


def call(target: str, attributes: str, result: str = T) -> str:
    return (
        f"%r = stablehlo.custom_call @{target}(%a) {{{attributes}}} : ({T}) -> {result}"
    )


def tiles(text: str) -> str:
    return f'mhlo.sharding = "{text}"'


CASES = {
    "unknown axis": (
        function(sharding("#sdy.sharding<@mesh, [{\\22y\\22}, {}]>"), module=mesh()),
        r'unknown axis name: "y"',
    ),
    "unknown mesh": (
        function(sharding("#sdy.sharding<@other, [{}, {}]>"), module=mesh()),
        "unknown mesh: @other",
    ),
    "no attribute": (
        function(sharding("#sdy.sharding<@mesh, [{}"), module=mesh()),
        r"xla.sdy.sharding cannot be read: .*#sdy.sharding<@mesh, \[\{\}",
    ),
    "another attribute": (
        function(sharding("42 : i32"), module=mesh()),
        "xla.sdy.sharding is not what it should be: 42 : i32",
    ),
    "unknown key": (
        function('mhlo.frontend_attributes = {xla.sdy.new = "1"}', module=mesh()),
        'xla.sdy.new is not known here: "1"',
    ),
    "unknown key of the module": (
        function(module='mhlo.frontend_attributes = {xla.sdy.new = "1"}'),
        'xla.sdy.new is not known here: "1"',
    ),
    "no mesh": (
        function(module='mhlo.frontend_attributes = {xla.sdy.meshes = "{m = 1 : i32}"}'),
        "m is no mesh: 1 : i32",
    ),
    "unknown call": (
        function(body=call("xla.sdy.NewThing", ""), module=mesh()),
        "3:.*custom call xla.sdy.NewThing is not known",
    ),
    "group without a number": (
        function(body=call("xla.sdy.ShardingGroup", ""), module=mesh()),
        "3:.*does not say xla.sdy.sharding_group_id",
    ),
    "barrier without a direction": (
        function(body=call("xla.sdy.PropagationBarrier", ""), module=mesh()),
        "3:.*does not say xla.sdy.allowed_direction",
    ),
    "result without a sharding": (
        function(body=call("xla.sdy.FuncResultSharding", ""), module=mesh()),
        "3:.*says no sharding",
    ),
    "computation without a sharding": (
        function(body=call("xla.sdy.GlobalToLocalShape", ""), module=mesh()),
        "3:.*does not say xla.sdy.in_shardings",
    ),
    "words": (
        function(tiles("split please")),
        "mhlo.sharding cannot be read: .*: split please",
    ),
    "an unknown form": (
        function(tiles("{mesh['x'=2], [{'x'}, {}]}")),
        r"no form of XLA's that is known here: \{mesh\['x'=2\]",
    ),
    "too few devices": (
        function(tiles("{devices=[2,2]0,1,2}")),
        r"2x2 tiles want 4 devices, and it has 3: \{devices=\[2,2\]0,1,2\}",
    ),
    "no permutation": (
        function(tiles("{devices=[2,1]0,5}")),
        "its devices are not those from 0 to 1",
    ),
    "a device twice": (
        function(tiles("{devices=[2,1]1,1}")),
        "a device holds two tiles",
    ),
    "no order of dimensions": (
        function(tiles("{devices=[2,2]<=[2,2]T(0,0)}")),
        r"T\(0, 0\) is no order of dimensions",
    ),
    "far too many devices": (
        function(tiles("{devices=[99999999,1]<=[99999999]}")),
        "more than 1048576 devices",
    ),
    "another rank": (
        function(tiles("{devices=[2]<=[2]}")),
        r"of 1 dimensions, and the tensor has 2: \{devices=\[2\]<=\[2\]\}",
    ),
    "other partitions": (
        function(tiles("{devices=[2,1]<=[2]}"), module="mhlo.num_partitions = 8 : i32"),
        r"is over 2 devices, .* over 8: \{devices=\[2,1\]<=\[2\]\}",
    ),
    "no axes": (
        function(tiles("{devices=[4,1]0,1,3,2}"), call("Sharding", tiles("{devices=[4,1]<=[4]}"))),
        r"no order of axes of a mesh describes all of mhlo.sharding: \{.*0,1,3,2\}",
    ),
    "uneven axes": (
        function(
            tiles("{devices=[2,1,3]<=[6] last_tile_dim_replicate}"),
            call("Sharding", tiles("{devices=[3,1,2]<=[6] last_tile_dim_replicate}")),
        ),
        "no order of axes of a mesh describes all of mhlo.sharding",
    ),
    "not the axes of the mesh": (
        function(tiles("{devices=[3,1]<=[3]}"), module=mesh()),
        r'no axes of mesh = <\["x"=2\]> describe mhlo.sharding: \{devices=\[3,1\]',
    ),
    "several values": (
        function(body=call("Sharding", tiles("{{replicated}, {devices=[2,1]<=[2]}}"))),
        r"3:.*of 2 values, not of 1: \{\{replicated\}",
    ),
    "an unknown configuration": (
        function(
            body=call("Sharding", f'backend_config = "x=1", {tiles("{devices=[2,1]<=[2]}")}')
        ),
        "3:.*its backend_config is not known: x=1",
    ),
    "local without a layout": (
        function(
            body=call("SPMDFullToShardShape", tiles("{manual}")),
            module="mhlo.num_partitions = 2 : i32",
        ),
        "3:.*operand is constrained to no sharding",
    ),
    "a local result": (
        function(
            body=f"""%c = stablehlo.custom_call @Sharding(%a) {{{tiles("{devices=[2,1]<=[2]}")}}} : ({T}) -> {T}
    %r = stablehlo.custom_call @SPMDFullToShardShape(%c) {{{tiles("{manual}")}}} : ({T}) -> tensor<4x4xf32>"""
        ).replace(f"return %r : {T}", "return %r : tensor<4x4xf32>").replace(
            f"-> {T} {{\n    %c", "-> tensor<4x4xf32> {\n    %c"
        ),
        "takes what each device has out of a computation",
    ),
    "an op of MHLO's": (
        function(body=call("mhlo.ragged_all", "mhlo.version = 1 : i64")),
        "3:.*custom call mhlo.ragged_all is not known",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str) -> None:
    text, message = CASES[name]
    with pytest.raises(CompileError, match=message) as caught:
        ttxdsl.load(text)
    assert str(caught.value).count("error:") == 1
