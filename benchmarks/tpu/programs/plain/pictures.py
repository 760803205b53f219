"""The rest of the ten: steps of images and rays."""
# pyright: basic

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P

from tpu.programs.plain.further import low, replicated, trained
from tpu.programs.steps import array, program, specs

DIMS = ("NHWC", "HWIO", "NHWC")


def conv(x, w, stride=1):
    return jax.lax.conv_general_dilated(
        x, w.astype(x.dtype), (stride, stride), "SAME", dimension_numbers=DIMS
    )


def attention(q, k, v):
    s = jnp.einsum("...qhd,...khd->...hqk", q, k).astype(jnp.float32)
    p = jax.nn.softmax(s * q.shape[-1] ** -0.5, axis=-1).astype(q.dtype)
    return jnp.einsum("...hqk,...khd->...qhd", p, v)


class Block(nn.Module):
    heads: int

    @nn.compact
    def __call__(self, x):
        d, half = x.shape[-1], jnp.bfloat16
        h = nn.LayerNorm(dtype=half)(x)
        qkv = nn.DenseGeneral((3, self.heads, d // self.heads), dtype=half)(h)
        a = attention(*jnp.moveaxis(qkv, -3, 0))
        x = x + nn.DenseGeneral(d, axis=(-2, -1), dtype=half)(a)
        h = nn.Dense(4 * d, dtype=half)(nn.LayerNorm(dtype=half)(x))
        return x + nn.Dense(d, dtype=half)(nn.gelu(h))


class MaskedAutoencoder(nn.Module):
    """An encoder of a quarter of the patches, and a decoder of all of them."""

    @nn.compact
    def __call__(self, patches, kept):
        half = jnp.bfloat16
        x = nn.Dense(768, dtype=half)(patches)
        x = x + self.param("place", nn.initializers.normal(), (1, 196, 768)).astype(
            half
        )
        x = jnp.take_along_axis(x, kept[..., None], axis=1)
        for _ in range(12):
            x = nn.remat(Block)(12)(x)
        x = nn.Dense(512, dtype=half)(nn.LayerNorm(dtype=half)(x))
        empty = self.param("empty", nn.initializers.zeros, (512,)).astype(half)
        rows = jnp.arange(x.shape[0])[:, None]
        full = jnp.broadcast_to(empty, (x.shape[0], 196, 512)).at[rows, kept].set(x)
        full = full + self.param("place2", nn.initializers.normal(), (1, 196, 512))
        y = full.astype(half)
        for _ in range(8):
            y = nn.remat(Block)(16)(y)
        return nn.Dense(768)(nn.LayerNorm(dtype=half)(y))


@program("v6e:2x4", data=8)
def hidden_patches():
    """A masked autoencoder of Flax Linen: what is not kept is what the loss is of; AdamW."""
    model = MaskedAutoencoder()
    batch = {"x": array(1024, 196, 768), "kept": array(1024, 49, dtype="int32")}
    batch |= {"hidden": array(1024, 196)}
    params = jax.eval_shape(model.init, jax.random.key(0), batch["x"], batch["kept"])

    def loss_fn(params, batch):
        out = model.apply(params, batch["x"], batch["kept"])
        error = jnp.square(out - batch["x"]).mean(-1)
        return (error * batch["hidden"]).sum() / batch["hidden"].sum()

    opt = optax.adamw(1.5e-4, b2=0.95, weight_decay=0.05)
    return trained(loss_fn, opt, params, replicated(params), batch, P("data"))


@program("v6e:2x2", data=4)
def adversarial_images():
    """A generator and a discriminator of images, an update of each in one step, in f32."""
    batch, latent, widths = 512, 128, (512, 256, 128, 64)
    maker = {"start": array(latent, 4 * 4 * 512), "up": [], "last": array(3, 3, 64, 3)}
    judge = {"down": [], "last": array(4 * 4 * 512, 1)}
    given = 512
    for width in widths:
        maker["up"].append(array(4, 4, given, width))
        given = width
    given = 3
    for width in widths[::-1]:
        judge["down"].append(array(4, 4, given, width))
        given = width
    params = {"maker": maker, "judge": judge}
    opt = optax.adam(2e-4, b1=0.5)

    def make(w, z):
        x = (z @ w["start"]).reshape(-1, 4, 4, 512)
        for kernel in w["up"]:
            x = jax.lax.conv_transpose(
                x, kernel, (2, 2), "SAME", dimension_numbers=DIMS
            )
            mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
            x = jax.nn.relu((x - mean) * jax.lax.rsqrt(var + 1e-5))
        return jnp.tanh(conv(x, w["last"]))

    def score(w, x):
        for kernel in w["down"]:
            x = jax.nn.leaky_relu(conv(x, kernel, 2), 0.2)
        return (x.reshape(x.shape[0], -1) @ w["last"])[:, 0]

    def judge_loss(judge, maker, images, z):
        fake = jax.lax.stop_gradient(make(maker, z))
        real = jax.nn.softplus(-score(judge, images)).mean()
        return real + jax.nn.softplus(score(judge, fake)).mean()

    def maker_loss(maker, judge, z):
        return jax.nn.softplus(-score(judge, make(maker, z))).mean()

    def train_step(params, states, images, z):
        maker, judge = params["maker"], params["judge"]
        loss, grads = jax.value_and_grad(judge_loss)(judge, maker, images, z)
        updates, of_judge = opt.update(grads, states["judge"])
        judge = optax.apply_updates(judge, updates)
        loss2, grads = jax.value_and_grad(maker_loss)(maker, judge, z)
        updates, of_maker = opt.update(grads, states["maker"])
        maker = optax.apply_updates(maker, updates)
        states = {"maker": of_maker, "judge": of_judge}
        return {"maker": maker, "judge": judge}, states, (loss, loss2)

    states = {n: jax.eval_shape(opt.init, p) for n, p in params.items()}
    images, z = array(4 * batch, 64, 64, 3), array(4 * batch, latent)
    return (
        train_step,
        (params, states, images, z),
        (replicated(params), replicated(states), P("data"), P("data")),
        {"donate_argnums": (0, 1)},
    )


@program("v5e:2x4", data=8)
def rendered_rays():
    """A field of colours and densities: points on rays, a perceptron, and their sum; Adam."""
    rays, points, d, bands = 8192, 128, 256, 10
    encoded = 3 * (1 + 2 * bands)
    params = {
        "first": [array(encoded, d), *[array(d, d)] * 3],
        "second": [array(d + encoded, d), *[array(d, d)] * 3],
        **{"density": array(d, 1), "colour": array(d, 3)},
    }

    def waves(x):
        angles = x[..., None] * 2.0 ** jnp.arange(bands)
        angles = angles.reshape(*x.shape[:-1], -1)
        return jnp.concatenate([x, jnp.sin(angles), jnp.cos(angles)], -1)

    def loss_fn(params, batch):
        depth = jnp.linspace(2.0, 6.0, points)
        at = batch["from"][:, None] + depth[:, None] * batch["to"][:, None]
        x = given = waves(at)
        for w in params["first"]:
            x = jax.nn.relu(x @ w)
        x = jnp.concatenate([x, given], -1)
        for w in params["second"]:
            x = jax.nn.relu(x @ w)
        density = jax.nn.relu(x @ params["density"])[..., 0]
        colour = jax.nn.sigmoid(x @ params["colour"])
        alpha = 1 - jnp.exp(-density * (4.0 / points))
        passed = jnp.cumprod(1 - alpha + 1e-10, -1) / (1 - alpha + 1e-10)
        seen = (colour * (alpha * passed)[..., None]).sum(1)
        return jnp.mean(jnp.square(seen - batch["colour"]))

    batch = {n: array(rays, 3) for n in ("from", "to", "colour")}
    return trained(
        *(loss_fn, optax.adam(5e-4), params, replicated(params), batch, P("data"))
    )


@program("v5e:2x2", data=4)
def segmented_scans():
    """A U-Net that labels pixels, three levels with batch statistics, bf16 inside; momentum."""
    widths, classes, batch, size = (64, 128, 256), 8, 32, 256
    params, given = {"down": [], "up": [], "last": array(1, 1, 64, classes)}, 3
    for width in widths:
        params["down"].append([array(3, 3, given, width), array(3, 3, width, width)])
        given = width
    params["middle"] = [array(3, 3, 256, 512), array(3, 3, 512, 512)]
    given = 512
    for width in widths[::-1]:
        pair = [array(3, 3, 2 * width, width), array(3, 3, width, width)]
        params["up"].append({"grow": array(2, 2, given, width), "pair": pair})
        given = width

    def double(x, kernels):
        for kernel in kernels:
            x = conv(x, kernel)
            x32 = x.astype(jnp.float32)
            mean, var = x32.mean((0, 1, 2)), x32.var((0, 1, 2))
            y = (x32 - mean) * jax.lax.rsqrt(var + 1e-5)
            x = jax.nn.relu(y).astype(x.dtype)
        return x

    def loss_fn(params, batch):
        images, labels = batch
        x, kept = images.astype(jnp.bfloat16), []
        for kernels in params["down"]:
            x = double(x, kernels)
            kept.append(x)
            x = nn.max_pool(x, (2, 2), strides=(2, 2))
        x = double(x, params["middle"])
        for w, skip in zip(params["up"], kept[::-1], strict=True):
            x = jax.lax.conv_transpose(
                x, w["grow"].astype(x.dtype), (2, 2), "SAME", dimension_numbers=DIMS
            )
            x = double(jnp.concatenate([skip, x], -1), w["pair"])
        logits = conv(x, params["last"]).astype(jnp.float32)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    images = array(batch * 4, size, size, 3)
    labels = array(batch * 4, size, size, dtype="int32")
    return trained(
        *(loss_fn, optax.sgd(0.05, momentum=0.9), params, replicated(params)),
        *((images, labels), (P("data"), P("data"))),
    )


@program("v5e:2x4", data=2, fsdp=4)
def windowed_images():
    """A Swin transformer of one width: windows of 8 x 8 that every second layer shifts; AdamW."""
    depth, d, heads, side, window, classes = 12, 768, 24, 32, 8, 1000
    layer = {
        **{"qkv": array(d, 3 * d), "o": array(d, d), "up": array(d, 4 * d)},
        **{"down": array(4 * d, d), "s1": array(d), "s2": array(d)},
    }
    params = {
        **{"patch": array(4 * 4 * 3, d), "layers": [layer] * depth},
        "head": array(d, classes),
    }

    def norm(x, s):
        x32 = x.astype(jnp.float32)
        y = x32 - x32.mean(-1, keepdims=True)
        y = y * jax.lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-5)
        return (y * s).astype(x.dtype)

    def windows(x):
        b, n = x.shape[0], side // window
        x = x.reshape(b, n, window, n, window, d).swapaxes(2, 3)
        return x.reshape(b, n * n, window * window, d)

    def joined(x):
        b, n = x.shape[0], side // window
        x = x.reshape(b, n, n, window, window, d).swapaxes(2, 3)
        return x.reshape(b, side, side, d)

    def loss_fn(params, batch):
        images, labels = batch
        x = images.astype(jnp.bfloat16) @ low(params["patch"])
        for i, w in enumerate(params["layers"]):
            shift = window // 2 if i % 2 else 0
            h = windows(jnp.roll(norm(x, w["s1"]), (-shift, -shift), (1, 2)))
            qkv = (h @ low(w["qkv"])).reshape(*h.shape[:3], 3, heads, -1)
            a = attention(*jnp.moveaxis(qkv, 3, 0)).reshape(h.shape) @ low(w["o"])
            x = x + jnp.roll(joined(a), (shift, shift), (1, 2))
            h = jax.nn.gelu(norm(x, w["s2"]) @ low(w["up"]))
            x = x + h @ low(w["down"])
            x = jax.lax.with_sharding_constraint(x, P(("data", "fsdp")))
        logits = x.astype(jnp.float32).mean((1, 2)) @ params["head"]
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    rows = P(("data", "fsdp"))
    images = array(64, side, side, 48)
    labels = array(64, dtype="int32")
    return trained(
        *(loss_fn, optax.adamw(1e-3), params, specs(params, "fsdp")),
        *((images, labels), (rows, rows)),
    )
