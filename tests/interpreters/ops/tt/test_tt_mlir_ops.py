"""Forms that tt-mlir writes and our lowerings do not: read, verified and run."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.interpreters.kernels import random
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import parse_program, program_text

RNG = np.random.default_rng(3)
LAYOUT = "#ttnn.ttnn_layout<() -> (0, 0), <1x1>, memref<1x1xf32, #dram>, <interleaved>>"


def ran(text: str, *inputs: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """What a program computes, which is read, printed and read again."""
    return run_module(parse_program(program_text(parse_program(text))), inputs)


def rounding(left: str, right: str, result: str) -> str:
    """A division whose tensors have layouts."""
    one, two, made = (f"tensor<{type}, {LAYOUT}>" for type in (left, right, result))
    return f"""
    func.func @main(%a: {one}, %b: {two}) -> {made} {{
      %0 = "ttnn.divide"(%a, %b) : ({one}, {two}) -> {made}
      return %0 : {made}
    }}
    """


def test_a_result_with_a_layout_may_be_rounded():
    a, b = np.array(1, np.float32), np.array(3, np.float32)
    (found,) = ran(rounding("f32", "f32", "bf16"), a, b)
    assert found == (a / b).astype(ml_dtypes.bfloat16)


@pytest.mark.parametrize(
    "types", [("f32", "bf16", "f32"), ("f32", "f32", "si32"), ("si32", "si32", "bf16")]
)
def test_all_else_has_one_type(types: tuple[str, str, str]):
    with pytest.raises(CompileError, match="element types must be the same"):
        parse_program(rounding(*types))


def loop(properties: str) -> str:
    types = "tensor<i32>, tensor<2xf32>, tensor<2xf32>"
    return f"""
    func.func @main(%i: tensor<i32>, %x: tensor<2xf32>, %c: tensor<2xf32>) -> tensor<2xf32> {{
      %0:2 = "ttcore.while_loop"(%i, %x, %c) <{{body_program = @body,
        output_indices = array<i32: 0, 1>, state_count = 2 : i32, {properties}}}>
        : ({types}) -> (tensor<i32>, tensor<2xf32>)
      return %0#1 : tensor<2xf32>
    }}
    func.func private @body(%i: tensor<i32>, %x: tensor<2xf32>, %c: tensor<2xf32>)
        -> (tensor<i32>, tensor<2xf32>) {{
      %0 = "ttir.add"(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      return %i, %0 : tensor<i32>, tensor<2xf32>
    }}
    """


@pytest.mark.parametrize(
    ("initial", "limit", "step", "turns"),
    [(0, 3, 1, 3), (2, 7, 2, 3), (-4, 0, 4, 1), (3, 3, 1, 0), (5, 1, 1, 0)],
)
def test_a_counted_loop(initial: int, limit: int, step: int, turns: int):
    bounds = {"initial": initial, "limit": limit, "step": step}
    said = ", ".join(f"{at} = #ttcore.loop_bound<{n}>" for at, n in bounds.items())
    x, c = np.array([1, 2], np.float32), np.array([10, 20], np.float32)
    (found,) = ran(loop(said), np.array(0, np.int32), x, c)
    np.testing.assert_array_equal(found, x + turns * c)


ONE = "#ttcore.loop_bound<1>"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (f"initial = {ONE}, limit = {ONE}", "has a condition_program, or initial"),
        (f"condition_program = @body, step = {ONE}", "has a condition_program, or"),
        (
            f"initial = {ONE}, limit = {ONE}, step = #ttcore.loop_bound<0>",
            "step is 0, expected positive",
        ),
    ],
)
def test_a_loop_is_counted_or_has_a_condition(said: str, why: str):
    with pytest.raises(CompileError, match=why):
        parse_program(loop(said))


PLAIN = "stride = array<i32: 2, 1, 1>, padding = array<i32: 1, 0, 1>, groups = 1 : i32"


def conv3d(dialect: str, properties: str, image: str, kernel: str, made: str) -> str:
    ops = f"""
      %0 = "{dialect}.conv3d"(%x, %k) <{{{PLAIN}, {properties}}}>
        : (tensor<{image}>, tensor<{kernel}>) -> tensor<{made}>"""
    return f"""
    func.func @main(%x: tensor<{image}>, %k: tensor<{kernel}>) -> tensor<{made}> {{{ops}
      return %0 : tensor<{made}>
    }}
    """


def test_conv3d_says_where_its_dimensions_are():
    x = RNG.normal(size=(2, 5, 4, 6, 4)).astype(np.float32)
    k = RNG.normal(size=(3, 4, 2, 2, 3)).astype(np.float32)
    (wanted,) = ran(
        conv3d("ttir", "dilation = array<i32: 1, 1, 1>", "2x5x4x6x4xf32",
               "3x4x2x2x3xf32", "2x3x3x6x3xf32"),
        x, k,
    )  # fmt: skip
    where = (
        "batch_dim = 0 : i64, channel_dim = 1 : i64, depth_dim = 2 : i64, "
        'height_dim = 3 : i64, width_dim = 4 : i64, padding_mode = "zeros"'
    )
    (found,) = ran(
        conv3d("ttir", where, "2x4x5x4x6xf32", "3x4x2x2x3xf32", "2x3x3x3x6xf32"),
        x.transpose(0, 4, 1, 2, 3),
        k,
    )
    np.testing.assert_allclose(found, wanted.transpose(0, 4, 1, 2, 3), rtol=1e-5)


def test_conv3d_of_a_prepared_weight():
    x = RNG.normal(size=(2, 5, 4, 6, 8)).astype(np.float32)
    k = RNG.normal(size=(3, 6, 2, 2, 3)).astype(np.float32)
    x[..., 6:] = 0
    (wanted,) = ran(
        conv3d("ttir", "dilation = array<i32: 1, 1, 1>", "2x5x4x6x6xf32",
               "3x6x2x2x3xf32", "2x3x3x6x3xf32"),
        x[..., :6], k,
    )  # fmt: skip
    (found,) = ran(
        f"""
        func.func @main(%x: tensor<2x5x4x6x8xf32>, %k: tensor<3x6x2x2x3xf32>)
            -> tensor<2x3x3x6x3xf32> {{
          %d = "ttnn.get_device"() <{{mesh_shape = #ttnn<mesh_shape 1x1>}}> : () -> !ttnn.device
          %0 = "ttnn.prepare_conv3d_weights"(%k, %d) <{{alignment = 8 : i32,
            c_in_block = 4 : i32, groups = 1 : i32}}>
            : (tensor<3x6x2x2x3xf32>, !ttnn.device) -> tensor<96x3xf32>
          %1 = "ttnn.conv3d"(%x, %0, %d) <{{{PLAIN}, in_channels = 8 : i32,
            kernel_size = array<i32: 2, 2, 3>,
            conv3d_config = #ttnn.conv3d_config<c_in_block = 4>}}>
            : (tensor<2x5x4x6x8xf32>, tensor<96x3xf32>, !ttnn.device)
            -> tensor<2x3x3x6x3xf32>
          return %1 : tensor<2x3x3x6x3xf32>
        }}
        """,
        x,
        k,
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_conv3d_pads_with_zeros_only():
    text = conv3d("ttir", 'padding_mode = "replicate"', "2x5x4x6x4xf32",
                  "3x4x2x2x3xf32", "2x3x3x6x3xf32")  # fmt: skip
    with pytest.raises(CompileError, match='padding_mode is "replicate"'):
        parse_program(text)


def bits(properties: str) -> str:
    return f"""
    func.func @main(%s: tensor<2x2xui32>) -> (tensor<2x2xui32>, tensor<5xui32>) {{
      %0, %1 = "ttir.rng_bit_generator"(%s) <{{{properties}}}>
        : (tensor<2x2xui32>) -> (tensor<2x2xui32>, tensor<5xui32>)
      return %0, %1 : tensor<2x2xui32>, tensor<5xui32>
    }}
    """


def test_random_bits_of_a_state_of_halves():
    state = np.array([3, 0xFFFF_FFFF_FFFF_FFFF], np.uint64)
    halves = state.view(np.uint32).reshape(2, 2)
    following, wanted = random.bit_generator("PHILOX", state, (5,), np.dtype("u4"))
    after, found = ran(bits("philox = true"), halves)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(after.view(np.uint64)[:, 0], following)


def test_random_bits_that_are_the_devices_choice():
    with pytest.raises(InterpretationError, match="the device's choice"):
        ran(bits("philox = false"), np.zeros((2, 2), np.uint32))


def test_random_bits_by_two_names():
    both = "philox = true, rng_algorithm = #stablehlo<rng_algorithm PHILOX>"
    with pytest.raises(CompileError, match="give one of them"):
        parse_program(bits(both))
    with pytest.raises(CompileError, match="rng_algorithm"):
        parse_program(bits(""))
