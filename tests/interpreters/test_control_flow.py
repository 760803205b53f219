"""Loops, branches, maps and norms against JAX on the CPU."""

import numpy as np
import pytest

import ttxdsl
from tests.interpreters.arrays import array
from tests.interpreters.rank_programs import COLUMNS, LINES, loop_of_sums
from tests.interpreters.reference import same_as_xla
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.program import Form

pytestmark = pytest.mark.usefixtures("no_warnings")


# control flow


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
