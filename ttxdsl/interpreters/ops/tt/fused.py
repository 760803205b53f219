"""Ops of tt-mlir that are several in one: softmax, norms, attention.

They compute in f32 at least and round once, at the end.

Source: tt-mlir's op descriptions.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.dialects._tt.attributes import ints
from ttxdsl.dialects.calls.tenstorrent import Target
from ttxdsl.interpreters.kernels.attention import attend, softmax
from ttxdsl.interpreters.kernels.elements import rank_of, widen
from ttxdsl.interpreters.kernels.elementwise import Array, aligned
from ttxdsl.interpreters.ops.tenstorrent_calls import computed_on_devices
from ttxdsl.interpreters.ops.tt.table import (
    axis_of,
    computed,
    number,
    operands_by_name,
    rank_of_operand,
    with_shape,
)

# norms


@computed("softmax")
def _softmax(op: Any, x: Array) -> Array:
    return softmax(widen(x), axis_of(op.dimension, rank_of(op.input.type)))


def _epsilon(op: Any, dtype: np.dtype[Any], default: float = 1e-5) -> Any:
    return dtype.type(number(op.epsilon, default))


def _scaled(
    op: Any, y: Array, by: dict[str, Array], place: Callable[[Array, int], Array]
) -> Array:
    """Return `y` times the weight plus the bias, which `place` puts along dimensions."""
    for name, ufunc in (("weight", np.multiply), ("bias", np.add)):
        if name in by:
            y = ufunc(y, place(widen(by[name]), rank_of_operand(op, name)))
    return y


def _norm(op: Any, *args: Array, centred: bool) -> Array:
    """rms_norm and, centred, layer_norm: over the last dimensions."""
    by = operands_by_name(op, args)
    x = widen(by["input"])
    shape = op.properties.get("normalized_shape")
    count = 1 if shape is None else len(ints(shape))
    axes = tuple(range(-count, 0))
    if centred:
        x = x - x.mean(axis=axes, keepdims=True, dtype=x.dtype)
    spread = np.square(x).mean(axis=axes, keepdims=True, dtype=x.dtype)
    y = x / np.sqrt(
        spread + _epsilon(op, x.dtype, 1e-12 if op.DIALECT == "ttnn" else 1e-5)
    )
    rank = rank_of(op.input.type)
    return _scaled(op, y, by, lambda value, own: aligned(value, own, rank))


computed("layer_norm")(partial(_norm, centred=True))
computed("rms_norm")(partial(_norm, centred=False))


def _batch_norm(op: Any, *args: Array, training: bool) -> Any:
    by = operands_by_name(op, args)
    x = widen(by["input"])
    rank = rank_of(op.input.type)
    axis = int(number(op.properties.get("dimension"), 1)) % rank
    others = tuple(at - rank for at in range(rank) if at != axis)
    sizes = [-1 if at == axis else 1 for at in range(rank)]

    def along_channels(value: Array, own: int) -> Array:
        return value.reshape((*value.shape[: value.ndim - own], *sizes))

    if training:
        mean = x.mean(axis=others, keepdims=True, dtype=x.dtype)
        variance = np.square(x - mean).mean(axis=others, keepdims=True, dtype=x.dtype)
    else:
        mean, variance = (
            along_channels(widen(by[name]), rank_of_operand(op, name))
            for name in ("running_mean", "running_var")
        )
    y = (x - mean) / np.sqrt(variance + _epsilon(op, x.dtype))
    y = _scaled(op, y, by, along_channels)
    if not training:
        return y
    return y, *(with_shape(op, v, rank, at) for at, v in ((1, mean), (2, variance)))


computed("batch_norm_inference")(partial(_batch_norm, training=False))
computed("batch_norm_training")(partial(_batch_norm, training=True))


@computed("group_norm")
def _group_norm(op: Any, *args: Array) -> Array:
    by = operands_by_name(op, args)
    x = widen(by["input"])
    rank = rank_of(op.input.type)
    at = -1 if op.channel_dim is None else axis_of(op.channel_dim, rank)
    groups = int(number(op.num_groups))
    y = np.moveaxis(x, at, -1)
    shape = y.shape
    y = y.reshape((*shape[:-1], groups, shape[-1] // groups))
    # of […, spatial…, group, channel] all but the batch and the group
    axes = (*range(-rank, -2), -1)
    y = y - y.mean(axis=axes, keepdims=True, dtype=y.dtype)
    spread = np.square(y).mean(axis=axes, keepdims=True, dtype=y.dtype)
    y = (y / np.sqrt(spread + _epsilon(op, y.dtype))).reshape(shape)
    sizes = (*(1,) * (rank - 1), -1)
    y = _scaled(op, y, by, lambda v, own: v.reshape((*v.shape[: v.ndim - own], *sizes)))
    return np.moveaxis(y, -1, at)


# attention


@computed("split_query_key_value_and_split_heads")
def _split_heads(op: Any, *args: Array) -> tuple[Array, ...]:
    """`[b, s, …]` to query, key and value, `[b, heads, s, d]` each."""
    by = operands_by_name(op, args)
    x = by["input_tensor"]
    heads = int(number(op.num_heads))
    few = int(number(op.num_kv_heads, heads))
    other = by.get("kv_input_tensor")
    if other is None:
        size = x.shape[-1] // (heads + 2 * few)
        cuts = [heads * size, (heads + few) * size]
        parts = np.split(x, cuts, axis=-1)
    else:
        parts = [x, *np.split(other, 2, axis=-1)]

    def of_heads(part: Array, count: int) -> Array:
        part = part.reshape((*part.shape[:-1], count, part.shape[-1] // count))
        return np.swapaxes(part, -3, -2)

    query, key, value = (
        of_heads(part, count)
        for part, count in zip(parts, (heads, few, few), strict=True)
    )
    return query, np.swapaxes(key, -1, -2) if bool(op.transpose_key) else key, value


def _attention(op: Any, *args: Array, decode: bool) -> Array:
    """Attention over keys that causality, a window and a mask let a query see.

    Decoding has one query a batch, `[1, b, heads, d]`, which sees keys up to and with
    `cur_pos_tensor`.
    """
    by = operands_by_name(op, args)
    if "attention_sink" in by:
        raise InterpretationError("attention with a sink")
    query, key, value = (widen(by[name]) for name in ("query", "key", "value"))
    if decode:
        query = np.moveaxis(query, -4, -2)  # [b, heads, 1, d]
    rows, columns = query.shape[-2], key.shape[-2]
    last = np.indices((rows, 1), np.int64)[0]
    here = np.indices((1, columns), np.int64)[1]
    seen: Array = np.ones((rows, columns), bool)
    causal = op.is_causal is not None and bool(op.is_causal)
    if causal and not decode:
        seen = here <= last
    window = None
    if op.sliding_window_size is not None:
        window = int(number(op.sliding_window_size))
    if window is not None and not decode:
        seen = seen & (here > last - window)
        if not causal:
            seen = seen & (here < last + window)
    if decode and "cur_pos_tensor" in by:
        place = by["cur_pos_tensor"][..., None, None, None]
        seen = seen & (here <= place)
        if window is not None:
            seen = seen & (here > place - window)
    mask = by.get("attention_mask")
    if mask is not None:
        # of a decoded token: [b, 1, heads, s]
        mask = np.swapaxes(widen(mask), -3, -2) if decode else widen(mask)
    scale = number(op.scale, query.shape[-1] ** -0.5)
    y = attend(query, key, value, scale, mask, seen)
    return np.moveaxis(y, -2, -4) if decode else y


computed("scaled_dot_product_attention")(partial(_attention, decode=False))
computed("scaled_dot_product_attention_decode")(partial(_attention, decode=True))


def _as_call(op: Any, *args: Array, target: Target) -> Array:
    """Compute tt-xla's custom call, of which tt-mlir makes the op."""
    places = {
        name: op.operands.index(value)
        for name, _definition in op.get_irdl_definition().operands
        if (value := getattr(op, name)) is not None
    }
    (result,) = computed_on_devices(op, target, places, args)
    return result


for _name, _target in {
    "chunked_scaled_dot_product_attention": Target.CHUNKED,
    "paged_flash_multi_latent_attention_decode": Target.LATENT_DECODE,
    "paged_scaled_dot_product_attention_decode": Target.PAGED_DECODE,
    "sampling": Target.SAMPLING,
}.items():
    computed(_name)(partial(_as_call, target=_target))


@computed("rotary_embedding")
def _rotary(op: Any, *args: Array) -> Array:
    """`x * cos + rotated * sin`, where the halves of a row are swapped and one negated."""
    x, cos, sin = map(widen, args[:3])
    at = int(number(op.token_index))
    end = x.shape[-2] if op.token_index is None else at + 1
    cos, sin = (angles[..., at:end, :] for angles in (cos, sin))
    half = x.shape[-1] // 2
    turned = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    return x * cos + turned * sin
