"""`order-sorts`: sorts by one key each, which is the first operand."""

import numpy as np
import pytest

from tests.bridges.tt_mlir.legalize.same_numbers import (
    after,
    assert_numbers_stay,
    ops_of,
)
from ttxdsl.diagnostics.errors import UnsupportedError

KEYS = np.array([3, 1, 3, 2, 1, 3, 2, 1], np.int32)
OTHERS = np.array([5, 4, 1, 2, 9, 1, 0, 4], np.float32)


def program(comparator: str) -> str:
    return f"""func.func public @main(%a: tensor<8xi32>, %b: tensor<8xf32>)
        -> (tensor<8xi32>, tensor<8xf32>) {{
      %0:2 = "stablehlo.sort"(%a, %b) <{{dimension = 0 : i64, is_stable = true}}> ({{
      ^bb0(%i: tensor<i32>, %j: tensor<i32>, %x: tensor<f32>, %y: tensor<f32>):
        {comparator}
        stablehlo.return %r : tensor<i1>
      }}) : (tensor<8xi32>, tensor<8xf32>) -> (tensor<8xi32>, tensor<8xf32>)
      return %0#0, %0#1 : tensor<8xi32>, tensor<8xf32>
    }}"""


def compare(how: str, first: str, second: str, element: str) -> str:
    kind = "FLOAT" if element == "f32" else "SIGNED"
    type_ = f"tensor<{element}>"
    return f"stablehlo.compare {how}, {first}, {second}, {kind} : ({type_}, {type_}) -> tensor<i1>"


FIRST = f"%r = {compare('LT', '%i', '%j', 'i32')}"
SECOND = f"%r = {compare('GT', '%x', '%y', 'f32')}"
BOTH = f"""%0 = {compare("LT", "%i", "%j", "i32")}
        %1 = {compare("EQ", "%i", "%j", "i32")}
        %2 = {compare("GT", "%x", "%y", "f32")}
        %3 = stablehlo.and %1, %2 : tensor<i1>
        %r = stablehlo.or %0, %3 : tensor<i1>"""


def test_two_keys_are_two_sorts():
    new = assert_numbers_stay(program(BOTH), "order-sorts", KEYS, OTHERS)
    assert ops_of(new).count("stablehlo.sort") == 2


def test_the_key_comes_first():
    new = assert_numbers_stay(program(SECOND), "order-sorts", KEYS, OTHERS)
    assert "(%b, %a)" in new or '"stablehlo.sort"(%0, %1)' not in new


def test_one_key_stays():
    assert after(program(FIRST), "order-sorts") == after(
        program(FIRST), "open-computations"
    )


def test_sides_are_compared_in_order():
    backwards = program(FIRST.replace("%i, %j", "%j, %i"))
    new = assert_numbers_stay(backwards, "order-sorts", KEYS, OTHERS)
    assert "stablehlo.compare GT" in new


@pytest.mark.parametrize(
    "comparator",
    [
        BOTH.replace("EQ", "NE"),
        BOTH.replace("stablehlo.and", "stablehlo.or"),
        BOTH.replace("%1, %2", "%0, %2"),
        FIRST.replace("LT", "NE"),
        # tt-mlir would sort by the operand
        f"%0 = stablehlo.negate %i : tensor<i32>\n"
        "%1 = stablehlo.negate %j : tensor<i32>\n"
        f"%r = {compare('LT', '%0', '%1', 'i32')}",
    ],
)
def test_what_is_no_order_by_keys_is_refused(comparator: str):
    with pytest.raises(UnsupportedError, match="is no order by operands"):
        after(program(comparator), "order-sorts")
