"""Elementwise ops of ttir and ttnn, and the activations that other ops end with.

Source: the op descriptions of `ttxdsl/dialects/_tt/` and tt-mlir's.
"""

import re
from collections.abc import Sequence
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.dialects._tt.elementwise import (
    ACTIVATIONS as WHERE_ACTIVATIONS,
    ElementwiseOp,
    Typing,
    has_layout,
)
from ttxdsl.interpreters.kernels import elementwise as kernels, special
from ttxdsl.interpreters.kernels.elements import rank_of, tensor_of, widen
from ttxdsl.interpreters.kernels.elementwise import BINARY, Array, Kernel, aligned
from ttxdsl.interpreters.kernels.tt_elementwise import (
    ACTIVATIONS,
    ACTIVATIONS_WITH_PARAMETER,
    ELEMENTWISE,
)
from ttxdsl.interpreters.ops.tt.table import compiled, computed, number, number_of
from ttxdsl.interpreters.runtime.compiled_op import (
    CompiledOp,
    RowKernel,
    elementwise,
    select_in_place,
)


def stretched(result: Array, shape: tuple[int, ...]) -> Array:
    """Return the result with dimensions of size 1 repeated as its type says (a view)."""
    at = result.ndim - len(shape)
    if result.shape[at:] == shape:
        return result
    return np.broadcast_to(result, (*result.shape[:at], *shape))


def _elementwise(name: str, kernel: Kernel, op: Any) -> CompiledOp:
    shape, _ = tensor_of(op.results[0].type)
    rank = len(shape)
    write = select_in_place if name == "where" else None
    if has_layout(op.results[0].type) or not isinstance(op, ElementwiseOp):
        kernel, write = partial(_of_tt_mlir, kernel, op), None
    plain = elementwise(kernel, rank)
    write = write or plain.in_place
    ranks = [rank_of(value.type) for value in op.reads]
    same_rank = set(ranks) == {rank}

    def expanded(args: tuple[Array, ...]) -> tuple[Array, ...]:
        return args if same_rank else tuple(map(aligned, args, ranks, repeat(rank)))

    def run(*args: Array) -> Array:
        result = kernel(*expanded(args))
        if result.shape[result.ndim - rank :] == shape:
            return result
        return stretched(np.asarray(result), shape)

    def run_in_place(room: Sequence[Array], *args: Array) -> Array | None:
        return None if write is None else write(room, *expanded(args))

    return CompiledOp(run, write and run_in_place, plain.rows)


def _of_tt_mlir(kernel: Kernel, op: Any, *args: Array) -> Array:
    """Compute with activations, and with numbers that stand for truth, as tt-mlir does."""
    typing = op.SPEC.typing if isinstance(op, ElementwiseOp) else Typing.SAME
    *before, after = map(op.properties.get, WHERE_ACTIVATIONS)
    values = [
        activated_by(x, activations)
        for x, activations in zip(args, (*before, None), strict=False)
    ]
    truths = {Typing.LOGICAL: len(values), Typing.SELECT: 1}.get(typing, 0)
    for at in range(truths):
        if values[at].dtype.kind != "b":
            values[at] = values[at] != 0
    result = activated_by(np.asarray(kernel(*values)), after)
    return kernels.convert(result, tensor_of(op.results[0].type)[1])


for _name, _kernel in ELEMENTWISE.items():
    compiled(_name)(partial(_elementwise, _name, _kernel))


@compiled("typecast")
def _typecast(op: Any) -> CompiledOp:
    shape, dtype = tensor_of(op.results[0].type)

    def run(x: Array) -> Array:
        return stretched(kernels.convert(x, dtype), shape)

    rows = RowKernel(len(shape), partial(kernels.convert, dtype=dtype))
    return CompiledOp(run, rows=rows)


@compiled("bitcast_convert")
def _bitcast_convert(op: Any) -> Kernel:
    shape, dtype = tensor_of(op.results[0].type)

    def run(x: Array) -> Array:
        return stretched(kernels.bitcast_convert(x, dtype), shape)

    return run


@computed("clamp_scalar")
def _clamp_scalar(op: Any, x: Array) -> Array:
    return kernels.clamp(number_of(op.min, x.dtype), x, number_of(op.max, x.dtype))


@computed("leaky_relu")
def _leaky_relu(op: Any, x: Array) -> Array:
    return activated(widen(x), "leaky_relu", [number(op.parameter)])


@computed("selu")
def _selu(op: Any, x: Array) -> Array:
    x = widen(x)
    scale = number(op.scale, 1.0507009873554805)
    alpha = number(op.alpha, 1.6732632423543772)
    return x.dtype.type(scale) * np.where(x > 0, x, alpha * np.expm1(x)).astype(x.dtype)


@computed("pow_scalar")
def _pow_scalar(op: Any, x: Array) -> Array:
    return BINARY["power"](x, number_of(op.rhs, x.dtype))


@computed("gelu_bw")
def _gelu_bw(op: Any, gradient: Array, x: Array) -> Array:
    x = widen(x)
    half, unit = x.dtype.type(0.5), x.dtype.type(1)
    if op.approximate is not None and op.approximate.data == "tanh":
        root = x.dtype.type(np.sqrt(2 / np.pi))
        inner = np.tanh(root * (x + x.dtype.type(0.044715) * x**3))
        slope = root * (unit + x.dtype.type(3 * 0.044715) * x * x)
        slope = half * (unit + inner) + half * x * (unit - inner * inner) * slope
    else:
        bell = np.exp(-half * x * x) * x.dtype.type(1 / np.sqrt(2 * np.pi))
        slope = half * (unit + special.erf(x * x.dtype.type(np.sqrt(0.5)))) + x * bell
    return widen(gradient) * slope


@computed("reduce_precision")
def _reduce_precision(op: Any, x: Array) -> Array:
    bits = int(number(op.exponent_bits)), int(number(op.mantissa_bits))
    return kernels.reduce_precision(x, *bits)


# activations


def activated(x: Array, name: str, parameters: Sequence[float] = ()) -> Array:
    """Apply an activation to a value.

    Raises:
        InterpretationError: nobody knows the activation.
    """
    if not parameters and name in ACTIVATIONS:
        return np.asarray(ACTIVATIONS[name](x))
    if len(parameters) == 1 and name in ACTIVATIONS_WITH_PARAMETER:
        wide = widen(x)
        y = ACTIVATIONS_WITH_PARAMETER[name](wide, wide.dtype.type(parameters[0]))
        return y.astype(x.dtype)
    of = f" of {', '.join(map(str, parameters))}" if parameters else ""
    raise InterpretationError(f"no activation {name}{of} is known")


_UNARY_WITH_PARAM = re.compile(
    r"op_type\s*=\s*(?:#ttnn\S*?[<\s])?(\w+)>?(?:,\s*params\s*=\s*\[(.*)\])?\s*$"
)


def activated_by(x: Array, attributes: Any) -> Array:
    """Return a value after `#ttnn.unary_with_param<op_type = …, params = […]>`, each.

    Raises:
        InterpretationError: one of them is not known.
    """
    for attribute in () if attributes is None else attributes.data:
        text = attribute.text.data
        match = _UNARY_WITH_PARAM.match(text.strip())
        if match is None:
            raise InterpretationError(f"no activation {text} is known")
        parameters = (match[2] or "").split(",")
        x = activated(
            x,
            match[1],
            [float(text.split(":")[0]) for text in parameters if text.strip()],
        )
    return x
