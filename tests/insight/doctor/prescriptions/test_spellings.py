"""Other spellings compute the same numbers, and what is said of them is measured."""

from __future__ import annotations

import numpy as np
import pytest

import ttxdsl
from tests.insight.doctor.prescriptions.test_prescribe import (
    applied,
    candidates,
    compiled,
    search,
)

GATED = """\
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(%x: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) -> tensor<256x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x64xf32>, tensor<64x128xf32>) -> tensor<256x128xf32>
  %1 = stablehlo.slice %0 [0:256, 0:64] : (tensor<256x128xf32>) -> tensor<256x64xf32>
  %2 = stablehlo.slice %0 [0:256, 64:128] : (tensor<256x128xf32>) -> tensor<256x64xf32>
  %3 = stablehlo.logistic %1 : tensor<256x64xf32>
  %4 = stablehlo.multiply %3, %2 : tensor<256x64xf32>
  return %4 : tensor<256x64xf32>
}
"""


def test_a_fused_gate_is_two_products():
    (spelling,) = [one for one in candidates(GATED) if one.kind == "spelling"]
    assert spelling.write.split("\n")[1:] == [
        "y0 = dot(a, b[:, 0:64])",
        "y1 = dot(a, b[:, 64:128])",
    ]
    before, after = compiled(GATED), compiled(applied(GATED, [spelling]))
    assert after.bytes < before.bytes


@pytest.mark.parametrize(
    "product",
    [
        (
            "%x, %w, contracting_dims = [1] x [0]"
            " : (tensor<256x64xf32>, tensor<64x128xf32>)"
        ),
        (
            "%w, %x, contracting_dims = [0] x [1]"
            " : (tensor<64x128xf32>, tensor<256x64xf32>)"
        ),
    ],
)
def test_the_numbers_are_the_same_on_the_mesh(product: str):
    text = GATED
    if product.startswith("%w"):
        start, rest = GATED.split("%x, %w, contracting_dims = [1] x [0]")
        rest = rest.split("\n", 1)[1]
        text = (
            start
            + product
            + " -> tensor<128x256xf32>\n"
            + rest.replace("[0:256, 0:64]", "[0:64, 0:256]")
            .replace("[0:256, 64:128]", "[64:128, 0:256]")
            .replace("256x128", "128x256")
            .replace("256x64", "64x256")
        )
        text = text.replace("-> tensor<256x64xf32> {", "-> tensor<64x256xf32> {")
    (spelling,) = [one for one in candidates(text) if one.kind == "spelling"]
    program = ttxdsl.load(text)
    inputs = program.random_inputs(0)
    other = ttxdsl.load(applied(text, [spelling]))
    for mine, theirs in zip(
        other.partition().interpret(*inputs).results,
        program.interpret(*inputs).results,
        strict=True,
    ):
        np.testing.assert_allclose(np.asarray(mine), np.asarray(theirs), rtol=1e-5)


def test_a_product_that_is_used_whole_stays():
    text = GATED.replace("multiply %3, %2", "multiply %3, %1").replace(
        "  %2 = stablehlo.slice %0 [0:256, 64:128] : (tensor<256x128xf32>) -> tensor<256x64xf32>\n",
        "",
    )
    assert not [one for one in candidates(text) if one.kind == "spelling"]


def test_it_is_prescribed():
    answer = search(GATED, 60)
    everything = [*answer.prescriptions, *answer.tried]
    assert any(one.kind == "spelling" for one in everything)
