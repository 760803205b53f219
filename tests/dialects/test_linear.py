"""The ops that say that they are linear are, on integers, which wrap."""

from __future__ import annotations

import re

import numpy as np
import pytest

from ttxdsl.dialects.stablehlo import StableHLO
from ttxdsl.dialects.traits import Linear, ops_with
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import parse_program

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


@pytest.mark.parametrize(("name", "line"), LINES.items())
def test_linear_ops(name: str, line: str):
    (op,) = (op for op in ops_with(Linear, StableHLO) if op.name == f"stablehlo.{name}")
    fact = op.get_trait(Linear)
    assert fact is not None
    names = re.findall(r"%(\w)", line)
    types = {
        "a": A,
        "b": A,
        "s": V,
        "i": V,
        "p": "tensor<4x6xi1>",
        "t": "tensor<6x4xi32>",
    }
    text = ", ".join(f"%{one}: {type_}" for one, type_ in types.items())
    result = line.rpartition("-> ")[2].rpartition(" : ")[2].rpartition(", ")[2]
    module = parse_program(
        f"func.func @main({text}) -> {result} {{\n  %0 = {line}\n  return %0 : {result}\n}}"
    )
    random = np.random.default_rng(0)
    shapes = {"a": (4, 6), "b": (4, 6), "s": (), "i": (), "p": (4, 6), "t": (6, 4)}

    def values() -> dict[str, np.ndarray]:
        made = {
            one: random.integers(-(2**31), 2**31, shape).astype(np.int32)
            for one, shape in shapes.items()
        }
        return {**made, "p": made["p"] > 0, "i": np.array(1, np.int32)}

    linear = names[fact.start : fact.stop]
    groups = [[one] for one in linear] if fact.is_product else [linear]
    for group in groups:
        first, other = values(), values()
        second = {**first, **{one: other[one] for one in group}}
        both = {**first, **{one: first[one] + second[one] for one in group}}
        x, y, sums = (
            run_module(module, list(given.values()))[0]
            for given in (first, second, both)
        )
        np.testing.assert_array_equal(x + y, sums)


def test_all_linear_ops_are_tried():
    known = {op.name.removeprefix("stablehlo.") for op in ops_with(Linear, StableHLO)}
    assert known == {*LINES, *FLOATS}
