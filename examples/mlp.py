"""Multi-layer perceptrons, sharded three ways, and a training step.

The same JAX function each time: only the shardings of its arguments differ.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

BATCH, FEATURES, HIDDEN, CLASSES = 32, 64, 256, 16
LEARNING_RATE = 0.1

Parameters = dict[str, jax.Array]


def mlp(params: Parameters, x: jax.Array) -> jax.Array:
    """Two layers with a relu between them; `x` is [batch, features]."""
    hidden = jax.nn.relu(x @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


def loss(params: Parameters, x: jax.Array, target: jax.Array) -> jax.Array:
    """Mean squared error."""
    return jnp.mean((mlp(params, x) - target) ** 2)


def train_step(
    params: Parameters, x: jax.Array, target: jax.Array
) -> tuple[Parameters, jax.Array]:
    """One step of gradient descent: new parameters and the loss before it."""
    value, gradients = jax.value_and_grad(loss)(params, x, target)
    updated = jax.tree.map(lambda p, g: p - LEARNING_RATE * g, params, gradients)
    return updated, value


def arguments(mesh: Mesh, data: str | None, model: str | None, *, target: bool = False):
    """Shapes and shardings of the arguments, not their values.

    Args:
        mesh: the devices.
        data: the mesh axis that splits the batch, if any.
        model: the mesh axis that splits the hidden layer (Megatron: columns of the
            first matrix, rows of the second), if any.
        target: whether to add the target of a training step.
    """

    def array(shape: tuple[int, ...], *axes: str | None) -> jax.ShapeDtypeStruct:
        sharding = NamedSharding(mesh, P(*axes))
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding)

    params = {
        "w1": array((FEATURES, HIDDEN), None, model),
        "b1": array((HIDDEN,), model),
        "w2": array((HIDDEN, CLASSES), model, None),
        "b2": array((CLASSES,), None),
    }
    x = array((BATCH, FEATURES), data, None)
    if not target:
        return params, x
    return params, x, array((BATCH, CLASSES), data, None)
