"""Ops that move, sort, gather and scatter elements, against JAX on the CPU."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import ttxdsl
from tests.interpreters.arrays import BF16, BOOL, C64, F16, F32, F64, I8, I32, U8, array
from tests.interpreters.reference import body, same_as_jax, same_as_xla

pytestmark = pytest.mark.usefixtures("no_warnings")


# data movement


def test_dynamic_shapes():
    text = """(%x: tensor<6xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32> {
      %r = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
      return %r : tensor<?x?xf32>
    }"""
    x = array(6)
    (found,) = body(text, x, np.array([2, 3], np.int32))
    np.testing.assert_array_equal(found, x.reshape(2, 3))


def test_real_dynamic_slice():
    text = """(%x: tensor<6x6xf32>, %a: tensor<2xi32>, %b: tensor<2xi32>, %c: tensor<2xi32>) -> tensor<?x?xf32> {
      %r = stablehlo.real_dynamic_slice %x, %a, %b, %c : (tensor<6x6xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
      return %r : tensor<?x?xf32>
    }"""
    x = array(6, 6)
    bounds = (np.array(b, np.int32) for b in ((1, 0), (5, 6), (2, 3)))
    (found,) = body(text, x, *bounds)
    np.testing.assert_array_equal(found, x[1:5:2, 0:6:3])


# sorting


@pytest.mark.parametrize("dtype", [F32, BF16, F16, F64, I8, I32, U8, BOOL], ids=str)
@pytest.mark.parametrize("axis", [0, 1])
def test_sort(dtype, axis):
    x = array(7, 9, dtype=dtype)
    same_as_jax(lambda x: lax.sort(x, dimension=axis), x)


def test_sort_special_values():
    x = np.array([np.nan, 1, -0.0, 0.0, -np.inf, np.inf, -1, np.nan, 0.0], np.float32)
    found = same_as_jax(lambda x: lax.sort(x), x)
    assert np.isnan(found[0][-2:]).all()
    index = np.arange(9)
    same_as_jax(lambda x, i: lax.sort((x, i), num_keys=1), x, index)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5, 8, 17, 100])
@pytest.mark.parametrize("keys", [1, 2, 3])
def test_sort_by_several_keys(keys, size):
    a = array(2, size, dtype=I32)
    b = array(2, size, seed=1)
    c = np.broadcast_to(np.arange(size), (2, size)).copy()
    same_as_jax(lambda *x: lax.sort(x, dimension=1, num_keys=keys), a, b, c)


def test_sort_downwards_is_stable():
    text = """(%a: tensor<6xi32>, %b: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>) {
      %r:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>, %u: tensor<i32>, %v: tensor<i32>):
        %p = stablehlo.compare GT, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }) : (tensor<6xi32>, tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>)
      return %r#0, %r#1 : tensor<6xi32>, tensor<6xi32>
    }"""
    a = np.array([1, 2, 1, 2, 3, 1], np.int32)
    same_as_xla(text, a, np.arange(6, dtype=np.int32))


@pytest.mark.parametrize("direction", ["LE", "GE"])
def test_a_comparator_that_puts_equal_elements_before_each_other(direction):
    """They stay in their order, as with LT and GT, in every form of the program."""
    text = f"""func.func @main(%a: tensor<7xi32>, %b: tensor<7xi32>) -> (tensor<7xi32>, tensor<7xi32>) {{
      %r:2 = "stablehlo.sort"(%a, %b) <{{dimension = 0 : i64, is_stable = true}}> ({{
      ^bb0(%x: tensor<i32>, %y: tensor<i32>, %u: tensor<i32>, %v: tensor<i32>):
        %p = stablehlo.compare {direction}, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }}) : (tensor<7xi32>, tensor<7xi32>) -> (tensor<7xi32>, tensor<7xi32>)
      return %r#0, %r#1 : tensor<7xi32>, tensor<7xi32>
    }}"""
    a = np.array([1, 2, 1, 2, 3, 1, 2], np.int32)
    order = np.argsort(a if direction == "LE" else -a, kind="stable")
    program = ttxdsl.load(text)
    for form in (program, program.lower("ttnn")):
        keys, places = form.simulate(a, np.arange(7, dtype=np.int32))
        np.testing.assert_array_equal(keys, a[order])
        np.testing.assert_array_equal(places, order)


@pytest.mark.parametrize("dtype", [F32, BF16, I32, U8], ids=str)
def test_top_k(dtype):
    x = array(4, 9, dtype=dtype)
    if dtype == F32:
        x[1, 3], x[2, 2] = np.nan, np.inf
    same_as_jax(lambda x: lax.top_k(x, 4), x)


# gather and scatter


@pytest.mark.parametrize("mode", ["clip", "fill", "promise_in_bounds"])
@pytest.mark.parametrize("dtype", [F32, BF16, I32, BOOL, C64], ids=str)
def test_take(mode, dtype):
    x = array(5, 6, 4, dtype=dtype)
    index = np.array([[0, 4], [2, 1]])
    if mode != "promise_in_bounds":
        index = np.array([[0, 9], [-1, -7]])
    for axis in (0, 1, 2):
        same_as_jax(
            lambda x, i, a=axis: jnp.moveaxis(x, a, 0).at[i].get(mode=mode), x, index
        )


def test_gather_forms():
    x = array(5, 6, 4)
    i, j = np.array([[0, 1, 4], [3, 2, 2]]), np.array([5, 0, 2])
    same_as_jax(lambda x, i, j: x[i, j], x, i, j)
    same_as_jax(lambda x, i, j: x[i, :, j % 4], x, i, j)
    same_as_jax(
        lambda x, i: jnp.take_along_axis(x, i, axis=0), x, np.zeros((2, 6, 4), int)
    )
    same_as_jax(
        jax.vmap(lambda x, i: lax.dynamic_slice(x, (i, 1), (2, 3))),
        x,
        np.array([0, 4, 9, -5, 2]),
    )
    same_as_jax(
        lambda x, i: lax.gather(
            x,
            i,
            lax.GatherDimensionNumbers((1, 2), (0,), (0, 2)),
            (1, 3, 2),
            mode="clip",
        ),
        x,
        np.array([[0, 0], [4, 2], [7, 3], [-1, 1]]),
    )


@pytest.mark.parametrize("name", ["set", "add", "mul", "min", "max", "apply"])
@pytest.mark.parametrize("dtype", [F32, BF16, I32], ids=str)
def test_scatter(name, dtype):
    x = array(5, 6, dtype=dtype)
    index = np.array([0, 3, 3, 9, -1, 2])
    update = array(6, 6, dtype=dtype, seed=1)
    if name == "set":
        # which of several updates stays is not said
        index = np.array([0, 3, 1, 9, -1, 2])
    if name == "apply":
        same_as_jax(lambda x, i: x.at[i].apply(lambda v: v * 2), x, np.array([0, 3, 9]))
        return
    same_as_jax(
        lambda x, i, u: getattr(x.at[i], name)(u), x, index, update, reduction_length=4
    )


def test_scatter_forms():
    x = array(5, 6, 4)
    i, j = np.array([0, 1, 4, 1]), np.array([5, 0, 2, 0])
    same_as_jax(lambda x, i, j, u: x.at[i, j].add(u), x, i, j, array(4, 4, seed=1))
    same_as_jax(lambda x, i, u: x.at[:, i].add(u), x, i, array(5, 4, 4, seed=1))
    same_as_jax(
        jax.vmap(lambda x, i, u: x.at[i].set(u)),
        x,
        np.array([0, 5, 2, 9, 1]),
        array(5, 4, seed=2),
    )
    same_as_jax(
        jax.grad(lambda x, i: (x[i] ** 2).sum()), x, np.array([[0, 0, 0], [4, 1, 0]])
    )
    same_as_jax(
        jax.vmap(lambda x, u, i: lax.dynamic_update_slice(x, u, (i, 1))),
        x,
        array(5, 2, 3, seed=3),
        np.array([0, 4, 9, -5, 2]),
    )


def test_scatter_with_any_body():
    text = """(%x: tensor<3xf32>, %i: tensor<5x1xi32>, %u: tensor<5xf32>) -> tensor<3xf32> {
      %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %h = stablehlo.constant dense<0.5> : tensor<f32>
        %c = stablehlo.multiply %a, %h : tensor<f32>
        %s = stablehlo.add %c, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<3xf32>, tensor<5x1xi32>, tensor<5xf32>) -> tensor<3xf32>
      return %r : tensor<3xf32>
    }"""
    index = np.array([[0], [2], [0], [5], [0]], np.int32)
    same_as_xla(text, array(3), index, array(5, seed=1))
