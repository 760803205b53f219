"""Collectives of loops and branches that run once, ahead of them or behind."""

import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.transforms.collectives.optimized import (
    computes_the_same,
    local,
    optimized,
    sent,
)
from tests.transforms.collectives.programs import (
    PROGRAMS,
    REDUCED_IN_LOOPS,
    SMALL_IN_LOOPS,
    S,
)
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.transforms.collectives.program.single_ops import is_collective


def in_loops(module: ModuleOp) -> int:
    """How many collectives stand in loops."""
    return sum(
        is_collective(op)
        for loop in ops_of_type(module, stablehlo.WhileOp)
        for op in loop.body.walk()
    )


def test_what_a_loop_hands_out_stays():
    """An outfeed reads what is sent."""
    text = PROGRAMS["collective-dce"].replace(
        "%sum =",
        "%t0 = stablehlo.create_token : !stablehlo.token\n"
        f'    %t1 = "stablehlo.outfeed"(%whole, %t0) : ({S}, !stablehlo.token)'
        " -> !stablehlo.token\n    %sum =",
    )
    assert in_loops(optimized(local(text), "collective-dce")) == 1


@pytest.mark.parametrize("name", ["hoist-collectives", "sink-collectives"])
def test_a_loop_sends_once_what_each_turn_sends_alike(name: str):
    module = local(PROGRAMS[name])
    assert in_loops(module) == 1
    assert in_loops(optimized(module, name)) == 0


REDUCE = "%row = stablehlo.reduce(%a init: %i) applies stablehlo.add across"
CAPTURING = """%two = stablehlo.constant dense<2.0> : tensor<f32>
    %row = stablehlo.reduce(%a init: %i) across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      reducer(%p: tensor<f32>, %q: tensor<f32>) {
        %s = stablehlo.add %p, %q : tensor<f32>
        %t = stablehlo.minimum %s, %two : tensor<f32>
        stablehlo.return %t : tensor<f32>
      }"""
"""A reduction whose region uses a value of the body: that moves, too."""


@pytest.mark.parametrize("reduction", [None, CAPTURING])
def test_what_a_reduction_makes_alike_is_sent_once(reduction: str | None):
    lines = REDUCED_IN_LOOPS.splitlines()
    (at,) = (i for i, line in enumerate(lines) if REDUCE in line)
    lines[at] = reduction or lines[at]
    text = "\n".join(lines)
    module = local(text)
    assert in_loops(module) == 1
    assert in_loops(optimized(module, "hoist-collectives")) == 0
    computes_the_same(module, text)


@pytest.mark.parametrize(
    ("turns", "before", "after"),
    [(3, 144, 144), (7, 336, 336), (8, 384, 384), (9, 432, 384)],
)
def test_a_sum_leaves_a_loop_that_turns_often_enough(
    turns: int, before: int, after: int
):
    text = SMALL_IN_LOOPS.replace("dense<3>", f"dense<{turns}>")
    module = local(text)
    assert sent(module) == before
    assert sent(optimized(module, "sink-collectives")) == after
    assert in_loops(module) == (turns < 8)
    computes_the_same(module, text)


NEVER = {"dense<3>": "dense<0>"}, {"LT": "GT"}
UNKNOWN = {
    "%three = stablehlo.constant dense<3> : tensor<i32>": "%three = stablehlo.convert"
    " %n : tensor<i32>"
}


@pytest.mark.parametrize("name", ["hoist-collectives", "sink-collectives"])
@pytest.mark.parametrize("change", [*NEVER, UNKNOWN])
def test_a_loop_that_may_not_turn_stays(name: str, change: dict[str, str]):
    text = PROGRAMS[name]
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new)
    module = local(text)
    assert in_loops(optimized(module)) == 1
    if change is not UNKNOWN:
        computes_the_same(module, text)
