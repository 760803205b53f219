"""`sdy-constant-or-scalar-merger` merges what the C++ pass merges."""

import pytest

from tests.differential.equal_text import assert_equal_text
from tests.differential.oracle import Oracle
from tests.differential.random_modules import Features, random_module

NAME = "sdy-constant-or-scalar-merger"
SPLITTER = "sdy-constant-or-scalar-splitter"
CPP = f"func.func({NAME})"


def sharded(axes: str) -> str:
    return f"{{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{axes}]>]>}}"


BODIES = {
    "equal constants": """
      %0 = sdy.constant dense<1.0> : tensor<8xf32>
      %1 = sdy.constant dense<1.0> : tensor<8xf32>
      %2 = sdy.constant dense<2.0> : tensor<8xf32>
      %3 = sdy.constant dense<1.0> : tensor<4xf32>
      "test.use"(%0, %1, %2, %3) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xf32>) -> ()
      """,
    "shardings tell them apart": f"""
      %0 = sdy.constant {sharded('{"a"}')} dense<1.0> : tensor<8xf32>
      %1 = sdy.constant dense<1.0> : tensor<8xf32>
      %2 = sdy.constant {sharded('{"a"}')} dense<1.0> : tensor<8xf32>
      %3 = sdy.constant {sharded("{}")} dense<1.0> : tensor<8xf32>
      "test.use"(%0, %1, %2, %3) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> ()
      """,
    "both dialects": """
      %0 = sdy.constant dense<1.0> : tensor<8xf32>
      %1 = stablehlo.constant dense<1.0> : tensor<8xf32>
      %2 = stablehlo.constant dense<1.0> : tensor<8xf32>
      "test.use"(%0, %1, %2) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> ()
      """,
    "iotas are not merged": """
      %0 = stablehlo.iota dim = 0 : tensor<8xf32>
      %1 = stablehlo.iota dim = 0 : tensor<8xf32>
      "test.use"(%0, %1) : (tensor<8xf32>, tensor<8xf32>) -> ()
      """,
    "expansions of a scalar": """
      %s = stablehlo.custom_call @s() : () -> tensor<f32>
      %c = sdy.constant dense<1.0> : tensor<f32>
      %d = sdy.constant dense<1.0> : tensor<f32>
      %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %3 = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %4 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
      "test.use"(%0, %1, %2, %3, %4) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xf32>) -> ()
      """,
    "expansions of larger tensors are not merged": """
      %s = stablehlo.custom_call @s() : () -> tensor<1xf32>
      %0 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<1xf32>) -> tensor<8xf32>
      %1 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<1xf32>) -> tensor<8xf32>
      "test.use"(%0, %1) : (tensor<8xf32>, tensor<8xf32>) -> ()
      """,
    "regions keep their own": """
      %t = stablehlo.constant dense<true> : tensor<i1>
      %0 = sdy.constant dense<1.0> : tensor<8xf32>
      %1 = "stablehlo.if"(%t) ({
        %2 = sdy.constant dense<1.0> : tensor<8xf32>
        %3 = sdy.constant dense<1.0> : tensor<8xf32>
        %4 = stablehlo.add %2, %3 : tensor<8xf32>
        stablehlo.return %4 : tensor<8xf32>
      }, {
        %2 = sdy.constant dense<1.0> : tensor<8xf32>
        stablehlo.return %2 : tensor<8xf32>
      }) : (tensor<i1>) -> tensor<8xf32>
      "test.use"(%0, %1) : (tensor<8xf32>, tensor<8xf32>) -> ()
      """,
}


@pytest.mark.parametrize("name", BODIES)
def test_like_cpp(oracle: Oracle, name: str):
    body = BODIES[name].replace('"test.use"(', "stablehlo.custom_call @use(")
    text = f"""
      sdy.mesh @mesh = <["a"=2]>
      func.func @main() {{ {body} return }}
      func.func @other() {{ {body} return }}"""
    assert_equal_text(oracle, text, NAME, CPP)


@pytest.mark.parametrize("seed", range(15))
def test_random_modules_like_cpp(oracle: Oracle, seed: int):
    text = random_module(seed, Features(priorities=False))
    assert_equal_text(oracle, text, NAME, CPP)
    split = oracle.run(text, f"symbol-dce,{SPLITTER},sdy-aggressive-propagate")
    assert_equal_text(oracle, split, NAME, CPP)
