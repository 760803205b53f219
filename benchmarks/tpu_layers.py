"""Layers that the blind programs for the TPU's compiler share."""
# pyright: basic


def conv(x, w, stride=1):
    import jax

    return jax.lax.conv_general_dilated(
        *(x, w, (stride, stride), "SAME"),
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )


def group_norm(x, scale, groups=32):
    import jax
    import jax.numpy as jnp

    y = x.astype(jnp.float32).reshape(*x.shape[:-1], groups, -1)
    mean = jnp.mean(y, (1, 2, 4), keepdims=True)
    var = jnp.var(y, (1, 2, 4), keepdims=True)
    y = ((y - mean) * jax.lax.rsqrt(var + 1e-5)).reshape(x.shape)
    return (y * scale).astype(x.dtype)


def rms_norm(x, w):
    import jax
    import jax.numpy as jnp

    y = x.astype(jnp.float32)
    y = y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)
    return (y * w).astype(x.dtype)


def batch_norm(x, w):
    import jax
    import jax.numpy as jnp

    y = x.astype(jnp.float32)
    mean, var = jnp.mean(y, (0, 1, 2)), jnp.var(y, (0, 1, 2))
    return ((y - mean) * jax.lax.rsqrt(var + 1e-5) * w).astype(x.dtype)


def cross_entropy(logits, labels):
    import jax
    import jax.numpy as jnp

    logp = jax.nn.log_softmax(logits.astype(jnp.float32), -1)
    return -jnp.mean(jnp.take_along_axis(logp, labels[..., None], -1))


def replicated(params):
    import jax
    from jax.sharding import PartitionSpec as P

    return jax.tree.map(lambda _: P(), params)
