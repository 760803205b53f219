"""Live arrays of JAX: the slices are those that JAX says that devices hold."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

import ttxdsl

DEVICES = np.array(jax.devices()[:8]).reshape(4, 2)
SPECS = [P("x", "y"), P(("y", "x")), P(None, "x"), P()]


@pytest.mark.parametrize("spec", SPECS, ids=str)
@pytest.mark.parametrize("devices", [DEVICES, DEVICES[::-1]], ids=["in order", "not"])
def test_slices_are_those_of_jax(devices: np.ndarray, spec: P):
    mesh = Mesh(devices, ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    array = jax.device_put(jnp.zeros((8, 12)), NamedSharding(mesh, spec))
    shards = ttxdsl.show(array).data()["shards"]
    shown = {id_: shard["slices"] for shard in shards for id_ in shard["devices"]}
    held = array.sharding.devices_indices_map(array.shape)
    assert shown == {
        device.id: tuple(
            slice_.indices(size)[:2]
            for slice_, size in zip(index, array.shape, strict=True)
        )
        for device, index in held.items()
    }


def test_trees_and_single_devices():
    mesh = Mesh(DEVICES, ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    whole = jax.ShapeDtypeStruct((8,), jnp.int32, sharding=NamedSharding(mesh, P("x")))
    picture = ttxdsl.show({"w": whole, "b": jnp.zeros(3)})
    assert [value["mesh"] is None for value in picture.data()["arguments"]] == [
        True,
        False,
    ]
    text = str(picture)
    assert "array['b']: tensor<3xf32>  on one device" in text
    assert "array['w']: tensor<8xi32>  [x]  4 shards of 2, each on 2 devices" in text
    assert "results" not in text


def test_devices_in_other_orders():
    arrays = [
        jax.device_put(jnp.zeros(8), NamedSharding(Mesh(devices, ("x", "y")), P("x")))
        for devices in (DEVICES, DEVICES[::-1])
    ]
    with pytest.raises(ttxdsl.CompileError, match="several orders"):
        ttxdsl.show(arrays)
