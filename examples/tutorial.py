"""The layer of docs/tutorial.md: `python examples/tutorial.py columns > layer.mlir`.

The one argument says how the second weight is split over "model".
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

# locations name this file without its folder
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def array(shape: tuple[int, ...], *axes: str | None) -> jax.ShapeDtypeStruct:
    """The shape and the sharding of an array; no memory is needed to compile."""
    sharding = NamedSharding(mesh, P(*axes))
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding)


def layer(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    """Two products with an activation between them, and a residual connection."""
    hidden = jax.nn.relu(x @ params["up"])
    return x + hidden @ params["down"]


down = {"columns": (None, "model"), "rows": ("model", None)}[sys.argv[1]]
params = {
    "up": array((64, 256), None, "model"),
    "down": array((256, 64), *down),
}
x = array((2048, 64), "data", None)
print(jax.jit(layer).lower(params, x).as_text(debug_info=True))
