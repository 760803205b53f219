"""Gathers and scatters whose indices count, in the spellings of JAX and torch-xla."""

import numpy as np
import pytest

from tests.transforms.run_pass import run_passes
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.collectives.program.bytes_sent import bytes_sent
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.transforms.stages.batch_counting_indices import BatchCountingIndicesPass

IOTA = "%r = stablehlo.iota dim = 0 : tensor<8x5x1xi32>"
WRAP = """
  %iota = stablehlo.iota dim = 0 : tensor<8xi32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c8 = stablehlo.constant dense<8> : tensor<i32>
  %zero = stablehlo.broadcast_in_dim %c0, dims = [] : (tensor<i32>) -> tensor<8xi32>
  %eight = stablehlo.broadcast_in_dim %c8, dims = [] : (tensor<i32>) -> tensor<8xi32>
  %negative = stablehlo.compare LT, %iota, %zero, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
  %more = stablehlo.add %iota, %eight : tensor<8xi32>
  %wrapped = stablehlo.select %negative, %more, %iota : tensor<8xi1>, tensor<8xi32>
  %r = stablehlo.broadcast_in_dim %wrapped, dims = [0] : (tensor<8xi32>) -> tensor<8x5x1xi32>"""
CONSTANT = """
  %numbers = stablehlo.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi64>
  %narrow = stablehlo.convert %numbers : (tensor<8xi64>) -> tensor<8xi32>
  %column = stablehlo.reshape %narrow : (tensor<8xi32>) -> tensor<8x1x1xi32>
  %r = stablehlo.broadcast_in_dim %column, dims = [0, 1, 2] : (tensor<8x1x1xi32>) -> tensor<8x5x1xi32>"""
TURNED = """
  %row = stablehlo.iota dim = 1 : tensor<5x8xi32>
  %column = stablehlo.transpose %row, dims = [1, 0] : (tensor<5x8xi32>) -> tensor<8x5xi32>
  %r = stablehlo.reshape %column : (tensor<8x5xi32>) -> tensor<8x5x1xi32>"""
CLAMPED = """
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c7 = stablehlo.constant dense<7> : tensor<i32>
  %iota = stablehlo.iota dim = 0 : tensor<8x5x1xi32>
  %r = stablehlo.clamp %c0, %iota, %c7 : (tensor<i32>, tensor<8x5x1xi32>, tensor<i32>) -> tensor<8x5x1xi32>"""
OFFSET = """
  %iota = stablehlo.iota dim = 0 : tensor<9x5x1xi32>
  %one = stablehlo.constant dense<1> : tensor<8x5x1xi32>
  %rest = stablehlo.slice %iota [1:9, 0:5, 0:1] : (tensor<9x5x1xi32>) -> tensor<8x5x1xi32>
  %r = stablehlo.subtract %rest, %one : tensor<8x5x1xi32>"""
WRONG = {
    "reversed": """
  %iota = stablehlo.iota dim = 0 : tensor<8x5x1xi32>
  %seven = stablehlo.constant dense<7> : tensor<8x5x1xi32>
  %r = stablehlo.subtract %seven, %iota : tensor<8x5x1xi32>""",
    "another dimension": "%r = stablehlo.iota dim = 1 : tensor<8x5x1xi32>",
    "clamped": """
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c6 = stablehlo.constant dense<6> : tensor<i32>
  %iota = stablehlo.iota dim = 0 : tensor<8x5x1xi32>
  %r = stablehlo.clamp %c0, %iota, %c6 : (tensor<i32>, tensor<8x5x1xi32>, tensor<i32>) -> tensor<8x5x1xi32>""",
    "shifted": """
  %iota = stablehlo.iota dim = 0 : tensor<8x5x1xi32>
  %one = stablehlo.constant dense<1> : tensor<8x5x1xi32>
  %r = stablehlo.add %iota, %one : tensor<8x5x1xi32>""",
    "every second": """
  %iota = stablehlo.iota dim = 0 : tensor<16x5x1xi32>
  %r = stablehlo.slice %iota [0:16:2, 0:5, 0:1] : (tensor<16x5x1xi32>) -> tensor<8x5x1xi32>""",
}

SPLIT = 'sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}, {}, {}]>'
ROWS = 'sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}, {}]>'
MESH = 'sdy.mesh @mesh = <["a"=2, "b"=4]>'


def gather(rows: str, *, sizes: str = "1, 1", collapsed: str = "[0, 1]") -> str:
    """`x[rows, i]`; the row may be a window dimension of one element."""
    offset = "" if collapsed == "[0, 1]" else "offset_dims = [2], "
    shape = "8x5x1" if offset else "8x5"
    return f"""{MESH}
func.func @main(%x: tensor<8x16xf32> {{{ROWS}}}, %i: tensor<8x5x1xi32> {{{SPLIT}}}) -> tensor<{shape}xf32> {{
  {rows}
  %k = stablehlo.concatenate %r, %i, dim = 2 : (tensor<8x5x1xi32>, tensor<8x5x1xi32>) -> tensor<8x5x2xi32>
  %0 = "stablehlo.gather"(%x, %k) <{{dimension_numbers = #stablehlo.gather<{offset}collapsed_slice_dims = {collapsed},
      start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: {sizes}>}}>
    : (tensor<8x16xf32>, tensor<8x5x2xi32>) -> tensor<{shape}xf32>
  return %0 : tensor<{shape}xf32>
}}"""


def scatter(rows: str, body: str = "stablehlo.add %p, %q : tensor<f32>") -> str:
    """`x.at[rows, i].add(u)`."""
    return f"""{MESH}
func.func @main(%x: tensor<8x16xf32> {{{ROWS}}}, %i: tensor<8x5x1xi32> {{{SPLIT}}}, %u: tensor<8x5xf32> {{{ROWS}}}) -> tensor<8x16xf32> {{
  {rows}
  %k = stablehlo.concatenate %r, %i, dim = 2 : (tensor<8x5x1xi32>, tensor<8x5x1xi32>) -> tensor<8x5x2xi32>
  %0 = "stablehlo.scatter"(%x, %k, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}}> ({{
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = {body}
    stablehlo.return %s : tensor<f32>
  }}) : (tensor<8x16xf32>, tensor<8x5x2xi32>, tensor<8x5xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}}"""


def torch_gather(shape: tuple[int, ...], dim: int, split: int) -> str:
    """`torch.gather(x, dim, i)` as torch-xla writes it: an iota for each other dimension."""
    text = "x".join(map(str, shape))
    index = "x".join(
        map(str, (*(5 if d == dim else size for d, size in enumerate(shape)), 1))
    )
    result = index.removesuffix("x1")
    rank = len(shape)
    names = [f"%r{d}" if d != dim else "%i1" for d in range(rank)]
    iotas = "\n".join(
        f"  %r{d} = stablehlo.iota dim = {d} : tensor<{index}xi64>"
        for d in range(rank)
        if d != dim
    )
    axes = ", ".join('{"a", "b"}' if d == split else "{}" for d in range(rank))
    sharding = f"sdy.sharding = #sdy.sharding<@mesh, [{axes}]>"
    every = ", ".join(map(str, range(rank)))
    types = ", ".join([f"tensor<{index}xi64>"] * rank)
    joined = f"tensor<{result}x{rank}xi64>"
    return f"""{MESH}
func.func @main(%x: tensor<{text}xf32> {{{sharding}}}, %i: tensor<{result}xi64> {{{sharding}}}) -> tensor<{result}xf32> {{
  %i1 = stablehlo.reshape %i : (tensor<{result}xi64>) -> tensor<{index}xi64>
{iotas}
  %k = stablehlo.concatenate {", ".join(names)}, dim = {rank} : ({types}) -> {joined}
  %0 = "stablehlo.gather"(%x, %k) <{{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [{every}],
      start_index_map = [{every}], index_vector_dim = {rank}>, slice_sizes = array<i64: {", ".join("1" * rank)}>}}>
    : (tensor<{text}xf32>, {joined}) -> tensor<{result}xf32>
  return %0 : tensor<{result}xf32>
}}"""


def check(text: str) -> int:
    """The bytes that a device sends, once the numbers are those of one device.

    Some indices lie outside, on both sides.
    """
    module = parse_program(text)
    generator = np.random.default_rng(0)
    arguments: list[np.ndarray] = []
    for argument in entry_function(module).args:
        shape, kind = shape_of(argument), str(element_of(argument))
        arguments.append(
            generator.integers(-3, 20, shape).astype(f"int{kind[1:]}")
            if kind[0] == "i"
            else generator.standard_normal(shape).astype(np.float32)
        )
    expected = run_module(module.clone(), arguments)
    batched = module.clone()
    BatchCountingIndicesPass().apply(make_context(), batched)
    batched.verify()
    np.testing.assert_array_equal(run_module(batched, arguments)[0], expected[0])
    with collect_remarks():
        TTStableHLOPipelinePass(verify_each=True).apply(make_context(), module)
    np.testing.assert_allclose(run_module(module, arguments)[0], expected[0], rtol=1e-5)
    return bytes_sent(module)


@pytest.mark.parametrize("rows", [IOTA, WRAP, CONSTANT, TURNED, CLAMPED, OFFSET])
def test_rows_that_count(rows: str):
    assert check(gather(rows)) == 0
    assert check(gather(rows, collapsed="[1]")) == 0
    assert check(scatter(rows)) == 0
    assert check(scatter(rows, "stablehlo.subtract %q, %q : tensor<f32>")) == 0


@pytest.mark.parametrize("rows", WRONG.values(), ids=WRONG)
def test_rows_that_count_otherwise(rows: str):
    check(gather(rows))
    assert "batching" not in run_passes(gather(rows), "batch-counting-indices")
    check(scatter(rows))
    assert "batching" not in run_passes(scatter(rows), "batch-counting-indices")


@pytest.mark.parametrize(
    ("shape", "dim", "split"),
    [
        ((8, 16), 1, 0),
        ((16, 8), 0, 1),
        ((8, 3, 16), 2, 0),
        ((3, 8, 16), 2, 1),
        ((3, 16, 8), 1, 2),
        ((16, 3, 8), 0, 2),
        ((8, 16, 4), 1, 0),
    ],
)
def test_gather_of_torch(shape: tuple[int, ...], dim: int, split: int):
    assert check(torch_gather(shape, dim, split)) == 0
