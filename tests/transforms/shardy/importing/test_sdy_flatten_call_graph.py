"""Copies of functions and back: flatten and unflatten do what the C++ passes do."""

import pytest

from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle
from tests.differential.random_modules import Features, random_module
from ttxdsl.diagnostics.errors import UnsupportedError

FLATTEN = "sdy-flatten-call-graph"
UNFLATTEN = "sdy-unflatten-call-graph"
FULLY = f"{UNFLATTEN}{{dedup-functions-fully=true}}"


def call(result: str, callee: str, operand: str, attributes: str = "") -> str:
    return f"%{result} = func.call @{callee}(%{operand}) {attributes} : (tensor<8xf32>) -> tensor<8xf32>\n"


def function(name: str, body: str, returned: str, visibility: str = "private") -> str:
    return f"""
      func.func {visibility} @{name}(%x: tensor<8xf32>) -> tensor<8xf32> {{
        {body} return %{returned} : tensor<8xf32>
      }}"""


LEAF = function("leaf", "%0 = stablehlo.negate %x : tensor<8xf32>\n", "0")
TWICE = function("twice", call("0", "leaf", "x") + call("1", "leaf", "0"), "1")

PROGRAMS = {
    "one call": function("main", call("0", "leaf", "x"), "0", "public") + LEAF,
    "calls of calls": function(
        "main",
        call("0", "twice", "x") + call("1", "leaf", "0") + call("2", "twice", "1"),
        "2",
    )
    + LEAF
    + TWICE,
    "callees before callers": LEAF
    + TWICE
    + function("main", call("0", "twice", "x") + call("1", "twice", "0"), "1"),
    "names that are taken": function(
        "main", call("0", "leaf", "x") + call("1", "leaf", "0"), "1"
    )
    + LEAF
    + function("leaf_0", "", "x")
    + function("leaf_1", "", "x"),
    "a copy of a copy": function(
        "main", call("0", "leaf", "x") + call("1", "leaf", "0"), "1"
    )
    + """
      func.func private @leaf(%x: tensor<8xf32>) -> tensor<8xf32>
          attributes {sdy.original_func_name = "tree"} {
        return %x : tensor<8xf32>
      }""",
    "functions that nobody calls": function("main", "", "x") + TWICE + LEAF,
    "calls in regions": """
      func.func @main(%x: tensor<8xf32>, %t: tensor<i1>) -> tensor<8xf32> {
        %0 = "stablehlo.if"(%t) ({
          %1 = func.call @leaf(%x) : (tensor<8xf32>) -> tensor<8xf32>
          stablehlo.return %1 : tensor<8xf32>
        }, {
          %1 = func.call @leaf(%x) : (tensor<8xf32>) -> tensor<8xf32>
          stablehlo.return %1 : tensor<8xf32>
        }) : (tensor<i1>) -> tensor<8xf32>
        return %0 : tensor<8xf32>
      }"""
    + LEAF,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_like_cpp(oracle: Oracle, name: str):
    text = PROGRAMS[name]
    assert_equal_text(oracle, text, FLATTEN)
    for pipeline in (UNFLATTEN, FULLY):
        assert_equal_text(oracle, text, pipeline)
        assert_equal_text(oracle, oracle.run(text, FLATTEN), pipeline)


def copies(*arguments: str, manual: str = "") -> str:
    """Calls of copies of one function whose arguments have these shardings."""
    functions = "".join(
        f"""
        func.func private @f{n}(%x: tensor<8xf32> {sharding}) -> tensor<8xf32>
            attributes {{sdy.original_func_name = "f"{manual if n else ""}}} {{
          return %x : tensor<8xf32>
        }}"""
        for n, sharding in enumerate(arguments)
    )
    calls = "".join(call(str(n), f"f{n}", "x") for n in range(len(arguments)))
    return f'sdy.mesh @mesh = <["a"=2]>\n{function("main", calls, "0")}{functions}'


@pytest.mark.parametrize("seed", range(20))
def test_random_modules_like_cpp(oracle: Oracle, seed: int):
    text = random_module(seed, Features(functions=6, ops=6))
    assert_equal_text(oracle, text, FLATTEN)
    flat = oracle.run(text, FLATTEN)
    assert_equal_text(oracle, flat, UNFLATTEN)
    assert_equal_text(oracle, flat, FULLY)


def test_declared_functions_are_not_copied():
    """The C++ pass declares `there_0`, which nobody has."""
    text = (
        function("main", call("0", "there", "x") + call("1", "there", "0"), "1")
        + "func.func private @there(tensor<8xf32>) -> tensor<8xf32>"
    )
    assert "there_0" not in run_ours(text, FLATTEN)


def test_recursion_is_refused():
    """C++ copies until its stack overflows."""
    text = function("f", call("0", "g", "x"), "0") + function(
        "g", call("0", "f", "x"), "0"
    )
    with pytest.raises(UnsupportedError, match="recursive call of '@f'"):
        run_ours(text, FLATTEN)
