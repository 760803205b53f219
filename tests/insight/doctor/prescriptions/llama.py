"""A training step of a small Llama, FSDP x tensor parallel with Adam, as people write it.

`step_text(held=3)` has the lines that an expert adds: the residual stream is held to the
batch.
"""

from functools import cache
from importlib import import_module
from typing import Any

jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")
P: Any = jax.sharding.PartitionSpec

Array = Any

LAYERS, WIDTH, HEADS, HEAD, HIDDEN, WORDS = 2, 256, 8, 32, 704, 1024
BATCH, LENGTH = 8, 128
SHAPES = {
    "wq": ((WIDTH, HEADS * HEAD), P("data", "model")),
    "wk": ((WIDTH, HEADS * HEAD), P("data", "model")),
    "wv": ((WIDTH, HEADS * HEAD), P("data", "model")),
    "wo": ((HEADS * HEAD, WIDTH), P("model", "data")),
    "up": ((WIDTH, HIDDEN), P("data", "model")),
    "gate": ((WIDTH, HIDDEN), P("data", "model")),
    "down": ((HIDDEN, WIDTH), P("model", "data")),
}


def _normed(x: Array) -> Array:
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


def _averaged(mean: Array, slope: Array) -> Array:
    return 0.9 * mean + 0.1 * slope


def _averaged_square(square: Array, slope: Array) -> Array:
    return 0.9 * square + slope * slope


def _updated(weight: Array, mean: Array, square: Array) -> Array:
    return weight - 0.01 * mean / (jnp.sqrt(square) + 1e-6)


@cache
def step_text(*, held: int = 0, donated: bool = True, layers: int = LAYERS) -> str:
    """The step as JAX exports it, with the lines of this file.

    Args:
        held: how many lines hold the residual stream to the batch; first where it begins.
        donated: whether parameters and state are.
        layers: how many there are, each some 350 ops.
    """
    auto = (jax.sharding.AxisType.Auto,) * 2
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=auto)

    def hold(x: Array, line: int) -> Array:
        if line > held:
            return x
        sharding = jax.sharding.NamedSharding(mesh, P("data"))
        return jax.lax.with_sharding_constraint(x, sharding)

    def block(x: Array, p: dict[str, Array]) -> Array:
        h = _normed(x)
        q, k, v = (
            (h @ p[name]).reshape(BATCH, LENGTH, HEADS, HEAD)
            for name in ("wq", "wk", "wv")
        )
        scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k))
        mixed = jnp.einsum("bhqk,bkhd->bqhd", scores, v)
        x = hold(x + mixed.reshape(BATCH, LENGTH, HEADS * HEAD) @ p["wo"], 2)
        h = _normed(x)
        return hold(x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"], 3)

    def loss(params: dict[str, Any], tokens: Array) -> Array:
        x = hold(params["embedding"][tokens], 1)
        for layer in params["layers"]:
            x = block(x, layer)
        logits = _normed(x) @ params["embedding"].T
        return -jnp.mean(jax.nn.log_softmax(logits)[..., 0])

    def train(params: Any, state: Any, tokens: Array) -> Any:
        value, slopes = jax.value_and_grad(loss)(params, tokens)
        mean = jax.tree.map(_averaged, state["mean"], slopes)
        square = jax.tree.map(_averaged_square, state["square"], slopes)
        params = jax.tree.map(_updated, params, mean, square)
        return params, {"mean": mean, "square": square}, value

    def array(shape: tuple[int, ...], spec: Any, type_: Any = jnp.float32) -> Any:
        placed = jax.sharding.NamedSharding(mesh, spec)
        return jax.ShapeDtypeStruct(shape, type_, sharding=placed)

    layer = {name: array(*entry) for name, entry in SHAPES.items()}
    params = {
        "embedding": array((WORDS, WIDTH), P("model", "data")),
        "layers": [layer] * layers,
    }
    state = {"mean": params, "square": params}
    tokens = array((BATCH, LENGTH), P("data"), jnp.int32)
    options: dict[str, Any] = {"donate_argnums": (0, 1)} if donated else {}
    lowered = jax.jit(train, **options).lower(params, state, tokens)
    return lowered.as_text(debug_info=True)
