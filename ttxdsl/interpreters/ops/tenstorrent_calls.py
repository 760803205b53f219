"""tt-mlir's custom calls, on all devices: what is documented well enough to compute.

Numbers are computed in 32 bits or more. Pages outside a cache are its first or last, as
indices of StableHLO's gather are; a page that two users write to has what the later wrote.

Source: tt-xla's custom ops for PyTorch, which compute the same on a CPU, and tt-mlir's
description of its ttir ops. Blocks that a mask leaves out of a product are 0.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.calls.tenstorrent import (
    Target,
    flag,
    normalized_rank,
    number,
    roles,
)
from ttxdsl.interpreters.kernels.attention import attend
from ttxdsl.interpreters.kernels.elements import tensor_of, widen

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Call:
    """A call on one device, and its operands by name."""

    op: Operation
    target: str
    operands: Mapping[str, Array]

    def __getitem__(self, name: str) -> Array:
        return self.operands[name]

    def get(self, name: str) -> Array | None:
        """Return an operand that may not be there."""
        return self.operands.get(name)

    def flag(self, name: str, default: bool = False) -> bool:
        """Return an option that is true or false."""
        return flag(self.op, name, default)

    def number(self, name: str, default: float) -> float:
        """Return an option that is a number."""
        try:
            value = number(self.op, name)
        except ValueError:
            raise self.refusal(f"is told a {name} that is no number") from None
        return default if value is None else value

    def refusal(self, reason: str) -> UnsupportedError:
        """Return the error that it cannot be computed."""
        return UnsupportedError(f"custom call @{self.target} {reason}", self.op)


Kernel = Callable[[_Call], Array | tuple[Array, ...]]


def _attend(
    call: _Call,
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None = None,
    visible: Array | None = None,
) -> Array:
    if call.get("attention_sink") is not None:
        raise call.refusal("has an attention sink, which is not documented")
    scale = call.number("scale", query.shape[-1] ** -0.5)
    return attend(query, key, value, scale, bias, visible)


def _behind(stands: Array, keys: int) -> Array:
    """Return `[s, t]`: the distance of each key behind each query, by position."""
    return stands.astype(np.int64)[:, None] - _numbers(keys)


def _numbers(count: int) -> Array:
    return np.arange(count)


def _mask(call: _Call, query: Array, length: int) -> tuple[Array | None, Array | None]:
    """Return the bias of scores of a prefill, and which keys are visible."""
    mask = call.get("attention_mask")
    causal = call.flag("is_causal", True)
    window = int(call.number("sliding_window_size", 0))
    if mask is not None and causal:
        raise call.refusal("is causal and has a mask, which is not documented")
    if window and not causal:
        raise call.refusal(
            "has a window around what it looks at, not documented enough"
        )
    if not causal:
        return mask, None
    behind = _behind(_numbers(query.shape[-2]), length)
    return None, (behind >= 0) & (not window or behind < window)


def _attention(call: _Call) -> Array:
    query, key, value = (call[name] for name in ("query", "key", "value"))
    one_head = query.ndim == 3
    if one_head:
        query, key, value = (operand[:, None] for operand in (query, key, value))
    y = _attend(call, query, key, value, *_mask(call, query, key.shape[-2]))
    return y[:, 0] if one_head else y


def _value_of(call: _Call, key: Array, width: int) -> Array:
    """Return the values of latent attention: the first part of keys, if not given."""
    value = call.get("value")
    return key[..., :width] if value is None else value


def _latent_prefill(call: _Call) -> Array:
    query, key = call["query"], call["key"]
    value = _value_of(call, key, tensor_of(call.op.results[0].type)[0][-1])
    return _attend(call, query, key, value, *_mask(call, query, key.shape[-2]))


def _pages(call: _Call, cache: Array) -> Array:
    """Return `[u, g, m * p, d]`: the pages of each user of `[n, g, p, d]`, in order."""
    table = np.clip(call["page_table"].astype(np.int64), 0, len(cache) - 1)
    taken = np.swapaxes(cache[table], 1, 2)  # [u, g, m, p, d]
    users, heads, pages, size, width = taken.shape
    return taken.reshape(users, heads, pages * size, width)


def _decode(call: _Call, value: Array) -> Array:
    """Attend with one new token of each user: `[1, u, h, d] -> [1, u, h, v]`."""
    query, key = np.swapaxes(call["query"], 0, 1), _pages(call, call["key"])
    query = np.swapaxes(query, 1, 2)  # [u, h, 1, d]
    position, mask = call.get("cur_pos_tensor"), call.get("attention_mask")
    window = int(call.number("sliding_window_size", 0))
    bias = visible = None
    if call.flag("is_causal", True):
        if position is None or mask is not None:
            raise call.refusal("is causal and has a mask or no positions")
        behind = _behind(position, key.shape[-2])
        seen = (behind >= 0) & (not window or behind < window)
        visible = seen[:, None, None]
    elif window:
        raise call.refusal("has a window and is not causal, which is not documented")
    else:
        bias = mask
        if mask is not None and call.target == Target.PAGED_DECODE:
            bias = np.swapaxes(mask, 1, 2)  # [u, 1, h, t] as the query stands
    y = _attend(call, query, key, _pages(call, value), bias, visible)
    return np.swapaxes(np.swapaxes(y, 1, 2), 0, 1)


def _paged_decode(call: _Call) -> Array:
    return _decode(call, call["value"])


def _latent_decode(call: _Call) -> Array:
    width = tensor_of(call.op.results[0].type)[0][-1]
    return _decode(call, _value_of(call, call["key"], width))


def _chunked(call: _Call) -> Array:
    query, key, value = (
        call["query"],
        *(_pages(call, call[n]) for n in ("key", "value")),
    )
    start = int(call["chunk_start_idx"].reshape(-1)[0])
    behind = _behind(start + _numbers(query.shape[-2]), key.shape[-2])
    return _attend(call, query, key, value, visible=behind >= 0)


def _write(cache: Array, table: Array, user: int, position: int, new: Array) -> None:
    """Put `[h, d]` where a position of a user is in a cache."""
    size = cache.shape[2]
    column = min(max(position // size, 0), table.shape[1] - 1)
    page = min(max(int(table[user, column]), 0), len(cache) - 1)
    cache[page, :, position % size] = new


def _update_cache(call: _Call) -> Array:
    cache, new = call["cache"].copy(), call["input"]
    for user, position in enumerate(call["update_index"]):
        heads = new[0, user, : cache.shape[1]]
        _write(cache, call["page_table"], user, int(position), heads)
    return cache


def _fill_cache(call: _Call) -> Array:
    cache, new = call["cache"].copy(), call["input"]
    numbers, table = call.get("batch_idx"), call["page_table"]
    for row in range(len(new)):
        user = row if numbers is None else int(numbers.reshape(-1)[row])
        user = min(max(user, 0), len(table) - 1)
        for position in range(new.shape[2]):
            _write(cache, table, user, position, new[row, :, position])
    return cache


def _sparse_matmul(call: _Call) -> Array:
    a, b, mask = call["a"], call["b"][0], call["sparsity"] != 0
    if not call.flag("is_input_a_sparse"):
        product = np.einsum("abmk,ekn->abemn", a, b)[:, :, None]
        return product * mask[:, :, :, :, None, None]
    return a @ b[None] * mask.reshape(-1, b.shape[0])[:, :, None, None]


def _indexer(call: _Call) -> Array:
    query, key = call["query"], call["key"]
    scores = np.maximum(query @ np.swapaxes(key, -1, -2), 0) * call["weights"]
    start = int(call.number("chunk_start_idx", 0))
    behind = _behind(start + _numbers(query.shape[-2]), key.shape[-2])
    return np.where(behind >= 0, scores.sum(axis=1, keepdims=True), -np.inf)


def _rms_norm(call: _Call) -> Array:
    x, rank = call["input"], normalized_rank(call.op)
    if rank is None:
        raise call.refusal("does not say what it is over")
    axes = tuple(range(x.ndim - rank, x.ndim))
    mean = np.mean(np.square(x), axis=axes, keepdims=True)
    # PyTorch's own default is the smallest step of the type
    normal = x / np.sqrt(
        mean + x.dtype.type(call.number("epsilon", np.finfo(x.dtype).eps))
    )
    weight, bias = call.get("weight"), call.get("bias")
    normal = normal if weight is None else normal * weight
    return normal if bias is None else normal + bias


def _first(x: Array, axis: int, count: int, largest: bool = True) -> Array:
    """Return the places of the largest or least along an axis, the first of equals."""
    order: Array = np.argsort(-x if largest else x, axis=axis, kind="stable")
    return np.take(order, _numbers(count), axis=axis)


def _top_k(call: _Call) -> Array | tuple[Array, ...]:
    x = call["input"]
    axis = int(call.number("dim", -1)) % x.ndim
    count = tensor_of(call.op.results[0].type)[0][axis]
    picked = _first(x, axis, count, call.flag("largest", True))
    values = np.take_along_axis(x, picked, axis=axis)
    match call.target:
        case Target.TOP_K_VALUES:
            return values
        case Target.TOP_K_INDICES:
            return picked
        case _:
            return values, picked


def _argmax(call: _Call) -> Array:
    x, axis = call["input"], call.number("dim", np.inf)
    x, axis = (x.reshape(-1), 0) if np.isinf(axis) else (x, int(axis))
    return _first(x, axis, 1).reshape(tensor_of(call.op.results[0].type)[0])


def _gather(call: _Call) -> Array:
    x, index = call["input"], call["index"].astype(np.int64)
    axis = int(call.number("dim", 0)) % x.ndim
    kept = tuple(
        slice(None) if dim == axis else slice(size)
        for dim, size in enumerate(index.shape)
    )
    index = np.clip(index, 0, x.shape[axis] - 1)
    return np.take_along_axis(x[kept], index, axis=axis)


KERNELS: dict[str, Kernel] = {
    Target.ATTENTION: _attention,
    Target.ATTENTION_COMPOSITE: _attention,
    Target.PAGED_DECODE: _paged_decode,
    Target.CHUNKED: _chunked,
    Target.LATENT_DECODE: _latent_decode,
    Target.LATENT_PREFILL: _latent_prefill,
    Target.UPDATE_CACHE: _update_cache,
    Target.FILL_CACHE: _fill_cache,
    Target.SPARSE_MATMUL: _sparse_matmul,
    Target.INDEXER: _indexer,
    Target.RMS_NORM: _rms_norm,
    Target.TOP_K: _top_k,
    Target.TOP_K_VALUES: _top_k,
    Target.TOP_K_INDICES: _top_k,
    Target.ARGMAX: _argmax,
    Target.GATHER: _gather,
    Target.GATHER_DIM: _gather,
}
"""The kernel of each call on one device, by target."""

_REASONS: dict[str, str] = {
    Target.DISPATCH: "sends tokens between devices as only the device's kernel knows",
    Target.COMBINE: "sends tokens between devices as only the device's kernel knows",
    Target.REMAP: "numbers the experts of a device as only the device's kernel knows",
    Target.SAMPLING: "draws random numbers as only the device's kernel does",
}


def tenstorrent_call(op: stablehlo.CustomCallOp, *args: Array) -> tuple[Array, ...]:
    """Compute a call of tt-mlir's on all devices; see `computed_on_devices`."""
    target = op.call_target_name.data
    places = roles(op)
    if places is None:
        raise UnsupportedError(
            f"custom call @{target} has other operands than its options say", op
        )
    return computed_on_devices(op, target, places, args)


def computed_on_devices(
    op: Operation, target: str, places: Mapping[str, int], args: Sequence[Any]
) -> tuple[Array, ...]:
    """Compute a call, or the op of ttir or ttnn that it becomes, device by device.

    Args:
        op: the call, or that op.
        places: the number of each operand by its name.
        args: the operands; dimensions before those of their types are devices.

    Raises:
        UnsupportedError: it is not known what it computes, or its operands and results
            are not those of such a call.
    """
    if target in _REASONS:
        raise UnsupportedError(
            f"custom call @{target} {_REASONS[target]}: it can be partitioned, not run",
            op,
        )
    ranks = [len(tensor_of(operand.type)[0]) for operand in op.operands]
    leads = [
        array.shape[: array.ndim - rank]
        for array, rank in zip(args, ranks, strict=True)
    ]
    devices = np.broadcast_shapes(*leads)
    spread = [
        np.broadcast_to(widen(array), devices + array.shape[len(lead) :])
        for array, lead in zip(args, leads, strict=True)
    ]
    results = [tensor_of(result.type) for result in op.results]
    arrays = [np.zeros(devices + shape, dtype) for shape, dtype in results]
    for place in np.ndindex(*devices):
        operands = {name: spread[at][place] for name, at in places.items()}
        call = _Call(op, target, operands)
        for whole, answer in zip(arrays, _run(call), strict=True):
            whole[place] = answer
    return tuple(arrays)


def _run(call: _Call) -> tuple[Array, ...]:
    """Return the results on one device, of the shapes that the call says."""
    shapes = [tensor_of(result.type)[0] for result in call.op.results]
    try:
        with np.errstate(all="ignore"):
            results = KERNELS[call.target](call)
    except (ValueError, IndexError) as mismatch:  # NumPy's, of shapes
        raise call.refusal(f"has operands that do not fit: {mismatch}") from None
    results = results if isinstance(results, tuple) else (results,)
    if [result.shape for result in results] != shapes:
        text = ", ".join(str(result.shape) for result in results)
        raise call.refusal(f"makes {text}, which is not what it says")
    return results
