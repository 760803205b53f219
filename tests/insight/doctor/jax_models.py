"""Models without shardings, as JAX exports them, for the doctor."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

# JAX's own types leave much unknown
jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")

Array = Any


def attention(p: dict[str, Array], x: Array) -> Array:
    """Self-attention of 30 heads of 16."""
    batch, length, width = x.shape

    def heads(w: Array) -> Array:
        return (x @ w).reshape(batch, length, 30, -1).transpose(0, 2, 1, 3)

    q, k, v = heads(p["wq"]), heads(p["wk"]), heads(p["wv"])
    weights = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) / 4)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", weights, v)
    return x + mixed.transpose(0, 2, 1, 3).reshape(batch, length, width) @ p["wo"]


def convolutions(p: dict[str, Array], x: Array) -> Array:
    """Two convolutions and a dense layer."""
    for name in ("conv1", "conv2"):
        x = jax.lax.conv_general_dilated(
            x, p[name], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = jax.nn.relu(x)
    return x.mean((1, 2)) @ p["dense"]


def experts(p: dict[str, Array], x: Array) -> Array:
    """A mixture of 16 experts, every token through every one."""
    gates = jax.nn.softmax(x @ p["router"])
    hidden = jax.nn.gelu(jnp.einsum("td,edf->etf", x, p["up"]))
    each = jnp.einsum("etf,efd->etd", hidden, p["down"])
    return jnp.einsum("te,etd->td", gates, each)


def layers(p: list[Array], x: Array) -> Array:
    """Square layers one after the other."""
    for w in p:
        x = jnp.tanh(x @ w)
    return x


def _as_it_is(product: Array) -> Array:
    return product


def scanned(
    p: dict[str, Array], x: Array, kept: Callable[[Array], Array] = _as_it_is
) -> Array:
    """Layers stacked along the first dimension, one a turn of a loop."""

    def layer(x: Array, w: dict[str, Array]) -> tuple[Array, None]:
        return x + kept(jnp.tanh(kept(x @ w["up"])) @ w["down"]), None

    return jax.lax.scan(layer, x, p)[0]


def _array(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


MODELS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "attention": (
        attention,
        (
            {name: _array(480, 480) for name in ("wq", "wk", "wv", "wo")},
            _array(4, 64, 480),
        ),
    ),
    "convolutions": (
        convolutions,
        (
            {
                "conv1": _array(3, 3, 16, 64),
                "conv2": _array(3, 3, 64, 128),
                "dense": _array(128, 10),
            },
            _array(4, 32, 32, 16),
        ),
    ),
    "experts": (
        experts,
        (
            {
                "router": _array(64, 16),
                "up": _array(16, 64, 128),
                "down": _array(16, 128, 64),
            },
            _array(4, 64),
        ),
    ),
    "scanned": (
        scanned,
        ({"up": _array(8, 64, 256), "down": _array(8, 256, 64)}, _array(16, 64)),
    ),
    "layers": (layers, ([_array(64, 64)] * 4, _array(12, 64))),
}


def text_of(name: str) -> str:
    """The StableHLO text of a model, with JAX's locations."""
    function, arguments = MODELS[name]
    return jax.jit(function).lower(*arguments).as_text(debug_info=True)
