"""What ttir and ttnn ops compute on the devices, once for both dialects.

`RUNS` says for each declaration that they share, by its name, how it is computed of what
the op reads, destinations and device handles left out; its fields are read by name. Collectives are in `tt_mesh.py`.

Source: the op descriptions of `ttxdsl/dialects/_tt/`.
"""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.dialects._tt.attributes import ints
from ttxdsl.dialects._tt.extension_ops import ADDITIONS
from ttxdsl.dialects.expressed import quantization_of
from ttxdsl.dialects.quant import Quantization
from ttxdsl.dialects.stablehlo.attributes import ConvDims, GatherDims
from ttxdsl.dialects.ttcore import device_mesh_name
from ttxdsl.interpreters.kernels import (
    contraction,
    elementwise,
    indexing,
    quantized,
    random,
)
from ttxdsl.interpreters.kernels.elements import (
    is_float,
    rank_of,
    tensor_of,
    widen,
)
from ttxdsl.interpreters.kernels.elementwise import BINARY, Array
from ttxdsl.interpreters.kernels.tt_fused import FUSED_RUNS
from ttxdsl.interpreters.ops.control_flow import run_branches, run_while
from ttxdsl.interpreters.ops.registry import Run
from ttxdsl.interpreters.ops.tt.compiled import number_of
from ttxdsl.interpreters.ops.tt.mesh import device_mesh
from ttxdsl.interpreters.ops.tt.tt_mlir_ops import TODAY_RUNS
from ttxdsl.interpreters.runtime.regions import Values, on_mesh, session

# reductions


def _argmax(_: Interpreter, op: Any, args: Values) -> Values:
    x: Array = args[0]
    rank = rank_of(op.input.type)
    (dim,) = op.reduced_dims()
    shape, dtype = tensor_of(op.results[0].type)
    found = np.argmax(widen(x), axis=dim % rank - rank)
    return (found.astype(dtype).reshape((*x.shape[: x.ndim - rank], *shape)),)


def _cumulative(name: str, _: Interpreter, op: Any, args: Values) -> Values:
    x: Array = args[0]
    rank = rank_of(op.input.type)
    wide = widen(x)
    ufunc = np.add if name == "add" else np.multiply
    axis = op.dim.value.data % rank - rank
    return (ufunc.accumulate(wide, axis=axis, dtype=wide.dtype).astype(x.dtype),)


# data movement


def _embedding(_: Interpreter, op: Any, args: Values) -> Values:
    index, weight = args
    rank = rank_of(op.input.type)
    (_rows, width), _dtype = tensor_of(op.weight.type)
    dims = GatherDims((rank,), (0,), (), (), (0,), rank)
    return (indexing.gather(weight, index, (2, rank), dims, (1, width)),)


def _gather(_: Interpreter, op: Any, args: Values) -> Values:
    x, index = args
    rank = rank_of(op.input.type)
    return (indexing.gather_along(x, index, rank, op.dim.value.data % rank),)


def _order(x: Array, axis: int, descending: bool) -> Array:
    """Places of the elements in order, stably; NaN is the largest."""
    key = widen(x)
    if not descending:
        return np.argsort(key, axis=axis, kind="stable")
    last = x.shape[axis] - 1
    return last - np.flip(
        np.argsort(np.flip(key, axis), axis=axis, kind="stable"), axis
    )


def _sort(_: Interpreter, op: Any, args: Values) -> Values:
    x: Array = args[0]
    rank = rank_of(op.input.type)
    axis = op.dim.value.data % rank - rank
    order = _order(x, axis, bool(op.descending))
    indices = order.astype(tensor_of(op.indices.type)[1])
    return np.take_along_axis(x, order, axis), indices


def _topk(_: Interpreter, op: Any, args: Values) -> Values:
    x: Array = args[0]
    rank = rank_of(op.input_tensor.type)
    axis = op.dim.value.data % rank - rank
    # in total order, as what it comes from: NaN is the largest, -NaN the smallest
    key = elementwise.total_order_key(x) if is_float(x.dtype) else widen(x)
    # the complement turns the order around and keeps equals in theirs
    order = np.argsort(~key if op.largest else key, axis=axis, kind="stable")
    order = order.take(range(op.k.value.data), axis=axis)
    indices = order.astype(tensor_of(op.indices.type)[1])
    return np.take_along_axis(x, order, axis), indices


# contraction


def _dot_general(_: Interpreter, op: Any, args: Values) -> Values:
    lhs, rhs = args
    return (
        contraction.dot_general(
            lhs,
            rhs,
            (ints(op.batch_dims_lhs), ints(op.batch_dims_rhs)),
            (ints(op.contract_dims_lhs), ints(op.contract_dims_rhs)),
            (rank_of(op.lhs.type), rank_of(op.rhs.type)),
            tensor_of(op.results[0].type)[1],
        ),
    )


def _convolution(
    op: Any,
    x: Array,
    weight: Array,
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
) -> Array:
    """Channels-last input and result, kernel `[o, i, spatial…]`."""
    spatial = tuple(range(1, len(padding) + 1))
    ones = (1,) * len(spatial)
    last = len(spatial) + 1
    dims = ConvDims(
        *(0, last, spatial), *(1, 0, tuple(at + 1 for at in spatial)), 0, last, spatial
    )
    window = contraction.ConvWindow(
        ints(op.stride), padding, ones, dilation, (False,) * len(spatial)
    )
    dtype = tensor_of(op.results[0].type)[1]
    groups = op.groups.value.data
    return contraction.convolution(x, weight, dims, window, groups, 1, dtype)


def _conv2d(_: Interpreter, op: Any, args: Values) -> Values:
    x, weight, *bias = args
    order = op.image_dims()
    if hasattr(op, "image_shape"):
        # ttnn flattens the image
        x = elementwise.reshape(x, 4, op.image_shape())
        top, bottom, left, right = ints(op.padding)
    else:
        top, left, bottom, right = ints(op.padding)
        x = elementwise.transpose(x, order)
    padding = ((top, bottom), (left, right))
    result = _convolution(op, x, weight, padding, ints(op.dilation))
    result = _biased(result, bias)
    shape, _dtype = tensor_of(op.results[0].type)
    if order != (0, 1, 2, 3):
        return (elementwise.transpose(result, sorted(range(4), key=order.__getitem__)),)
    return (elementwise.reshape(result, 4, shape),)


def _biased(result: Array, bias: Sequence[Array]) -> Array:
    """The result plus one number a channel, its last dimension, if there is a bias."""
    if not bias:
        return result
    return BINARY["add"](result, elementwise.convert(bias[0], result.dtype))


def _conv3d(_: Interpreter, op: Any, args: Values) -> Values:
    x, weight, *bias = args
    order = op.image_dims()
    weight = _unprepared(op, weight)
    dilation = (1, 1, 1) if op.dilation is None else ints(op.dilation)
    padding = tuple((amount, amount) for amount in ints(op.padding))
    result = _convolution(
        op, elementwise.transpose(x, order), weight, padding, dilation
    )
    result = _biased(result, bias)
    back = sorted(range(len(order)), key=order.__getitem__)
    return (elementwise.transpose(result, back),)


def _unprepared(op: Any, weight: Array) -> Array:
    """The kernel `[o, i, kd, kh, kw]` that `prepare_conv3d_weights` made rows of."""
    if rank_of(op.weight.type) != 2:
        return weight
    channels = op.in_channels.value.data // op.groups.value.data
    block = re.search(r"c_in_block = (\d+)", str(op.conv3d_config))
    size = (block and int(block[1])) or channels
    lead, out = weight.shape[:-2], weight.shape[-1]
    at = len(lead)
    blocks = weight.reshape((*lead, channels // size, *ints(op.kernel_size), size, out))
    order = [at + dim for dim in (5, 0, 4, 1, 2, 3)]
    made = np.transpose(blocks, [*range(at), *order])
    return made.reshape((*lead, out, channels, *ints(op.kernel_size)))


def _prepare_conv3d_weights(_: Interpreter, op: Any, args: Values) -> Values:
    """`[o, i, kd, kh, kw]` to rows: blocks of `c_in_block` inputs one after the other.

    Input channels are filled up with zeros to a multiple of `alignment`; within a block
    come the places of the window, then the block's channels.
    """
    (weight,) = args
    align, size = op.alignment.value.data, op.c_in_block.value.data
    *lead, out, channels, depth, height, width = weight.shape
    more = -channels % align
    pads = [(0, more if dim == len(lead) + 1 else 0) for dim in range(weight.ndim)]
    filled, at = np.pad(weight, pads), len(lead)
    channels += more
    size = size or channels
    blocks = filled.reshape((*lead, out, channels // size, size, depth, height, width))
    made = np.transpose(blocks, [*range(at), *(at + dim for dim in (1, 3, 4, 5, 2, 0))])
    return (made.reshape((*lead, channels * depth * height * width, out)),)


# creation


def _rand(_: Interpreter, op: Any, args: Values) -> Values:
    shape, dtype = tensor_of(op.results[0].type)
    low, high = number_of(op.low, dtype), number_of(op.high, dtype)
    seed = op.seed.value.data
    return (random.distribution("UNIFORM", low, high, shape, dtype, seed),)


# quantization


def _quantization(type: Attribute, parameters: Values) -> Quantization:
    """A quantized type's, or with a scale and a zero point that were given."""
    how = quantization_of(type)
    assert how is not None
    return quantized.with_parameters(how, *parameters) if parameters else how


def _quantize(_: Interpreter, op: Any, args: Values) -> Values:
    x, *parameters = args
    shape, dtype = tensor_of(op.results[0].type)
    how = _quantization(op.results[0].type, tuple(parameters))
    return (quantized.quantize(x, how, len(shape), dtype),)


def _dequantize(_: Interpreter, op: Any, args: Values) -> Values:
    x, *parameters = args
    how = _quantization(op.input.type, tuple(parameters))
    return (quantized.dequantize(x, how, rank_of(op.input.type)),)


def _requantize(_: Interpreter, op: Any, args: Values) -> Values:
    x, *parameters = args
    shape, dtype = tensor_of(op.results[0].type)
    old = _quantization(op.input.type, tuple(parameters[:2]))
    new = _quantization(op.results[0].type, tuple(parameters[2:]))
    real = quantized.dequantize(x, old, len(shape))
    return (quantized.quantize(real, new, len(shape), dtype),)


# what tt-mlir has no op for


def _addition(interpreter: Interpreter, op: Any, args: Values) -> Values:
    """What the op that it stands for computes."""
    stands_for = session(interpreter).stands_for
    if op not in stands_for:
        stands_for[op] = op.as_source()
    if op.name.endswith(".custom_call") and _is_on_devices(op):
        with on_mesh(interpreter, device_mesh(interpreter, op)):
            return tuple(interpreter.run_op(stands_for[op], args))
    return tuple(interpreter.run_op(stands_for[op], args))


def _is_on_devices(op: Operation) -> bool:
    """Whether a tensor of an op says which mesh it is on."""
    values = (*op.operands, *op.results)
    return any(device_mesh_name(value.type) is not None for value in values)


def _random_bits(interpreter: Interpreter, op: Any, args: Values) -> Values:
    """tt-mlir's: the state is numbers of 32 bits, two an element, the lower one first.

    Raises:
        InterpretationError: the generator is the device's own; nobody says its bits.
    """
    philox = op.properties.get("philox")
    if philox is None:
        return _addition(interpreter, op, args)
    if not philox:
        raise InterpretationError(
            "which bits rng_bit_generator makes without philox is the device's choice"
        )
    halves = np.ascontiguousarray(args[0])
    shape, dtype = tensor_of(op.output.type)
    state, bits = random.bit_generator(
        "PHILOX", halves.view(np.uint64)[..., 0], shape, dtype
    )
    return state[..., None].view(halves.dtype), bits


# control flow


def _while(interpreter: Interpreter, op: Any, args: Values) -> Values:
    count = len(op.carried)
    return run_while(interpreter, op.cond, op.body, args[:count], args[count:])


def _selector(value: Array, type: Attribute) -> Array:
    """A scalar's value on each device."""
    return value.reshape(value.shape[: value.ndim - rank_of(type)])


def _if(interpreter: Interpreter, op: Any, args: Values) -> Values:
    branches = (op.true_branch, op.false_branch)
    index = np.where(_selector(args[0], op.pred.type), 0, 1)
    return run_branches(interpreter, branches, index, ())


def _case(interpreter: Interpreter, op: Any, args: Values) -> Values:
    index = _selector(args[0], op.index.type)
    return run_branches(interpreter, op.branches, index, ())


RUNS: dict[str, Run] = {
    **TODAY_RUNS,
    **FUSED_RUNS,
    **{addition.mnemonic: _addition for addition in ADDITIONS},
    "argmax": _argmax,
    "case": _case,
    "conv2d": _conv2d,
    "conv3d": _conv3d,
    "cumprod": partial(_cumulative, "multiply"),
    "cumsum": partial(_cumulative, "add"),
    "dequantize": _dequantize,
    "dot_general": _dot_general,
    "embedding": _embedding,
    "gather": _gather,
    "if": _if,
    "prepare_conv3d_weights": _prepare_conv3d_weights,
    "quantize": _quantize,
    "rand": _rand,
    "requantize": _requantize,
    "rng_bit_generator": _random_bits,
    "sort": _sort,
    "topk": _topk,
    "while": _while,
}
"""How each op is computed, by its declaration's name (`repeat` is ttnn's alone)."""
