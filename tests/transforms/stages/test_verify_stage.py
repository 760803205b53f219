"""Each invariant: a module that breaks it after its stage, and may before."""

import re
from pathlib import Path

import pytest

from tests.transforms.run_pass import run_passes
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.transforms.stages.verify_stage import verify_stage

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.mlir"))
MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>\n'
T = "tensor<8x8xf32>"
STATUS = "{ttcore.shard_status = #ttcore.shard_status<unsharded>}"


def program(body: str, argument: str = STATUS, mesh: str = MESH, more: str = "") -> str:
    return f"{mesh}func.func @main(%a: {T} {argument}) -> {T} {{\n{body}\n}}\n{more}"


def wrapped(
    body: str = f"sdy.return %i : {T}",
    *,
    manual: str = "",
    ins: str = "[{}, {}]",
    inner: str = T,
    argument: str = STATUS,
) -> str:
    return program(
        f"""  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, {ins}>] out_shardings=[<@mesh, {ins}>] manual_axes={{{manual}}} (%i: {inner}) {{
    {body}
  }} : ({T}) -> {T}
  return %0 : {T}""",
        argument,
    )


BOTH = '"x", "y"'
RESHARD = f"%1 = sdy.reshard %i <@mesh, [{{}}, {{}}]> : {T}\n sdy.return %1 : {T}"
GATHER = f"%1 = sdy.all_gather [{{}}, {{}}] %i out_sharding=<@mesh, [{{}}, {{}}]> : {T}\n sdy.return %1 : {T}"
SHARDED = f"""%1 = stablehlo.abs %i {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{}}, {{}}]>]>}} : {T}
sdy.return %1 : {T}"""
NESTED = f"""%1 = sdy.manual_computation(%i) in_shardings=[<@mesh, [{{}}, {{}}]>] out_shardings=[<@mesh, [{{}}, {{}}]>] manual_axes={{}} (%j: {T}) {{
  sdy.return %j : {T}
}} : ({T}) -> {T}
sdy.return %1 : {T}"""

BROKEN: dict[str, tuple[int, str, str]] = {
    "call": (
        1,
        program(
            f"  %0 = func.call @f(%a) : ({T}) -> {T}\n  return %0 : {T}",
            more=f"func.func private @f(%a: {T}) -> {T} {{ return %a : {T} }}",
        ),
        "'func.call' op: '@f' is still called after stage 1",
    ),
    "no shard status": (
        3,
        program(f"  return %a : {T}", ""),
        "argument 0 has no ttcore.shard_status after stage 3",
    ),
    "no mesh": (
        4,
        program(f"  return %a : {T}", mesh=""),
        "the module has no mesh after stage 4",
    ),
    "group": (
        6,
        program(f"  sdy.sharding_group %a group_id=0 : {T}\n  return %a : {T}"),
        "'sdy.sharding_group' op: is still there after stage 6",
    ),
    "constraint": (
        7,
        program(
            f"  %0 = sdy.sharding_constraint %a <@mesh, [{{}}, {{}}]> : {T}\n  return %0 : {T}"
        ),
        "'sdy.sharding_constraint' op: is still there after stage 7",
    ),
    "uneven": (
        8,
        program(
            f"""  %0 = stablehlo.slice %a [0:8, 0:6] {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{}}, {{"y"}}]>]>}} : ({T}) -> tensor<8x6xf32>
  return %a : {T}"""
        ),
        "dimension 1 of tensor<8x6xf32> is uneven in",
    ),
    "not wrapped": (
        9,
        program(f"  %0 = stablehlo.abs %a : {T}\n  return %0 : {T}"),
        "is in '@main' outside of a manual computation after stage 9",
    ),
    "returned as it is": (
        9,
        program(f"  return %a : {T}"),
        "'@main' has no manual computation after stage 9",
    ),
    "reshard": (10, wrapped(RESHARD), "'sdy.reshard' op: is still there"),
    "collective": (11, wrapped(GATHER, manual=BOTH), "'sdy.all_gather' op: is still there"),
    "free axis": (11, wrapped(manual='"x"'), 'is not manual along "y"'),
    "nested": (11, wrapped(NESTED, manual=BOTH), "is inside of something else"),
    "sharding": (11, wrapped(SHARDED, manual=BOTH), "still has the attribute sdy.sharding"),
    "border": (
        11,
        wrapped(
            argument=STATUS[:-1] + ", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}"
        ),
        "still has sdy.sharding at its border",
    ),
    "open": (
        12,
        wrapped(manual=BOTH, ins="[{?}, {}]"),
        "has an open dimension in <@mesh, [{?}, {}]>",
    ),
}  # fmt: skip
"""Stage, module, message. No stage before 11 looks at what 11 removes."""


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_not_as_it_must_be_is_named(name: str):
    stage, text, message = BROKEN[name]
    module = parse_program(text)
    if name not in ("free axis", "nested", "sharding", "border"):
        verify_stage(module, stage - 1)
    with pytest.raises(CompileError, match=re.escape(message)):
        verify_stage(module, stage)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_stage_leaves_what_it_should(path: Path):
    context = make_context()
    module = parse_program(path.read_text(), context=context)
    seen = [s.number for s in TTStableHLOPipelinePass().run(context, module)]
    assert seen == list(range(1, 14))
    verify_stage(module, 13)
    module = parse_program(path.read_text(), context=context)
    for stage in TTStableHLOPipelinePass().run(context, module):
        verify_stage(module, stage.number)


@pytest.mark.parametrize("stage", [0, 14])
def test_stages_that_do_not_exist(stage: int):
    with pytest.raises(CompileError, match="is not 1 to 13"):
        run_passes(MESH, f"verify-stage{{stage={stage}}}")


def test_as_a_pass_it_changes_nothing():
    text = program(f"  return %a : {T}")
    assert run_passes(text, "verify-stage{stage=8}") == run_passes(text, "")
