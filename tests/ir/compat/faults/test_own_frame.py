"""A position is where the user wrote something, not where a library did."""

from xdsl.ir import Attribute

from ttxdsl.ir.compat.faults.locations import (
    Frame,
    own_first,
    source_frame,
    source_frames,
    source_position,
)
from ttxdsl.loading.program import parse_program

DENSE = '"/v/lib/python3.12/site-packages/flax/linen/linear.py":287:8'


def placed(location: str) -> Attribute:
    module = parse_program(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        f"  %0 = stablehlo.negate %x : tensor<4xf32> loc({location})\n"
        "  return %0 : tensor<4xf32>\n}\n"
    )
    (op,) = [op for op in module.walk() if op.name == "stablehlo.negate"]
    return op.location


def position(location: str) -> str | None:
    return source_position(placed(location))


def test_the_frame_of_who_calls_a_library():
    called = f'callsite({DENSE} at callsite({DENSE} at "train.py":33:4))'
    assert position(called) == "train.py:33:4"
    # of several of the user's own it is the innermost
    own = 'callsite("block.py":5:2 at "train.py":33:4)'
    assert position(own) == "block.py:5:2"
    # a library's if there is nothing else
    assert position(f"callsite({DENSE} at {DENSE})") == DENSE.replace('"', "")


def test_the_function_is_of_the_traceback_and_not_the_ops_name():
    called = f'callsite("Dense.__call__"({DENSE}) at "block"("train.py":33:4))'
    location = placed(f'"jit(step)/Dense_0/dot_general"({called})')
    assert source_frame(location) == Frame("block", "train.py:33:4")
    assert [one.function for one in source_frames(location)] == [
        "Dense.__call__",
        "block",
    ]
    assert [one.function for one in own_first(source_frames(location))] == [
        "block",
        "Dense.__call__",
    ]
    # an op of which JAX says the name and the line only
    assert source_frame(placed('"jit(step)/mul"("a.py":1:2)')) == Frame("", "a.py:1:2")
    inlined = placed('callsite("jit(f)/mul"("a.py":1:2) at "b.py":3:4)')
    assert source_frame(inlined) == Frame("", "a.py:1:2")
