"""Limits against what programs really have."""

from pathlib import Path

import pytest

import ttxdsl
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects.calls import custom
from ttxdsl.insight.budget import assert_budget
from ttxdsl.insight.budget.check import BudgetExceededError, check_budget, check_text
from ttxdsl.insight.budget.directives import parse_budget, parse_limits

# one all-reduce along y (of 4x4 floats a device) and one all-gather along x
PROGRAM = """\
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
"""
ALL_REDUCE_BYTES = 2 * 3 * (4 * 4 * 4) // 4
ALL_GATHER_BYTES = 4 * 4 * 4


@pytest.fixture(scope="module")
def program() -> ttxdsl.Program:
    return ttxdsl.load(PROGRAM).partition()


@pytest.mark.parametrize(
    ("limit", "found"),
    [
        ("all_gather<=1", 1),
        ("all_reduce==1", 1),
        ("all_to_all==0", 0),
        ("count<3", 2),
        ("launches<3", 2),
        ("all_gather==1, axis=x", 1),
        ("all_gather==0, axis=y", 0),
        ("count==0, axis=x, axis=y", 0),
        (f"bytes<={ALL_REDUCE_BYTES + ALL_GATHER_BYTES}", 160),
        (f"bytes=={ALL_REDUCE_BYTES}, axis=y", ALL_REDUCE_BYTES),
        (f"all_gather.bytes=={ALL_GATHER_BYTES}", ALL_GATHER_BYTES),
        # a: 4x4, b: 4x4, the product, what is summed, and the whole result
        ("memory<=512", 4 * 16 * 2 + 4 * 16 + 4 * 32),
        ("peak>100", 320),
    ],
)
def test_what_holds(program: ttxdsl.Program, limit: str, found: int):
    (finding,) = check_budget(program, parse_limits(limit))
    assert finding.found == found
    assert finding.ok
    assert_budget(program, limit)


@pytest.mark.parametrize(
    "limit", ["all_gather==0", "count>2", "bytes<160", "memory<320", "all_reduce!=1"]
)
def test_what_does_not(program: ttxdsl.Program, limit: str):
    with pytest.raises(BudgetExceededError):
        assert_budget(program, "count<=2", limit)


def test_the_message_lists_what_counts_and_why(program: ttxdsl.Program):
    with pytest.raises(AssertionError) as raised:
        assert_budget(program, "all_gather==0, axis=x", "memory<10")
    message = str(raised.value)
    assert "<text> breaks its budget" in message
    assert "all_gather==0, axis=x │     1 │ FAIL" in message
    assert "the result needs dimension 0 of" in message
    assert "4x4xf32" in message
    assert "memory<10: found 320 B" in message
    assert "tensor<4x4xf32>" in message


def test_forms_of_a_program(program: ttxdsl.Program, tmp_path: Path):
    path = tmp_path / "p.mlir"
    path.write_text(PROGRAM)
    whole = ttxdsl.load(PROGRAM)
    for form in (PROGRAM, path, str(path), whole, whole.module, program.lower("ttnn")):
        assert_budget(form, "count==2, bytes==160")
        with pytest.raises(BudgetExceededError):
            assert_budget(form, "count==1")


def test_a_program_without_shardings_needs_a_mesh():
    text = """
func.func @main(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>) -> tensor<f32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}"""
    assert_budget(text, "count==0")
    assert_budget(text, "all_reduce==1, mesh=1,4, axis=batch")


def test_collectives_that_follow_no_axis_count_everywhere():
    text = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<2xf32>) {
    %1 = "stablehlo.all_reduce"(%b) <{replica_groups = dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    sdy.return %1 : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}"""
    assert_budget(text, "all_reduce==1, axis=x")


def test_budgets_in_a_text():
    first = PROGRAM + "// COMM: all_gather<=1\n// COMM: all_reduce==0\n"
    findings = check_text(f"{first}// -----\n{PROGRAM}// COMM: count==2\n", "f.mlir")
    assert [(one.limit.line, one.ok) for one in findings] == [
        (6, True),
        (7, False),
        (14, True),
    ]
    with pytest.raises(BudgetExceededError, match="all_reduce==0"):
        assert_budget(first)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PROGRAM, "'f.mlir' has no budget"),
        (PROGRAM + "// COMM: mesh=2,4", "'f.mlir' has no budget"),
        (
            PROGRAM + "// COMM: count==0, axis=z",
            "f.mlir:6:10: error: 'axis=z': the mesh has no such axis\n"
            "  hint: the axes are x, y",
        ),
        ("func.func @main( // COMM: count==0", "f.mlir:1:"),
    ],
)
def test_errors(text: str, message: str):
    with pytest.raises(CompileError) as raised:
        check_text(text, "f.mlir")
    assert message in str(raised.value)


def test_a_module_needs_limits(program: ttxdsl.Program):
    with pytest.raises(CompileError, match="no limits are given"):
        assert_budget(program)


def test_ttir_from_a_file_has_no_budget(program: ttxdsl.Program):
    lowered = ttxdsl.load(program.lower("ttir").text)
    with pytest.raises(CompileError, match="budgets hold for StableHLO"):
        assert_budget(lowered, "count==0")


LOOP = """\
sdy.mesh @mesh = <["y"=4]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %start = stablehlo.constant dense<START> : tensor<TYPE>
  %r:2 = stablehlo.while(%i = %start, %z = %x) : tensor<TYPE>, tensor<8x8xf32>
  cond {
    %limit = stablehlo.constant dense<LIMIT> : tensor<TYPE>
    %p = stablehlo.compare LT, %i, %limit : (tensor<TYPE>, tensor<TYPE>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %step = stablehlo.constant dense<STEP> : tensor<TYPE>
    %more = stablehlo.add %i, %step : tensor<TYPE>
    %h = stablehlo.dot_general %z, %z, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.return %more, %h : tensor<TYPE>, tensor<8x8xf32>
  }
  return %r#1 : tensor<8x8xf32>
}
"""


def loop(type_: str, start: str, limit: str, step: str) -> str:
    words = {"TYPE": type_, "START": start, "LIMIT": limit, "STEP": step}
    text = LOOP
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def test_a_loop_counts_as_often_as_it_turns():
    program = ttxdsl.load(loop("i32", "0", "12", "1")).partition()
    (once,) = program.collectives()
    assert str(once.times) == "x12 in loop"
    assert_budget(program, "count==12", f"bytes=={12 * once.bytes_each}")


def test_a_limit_is_not_held_against_a_guess():
    text = loop("f32", "0.0", "12.0", "1.0")
    with pytest.raises(CompileError, match="does not say how many iterations it has"):
        check_text(f"// COMM: count<=12\n{text}", "loop.mlir")
    for line, given in (("count==12, trip_count=12", None), ("count==7", 7)):
        (finding,) = check_text(f"// COMM: {line}\n{text}", "loop.mlir", given)
        assert finding.ok
    # what is not counted needs no count, and memory none at all
    for line in ("all_reduce==0", "memory>0"):
        assert all(one.ok for one in check_text(f"// COMM: {line}\n{text}", "a.mlir"))


def test_two_trip_counts_contradict():
    with pytest.raises(CompileError, match="another line says trip_count=2"):
        parse_budget("// COMM: count==1, trip_count=2\n// COMM: trip_count=3")


CALLS = """\
{comm}
sdy.mesh @mesh = <["e"=2]>
func.func @main(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {{
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{"e"}}, {{}}]>]
      out_shardings=[<@mesh, [{{"e"}}, {{}}]>] manual_axes={{"e"}} (%a: tensor<2x3xf32>) {{
    {ops}
    sdy.return %r : tensor<2x3xf32>
  }} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}}
"""
RAGGED = """%s = stablehlo.constant dense<1> : tensor<2xi32>
    %r = stablehlo.custom_call @ragged_all_to_all(%a, %a, %s, %s, %s, %s) {
        api_version = 4 : i32, backend_config = {channel_id = 1 : i64,
        replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : (tensor<2x3xf32>,
        tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
        -> tensor<2x3xf32>"""
MYSTERY = (
    "%r = stablehlo.custom_call @mystery(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>"
)


def test_a_ragged_all_to_all_counts():
    text = CALLS.format(comm="// COMM: bytes<=0", ops=RAGGED)
    with pytest.raises(BudgetExceededError, match="ragged_all_to_all"):
        assert_budget(text)
    limits = "ragged_all_to_all==1, ragged_all_to_all.bytes==12, bytes==12, axis=e"
    assert_budget(text, limits, "all_to_all==0")


@pytest.mark.parametrize("limit", ["bytes<=0", "count<=9", "bytes<=1MiB, axis=e"])
def test_what_nobody_knows_is_held_against_nothing(limit: str):
    text = CALLS.format(comm=f"// COMM: {limit}", ops=MYSTERY)
    with pytest.raises(CompileError, match="against custom call @mystery") as caught:
        check_text(text, "budget.mlir")
    assert "nobody knows what it sends" in str(caught.value)
    assert "budget.mlir:1:10" in str(caught.value)
    # what does not depend on it holds
    assert_budget(text, "all_gather<=0, memory<=1MiB")


def test_a_plug_in_says_that_a_target_is_local(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(custom, "LOCAL_TARGETS", {"mystery"})
    assert_budget(CALLS.format(comm="// COMM: bytes<=0", ops=MYSTERY))
