"""Ops of tt-mlir that are several in one: linear, softmax, norms, attention.

They compute in f32 at least and round once, at the end. Fields are read by name.

Source: tt-mlir's op descriptions.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.dialects._tt.attributes import ints
from ttxdsl.dialects._tt.elementwise import ELEMENTWISE as LINES
from ttxdsl.dialects.calls.tenstorrent import Target
from ttxdsl.interpreters.kernels import contraction, elementwise
from ttxdsl.interpreters.kernels.elements import (
    compute_dtype,
    rank_of,
    tensor_of,
    widen,
    widened,
)
from ttxdsl.interpreters.kernels.elementwise import Array, Kernel, UnaryKernel
from ttxdsl.interpreters.kernels.tt_elementwise import ELEMENTWISE
from ttxdsl.interpreters.ops.registry import Run
from ttxdsl.interpreters.ops.tenstorrent_calls import computed_on_devices
from ttxdsl.interpreters.ops.tt.tt_mlir_ops import (
    UNARY_TODAY,
    number,
    reshaped,
    result_of,
)
from ttxdsl.interpreters.runtime.compiled_op import Prepared
from ttxdsl.interpreters.runtime.regions import Values

# activations


ACTIVATIONS: dict[str, UnaryKernel] = {
    **UNARY_TODAY,
    **{
        line.ttir: ELEMENTWISE[line.ttir]
        for line in LINES
        if line.arity == 1 and line.ttir in ELEMENTWISE
    },
    "recip": ELEMENTWISE["reciprocal"],
    "softplus": widened(lambda x: np.logaddexp(x, x.dtype.type(0))),
}
"""What may follow an op, by tt-mlir's name."""


_WITH_PARAMETER: dict[str, Callable[[Array, Array], Array]] = {
    "add_unary_sfpu": np.add,
    "sub_unary_sfpu": np.subtract,
    "mul_unary_sfpu": np.multiply,
    "div_unary_sfpu": np.true_divide,
    "power": np.power,
    "leaky_relu": lambda x, slope: np.where(x > 0, x, x * slope),
}


def activated(x: Array, name: str, parameters: Sequence[float] = ()) -> Array:
    """A value after an activation.

    Raises:
        InterpretationError: nobody knows the activation.
    """
    if not parameters and name in ACTIVATIONS:
        return np.asarray(ACTIVATIONS[name](x))
    if len(parameters) == 1 and name in _WITH_PARAMETER:
        wide = widen(x)
        y = _WITH_PARAMETER[name](wide, wide.dtype.type(parameters[0]))
        return y.astype(x.dtype)
    said = f" of {', '.join(map(str, parameters))}" if parameters else ""
    raise InterpretationError(f"no activation {name}{said} is known")


_UNARY_WITH_PARAM = re.compile(
    r"op_type\s*=\s*(?:#ttnn\S*?[<\s])?(\w+)>?(?:,\s*params\s*=\s*\[(.*)\])?\s*$"
)


def activated_by(x: Array, attributes: Any) -> Array:
    """A value after a list of `#ttnn.unary_with_param<op_type = …, params = […]>`.

    Raises:
        InterpretationError: one of them is not known.
    """
    for attribute in () if attributes is None else attributes.data:
        text = attribute.text.data
        found = _UNARY_WITH_PARAM.match(text.strip())
        if found is None:
            raise InterpretationError(f"no activation {text} is known")
        said = found[2] or ""
        parameters = [
            float(one.split(":")[0]) for one in said.split(",") if one.strip()
        ]
        x = activated(x, found[1], parameters)
    return x


# products


def _aligned(x: Array, rank: int, to: int) -> Array:
    """A tensor of a smaller rank with dimensions of size 1 in front, behind the mesh."""
    lead = x.shape[: x.ndim - rank]
    return x.reshape((*lead, *(1,) * (to - rank), *x.shape[x.ndim - rank :]))


def _product(op: Any) -> Kernel:
    """Matrices times matrices; leading dimensions stretch as NumPy's do."""
    ranks = rank_of(op.a.type), rank_of(op.b.type)
    shape, dtype = tensor_of(op.results[0].type)
    turned = [one is not None and bool(one) for one in (op.transpose_a, op.transpose_b)]
    if ranks[0] == ranks[1] and ranks[0] >= 2:
        batch = tuple(range(ranks[0] - 2))
        mine, theirs = (tensor_of(one.type)[0][:-2] for one in (op.a, op.b))
        if mine == theirs:
            left = ranks[0] - (2 if turned[0] else 1)
            right = ranks[1] - (1 if turned[1] else 2)
            return contraction.Contraction(
                (batch, batch), ((left,), (right,)), ranks, dtype
            )
    # vectors and broadcast batches, as torch.matmul has them
    to = max(*ranks, 2)
    wide = compute_dtype(dtype)

    def run(a: Array, b: Array) -> Array:
        x = a[..., None, :] if ranks[0] == 1 else a
        y = b[..., :, None] if ranks[1] == 1 else b
        x = np.swapaxes(x, -1, -2) if turned[0] and ranks[0] > 1 else x
        y = np.swapaxes(y, -1, -2) if turned[1] and ranks[1] > 1 else y
        x, y = (
            _aligned(v, max(rank, 2), to) for v, rank in zip((x, y), ranks, strict=True)
        )
        product = np.matmul(x.astype(wide), y.astype(wide))
        lead = product.ndim - to
        return elementwise.convert(
            product.reshape((*product.shape[:lead], *shape)), dtype
        )

    return run


def _activation(op: Any, x: Array) -> Array:
    return x if op.activation is None else activated(x, op.activation.data)


def _linear(_: Interpreter, op: Any, args: Values) -> Values:
    a, b, *bias = args
    y = _product(op)(a, b)
    if bias:
        to = rank_of(op.results[0].type)
        row = _aligned(bias[0], rank_of(op.bias.type), to)
        y = result_of(op, widen(y) + widen(row))
    return (_activation(op, y),)


def matmul_of(op: Any) -> Prepared:
    """`matmul` of both dialects; ttnn's may end with an activation."""
    product = _product(op)
    if op.DIALECT != "ttnn" or op.activation is None:
        later = product.later if isinstance(product, contraction.Contraction) else None
        return Prepared(product, later=later)

    def run(a: Array, b: Array) -> Array:
        return _activation(op, product(a, b))

    return Prepared(run)


# norms


def _softened(x: Array, axis: int) -> Array:
    shifted = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True))
    return shifted / np.add.reduce(shifted, axis=axis, keepdims=True)


def _softmax(_: Interpreter, op: Any, args: Values) -> Values:
    rank = rank_of(op.input.type)
    axis = int(number(op.dimension)) % rank - rank
    return (result_of(op, _softened(widen(args[0]), axis)),)


def _epsilon(op: Any, dtype: np.dtype[Any], default: float = 1e-5) -> Any:
    return dtype.type(default if op.epsilon is None else number(op.epsilon))


def named(op: Any, args: Values) -> dict[str, Array]:
    """The operands by the names that the op has for them."""
    at = {id(use): value for use, value in zip(op.operands, args, strict=False)}
    names = [name for name, _ in op.get_irdl_definition().operands]
    found: dict[str, Array] = {}
    for name in names:
        value = getattr(op, name)
        if value is not None and id(value) in at:
            found[name] = at[id(value)]
    return found


def _scaled(op: Any, y: Array, by: dict[str, Array]) -> Array:
    """Times the weight, plus the bias, which lie along the last dimensions."""
    rank = rank_of(op.input.type)
    for name, ufunc in (("weight", np.multiply), ("bias", np.add)):
        if name in by:
            one = getattr(op, name)
            y = ufunc(y, _aligned(widen(by[name]), rank_of(one.type), rank))
    return y


def _normal(centre: bool, _: Interpreter, op: Any, args: Values) -> Values:
    """rms_norm and, centred, layer_norm: over the last dimensions."""
    by = named(op, args)
    x = widen(by["input"])
    shape = op.properties.get("normalized_shape")
    count = 1 if shape is None else len(ints(shape))
    axes = tuple(range(-count, 0))
    if centre:
        x = x - x.mean(axis=axes, keepdims=True, dtype=x.dtype)
    spread = np.square(x).mean(axis=axes, keepdims=True, dtype=x.dtype)
    y = x / np.sqrt(
        spread + _epsilon(op, x.dtype, 1e-12 if op.DIALECT == "ttnn" else 1e-5)
    )
    return (result_of(op, _scaled(op, y, by)),)


def _channels(op: Any, value: Array, operand: Any, axis: int) -> Array:
    """Numbers of the channels, along their dimension; ttnn gives them other ones."""
    rank, mine = rank_of(op.input.type), rank_of(operand.type)
    lead = value.shape[: value.ndim - mine]
    sizes = [1] * rank
    sizes[axis] = -1
    return widen(value).reshape((*lead, *sizes))


def _batch_norm(training: bool, _: Interpreter, op: Any, args: Values) -> Values:
    by = named(op, args)
    x = widen(by["input"])
    rank = rank_of(op.input.type)
    said = op.properties.get("dimension")
    axis = 1 if said is None else int(number(said)) % rank
    others = tuple(at - rank for at in range(rank) if at != axis)
    if training:
        mean = x.mean(axis=others, keepdims=True, dtype=x.dtype)
        variance = np.square(x - mean).mean(axis=others, keepdims=True, dtype=x.dtype)
    else:
        mean = _channels(op, by["running_mean"], op.running_mean, axis)
        variance = _channels(op, by["running_var"], op.running_var, axis)
    y = (x - mean) / np.sqrt(variance + _epsilon(op, x.dtype))
    for name, ufunc in (("weight", np.multiply), ("bias", np.add)):
        if name in by:
            y = ufunc(y, _channels(op, by[name], getattr(op, name), axis))
    results = [result_of(op, y)]
    for at, value in enumerate((mean, variance) if training else (), 1):
        shape, _dtype = tensor_of(op.results[at].type)
        results.append(result_of(op, elementwise.reshape(value, rank, shape), at))
    return tuple(results)


def _group_norm(_: Interpreter, op: Any, args: Values) -> Values:
    by = named(op, args)
    x = widen(by["input"])
    rank = rank_of(op.input.type)
    at = -1 if op.channel_dim is None else int(number(op.channel_dim)) % rank - rank
    groups = int(number(op.num_groups))
    y = np.moveaxis(x, at, -1)
    shape = y.shape
    y = y.reshape((*shape[:-1], groups, shape[-1] // groups))
    # of […, spatial…, group, channel] all but the batch and the group
    axes = (*range(-rank, -2), -1)
    y = y - y.mean(axis=axes, keepdims=True, dtype=y.dtype)
    spread = np.square(y).mean(axis=axes, keepdims=True, dtype=y.dtype)
    y = (y / np.sqrt(spread + _epsilon(op, y.dtype))).reshape(shape)
    for name, ufunc in (("weight", np.multiply), ("bias", np.add)):
        if name in by:
            mine = rank_of(getattr(op, name).type)
            value = widen(by[name])
            lead = value.shape[: value.ndim - mine]
            y = ufunc(y, value.reshape((*lead, *(1,) * (rank - 1), -1)))
    return (result_of(op, np.moveaxis(y, -1, at)),)


# attention


def _concatenate_heads(i: Interpreter, op: Any, args: Values) -> Values:
    """`[b, heads, s, d]` to `[b, s, heads * d]`."""
    return reshaped(i, op, (np.swapaxes(args[0], -3, -2),))


def _split_heads(_: Interpreter, op: Any, args: Values) -> Values:
    """`[b, s, …]` to query, key and value, `[b, heads, s, d]` each."""
    by = named(op, args)
    x = by["input_tensor"]
    heads = int(number(op.num_heads))
    few = heads if op.num_kv_heads is None else int(number(op.num_kv_heads))
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


def _attention(decode: bool, _: Interpreter, op: Any, args: Values) -> Values:
    """softmax(query @ key^T * scale + mask) @ value; several queries may share a key.

    Decoding has one query a batch, `[1, b, heads, d]`, which sees keys up to and with
    `cur_pos_tensor`.
    """
    by = named(op, args)
    if "attention_sink" in by:
        raise InterpretationError("attention with a sink")
    query, key, value = (widen(by[name]) for name in ("query", "key", "value"))
    if decode:
        query = np.moveaxis(query, -4, -2)  # [b, heads, 1, d]
    share = query.shape[-3] // key.shape[-3]
    key, value = (np.repeat(one, share, axis=-3) for one in (key, value))
    dtype = query.dtype
    root = 1 / np.sqrt(query.shape[-1]) if op.scale is None else number(op.scale)
    scores = np.matmul(query * dtype.type(root), np.swapaxes(key, -1, -2))
    rows, columns = scores.shape[-2:]
    last = np.indices((rows, 1), np.int64)[0]
    here = np.indices((1, columns), np.int64)[1]
    seen: Array = np.ones((rows, columns), bool)
    causal = op.is_causal is not None and bool(op.is_causal)
    if causal and not decode:
        seen = here <= last
    window = (
        None if op.sliding_window_size is None else int(number(op.sliding_window_size))
    )
    if window is not None and not decode:
        seen = seen & (here > last - window)
        if not causal:
            seen = seen & (here < last + window)
    if decode and "cur_pos_tensor" in by:
        place = by["cur_pos_tensor"][..., None, None, None]
        seen = seen & (here <= place)
        if window is not None:
            seen = seen & (here > place - window)
    if "attention_mask" in by:
        mask = widen(by["attention_mask"])
        # of a decoded token: [b, 1, heads, s]
        scores = scores + (np.swapaxes(mask, -3, -2) if decode else mask)
    scores = elementwise.select(seen, scores, np.asarray(-np.inf, dtype))
    y = np.matmul(_softened(scores, -1), value)
    return (result_of(op, np.moveaxis(y, -2, -4) if decode else y),)


def _as_call(target: Target, _: Interpreter, op: Any, args: Values) -> Values:
    """What tt-xla's call computes of which tt-mlir makes the op."""
    places = {
        name: op.operands.index(value)
        for name, _definition in op.get_irdl_definition().operands
        if (value := getattr(op, name)) is not None
    }
    return computed_on_devices(op, target, places, args)


def _rotary(_: Interpreter, op: Any, args: Values) -> Values:
    """`x * cos + rotated * sin`, where the halves of a row are swapped and one negated."""
    x, cos, sin = (widen(one) for one in args[:3])
    if op.token_index is not None:
        at = int(number(op.token_index))
        cos, sin = (one[..., at : at + 1, :] for one in (cos, sin))
    else:
        rows = x.shape[-2]
        cos, sin = (one[..., :rows, :] for one in (cos, sin))
    half = x.shape[-1] // 2
    turned = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    return (result_of(op, x * cos + turned * sin),)


FUSED_RUNS: dict[str, Run] = {
    "batch_norm_inference": partial(_batch_norm, False),
    "batch_norm_training": partial(_batch_norm, True),
    "chunked_scaled_dot_product_attention": partial(_as_call, Target.CHUNKED),
    "concatenate_heads": _concatenate_heads,
    "group_norm": _group_norm,
    "layer_norm": partial(_normal, True),
    "linear": _linear,
    "nlp_concat_heads": _concatenate_heads,
    "paged_flash_multi_latent_attention_decode": partial(
        _as_call, Target.LATENT_DECODE
    ),
    "paged_scaled_dot_product_attention_decode": partial(_as_call, Target.PAGED_DECODE),
    "rms_norm": partial(_normal, False),
    "rotary_embedding": _rotary,
    "sampling": partial(_as_call, Target.SAMPLING),
    "scaled_dot_product_attention": partial(_attention, False),
    "scaled_dot_product_attention_decode": partial(_attention, True),
    "softmax": _softmax,
    "split_query_key_value_and_split_heads": _split_heads,
}
"""How each is computed, by mnemonic."""
