"""chlo: composite functions that StableHLO has no op for.

Source: the op descriptions of StableHLO's chlo dialect.
"""

from functools import partial
from itertools import repeat
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import chlo
from ttxdsl.interpreters.kernels import contraction, elements, elementwise, special
from ttxdsl.interpreters.kernels.elementwise import Array, Kernel, UnaryKernel
from ttxdsl.interpreters.ops.registry import (
    compiles,
    computes,
    elementwise_compiler,
    implements,
)
from ttxdsl.interpreters.runtime.regions import Values, run_region


def _asin_acos_kernel(z: Array) -> Array:
    """(cos u cosh v, |v|) for asin z = u + iv: both asin and acos follow from it."""
    w = np.arcsin(z)
    u, v = np.real(w), np.abs(np.imag(w))
    return special.make_complex(np.cos(u) * np.cosh(v), v)


def _is_inf(sign: int) -> Kernel:
    def run(x: Array) -> Array:
        x = elements.widen(x)
        return np.isinf(x) if sign == 0 else x == sign * np.inf

    return run


def _mulhi(x: Array, y: Array) -> Array:
    """Return the upper half of the bits of the product."""
    bits = elements.BITS[x.dtype]
    if bits < 64:
        wide = np.int64 if elements.is_signed(x.dtype) else np.uint64
        product = elements.widen(x).astype(wide) * elements.widen(y).astype(wide)
        high = product >> product.dtype.type(bits)
        return high.astype(elements.compute_dtype(x.dtype)).astype(x.dtype)
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    a, b = elementwise.unsigned_view(x), elementwise.unsigned_view(y)
    a_low, a_high, b_low, b_high = a & mask, a >> half, b & mask, b >> half
    middle = a_high * b_low + (a_low * b_low >> half)
    carry = a_low * b_high + (middle & mask)
    high = a_high * b_high + (middle >> half) + (carry >> half)
    if elements.is_signed(x.dtype):
        # a signed factor below zero counts 2**64 too much of the other one
        high = (
            high - np.where(x < 0, b, np.uint64(0)) - np.where(y < 0, a, np.uint64(0))
        )
    return high.view(x.dtype)


_UNARY: dict[str, UnaryKernel] = {
    "acos": elements.widened(special.precise(np.arccos)),
    "acosh": elements.widened(special.precise(np.arccosh)),
    "_asin_acos_kernel": _asin_acos_kernel,
    "asin": elements.widened(special.precise(np.arcsin)),
    "asinh": elements.widened(special.precise(np.arcsinh)),
    "atan": elements.widened(special.precise(np.arctan)),
    "atanh": elements.widened(special.precise(np.arctanh)),
    "bessel_i1e": special.bessel_i1e,
    "conj": np.conj,
    "cosh": elements.widened(special.cosh),
    "digamma": special.digamma,
    "erf_inv": special.erf_inv,
    "erf": elements.widened(special.erf),
    "erfc": special.erfc,
    "is_inf": _is_inf(0),
    "is_neg_inf": _is_inf(-1),
    "is_pos_inf": _is_inf(1),
    "lgamma": special.lgamma,
    "sinh": elements.widened(special.sinh),
    "square": elements.widened(lambda x: x * x),
    "tan": elements.widened(special.precise(np.tan)),
}


def _next_after(x: Array, y: Array) -> Array:
    # of two zeros the second; NumPy's of f16 is the first
    return np.where(x == y, y, np.nextafter(x, y))


_BINARY: dict[str, Kernel] = {
    "mulhi": _mulhi,
    "next_after": _next_after,
    "polygamma": special.polygamma,
    "zeta": special.zeta,
}


def _broadcast(kernel: Kernel, op: Operation, *args: Array) -> Array:
    """Do `kernel` with operands whose dimensions of size 1 stretch."""
    ranks = [elements.rank_of(value.type) for value in op.operands]
    attribute: Any = op.properties.get("broadcast_dimensions")
    dims = None if attribute is None else tuple(attribute.get_values())
    return kernel(
        *map(elementwise.aligned, args, ranks, repeat(max(ranks)), repeat(dims))
    )


def _number(attribute: object, dtype: elements.DType) -> Array:
    """Return an attribute's number (or the one element of a dense one) of a type."""
    match attribute:
        case FloatAttr() | IntegerAttr():
            value: Any = attribute.value.data
        case DenseIntOrFPElementsAttr():
            (value,) = set(attribute.get_values())
        case _:
            raise UnsupportedError(f"a number given as {attribute}")
    return elementwise.convert(np.array(value), dtype)


@computes(chlo.BroadcastCompareOp)
def _broadcast_compare(op: chlo.BroadcastCompareOp, x: Array, y: Array) -> Array:
    direction = op.comparison_direction.data.value
    total = op.compare_type is not None and op.compare_type.data == "TOTALORDER"
    kernel = partial(elementwise.compare, direction=direction, total_order=total)
    return _broadcast(kernel, op, x, y)


@computes(chlo.ConstantLikeOp)
def _constant_like(op: chlo.ConstantLikeOp, x: Array) -> Array:
    shape = x.shape[x.ndim - elements.rank_of(op.operand.type) :]
    number = _number(op.value, elements.tensor_of(op.result.type)[1])
    return np.broadcast_to(number, shape)


@computes(chlo.TopKOp)
def _top_k(op: chlo.TopKOp, x: Array) -> tuple[Array, Array]:
    """Return the largest of the last dimension, NaN first, and where they were."""
    return elementwise.top_k(x, op.k.value.data, elements.tensor_of(op.indices.type)[1])


@computes(chlo.RaggedDotOp)
def _ragged_dot(op: chlo.RaggedDotOp, lhs: Array, rhs: Array, sizes: Array) -> Array:
    """Return a product for each group of rows."""
    dims = op.ragged_dot_dimension_numbers.data
    if elements.rank_of(op.group_sizes.type) != 1:
        raise UnsupportedError("group sizes that differ by batch", op)
    return contraction.ragged_dot(
        lhs,
        rhs,
        sizes,
        (dims.lhs_batching_dimensions, dims.rhs_batching_dimensions),
        (dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions),
        dims.lhs_ragged_dimensions[0],
        dims.rhs_group_dimensions,
        (elements.rank_of(op.lhs.type), elements.rank_of(op.rhs.type)),
        elements.tensor_of(op.result.type)[1],
    )


@implements(chlo.ScanOp)
def _scan(interpreter: Interpreter, op: chlo.ScanOp, args: Values) -> Values:
    """Return the body step by step along a dimension, each step on whole slices."""
    count = len(op.inputs)
    arrays, carries = args[:count], args[count:]
    dim = op.dimension.value.data
    axes = [
        x.ndim - elements.rank_of(value.type) + dim
        for x, value in zip(arrays, op.inputs, strict=True)
    ]
    size = arrays[0].shape[axes[0]] if arrays else 0
    if op.scan_dim_size is not None and not arrays:
        size = op.scan_dim_size.value.data
    backwards = bool(op.is_reverse.value.data)
    outputs = len(op.outputs)
    slices: list[Values] = []
    for step in reversed(range(size)) if backwards else range(size):
        now = [x.take(step, axis=a) for x, a in zip(arrays, axes, strict=True)]
        done = run_region(interpreter, op.body, (*now, *carries), "scan")
        slices.append(done[:outputs])
        carries = done[outputs:]
    if backwards:
        slices.reverse()
    stacked: list[Array] = []
    for at, value in enumerate(op.outputs):
        shape, dtype = elements.tensor_of(value.type)
        if not slices:
            stacked.append(np.zeros(shape, dtype))
            continue
        parts = np.broadcast_arrays(*(part[at] for part in slices))
        axis = parts[0].ndim - (len(shape) - 1) + dim
        stacked.append(np.stack(parts, axis=axis))
    return (*stacked, *carries)


def _implement_by_name() -> None:
    """Run functions by the tables, and every `chlo.broadcast_x` by the kernel of x."""
    plain = {**_UNARY, **_BINARY}
    broadcast = {**elementwise.BINARY, **_BINARY, "select": elementwise.select}
    for op_class in chlo.Chlo.operations:
        name = op_class.name.removeprefix("chlo.")
        if name in plain:
            compiles(op_class)(elementwise_compiler(plain[name]))
        elif (kernel := broadcast.get(name.removeprefix("broadcast_"))) is not None:
            computes(op_class)(partial(_broadcast, kernel))


_implement_by_name()
