"""Families of plain training steps, drawn by a seed, for the TPU's compiler.

Each step is what somebody writes in 40 to 80 lines of JAX, without language models: a family
(`families.py`) and a random choice of its shapes, of types, layers, optimizer, chip, devices,
mesh and constraints. NAME is FAMILY_SEED_NUMBER; `SETS` says which are drawn. Needs `optax`.

On 30 November 2026 plans beside libtpu 0.0.52, within 10% and within 5% of its peak, and the geometric
mean of the error:

- seed 12, 30 steps, planned before libtpu was asked: 13, 7, 1.25; after what they mended 16, 8, 1.16;
- seed 14, 27 steps, before: 9, 7, 1.46; after 11, 10, 1.23;
- seed 13, 15 steps, planned with the mends before libtpu was asked: of 14 that fit 7, 3, 1.27 (6, 2, 1.41
  by the code before the mends); that one of experts does not fit was right;
- seed 15, 18 steps, planned with values on the core before libtpu was asked: 8, 4, 1.25 (6, 3, 1.29 without).
"""
# pyright: basic

import random
from math import prod

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.drawn.families import FAMILIES, value
from tpu.programs.steps import PROGRAMS

SETS = {12: 30, 14: 27, 13: 15, 15: 18}
"""Seeds, and how many steps are drawn by each."""

TOPOLOGIES = {
    "v5e": {4: "2x2", 8: "2x4", 16: "4x4", 32: "4x8"},
    "v6e": {4: "2x2", 8: "2x4", 16: "4x4", 32: "4x8"},
    "v5p": {4: "2x2x1", 8: "2x2x2", 16: "2x2x4", 32: "2x4x4"},
}
"""Chips by devices; libtpu has two devices for each chip of v4."""

COLUMNS = {"up", "gate", "q", "k", "v", "qkv"}
ROWS = {"down", "o"}


class Setting:
    """A random choice of what all families share, and of what one asks for by `pick`."""

    def __init__(self, seed, name):
        self.random = random.Random(f"{seed} {name}")
        self.chip = self.pick("v5e", "v5p", "v6e")
        self.devices = self.pick(4, 8, 8, 16, 32)
        meshes = ["data", "fsdp", "fsdp", "both", "tensor", "tensor"]
        self.mesh = self.pick(*meshes[: 3 if self.devices == 4 else None])
        side = 4 if self.devices > 8 else 2
        outer, inner = {
            "data": ("data", None),
            "fsdp": ("fsdp", None),
            "both": ("data", "fsdp"),
            "tensor": ("fsdp", "tensor"),
        }[self.mesh]
        self.axes = {outer: self.devices}
        if inner:
            inside = side if inner == "tensor" else self.devices // side
            self.axes = {outer: self.devices // inside, inner: inside}
        self.batch = tuple(axis for axis in self.axes if axis != "tensor")
        self.budget = 2 ** self.random.uniform(28, 31.3)
        self.scan = self.pick(True, False)
        self.checkpoint = self.pick(True, False)
        self.held = self.pick(True, False)
        self.donated = self.pick(True, True, False)
        self.returns_split = self.pick(True, False)
        self.dtype = jnp.dtype(self.pick("bfloat16", "bfloat16", "float32"))
        self.kept = jnp.dtype(
            "bfloat16"
            if self.dtype == jnp.bfloat16 and self.pick(0, 0, 1)
            else "float32"
        )
        self.optimizer = self.pick("sgd", "momentum", "adam", "adamw", "clipped")

    def pick(self, *choices):
        return self.random.choice(choices)

    def rows(self, bytes_a_row):
        """Return how many rows of a batch fill the budget, a power of two on each device."""
        ways = prod(self.axes[axis] for axis in self.batch)
        # what a tensor axis splits of a row is about half of it
        share = bytes_a_row / (2 if self.mesh == "tensor" else 1)
        each = 1
        while each * 2 * share <= self.budget and each < 4096:
            each *= 2
        return each * ways

    def hold(self, x):
        """Constrain what a layer returns, if this step does."""
        if not self.held:
            return x
        return jax.lax.with_sharding_constraint(
            x, P(self.batch, *[None] * (x.ndim - 1))
        )

    def weight(self, *sizes):
        return jax.ShapeDtypeStruct(sizes, self.kept)

    def cast(self, x):
        return x.astype(self.dtype)

    def layers(self, count, **shapes):
        """Return parameters of a number of layers, stacked for a scan or listed."""
        if self.scan:
            return {key: self.weight(count, *sizes) for key, sizes in shapes.items()}
        return [
            {key: self.weight(*sizes) for key, sizes in shapes.items()}
            for _ in range(count)
        ]

    def run(self, layer, x, layers):
        """Run layers on a value, in a scan or in Python, with a checkpoint or without."""
        body = jax.checkpoint(layer) if self.checkpoint else layer
        if isinstance(layers, dict):
            return jax.lax.scan(lambda x, p: (body(x, p), None), x, layers)[0]
        for p in layers:
            x = body(x, p)
        return x

    def spec(self, path, x):
        """Return how a parameter is split: large ones along `fsdp`, some along `tensor`."""
        keys = [getattr(part, "key", None) for part in path]
        first = 1 if self.scan and keys[0] in {"layers", "encoder", "decoder"} else 0
        axes = [None] * x.ndim
        inner = x.ndim - first
        if self.mesh == "tensor" and inner >= 2:
            at = {True: x.ndim - 1, False: x.ndim - 2}.get(
                keys[-1] in COLUMNS if keys[-1] in COLUMNS | ROWS else None
            )
            if at is not None and x.shape[at] % self.axes["tensor"] == 0:
                axes[at] = "tensor"
        ways = self.axes.get("fsdp", 0)
        if ways and inner >= 2 and prod(x.shape[first:]) >= 1 << 14:
            free = [
                at
                for at in range(first, x.ndim)
                if axes[at] is None and x.shape[at] % ways == 0
            ]
            if free:
                axes[max(free, key=lambda at: x.shape[at])] = "fsdp"
        return P(*axes)

    def step(self, loss, params, batch):
        """Return the step of a loss: (f, arguments, specs, options of `jax.jit`)."""
        specs = jax.tree_util.tree_map_with_path(self.spec, params)
        split = jax.tree.map(
            lambda x: P(self.batch, *[None] * (x.ndim - 1)) if x.ndim else P(), batch
        )
        update, state, state_specs = self.update(params, specs)

        def step(params, state, batch):
            value, grads = jax.value_and_grad(loss)(params, batch)
            params, state = update(params, state, grads)
            return params, state, value

        options = {"donate_argnums": (0, 1)} if self.donated else {}
        if self.returns_split:
            options["out_shardings"] = (specs, state_specs, P())
        return step, (params, state, batch), (specs, state_specs, split), options

    def update(self, params, specs):
        """Return an update of parameters, by hand or of optax, its state and that's specs."""
        like = jax.tree.map(
            lambda p: jax.ShapeDtypeStruct(p.shape, jnp.float32), params
        )
        if self.optimizer == "sgd":

            def sgd(params, state, grads):
                new = jax.tree.map(
                    lambda p, g: (p - 0.01 * g).astype(p.dtype), params, grads
                )
                return new, state

            return sgd, (), ()
        if self.optimizer == "momentum":

            def momentum(params, state, grads):
                state = jax.tree.map(
                    lambda m, g: 0.9 * m + g.astype(m.dtype), state, grads
                )
                return jax.tree.map(
                    lambda p, m: (p - 0.01 * m).astype(p.dtype), params, state
                ), state

            return momentum, like, specs
        if self.optimizer == "adam":

            def adam(params, state, grads):
                count = state["count"] + 1
                grads = jax.tree.map(lambda g: g.astype(jnp.float32), grads)
                mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["mu"], grads)
                nu = jax.tree.map(
                    lambda n, g: 0.999 * n + 0.001 * g * g, state["nu"], grads
                )
                a, b = 1 - 0.9**count, 1 - 0.999**count
                new = jax.tree.map(
                    lambda p, m, n: (
                        p - 1e-3 * (m / a) / (jnp.sqrt(n / b) + 1e-8)
                    ).astype(p.dtype),
                    *(params, mu, nu),
                )
                return new, {"mu": mu, "nu": nu, "count": count}

            count = value()
            return (
                adam,
                {"mu": like, "nu": like, "count": count},
                {"mu": specs, "nu": specs, "count": P()},
            )
        chosen = optax.adamw(1e-3, weight_decay=0.01)
        if self.optimizer == "clipped":
            chosen = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
        state = jax.eval_shape(chosen.init, params)
        state_specs = optax.tree.map_params(
            *(chosen, lambda _, spec: spec, state, specs),
            transform_non_params=lambda _: P(),
        )

        def library(params, state, grads):
            updates, state = chosen.update(grads, state, params)
            return optax.apply_updates(params, updates), state

        return library, state, state_specs


def register(seed, count):
    """Register steps of a seed, families in turn, each as a program of its own."""
    names = list(FAMILIES)
    random.Random(seed).shuffle(names)
    for n in range(count):
        kind = names[n % len(names)]
        name = f"{kind}_{seed}_{n}"
        s = Setting(seed, name)

        def build(s=s, kind=kind):
            return s.step(*FAMILIES[kind](s))

        topology = f"{s.chip}:{TOPOLOGIES[s.chip][s.devices]}"
        PROGRAMS[name] = (build, topology, s.axes)


for seed, count in SETS.items():
    register(seed, count)
