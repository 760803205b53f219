"""Programs around the ops: meshes, arguments, calls, host code, and what is refused."""

from pathlib import Path

import pytest

from tests.conversion.compare import assert_same_numbers, op_names, to_ttir, to_ttnn
from tests.dialects.tt_text import parse
from tests.differential.oracle import Oracle
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError

CASES = Path(__file__).parents[2] / "pipeline" / "seed_cases"


@pytest.mark.parametrize("case", ["case1", "case4"])
def test_seed_cases_are_read_by_the_cpp_parser(oracle: Oracle, case: str):
    text = (CASES / case / "12-close-shardings.mlir").read_text()
    for module in (to_ttir(text), to_ttnn(text)):
        lowered = str(module)
        oracle.run(lowered.replace("builtin.module", "module"))
        assert parse(lowered).is_structurally_equivalent(module)


def test_a_composite_is_its_decomposition():
    text = """
    func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.composite "my.twice" %a {decomposition = @twice} : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func private @twice(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.add %a, %a : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    """
    assert "ttir.add" in op_names(to_ttir(text))
    assert_same_numbers(text)


def single(op: str, operand: str = "tensor<4xf32>", result: str | None = None) -> str:
    return f"""
    func.func @main(%a: {operand}) -> {result or operand} {{
      {op}
      return %0 : {result or operand}
    }}
    """


UNPARTITIONED = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
"""
FREE = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%arg: tensor<4xf32>) -> tensor<4xf32> {
  %m = sdy.manual_computation(%arg) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<2xf32>) {
    sdy.return %a : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %m : tensor<4xf32>
}
"""
VECTOR = "tensor<4xf32>"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (UNPARTITIONED, CompileError, "has shardings but is not partitioned"),
        (FREE, UnsupportedError, "mesh axes y are not manual"),
        (
            single(
                f"""%t = stablehlo.tuple %a : tuple<{VECTOR}>
                %0 = stablehlo.get_tuple_element %t[0] : (tuple<{VECTOR}>) -> {VECTOR}"""
            ),
            UnsupportedError,
            "(?s)'stablehlo.tuple'.*no tuples",
        ),
        (
            single("%0 = stablehlo.negate %a : tensor<?xf32>", "tensor<?xf32>"),
            UnsupportedError,
            "dynamic shape",
        ),
    ],
)
def test_refused(text: str, error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        to_ttir(text)


def test_links_and_their_number():
    with pytest.raises(CompileError, match="num-links is 0"):
        to_ttnn(single("%0 = stablehlo.negate %a : tensor<4xf32>"), 0)


DOT = """
func.func @main(%a: {a}, %b: {b}) -> {r} {{
  %0 = stablehlo.dot_general %a, %b, {dims} : ({a}, {b}) -> {r}
  return %0 : {r}
}}
"""


@pytest.mark.parametrize(
    ("a", "b", "r", "dims", "permutes"),
    [
        ("2x3", "3x4", "2x4", "contracting_dims = [1] x [0]", 0),
        ("2x3", "4x3", "2x4", "contracting_dims = [1] x [1]", 0),
        ("3x2", "3x4", "2x4", "contracting_dims = [0] x [0]", 0),
        ("3x2", "4x3", "2x4", "contracting_dims = [0] x [1]", 0),
        ("5x2x3", "5x3x4", "5x2x4", "batching_dims = [0] x [0], contracting_dims = [2] x [1]", 0),
        ("2x5x3", "3x5x4", "5x2x4", "batching_dims = [1] x [1], contracting_dims = [2] x [0]", 2),
        ("2x3x4", "3x4x5", "2x5", "contracting_dims = [1, 2] x [0, 1]", 0),
        ("2x3x4", "4x3x5", "2x5", "contracting_dims = [1, 2] x [1, 0]", 1),
        ("3", "3", "", "contracting_dims = [0] x [0]", 0),
        ("2", "3", "2x3", "contracting_dims = [] x []", 0),
    ],
)  # fmt: skip
def test_products_are_matmuls(a: str, b: str, r: str, dims: str, permutes: int):
    types = {
        name: f"tensor<{shape}{'x' if shape else ''}f32>"
        for name, shape in (("a", a), ("b", b), ("r", r))
    }
    text = DOT.format(**types, dims=dims)
    names = op_names(to_ttnn(text))
    assert names.count("ttnn.matmul") == 1
    assert names.count("ttnn.permute") == permutes
    assert_same_numbers(text)


@pytest.mark.parametrize("text", ["module {}", "func.func @main()"])
def test_a_module_without_a_function_that_computes_has_no_mesh(text: str):
    module = to_ttnn(text)
    module.verify()
    assert not module.attributes
