"""How often loops turn, and how often each op runs."""

from itertools import product

import pytest
from xdsl.dialects.builtin import ModuleOp

from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.analysis.calls.trip_counts import iterations
from ttxdsl.dialects.stablehlo import ComparisonDirection
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import parse_program

HOLDS = {
    ComparisonDirection.LT: int.__lt__,
    ComparisonDirection.LE: int.__le__,
    ComparisonDirection.GT: int.__gt__,
    ComparisonDirection.GE: int.__ge__,
    ComparisonDirection.EQ: int.__eq__,
    ComparisonDirection.NE: int.__ne__,
}


def test_turns():
    for direction, start, step, limit in product(
        HOLDS, range(-4, 5), range(-3, 4), range(-4, 5)
    ):
        now, count = start, 0
        while HOLDS[direction](now, limit) and count < 100:
            now, count = now + step, count + 1
        expected = None if count == 100 else count
        assert iterations(direction, start, step, limit) == expected


def loop(
    start: str = "0",
    limit: str = "7",
    step: str = "1",
    *,
    direction: str = "LT",
    op: str = "add",
    element: str = "i32",
) -> ModuleOp:
    """A loop around a sine."""
    return parse_program(f"""\
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %start = stablehlo.constant dense<{start}> : tensor<{element}>
  %r:2 = stablehlo.while(%i = %start, %y = %x) : tensor<{element}>, tensor<4xf32>
  cond {{
    %limit = stablehlo.constant dense<{limit}> : tensor<{element}>
    %p = stablehlo.compare {direction}, %i, %limit : (tensor<{element}>, tensor<{element}>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %step = stablehlo.constant dense<{step}> : tensor<{element}>
    %next = stablehlo.{op} %i, %step : tensor<{element}>
    %z = stablehlo.sine %y : tensor<4xf32>
    stablehlo.return %next, %z : tensor<{element}>, tensor<4xf32>
  }}
  return %r#1 : tensor<4xf32>
}}
""")


def times(module: ModuleOp, trip_count: int | None = None) -> list[str]:
    """How often each sine runs."""
    runs = Runs(module, trip_count)
    return [str(runs.of(op)) for op in all_ops(module) if op.name == "stablehlo.sine"]


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (loop(), "x7 in loop"),
        (loop("2", "11", "3"), "x3 in loop"),
        (loop("10", "0", "-3", direction="GT"), "x4 in loop"),
        (loop("10", "0", "3", direction="GE", op="subtract"), "x4 in loop"),
        (loop("1", "9", "2", direction="NE"), "x4 in loop"),
        (loop("9", "3"), "x0 in loop"),
        (loop("250", "255", element="ui8", direction="LE"), "x? in loop"),
        (loop("250", "255", element="ui8"), "x5 in loop"),
        (loop("120", "127", "4", element="i8"), "x? in loop"),
        (loop("0", "10", "-1"), "x? in loop"),
        (loop("0", "8", "2", op="multiply"), "x? in loop"),
        (loop("0.0", "7.0", "1.0", element="f32"), "x? in loop"),
    ],
    ids=range(12),
)
def test_one_loop(module: ModuleOp, said: str):
    assert times(module) == [said]


def test_a_count_that_is_assumed():
    assert times(loop("0.0", "7.0", "1.0", element="f32"), 5) == ["x5 in loop, assumed"]
    assert times(loop(), 5) == ["x7 in loop"]


NESTED = """\
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %y = %x, %n = %five) : tensor<i32>, tensor<4xf32>, tensor<i32>
  cond {
    %p = stablehlo.compare GT, %n, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %a = func.call @inner(%y, %n) : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
    %b = func.call @inner(%a, %n) : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
    %next = func.call @next(%i) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %next, %b, %n : tensor<i32>, tensor<4xf32>, tensor<i32>
  }
  %s = stablehlo.sine %r#1 : tensor<4xf32>
  return %s : tensor<4xf32>
}
func.func private @next(%i: tensor<i32>) -> tensor<i32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %next = stablehlo.add %one, %i : tensor<i32>
  return %next : tensor<i32>
}
func.func private @inner(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %minus = stablehlo.constant dense<-1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %more = stablehlo.subtract %n, %minus : tensor<i32>
  %r:2 = stablehlo.while(%i = %more, %y = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %p = stablehlo.compare NE, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %next = stablehlo.add %minus, %i : tensor<i32>
    %z = stablehlo.sine %y : tensor<4xf32>
    stablehlo.return %next, %z : tensor<i32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}
"""


def test_loops_in_functions_that_are_called_in_loops():
    """Five iterations with two calls, each of which iterations six times."""
    assert times(parse_program(NESTED)) == ["", "x60 in loop"]


def test_callers_that_do_not_agree():
    other = NESTED.replace("@inner(%a, %n)", "@inner(%a, %one)")
    assert times(parse_program(other), 3)[1] == "x30 in loop, assumed"


def test_constants_are_not_looked_for_without_end():
    """Each sum doubles the ways to its constant."""
    sums = "".join(
        f"  %s{at + 1} = stablehlo.add %s{at}, %s{at} : tensor<i32>\n"
        for at in range(60)
    )
    module = parse_program(
        NESTED.replace("  %five = ", "  %s0 = ").replace(
            "  %r:3",
            f"{sums}  %five = stablehlo.add %s60, %s60 : tensor<i32>\n  %r:3",
            1,
        )
    )
    assert len(times(module)) == 2


BRANCHES = """\
func.func public @main(%x: tensor<4xf32>, %p: tensor<i32>) -> tensor<4xf32> {
  %r = "stablehlo.case"(%p) ({
    %a = stablehlo.sine %x : tensor<4xf32>
    stablehlo.return %a : tensor<4xf32>
  }, {
    %a = stablehlo.sine %x : tensor<4xf32>
    %b = stablehlo.sine %a : tensor<4xf32>
    stablehlo.return %b : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""


def test_the_dearest_branch_counts():
    assert times(parse_program(BRANCHES)) == ["x0", "", ""]


def test_the_branch_that_is_taken_counts():
    known = BRANCHES.replace(
        "  %r =", "  %zero = stablehlo.constant dense<0> : tensor<i32>\n  %r =", 1
    ).replace('"stablehlo.case"(%p)', '"stablehlo.case"(%zero)')
    assert times(parse_program(known)) == ["", "x0", "x0"]
