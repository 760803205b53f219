"""Programs around the ops: meshes, arguments, calls, host code, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conversion.compare import assert_same_numbers, op_names, to_ttir, to_ttnn
from tests.dialects.tt_text import parse, printed
from tests.differential.oracle import Oracle
from ttxdsl.conversion.ttir_to_ttnn.convert import convert_ttir_to_ttnn
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.diagnostics.remarks import collect_remarks

CASES = Path(__file__).parents[2] / "pipeline" / "seed_cases"


@pytest.mark.parametrize("case", ["case1", "case4"])
def test_seed_cases_are_read_by_the_cpp_parser(oracle: Oracle, case: str):
    text = (CASES / case / "12-close-shardings.mlir").read_text()
    for module in (to_ttir(text), to_ttnn(text)):
        lowered = printed(module)
        oracle.run(lowered.replace("builtin.module", "module"))
        assert parse(lowered).is_structurally_equivalent(module)


def test_a_program_without_mesh_runs_on_one_device():
    text = """
    func.func @main(%a: tensor<2x3xf32>) -> tensor<3x2xf32> {
      %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
      return %0 : tensor<3x2xf32>
    }
    """
    module = to_ttir(text)
    assert '#ttcore.meshes<[<"mesh" = 1x1>]>' in printed(module)
    assert op_names(module).count("ttir.mesh_shard") == 2
    assert_same_numbers(text)


def test_calls_are_lowered_in_place():
    text = """
    func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = func.call @twice(%a) : (tensor<4xf32>) -> tensor<4xf32>
      %1 = func.call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    func.func private @twice(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.add %a, %a : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    """
    assert op_names(to_ttir(text)).count("func.func") == 1
    assert_same_numbers(text)


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


HOST = """
module {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func @main(%arg: tensor<15x4xf32>) -> tensor<15x4xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %p = stablehlo.pad %arg, %zero, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<15x4xf32>, tensor<f32>) -> tensor<16x4xf32>
    %m = sdy.manual_computation(%p) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%a: tensor<8x4xf32>) {
      %r = stablehlo.negate %a : tensor<8x4xf32>
      sdy.return %r : tensor<8x4xf32>
    } : (tensor<16x4xf32>) -> tensor<16x4xf32>
    %s = stablehlo.slice %m [0:15, 0:4] : (tensor<16x4xf32>) -> tensor<15x4xf32>
    return %s : tensor<15x4xf32>
  }
}
"""


def test_ops_around_a_manual_computation_run_on_the_host():
    module = to_ttir(HOST)
    places = {
        op.name: "tensor_mesh" in str(op.results[0].type)
        for op in module.walk()
        if op.results
    }
    assert not places["ttir.pad"]
    assert places["ttir.neg"]
    assert not places["ttir.slice_static"]
    assert_same_numbers(HOST)


def test_locations_are_kept():
    text = """
    func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.negate %a : tensor<4xf32> loc("model.py":7:3)
      return %0 : tensor<4xf32>
    }
    """
    for module in (to_ttir(text), to_ttnn(text)):
        [op] = [op for op in module.walk() if op.name.endswith(".neg")]
        assert "model.py" in str(op.location)


def test_arguments_keep_their_names_but_not_their_shardings():
    text = (CASES / "case1" / "11-update-global-to-local-shapes.mlir").read_text()
    marked = text.replace(
        "{ttcore.argument_type",
        '{sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}, {}]>, ttcore.argument_type',
        1,
    )
    lowered = printed(to_ttir(marked))
    assert "sdy." not in lowered
    assert "ttcore.argument_type = #ttcore.argument_type<input>" in lowered


def test_results_that_stay_on_the_devices():
    text = (CASES / "case4" / "12-close-shardings.mlir").read_text()
    marked = text.replace(
        "{jax.result_info",
        "{ttcore.shard_status = #ttcore.shard_status<sharded>, jax.result_info",
    )
    [_, back] = [op for op in to_ttir(marked).walk() if op.name == "ttir.mesh_shard"]
    assert back.properties["shard_type"].data.value == "identity"


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


def test_a_mesh_that_no_hardware_has_is_told():
    text = """
    sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
    func.func @main(%arg: tensor<8xf32>) -> tensor<8xf32> {
      %m = sdy.manual_computation(%arg) in_shardings=[<@mesh, [{"x", "y", "z"}]>] out_shardings=[<@mesh, [{"x", "y", "z"}]>] manual_axes={"x", "y", "z"} (%a: tensor<1xf32>) {
        %0 = stablehlo.negate %a : tensor<1xf32>
        sdy.return %0 : tensor<1xf32>
      } : (tensor<8xf32>) -> tensor<8xf32>
      return %m : tensor<8xf32>
    }
    """
    module = to_ttir(text)
    with collect_remarks() as remarks:
        convert_ttir_to_ttnn(module)
    assert ["has 3 axes" in remark.message for remark in remarks] == [True]
    assert "#ttnn<mesh_shape 2x2x2>" in printed(module)


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


def test_a_constant_like_a_value_of_another_type():
    assert_same_numbers("""
    func.func @main(%x: tensor<4xi1>) -> tensor<4xf32> {
      %0 = "chlo.constant_like"(%x) <{value = 5.000000e-01 : f32}> : (tensor<4xi1>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }""")
