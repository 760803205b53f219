"""A position is where the user wrote something, not where a library did."""

from ttxdsl.compat.faults.locations import source_position
from ttxdsl.program import parse_program

DENSE = '"/v/lib/python3.12/site-packages/flax/linen/linear.py":287:8'


def position(location: str) -> str | None:
    module = parse_program(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        f"  %0 = stablehlo.negate %x : tensor<4xf32> loc({location})\n"
        "  return %0 : tensor<4xf32>\n}\n"
    )
    (op,) = [op for op in module.walk() if op.name == "stablehlo.negate"]
    return source_position(op.location)


def test_the_frame_of_who_calls_a_library():
    called = f'callsite({DENSE} at callsite({DENSE} at "train.py":33:4))'
    assert position(called) == "train.py:33:4"
    # of several of the user's own it is the innermost
    own = 'callsite("block.py":5:2 at "train.py":33:4)'
    assert position(own) == "block.py:5:2"
    # a library's if there is nothing else
    assert position(f"callsite({DENSE} at {DENSE})") == DENSE.replace('"', "")
