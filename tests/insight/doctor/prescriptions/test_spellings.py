"""Other spellings compute the same numbers, and what is said of them is measured."""

from typing import Any

import numpy as np
import pytest

import ttxdsl
from tests.insight.doctor.jax_models import jax, jnp
from tests.insight.doctor.prescriptions.test_prescribe import (
    after,
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


def test_it_is_prescribed():
    answer = search(GATED, on_step=after(4))
    everything = [*answer.prescriptions, *answer.tried]
    assert any(one.kind == "spelling" for one in everything)


def indexed(rows: Any, dim: int = 1) -> str:
    """JAX's program that takes rows along a dimension, which is split."""
    mesh = jax.make_mesh(
        (2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2
    )
    spec = ["model" if at == dim else None for at in range(3)]
    placed = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec))
    x = jax.ShapeDtypeStruct((8, 16, 8), jnp.float32, sharding=placed)

    def take(x: Any) -> Any:
        return jnp.sin(x[(slice(None),) * dim + (rows(),)])

    text: str = jax.jit(take).lower(x).as_text(debug_info=True)
    return text


def respelled(text: str) -> tuple[list[str], str]:
    """The code of the spelling of a program that has one, and the other program."""
    (spelling,) = [one for one in candidates(text) if one.kind == "spelling"]
    return spelling.write.split("\n")[1:], applied(text, [spelling])


@pytest.mark.parametrize(
    ("rows", "dim", "code", "cheaper"),
    [
        (
            lambda: jnp.minimum(jnp.arange(16) + 1, 15),
            1,
            "jnp.concatenate([x[:, 1:16], x[:, 15:16]], axis=1)",
            True,
        ),
        (
            lambda: (jnp.arange(16) + 3) % 16,
            1,
            "jnp.concatenate([x[:, 3:16], x[:, 0:3]], axis=1)",
            True,
        ),
        (lambda: jnp.arange(32) // 2, 1, "jnp.repeat(x[:, 0:16], 2, axis=1)", True),
        (lambda: jnp.arange(4, 12), 1, "x[:, 4:12]", True),
        (lambda: jnp.arange(8) // 4 + 3, 0, "jnp.repeat(x[3:5], 4, axis=0)", False),
    ],
)
def test_rows_that_are_known_are_slices(rows: Any, dim: int, code: str, cheaper: bool):
    text = indexed(rows, dim)
    written, other = respelled(text)
    assert written == [code]
    before, after = compiled(text), compiled(other)
    assert after.bytes < before.bytes if cheaper else after.bytes <= before.bytes
    # the numbers are those of the gather, on the mesh, and those of the printed code
    program = ttxdsl.load(text)
    (x,) = program.random_inputs(0)
    (expected,) = program.interpret(x).results
    (mine,) = ttxdsl.load(other).partition().interpret(x).results
    np.testing.assert_array_equal(np.asarray(mine), np.asarray(expected))
    (taken,) = written
    shown = eval(taken, {"jnp": jnp, "x": jnp.asarray(np.asarray(x))})
    np.testing.assert_allclose(np.sin(shown), np.asarray(expected), rtol=1e-5)


def test_rows_of_a_loop_and_of_a_function_are_known():
    """What JAX moves out of the loop's body is followed there."""
    text = """\
sdy.mesh @mesh = <["x"=4]>
func.func private @next(%i: tensor<8xi32>) -> tensor<8xi32> {
  %one = stablehlo.constant dense<1> : tensor<8xi32>
  %0 = stablehlo.add %i, %one : tensor<8xi32>
  return %0 : tensor<8xi32>
}
func.func public @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %n = func.call @next(%i) : (tensor<8xi32>) -> tensor<8xi32>
  %rows = stablehlo.reshape %n : (tensor<8xi32>) -> tensor<8x1xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %step = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%a = %x, %k = %zero) : tensor<8x4xf32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %k, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %g = "stablehlo.gather"(%a, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<8x1xi32>) -> tensor<8x4xf32>
    %k1 = stablehlo.add %k, %step : tensor<i32>
    stablehlo.return %g, %k1 : tensor<8x4xf32>, tensor<i32>
  }
  return %r#0 : tensor<8x4xf32>
}
"""
    written, other = respelled(text)
    # the last index lies behind the end, where a gather takes the last row
    assert written == ["jnp.concatenate([x[1:8], x[7:8]], axis=0)"]
    program = ttxdsl.load(text)
    (x,) = program.random_inputs(0)
    (expected,) = program.interpret(x).results
    (mine,) = ttxdsl.load(other).partition().interpret(x).results
    np.testing.assert_array_equal(np.asarray(mine), np.asarray(expected))


def test_rows_that_nobody_knows_stay():
    many = indexed(lambda: (jnp.arange(16) * 5) % 16)  # sixteen slices
    assert not [one for one in candidates(many) if one.kind == "spelling"]


def test_known_rows_are_prescribed():
    text = indexed(lambda: (jnp.arange(16) + 3) % 16)
    answer = search(text, on_step=after(4))
    everything = [*answer.prescriptions, *answer.tried]
    (spelling,) = [one for one in everything if one.kind == "spelling"]
    assert spelling.after is not None
    assert spelling.after.bytes < answer.before.bytes
