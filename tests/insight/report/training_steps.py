"""Training steps whose tensors are known by their sizes, for tests of labels.

Every dimension is a power of two times a prime of its own: what a tensor is can be read
off the number of its elements, whatever a device has of it and in whatever order. A
tensor with the batch, the sequence or an expert's capacity in it is an activation, one
without is a parameter or has the shape of one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")
P: Any = jax.sharding.PartitionSpec

BATCH, SEQUENCE, CAPACITY = 8 * 3, 13, 31
MODEL, HIDDEN, VOCABULARY, HEAD, HEADS = 4 * 5, 4 * 7, 4 * 11, 17, 4 * 19
EXPERTS, LAYERS = 4 * 23, 29
PRIMES = {
    3: "batch",
    13: "sequence",
    31: "capacity",
    5: "model",
    7: "hidden",
    11: "vocabulary",
    17: "head",
    19: "heads",
    23: "experts",
    29: "layers",
}
OF_DATA = frozenset({"batch", "sequence", "capacity"})
SCHEMES = ("data", "fsdp", "tensor", "fsdp+tensor", "zero", "experts")
UNROLLED = 2
"""Layers of a step that is not scanned: each has parameters of its own."""


@dataclass(frozen=True)
class Step:
    """What a training step does, and how it is split over a mesh of 2 by 2 devices."""

    scheme: str
    scanned: bool = False
    checkpointed: bool = False
    clipped: bool = False
    accumulated: bool = False
    mixed: bool = False

    def __str__(self) -> str:
        flags = ("scanned", "checkpointed", "clipped", "accumulated", "mixed")
        return "-".join((self.scheme, *(one for one in flags if getattr(self, one))))


def symbols(elements: int) -> frozenset[str]:
    """The dimensions of a tensor with so many elements."""
    return frozenset(name for prime, name in PRIMES.items() if elements % prime == 0)


_LAYER: dict[str, tuple[tuple[int, ...], tuple[str | None, ...]]] = {
    "norm": ((MODEL,), (None,)),
    "query": ((MODEL, HEADS, HEAD), ("f", "t", None)),
    "value": ((MODEL, HEADS, HEAD), ("f", "t", None)),
    "out": ((HEADS, HEAD, MODEL), ("t", None, "f")),
    "scale": ((MODEL,), (None,)),
}
_DENSE: dict[str, tuple[tuple[int, ...], tuple[str | None, ...]]] = {
    "up": ((MODEL, HIDDEN), ("f", "t")),
    "bias": ((HIDDEN,), ("t",)),
    "down": ((HIDDEN, MODEL), ("t", "f")),
}
_EXPERTS: dict[str, tuple[tuple[int, ...], tuple[str | None, ...]]] = {
    "router": ((MODEL, EXPERTS), (None, None)),
    "up": ((EXPERTS, MODEL, HIDDEN), ("e", None, None)),
    "down": ((EXPERTS, HIDDEN, MODEL), ("e", None, None)),
}
_AXES = {
    "data": {"batch": ("data", "more")},
    "fsdp": {"batch": ("data", "more"), "f": ("data", "more")},
    "tensor": {"batch": "data", "t": "more"},
    "fsdp+tensor": {"batch": "data", "f": "data", "t": "more"},
    "zero": {"batch": ("data", "more")},
    "experts": {"batch": ("data", "more"), "rows": "data", "e": "more"},
}
"""What is split over which axes: the batch, f of FSDP, t of tensors, e of experts."""


def _norm(x: Any, scale: Any) -> Any:
    square = jnp.mean(jnp.square(x.astype(jnp.float32)), -1, keepdims=True)
    return x * jax.lax.rsqrt(square + 1e-5).astype(x.dtype) * scale


def _routed(x: Any, layer: Any, send: Callable[[Any], Any]) -> Any:
    """A mixture of experts, by one-hot dispatch to so many places of each."""
    gates = jax.nn.softmax(jnp.einsum("btd,de->bte", x, layer["router"]), -1)
    places = jnp.arange(CAPACITY)[None, :] == jnp.arange(SEQUENCE)[:, None]
    dispatch = jnp.einsum("bte,tc->btec", gates, places.astype(x.dtype))
    inside = send(jnp.einsum("btec,btd->becd", dispatch, x))
    hidden = jax.nn.relu(jnp.einsum("becd,edf->becf", inside, layer["up"]))
    outside = send(jnp.einsum("becf,efd->becd", hidden, layer["down"]))
    return jnp.einsum("btec,becd->btd", dispatch, outside)


def _block(x: Any, layer: Any, send: Callable[[Any], Any]) -> Any:
    h = _norm(x, layer["norm"])
    query = jnp.einsum("btd,dhk->bthk", h, layer["query"])
    value = jnp.einsum("btd,dhk->bthk", h, layer["value"])
    scores = jnp.einsum("bthk,bshk->bhts", query, value)
    mixed = jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(scores, -1), value)
    x = x + jnp.einsum("bthk,hkd->btd", mixed, layer["out"])
    h = _norm(x, layer["scale"])
    if "router" in layer:
        return x + _routed(h, layer, send)
    return x + jax.nn.gelu(h @ layer["up"] + layer["bias"]) @ layer["down"]


def _loss(step: Step, place: Callable[..., Any], params: Any, batch: Any) -> Any:
    def keep(x: Any) -> Any:
        return place(x, "batch")

    def block(x: Any, layer: Any) -> Any:
        return _block(x, layer, lambda x: place(x, "rows", "e"))

    if step.mixed:
        params = jax.tree.map(lambda one: one.astype(jnp.bfloat16), params)
    x = keep(params["embed"][batch["tokens"]])
    if step.checkpointed:
        block = jax.checkpoint(block)
    if step.scanned:
        x, _ = jax.lax.scan(
            lambda x, layer: (keep(block(x, layer)), None), x, params["layers"]
        )
    else:
        for layer in params["layers"]:
            x = keep(block(x, layer))
    logits = (_norm(x, params["last"]) @ params["head"]).astype(jnp.float32)
    picked = jnp.take_along_axis(logits, batch["targets"][..., None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - picked)


def _gradients(step: Step, place: Callable[..., Any], params: Any, batch: Any) -> Any:
    ask = jax.value_and_grad(lambda *given: _loss(step, place, *given))
    if not step.accumulated:
        return ask(params, batch)
    parts = jax.tree.map(lambda one: one.reshape(2, -1, *one.shape[1:]), batch)

    def add(total: Any, part: Any) -> Any:
        return jax.tree.map(jnp.add, total, ask(params, part)), None

    zeros = jax.tree.map(jnp.zeros_like, params)
    (loss, sums), _ = jax.lax.scan(add, (jnp.float32(0), zeros), parts)
    return loss / 2, jax.tree.map(lambda one: one / 2, sums)


def _clip(gradients: Any) -> Any:
    squares = [jnp.sum(jnp.square(one)) for one in jax.tree.leaves(gradients)]
    norm = jnp.sqrt(sum(squares))
    scale = jnp.minimum(1.0, 1.0 / (norm + 1e-6))
    return jax.tree.map(lambda one: one * scale, gradients)


def lowered(step: Step, *, debug_info: bool = True) -> str:
    """The text of a step of AdamW that takes and gives the state, which is donated."""
    mesh = jax.make_mesh(
        (2, 2), ("data", "more"), axis_types=(jax.sharding.AxisType.Auto,) * 2
    )
    axes: dict[str, Any] = _AXES[step.scheme]

    def sharding(*dims: str | None) -> Any:
        spec = P(*(axes.get(one) if one else None for one in dims))
        return jax.sharding.NamedSharding(mesh, spec)

    def place(x: Any, *dims: str) -> Any:
        return jax.lax.with_sharding_constraint(x, sharding(*dims))

    def leaf(shape: tuple[int, ...], dims: tuple[str | None, ...], like: str) -> Any:
        placed = sharding(*dims)
        if like != "params" and step.scheme == "zero":
            at = max(range(len(shape)), key=lambda dim: shape[dim] % 4 == 0)
            parts: list[Any] = [None] * len(shape)
            parts[at] = ("data", "more") if shape[at] % 4 == 0 else None
            placed = jax.sharding.NamedSharding(mesh, P(*parts))
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=placed)

    def tree(like: str) -> Any:
        layer = _LAYER | (_EXPERTS if step.scheme == "experts" else _DENSE)
        if step.scanned:
            layers: Any = {
                name: leaf((LAYERS, *shape), (None, *dims), like)
                for name, (shape, dims) in layer.items()
            }
        else:
            layers = [
                {name: leaf(*one, like) for name, one in layer.items()}
                for _ in range(UNROLLED)
            ]
        return {
            "embed": leaf((VOCABULARY, MODEL), (None, "f"), like),
            "layers": layers,
            "last": leaf((MODEL,), (None,), like),
            "head": leaf((MODEL, VOCABULARY), ("f", None), like),
        }

    def train(state: Any, batch: Any) -> Any:
        loss, gradients = _gradients(step, place, state["params"], batch)
        if step.clipped:
            gradients = _clip(gradients)
        count = state["count"] + 1

        def update(weight: Any, mean: Any, square: Any, gradient: Any) -> Any:
            mean = 0.9 * mean + 0.1 * gradient
            square = 0.95 * square + 0.05 * gradient * gradient
            time = count.astype(jnp.float32)
            change = mean / (1 - 0.9**time)
            change /= jnp.sqrt(square / (1 - 0.95**time)) + 1e-8
            return weight - 3e-4 * (change + 0.1 * weight), mean, square

        kept = state["params"], state["mean"], state["square"]
        new = jax.tree.map(update, *kept, gradients)
        parts = jax.tree.transpose(
            jax.tree.structure(state["params"]), jax.tree.structure((0, 0, 0)), new
        )
        names = ("params", "mean", "square")
        return dict(zip(names, parts, strict=True)) | {"count": count}, loss

    number = jax.ShapeDtypeStruct((), jnp.int32, sharding=sharding())
    state = {name: tree(name) for name in ("params", "mean", "square")}
    state["count"] = number
    tokens = jax.ShapeDtypeStruct(
        (BATCH, SEQUENCE), jnp.int32, sharding=sharding("batch", None)
    )
    kept = jax.tree.map(lambda one: one.sharding, state)
    jitted = jax.jit(train, donate_argnums=0, out_shardings=(kept, sharding()))
    text = jitted.lower(state, {"tokens": tokens, "targets": tokens})
    return text.as_text(debug_info=debug_info)
