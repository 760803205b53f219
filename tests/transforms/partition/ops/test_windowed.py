"""Windows of split space: what crosses is sent, gradients of kernels are partial sums."""

import pytest

from tests.differential.partitioning import EQUAL, partition_and_compare
from ttxdsl.loading.program import parse_program
from ttxdsl.transforms.collectives.program.bytes_sent import bytes_sent

WHOLE = 2 * (4 - 1) * 15 * 4 // 4
"""Bytes of an all_reduce of one row of the kernel, 3x5 floats, over four devices."""

ELEMENT = 2 * 3 * 4
"""Bytes of one place of all images, 2x3 floats."""


def kernel_gradient(
    size: int,
    places: int,
    rows: int,
    *,
    pad: tuple[int, int] = (0, 0),
    stride: int = 1,
    dilation: int = 1,
    base: int = 1,
    reverse: bool = False,
    result: str = "{}, {}, {}",
) -> str:
    """The gradient of a kernel of some rows; input and cotangent are split along space."""
    split = 'sdy.sharding = #sdy.sharding<@mesh, [{}, {"h"}, {}]>'
    out = f"tensor<{rows}x3x5xf32>"
    return f"""
sdy.mesh @mesh = <["h"=4]>
func.func @main(%x: tensor<2x{size}x3xf32> {{{split}}}, %ct: tensor<2x{places}x5xf32> {{{split}}})
    -> ({out} {{sdy.sharding = #sdy.sharding<@mesh, [{result}]>}}) {{
  %0 = stablehlo.convolution(%x, %ct) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f],
      window = {{stride = [{stride}], pad = [[{pad[0]}, {pad[1]}]], lhs_dilate = [{base}],
                rhs_dilate = [{dilation}], reverse = [{str(reverse).lower()}]}}
      {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
      : (tensor<2x{size}x3xf32>, tensor<2x{places}x5xf32>) -> {out}
  return %0 : {out}
}}"""


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        (kernel_gradient(32, 32, 1), WHOLE),
        # a row from either neighbour, then one more
        (kernel_gradient(32, 32, 3, pad=(1, 1)), 3 * WHOLE + 2 * ELEMENT),
        (kernel_gradient(32, 32, 5, pad=(2, 2)), 5 * WHOLE + 4 * ELEMENT),
        # a causal kernel reads what is before
        (kernel_gradient(32, 32, 4, pad=(3, 0)), 4 * WHOLE + 3 * ELEMENT),
        # the convolution had a stride, its kernel was dilated, its input spread
        (kernel_gradient(32, 16, 3, pad=(0, 1), dilation=2), 3 * WHOLE + ELEMENT),
        (kernel_gradient(32, 16, 2, dilation=2), 2 * WHOLE),
        (kernel_gradient(32, 32, 3, pad=(2, 2), stride=2), 3 * WHOLE + 4 * ELEMENT),
        (kernel_gradient(16, 32, 3, pad=(1, 2), base=2), 3 * WHOLE + ELEMENT),
        # sums that shall be split are scattered
        (kernel_gradient(32, 32, 4, pad=(3, 0), result='{"h"}, {}, {}'), 2 * WHOLE + 3 * ELEMENT),
    ],
)  # fmt: skip
def test_the_gradient_of_a_kernel(text: str, sent: int):
    module = parse_program(text)
    assert partition_and_compare(module, 0)[0] == EQUAL
    assert bytes_sent(module) == sent


@pytest.mark.parametrize("kernel", [3, 4, 5, 8])
@pytest.mark.parametrize("stride", [1, 2, 9])
def test_windows_that_read_less_than_all(kernel: int, stride: int):
    """Fewer windows than places need not read every element of a split dimension."""
    count = (8 - kernel) // stride + 1
    text = f"""sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<1x8x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"x"}}, {{}}]>}},
    %k: tensor<{kernel}x4x4xf32>) -> tensor<1x{count}x4xf32> {{
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {{stride = [{stride}]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
    : (tensor<1x8x4xf32>, tensor<{kernel}x4x4xf32>) -> tensor<1x{count}x4xf32>
  return %0 : tensor<1x{count}x4xf32>
}}"""
    assert partition_and_compare(parse_program(text), 0)[0] == EQUAL


@pytest.mark.parametrize(
    ("mesh", "axes", "result", "size", "places"),
    [
        # pairs of devices share a place of each, neighbours send the third
        ('"d"=8', '"d"', '"d":(1)4', 8, 1 + 1),
        ('"a"=2, "b"=4', '"a", "b"', '"a", "b":(1)2', 8, 1 + 1),
        # then of four windows every device gets those of the others
        ('"d"=8', '"d"', "", 8, 1 + 1 + 3),
        ('"d"=8', '"d"', '"d"', 16, 1),
        # whole axes of which the result has the first
        ('"a"=2, "b"=4', '"a", "b"', '"a"', 8, 1 + 1 + 1),
    ],
)
def test_fewer_windows_than_devices(
    mesh: str, axes: str, result: str, size: int, places: int
):
    shape, out = f"tensor<2x{size}x3xf32>", f"tensor<2x{size // 2}x3xf32>"
    text = f"""
sdy.mesh @mesh = <[{mesh}]>
func.func @main(
    %x: {shape} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{{axes}}}, {{}}]>}},
    %k: tensor<3x3x3xf32>)
    -> ({out} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{{result}}}, {{}}]>}}) {{
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
      window = {{stride = [2], pad = [[0, 1]]}}
      {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
      : ({shape}, tensor<3x3x3xf32>) -> {out}
  return %0 : {out}
}}"""
    module = parse_program(text)
    assert partition_and_compare(module, 0)[0] == EQUAL
    assert bytes_sent(module) == places * ELEMENT


def windows_of_whole(
    size: int,
    places: int,
    window: int,
    *,
    pad: tuple[int, int] = (0, 0),
    stride: int = 1,
    dilation: int = 1,
    base: int = 1,
    rows: int = 1,
) -> str:
    """A convolution of a value that all devices have, with its result split along space."""
    split = 'sdy.sharding = #sdy.sharding<@mesh, [{}, {"h"}, {}]>'
    out = f"tensor<2x{places}x5xf32>"
    return f"""
sdy.mesh @mesh = <["h"=4, "v"={rows}]>
func.func @main(%x: tensor<2x{size}x3xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}, {{}}]>}},
                %k: tensor<{window}x3x5xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}, {{}}]>}})
    -> ({out} {{{split}}}) {{
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
      window = {{stride = [{stride}], pad = [[{pad[0]}, {pad[1]}]], lhs_dilate = [{base}],
                rhs_dilate = [{dilation}]}}
      {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
      : (tensor<2x{size}x3xf32>, tensor<{window}x3x5xf32>) -> {out}
  return %0 : {out}
}}"""


@pytest.mark.parametrize(
    "text",
    [
        windows_of_whole(32, 32, 1),
        windows_of_whole(32, 32, 3, pad=(1, 1)),
        windows_of_whole(32, 32, 4, pad=(3, 0), rows=2),
        windows_of_whole(32, 32, 11, pad=(5, 5)),
        windows_of_whole(32, 16, 3, pad=(0, 1), stride=2),
        windows_of_whole(32, 32, 3, pad=(2, 2), dilation=2),
        windows_of_whole(16, 32, 3, pad=(1, 2), base=2),
        windows_of_whole(32, 28, 5),
        windows_of_whole(32, 8, 5, pad=(-4, 0), stride=3),
    ],
)
def test_windows_are_cut_from_a_value_that_all_devices_have(text: str):
    module = parse_program(text)
    assert partition_and_compare(module, 0)[0] == EQUAL
    assert bytes_sent(module) == 0
