"""A training step of the decoder block: `python examples/transformer_train.py > t.mlir`.

The text keeps JAX's locations, so that what is said about it names lines of
`transformer.py` and of this file.
"""

from __future__ import annotations

import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from transformer import BATCH, LENGTH, WIDTH, Parameters, arguments, block

# locations name files without their folders
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")


def loss(params: Parameters, tokens: jax.Array, target: jax.Array) -> jax.Array:
    """Mean square of what the block is off by."""
    return jnp.mean((block(params, tokens) - target) ** 2)


def train_step(params: Parameters, tokens: jax.Array, target: jax.Array):
    """One step of gradient descent: the new parameters and the loss."""
    value, gradients = jax.value_and_grad(loss)(params, tokens, target)
    return jax.tree.map(lambda w, g: w - 0.1 * g, params, gradients), value


if __name__ == "__main__":
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    target = jax.ShapeDtypeStruct(
        (BATCH, LENGTH, WIDTH),
        jnp.float32,
        sharding=NamedSharding(mesh, P("data", None, None)),
    )
    lowered = jax.jit(train_step).lower(*arguments(mesh), target)
    print(lowered.as_text(debug_info=True))
