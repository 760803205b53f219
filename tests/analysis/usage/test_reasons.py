"""The reasons of collectives as people read them: arguments, lines, and what only moves."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ttxdsl
from tests.analysis.attribution.scanned_step import handed, line_of, scanned
from ttxdsl.analysis.usage.collectives import CountedCollective, list_collectives
from ttxdsl.analysis.usage.reasons import lines_of, reason_of, with_arguments
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


def test_lines_are_counted():
    other = replace(GATHER, position="step.py:9:4")
    assert lines_of([GATHER, GATHER]) == "step.py:3 in block"
    assert lines_of([GATHER, other]) == "step.py:3 in block and 1 other"
    # nobody wrote a line of a text without tracebacks
    assert lines_of([replace(GATHER, function=None)]) == ""


def test_a_program_has_the_names_of_its_author():
    module = ttxdsl.load(scanned()).partition().module
    named = with_arguments(module, list_collectives(module))
    assert any("p['layers']" in (one.argument or "") for one in named)
    assert all(one.argument != "an argument" for one in named)
    reasons = [reason_of([one]) for one in named]
    # a turn of a scan takes its part of a stacked argument
    assert any("dimension" in one and "p['layers']" in one for one in reasons), reasons
    assert not any("of reshape whole" in one for one in reasons)


MOVED_TWICE = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> tensor<64x16xf32> {
  %0 = stablehlo.tanh %a : tensor<8x16xf32>
  %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> : (tensor<8x16xf32>) -> tensor<16x16xf32>
  %2 = stablehlo.optimization_barrier %1 : tensor<16x16xf32>
  %3 = "stablehlo.all_gather"(%2) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> : (tensor<16x16xf32>) -> tensor<64x16xf32>
  %4 = stablehlo.dot_general %3, %w, contracting_dims = [1] x [0] : (tensor<64x16xf32>, tensor<16x16xf32>) -> tensor<64x16xf32>
  return %4 : tensor<64x16xf32>
}"""


def test_what_only_moves_a_value_is_neither_its_maker_nor_its_user():
    reasons = {one.reason for one in list_collectives(parse_program(MOVED_TWICE))}
    assert reasons == {"dot_general needs dimension 0 of tanh whole"}


def test_loops_are_called_loops():
    module = ttxdsl.load(scanned()).partition().module
    reasons = " ".join(one.reason for one in list_collectives(module))
    assert "while" not in reasons


def test_layers_that_are_written_out_have_lines():
    module = ttxdsl.load(handed()).partition().module
    lines = lines_of(list_collectives(module))
    line = line_of("return h @ w + x")  # which needs what line 72 splits
    assert f"scanned_step.py:{line} in layer and " in lines
