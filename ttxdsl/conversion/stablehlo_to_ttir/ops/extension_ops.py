"""Ops that tt-mlir has no form of, ops of quantized and random numbers, and loops.

An addition (`ttxdsl/dialects/_tt/extension_ops.py`) keeps the fields of the op that it
stands for. A scan is a loop; an asynchronous op is done where it starts.
"""

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import AnyFloat, ComplexType, FloatAttr, TensorType, f32
from xdsl.ir import Attribute, Operation, SSAValue

from ttxdsl.conversion.stablehlo_to_ttir.builder import is_f32
from ttxdsl.conversion.stablehlo_to_ttir.loops import counted_loop, put, take
from ttxdsl.conversion.stablehlo_to_ttir.lowering import Lowering, Rule, constant_splat
from ttxdsl.conversion.stablehlo_to_ttir.ops import elementwise
from ttxdsl.dialects import chlo, stablehlo, ttir
from ttxdsl.dialects._tt.attributes import dense_i32, i32_array, ui32_attr
from ttxdsl.dialects._tt.extension_ops import ADDITIONS
from ttxdsl.dialects._tt.tensors import bit_width
from ttxdsl.dialects.quant import QuantizedType, scaled_dim
from ttxdsl.ir.tensors import Tensor, element_of, shape_of, tensor_type

# --- the same op --------------------------------------------------------------


def add_same(low: Lowering, source: str, op: Operation) -> Sequence[SSAValue]:
    """Return the addition that stands for `source`, with an op's operands and fields.

    Args:
        low: gives the operands; ops go to its builder.
        source: the name of the op that the addition stands for.
        op: that op, or one of other operand shapes that means the same.
    """
    target = ttir.ADDITION_OPS[source]
    known = target.get_irdl_definition().properties
    properties = {
        name: attribute for name, attribute in op.properties.items() if name in known
    }
    inputs = low.all(op.operands)
    types = [low.builder.placed(result.type) for result in op.results]
    if target.ADDITION.each:
        # in a computation on scalars the operands are whole tensors
        shape, element = shape_of(inputs[0]), element_of(op.results[0])
        types = [low.builder.type(shape, element)]
    outputs = low.builder.destinations(
        cast(Tensor, type) for type in types if type.name == TensorType.name
    )
    if "operandSegmentSizes" in known:
        sizes = dense_i32([len(inputs), len(outputs)])
        properties["operandSegmentSizes"] = sizes
    new = target.create(
        operands=[*inputs, *outputs],
        result_types=types,
        properties=properties,
        attributes={
            name: attribute
            for name, attribute in op.attributes.items()
            if not name.startswith("sdy.")
        },
    )
    return low.builder.add(new).results


def _same(source: str) -> Rule:
    def lower(low: Lowering, op: Operation) -> Sequence[SSAValue]:
        return add_same(low, source, op)

    return lower


def _unless(source: str, applies: Callable[[Attribute], bool], otherwise: Rule) -> Rule:
    """Return the addition for some element types, another rule for the rest."""

    def lower(low: Lowering, op: Operation) -> SSAValue | Sequence[SSAValue]:
        if applies(element_of(op.operands[0])):
            return add_same(low, source, op)
        return otherwise(low, op)

    return lower


_IN_PARTS = ("acosh", "atanh", "cosh", "sinh")
"""chlo's functions that are spelled with others, but not for complex numbers."""


# --- random and quantized numbers ---------------------------------------------


def _rng(low: Lowering, op: stablehlo.RngOp) -> Sequence[SSAValue]:
    """`ttir.rand` for uniform floats between constants."""
    type = tensor_type(op.result)
    bounds = [constant_splat(op.a), constant_splat(op.b)]
    uniform = op.rng_distribution.data == stablehlo.RngDistribution.UNIFORM
    if (
        not uniform
        or not isinstance(type.element_type, AnyFloat)
        or not all(bound is not None and is_f32(bound) for bound in bounds)
    ):
        return add_same(low, "stablehlo.rng", op)
    lowest, highest = (FloatAttr(float(bound or 0), f32) for bound in bounds)
    new_op = ttir.RandOp.create(
        result_types=[low.builder.here(type)],
        properties={
            "size": i32_array(type.get_shape()),
            "low": lowest,
            "high": highest,
            "seed": ui32_attr(0),
        },
    )
    return low.builder.add(new_op).results


def _uniform_quantize(low: Lowering, op: stablehlo.UniformQuantizeOp) -> SSAValue:
    build, value, before = low.builder, low[op.operand], element_of(op.operand)
    target = ttir.QuantizeOp
    if isinstance(before, QuantizedType):
        dims = {scaled_dim(before), scaled_dim(element_of(op.result))} - {None}
        if len(dims) > 1:  # `requantize` has scales along one dimension
            real = build.type(shape_of(value), before.expressed_type)
            value = build.one(ttir.DequantizeOp, [value], real)
        else:
            target = ttir.RequantizeOp
    return build.one(target, [value], build.here(op.result.type))


def _uniform_dequantize(low: Lowering, op: stablehlo.UniformDequantizeOp) -> SSAValue:
    type = low.builder.here(op.result.type)
    return low.builder.one(ttir.DequantizeOp, [low[op.operand]], type)


# --- loops and asynchronous ops -------------------------------------------------


def _scan(low: Lowering, op: chlo.ScanOp) -> Sequence[SSAValue]:
    """Return a loop over the dimension: slices in, slices out, carries on."""
    dim, block = op.dimension.value.data, op.body.block
    arrays = low.all(op.inputs)
    backwards = bool(op.is_reverse)
    size = op.scan_dim_size.value.data if op.scan_dim_size is not None else 0
    if arrays:
        size = shape_of(arrays[0])[dim]
    outputs = len(op.outputs)
    build = low.builder
    empty = [
        build.full(tensor_type(output).get_shape(), tensor_type(output).element_type, 0)
        for output in op.outputs
    ]

    def step(
        inner: Lowering, number: SSAValue, now: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        at = number
        if backwards:
            last = inner.builder.like(number, size - 1)
            at = inner.builder.elementwise("subtract", last, number)
        slices = [
            inner.builder.reshape(
                take(inner.builder, value, dim, at),
                [n for d, n in enumerate(shape_of(value)) if d != dim],
            )
            for value in arrays
        ]
        given = [*slices, *now[outputs:]]
        done = inner.computation(block, given).lower_ops(block)
        kept: list[SSAValue] = []
        for value, new in zip(now, done[:outputs], strict=False):
            shape = shape_of(new)
            thin = inner.builder.reshape(new, (*shape[:dim], 1, *shape[dim:]))
            kept.append(put(inner.builder, value, dim, at, thin))
        return [*kept, *done[outputs:]]

    return counted_loop(low, size, [*empty, *low.all(op.inits)], step)


def _async_start(low: Lowering, op: stablehlo.AsyncStartOp) -> SSAValue:
    """Return the op itself, here; what becomes of its results is remembered."""
    block = op.body.block
    values = low.computation(block, low.all(op.inputs)).lower_ops(block)
    low.started[op.result] = tuple(values)
    return values[0]


def _async_done(low: Lowering, op: stablehlo.AsyncDoneOp) -> Sequence[SSAValue]:
    return low.started[op.operand][:1]


TABLE: dict[str, Rule] = {
    **{addition.source: _same(addition.source) for addition in ADDITIONS},
    **{
        f"chlo.{name}": _unless(
            f"chlo.{name}",
            lambda element: isinstance(element, ComplexType),
            elementwise.TABLE[f"chlo.{name}"],
        )
        for name in _IN_PARTS
    },
    "chlo.erf_inv": _unless(
        "chlo.erf_inv",
        lambda element: bit_width(element) == 64,
        elementwise.TABLE["chlo.erf_inv"],
    ),
    "chlo.scan": _scan,
    "stablehlo.async_done": _async_done,
    "stablehlo.async_start": _async_start,
    "stablehlo.rng": _rng,
    "stablehlo.uniform_dequantize": _uniform_dequantize,
    "stablehlo.uniform_quantize": _uniform_quantize,
}
"""The rules of these ops, by name."""
