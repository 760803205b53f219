"""What collectives are for, on programs where that is known."""

from importlib import import_module
from typing import Any

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


def test_fully_sharded():
    found = lines("data")
    # each device sends its quarter three times, and gets three quarters summed
    assert "FSDP: 3 reduce_scatters of gradients over data, 36.0 KiB" in found
    (gathers,) = [line for line in found if "all_gather" in line]
    assert gathers.startswith("FSDP: ") and "of parameters over data" in gathers


def experts(x: Any, router: Any, w: Any) -> Any:
    """Send tokens to experts by a mask, and bring them back by the same mask."""
    mask = jax.nn.one_hot(jnp.argmax(x @ router, axis=-1), 8)
    sent = jnp.einsum("te,td->etd", mask, x)
    return jnp.einsum("te,etd->td", mask, jnp.einsum("etd,edf->etf", sent, w))
