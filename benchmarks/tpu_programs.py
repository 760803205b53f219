"""Programs of hundreds of MiB a device, and what the TPU's compiler says of them.

    python benchmarks/tpu_programs.py DIR [NAME ...] [--dump]

Needs `jax` and `libtpu` of the registry, and no chip. For each program writes NAME.mlir (what
JAX lowers) and NAME.json (libtpu's `memory_analysis()` and `cost_analysis()`) to DIR, for
`benchmarks/plan.py`. `--dump` writes libtpu's buffer assignment beside them.
"""
# pyright: basic

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

PROGRAMS = {}


def program(topology, **axes):
    """Register a function that returns (f, arguments, specs, jit options)."""

    def register(build):
        PROGRAMS[build.__name__] = (build, topology, axes)
        return build

    return register


def shape(*sizes, dtype="bfloat16"):
    import jax

    return jax.ShapeDtypeStruct(sizes, dtype)


def sgd(loss, rate=1e-3):
    import jax

    def step(params, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        new = jax.tree.map(lambda p, g: (p - rate * g).astype(p.dtype), params, grads)
        return new, value

    return step


def adam(loss, rate=1e-3):
    import jax
    import jax.numpy as jnp

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
    from jax.sharding import PartitionSpec as P

    spec = specs(params, "fsdp")
    return (
        adam(loss),
        (params, params, params, tokens),
        (spec, spec, spec, P("fsdp")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5e:2x2", data=4)
def mlp_forward():
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def f(x, w1, w2, w3):
        h = jnp.maximum(x @ w1, 0)
        h = jnp.tanh(h @ w2)
        return h @ w3

    arguments = (
        shape(32768, 2048),
        shape(2048, 8192),
        shape(8192, 8192),
        shape(8192, 2048),
    )
    return f, arguments, (P("data"), P(), P(), P()), {}


@program("v5e:2x2", data=4)
def mlp_train_donated():
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def loss(params, x, y):
        h = x
        for w in params[:-1]:
            h = jnp.maximum(h @ w, 0)
        return jnp.mean((h @ params[-1] - y).astype(jnp.float32) ** 2)

    params = [shape(2048, 4096), *[shape(4096, 4096)] * 6, shape(4096, 1024)]
    arguments = (params, shape(65536, 2048), shape(65536, 1024))
    return (
        sgd(loss),
        arguments,
        ([P()] * 8, P("data"), P("data")),
        {"donate_argnums": 0},
    )


@program("v6e:2x2", data=4)
def mlp_adam_f32_kept():
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def loss(params, x, y):
        h = x
        for w in params:
            h = jnp.tanh(h @ w.astype(jnp.bfloat16))
        return jnp.mean((h - y).astype(jnp.float32) ** 2)

    params = [shape(4096, 4096, dtype="float32")] * 4
    spec = [P("data")] * 4
    arguments = (params, params, params, shape(32768, 4096), shape(32768, 4096))
    return adam(loss), arguments, (spec, spec, spec, P("data"), P("data")), {}


@program("v5p:2x2x1", data=4)
def attention_naive():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def f(q, k, v):
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 11.3
        s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -1e9)
        p = jax.nn.softmax(s.astype(jnp.float32), axis=-1).astype(q.dtype)
        return jnp.einsum("bhqk,bkhd->bqhd", p, v)

    one = shape(8, 4096, 16, 128)
    return f, (one, one, one), (P("data"),) * 3, {}


@program("v5p:2x2x1", data=4)
def attention_train():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def loss(params, x):
        wq, wk, wv, wo = params
        q, k, v = (jnp.einsum("bsd,dhk->bshk", x, w) for w in (wq, wk, wv))
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) / 11.3
        p = jax.nn.softmax(s, axis=-1).astype(q.dtype)
        o = jnp.einsum("bhqk,bkhd->bqhd", p, v)
        out = jnp.einsum("bshk,hkd->bsd", o, wo)
        return jnp.mean((out - x).astype(jnp.float32) ** 2)

    params = [shape(2048, 16, 128)] * 3 + [shape(16, 128, 2048)]
    return (
        sgd(loss),
        (params, shape(8, 2048, 2048)),
        ([P()] * 4, P("data")),
        {"donate_argnums": 0},
    )


def scanned_mlp(policy):
    import jax
    import jax.numpy as jnp

    def layer(h, w):
        w1, w2 = w
        return h + jax.nn.gelu(h @ w1) @ w2, None

    if policy == "full":
        layer = jax.checkpoint(layer)
    elif policy == "dots":
        layer = jax.checkpoint(layer, policy=jax.checkpoint_policies.dots_saveable)

    def loss(params, x):
        h, _ = jax.lax.scan(layer, x, params)
        return jnp.mean(h.astype(jnp.float32) ** 2)

    params = (shape(16, 2048, 8192), shape(16, 8192, 2048))
    return loss, (params, shape(32, 1024, 2048))


@program("v5e:2x2", data=4)
def scan_mlp_residuals():
    from jax.sharding import PartitionSpec as P

    loss, arguments = scanned_mlp("none")
    return sgd(loss), arguments, ((P(), P()), P("data")), {"donate_argnums": 0}


@program("v5e:2x2", data=4)
def scan_mlp_remat_full():
    from jax.sharding import PartitionSpec as P

    loss, arguments = scanned_mlp("full")
    spec = P(None, "data")
    return sgd(loss), arguments, ((spec, spec), P("data")), {"donate_argnums": 0}


@program("v6e:2x2", data=4)
def scan_mlp_remat_dots():
    from jax.sharding import PartitionSpec as P

    loss, arguments = scanned_mlp("dots")
    return (
        sgd(loss),
        arguments,
        ((P(None, None, "data"), P(None, "data")), P("data")),
        {"donate_argnums": 0},
    )


def tensor_parallel():
    """Return the specs of a transformer's parameters, split over `model`."""
    from jax.sharding import PartitionSpec as P

    n = None
    weights = {"n1": P(), "n2": P(), "o": P(n, "model")}
    weights |= {k: P(n, n, "model") for k in "qkv"}
    weights |= {"gate": P(n, n, "model"), "up": P(n, n, "model"), "down": P(n, "model")}
    return {"embed": P("model"), "layers": weights}


def transformer(
    layers,
    width,
    heads,
    hidden,
    vocab,
    batch,
    length,
    remat,
    experts=0,
    dtype="bfloat16",
    axis=None,
):
    """Return a loss, its parameters' shapes and its batch's; `axis` keeps the batch split."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    head = width // heads

    def norm(x, scale):
        y = x.astype(jnp.float32)
        y = y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)
        return (y * scale).astype(x.dtype)

    def layer(x, w):
        if axis:
            x = jax.lax.with_sharding_constraint(x, P(axis))
        h = norm(x, w["n1"])
        q, k, v = (jnp.einsum("bsd,dhk->bshk", h, w[n].astype(x.dtype)) for n in "qkv")
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) * head**-0.5
        s = jnp.where(jnp.tril(jnp.ones((length, length), bool)), s, -1e30)
        p = jax.nn.softmax(s, -1).astype(x.dtype)
        o = jnp.einsum("bhqk,bkhd->bqhd", p, v)
        x = x + jnp.einsum("bshk,hkd->bsd", o, w["o"].astype(x.dtype))
        h = norm(x, w["n2"])
        if experts:
            gates = jax.nn.softmax((h @ w["r"]).astype(jnp.float32), -1)
            top, index = jax.lax.top_k(gates, 2)
            mask = jnp.sum(jax.nn.one_hot(index, experts) * top[..., None], -2)
            up = jnp.einsum("bsd,edf->ebsf", h, w["up"].astype(x.dtype))
            act = jax.nn.silu(up) * mask.transpose(2, 0, 1)[..., None].astype(x.dtype)
            return x + jnp.einsum("ebsf,efd->bsd", act, w["down"].astype(x.dtype)), None
        g = jax.nn.silu(h @ w["gate"].astype(x.dtype)) * (h @ w["up"].astype(x.dtype))
        return x + g @ w["down"].astype(x.dtype), None

    if remat == "full":
        layer = jax.checkpoint(layer)
    elif remat == "dots":
        layer = jax.checkpoint(
            layer, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable
        )

    def loss(params, tokens):
        x = params["embed"].astype(jnp.bfloat16)[tokens]
        x, _ = jax.lax.scan(layer, x, params["layers"])
        logits = jnp.einsum(
            "bsd,vd->bsv", x, params["embed"].astype(jnp.bfloat16)
        ).astype(jnp.float32)
        logp = jax.nn.log_softmax(logits, -1)
        return -jnp.mean(
            jnp.take_along_axis(logp, jnp.roll(tokens, -1, 1)[..., None], -1)
        )

    def w(*sizes):
        return shape(layers, *sizes, dtype=dtype)

    weights = {"n1": w(width), "n2": w(width), "o": w(heads, head, width)}
    weights |= {n: w(width, heads, head) for n in "qkv"}
    if experts:
        weights |= {
            "r": w(width, experts),
            "up": w(experts, width, hidden),
            "down": w(experts, hidden, width),
        }
    else:
        weights |= {
            "gate": w(width, hidden),
            "up": w(width, hidden),
            "down": w(hidden, width),
        }
    params = {"embed": shape(vocab, width, dtype=dtype), "layers": weights}
    return loss, params, shape(batch, length, dtype="int32")


def specs(params, axis, largest=True):
    """Shard the largest dimension that the axis' devices divide, behind a layer dimension."""
    import jax
    from jax.sharding import PartitionSpec as P

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


@program("v5e:4x4", fsdp=16)
def lm_fsdp_adam():

    loss, params, tokens = transformer(
        12, 2048, 16, 8192, 32768, 32, 2048, "full", dtype="float32"
    )
    return adam_on_fsdp(loss, params, tokens)


@program("v5p:2x2x2", fsdp=8)
def lm_fsdp_none():
    from jax.sharding import PartitionSpec as P

    loss, params, tokens = transformer(
        8, 2048, 16, 8192, 32768, 16, 2048, "none", axis="fsdp"
    )
    spec = specs(params, "fsdp")
    return sgd(loss), (params, tokens), (spec, P("fsdp")), {"donate_argnums": 0}


@program("v6e:4x4", fsdp=16)
def lm_fsdp_dots():

    loss, params, tokens = transformer(
        16, 4096, 32, 14336, 32768, 16, 4096, "dots", dtype="float32", axis="fsdp"
    )
    return adam_on_fsdp(loss, params, tokens)


@program("v5p:2x2x2", data=2, model=4)
def lm_tensor():
    from jax.sharding import PartitionSpec as P

    loss, params, tokens = transformer(
        8, 4096, 32, 16384, 32768, 8, 2048, "full", axis="data"
    )
    spec = tensor_parallel()
    return sgd(loss), (params, tokens), (spec, P("data")), {"donate_argnums": 0}


@program("v6e:2x4", expert=8)
def moe_expert_parallel():
    from jax.sharding import PartitionSpec as P

    loss, params, tokens = transformer(
        6, 2048, 16, 4096, 32768, 16, 1024, "full", experts=16, axis="expert"
    )
    n = None
    weights = {k: P() for k in params["layers"]}
    weights |= {"up": P(n, "expert"), "down": P(n, "expert")}
    return (
        sgd(loss),
        (params, tokens),
        ({"embed": P(), "layers": weights}, P("expert")),
        {"donate_argnums": 0},
    )


@program("v5e:2x2", fsdp=4)
def lm_unrolled():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def loss(params, x):
        for w1, w2 in params:
            g, u = jnp.split(x @ w1, 2, axis=-1)
            x = x + (jax.nn.silu(g) * u) @ w2
        return jnp.mean(x.astype(jnp.float32) ** 2)

    params = [(shape(2048, 16384), shape(8192, 2048))] * 8
    spec = [(P("fsdp"), P(None, "fsdp"))] * 8
    return (
        sgd(loss),
        (params, shape(32768, 2048)),
        (spec, P("fsdp")),
        {"donate_argnums": 0},
    )


@program("v5e:2x2", data=4)
def conv_forward():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def f(x, k1, k2, k3):
        for k in (k1, k2, k3):
            x = jax.lax.conv_general_dilated(
                x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = jnp.maximum(x, 0)
        return jnp.mean(x, (1, 2))

    return (
        f,
        (
            shape(128, 128, 128, 128),
            shape(3, 3, 128, 256),
            shape(3, 3, 256, 256),
            shape(3, 3, 256, 256),
        ),
        (P("data"), P(), P(), P()),
        {},
    )


@program("v5p:2x2x1", data=4)
def conv_train():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def loss(params, x):
        for k in params:
            x = jax.lax.conv_general_dilated(
                x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            mean = jnp.mean(x.astype(jnp.float32), (0, 1, 2))
            x = jnp.maximum(x - mean.astype(x.dtype), 0)
        return jnp.mean(x.astype(jnp.float32))

    params = [shape(3, 3, 128, 128)] * 6
    return (
        sgd(loss),
        (params, shape(64, 128, 128, 128)),
        ([P()] * 6, P("data")),
        {"donate_argnums": 0},
    )


@program("v5e:2x2", data=4)
def embedding_bag():
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def loss(params, ids, y):
        table, w = params
        x = jnp.sum(table[ids], 1)
        return jnp.mean((x @ w - y) ** 2)

    params = (shape(262144, 512, dtype="float32"), shape(512, 256, dtype="float32"))
    arguments = (
        params,
        shape(16384, 32, dtype="int32"),
        shape(16384, 256, dtype="float32"),
    )
    return (
        sgd(loss),
        arguments,
        ((P(), P()), P("data"), P("data")),
        {"donate_argnums": 0},
    )


@program("v5e:2x2", data=4)
def softmax_classifier():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def loss(w, x, labels):
        logits = (x @ w).astype(jnp.float32)
        return -jnp.mean(
            jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
        )

    arguments = (shape(1024, 131072), shape(16384, 1024), shape(16384, dtype="int32"))
    return sgd(loss), arguments, (P(), P("data"), P("data")), {"donate_argnums": 0}


@program("v5e:2x2", data=2, model=2)
def decode_cache_update():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def f(cache_k, cache_v, q, k, v, at):
        zero = jnp.int32(0)
        cache_k = jax.lax.dynamic_update_slice(cache_k, k, (zero, at, zero, zero))
        cache_v = jax.lax.dynamic_update_slice(cache_v, v, (zero, at, zero, zero))
        s = jnp.einsum("bhd,bkhd->bhk", q, cache_k).astype(jnp.float32)
        s = jnp.where(jnp.arange(s.shape[-1]) <= at, s, -1e30)
        out = jnp.einsum("bhk,bkhd->bhd", jax.nn.softmax(s).astype(q.dtype), cache_v)
        return cache_k, cache_v, out

    cache = P("data", None, "model")
    arguments = (
        (shape(64, 8192, 16, 128),) * 2
        + (shape(64, 16, 128),)
        + (shape(64, 1, 16, 128),) * 2
        + (shape(dtype="int32"),)
    )
    return (
        f,
        arguments,
        (cache, cache, P("data", "model"), cache, cache, P()),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:2x2", data=4)
def elementwise_chain():
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def f(x, y):
        a = jnp.exp(-x * x) + y
        b = a - jnp.mean(a, -1, keepdims=True)
        c = b / jnp.sqrt(jnp.mean(b * b, -1, keepdims=True) + 1e-5)
        return c * y, jnp.cumsum(c, axis=1)

    one = shape(32768, 8192, dtype="float32")
    return f, (one, one), (P("data"), P("data")), {}


@program("v5p:2x2x1", data=4)
def gradient_accumulation():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def loss(params, x):
        for w in params:
            x = jnp.tanh(x @ w.astype(x.dtype))
        return jnp.mean(x.astype(jnp.float32) ** 2)

    def step(params, batch):
        def micro(total, x):
            return jax.tree.map(
                lambda a, b: a + b, total, jax.grad(loss)(params, x)
            ), None

        zeros = jax.tree.map(lambda p: jnp.zeros(p.shape, p.dtype), params)
        grads, _ = jax.lax.scan(micro, zeros, batch)
        return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads)

    params = [shape(4096, 4096, dtype="float32")] * 6
    return (
        step,
        (params, shape(8, 16384, 4096)),
        ([P()] * 6, P(None, "data")),
        {"donate_argnums": 0},
    )


@program("v5e:2x2", data=4)
def sort_top():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def f(x, w):
        y = jnp.sort(x, axis=-1)
        values, index = jax.lax.top_k((y @ w).astype(jnp.float32), 64)
        return values.sum(), index

    return (
        f,
        (shape(16384, 4096, dtype="float32"), shape(4096, 4096, dtype="float32")),
        (P("data"), P()),
        {},
    )


@program("v5e:2x2", sequence=4)
def sequence_parallel_mlp():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def loss(params, x):
        w1, w2 = params
        h = jax.lax.with_sharding_constraint(x, P())
        h = jax.nn.silu(h @ w1)
        out = jax.lax.with_sharding_constraint(h @ w2, P("sequence"))
        return jnp.mean((x + out).astype(jnp.float32) ** 2)

    params = (shape(4096, 16384), shape(16384, 4096))
    return (
        sgd(loss),
        (params, shape(16384, 4096)),
        ((P(None, "sequence"), P("sequence")), P("sequence")),
        {"donate_argnums": 0},
    )


JUDGES = frozenset(
    sorted(
        (
            "mlp_adam_f32_kept",
            "attention_train",
            "scan_mlp_remat_full",
            "lm_fsdp_none",
            "lm_tensor",
            "lm_unrolled",
            "conv_train",
            "elementwise_chain",
            "gradient_accumulation",
            "sequence_parallel_mlp",
            "embedding_bag",
        )
    )
)
"""Not looked at while constants were fitted."""


def compile_program(name, folder, half=None):
    """Build, lower and compile a program; write its two files."""
    import jax
    from jax.experimental import mesh_utils, topologies
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    build, topology, axes = PROGRAMS[name]
    devices = topologies.get_topology_desc(topology, platform="tpu").devices
    # as `jax.make_mesh` orders them: neighbours on an axis have a link
    ordered = mesh_utils.create_device_mesh(tuple(axes.values()), devices)
    mesh = Mesh(ordered, tuple(axes))
    f, arguments, spec, options = build()
    shardings = jax.tree.map(
        lambda s: NamedSharding(mesh, s),
        spec,
        is_leaf=lambda s: isinstance(s, PartitionSpec),
    )
    # a step's state stays where it is
    with jax.set_mesh(mesh):
        lowered = jax.jit(f, in_shardings=shardings, **options).lower(*arguments)
        text = lowered.as_text()
        (folder / f"{name}.mlir").write_text(text)
        start = time.time()
        data = {
            "topology": topology.replace(":", "-"),
            "slices": 1,
            "devices": mesh.size,
            "half": half or ("judge" if name in JUDGES else "fit"),
        }
        try:
            compiled = lowered.compile()
        except jax.errors.JaxRuntimeError as error:
            needed = re.search(r"temporaries \(([\d.]+)G\)", str(error))
            if needed is None:
                raise
            data["does_not_fit_bytes"] = int(float(needed[1]) * 2**30)
        else:
            memory = compiled.memory_analysis()
            cost = compiled.cost_analysis()
            (folder / f"{name}.hlo").write_text(compiled.as_text())
            kinds = ("argument", "output", "alias", "temp")
            data["memory"] = {k: getattr(memory, f"{k}_size_in_bytes") for k in kinds}
            data["flops"] = cost.get("flops")
            data["bytes"] = cost.get("bytes accessed")
    data["compile_s"] = time.time() - start
    (folder / f"{name}.json").write_text(json.dumps(data))
    print(name, json.dumps(data), flush=True)


def main(names=tuple(PROGRAMS), half=None):
    """Compile programs by name, each in a process of its own; `half` names their set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--dump", action="store_true")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ |= {"TPU_SKIP_MDS_QUERY": "1", "JAX_PLATFORMS": "cpu"}
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.names or names:
        if options.here:
            compile_program(name, options.folder, half)
            continue
        if (options.folder / f"{name}.json").exists():
            continue
        # a process each: libtpu keeps what it compiled, and a crash takes one program only
        dump = options.folder / "dumps" / name
        if options.dump:
            shutil.rmtree(dump, ignore_errors=True)
            os.environ["XLA_FLAGS"] = f"--xla_dump_to={dump}"
        command = [sys.executable, sys.argv[0], str(options.folder), name, "--here"]
        done = subprocess.run(command, capture_output=True, text=True)
        print(done.stdout, end="", flush=True)
        if done.returncode:
            print(name, "failed:", done.stderr.strip().splitlines()[-1:], flush=True)


if __name__ == "__main__":
    main()
