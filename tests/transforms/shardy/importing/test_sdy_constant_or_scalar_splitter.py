"""`sdy-constant-or-scalar-splitter` copies what the C++ pass copies."""

import pytest

from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle
from tests.differential.random_modules import random_module

NAME = "sdy-constant-or-scalar-splitter"
MESH = 'sdy.mesh @mesh = <["a"=2]>'


def body(text: str, results: str = "%x") -> str:
    count = results.count(",") + 1
    types = ", ".join(["tensor<8x8xf32>"] * count)
    return f"""
      func.func @main(%x: tensor<8x8xf32>, %s: tensor<f32>) -> ({types}) {{
        {text}
        return {results} : {types}
      }}"""


CONSTANT = "%c = stablehlo.constant dense<1.0> : tensor<8x8xf32>"


def binary(result: str, left: str, right: str, op: str = "add") -> str:
    return f"%{result} = stablehlo.{op} %{left}, %{right} : tensor<8x8xf32>\n"


def unary(result: str, operand: str, op: str = "negate") -> str:
    return f"%{result} = stablehlo.{op} %{operand} : tensor<8x8xf32>\n"


PROGRAMS = {
    "two uses": body(
        CONSTANT + "\n" + binary("0", "x", "c") + binary("1", "0", "c"), "%1"
    ),
    "the same use twice": body(
        f"{CONSTANT}\n%0 = stablehlo.dot %c, %c : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>",
        "%0",
    ),
    "no use": body(CONSTANT),
    "returned": body(CONSTANT, "%c, %c"),
    "a constant of constants": body(
        CONSTANT
        + """
        %i = stablehlo.iota dim = 0 : tensor<8x8xf32>
        %0 = stablehlo.add %c, %i : tensor<8x8xf32>
        %1 = stablehlo.slice %0 [0:8, 0:4] : (tensor<8x8xf32>) -> tensor<8x4xf32>
        %2 = stablehlo.reshape %1 : (tensor<8x4xf32>) -> tensor<32xf32>
        %3 = stablehlo.slice %2 [0:8] : (tensor<32xf32>) -> tensor<8xf32>
        %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<8xf32>) -> tensor<8x8xf32>
        """
        + unary("5", "4")
        + unary("6", "4")
        + binary("7", "x", "5")
        + binary("8", "7", "6")
        + binary("9", "8", "0"),
        "%9",
    ),
    "transposes and dots are no constants": body(
        CONSTANT
        + """
        %0 = stablehlo.transpose %c, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
        """
        + binary("1", "x", "0")
        + binary("2", "1", "0"),
        "%2",
    ),
    "select, compare, clamp and convert of constants": body(
        CONSTANT
        + """
        %i = stablehlo.iota dim = 0 : tensor<8x8xi32>
        %0 = stablehlo.convert %i : (tensor<8x8xi32>) -> tensor<8x8xf32>
        %1 = stablehlo.compare LT, %0, %c : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xi1>
        %2 = stablehlo.select %1, %0, %c : tensor<8x8xi1>, tensor<8x8xf32>
        %3 = stablehlo.clamp %c, %2, %c : tensor<8x8xf32>
        %4 = stablehlo.bitcast_convert %3 : (tensor<8x8xf32>) -> tensor<8x8xi32>
        %5 = stablehlo.bitcast_convert %4 : (tensor<8x8xi32>) -> tensor<8x8xf32>
        """
        + binary("6", "x", "5")
        + binary("7", "6", "5"),
        "%7",
    ),
    "functions of chlo": body(
        CONSTANT
        + """
        %0 = chlo.erf %c : tensor<8x8xf32> -> tensor<8x8xf32>
        """
        + binary("1", "x", "0")
        + binary("2", "1", "0"),
        "%2",
    ),
    "scalars stay": body(
        """
        %c = stablehlo.constant dense<1.0> : tensor<f32>
        %0 = stablehlo.negate %c : tensor<f32>
        %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
        """
        + binary("2", "x", "1")
        + binary("3", "2", "1"),
        "%3",
    ),
    "expansion of a scalar that is no constant": body(
        """
        %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
        """
        + binary("1", "x", "0")
        + binary("2", "0", "0")
        + binary("3", "1", "2"),
        "%3",
    ),
    "unused expansion": body(
        "%0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8x8xf32>"
    ),
    "sharding groups come along": body(
        CONSTANT
        + """
        sdy.sharding_group %c group_id=0 : tensor<8x8xf32>
        sdy.sharding_group %c group_id=1 : tensor<8x8xf32>
        %0 = stablehlo.negate %c : tensor<8x8xf32>
        sdy.sharding_group %0 group_id=2 : tensor<8x8xf32>
        """
        + binary("1", "x", "0")
        + binary("2", "1", "0")
        + binary("3", "2", "c"),
        "%3",
    ),
    "shardings and constraints": f"""{MESH}
      {
        body(
            '''
            %c = stablehlo.constant {sdy.sharding =
              #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} dense<1.0> : tensor<8x8xf32>
            %0 = sdy.sharding_constraint %c <@mesh, [{}, {"a"}]> : tensor<8x8xf32>
            '''
            + binary("1", "0", "c")
            + binary("2", "1", "0"),
            "%2",
        )
    }""",
    "barriers and reshards keep constants constant": f"""{MESH}
      {
        body(
            CONSTANT
            + '''
            %0 = sdy.propagation_barrier %c allowed_direction=NONE : tensor<8x8xf32>
            %1 = sdy.reshard %0 <@mesh, [{}, {"a"}]> : tensor<8x8xf32>
            '''
            + binary("2", "x", "1")
            + binary("3", "2", "1"),
            "%3",
        )
    }""",
    "uses in regions": body(
        CONSTANT
        + """
        %0 = stablehlo.while(%v = %c) : tensor<8x8xf32>
        cond {
          %t = stablehlo.constant dense<true> : tensor<i1>
          stablehlo.return %t : tensor<i1>
        } do {
          %1 = stablehlo.add %v, %c : tensor<8x8xf32>
          %2 = stablehlo.add %1, %c : tensor<8x8xf32>
          stablehlo.return %2 : tensor<8x8xf32>
        }
        """,
        "%0",
    ),
    "combiners": body(
        CONSTANT
        + """
        %z = stablehlo.constant dense<0.0> : tensor<f32>
        %0 = stablehlo.reduce(%c init: %z) applies stablehlo.add across dimensions = [0]
          : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
        %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
        """
        + binary("2", "c", "1"),
        "%2",
    ),
    "named computations": body(
        CONSTANT
        + """
        %0 = sdy.named_computation<"pure">(%c) (%p: tensor<8x8xf32>) {
          %n = stablehlo.negate %p : tensor<8x8xf32>
          sdy.return %n : tensor<8x8xf32>
        } : (tensor<8x8xf32>) -> tensor<8x8xf32>
        %1 = sdy.named_computation<"other">(%c) (%p: tensor<8x8xf32>) {
          %d = stablehlo.constant dense<2.0> : tensor<8x8xf32>
          %n = stablehlo.custom_call @f(%p) : (tensor<8x8xf32>) -> tensor<8x8xf32>
          %m = stablehlo.add %n, %d : tensor<8x8xf32>
          %o = stablehlo.add %m, %d : tensor<8x8xf32>
          sdy.return %o : tensor<8x8xf32>
        } : (tensor<8x8xf32>) -> tensor<8x8xf32>
        """
        + binary("2", "0", "1")
        + binary("3", "0", "2")
        + binary("4", "1", "3"),
        "%4",
    ),
    "calls": body(
        CONSTANT
        + """
        %0 = func.call @pure(%c) : (tensor<8x8xf32>) -> tensor<8x8xf32>
        %1 = func.call @calls(%c) : (tensor<8x8xf32>) -> tensor<8x8xf32>
        %2 = func.call @other(%c) : (tensor<8x8xf32>) -> tensor<8x8xf32>
        %3 = func.call @none() : () -> tensor<8x8xf32>
        """
        + binary("4", "0", "1")
        + binary("5", "4", "2")
        + binary("6", "5", "0")
        + binary("7", "6", "3")
        + binary("8", "x", "7")
        + binary("9", "8", "7"),
        "%9",
    )
    + """
      func.func private @pure(%p: tensor<8x8xf32>) -> tensor<8x8xf32> {
        %n = stablehlo.negate %p : tensor<8x8xf32>
        return %n : tensor<8x8xf32>
      }
      func.func private @calls(%p: tensor<8x8xf32>) -> tensor<8x8xf32> {
        %n = func.call @pure(%p) : (tensor<8x8xf32>) -> tensor<8x8xf32>
        return %n : tensor<8x8xf32>
      }
      func.func private @other(%p: tensor<8x8xf32>) -> tensor<8x8xf32> {
        %n = stablehlo.custom_call @f(%p) : (tensor<8x8xf32>) -> tensor<8x8xf32>
        return %n : tensor<8x8xf32>
      }
      func.func private @none() -> tensor<8x8xf32> {
        %n = stablehlo.iota dim = 0 : tensor<8x8xf32>
        return %n : tensor<8x8xf32>
      }""",
    "a function that nobody calls": body("", "%x")
    + """
      func.func private @f(%p: tensor<8xf32>) -> tensor<8xf32> {
        %c = stablehlo.constant dense<1.0> : tensor<8xf32>
        %0 = stablehlo.add %c, %p : tensor<8xf32>
        %1 = stablehlo.add %0, %c : tensor<8xf32>
        return %1 : tensor<8xf32>
      }""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_like_cpp(oracle: Oracle, name: str):
    assert_equal_text(oracle, PROGRAMS[name], NAME)


@pytest.mark.parametrize("seed", range(25))
def test_random_modules_like_cpp(oracle: Oracle, seed: int):
    assert_equal_text(oracle, random_module(seed), NAME)


def test_calls_of_declared_functions_are_no_constants():
    """The C++ pass declares copies of a function that nobody has."""
    text = """
      func.func @main() -> tensor<8xf32> {
        %c = stablehlo.constant dense<1.0> : tensor<8xf32>
        %0 = func.call @there(%c) : (tensor<8xf32>) -> tensor<8xf32>
        %1 = stablehlo.add %0, %0 : tensor<8xf32>
        return %1 : tensor<8xf32>
      }
      func.func private @there(tensor<8xf32>) -> tensor<8xf32>"""
    after = run_ours(text, NAME)
    assert after.count("@there(") == 2
    assert "there_0" not in after
