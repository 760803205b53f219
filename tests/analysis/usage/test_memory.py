"""Bytes at each op, counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

import ttxdsl
from tests.work import calls
from ttxdsl.analysis.usage.memory import MemoryParts, MemoryProfile, memory_profile
from ttxdsl.costs.compilers import TPU
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.program import parse_program


def profile_of(body: str, arguments: str = "%a: tensor<8xf32>") -> MemoryProfile:
    text = f"func.func @main({arguments}) -> tensor<8xf32> {{\n{body}\n}}"
    profile = memory_profile(parse_program(text))
    assert sum(value.bytes for value in profile.peak_values) == profile.peak_bytes
    assert profile.points[profile.peak].bytes == profile.peak_bytes
    return profile


def bytes_at(body: str, arguments: str = "%a: tensor<8xf32>") -> list[int]:
    return [point.bytes for point in profile_of(body, arguments).points]


CHAIN = """
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  %2 = stablehlo.negate %1 : tensor<8xf32>
  return %2 : tensor<8xf32>"""


def test_operands_and_results_of_an_op_are_there_together():
    assert bytes_at(CHAIN) == [64, 96, 96, 64]


@pytest.mark.parametrize("name", ["tf.aliasing_output = 0 : i32", "jax.buffer_donor = true"])  # fmt: skip
def test_a_donated_argument_ends_with_its_last_use(name: str):
    profile = profile_of(CHAIN, f"%a: tensor<8xf32> {{{name}}}")
    assert [point.bytes for point in profile.points] == [64, 64, 64, 32]
    assert (profile.argument_bytes, profile.donated_bytes) == (32, 32)
    assert profile.parts == MemoryParts(32, 32, 32, 32)
    assert profile.parts.total == 64


def test_parts_are_those_of_xla():
    """A constant of different elements is temporary; nothing is aliased by itself."""
    profile = profile_of(
        "%0 = stablehlo.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>\n"
        "%1 = stablehlo.add %a, %0 : tensor<8xf32>\n"
        "return %1 : tensor<8xf32>"
    )
    assert profile.parts == MemoryParts(32, 32, 0, 32)
    assert profile.parts.data()["total"] == profile.parts.total == 96


def test_the_first_of_equal_peaks_and_who_is_there():
    profile = profile_of(CHAIN)
    assert (profile.peak, profile.points[1].op.name) == (1, "stablehlo.negate")
    assert [(v.name, v.bytes, v.kind) for v in profile.peak_values] == [
        ("a", 32, "argument"),
        ("negate", 32, "value"),
        ("negate", 32, "value"),
    ]


def test_a_value_that_nobody_uses_is_there_for_its_op_only():
    body = """
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = stablehlo.abs %a : tensor<8xf32>
  return %1 : tensor<8xf32>"""
    assert bytes_at(body) == [64, 64, 64]


def test_constants_with_different_elements_are_there_throughout():
    body = """
  %0 = stablehlo.negate %a : tensor<8xf32>
  %c = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %s = stablehlo.constant dense<1.0> : tensor<8xf32>
  %1 = stablehlo.add %0, %s : tensor<8xf32>
  return %1 : tensor<8xf32>"""
    profile = profile_of(body)
    assert [point.bytes for point in profile.points] == [80, 80, 112, 144, 80]
    assert profile.constant_bytes == 16


def test_a_reshape_makes_no_buffer():
    body = """
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = stablehlo.reshape %0 : (tensor<8xf32>) -> tensor<2x4xf32>
  %2 = stablehlo.reshape %1 : (tensor<2x4xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>"""
    assert bytes_at(body) == [64, 64, 64, 64]


def test_a_boolean_takes_a_byte_and_small_integers_are_packed():
    body = """
  %0 = stablehlo.constant dense<true> : tensor<8xi1>
  %1 = stablehlo.constant dense<1> : tensor<8xi4>
  %2 = stablehlo.negate %a : tensor<8xf32>
  return %2 : tensor<8xf32>"""
    assert bytes_at(body) == [40, 36, 64, 64]


LOOP = """
  %n = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1:2 = stablehlo.while(%i = %n, %x = %0) : tensor<i32>, tensor<8xf32>
  cond {
    %z = stablehlo.constant dense<0> : tensor<i32>
    %p = stablehlo.compare GT, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %o = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.subtract %i, %o : tensor<i32>
    %y = stablehlo.negate %x : tensor<8xf32>
    %w = stablehlo.add %y, %a : tensor<8xf32>
    stablehlo.return %j, %w : tensor<i32>, tensor<8xf32>
  }
  return %1#1 : tensor<8xf32>"""


def test_a_loop_takes_over_its_operands_and_adds_its_body():
    # the state is what %n and %0 were; in the body %j, then %y and %w
    profile = profile_of(LOOP)
    assert [point.bytes for point in profile.points] == [36, 68, 68 + 68, 64]
    assert profile.points[2].inside == 68
    names = [value.name for value in profile.peak_values]
    assert names == ["a", "negate", "negate", "add", "constant", "subtract"]


def test_a_loop_copies_what_somebody_needs_afterwards():
    body = LOOP.replace("return %1#1", "%2 = stablehlo.add %0, %1#1 : tensor<8xf32>\n  return %2")  # fmt: skip
    assert bytes_at(body)[2] == 68 + 32 + 68


def test_a_branch_costs_its_larger_side():
    body = """
  %c = stablehlo.constant dense<true> : tensor<i1>
  %0 = "stablehlo.if"(%c) ({
    %1 = stablehlo.negate %a : tensor<8xf32>
    %2 = stablehlo.negate %1 : tensor<8xf32>
    stablehlo.return %2 : tensor<8xf32>
  }, {
    stablehlo.return %a : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %0 : tensor<8xf32>"""
    assert bytes_at(body) == [33, 33 + 64, 64]


def test_functions_of_elements_add_nothing():
    body = """
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>"""
    assert bytes_at(body) == [36, 40, 68, 64]


def test_a_call_costs_what_its_function_does():
    text = f"""
func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {{ {CHAIN}
}}
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {{
  %0 = func.call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}}"""
    profile = memory_profile(parse_program(text))
    assert [point.bytes for point in profile.points] == [32 + 64, 64]


SHARDED = """\
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, jax.buffer_donor = true}, %b: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.negate %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
"""


def test_per_device_and_global():
    program = ttxdsl.load(SHARDED)
    whole = memory_profile(program.module)
    part = memory_profile(program.partition().module)
    assert [point.bytes for point in whole.points] == [512, 640, 384]
    assert [point.bytes for point in part.points] == [64 + 128 + 128, 384, 256]
    assert (whole.argument_bytes, part.argument_bytes) == (256, 192)
    assert (whole.result_bytes, part.result_bytes) == (256, 128)
    assert part.donated_bytes == 64
    arguments = [v for v in memory_profile(program.partition().module).peak_values if v.kind == "argument"]  # fmt: skip
    assert [(v.name, v.type) for v in arguments] == [("b", "tensor<4x8xf32>")]


def test_several_manual_computations_are_one_program():
    text = """\
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32>, %unused: tensor<2xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<4xf32>) {
    %1 = stablehlo.negate %b : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %2 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%c: tensor<4xf32>) {
    %3 = stablehlo.negate %c : tensor<4xf32>
    sdy.return %3 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
"""
    profile = memory_profile(parse_program(text))
    assert [point.bytes for point in profile.points] == [40, 56, 40]


def test_names_of_jax_arguments():
    profile = profile_of(CHAIN, "%a: tensor<8xf32> loc(\"params['w']\")")
    assert profile.peak_values[0].name == "params['w']"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> { return %a : tensor<?xf32> }",
            "its shape is not static",
        ),
        (
            "func.func @f() { return }\nfunc.func @g() { return }",
            "no function @main, and the public functions are: @f, @g",
        ),
        (
            "func.func @main(%a: memref<2xf32>) { return }",
            "the memory of a value of type memref<2xf32> is not known",
        ),
    ],
)
def test_what_cannot_be_counted(text: str, message: str):
    with pytest.raises(CompileError) as raised:
        memory_profile(parse_program(text))
    assert message in str(raised.value)


def test_work_is_linear():
    def work(count: int) -> int:
        lines = [
            f"  %{at + 1} = stablehlo.negate %{at} : tensor<8xf32>"
            for at in range(count)
        ]
        text = "\n".join(
            (
                "func.func @main(%0: tensor<8xf32>) -> tensor<8xf32> {",
                *lines,
                f"  return %{count} : tensor<8xf32>",
                "}",
            )
        )
        module = parse_program(text)

        def count_bytes() -> None:
            assert memory_profile(module).peak_bytes == 96

        return calls(count_bytes)

    assert work(4000) < 4.2 * work(1000)


def test_the_peak_inside_a_loop_has_the_line_of_the_op_that_runs_there():
    text = """func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%j = %i, %v = %x) : tensor<i32>, tensor<8x8xf32>
  cond {
    %p = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %a = stablehlo.concatenate %v, %v, dim = 0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
    %b = stablehlo.slice %a [0:8, 0:8] : (tensor<16x8xf32>) -> tensor<8x8xf32>
    stablehlo.return %j, %b : tensor<i32>, tensor<8x8xf32>
  }
  return %0#1 : tensor<8x8xf32>
}"""
    profile = memory_profile(parse_program(text))
    assert profile.peak_position is not None
    assert ":10:" in profile.peak_position


STACK = "tensor<4x256x256xf32>"


@pytest.mark.parametrize("donated", [False, True])
def test_a_stack_that_a_loop_fills_is_the_output(donated: bool, tmp_path: Path):
    given = (
        "{sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>, jax.buffer_donor = true}"
    )
    (tmp_path / "step.mlir").write_text(f"""
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: {STACK} {given if donated else ""}) -> {STACK} {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %empty = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> {STACK}
  %0:3 = stablehlo.while(%i = %zero, %xs = %x, %ys = %empty) : tensor<i32>, {STACK}, {STACK}
  cond {{
    %p = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %1 = stablehlo.dynamic_slice %xs, %i, %zero, %zero, sizes = [1, 256, 256] : ({STACK}, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x256xf32>
    %2 = stablehlo.negate %1 : tensor<1x256x256xf32>
    %3 = stablehlo.dynamic_update_slice %ys, %2, %i, %zero, %zero : ({STACK}, tensor<1x256x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> {STACK}
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %xs, %3 : tensor<i32>, {STACK}, {STACK}
  }}
  return %0#2 : {STACK}
}}
""")
    module = ttxdsl.load(tmp_path / "step.mlir").partition().module
    profile = memory_profile(module, compiler=TPU)
    size = 4 * 256 * 256 * 4
    # donated, it is read while the stack is filled, which is copied into its place
    assert size * 2 <= profile.peak_bytes < size * 2.01
    assert profile.result_bytes == size


@pytest.mark.parametrize(
    ("size", "x", "w", "result", "temporary"),
    [
        (4, '{"x"}, {}', '{"x"}, {}', '{"x"}, {}', 64),
        (4, '{"x"}, {}', '{}, {"x"}', '{"x"}, {}', 64),
        (4, '{}, {"x"}', '{"x"}, {}', '{"x"}, {}', 128),
        (4, '{}, {"x"}', '{"x"}, {}', "{}, {}", 128),
        (8, '{}, {"x"}', '{"x"}, {}', '{"x"}, {}', 16),
        (8, '{"x"}, {}', '{"x"}, {}', '{"x"}, {}', 0),
        (16, '{}, {"x"}', '{}, {"x"}', '{}, {"x"}', 0),
    ],
)
def test_windows_of_a_plain_product(
    size: int, x: str, w: str, result: str, temporary: int, tmp_path: Path
):
    """What libtpu 0.0.52 needs beside arguments and results, in MiB."""
    matrix = "tensor<8192x8192xbf16>"
    x, w, result = (
        f"{{sdy.sharding = #sdy.sharding<@m, [{s}]>}}" for s in (x, w, result)
    )
    (tmp_path / "step.mlir").write_text(f"""
sdy.mesh @m = <["x"={size}]>
func.func @main(%x: {matrix} {x}, %w: {matrix} {w}) -> ({matrix} {result}) {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({matrix}, {matrix}) -> {matrix}
  return %0 : {matrix}
}}
""")
    module = ttxdsl.load(tmp_path / "step.mlir").partition().module
    profile = memory_profile(module, compiler=TPU)
    given = profile.argument_bytes + profile.result_bytes
    assert profile.peak_bytes - given == temporary * 2**20


def test_one_donated_argument_is_the_place_of_one_result():
    text = """
    func.func @main(%a: tensor<1048576xf32> {jax.buffer_donor = true}) -> (tensor<1048576xf32>, tensor<1048576xf32>) {
      %0 = stablehlo.negate %a : tensor<1048576xf32>
      %1 = stablehlo.exponential %a : tensor<1048576xf32>
      return %0, %1 : tensor<1048576xf32>, tensor<1048576xf32>
    }
    """
    profile = memory_profile(parse_program(text), compiler=TPU)
    # the first is begun while the argument is read, and copied; the second has its own
    assert profile.peak_bytes == 12 << 20
