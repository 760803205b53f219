"""Shardings between functions and calls, as the C++ passes bring them in line."""

import pytest

from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle, OracleAborted
from tests.differential.random_modules import Features, random_module
from ttxdsl.diagnostics.errors import CompileError

TO_RESULTS = "sdy-propagate-to-func-results"
TO_CALLS = "sdy-propagate-sharding-from-func-to-call"
RESHARDS = "sdy-insert-func-call-reshards"
ORDER = "sdy-pre-order-funcs"
ADD = "sdy-add-func-data-flow-edges"
SINK = "sdy-sink-func-data-flow-edges"
ON_MODULES = (TO_RESULTS, TO_CALLS, RESHARDS, ORDER, ADD)


def sharding(axes: str) -> str:
    return f"{{sdy.sharding = #sdy.sharding<@mesh, [{axes}]>}}"


def module(callee_argument: str, callee_result: str, call: str) -> str:
    said = f"{{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{call}]>, <@mesh, [{{?}}]>]>}}"
    return f"""
      sdy.mesh @mesh = <["a"=2, "b"=2]>
      func.func private @f(%x: tensor<8xf32> {callee_argument}, %y: tensor<8xf32>)
          -> (tensor<8xf32> {callee_result}, tensor<8xf32>) {{
        return %x, %y : tensor<8xf32>, tensor<8xf32>
      }}
      func.func @main(%x: tensor<8xf32> {sharding('{"b"}')})
          -> (tensor<8xf32>, tensor<8xf32> {sharding('{"a"}')}) {{
        %0:2 = func.call @f(%x, %x) {said if call else ""}
          : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
        %1 = stablehlo.add %0#0, %0#1 : tensor<8xf32>
        return %1, %0#0 : tensor<8xf32>, tensor<8xf32>
      }}"""


PROGRAMS = {
    "no shardings": module("", "", ""),
    "callee's argument": module(sharding('{"a", ?}p1'), "", ""),
    "callee's result": module("", sharding('{"a", ?}'), ""),
    "both": module(sharding('{"a"}'), sharding('{"b"}'), ""),
    "call": module("", "", '{"a"}'),
    "callee's result and call agree": module("", sharding('{"a", ?}'), '{"a"}'),
    "callee's result and call differ": module("", sharding('{"b", ?}'), '{"a", ?}'),
    "call is replicated": module("", sharding('{"b"}'), "{}"),
    "callee's result is replicated": module("", sharding("{}"), '{"b"}'),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("pipeline", ON_MODULES)
def test_like_cpp(oracle: Oracle, pipeline: str, name: str):
    assert_equal_text(oracle, PROGRAMS[name], pipeline)


@pytest.mark.parametrize("before", (ADD, f"{ADD},sdy-aggressive-propagate"))
@pytest.mark.parametrize("name", PROGRAMS)
def test_sink_like_cpp(oracle: Oracle, name: str, before: str):
    text = oracle.run(PROGRAMS[name], before)
    assert_equal_text(oracle, text, SINK, f"func.func({SINK})")


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("pipeline", ON_MODULES)
def test_random_modules_like_cpp(oracle: Oracle, pipeline: str, seed: int):
    features = Features(functions=5, ops=6, manual_computations=False)
    assert_equal_text(oracle, random_module(seed, features), pipeline)


@pytest.mark.parametrize("seed", range(12))
def test_sink_random_modules_like_cpp(oracle: Oracle, seed: int):
    features = Features(functions=5, ops=6, manual_computations=False, priorities=False)
    text = oracle.run(
        random_module(seed, features), f"symbol-dce,{ADD},sdy-aggressive-propagate"
    )
    assert_equal_text(oracle, text, SINK, f"func.func({SINK})")


@pytest.mark.parametrize("pipeline", (TO_RESULTS, ADD))
def test_no_main_function(oracle: Oracle, pipeline: str):
    """C++ dies without a word to the user."""
    text = PROGRAMS["both"].replace("@main", "@entry")
    with pytest.raises(OracleAborted):
        oracle.run(text, pipeline)
    with pytest.raises(CompileError, match="which of the 2 functions"):
        run_ours(text, pipeline)
