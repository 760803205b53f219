"""The integers that a program says are those that it computes."""

from random import Random

import numpy as np
import pytest
from xdsl.dialects.func import ReturnOp

from ttxdsl.analysis.calls.trip_counts import TripCounts
from ttxdsl.dialects.stablehlo import WhileOp
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.program import parse_program

ELEMENTS = {"i1": np.bool_, "i8": np.int8, "ui8": np.uint8, "i32": np.int32}
BINARY = ("add", "subtract", "multiply", "minimum", "maximum", "and", "or", "xor")
DIRECTIONS = ("LT", "LE", "GT", "GE", "EQ", "NE")


def program(random: Random) -> str:
    """Constants, arguments, and what some ops make of them."""
    lines: list[str] = []
    values: dict[str, list[str]] = {one: [f"%{one}"] for one in ELEMENTS}

    def add(element: str, text: str) -> None:
        lines.append(f"%{len(lines)} = stablehlo.{text}")
        values[element].append(f"%{len(lines) - 1}")

    for element in ELEMENTS:
        for _ in range(2):
            number = random.choice((0, 1, 3, 100, 250 if element != "i8" else 127))
            said = ("false", "true")[number > 0] if element == "i1" else number
            add(element, f"constant dense<{said}> : tensor<{element}>")
    for _ in range(20):
        element = random.choice([*ELEMENTS])
        x, y = random.choices(values[element], k=2)
        type_ = f"tensor<{element}>"
        match random.randrange(5):
            case 0:
                to = random.choice([*ELEMENTS])
                add(to, f"convert {x} : ({type_}) -> tensor<{to}>")
            case 1:
                sign = "UNSIGNED" if element in ("i1", "ui8") else "SIGNED"
                direction = random.choice(DIRECTIONS)
                types = f"({type_}, {type_}) -> tensor<i1>"
                add("i1", f"compare {direction}, {x}, {y}, {sign} : {types}")
            case 2:
                add(
                    element,
                    f"select {random.choice(values['i1'])}, {x}, {y}"
                    f" : tensor<i1>, {type_}",
                )
            case 3:
                add(element, f"not {x} : {type_}")
            case _:
                ops = [op for op in BINARY if (element, op) != ("i1", "subtract")]
                add(element, f"{random.choice(ops)} {x}, {y} : {type_}")
    returned = [one for found in values.values() for one in found]
    types = [f"tensor<{element}>" for element, found in values.items() for _ in found]
    given = ", ".join(f"%{one}: tensor<{one}>" for one in ELEMENTS)
    body = "\n  ".join(lines)
    return f"""func.func @main({given}) -> ({", ".join(types)}) {{
  {body}
  return {", ".join(returned)} : {", ".join(types)}
}}"""


@pytest.mark.parametrize("seed", range(40))
def test_what_is_said_is_computed(seed: int):
    random = Random(seed)
    module = parse_program(program(random))
    counts = TripCounts(module)
    (end,) = ops_of_type(module, ReturnOp)
    said = [counts.constant(value) for value in end.operands]
    for _ in range(3):
        arguments = [np.asarray(random.randrange(2), one) for one in ELEMENTS.values()]
        for number, found in zip(said, run_module(module, arguments), strict=True):
            assert number is None or number == int(found)
    assert sum(number is not None for number in said) >= 8


AROUND = """\
func.func public @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i1>) {
  %start = stablehlo.constant dense<20> : tensor<ui8>
  %most = stablehlo.constant dense<250> : tensor<ui8>
  %r:3 = stablehlo.while(%i = %start, %y = %x, %n = %most) : tensor<ui8>, tensor<4xf32>, tensor<ui8>
  cond {
    %limit = func.call @more(%n) : (tensor<ui8>) -> tensor<ui8>
    %p = stablehlo.compare GT, %i, %limit : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<ui8>
    %next = stablehlo.subtract %i, %one : tensor<ui8>
    %z = stablehlo.sine %y : tensor<4xf32>
    stablehlo.return %next, %z, %n : tensor<ui8>, tensor<4xf32>, tensor<ui8>
  }
  %another = func.call @more(%start) : (tensor<ui8>) -> tensor<ui8>
  %four = stablehlo.constant dense<4> : tensor<ui8>
  %more = func.call @more(%r#2) : (tensor<ui8>) -> tensor<ui8>
  %least = stablehlo.minimum %more, %start : tensor<ui8>
  %same = stablehlo.compare EQ, %least, %four : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
  return %r#1, %same : tensor<4xf32>, tensor<i1>
}
func.func private @more(%n: tensor<ui8>) -> tensor<ui8> {
  %ten = stablehlo.constant dense<10> : tensor<ui8>
  %more = stablehlo.add %n, %ten : tensor<ui8>
  return %more : tensor<ui8>
}
"""
"""250 and ten are four, in eight bits: the loop turns sixteen times."""


def test_numbers_that_wrap_around():
    module = parse_program(AROUND)
    counts = TripCounts(module)
    end = ops_of_type(module, ReturnOp)[0]
    assert counts.constant(end.operands[1]) == 1
    (loop,) = ops_of_type(module, WhileOp)
    assert counts.of(loop) in (None, 16)
