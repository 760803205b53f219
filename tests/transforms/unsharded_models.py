"""Models that JAX lowers for one device, each with the split that an engineer would write.

Run as a script it prints one JSON line a model: its name, its text, and for each of its
arguments the dimension that is the batch (null if it has none). To add a model, decorate
a function that answers with a function, its arguments, and the batch dimensions of
their leaves with `@model`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.differential.made_by_jax import made_by_jax


@dataclass(frozen=True)
class Model:
    """A program without shardings.

    Attributes:
        text: StableHLO.
        batch: for each argument that has a batch dimension, which it is.
    """

    text: str
    batch: dict[int, int]


MODELS = (
    "adam_step",
    "attention_step",
    "autoencoder_step",
    "batch_norm_step",
    "cnn",
    "cnn_channels_first",
    "cnn_step",
    "conditional",
    "dropout_step",
    "feature_major",
    "logistic_regression_step",
    "lstm_step",
    "mixer",
    "mlp",
    "mlp_step",
    "rank_one",
    "recurrent",
    "scanned_layers",
    "scanned_layers_step",
    "sequence_mlp",
    "time_major",
    "token_transformer",
    "token_transformer_step",
    "while_loop",
)
"""Names of the models, known without running JAX."""


@cache
def unsharded_models() -> dict[str, Model]:
    """Every model by name, made in a process of its own."""
    found: dict[str, Model] = {}
    for name, text, dims in made_by_jax(__name__):
        batch = {index: dim for index, dim in enumerate(dims) if dim is not None}
        found[name] = Model(text, batch)
    return found


def _main() -> None:
    import jax
    import jax.numpy as jnp
    from jax import lax

    made: dict[str, Callable[[], Any]] = {}

    def model(make: Callable[[], Any]) -> Callable[[], Any]:
        made[make.__name__] = make
        return make

    def of(*shape: int, dtype: Any = jnp.float32) -> Any:
        return jax.ShapeDtypeStruct(shape, dtype)

    def sgd(loss: Callable[..., Any]) -> Callable[..., Any]:
        def step(p: Any, *inputs: Any) -> Any:
            value, grad = jax.value_and_grad(loss)(p, *inputs)
            return jax.tree.map(lambda a, g: a - 0.1 * g, p, grad), value

        return step

    def whole(p: Any) -> list[None]:
        return [None] * len(jax.tree.leaves(p))

    def dense(p: Any, x: Any) -> Any:
        return jnp.tanh(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]

    def dense_params(first: int, hidden: int, last: int) -> dict[str, Any]:
        return {
            "w1": of(first, hidden),
            "b1": of(hidden),
            "w2": of(hidden, last),
            "b2": of(last),
        }

    def squared(forward: Callable[..., Any]) -> Callable[..., Any]:
        return lambda p, x, y: jnp.mean((forward(p, x) - y) ** 2)

    def cross_entropy(logits: Any, labels: Any) -> Any:
        chosen = jnp.take_along_axis(
            jax.nn.log_softmax(logits), labels[..., None], axis=-1
        )
        return -jnp.mean(chosen)

    small = dense_params(24, 64, 10)

    @model
    def mlp() -> Any:
        return dense, (small, of(16, 24)), [*whole(small), 0]

    @model
    def sequence_mlp() -> Any:
        return dense, (small, of(16, 6, 24)), [*whole(small), 0]

    @model
    def mlp_step() -> Any:
        inputs = (of(16, 24), of(16, 10))
        return sgd(squared(dense)), (small, *inputs), [*whole(small), 0, 0]

    @model
    def adam_step() -> Any:
        def step(p: Any, m: Any, v: Any, x: Any, y: Any) -> Any:
            loss, grad = jax.value_and_grad(squared(dense))(p, x, y)
            norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(grad)))
            grad = jax.tree.map(lambda g: g / jnp.maximum(norm, 1.0), grad)
            m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, grad)
            v = jax.tree.map(lambda a, g: 0.99 * a + 0.01 * g**2, v, grad)
            p = jax.tree.map(
                lambda a, b, c: a - 0.1 * b / (jnp.sqrt(c) + 1e-8), p, m, v
            )
            return p, m, v, loss

        inputs = (small, small, small, of(16, 24), of(16, 10))
        return step, inputs, [*whole(small) * 3, 0, 0]

    @model
    def autoencoder_step() -> Any:
        p = dense_params(24, 8, 24)
        loss = lambda p, x: jnp.mean((dense(p, x) - x) ** 2)  # noqa: E731
        return sgd(loss), (p, of(16, 24)), [*whole(p), 0]

    @model
    def logistic_regression_step() -> Any:
        def loss(p: Any, x: Any, y: Any) -> Any:
            return jnp.mean(jax.nn.softplus(x @ p["w"] + p["b"]) - y * (x @ p["w"]))

        p = {"w": of(24), "b": of()}
        return sgd(loss), (p, of(64, 24), of(64)), [None, None, 0, 0]

    @model
    def rank_one() -> Any:
        return lambda a, x: jnp.sin(x) * a, (of(), of(32)), [None, 0]

    @model
    def feature_major() -> Any:
        def forward(w: Any, v: Any, x: Any) -> Any:
            return v @ jax.nn.relu(w @ x)

        return forward, (of(64, 24), of(10, 64), of(24, 16)), [None, None, 1]

    @model
    def dropout_step() -> Any:
        def loss(p: Any, key: Any, x: Any, y: Any) -> Any:
            hidden = jnp.tanh(x @ p["w1"] + p["b1"])
            keep = jax.random.bernoulli(
                jax.random.wrap_key_data(key), 0.9, hidden.shape
            )
            out = jnp.where(keep, hidden / 0.9, 0) @ p["w2"] + p["b2"]
            return jnp.mean((out - y) ** 2)

        inputs = (small, of(2, dtype=jnp.uint32), of(16, 24), of(16, 10))
        return sgd(loss), inputs, [*whole(small), None, 0, 0]

    # images

    def conv(x: Any, w: Any, layout: str = "NHWC", stride: int = 1) -> Any:
        numbers = (layout, "HWIO", layout)
        return lax.conv_general_dilated(
            x, w, (stride, stride), "SAME", dimension_numbers=numbers
        )

    def max_pool(x: Any) -> Any:
        return lax.reduce_window(
            x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"
        )

    def cnn_forward(p: Any, x: Any) -> Any:
        x = max_pool(jax.nn.relu(conv(x, p["c1"]) + p["d1"]))
        x = max_pool(jax.nn.relu(conv(x, p["c2"]) + p["d2"]))
        return x.reshape(x.shape[0], -1) @ p["w"] + p["b"]

    images = {
        "c1": of(3, 3, 3, 8),
        "d1": of(8),
        "c2": of(3, 3, 8, 16),
        "d2": of(16),
        "w": of(256, 10),
        "b": of(10),
    }

    @model
    def cnn() -> Any:
        return cnn_forward, (images, of(8, 16, 16, 3)), [*whole(images), 0]

    @model
    def cnn_step() -> Any:
        loss = lambda p, x, y: cross_entropy(cnn_forward(p, x), y)  # noqa: E731
        inputs = (images, of(8, 16, 16, 3), of(8, dtype=jnp.int32))
        return sgd(loss), inputs, [*whole(images), 0, 0]

    @model
    def cnn_channels_first() -> Any:
        def forward(p: Any, x: Any) -> Any:
            x = jax.nn.relu(conv(x, p["c1"], "NCHW", 2))
            x = jax.nn.relu(conv(x, p["c2"], "NCHW", 2))
            return jnp.mean(x, (2, 3)) @ p["w"]

        p = {"c1": of(3, 3, 3, 8), "c2": of(3, 3, 8, 16), "w": of(16, 10)}
        return forward, (p, of(8, 3, 16, 16)), [*whole(p), 0]

    @model
    def batch_norm_step() -> Any:
        """The mean over the batch is needed before the step goes on."""

        def norm(x: Any, scale: Any) -> Any:
            mean = jnp.mean(x, (0, 1, 2))
            variance = jnp.mean((x - mean) ** 2, (0, 1, 2))
            return (x - mean) * lax.rsqrt(variance + 1e-5) * scale

        def loss(p: Any, x: Any, y: Any) -> Any:
            x = jax.nn.relu(norm(conv(x, p["c1"]), p["d1"]))
            x = jax.nn.relu(norm(conv(x, p["c2"]), p["d2"]))
            return cross_entropy(jnp.mean(x, (1, 2)) @ p["w"], y)

        p = {**{k: images[k] for k in ("c1", "d1", "c2", "d2")}, "w": of(16, 10)}
        inputs = (p, of(8, 16, 16, 3), of(8, dtype=jnp.int32))
        return sgd(loss), inputs, [*whole(p), 0, 0]

    @model
    def mixer() -> Any:
        """Layers over the patches and over the channels in turn."""

        def forward(p: Any, x: Any) -> Any:
            y = jnp.swapaxes(x, 1, 2)
            x = x + jnp.swapaxes(jax.nn.gelu(y @ p["a"]) @ p["b"], 1, 2)
            x = x + jax.nn.gelu(x @ p["c"]) @ p["d"]
            return jnp.mean(x, 1) @ p["w"]

        p = {
            "a": of(16, 32),
            "b": of(32, 16),
            "c": of(24, 48),
            "d": of(48, 24),
            "w": of(24, 10),
        }
        return forward, (p, of(8, 16, 24)), [*whole(p), 0]

    # sequences

    d, heads, vocabulary, length = 32, 4, 64, 16

    def layer_norm(x: Any, g: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g

    def block(p: Any, x: Any) -> Any:
        b, t, _ = x.shape
        y = layer_norm(x, p["g1"])
        q, k, v = ((y @ p[w]).reshape(b, t, heads, d // heads) for w in ("q", "k", "v"))
        scores = jnp.einsum("bthc,bshc->bhts", q, k) / 8
        mask = jnp.tril(jnp.ones((t, t), bool))
        scores = jax.nn.softmax(jnp.where(mask, scores, -1e9), -1)
        y = jnp.einsum("bhts,bshc->bthc", scores, v).reshape(b, t, d)
        x = x + y @ p["o"]
        return x + jax.nn.gelu(layer_norm(x, p["g2"]) @ p["w1"]) @ p["w2"]

    def block_params(*lead: int) -> dict[str, Any]:
        square = {name: of(*lead, d, d) for name in ("q", "k", "v", "o")}
        return square | {
            "g1": of(*lead, d),
            "g2": of(*lead, d),
            "w1": of(*lead, d, 64),
            "w2": of(*lead, 64, d),
        }

    def transformer(p: Any, tokens: Any) -> Any:
        x = p["embed"][tokens] + p["place"]
        for layer in p["layers"]:
            x = block(layer, x)
        return x @ p["embed"].T

    def scanned(p: Any, tokens: Any) -> Any:
        x = p["embed"][tokens] + p["place"]
        x, _ = lax.scan(lambda x, layer: (block(layer, x), None), x, p["layers"])
        return x @ p["embed"].T

    embeddings = {"embed": of(vocabulary, d), "place": of(length, d)}
    listed = embeddings | {"layers": [block_params(), block_params()]}
    stacked = embeddings | {"layers": block_params(3)}
    tokens = of(8, length, dtype=jnp.int32)

    @model
    def token_transformer() -> Any:
        return transformer, (listed, tokens), [*whole(listed), 0]

    @model
    def token_transformer_step() -> Any:
        loss = lambda p, x, y: cross_entropy(transformer(p, x), y)  # noqa: E731
        return sgd(loss), (listed, tokens, tokens), [*whole(listed), 0, 0]

    @model
    def attention_step() -> Any:
        p = block_params()
        inputs = (p, of(8, length, d), of(8, length, d))
        return sgd(squared(block)), inputs, [*whole(p), 0, 0]

    @model
    def scanned_layers() -> Any:
        return scanned, (stacked, tokens), [*whole(stacked), 0]

    @model
    def scanned_layers_step() -> Any:
        loss = lambda p, x, y: cross_entropy(scanned(p, x), y)  # noqa: E731
        return sgd(loss), (stacked, tokens, tokens), [*whole(stacked), 0, 0]

    cell = {"w": of(24, 32), "u": of(32, 32), "b": of(32), "o": of(32, 10)}

    def step_of(p: Any, h: Any, x: Any) -> Any:
        return jnp.tanh(x @ p["w"] + h @ p["u"] + p["b"])

    def recurrent_net(p: Any, x: Any) -> Any:
        """`x` is time by batch by features."""
        start = jnp.zeros((x.shape[1], 32))
        h, _ = lax.scan(lambda h, x: (step_of(p, h, x), None), start, x)
        return h @ p["o"]

    @model
    def time_major() -> Any:
        return recurrent_net, (cell, of(6, 8, 24)), [*whole(cell), 1]

    @model
    def recurrent() -> Any:
        forward = lambda p, x: recurrent_net(p, jnp.swapaxes(x, 0, 1))  # noqa: E731
        return forward, (cell, of(8, 6, 24)), [*whole(cell), 0]

    @model
    def lstm_step() -> Any:
        def forward(p: Any, x: Any) -> Any:
            def one(carry: Any, x: Any) -> Any:
                h, c = carry
                i, f, g, o = jnp.split(x @ p["w"] + h @ p["u"] + p["b"], 4, axis=-1)
                c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
                h = jax.nn.sigmoid(o) * jnp.tanh(c)
                return (h, c), h

            zeros = jnp.zeros((x.shape[0], 32))
            _, out = lax.scan(one, (zeros, zeros), jnp.swapaxes(x, 0, 1))
            return jnp.swapaxes(out, 0, 1) @ p["o"]

        p = {"w": of(24, 128), "u": of(32, 128), "b": of(128), "o": of(32, 10)}
        inputs = (p, of(8, 6, 24), of(8, 6, 10))
        return sgd(squared(forward)), inputs, [*whole(p), 0, 0]

    @model
    def while_loop() -> Any:
        """Iterations until a counter ends; nothing is known of their number."""

        def forward(w: Any, n: Any, x: Any) -> Any:
            def body(state: Any) -> Any:
                i, x = state
                return i + 1, jnp.tanh(x @ w)

            return lax.while_loop(lambda s: s[0] < n, body, (0, x))[1]

        return forward, (of(24, 24), of(dtype=jnp.int32), of(16, 24)), [None, None, 0]

    @model
    def conditional() -> Any:
        def forward(p: Any, train: Any, x: Any) -> Any:
            y = lax.cond(train, lambda x: dense(p, x), lambda x: x @ p["w3"], x)
            return jax.nn.softmax(y)

        p = small | {"w3": of(24, 10)}
        return forward, (p, of(dtype=jnp.bool_), of(16, 24)), [*whole(p), None, 0]

    for name in MODELS:
        function, args, batch = made[name]()
        lowered = jax.jit(function, keep_unused=True).lower(*args)
        print(json.dumps([name, lowered.as_text(), batch]))


if __name__ == "__main__":
    _main()
