"""The reasons of collectives as people read them: arguments, lines, and what only moves."""

from dataclasses import replace

import pytest

import ttxdsl
from tests.analysis.attribution.scanned_step import scanned
from ttxdsl.analysis.usage.collectives import CountedCollective, list_collectives
from ttxdsl.analysis.usage.needs import place_of
from ttxdsl.analysis.usage.reasons import reason_of, with_arguments
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.program import parse_program

GATHER = CountedCollective(
    kind="all_gather",
    axes=None,
    group_size=4,
    tensor="8xf32",
    bytes_per_device=96,
    reason="dot_general needs dimension 0 of an argument whole",
    position="step.py:3:4",
    function="block",
)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ((), "an argument"),
        (("p['up']",), "p['up']"),
        (("p['up']", "p['up']"), "p['up']"),
        (("p['up']", "p['down']"), "p['up'] and 1 other"),
        (("p['up']", "p['down']", "x"), "p['up'] and 2 others"),
    ],
)
def test_arguments_are_named(names: tuple[str, ...], told: str):
    alike = [replace(GATHER, argument=name) for name in names] or [GATHER]
    assert reason_of(alike) == f"dot_general needs dimension 0 of {told} whole"


def test_a_program_has_the_names_of_its_author():
    module = ttxdsl.load(scanned()).partition().module
    named = with_arguments(module, list_collectives(module))
    assert any("p['layers']" in (one.argument or "") for one in named)
    assert all(one.argument != "an argument" for one in named)
    reasons = [reason_of([one]) for one in named]
    # a turn of a scan takes its part of a stacked argument
    assert any("dimension" in one and "p['layers']" in one for one in reasons), reasons
    assert not any("of reshape whole" in one for one in reasons)


@pytest.mark.parametrize(("second", "line"), [(7, "step.py:7:2"), (9, None)])
def test_what_calls_share_has_their_line(second: int, line: str | None):
    """Slices of one shape are a function without lines; where its calls differ nobody knows."""
    text = f"""\
func.func private @cut(%x: tensor<8xf32>) -> tensor<4xf32> {{
  %0 = stablehlo.slice %x [0:4] : (tensor<8xf32>) -> tensor<4xf32> loc(unknown)
  return %0 : tensor<4xf32> loc(unknown)
}}
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {{
  %0 = func.call @cut(%x) : (tensor<8xf32>) -> tensor<4xf32> loc("f"("step.py":7:2))
  %1 = func.call @cut(%y) : (tensor<8xf32>) -> tensor<4xf32> loc("f"("step.py":{second}:2))
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}}
"""
    (cut,) = ops_of_type(parse_program(text), stablehlo.SliceOp)
    frame = place_of(cut)
    assert (frame.position if frame else None) == line
