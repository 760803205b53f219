"""Ops of tt-mlir that are several in one, against what JAX and NumPy compute."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.typing import NDArray

from ttxdsl.conversion.ttir_to_ttnn.convert import convert_ttir_to_ttnn
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import parse_program

Array = NDArray[Any]
RNG = np.random.default_rng(7)


def array(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


def type_of(x: Array) -> str:
    names = {"float32": "f32", "int32": "i32", "bfloat16": "bf16"}
    return f"tensor<{''.join(f'{n}x' for n in x.shape)}{names[x.dtype.name]}>"


def run(op: str, properties: str, result: tuple[int, ...], *inputs: Array) -> Array:
    """What one op makes of its operands."""
    types = [type_of(x) for x in inputs]
    made = type_of(np.zeros(result, np.float32))
    names = [f"%a{at}" for at in range(len(inputs))]
    arguments = ", ".join(f"{n}: {t}" for n, t in zip(names, types, strict=True))
    text = f"""
    func.func @main({arguments}) -> {made} {{
      %0 = "{op}"({", ".join(names)}) <{{{properties}}}> : ({", ".join(types)}) -> {made}
      return %0 : {made}
    }}
    """
    return run_module(parse_program(text), inputs)[0]


def close(found: Array, wanted: Any) -> None:
    np.testing.assert_allclose(found, np.asarray(wanted), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("dialect", ["ttir", "ttnn"])
def test_softmax(dialect: str):
    x = array(3, 5)
    close(
        run(f"{dialect}.softmax", "dimension = 0 : si32", (3, 5), x),
        jax.nn.softmax(x, 0),
    )


@pytest.mark.parametrize("activation", ["relu", "gelu", "silu", "sigmoid", "tanh"])
def test_linear_with_an_activation(activation: str):
    a, b, bias = array(4, 3, 6), array(6, 5), array(5)
    y = run(
        "ttnn.linear",
        f'activation = "{activation}", transpose_a = false, transpose_b = false',
        (4, 3, 5),
        a,
        b,
        bias,
    )
    how = {"gelu": lambda x: jax.nn.gelu(x, approximate=False), "tanh": jnp.tanh}
    close(y, how.get(activation, getattr(jax.nn, activation, None))(a @ b + bias))


def test_linear_transposed_and_broadcast():
    a, b = array(2, 6, 3), array(5, 6)
    y = run("ttnn.linear", "transpose_a = true, transpose_b = true", (2, 3, 5), a, b)
    close(y, np.swapaxes(a, 1, 2) @ b.T)


@pytest.mark.parametrize("dialect", ["ttir", "ttnn"])
def test_norms_over_the_last_dimension(dialect: str):
    x, w, b = array(4, 8), array(8), array(8)
    segments = "operandSegmentSizes = array<i32: 1, 1, 1>"
    spread = np.mean(x**2, -1, keepdims=True)
    said = f"epsilon = 1.0e-3 : f32, {segments}"
    if dialect == "ttir":
        said += ", normalized_shape = array<i64: 8>"
    close(
        run(f"{dialect}.rms_norm", said, (4, 8), x, w, b),
        x / np.sqrt(spread + 1e-3) * w + b,
    )
    centred = x - x.mean(-1, keepdims=True)
    wanted = centred / np.sqrt(x.var(-1, keepdims=True) + 1e-3) * w + b
    close(run(f"{dialect}.layer_norm", said, (4, 8), x, w, b), wanted)


def test_batch_norm_of_channels():
    x, mean, var, w, b = (
        array(2, 3, 4, 4),
        array(3),
        np.abs(array(3)) + 1,
        array(3),
        array(3),
    )
    said = "epsilon = 1.0e-3 : f32"
    parts = f"{said}, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>"
    found = (
        run(
            "ttir.batch_norm_inference",
            f"dimension = 1 : i32, {said}",
            x.shape,
            *(x, w, b, mean, var),
        ),
        run("ttnn.batch_norm_inference", parts, x.shape, x, mean, var, w, b),
    )
    m, v, w, b = (one.reshape(3, 1, 1) for one in (mean, var, w, b))
    for y in found:
        close(y, (x - m) / np.sqrt(v + 1e-3) * w + b)


NORM = """
func.func @main(%x: {t}, %w: {v}, %b: {v}, %m: {v}, %v: {v}) -> {t} {{
  %0 = "ttir.batch_norm_inference"(%x, %w, %b, %m, %v) <{{dimension = {at} : i32,
    epsilon = 1.0e-3 : f32}}> : ({t}, {v}, {v}, {v}, {v}) -> {t}
  return %0 : {t}
}}
"""


def test_ttnn_has_the_operands_of_a_norm_in_its_own_order():
    module = parse_program(
        NORM.format(t="tensor<2x3x4x4xf32>", v="tensor<3xf32>", at=1)
    )
    x, w, b, m, v = array(2, 3, 4, 4), *(np.abs(array(3)) + 1 for _ in range(4))
    (wanted,) = run_module(module, (x, w, b, m, v))
    convert_ttir_to_ttnn(module)
    assert "ttnn.batch_norm_inference" in str(module)
    close(run_module(module, (x, w, b, m, v))[0], wanted)


def test_ttnn_has_the_channels_of_a_norm_in_one_place():
    text = NORM.format(t="tensor<2x4x4x3xf32>", v="tensor<3xf32>", at=3)
    with pytest.raises(UnsupportedError, match="channels in dimension 1"):
        convert_ttir_to_ttnn(parse_program(text))


def test_group_norm_of_the_last_dimension():
    x = array(2, 1, 5, 8)
    said = "num_groups = 4 : i64, epsilon = 1.0e-3 : f32, operandSegmentSizes = array<i32: 1, 0, 0, 0>"
    grouped = x.reshape(2, 1, 5, 4, 2)
    axes = (1, 2, 4)
    wanted = (grouped - grouped.mean(axes, keepdims=True)) / np.sqrt(
        grouped.var(axes, keepdims=True) + 1e-3
    )
    close(run("ttnn.group_norm", said, x.shape, x), wanted.reshape(x.shape))


@pytest.mark.parametrize("causal", [True, False])
def test_attention_where_queries_share_keys(causal: bool):
    q, k, v = array(2, 4, 6, 8), array(2, 2, 6, 8), array(2, 2, 6, 8)
    said = f"is_causal = {str(causal).lower()}, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>"
    y = run("ttnn.scaled_dot_product_attention", said, q.shape, q, k, v)
    places = (jnp.swapaxes(one, 1, 2) for one in (q, k, v))
    wanted = jax.nn.dot_product_attention(*places, is_causal=causal)
    close(y, jnp.swapaxes(wanted, 1, 2))


def test_attention_with_a_mask_and_a_scale():
    q, k, v, mask = (
        array(1, 2, 3, 4),
        array(1, 2, 5, 4),
        array(1, 2, 5, 4),
        array(1, 1, 3, 5),
    )
    said = "is_causal = false, scale = 0.3 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>"
    y = run("ttir.scaled_dot_product_attention", said, q.shape, q, k, v, mask)
    close(
        y, jax.nn.softmax(q @ np.swapaxes(k, -1, -2) * np.float32(0.3) + mask, -1) @ v
    )


def test_a_decoded_token_sees_what_came_before():
    q, k, v = array(1, 2, 4, 8), array(2, 4, 6, 8), array(2, 4, 6, 8)
    place = np.array([2, 4], np.int32)
    said = "is_causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>"
    y = run("ttnn.scaled_dot_product_attention_decode", said, q.shape, q, k, v, place)
    for b, last in enumerate(place):
        keys, values = k[b, :, : last + 1], v[b, :, : last + 1]
        scores = np.einsum("hd,hsd->hs", q[0, b], keys) / np.sqrt(8)
        close(
            y[0, b],
            np.einsum("hs,hsd->hd", np.asarray(jax.nn.softmax(scores, -1)), values),
        )


def test_heads_are_split_and_joined():
    x = array(2, 3, 24)
    joined = run(
        "ttnn.concatenate_heads", "", (2, 3, 8), array_of_heads := array(2, 4, 3, 2)
    )
    np.testing.assert_array_equal(
        joined, np.swapaxes(array_of_heads, 1, 2).reshape(2, 3, 8)
    )
    text = """
    func.func @main(%x: tensor<2x3x24xf32>) -> (tensor<2x4x3x2xf32>, tensor<2x4x2x3xf32>, tensor<2x4x3x2xf32>) {
      %q, %k, %v = "ttir.split_query_key_value_and_split_heads"(%x) <{num_heads = 4 : ui32, transpose_key = true}>
        : (tensor<2x3x24xf32>) -> (tensor<2x4x3x2xf32>, tensor<2x4x2x3xf32>, tensor<2x4x3x2xf32>)
      return %q, %k, %v : tensor<2x4x3x2xf32>, tensor<2x4x2x3xf32>, tensor<2x4x3x2xf32>
    }
    """
    q, k, v = run_module(parse_program(text), [x])
    parts = x.reshape(2, 3, 3, 4, 2)
    np.testing.assert_array_equal(q, np.swapaxes(parts[:, :, 0], 1, 2))
    np.testing.assert_array_equal(k, np.transpose(parts[:, :, 1], (0, 2, 3, 1)))
    np.testing.assert_array_equal(v, np.swapaxes(parts[:, :, 2], 1, 2))


def test_rotary_embedding_turns_halves():
    x, cos, sin = array(1, 2, 3, 4), array(1, 1, 6, 4), array(1, 1, 6, 4)
    y = run("ttnn.rotary_embedding", "", x.shape, x, cos, sin)
    turned = np.concatenate([-x[..., 2:], x[..., :2]], -1)
    close(y, x * cos[:, :, :3] + turned * sin[:, :, :3])


@pytest.mark.parametrize(
    ("name", "properties", "wanted"),
    [
        ("hardsigmoid", "", jax.nn.hard_sigmoid),
        ("relu6", "", jax.nn.relu6),
        ("mish", "", jax.nn.mish),
        ("leaky_relu", "parameter = 0.1 : f32", lambda x: jax.nn.leaky_relu(x, 0.1)),
        (
            "clamp_scalar",
            "min = -0.5 : f32, max = 0.5 : f32",
            lambda x: np.clip(x, -0.5, 0.5),
        ),
    ],
)
def test_elementwise(name: str, properties: str, wanted: Any):
    x = array(5, 7) * 4
    close(run(f"ttir.{name}", properties, x.shape, x), wanted(x))


def test_an_activation_that_nobody_knows_is_said():
    with pytest.raises(CompileError, match="no activation warp is known"):
        run("ttnn.linear", 'activation = "warp"', (2, 2), array(2, 2), array(2, 2))
