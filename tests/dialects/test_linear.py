"""The ops that say that they are linear are, on integers, which wrap."""

from ttxdsl.dialects.stablehlo import StableHLO
from ttxdsl.dialects.traits import Linear, ops_with

A, V = "tensor<4x6xi32>", "tensor<i32>"
LINES = {
    "negate": f"stablehlo.negate %a : {A}",
    "add": f"stablehlo.add %a, %b : {A}",
    "subtract": f"stablehlo.subtract %a, %b : {A}",
    "multiply": f"stablehlo.multiply %a, %b : {A}",
    "select": f"stablehlo.select %p, %a, %b : tensor<4x6xi1>, {A}",
    "broadcast_in_dim": f"stablehlo.broadcast_in_dim %a, dims = [0, 2] : ({A}) -> tensor<4x2x6xi32>",
    "reshape": f"stablehlo.reshape %a : ({A}) -> tensor<8x3xi32>",
    "transpose": f"stablehlo.transpose %a, dims = [1, 0] : ({A}) -> tensor<6x4xi32>",
    "reverse": f"stablehlo.reverse %a, dims = [1] : {A}",
    "slice": f"stablehlo.slice %a [1:3, 0:6:2] : ({A}) -> tensor<2x3xi32>",
    "concatenate": f"stablehlo.concatenate %a, %b, dim = 0 : ({A}, {A}) -> tensor<8x6xi32>",
    "pad": f"stablehlo.pad %a, %s, low = [1, 0], high = [0, 2], interior = [1, 0] : ({A}, {V}) -> tensor<8x8xi32>",
    "dynamic_slice": f"stablehlo.dynamic_slice %a, %i, %i, sizes = [2, 3] : ({A}, {V}, {V}) -> tensor<2x3xi32>",
    "dot_general": f"stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : ({A}, {A}) -> tensor<4x4xi32>",
    "dot": f"stablehlo.dot %a, %t : ({A}, tensor<6x4xi32>) -> tensor<4x4xi32>",
}
FLOATS = {"convolution", "divide", "real", "imag"}
"""Ops of floating-point numbers only, or that are linear on those."""


def test_all_linear_ops_are_tried():
    known = {op.name.removeprefix("stablehlo.") for op in ops_with(Linear, StableHLO)}
    assert known == {*LINES, *FLOATS}
