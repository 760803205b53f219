"""What collectives are for, on programs where that is known."""

from importlib import import_module
from typing import Any

import pytest

import ttxdsl
from ttxdsl.analysis.attribution.purposes import purposes

jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")

LAYERS, WIDTH = 3, 64


def loss(params: Any, x: Any) -> Any:
    for w in params:
        x = jnp.tanh(x @ w)
    return jnp.mean(x**2)


def step(params: Any, x: Any) -> Any:
    slopes = jax.grad(loss)(params, x)
    return [w - 0.1 * s for w, s in zip(params, slopes, strict=True)]


def lines(*axes: str | None) -> list[str]:
    """The summary of a training step with such parameters, the batch over data."""
    auto = (jax.sharding.AxisType.Auto,) * 2
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=auto)

    def array(shape: tuple[int, ...], *axes: str | None) -> Any:
        spec = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*axes))
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=spec)

    params = [array((WIDTH, WIDTH), *axes)] * LAYERS
    kept = [one.sharding for one in params]
    text = jax.jit(step, out_shardings=kept).lower(params, array((256, WIDTH), "data"))
    device = ttxdsl.load(text.as_text()).partition()
    return list(map(str, purposes(device.module, device.collectives())))


def test_data_parallel():
    # a ring of four sends 2 x 3/4 of three matrices of 64 x 64
    assert lines() == ["data parallel: 1 all_reduce of gradients over data, 72.0 KiB"]


def test_fully_sharded():
    found = lines("data")
    # each device sends its quarter three times, and gets three quarters summed
    assert "FSDP: 3 reduce_scatters of gradients over data, 36.0 KiB" in found
    (gathers,) = [line for line in found if "all_gather" in line]
    assert gathers.startswith("FSDP: ") and "of parameters over data" in gathers


@pytest.mark.parametrize(("axes", "word"), [((None, "model"), "activations")])
def test_tensor_parallel(axes: tuple[str | None, ...], word: str):
    found = lines(*axes)
    assert "data parallel: 1 all_reduce of gradients over data, 36.0 KiB" in found
    assert any(
        line.startswith(("moved", "partial sums")) and word in line for line in found
    )


def test_a_bias_is_not_updated():
    """Its sum goes on to the result only, and an argument as large is added to it."""
    device = ttxdsl.load("examples/mlp_data_tensor_parallel.mlir").partition()
    (line,) = purposes(device.module, device.collectives())
    assert str(line) == "partial sums: 1 all_reduce of results over model, 1.5 KiB"


def experts(x: Any, router: Any, w: Any) -> Any:
    """Send tokens to experts by a mask, and bring them back by the same mask."""
    mask = jax.nn.one_hot(jnp.argmax(x @ router, axis=-1), 8)
    sent = jnp.einsum("te,td->etd", mask, x)
    return jnp.einsum("te,etd->td", mask, jnp.einsum("etd,edf->etf", sent, w))


def test_a_forward_pass_that_mirrors_itself_has_no_gradients():
    auto = (jax.sharding.AxisType.Auto,) * 2
    mesh = jax.make_mesh((2, 4), ("data", "expert"), axis_types=auto)

    def array(shape: tuple[int, ...], *axes: str | None) -> Any:
        spec = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*axes))
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=spec)

    shapes = (
        array((64, 32), "data"),
        array((32, 8)),
        array((8, 32, 32), "expert"),
    )
    text = jax.jit(experts).lower(*shapes).as_text(debug_info=True)
    device = ttxdsl.load(text).partition()
    found = list(map(str, purposes(device.module, device.collectives())))
    assert found and not any("gradient" in line for line in found), found
