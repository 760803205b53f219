"""Training steps that programs share, and where a program is registered."""
# pyright: basic

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

hold = jax.lax.with_sharding_constraint

PROGRAMS = {}


def program(topology, **axes):
    """Register a function that returns (f, arguments, specs, jit options)."""

    def register(build):
        PROGRAMS[build.__name__] = (build, topology, axes)
        return build

    return register


def shape(*sizes, dtype="bfloat16"):
    return jax.ShapeDtypeStruct(sizes, dtype)


def array(*d, dtype="float32"):
    return jax.ShapeDtypeStruct(d, jnp.dtype(dtype))


def sgd(loss, rate=1e-3):
    def step(params, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        new = jax.tree.map(lambda p, g: (p - rate * g).astype(p.dtype), params, grads)
        return new, value

    return step


def momentum(loss, rate=1e-3):
    def step(params, state, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        state = jax.tree.map(lambda m, g: 0.9 * m + g.astype(m.dtype), state, grads)
        new = jax.tree.map(lambda p, m: (p - rate * m).astype(p.dtype), params, state)
        return new, state, value

    return step


def adam(loss, rate=1e-3):
    def step(params, mu, nu, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mu, grads)
        nu = jax.tree.map(lambda n, g: 0.99 * n + 0.01 * g * g, nu, grads)
        new = jax.tree.map(
            lambda p, m, n: (p - rate * m / (jnp.sqrt(n) + 1e-8)).astype(p.dtype),
            *(params, mu, nu),
        )
        return new, mu, nu, value

    return step


def adam_on_fsdp(loss, params, tokens):
    """A step whose parameters, moments and batch are split over `fsdp`, the state donated."""
    spec = specs(params, "fsdp")
    return (
        adam(loss),
        (params, params, params, tokens),
        (spec, spec, spec, P("fsdp")),
        {"donate_argnums": (0, 1, 2)},
    )


def clipped_adamw(loss, dtype="float32", clip=1.0):
    """A step with clipping by the global norm, moments in a type, and bias correction."""

    def step(params, mu, nu, count, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        squares = [
            jnp.sum(jnp.square(g.astype(jnp.float32))) for g in jax.tree.leaves(grads)
        ]
        norm = jnp.sqrt(sum(squares))
        grads = jax.tree.map(lambda g: g * jnp.minimum(1.0, clip / norm), grads)
        mu = jax.tree.map(lambda m, g: (0.9 * m + 0.1 * g).astype(dtype), mu, grads)
        nu = jax.tree.map(
            lambda n, g: (0.95 * n + 0.05 * g * g).astype(dtype), nu, grads
        )
        count = count + 1

        def update(p, m, n):
            m, n = m / (1 - 0.9**count), n / (1 - 0.95**count)
            return (p - 3e-4 * (m / (jnp.sqrt(n) + 1e-8) + 0.1 * p)).astype(p.dtype)

        return jax.tree.map(update, params, mu, nu), mu, nu, count, value

    return step


def adamw_step(step, params, spec, batch, batch_spec, moments=None):
    moments = moments or jax.tree.map(
        lambda p: shape(*p.shape, dtype="float32"), params
    )
    count = shape(dtype="int32")
    return (
        step,
        (params, moments, moments, count, batch),
        (spec, spec, spec, P(), batch_spec),
        {"donate_argnums": (0, 1, 2)},
    )


def decayed_adamw(loss, params, spec, batch, bspec, lr=1e-4, wd=0.1):
    m = jax.tree.map(lambda p: array(*p.shape), params)
    state = (params, m, m, array(dtype="int32"))
    sspec = (spec, spec, spec, P())

    def step(state, batch):
        p, m, v, t = state
        value, g = jax.value_and_grad(loss)(p, batch)
        t = t + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g.astype(jnp.float32), m, g)
        v = jax.tree.map(
            lambda v, g: 0.95 * v + 0.05 * jnp.square(g.astype(jnp.float32)), v, g
        )
        tf = t.astype(jnp.float32)

        def up(p, m, v):
            mh = m / (1 - 0.9**tf)
            vh = v / (1 - 0.95**tf)
            return (p - lr * (mh / (jnp.sqrt(vh) + 1e-8) + wd * p)).astype(p.dtype)

        return (jax.tree.map(up, p, m, v), m, v, t), value

    return step, (state, batch), (sspec, bspec), {"donate_argnums": (0,)}


def clipped(rate):
    """Return AdamW behind a bound on the gradients' global norm."""
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate))


def optimized(loss, optimizer, params):
    """Return a step with an optax optimizer, and the shapes of its state."""

    def step(params, state, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    return step, jax.eval_shape(optimizer.init, params)


def state_specs(optimizer, params, specs):
    """Return shardings of an optimizer's state: of each tree of parameters that of these."""
    state = jax.eval_shape(optimizer.init, params)
    like = jax.tree.structure(params)

    def is_params(tree):
        return jax.tree.structure(tree) == like

    def spec(part):
        if not is_params(part):
            return jax.tree.map(lambda _: P(), part)
        return jax.tree.map(
            lambda p, x, s: s if x.shape == p.shape else P(), params, part, specs
        )

    return state, jax.tree.map(spec, state, is_leaf=is_params)


def trained(loss, optimizer, params, specs, batch, batch_specs, *fixed):
    """Return a step over parameters and the optimizer's state; what is fixed has its shardings."""
    state, state_spec = state_specs(optimizer, params, specs)

    def step(params, state, batch, *frozen):
        value, grads = jax.value_and_grad(loss)(params, batch, *frozen)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    return (
        step,
        (params, state, batch, *(tree for tree, _ in fixed)),
        (specs, state_spec, batch_specs, *(spec for _, spec in fixed)),
        {"donate_argnums": (0, 1)},
    )


def specs(params, axis, largest=True):
    """Shard the largest dimension that the axis' devices divide, behind a layer dimension."""

    def spec(x):
        start = 1 if len(x.shape) > 2 else 0
        sizes = [
            (size, at)
            for at, size in enumerate(x.shape)
            if at >= start and size % 32 == 0
        ]
        if not sizes or len(x.shape) < 2:
            return P()
        at = max(sizes)[1]
        return P(*(axis if i == at else None for i in range(len(x.shape))))

    return jax.tree.map(spec, params)


def rows_of(tree, axis, at_least=1 << 16):
    """Return shardings that split each large array along its longest dimension."""

    def spec(x):
        if x.size < at_least:
            return P()
        longest = max(range(x.ndim), key=lambda at: (x.shape[at], at))
        return P(*[axis if at == longest else None for at in range(x.ndim)])

    return jax.tree.map(spec, tree)


def split_rows(params, axis):
    """Return specs that split the first dimension of matrices of at least a million elements."""
    return jax.tree.map(lambda p: P(axis) if p.size >= 2**20 else P(), params)


def replicated(params):
    return jax.tree.map(lambda _: P(), params)
