"""Loops, branches, maps and norms against JAX on the CPU."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from jax import lax

import ttxdsl
from tests.interpreters.arrays import (
    array,
)
from tests.interpreters.rank_programs import COLUMNS, LINES, loop_of_sums
from tests.interpreters.reference import (
    same_as_jax,
    same_as_xla,
)
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.program import Form

pytestmark = pytest.mark.usefixtures("no_warnings")


# control flow


def test_while_if_case_map():
    same_as_jax(lambda n: lax.fori_loop(0, n, lambda i, x: x * 2 + i, 1), np.int32(7))
    same_as_jax(
        lambda x: lax.while_loop(lambda x: x < 100, lambda x: x * 3, x), np.float32(2)
    )
    for value in (True, False):
        same_as_jax(
            lambda p, x: lax.cond(p, lambda x: x + 1, lambda x: x * 2, x),
            np.array(value),
            array(3),
        )
    for index in (-1, 0, 1, 2, 5):
        same_as_jax(
            lambda i, x: lax.switch(i, [lambda x: x, lambda x: -x, lambda x: x * x], x),
            np.int32(index),
            array(3),
        )
    same_as_jax(
        lambda x: lax.map(lambda r: r.sum() + r, x), array(4, 3), reduction_length=3
    )
    same_as_jax(
        lambda x: lax.scan(lambda c, r: (c + r, c * r), np.zeros(3, np.float32), x),
        array(4, 3),
    )


def test_while_whose_condition_differs_by_element():
    same_as_jax(
        jax.vmap(lambda x: lax.while_loop(lambda x: x < 100, lambda x: x * 3, x)),
        np.array([1, 200, 5, 99], np.float32),
    )


@pytest.mark.parametrize("form", ["stablehlo", "ttir", "ttnn"])
def test_a_loop_that_some_devices_end_before_others(form: Form):
    """A sum among those that end it together; an error among others, which would wait."""
    x = array(16, 32)
    lines, columns = (ttxdsl.load(loop_of_sums(g)) for g in (LINES, COLUMNS))
    if form != "stablehlo":
        lines, columns = lines.lower(form), columns.lower(form)
    (result,) = lines.simulate(x)
    rows = x.reshape(2, 8, 4, 8)
    for line, turns in enumerate((4, 2)):
        summed = rows[line].sum(1, keepdims=True) * 4.0 ** (turns - 1) + 4
        shown = result.reshape(2, 8, 4, 8)[line]
        np.testing.assert_allclose(
            shown, np.broadcast_to(summed, shown.shape), rtol=1e-4
        )
    with pytest.raises(CompileError, match="wait for the others forever"):
        columns.simulate(x)


def test_a_loop_in_a_branch_that_some_devices_take():
    """A loop inside ends when those end that run it."""
    text = """
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>]
          out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<2xf32>) {
        %id = stablehlo.partition_id : tensor<ui32>
        %one = stablehlo.constant dense<1> : tensor<ui32>
        %p = stablehlo.compare EQ, %id, %one : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
        %n = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
        %step = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f32>) -> tensor<2xf32>
        %r = "stablehlo.if"(%p) ({
          %w = stablehlo.while(%y = %a) : tensor<2xf32>
          cond {
            %end = stablehlo.constant dense<9.0> : tensor<f32>
            %zero = stablehlo.constant dense<0.0> : tensor<f32>
            %most = stablehlo.reduce(%y init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
            %go = stablehlo.compare LT, %most, %end : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %go : tensor<i1>
          } do {
            %z = stablehlo.add %y, %step : tensor<2xf32>
            stablehlo.return %z : tensor<2xf32>
          }
          stablehlo.return %w : tensor<2xf32>
        }, {
          stablehlo.return %a : tensor<2xf32>
        }) : (tensor<i1>) -> tensor<2xf32>
        sdy.return %r : tensor<2xf32>
      } : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    x = np.array([1, 2, 3, 4], np.float32)
    (result,) = ttxdsl.load(text).simulate(x, max_steps=9)
    # the first device, which adds nothing, would never end
    np.testing.assert_array_equal(result, [1, 2, 8, 9])


def test_map_op():
    text = """(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %r = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %p = stablehlo.compare GT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %s = stablehlo.select %p, %x, %y : tensor<i1>, tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      return %r : tensor<2x3xf32>
    }"""
    same_as_xla(text, array(2, 3), array(2, 3, seed=1))


@pytest.mark.parametrize("feature", [0, 1, 2])
def test_batch_norm(feature):
    x = array(3, 4, 5)
    n = x.shape[feature]
    vectors = [array(n, seed=s) for s in (1, 2, 3)] + [np.abs(array(n, seed=4)) + 0.5]
    v = f"tensor<{n}xf32>"
    t = "tensor<3x4x5xf32>"
    said = f"epsilon = 0.001 : f32, feature_index = {feature} : i64"
    text = f"""(%x: {t}, %s: {v}, %o: {v}, %m: {v}, %v: {v}) -> {t} {{
      %r = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) <{{{said}}}> : ({t}, {v}, {v}, {v}, {v}) -> {t}
      return %r : {t}
    }}"""
    same_as_xla(text, x, *vectors, rtol=1e-5)
    text = f"""(%x: {t}, %s: {v}, %o: {v}) -> ({t}, {v}, {v}) {{
      %r:3 = "stablehlo.batch_norm_training"(%x, %s, %o) <{{{said}}}> : ({t}, {v}, {v}) -> ({t}, {v}, {v})
      return %r#0, %r#1, %r#2 : {t}, {v}, {v}
    }}"""
    same_as_xla(text, x, *vectors[:2], rtol=1e-4)
    text = f"""(%x: {t}, %s: {v}, %m: {v}, %v: {v}, %g: {t}) -> ({t}, {v}, {v}) {{
      %r:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) <{{{said}}}> : ({t}, {v}, {v}, {v}, {t}) -> ({t}, {v}, {v})
      return %r#0, %r#1, %r#2 : {t}, {v}, {v}
    }}"""
    scale, _, mean, variance = vectors
    same_as_xla(text, x, scale, mean, variance, array(3, 4, 5, seed=9), rtol=1e-4)


def test_a_body_of_as_many_dimensions_as_the_mesh_has_axes():
    """Numbers of a body have elements in front, eight by six of them, and no devices."""
    text = """
    sdy.mesh @mesh = <["a"=2, "b"=2]>
    func.func @main(%y: tensor<8xi64> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> (tensor<8xi64>, tensor<8xi64>) {
      %c = stablehlo.iota dim = 1 : tensor<8x12xi64>
      %i = stablehlo.constant dense<-1> : tensor<i64>
      %0 = "stablehlo.reduce"(%c, %i) <{dimensions = array<i64: 1>}> ({
      ^bb0(%p: tensor<i64>, %q: tensor<i64>):
        %1 = stablehlo.and %p, %p : tensor<i64>
        stablehlo.return %1 : tensor<i64>
      }) : (tensor<8x12xi64>, tensor<i64>) -> tensor<8xi64>
      return %0, %y : tensor<8xi64>, tensor<8xi64>
    }"""
    program = ttxdsl.load(text)
    y = np.zeros(8, np.int64)
    wanted = program.simulate(y)[0]
    np.testing.assert_array_equal(program.partition().simulate(y)[0], wanted)
