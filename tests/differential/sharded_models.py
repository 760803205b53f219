"""Models that JAX lowers with shardings: data, tensor, FSDP, sequence, expert parallel.

Run as a script it prints one JSON line a model: its name and its text. To add a model,
decorate a function that answers with a lowered computation with `@model`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from tests.differential.made_by_jax import EIGHT_DEVICES, made_by_jax


@cache
def sharded_models() -> dict[str, str]:
    """The text of every model by name, made in a process of its own."""
    return dict(made_by_jax(__name__, **EIGHT_DEVICES))


MODELS = (
    "mlp_data_parallel",
    "mlp_tensor_parallel",
    "mlp_fsdp_train_step",
    "transformer_block",
    "transformer_sequence_parallel",
    "transformer_train_step",
    "scanned_layers",
    "mixture_of_experts",
    "convolution_net",
    "embedding_and_loss",
    "shard_map_inside",
    "cond_and_sort",
)
"""Names of the models, known without running JAX."""


def _main() -> None:
    import jax
    import jax.numpy as jnp
    from jax import lax
    from jax.sharding import NamedSharding, PartitionSpec as P

    auto = jax.sharding.AxisType.Auto
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(auto, auto))
    cube = jax.make_mesh((2, 2, 2), ("data", "fsdp", "model"), axis_types=(auto,) * 3)
    made: dict[str, Callable[[], Any]] = {}

    def model(make: Callable[[], Any]) -> Callable[[], Any]:
        made[make.__name__] = make
        return make

    def arg(
        shape: tuple[int, ...], *spec: Any, over: Any = mesh, dtype: Any = jnp.float32
    ) -> Any:
        return jax.ShapeDtypeStruct(
            shape, dtype, sharding=NamedSharding(over, P(*spec))
        )

    def constrain(x: Any, *spec: Any, over: Any = mesh) -> Any:
        return lax.with_sharding_constraint(x, NamedSharding(over, P(*spec)))

    def mlp(p: Any, x: Any) -> Any:
        return jax.nn.gelu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]

    def sgd(loss: Callable[..., Any]) -> Callable[..., Any]:
        def step(p: Any, *inputs: Any) -> Any:
            value, grad = jax.value_and_grad(loss)(p, *inputs)
            return jax.tree.map(lambda a, g: a - 0.1 * g, p, grad), value

        return step

    def mlp_params(first: Any, second: Any, over: Any = mesh) -> dict[str, Any]:
        return {
            "w1": arg((64, 256), *first, over=over),
            "b1": arg((256,), *first[1:], over=over),
            "w2": arg((256, 32), *second, over=over),
            "b2": arg((32,), *second[1:], over=over),
        }

    @model
    def mlp_data_parallel() -> Any:
        none = (None, None)
        return jax.jit(mlp).lower(
            mlp_params(none, none), arg((16, 64), ("data", "model"))
        )

    @model
    def mlp_tensor_parallel() -> Any:
        params = mlp_params((None, "model"), ("model", None))
        return jax.jit(mlp).lower(params, arg((16, 64), "data", None))

    @model
    def mlp_fsdp_train_step() -> Any:
        params = mlp_params(("fsdp", "model"), ("model", "fsdp"), cube)
        batch = arg((16, 64), ("data", "fsdp"), None, over=cube)
        target = arg((16, 32), ("data", "fsdp"), None, over=cube)
        loss = lambda p, x, y: jnp.mean((mlp(p, x) - y) ** 2)  # noqa: E731
        return jax.jit(sgd(loss)).lower(params, batch, target)

    b, t, d, h, v, f = 4, 16, 32, 4, 64, 64

    def layer_norm(x: Any, g: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        return (x - mean) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * g

    def block(p: Any, x: Any, between: Callable[[Any], Any] = lambda x: x) -> Any:
        y = layer_norm(x, p["g1"])
        q, k, val = (jnp.einsum("btd,dhk->bhtk", y, p[n]) for n in ("wq", "wk", "wv"))
        s = jnp.einsum("bhtk,bhsk->bhts", q, k) / (d // h) ** 0.5
        s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), s, -jnp.inf)
        o = jnp.einsum("bhts,bhsk->bthk", jax.nn.softmax(s), val)
        x = between(x + jnp.einsum("bthk,hkd->btd", o, p["wo"]))
        y = layer_norm(x, p["g2"])
        return between(x + jax.nn.gelu(y @ p["w1"]) @ p["w2"])

    def block_params(lead: tuple[int, ...] = ()) -> dict[str, Any]:
        none = (None,) * len(lead)
        shapes: dict[str, tuple[tuple[int, ...], tuple[Any, ...]]] = {
            "g1": ((d,), (None,)),
            "g2": ((d,), (None,)),
            "wq": ((d, h, d // h), (None, "model", None)),
            "wk": ((d, h, d // h), (None, "model", None)),
            "wv": ((d, h, d // h), (None, "model", None)),
            "wo": ((h, d // h, d), ("model", None, None)),
            "w1": ((d, f), (None, "model")),
            "w2": ((f, d), ("model", None)),
        }
        return {n: arg(lead + s, *none, *spec) for n, (s, spec) in shapes.items()}

    @model
    def transformer_block() -> Any:
        return jax.jit(block).lower(block_params(), arg((b, t, d), "data", None, None))

    @model
    def transformer_sequence_parallel() -> Any:
        def forward(p: Any, x: Any) -> Any:
            return block(p, x, lambda x: constrain(x, "data", "model", None))

        return jax.jit(forward).lower(
            block_params(), arg((b, t, d), "data", "model", None)
        )

    @model
    def transformer_train_step() -> Any:
        loss = lambda p, x: jnp.mean(block(p, x) ** 2)  # noqa: E731
        return jax.jit(sgd(loss)).lower(
            block_params(), arg((b, t, d), "data", None, None)
        )

    @model
    def scanned_layers() -> Any:
        def forward(p: Any, x: Any) -> Any:
            return lax.scan(lambda x, layer: (block(layer, x), None), x, p)[0]

        return jax.jit(forward).lower(
            block_params((3,)), arg((b, t, d), "data", None, None)
        )

    @model
    def mixture_of_experts() -> Any:
        def forward(p: Any, x: Any) -> Any:
            gates = jax.nn.softmax(x @ p["gate"])
            _, chosen = lax.top_k(gates, 2)
            mask = jax.nn.one_hot(chosen, 8).sum(1)
            hidden = jnp.einsum("nd,edf->enf", x, p["w1"])
            hidden = constrain(jax.nn.relu(hidden), "model", None, None)
            out = jnp.einsum("enf,efd->end", hidden, p["w2"])
            return jnp.einsum("end,ne->nd", out, mask * gates)

        params = {
            "gate": arg((d, 8)),
            "w1": arg((8, d, f), "model", None, None),
            "w2": arg((8, f, d), "model", None, None),
        }
        return jax.jit(forward).lower(params, arg((32, d), "data", None))

    @model
    def convolution_net() -> Any:
        def forward(p: Any, x: Any) -> Any:
            for w in p:
                x = lax.conv_general_dilated(
                    x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
                )
                x = lax.reduce_window(
                    x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"
                )
            return jax.nn.log_softmax(x.reshape(x.shape[0], -1))

        params = [
            arg((3, 3, 4, 8), None, None, None, "model"),
            arg((3, 3, 8, 8), None, None, "model", None),
        ]
        return jax.jit(forward).lower(params, arg((8, 16, 16, 4), "data"))

    @model
    def embedding_and_loss() -> Any:
        def loss(p: Any, tokens: Any) -> Any:
            x = p["emb"][tokens]
            logits = jax.nn.log_softmax(x @ p["emb"].T)
            return -jnp.take_along_axis(logits, tokens[..., None], -1).mean()

        params = {"emb": arg((v, d), "model", None)}
        tokens = arg((b, t), "data", None, dtype=jnp.int32)
        return jax.jit(sgd(loss)).lower(params, tokens)

    @model
    def shard_map_inside() -> Any:
        def reduce_by_hand(x: Any, w: Any) -> Any:
            return lax.psum(x @ w, "model")

        by_hand = jax.shard_map(
            reduce_by_hand,
            mesh=mesh,
            in_specs=(P(None, "model"), P("model", None)),
            out_specs=P(),
            axis_names={"model"},
        )

        def forward(x: Any, w1: Any, w2: Any) -> Any:
            return jnp.tanh(by_hand(jnp.tanh(x), w1)) @ w2

        return jax.jit(forward).lower(
            arg((16, 32), "data", None), arg((32, 64)), arg((64, 8), None, "model")
        )

    @model
    def cond_and_sort() -> Any:
        def forward(x: Any, w: Any, flag: Any) -> Any:
            x = lax.cond(flag, lambda x: x @ w, lambda x: jnp.tanh(x) * 2, x)
            return jnp.sort(x, axis=1), jnp.argmax(x, axis=0), jnp.cumsum(x, axis=1)

        return jax.jit(forward).lower(
            arg((16, 32), "data", None),
            arg((32, 32), None, "model"),
            arg((), dtype=jnp.bool_),
        )

    assert tuple(made) == MODELS, tuple(made)
    for name, make in made.items():
        print(json.dumps([name, make().as_text()]))


if __name__ == "__main__":
    _main()
