"""Names of values: what the text calls them, also numbers."""

from __future__ import annotations

import pytest

from tests.explaining import programs
from ttxdsl.errors import CompileError
from ttxdsl.explaining.names import Names, all_values
from ttxdsl.program import parse_program

NUMBERED = """\
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<4xf32>
  %7:2 = "stablehlo.optimization_barrier"(%0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %42 = stablehlo.add %7#0, %7#1 : tensor<4xf32>
  return %42 : tensor<4xf32>
}
"""


def names(text: str) -> Names:
    return Names(parse_program(text), text)


def test_numbers_are_names():
    found = names(NUMBERED)
    shown = [found.name(value) for value in all_values(found.module)]
    assert shown[:5] == ["%arg0", "%0", "%7#0", "%7#1", "%42"]
    for name in ("%42", "42", "%7#1", "%arg0"):
        assert found.name(found.find(name)) == f"%{name.removeprefix('%')}"


def test_results_of_one_op_are_asked_for_one_by_one():
    with pytest.raises(CompileError, match=r"did you mean %7#0, %7#1\?"):
        names(NUMBERED).find("%7")


def test_an_argument_of_both_regions_of_a_loop_is_one_name():
    found = names(programs.LOOP)
    assert found.name(found.find("%acc")) == "%acc"


def test_nothing_near():
    with pytest.raises(CompileError, match="the values are %arg0, %0"):
        names(NUMBERED).find("%completely_else")
