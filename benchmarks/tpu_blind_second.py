"""Fourth set of programs for the TPU's compiler, planned blind before anything is mended.

    python benchmarks/tpu_blind_second.py DIR [NAME ...] [--dump]

As `benchmarks/tpu_blind.py`: state spaces, recommenders, rings of attention, capacities of
experts, rollouts, adversaries, pipelines, distillation, recurrences and graphs.
"""
# pyright: basic

from tpu_judges import momentum
from tpu_layers import batch_norm, conv, cross_entropy, replicated, rms_norm
from tpu_programs import (
    PROGRAMS,
    adam,
    main,
    program,
    sgd,
    shape,
    specs,
    transformer,
)

OTHERS = set(PROGRAMS)


@program("v5e:2x2", data=4)
def mamba_scan():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, width, inner, state, chunk, length = 6, 1024, 2048, 16, 64, 2048

    def ssm(u, dt, b, c, a):
        """Chunks one after the other, an associative scan inside each."""

        def of_chunk(h, parts):
            u, dt, b, c = parts
            decay = jnp.exp(dt[..., None] * a)
            add = (dt * u)[..., None] * b[:, :, None]

            def join(x, y):
                return x[0] * y[0], x[1] * y[0] + y[1]

            products, sums = jax.lax.associative_scan(join, (decay, add), axis=1)
            states = products * h[:, None] + sums
            return states[:, -1], jnp.einsum("btds,bts->btd", states, c)

        def split(x):
            return x.reshape(x.shape[0], -1, chunk, x.shape[-1]).swapaxes(0, 1)

        h = jnp.zeros((u.shape[0], inner, state), jnp.float32)
        _, y = jax.lax.scan(
            jax.checkpoint(of_chunk), h, tuple(map(split, (u, dt, b, c)))
        )
        return y.swapaxes(0, 1).reshape(u.shape)

    @jax.checkpoint
    def layer(x, w):
        u, gate = jnp.split(rms_norm(x, w["n"]) @ w["in"], 2, -1)
        shifted = jnp.pad(u, ((0, 0), (3, 0), (0, 0)))
        u = jax.nn.silu(
            sum(shifted[:, i : i + length] * w["conv"][i] for i in range(4))
        )
        f = u.astype(jnp.float32)
        b, c = jnp.split((u @ w["bc"]).astype(jnp.float32), 2, -1)
        dt = jax.nn.softplus((u @ w["dt"]).astype(jnp.float32))
        y = ssm(f, dt, b, c, -jnp.exp(w["a"].astype(jnp.float32)))
        return x + (y.astype(x.dtype) * jax.nn.silu(gate)) @ w["out"], None

    def loss(params, tokens):
        x, _ = jax.lax.scan(layer, params["embed"][tokens], params["layers"])
        return cross_entropy(x @ params["embed"].T, jnp.roll(tokens, -1, 1))

    def w(*sizes):
        return shape(layers, *sizes)

    weights = {"n": w(width), "in": w(width, 2 * inner), "conv": w(4, inner)}
    weights |= {"bc": w(inner, 2 * state), "dt": w(inner, inner), "a": w(inner, state)}
    params = {
        "embed": shape(32000, width),
        "layers": weights | {"out": w(inner, width)},
    }
    spec = replicated(params)
    return (
        momentum(loss),
        (params, params, shape(16, length, dtype="int32")),
        (spec, spec, P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5p:2x2x1", data=4)
def resnet_small():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    widths = [128, 256, 512]

    def block(x, w, stride):
        h = jax.nn.relu(batch_norm(conv(x, w["a"], stride), w["na"]))
        h = batch_norm(conv(h, w["b"]), w["nb"])
        return jax.nn.relu(h + (conv(x, w["skip"], stride) if "skip" in w else x))

    def loss(params, images, labels):
        x = jax.nn.relu(batch_norm(conv(images, params["stem"]), params["n"]))
        for at, w in enumerate(params["blocks"]):
            x = block(x, w, 2 if "skip" in w and at else 1)
        return cross_entropy(jnp.mean(x, (1, 2)) @ params["head"], labels)

    blocks, width = [], widths[0]
    for out in widths:
        for _ in range(2):
            w = {"a": shape(3, 3, width, out), "b": shape(3, 3, out, out)}
            w |= {"na": shape(out), "nb": shape(out)}
            if width != out:
                w["skip"] = shape(1, 1, width, out)
            blocks.append(w)
            width = out
    params = {"stem": shape(3, 3, 3, widths[0]), "n": shape(widths[0])}
    params |= {"blocks": blocks, "head": shape(width, 1000)}
    spec = replicated(params)
    return (
        momentum(loss),
        (params, params, shape(1024, 64, 64, 3), shape(1024, dtype="int32")),
        (spec, spec, P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v6e:2x2", model=4)
def recommender():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    tables, rows, width, batch = 16, 400_000, 128, 16384

    def mlp(x, weights):
        for w in weights:
            x = jax.nn.relu(x @ w)
        return x

    def loss(params, dense, index, labels):
        low = mlp(dense, params["bottom"])
        found = jax.vmap(lambda t, i: t[i], (0, 1), 1)(params["tables"], index)
        every = jnp.concatenate([low[:, None], found.astype(low.dtype)], 1)
        crossed = jnp.einsum("bnd,bmd->bnm", every, every)
        at = jnp.triu_indices(tables + 1, 1)
        x = jnp.concatenate([low, crossed[:, at[0], at[1]]], -1)
        logits = mlp(x, params["top"]).astype(jnp.float32)[:, 0]
        return jnp.mean(jnp.logaddexp(0.0, logits) - labels * logits)

    pairs = tables * (tables + 1) // 2
    bottom = [shape(64, 512), shape(512, 256), shape(256, width)]
    top = [shape(width + pairs, 1024), shape(1024, 1024), shape(1024, 1)]
    tables_of = shape(tables, rows, width, dtype="float32")
    params = {"tables": tables_of, "bottom": bottom, "top": top}
    spec = replicated(params) | {"tables": P("model")}
    args = shape(batch, 64), shape(batch, tables, dtype="int32")
    return (
        sgd(loss),
        (params, *args, shape(batch, dtype="float32")),
        (spec, P("model"), P("model"), P("model")),
        {"donate_argnums": 0},
    )


@program("v5p:2x2x1", fsdp=4)
def accumulate_offload():
    import jax
    import jax.numpy as jnp
    from jax.ad_checkpoint import checkpoint_name
    from jax.sharding import PartitionSpec as P

    layers, width, hidden, parts = 8, 2048, 8192, 4
    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=["hidden"],
        names_which_can_be_offloaded=["input"],
        offload_src="device",
        offload_dst="pinned_host",
    )

    def layer(x, w):
        x = checkpoint_name(x, "input")
        h = checkpoint_name(rms_norm(x, w["n"]) @ w["up"], "hidden")
        return x + jax.nn.gelu(h) @ w["down"], None

    layer = jax.checkpoint(layer, policy=policy)

    def loss(params, x):
        y, _ = jax.lax.scan(layer, x, params)
        return jnp.mean(y.astype(jnp.float32) ** 2)

    def step(params, mu, x):
        def add(grads, part):
            new = jax.grad(loss)(params, part)
            return jax.tree.map(lambda g, n: g + n.astype(g.dtype), grads, new), None

        zeros = jax.tree.map(lambda p: jnp.zeros(p.shape, jnp.float32), params)
        split = x.reshape(-1, parts, *x.shape[1:]).swapaxes(0, 1)
        grads, _ = jax.lax.scan(add, zeros, split)
        mu = jax.tree.map(lambda m, g: 0.9 * m + g, mu, grads)
        return jax.tree.map(lambda p, m: (p - 0.1 * m).astype(p.dtype), params, mu), mu

    def w(*sizes, dtype="bfloat16"):
        return shape(layers, *sizes, dtype=dtype)

    params = {"n": w(width), "up": w(width, hidden), "down": w(hidden, width)}
    mu = jax.tree.map(lambda p: shape(*p.shape, dtype="float32"), params)
    spec = {"n": P(), "up": P(None, "fsdp"), "down": P(None, None, "fsdp")}
    return (
        step,
        (params, mu, shape(64, 2048, width)),
        (spec, spec, P("fsdp")),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:2x4", ring=8)
def ring_attention():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    heads, head, size, width = 16, 128, 8, 2048

    def attend(q, k, v):
        def turn(_, state):
            k, v, out, most, total = state
            s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) * head**-0.5
            new = jnp.maximum(most, jnp.max(s, -1))
            p, scale = jnp.exp(s - new[..., None]), jnp.exp(most - new)
            out = out * scale[..., None] + jnp.einsum(
                "bhqk,bkhd->bhqd", p.astype(v.dtype), v
            )
            total = total * scale + jnp.sum(p, -1)
            around = [(i, (i + 1) % size) for i in range(size)]
            k, v = (jax.lax.ppermute(x, "ring", around) for x in (k, v))
            return k, v, out, new, total

        b, n = q.shape[:2]
        zeros = jnp.zeros((b, heads, n), jnp.float32)
        most = jax.lax.pcast(zeros - 1e30, "ring", to="varying")
        total = jax.lax.pcast(zeros, "ring", to="varying")
        out = jax.lax.pcast(
            jnp.zeros((b, heads, n, head), jnp.float32), "ring", to="varying"
        )
        state = jax.lax.fori_loop(0, size, turn, (k, v, out, most, total))
        return (state[2] / state[4][..., None]).astype(q.dtype)

    split = P(None, "ring")
    ring = jax.shard_map(attend, in_specs=(split,) * 3, out_specs=P(None, None, "ring"))

    def loss(params, x):
        for w in params:
            h = rms_norm(x, w["n"])
            q, k, v = (jnp.einsum("bsd,dhk->bshk", h, w[n]) for n in "qkv")
            x = x + jnp.einsum("bhsk,hkd->bsd", jax.checkpoint(ring)(q, k, v), w["o"])
            x = x + jax.nn.silu(rms_norm(x, w["n"]) @ w["up"]) @ w["down"]
        return jnp.mean(x.astype(jnp.float32) ** 2)

    w = {n: shape(width, heads, head) for n in "qkv"}
    w |= {"o": shape(heads, head, width), "n": shape(width)}
    w |= {"up": shape(width, 4 * width), "down": shape(4 * width, width)}
    params = [w] * 3
    return (
        sgd(loss),
        (params, shape(2, 16384, width)),
        (replicated(params), P(None, "ring")),
        {"donate_argnums": 0},
    )


@program("v6e:2x4", expert=8)
def moe_capacity():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    width, hidden, experts, group, capacity, layers = 2048, 8192, 16, 1024, 160, 4

    @jax.checkpoint
    def layer(x, w):
        h = rms_norm(x, w["n"])
        gates = jax.nn.softmax((h @ w["router"]).astype(jnp.float32), -1)
        top, index = jax.lax.top_k(gates, 2)
        mask = jax.nn.one_hot(index, experts, dtype=jnp.int32)
        flat = mask.swapaxes(1, 2).reshape(x.shape[0], 2 * group, experts)
        place = (jnp.cumsum(flat, 1) - 1) * flat
        place = jnp.sum(place, -1).reshape(-1, 2, group).swapaxes(1, 2)
        slot = jax.nn.one_hot(place, capacity, dtype=x.dtype)
        send = jnp.einsum("gske,gskc->gsec", mask.astype(x.dtype), slot)
        back = jnp.einsum(
            *("gske,gskc,gsk->gsec", mask.astype(x.dtype), slot, top.astype(x.dtype))
        )
        sent = jnp.einsum("gsec,gsd->egcd", send, h)
        sent = jax.lax.with_sharding_constraint(sent, P("expert"))
        out = jnp.einsum("egcd,edf->egcf", sent, w["up"])
        out = jnp.einsum("egcf,efd->egcd", jax.nn.gelu(out), w["down"])
        out = jax.lax.with_sharding_constraint(out, P(None, "expert"))
        return x + jnp.einsum("gsec,egcd->gsd", back, out), None

    def loss(params, x):
        y, _ = jax.lax.scan(layer, x, params)
        return jnp.mean(y.astype(jnp.float32) ** 2)

    def w(*sizes):
        return shape(layers, *sizes)

    params = {"n": w(width), "router": w(width, experts)}
    params |= {"up": w(experts, width, hidden), "down": w(experts, hidden, width)}
    spec = {"n": P(), "router": P(), "up": P(None, "expert"), "down": P(None, "expert")}
    return (
        adam(loss),
        (*[params] * 3, shape(64, group, width)),
        (spec, spec, spec, P("expert")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5e:2x2", data=4)
def rollouts():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    width, hidden, actions, horizon, batch = 256, 2048, 64, 128, 8192

    def policy(params, x):
        h = jax.nn.relu(x @ params["a"])
        h = jax.nn.relu(h @ params["b"])
        return h @ params["pi"], (h @ params["v"])[:, 0]

    def step(params, world, state, seed):
        def act(carry):
            t, state, kept = carry
            logits, _ = policy(params, state.astype(jnp.bfloat16))
            noise = jnp.sin(jnp.arange(actions) * (t + seed).astype(jnp.float32))
            action = jnp.argmax(logits.astype(jnp.float32) + noise, -1)
            push = jax.nn.one_hot(action, actions, dtype=jnp.bfloat16) @ world["push"]
            new = jnp.tanh(state @ world["move"] + push.astype(jnp.float32))
            reward = -jnp.mean(new * new, -1)
            kept = tuple(
                jax.lax.dynamic_update_index_in_dim(stack, value, t, 0)
                for stack, value in zip(kept, (state, action, reward), strict=True)
            )
            return t + 1, new, kept

        kept = (
            jnp.zeros((horizon, batch, width)),
            jnp.zeros((horizon, batch), jnp.int32),
            jnp.zeros((horizon, batch)),
        )
        kept = jax.tree.map(
            lambda x: jax.lax.with_sharding_constraint(x, P(None, "data")), kept
        )
        _, last, (states, taken, rewards) = jax.lax.while_loop(
            lambda c: c[0] < horizon, act, (jnp.int32(0), state, kept)
        )

        def back(value, reward):
            value = reward + 0.99 * value
            return value, value

        _, returns = jax.lax.scan(back, jnp.zeros(batch), rewards, reverse=True)

        def loss(params, parts):
            states, taken, returns = parts
            logits, value = policy(params, states.astype(jnp.bfloat16))
            logp = jax.nn.log_softmax(logits.astype(jnp.float32), -1)
            chosen = jnp.take_along_axis(logp, taken[:, None], -1)[:, 0]
            gain = returns - value.astype(jnp.float32)
            return jnp.mean(gain**2 - chosen * jax.lax.stop_gradient(gain))

        def learn(params, parts):
            grads = jax.grad(loss)(params, parts)
            new = jax.tree.map(
                lambda p, g: (p - 0.1 * g).astype(p.dtype), params, grads
            )
            return new, None

        params, _ = jax.lax.scan(learn, params, (states, taken, returns))
        return params, last

    params = {"a": shape(width, hidden), "b": shape(hidden, hidden)}
    params |= {"pi": shape(hidden, actions), "v": shape(hidden, 1)}
    world = {
        "push": shape(actions, width),
        "move": shape(width, width, dtype="float32"),
    }
    args = shape(batch, width, dtype="float32"), shape(dtype="int32")
    return (
        step,
        (params, world, *args),
        (replicated(params), replicated(world), P("data"), P()),
        {"donate_argnums": (0, 2)},
    )


@program("v6e:2x2", data=4)
def adversaries():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    widths = [512, 256, 128]

    def generate(params, z):
        x = (z @ params["in"]).reshape(-1, 8, 8, widths[0])
        for w in params["up"]:
            x = jax.lax.conv_transpose(
                x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = jax.nn.relu(x)
        return jnp.tanh(conv(x, params["out"]))

    def judge(params, x):
        for w in params["down"]:
            x = jax.nn.leaky_relu(conv(x, w, 2), 0.2)
        return (jnp.mean(x, (1, 2)) @ params["head"]).astype(jnp.float32)[:, 0]

    def step(maker, judges, images, z):
        def of_judge(params):
            real, fake = judge(params, images), judge(params, generate(maker, z))
            return jnp.mean(jax.nn.softplus(-real) + jax.nn.softplus(fake))

        def of_maker(params):
            return jnp.mean(jax.nn.softplus(-judge(judges, generate(params, z))))

        new = []
        for params, loss in ((maker, of_maker), (judges, of_judge)):
            grads = jax.grad(loss)(params)
            new.append(
                jax.tree.map(lambda p, g: (p - 1e-3 * g).astype(p.dtype), params, grads)
            )
        return tuple(new)

    up = [shape(4, 4, a, b) for a, b in zip(widths, [256, 128, 128], strict=True)]
    down = [
        shape(4, 4, a, b) for a, b in zip([3, 128, 256], [128, 256, 512], strict=True)
    ]
    maker = {"in": shape(128, 64 * widths[0]), "up": up, "out": shape(3, 3, 128, 3)}
    judges = {"down": down, "head": shape(512, 1)}
    return (
        step,
        (maker, judges, shape(1024, 64, 64, 3), shape(1024, 128)),
        (replicated(maker), replicated(judges), P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5p:2x2x1", stage=4)
def pipeline():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    stages, layers, width, hidden, parts, rows = 4, 3, 2048, 8192, 8, 4096

    def forward(weights, x):
        weights = jax.tree.map(lambda w: w[0], weights)
        at = jax.lax.axis_index("stage")

        def layer(x, w):
            return x + jax.nn.gelu(rms_norm(x, w["n"]) @ w["up"]) @ w["down"], None

        @jax.checkpoint
        def tick(held, t):
            first = jax.lax.dynamic_index_in_dim(
                x, jnp.minimum(t, parts - 1), 0, keepdims=False
            )
            h = jnp.where(at == 0, first, held)
            h, _ = jax.lax.scan(layer, h, weights)
            sent = jax.lax.ppermute(h, "stage", [(i, i + 1) for i in range(stages - 1)])
            return sent, h

        held = jax.lax.pcast(jnp.zeros(x.shape[1:], x.dtype), "stage", to="varying")
        _, out = jax.lax.scan(tick, held, jnp.arange(parts + stages - 1))
        return out[stages - 1 :]

    run = jax.shard_map(forward, in_specs=(P("stage"), P()), out_specs=P("stage"))

    def loss(params, x):
        out = run(params, x)[-parts:]
        return jnp.mean(out.astype(jnp.float32) ** 2)

    def w(*sizes):
        return shape(stages, layers, *sizes)

    params = {"n": w(width), "up": w(width, hidden), "down": w(hidden, width)}
    spec = jax.tree.map(lambda _: P("stage"), params)
    return (
        adam(loss),
        (*[params] * 3, shape(parts, rows, width)),
        (spec, spec, spec, P()),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v6e:2x2", fsdp=4)
def distill():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    layers, vocab, length = 4, 32000, 1024

    def logits_of(params, tokens):
        def layer(x, w):
            h = rms_norm(x, w["n"])
            mixed = (
                jnp.cumsum(h.astype(jnp.float32), 1)
                / jnp.arange(1, length + 1)[:, None]
            )
            x = x + mixed.astype(x.dtype) @ w["mix"]
            return x + jax.nn.gelu(rms_norm(x, w["n"]) @ w["up"]) @ w["down"], None

        x, _ = jax.lax.scan(layer, params["embed"][tokens], params["layers"])
        return (x @ params["head"]).astype(jnp.float32)

    def loss(params, teacher, tokens):
        theirs = jax.nn.log_softmax(logits_of(teacher, tokens) / 2, -1)
        ours = jax.nn.log_softmax(logits_of(params, tokens) / 2, -1)
        return jnp.mean(jnp.sum(jnp.exp(theirs) * (theirs - ours), -1))

    def model(width):
        def w(*sizes):
            return shape(layers, *sizes)

        weights = {"n": w(width), "mix": w(width, width)}
        weights |= {"up": w(width, 4 * width), "down": w(4 * width, width)}
        ends = {"embed": shape(vocab, width), "head": shape(width, vocab)}
        return ends | {"layers": weights}

    student, teacher = model(1024), model(4096)
    ours, theirs = specs(student, "fsdp"), specs(teacher, "fsdp")
    return (
        momentum(loss),
        (student, student, teacher, shape(32, length, dtype="int32")),
        (ours, ours, theirs, P("fsdp")),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:2x2", data=4)
def recurrent():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    width, vocab, length, batch = 1024, 16384, 256, 256

    def loss(params, tokens):
        x = params["embed"][tokens].swapaxes(0, 1)
        for w in params["layers"]:
            inputs = x @ w["x"]

            def turn(h, part, w=w):
                z, r, n = jnp.split(part, 3, -1)
                a, b, c = jnp.split(h @ w["h"], 3, -1)
                z, r = jax.nn.sigmoid(z + a), jax.nn.sigmoid(r + b)
                h = (1 - z) * jnp.tanh(n + r * c) + z * h
                return h, h

            start = jnp.zeros((x.shape[1], width), x.dtype)
            start = jax.lax.with_sharding_constraint(start, P("data"))
            _, x = jax.lax.scan(turn, start, inputs)
        labels = jnp.roll(tokens, -1, 1).swapaxes(0, 1)
        return cross_entropy(x @ params["embed"].T, labels)

    w = {"x": shape(width, 3 * width), "h": shape(width, 3 * width)}
    params = {"embed": shape(vocab, width), "layers": [w] * 2}
    spec = replicated(params)
    return (
        adam(loss),
        (*[params] * 3, shape(batch, length, dtype="int32")),
        (spec, spec, spec, P("data")),
        {"donate_argnums": (0, 1, 2)},
    )


@program("v5p:2x2x1", data=4)
def graph():
    import jax
    from jax.sharding import PartitionSpec as P

    nodes, edges, width, layers = 65536, 524288, 256, 4

    def loss(params, x, source, target, labels):
        for w in params["layers"]:
            messages = jax.nn.relu(x[source] @ w["m"] + x[target] @ w["t"])
            summed = jax.ops.segment_sum(messages, target, nodes)
            x = jax.nn.relu(x @ w["s"] + summed @ w["a"])
        return cross_entropy(x @ params["head"], labels)

    w = {n: shape(width, width) for n in "mtsa"}
    params = {"layers": [w] * layers, "head": shape(width, 64)}
    index = shape(edges, dtype="int32")
    return (
        sgd(loss),
        (params, shape(nodes, width), index, index, shape(nodes, dtype="int32")),
        (replicated(params), P(), P("data"), P("data"), P()),
        {"donate_argnums": 0},
    )


@program("v5e:2x4", fsdp=4, model=2)
def lm_tensor_fsdp():
    from jax.sharding import PartitionSpec as P

    loss, params, tokens = transformer(
        *(6, 2048, 16, 8192, 32768, 32, 1024, "full"), axis="fsdp"
    )
    n = None
    spec = {k: P(n, "fsdp", "model") for k in ("q", "k", "v", "gate", "up")}
    spec |= {"o": P(n, "model", n, "fsdp"), "down": P(n, "model", "fsdp")}
    spec |= {"n1": P(), "n2": P()}
    spec = {"embed": P("model", "fsdp"), "layers": spec}
    return (
        adam(loss),
        (*[params] * 3, tokens),
        (spec, spec, spec, P("fsdp")),
        {"donate_argnums": (0, 1, 2)},
    )


if __name__ == "__main__":
    main([name for name in PROGRAMS if name not in OTHERS], "blind 2")
