"""Training steps that JAX lowers for eight devices, one a way of being parallel.

Parameters are as they are kept from step to step: a step gives them back in the same
shardings. Run as a script it prints one JSON line a model, as `sharded_models` does.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from tests.differential.made_by_jax import EIGHT_DEVICES, made_by_jax

MODELS = (
    "data_parallel_step",
    "fsdp_step",
    "tensor_parallel_step",
    "sequence_parallel_step",
    "expert_parallel_step",
    "scanned_step",
    "scanned_fsdp_step",
    "microbatched_step",
    "microbatched_fsdp_tensor_step",
)
"""Names of the models, known without running JAX."""


@cache
def parallel_models() -> dict[str, str]:
    """The text of every model by name, made in a process of its own."""
    return dict(made_by_jax(__name__, **EIGHT_DEVICES))


BATCH, LENGTH, WIDTH, HEADS, HIDDEN, LAYERS, EXPERTS, MICROBATCHES = (
    *(16, 32, 64, 8),
    *(256, 4, 8, 4),
)


def _main() -> None:
    import jax
    import jax.numpy as jnp
    from jax import lax
    from jax.sharding import NamedSharding, PartitionSpec as P

    def mesh_of(**axes: int) -> Any:
        auto = (jax.sharding.AxisType.Auto,) * len(axes)
        return jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=auto)

    data, split, cube = (
        mesh_of(data=8),
        mesh_of(data=2, model=4),
        mesh_of(data=2, fsdp=2, model=2),
    )
    made: dict[str, Callable[[], Any]] = {}

    def model(make: Callable[[], Any]) -> Callable[[], Any]:
        made[make.__name__] = make
        return make

    def arg(mesh: Any, shape: tuple[int, ...], *spec: Any) -> Any:
        sharding = NamedSharding(mesh, P(*spec))
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding)

    def constrain(mesh: Any, *spec: Any) -> Callable[[Any], Any]:
        sharding = NamedSharding(mesh, P(*spec))
        return lambda x: lax.with_sharding_constraint(x, sharding)

    def norm(x: Any, g: Any) -> Any:
        return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * g

    def attention(p: Any, x: Any) -> Any:
        q, k, v = (jnp.einsum("btd,dhk->bhtk", x, p[n]) for n in ("wq", "wk", "wv"))
        s = jnp.einsum("bhtk,bhsk->bhts", q, k) / (WIDTH // HEADS) ** 0.5
        s = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), s, -1e9)
        o = jnp.einsum("bhts,bhsk->bthk", jax.nn.softmax(s), v)
        return jnp.einsum("bthk,hkd->btd", o, p["wo"])

    def dense(p: Any, x: Any) -> Any:
        return jax.nn.gelu(x @ p["w1"]) @ p["w2"]

    def layer(p: Any, x: Any, between: Callable[[Any], Any] = lambda x: x) -> Any:
        x = between(x + attention(p, norm(x, p["g1"])))
        return between(x + dense(p, norm(x, p["g2"])))

    def params(mesh: Any, fsdp: Any, model: Any, lead: tuple[int, ...] = ()) -> Any:
        """Of a layer: the width over `fsdp`, heads and what is hidden over `model`."""
        small = WIDTH // HEADS
        shapes: dict[str, tuple[tuple[int, ...], tuple[Any, ...]]] = {
            "g1": ((WIDTH,), (None,)),
            "g2": ((WIDTH,), (None,)),
            "wq": ((WIDTH, HEADS, small), (fsdp, model, None)),
            "wk": ((WIDTH, HEADS, small), (fsdp, model, None)),
            "wv": ((WIDTH, HEADS, small), (fsdp, model, None)),
            "wo": ((HEADS, small, WIDTH), (model, None, fsdp)),
            "w1": ((WIDTH, HIDDEN), (fsdp, model)),
            "w2": ((HIDDEN, WIDTH), (model, fsdp)),
        }
        none = (None,) * len(lead)
        return {
            name: arg(mesh, lead + shape, *none, *spec)
            for name, (shape, spec) in shapes.items()
        }

    def lowered(grad: Callable[..., Any], p: Any, *inputs: Any) -> Any:
        """A step of gradient descent, whose parameters stay where they are."""

        def step(p: Any, *inputs: Any) -> Any:
            return jax.tree.map(lambda a, g: a - 0.1 * g, p, grad(p, *inputs))

        kept = jax.tree.map(lambda one: one.sharding, p)
        return jax.jit(step, out_shardings=kept).lower(p, *inputs)

    def loss_of(forward: Callable[..., Any]) -> Callable[..., Any]:
        return lambda p, x, y: ((forward(p, x) - y) ** 2).mean()

    def trained(forward: Callable[..., Any], p: Any, mesh: Any, *spec: Any) -> Any:
        inputs = [arg(mesh, (BATCH, LENGTH, WIDTH), *spec)] * 2
        return lowered(jax.grad(loss_of(forward)), p, *inputs)

    def scanned(p: Any, x: Any) -> Any:
        return lax.scan(lambda x, one: (layer(one, x), None), x, p)[0]

    def stacked(p: Any, x: Any) -> Any:
        for one in p:
            x = layer(one, x)
        return x

    def accumulated(forward: Callable[..., Any]) -> Callable[..., Any]:
        """The gradient, summed over microbatches one after the other."""
        grad = jax.grad(loss_of(forward))

        def both(p: Any, x: Any, y: Any) -> Any:
            def turn(total: Any, one: Any) -> Any:
                return jax.tree.map(jnp.add, total, grad(p, *one)), None

            return lax.scan(turn, jax.tree.map(jnp.zeros_like, p), (x, y))[0]

        return both

    @model
    def data_parallel_step() -> Any:
        return trained(stacked, [params(data, None, None)] * 2, data, "data")

    @model
    def fsdp_step() -> Any:
        return trained(stacked, [params(data, "data", None)] * 2, data, "data")

    @model
    def tensor_parallel_step() -> Any:
        return trained(stacked, [params(split, None, "model")] * 2, split, "data")

    @model
    def sequence_parallel_step() -> Any:
        between = constrain(split, "data", "model", None)

        def forward(p: Any, x: Any) -> Any:
            return layer(p, x, between)

        return trained(
            forward, params(split, None, "model"), split, "data", "model", None
        )

    @model
    def expert_parallel_step() -> Any:
        """Tokens over all devices go to the experts over the model axis and back."""
        tokens, room = BATCH * LENGTH // 8, 16
        at_home = constrain(split, ("data", "model"), None, None, None)
        at_experts = constrain(split, "data", "model", None, None)

        def forward(p: Any, x: Any) -> Any:
            gates = jax.nn.softmax(jnp.einsum("gtd,de->gte", x, p["router"]))
            chosen = jax.nn.one_hot(gates.argmax(-1), EXPERTS)
            place = (jnp.cumsum(chosen, 1) - 1) * chosen
            sent = jax.nn.one_hot(place, room) * chosen[..., None]
            there = at_home(jnp.einsum("gtec,gtd->gecd", sent, x))
            hidden = jax.nn.relu(
                jnp.einsum("gecd,edf->gecf", at_experts(there), p["up"])
            )
            back = at_home(at_experts(jnp.einsum("gecf,efd->gecd", hidden, p["down"])))
            return jnp.einsum("gtec,gecd->gtd", sent * gates[..., None], back)

        p = {
            "router": arg(split, (WIDTH, EXPERTS)),
            "up": arg(split, (EXPERTS, WIDTH, HIDDEN), "model"),
            "down": arg(split, (EXPERTS, HIDDEN, WIDTH), "model"),
        }
        inputs = [arg(split, (8, tokens, WIDTH), ("data", "model"))] * 2
        return lowered(jax.grad(loss_of(forward)), p, *inputs)

    @model
    def scanned_step() -> Any:
        p = params(split, None, "model", (LAYERS,))
        return trained(scanned, p, split, "data")

    @model
    def scanned_fsdp_step() -> Any:
        p = params(data, "data", None, (LAYERS,))
        return trained(scanned, p, data, "data")

    @model
    def microbatched_step() -> Any:
        inputs = [arg(data, (MICROBATCHES, BATCH, LENGTH, WIDTH), None, "data")] * 2
        return lowered(accumulated(layer), params(data, None, None), *inputs)

    @model
    def microbatched_fsdp_tensor_step() -> Any:
        p = params(cube, "fsdp", "model", (LAYERS,))
        shape = MICROBATCHES, BATCH, LENGTH, WIDTH
        inputs = [arg(cube, shape, None, ("data", "fsdp"))] * 2
        return lowered(accumulated(scanned), p, *inputs)

    assert tuple(made) == MODELS, tuple(made)
    for name, make in made.items():
        print(json.dumps([name, make().as_text()]))


if __name__ == "__main__":
    _main()
